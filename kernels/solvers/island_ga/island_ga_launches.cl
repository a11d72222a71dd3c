// Islands that meet where one launch ends and the next begins: LIM-IS with many iterations a launch, TIM with one.

// Iterations behind `before`, up to `last`.
GROUP_KERNEL evolve(ISLAND_ARGUMENTS, const int before, const int last, NUMBER_ARGUMENTS) {
    SET_UP
    load_island(island, group, before, item, ISLAND_VALUES);
    group_meet(shared, item);
    evolve_island(island, group, before, last, shared, item, CONTEXT_OF(group), islands, generations, NUMBER_VALUES);
    store_island(island, group, last, item, ISLAND_VALUES);
    tell_meetings(shared, group, item, ISLAND_VALUES);
}

// The best of the island before take the places of the worst; the best of all is noted. All in global memory: who leaves
// and who is replaced are never the same, since both are at most half of an island. But all fitness is written anew, since
// the next island may not have looked at it yet.
GROUP_KERNEL migrate(ISLAND_ARGUMENTS, const int stage, __global FITNESS *fitness_after) {
    SET_UP
    const int neighbour = neighbour_of(group, islands), arriving = islands > 1 ? MIGRANTS : 0;
    const size_t there = (size_t)neighbour * SIZE, here = (size_t)group * SIZE;
    HOME ushort *leaving = island.orders, *ranking = island.orders + SIZE;
    FOR_SHARE (int row = item; row < SIZE; row += ITEMS) island.fitness[row] = all_fitness[there + row];
    group_meet(shared, item);
    rank_rows(island, leaving, item, ITEMS);
    group_meet(shared, item);
    FOR_SHARE (int row = item; row < SIZE; row += ITEMS) island.fitness[row] = all_fitness[here + row];
    group_meet(shared, item);
    rank_rows(island, ranking, item, ITEMS);
    group_meet(shared, item);
    if (item == 0) trace[(size_t)group * stage_count + stage] = island.fitness[ranking[0]];
    FOR_SHARE (int place = item; place < SIZE; place += ITEMS) {
        const int migrant = SIZE - 1 - place;
        fitness_after[here + ranking[place]] = migrant < arriving ? all_fitness[there + leaving[migrant]] : island.fitness[ranking[place]];
    }
    FOR_SHARE (int each = item; each < arriving * DIM; each += ITEMS) {
        const int migrant = each / DIM, gene = each % DIM;
        genes[(here + ranking[SIZE - 1 - migrant]) * STRIDE + gene] = genes[(there + leaving[migrant]) * STRIDE + gene];
    }
    tell_meetings(shared, group, item, ISLAND_VALUES);
}
