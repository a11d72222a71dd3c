// f7, rotated Schwefel's (Yu et al. 2020, Table 2): turned about the optimum by the matrix `rotation` that stands in front,
// row by row; beyond the bounds, UPPER, the sine counts nothing.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
    for (int row = 0; row < DIM; ++row) {
        reals turned = OPTIMUM;
#pragma unroll
        for (int d = 0; d < DIM; ++d) turned = FUSED(position[d] - OPTIMUM, (reals)(rotation[row * DIM + d]), turned);
        const reals size = magnitude(turned);
        const reals wave = turned * sine_of_turns(SQUARE_ROOT(size) * 0.159154943f);
        total += CHOOSE(size <= UPPER, wave, (reals)(0));
    }
    return total - 418.98289f * DIM;
}
