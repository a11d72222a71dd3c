// How many multiply-adds a second a device reaches: CHAINS that do not wait for each other, of LANES numbers each, so
// that nothing but the arithmetic units is busy. A round is UNROLLED multiply-adds of every chain.

__kernel void multiply_add(const int rounds, const float factor, const float term, __global float *sums) {
    reals chain[CHAINS];
#pragma unroll
    for (int each = 0; each < CHAINS; ++each) chain[each] = (reals)((float)(get_global_id(0) + each));
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < UNROLLED; ++step) {
#pragma unroll
            for (int each = 0; each < CHAINS; ++each) chain[each] = FUSED(chain[each], (reals)(factor), (reals)(term));
        }
    }
    reals sum = 0;
#pragma unroll
    for (int each = 0; each < CHAINS; ++each) sum += chain[each];
    float total = 0; // of every lane, or the compiler could leave lanes out
    for (int lane = 0; lane < LANES; ++lane) total += REAL_OF(sum, lane);
    sums[get_global_id(0)] = total;
}
