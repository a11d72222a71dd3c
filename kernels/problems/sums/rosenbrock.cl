// Rosenbrock: the sum of 100 (x_(d+1) - x_d^2)^2 + (x_d - 1)^2 over all d but the last.

void add_term(const reals x, const reals next, const int d, reals *sum, reals *product, CONTEXT_SPACE const float *weights) {
    const reals bend = FUSED(-x, x, next), away = x - 1.0f;
    if (d < DIM - 1) *sum = FUSED(bend * 100.0f, bend, FUSED(away, away, *sum));
}

reals fitness_of_terms(const reals sum, const reals product) { return -sum; }
