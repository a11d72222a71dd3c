// f8, rotated Rastrigin's (Yu et al. 2020, Table 2): f5 of the position turned by the matrix `rotation` that stands in
// front, row by row.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals squares = 0, sines = 0;
    for (int row = 0; row < DIM; ++row) {
        reals turned = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d) turned = FUSED(position[d], (reals)(rotation[row * DIM + d]), turned);
        squares = FUSED(turned, turned, squares);
        sines += squared_sine_of_half_turns(turned);
    }
    return -FUSED((reals)(20.0f), sines, squares);
}
