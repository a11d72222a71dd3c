// f4, Rosenbrock's (Yu et al. 2020, Table 2).
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
#pragma unroll
    for (int d = 0; d < DIM - 1; ++d) {
        const reals bend = FUSED(-position[d], position[d], position[d + 1]), away = position[d] - 1.0f;
        total = FUSED(100.0f * bend, bend, FUSED(away, away, total));
    }
    return -total;
}
