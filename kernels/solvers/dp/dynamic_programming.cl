// Dynamic programming over the storage of a reservoir year (reservoir/solvers/dp/sequential.py is the same on the
// host): a year a work group, or a start of a cyclic one; ITEMS work items with LANES states of a step at a time.
//
// The first grid, which only has to find where the optimum lies, sees the curves' forms, finer ones see parabolas which
// become exact as they narrow. Trajectories are judged by the curves as given, so that all grids can be compared.
//
// Stands behind transitions.cl. A long horizon has a kernel of its own (long_horizon.cl).

// Bellman's recursion over one step: the best next state from each of an item's states. Returns the transitions tried.
int solve_step(__local Group *group, const int number, const int item, __global ushort *choices, __global const REAL *tables) {
    __local const Grid *here = &group->search.grid[number], *next = here + 1;
    __local const REAL *ahead = group->values[(number + 1) % 2];
    __local REAL *values = group->values[number % 2];
    __local const NearCurves *near = &group->near[number];
    const bool coarse = group->search.coarse;
    const Step step = year_step(number, group->year);
    int tried = 0;
    FOR_SHARE (int first = item * LANES; first < here->states; first += ITEMS * LANES) {
        reals storage, best_value;
        for (int lane = 0; lane < LANES; ++lane) REAL_OF(storage, lane) = storage_at(here, first + lane);
        const Following range = following(storage, &step, ROUNDING * group->year[MAX_STORAGE], next, near, coarse, tables);
        const ints choice = best_following(storage, &range, &step, next, near, coarse, ahead, &best_value);
        for (int lane = 0; lane < LANES && first + lane < here->states; ++lane) {
            const REAL stored = REAL_OF(storage, lane);
            int chosen = (int)INT_OF(choice, lane);
            REAL value = REAL_OF(best_value, lane);
            if (chosen < 0) chosen = nearest(stored, &range, lane, &step, next, group->year[PENALTY], ahead, tables, &value);
            values[first + lane] = value - cost_at(stored, number, group);
            choices[number * ROOM + first + lane] = chosen;
            tried += max(last_of(&range, lane, next->states) - first_of(&range, lane) + 1, 0);
        }
    }
    return tried;
}

// The best trajectory of a solved grid, and its fitness by the curves as given.
void trace(__local Group *group, __global const ushort *choices, __global const REAL *tables) {
    __local Search *search = &group->search;
    REAL storage = search->start, fitness = 0;
    int state = 0;
    search->latest.storage[0] = storage;
    for (int number = 0; number < STEPS; ++number) {
        const Step step = year_step(number, group->year);
        state = choices[number * ROOM + state];
        const REAL target = storage_at(&search->grid[number + 1], state);
        const REAL draft = draft_between(storage, target, &step, tables);
        const Ended ended = ended_with(tables, storage, draft, step);
        fitness += ended_value(tables, storage, &ended, &step, cost_at(ended.end, number + 1, group));
        search->latest.storage[number + 1] = target;
        storage = ended.end;
    }
    search->latest.fitness = fitness + end_value(storage, group);
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void dynamic_programming(
    __global const REAL *contexts, __global const int *years, __global const REAL *starts, __global const REAL *tables,
    const int most_states, __global ushort *all_choices, __global REAL *found_position, __global REAL *found_fitness,
    __global int *grids, __global long *transitions) {
    const int item = get_local_id(0), place = get_group_id(0);
    __global ushort *choices = all_choices + (size_t)place * STEPS * ROOM;
    __local Group group;
    FOR_SHARE (int each = item; each < CONTEXT; each += ITEMS) group.year[each] = contexts[(size_t)years[place] * CONTEXT + each];
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (item == 0) start_search(&group.search, starts[place], most_states, group.year, tables);
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);

    long tried = 0; // of one step no more than 30,000 times 30,000, but of a search more than 32 bits can count
    while (!group.search.done) {
        prepare(&group, item, tables);
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
        for (int number = STEPS - 1; number >= 0; --number) {
            tried += solve_step(&group, number, item, choices, tables);
            GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        if (item == 0) {
            const REAL fitness_before = group.search.latest.fitness;
            trace(&group, choices, tables);
            judge(&group.search, fitness_before);
        }
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    }

    transitions[(size_t)place * ITEMS + item] = tried;
    if (item == 0) {
        found_fitness[place] = group.search.best.fitness;
        grids[place] = group.search.grids;
    }
    FOR_SHARE (int number = item; number < STEPS; number += ITEMS) {
        __local const REAL *storage = group.search.best.storage + number;
        const Step step = year_step(number, group.year);
        found_position[(size_t)place * STEPS + number] = draft_between(storage[0], storage[1], &step, tables);
    }
}
