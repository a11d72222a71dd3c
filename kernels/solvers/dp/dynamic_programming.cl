// Dynamic programming over the storage of a reservoir year (reservoir/solvers/dp/sequential.py is the same on the
// host): a year a work group, or a start of a cyclic one; ITEMS work items with LANES states of a step at a time.
//
// The first grid, which only has to find where the optimum lies, sees the curves' forms, finer ones see parabolas which
// become exact as they narrow. Trajectories are judged by the curves as given, so that all grids can be compared.
//
// Constants: ROOM, states at most; ROUNDING, what rounding adds to a storage, as a part of the largest.

typedef struct {
    Search search;
    REAL year[CONTEXT];
    NearCurves near[STEPS];
    REAL values[2][ROOM]; // of a point's states, less the violation cost of being there; every other point's in turn
} Group;

// What can follow LANES storages: storages between two, and the places of these two among the next grid's states.
typedef struct {
    reals lowest, highest, first_place, last_place;
} Following;

REAL release_between(const REAL storage, const REAL end, const Step *step) {
    return clamp(RELEASE_TO_REACH(storage, end, step->inflow, step->per_volume), step->least, step->most);
}

// Violation cost, GWh, of a storage at a point; none at the start.
REAL cost_at(const REAL storage, const int point, __local const Group *group) {
    if (point == 0) return 0;
    const reals cost = violation_cost((reals)(storage), (reals)(group->search.start), point - 1, group->year);
    return REAL_OF(cost, 0);
}

Following following(const reals storage, const Step *step, const REAL rounding_hm3, __local const Grid *next) {
    const REAL per_spacing = next->states > 1 ? 1 / next->spacing : 0;
    const reals before = (reals)(-1), after = (reals)(next->states);
    Following found;
    found.lowest = STORAGE_AFTER(storage, step->inflow, step->most, step->per_flow) - rounding_hm3;
    found.highest = STORAGE_AFTER(storage, step->inflow, step->least, step->per_flow) + rounding_hm3;
    found.first_place = LESSER(GREATER((found.lowest - next->low) * per_spacing, before), after);
    found.last_place = LESSER(GREATER((found.highest - next->low) * per_spacing, before), after);
    return found;
}

int first_of(const Following *range, const int lane) { return max((int)ceil(REAL_OF(range->first_place, lane)), 0); }

int last_of(const Following *range, const int lane, const int states) {
    return min((int)floor(REAL_OF(range->last_place, lane)), states - 1);
}

// The best state to follow each of LANES storages, -1 where none can, and what it is worth.
ints best_following(const reals storage, const Following *range, const Step *step, __local const Grid *next,
                    __local const NearCurves *near, const bool coarse, __local const REAL *ahead, reals *worth) {
    int first = next->states, last = -1;
    for (int lane = 0; lane < LANES; ++lane) {
        first = min(first, first_of(range, lane));
        last = max(last, last_of(range, lane, next->states));
    }
    ints choice = (ints)(-1);
    reals most = (reals)(-INFINITY);
    const REAL gwh_per_flow = step->per_flow * GWH_PER_STAGE_BENEFIT;
    for (int state = first; state <= last; ++state) {
        const REAL end = storage_at(next, state);
        const reals wanted = RELEASE_TO_REACH(storage, end, step->inflow, step->per_volume);
        const reals mean_storage = (storage + end) * 0.5f;
        const reals release = LESSER(GREATER(wanted, (reals)(step->least)), (reals)(step->most));
        const reals power = coarse ? power_at(mean_storage, release) : power_near(near, mean_storage, release);
        const reals value = STAGE_BENEFIT(power, (reals)(gwh_per_flow)) + (reals)(ahead[state]);
        const ints better = (value > most) & (end >= range->lowest) & (end <= range->highest);
        most = CHOOSE(better, value, most);
        choice = CHOOSE(better, (ints)(state), choice);
    }
    *worth = most;
    return choice;
}

REAL beyond(const REAL storage, const Following *range, const int lane) {
    return fmax(REAL_OF(range->lowest, lane) - storage, storage - REAL_OF(range->highest, lane));
}

// Where none can follow, the nearest is taken, at a penalty.
int nearest(const REAL storage, const Following *range, const int lane, __local const Grid *next, const REAL penalty,
            __local const REAL *ahead, REAL *worth) {
    const int below = max(last_of(range, lane, next->states), 0), above = min(first_of(range, lane), next->states - 1);
    const REAL to_below = beyond(storage_at(next, below), range, lane);
    const REAL to_above = beyond(storage_at(next, above), range, lane);
    const int taken = to_above < to_below ? above : below;
    *worth = ahead[taken] - penalty * fmin(to_below, to_above) / fmax(fabs(storage), (REAL)1);
    return taken;
}

// Bellman's recursion over one step: the best next state from each of an item's states. Returns the transitions tried.
int solve_step(__local Group *group, const int number, const int item, __global ushort *choices) {
    __local const Grid *here = &group->search.grid[number], *next = here + 1;
    __local const REAL *ahead = group->values[(number + 1) % 2];
    __local REAL *values = group->values[number % 2];
    const Step step = year_step(number, group->year);
    int tried = 0;
    for (int first = item * LANES; first < here->states; first += ITEMS * LANES) {
        reals storage, worth;
        for (int lane = 0; lane < LANES; ++lane) REAL_OF(storage, lane) = storage_at(here, first + lane);
        const Following range = following(storage, &step, ROUNDING * group->year[MAX_STORAGE], next);
        const ints choice =
            best_following(storage, &range, &step, next, &group->near[number], group->search.coarse, ahead, &worth);
        for (int lane = 0; lane < LANES && first + lane < here->states; ++lane) {
            const REAL stored = REAL_OF(storage, lane);
            int chosen = (int)INT_OF(choice, lane);
            REAL value = REAL_OF(worth, lane);
            if (chosen < 0) chosen = nearest(stored, &range, lane, next, group->year[PENALTY], ahead, &value);
            values[first + lane] = value - cost_at(stored, number, group);
            choices[number * ROOM + first + lane] = chosen;
            tried += max(last_of(&range, lane, next->states) - first_of(&range, lane) + 1, 0);
        }
    }
    return tried;
}

// What a grid's recursion begins with: the last point's values, and in a finer grid the curves around its corridor.
void prepare(__local Group *group, const int item, __global const REAL *tables) {
    __local const Grid *end = &group->search.grid[STEPS];
    for (int state = item; state < end->states; state += ITEMS)
        group->values[STEPS % 2][state] = -cost_at(storage_at(end, state), STEPS, group);
    if (group->search.coarse) return;
    for (int number = item; number < STEPS; number += ITEMS) {
        __local const Grid *here = &group->search.grid[number], *next = here + 1;
        const Step step = year_step(number, group->year);
        group->near[number] = near_curves(tables, (here->low + next->low) / 2, (here->high + next->high) / 2,
                                          release_between(here->low, next->high, &step),
                                          release_between(here->high, next->low, &step));
    }
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
        const REAL target = storage_at(&search->grid[number + 1], state), release = release_between(storage, target, &step);
        const REAL end = STORAGE_AFTER(storage, step.inflow, release, step.per_flow);
        const REAL power = power_in(tables, (storage + end) / 2, release);
        fitness += STAGE_BENEFIT(power, step.per_flow * GWH_PER_STAGE_BENEFIT) - cost_at(end, number + 1, group);
        search->latest.storage[number + 1] = target;
        storage = end;
    }
    search->latest.fitness = fitness;
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void dynamic_programming(
    __global const REAL *contexts, __global const int *years, __global const REAL *starts, __global const REAL *tables,
    const int most_states, __global ushort *all_choices, __global REAL *found_position, __global REAL *found_fitness,
    __global int *grids, __global long *transitions) {
    const int item = get_local_id(0), place = get_group_id(0);
    __global ushort *choices = all_choices + (size_t)place * STEPS * ROOM;
    __local Group group;
    for (int each = item; each < CONTEXT; each += ITEMS) group.year[each] = contexts[(size_t)years[place] * CONTEXT + each];
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (item == 0) start_search(&group.search, starts[place], most_states, group.year);
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);

    long tried = 0; // of one step no more than 30,000 times 30,000, but of a search more than 32 bits can count
    while (!group.search.done) {
        prepare(&group, item, tables);
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
        for (int number = STEPS - 1; number >= 0; --number) {
            tried += solve_step(&group, number, item, choices);
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
    for (int number = item; number < STEPS; number += ITEMS) {
        __local const REAL *storage = group.search.best.storage + number;
        const Step step = year_step(number, group.year);
        found_position[(size_t)place * STEPS + number] = release_between(storage[0], storage[1], &step);
    }
}
