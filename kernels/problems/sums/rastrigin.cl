// Rastrigin: the sum of x^2 - 10 cos(2 pi x) + 10, written so that it vanishes at the optimum with all its digits.

void add_term(const reals x, const reals next, const int d, reals *sum, reals *product, CONTEXT_SPACE const float *weights) {
    *sum = FUSED((reals)(20.0f), squared_sine_of_half_turns(x), FUSED(x, x, *sum));
}

reals fitness_of_terms(const reals sum, const reals product) { return -sum; }
