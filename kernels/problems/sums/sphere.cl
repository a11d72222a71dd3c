// Sphere: the sum of x^2.

void add_term(const reals x, const reals next, const int d, reals *sum, reals *product, CONTEXT_SPACE const float *weights) {
    *sum = FUSED(x, x, *sum);
}

reals fitness_of_terms(const reals sum, const reals product) { return -sum; }
