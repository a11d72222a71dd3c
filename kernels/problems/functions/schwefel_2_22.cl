// f2, Schwefel's P2.22 (Yu et al. 2020, Table 2): the sum of all magnitudes and their product.
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals sum = 0, product = 1;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        sum += magnitude(position[d]);
        product *= magnitude(position[d]);
    }
    return -(sum + product);
}
