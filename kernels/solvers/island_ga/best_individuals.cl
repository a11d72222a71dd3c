// The best individual of every problem, from all rows of its population in global memory; of equals the first.
//
// Constants: ITEMS_OF_BEST of a group.

__attribute__((reqd_work_group_size(ITEMS_OF_BEST, 1, 1))) __kernel void
best_individuals(__global const GENE *genes, __global const FITNESS *fitness_of_rows, __global GENE *best_genes,
                 __global FITNESS *best_fitness, const int rows_each) {
    const int problem = get_group_id(0), item = get_local_id(0);
    __local int found[ITEMS_OF_BEST];
    __global const FITNESS *rows = fitness_of_rows + (size_t)problem * rows_each;
    int best = min(item, rows_each - 1);
    for (int row = item; row < rows_each; row += ITEMS_OF_BEST)
        if (rows[row] > rows[best]) best = row;
    found[item] = best;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (int other = 1; other < ITEMS_OF_BEST; ++other) {
            const int row = found[other];
            if (rows[row] > rows[best] || (rows[row] == rows[best] && row < best)) best = row;
        }
        found[0] = best;
        best_fitness[problem] = rows[best];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int gene = item; gene < STRIDE; gene += ITEMS_OF_BEST)
        best_genes[(size_t)problem * STRIDE + gene] = genes[((size_t)problem * rows_each + found[0]) * STRIDE + gene];
}
