// f6, Ackley's (Yu et al. 2020, Table 2), as 20 (1 - exp(-s)) + e (1 - exp(c)): all digits are kept near the optimum, where
// -20 exp(-s) - exp(1 + c) + 20 + e has none left in float32.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals squares = 0, sines = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        squares = FUSED(position[d], position[d], squares);
        sines += squared_sine_of_half_turns(position[d]);
    }
    const reals spread = SQUARE_ROOT(squares * (1.0f / DIM));
    return FUSED((reals)(20.0f), exponential_less_one(-0.2f * spread),
                 2.71828183f * exponential_less_one(sines * (-2.0f / DIM)));
}
