// f1, Sphere (Yu et al. 2020, Table 2). All functions are to be made small, and fitness large.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) total = FUSED(position[d], position[d], total);
    return -total;
}
