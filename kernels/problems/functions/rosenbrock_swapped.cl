// Rosenbrock's function as Li and Liu 2017, Table 4, print it, with the indices swapped: each variable's neighbour is the
// one before.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
#pragma unroll
    for (int d = 1; d < DIM; ++d) {
        const reals bend = FUSED(-position[d], position[d], position[d - 1]), away = position[d - 1] - 1.0f;
        total = FUSED(100.0f * bend, bend, FUSED(away, away, total));
    }
    return -total;
}
