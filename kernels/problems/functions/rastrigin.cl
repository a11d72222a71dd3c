// f5, Rastrigin's (Yu et al. 2020, Table 2). 10 - 10 cos(2 pi x) is written as 20 sin(pi x)^2, which keeps all its digits
// near the optimum.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals squares = 0, sines = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        squares = FUSED(position[d], position[d], squares);
        sines += squared_sine_of_half_turns(position[d]);
    }
    return -FUSED((reals)(20.0f), sines, squares);
}
