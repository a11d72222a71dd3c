// Islands of one launch for the whole run. LIM-CG: they meet in a barrier of the whole grid at every migration. Without a
// barrier: an island leaves migrants in a mailbox, stamped with the stage, and takes the latest of the island before it.
// Nobody writes over what was left, so that nobody reads half of it.

#if !GROUPS_WAIT
#error "groups cannot wait for each other on this device"
#endif

#define STAGE_ARGUMENTS __global const int *stages, volatile __global int *probe

// `probe`: a count and a verdict (see grid.cl), and how many groups have arrived at barriers.
GROUP_KERNEL evolve_together(ISLAND_ARGUMENTS, STAGE_ARGUMENTS, NUMBER_ARGUMENTS) {
    SET_UP
    const int groups = get_num_groups(0);
    const bool resident = co_residency_probe(probe, groups, &shared->received, item) == CO_RESIDENT;
    const int count = resident ? stage_count : 0;
    settle(island, group, shared, item, CONTEXT_OF(group), islands, NUMBER_VALUES);
    int iteration = 0;
    for (int stage = 0; stage < count; ++stage) {
        evolve_island(island, group, iteration, stages[stage], shared, item, CONTEXT_OF(group), islands, generations, NUMBER_VALUES);
        iteration = stages[stage];
        HOME ushort *ranking = order_after(island, iteration + 1);
        send_migrants(island, ranking, group, stage, shared, item, ISLAND_VALUES);
        grid_barrier(probe + 2, groups, (uint)stage + 1u, item);
        if (islands > 1 && stage < count - 1) take_migrants(island, ranking, group, stage, item, ISLAND_VALUES);
        group_meet(shared, item);
    }
    store_island(island, group, iteration, item, ISLAND_VALUES);
    if (COUNTED && item == 0 && group == 0) meetings[1] += count;
    tell_meetings(shared, group, item, ISLAND_VALUES);
}

// Stages from `first` on: all that there are if the groups answer a co-residency probe together, else so many as a slice has.
// `posted`: stages whose migrants an island has left.
GROUP_KERNEL evolve_apart(ISLAND_ARGUMENTS, STAGE_ARGUMENTS, volatile __global int *posted, const int first, const int slice,
                          NUMBER_ARGUMENTS) {
    SET_UP
    const int neighbour = neighbour_of(group, islands);
    const bool resident = co_residency_probe(probe, get_num_groups(0), &shared->received, item) == CO_RESIDENT;
    int iteration = first ? stages[first - 1] : 0;
    load_island(island, group, iteration, item, ISLAND_VALUES);
    group_meet(shared, item);
    const int end = resident ? stage_count : min(first + slice, stage_count);
    for (int stage = first; stage < end; ++stage) {
        evolve_island(island, group, iteration, stages[stage], shared, item, CONTEXT_OF(group), islands, generations, NUMBER_VALUES);
        iteration = stages[stage];
        HOME ushort *ranking = order_after(island, iteration + 1);
        send_migrants(island, ranking, group, stage, shared, item, ISLAND_VALUES);
        group_meet(shared, item);
        if (item == 0) {
            DEVICE_FENCE;
            atomic_xchg(&posted[group], stage + 1);
            shared->received = load_int(&posted[neighbour]);
            DEVICE_FENCE;
        }
        group_meet(shared, item);
        const int latest = shared->received;
        if (islands > 1 && latest > 0 && stage < stage_count - 1)
            take_migrants(island, ranking, group, latest - 1, item, ISLAND_VALUES);
        group_meet(shared, item);
    }
    store_island(island, group, iteration, item, ISLAND_VALUES);
    tell_meetings(shared, group, item, ISLAND_VALUES);
}
