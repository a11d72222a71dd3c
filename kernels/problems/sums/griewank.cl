// Griewank: 1 + the sum of x^2 / 4000 - the product of cos(x_d / sqrt(d)); the context has 1 / (2 pi sqrt(d)).

void add_term(const reals x, const reals next, const int d, reals *sum, reals *product, CONTEXT_SPACE const float *weights) {
    *sum = FUSED(x * (1.0f / 4000.0f), x, *sum);
    *product *= 1.0f - 2.0f * squared_sine_of_half_turns(x * weights[d]);
}

reals fitness_of_terms(const reals sum, const reals product) { return product - 1.0f - sum; }
