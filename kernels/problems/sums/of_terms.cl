// The fitness of a function that is made of a sum, and a product, over dimensions: stands behind one of problems/terms,
// whose add_term() adds what a dimension gives, and whose fitness_of_terms() puts both together. A solver may instead share
// the dimensions among its items. All variables have the same bounds, LOWER and UPPER; the context is a number for each.

#define CONTEXT DIM

float lower(const int d, CONTEXT_SPACE const float *context) { return LOWER; }
float upper(const int d, CONTEXT_SPACE const float *context) { return UPPER; }

reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals sum = 0, product = 1;
    for (int d = 0; d < DIM; ++d) add_term(position[d], position[min(d + 1, DIM - 1)], d, &sum, &product, context);
    return fitness_of_terms(sum, product);
}
