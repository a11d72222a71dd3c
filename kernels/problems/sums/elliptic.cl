// High-conditioned elliptic function: the sum of 1e6^((d - 1) / (D - 1)) x_d^2, with its weights in the context.

void add_term(const reals x, const reals next, const int d, reals *sum, reals *product, CONTEXT_SPACE const float *weights) {
    *sum = FUSED(x * weights[d], x, *sum);
}

reals fitness_of_terms(const reals sum, const reals product) { return -sum; }
