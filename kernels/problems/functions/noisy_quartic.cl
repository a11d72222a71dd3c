// f3, Noise (Yu et al. 2020, Table 2) but for its noise, which solvers add: see NOISE.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const reals square = position[d] * position[d];
        total = FUSED((d + 1.0f) * square, square, total);
    }
    return -total;
}
