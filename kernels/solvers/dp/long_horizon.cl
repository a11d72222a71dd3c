// Dynamic programming over a horizon of any number of steps: as dynamic_programming.cl, but a work group makes one run, from
// a first grid to its last refinement, and the host compares the runs (reservoir/solvers/dp/engine.py). A group keeps what
// it works on in global memory. Its items share the points of the horizon and, where they are more than the states of a step,
// the states that can follow each of them: a team of items for LANES states. No result depends on how many there are.
//
// Constants: GROUP_NUMBERS, room of a group in numbers; MOST_MEMBERS of a team.

typedef char group_has_room[sizeof(Group) <= GROUP_NUMBERS * sizeof(REAL) ? 1 : -1];

typedef struct {
    REAL best_value[ITEMS * LANES];
    int choice[ITEMS * LANES];
    REAL fitness;
    int leans, missed;
} Pad;

// The best of what a team has found for one of its states, the first of equals; -1 where none can follow.
int best_of_team(__local const Pad *pad, const int item, const int lane, const int members, REAL *best_value) {
    int choice = -1;
    *best_value = -INFINITY;
    for (int member = 0; member < members; ++member) {
        const int place = (item + member) * LANES + lane;
        const REAL value = pad->best_value[place];
        if (value > *best_value || (value == *best_value && pad->choice[place] < choice)) {
            *best_value = value;
            choice = pad->choice[place];
        }
    }
    return choice;
}

// Bellman's recursion over one step (solve_step); `choices` are those of the step. Returns the transitions tried.
long solve_step_in_teams(__global Group *group, __local Pad *pad, const int number, const int item, __global ushort *choices,
                         __global const REAL *tables) {
    __global const Grid *here = &group->search.grid[number], *next = here + 1;
    __global const REAL *ahead = group->values[(number + 1) % 2];
    __global REAL *values = group->values[number % 2];
    __global const NearCurves *near = &group->near[number];
    const bool coarse = group->search.coarse;
    const Step step = year_step(number, group->year);
    const REAL rounding_hm3 = ROUNDING * group->year[MAX_STORAGE];
    const int vectors = (here->states + LANES - 1) / LANES;
    const int members = clamp(ITEMS / vectors, 1, MOST_MEMBERS), teams = ITEMS / members;
    const int team = item / members, member = item % members;
    long tried = 0;
    for (int round = 0; round < vectors; round += teams) {
        const int first = (round + team) * LANES;
        const bool busy = team < teams && first < here->states;
        if (busy) {
            reals storage, best_value;
            for (int lane = 0; lane < LANES; ++lane) REAL_OF(storage, lane) = storage_at(here, first + lane);
            const Following range = following(storage, &step, rounding_hm3, next, near, coarse, tables);
            const ints choice = best_following(storage, &range, &step, next, near, coarse, ahead, &best_value, member, members);
            for (int lane = 0; lane < LANES; ++lane) {
                if (member == 0 && first + lane < here->states)
                    tried += max(last_of(&range, lane, next->states) - first_of(&range, lane) + 1, 0);
                pad->best_value[item * LANES + lane] = REAL_OF(best_value, lane);
                pad->choice[item * LANES + lane] = (int)INT_OF(choice, lane);
            }
        }
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (busy && member == 0) {
            for (int lane = 0; lane < LANES && first + lane < here->states; ++lane) {
                const REAL stored = storage_at(here, first + lane);
                REAL value;
                int chosen = best_of_team(pad, item, lane, members, &value);
                if (chosen < 0) {
                    const Following range = following((reals)(stored), &step, rounding_hm3, next, near, coarse, tables);
                    chosen = nearest(stored, &range, 0, &step, next, group->year[PENALTY], ahead, tables, &value);
                }
                values[first + lane] = value - cost_at(stored, number, group);
                choices[first + lane] = chosen;
            }
        }
        GROUP_BARRIER(ALL_MEMORY);
    }
    return tried;
}

// Storage that a step leads to, by the tables, from a storage and the one that it aims at.
REAL end_of_step(const int number, const REAL storage, const REAL target, __global const Group *group,
                 __global const REAL *tables) {
    const Step step = year_step(number, group->year);
    const REAL draft = draft_between(storage, target, &step, tables);
    return ended_with(tables, storage, draft, step).end;
}

// The best trajectory of a solved grid: the storages it aims at, and those that its releases lead to. Where every step leads to
// what it aims at, all items look at their steps; else one walks through all.
void follow(__global Group *group, __local Pad *pad, const int item, const int states, __global const ushort *choices,
            __global const REAL *tables) {
    __global Search *search = &group->search;
    __global REAL *target = search->latest.storage, *walked = group->walked;
    if (item == 0) {
        int state = 0;
        target[0] = search->start;
        for (int number = 0; number < STEPS; ++number) {
            state = choices[(size_t)number * states + state];
            target[number + 1] = storage_at(&search->grid[number + 1], state);
        }
        pad->missed = 0;
    }
    GROUP_BARRIER(ALL_MEMORY);
    const REAL rounding_hm3 = ROUNDING * group->year[MAX_STORAGE];
    FOR_POINTS {
        walked[point] = target[point];
        const REAL end = point == 0 ? target[0] : end_of_step(point - 1, target[point - 1], target[point], group, tables);
        if (fabs(end - target[point]) > rounding_hm3) pad->missed = 1;
    }
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0 && pad->missed)
        for (int number = 0; number < STEPS; ++number)
            walked[number + 1] = end_of_step(number, walked[number], target[number + 1], group, tables);
    GROUP_BARRIER(ALL_MEMORY);
}

// Fitness of the latest trajectory by the curves as given (trace); all items get it.
REAL fitness_of_latest(__global Group *group, __local Pad *pad, const int item, __global const REAL *tables) {
    FOR_SHARE (int number = item; number < STEPS; number += ITEMS) {
        const Step step = year_step(number, group->year);
        const REAL storage = group->walked[number], end = group->walked[number + 1];
        const REAL draft = draft_between(storage, group->search.latest.storage[number + 1], &step, tables);
        Ended ended = ended_with(tables, storage, draft, step);
        ended.end = end;
        group->fitness[number] = ended_value(tables, storage, &ended, &step, cost_at(end, number + 1, group));
    }
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0) {
        REAL fitness = 0;
        for (int number = 0; number < STEPS; ++number) fitness += group->fitness[number];
        pad->fitness = fitness + end_value(group->walked[STEPS], group);
    }
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    return pad->fitness;
}

// Whether the latest trajectory leans against the grid at any point (at_edge); all items get it.
bool leans_anywhere(__global const Search *search, __local Pad *pad, const int item) {
    if (item == 0) pad->leans = 0;
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    if (at_edge(search)) pad->leans = 1;
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    return pad->leans;
}

// Begin again around the best trajectory of a run, with grids a part as wide as the first time; all items share the points.
void restart_run(__global Search *search) {
    FOR_POINTS {
        search->latest.storage[point] = search->best_of_run.storage[point];
        search->spacing[point] = RESTART_WIDTH * (search->upper[point] - search->lower[point]) / (search->states - 1);
    }
}

// One run a group: `first_states` are the states of its first grid, `room` what a step has of `choices`. Choices of a grid
// stand close together, a row of all its states a step.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void dynamic_programming_run(
    __global const REAL *contexts, __global const int *years, __global const REAL *starts, __global const int *first_states,
    __global const REAL *tables, const int room, const int most_restarts, __global REAL *groups, __global ushort *all_choices,
    __global REAL *found_position, __global REAL *found_fitness, __global int *grids, __global long *transitions) {
    const int item = get_local_id(0), place = get_group_id(0);
    __global Group *group = (__global Group *)(groups + (size_t)place * GROUP_NUMBERS);
    __global Search *search = &group->search;
    __global ushort *choices = all_choices + (size_t)place * STEPS * room;
    __local Pad pad;
    FOR_SHARE (int each = item; each < CONTEXT; each += ITEMS) group->year[each] = contexts[(size_t)years[place] * CONTEXT + each];
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0) {
        search->start = starts[place];
        find_corridor(search, starts[place], group->year, tables);
    }
    GROUP_BARRIER(ALL_MEMORY);
    start_run(search, first_states[place]);

    REAL fitness = 0, best = -INFINITY, best_before = -INFINITY; // these and the counts are the same for all items
    int solved = 0, quiet = 0, left = MOST_REFINEMENTS, restarts = 0;
    long tried = 0;
    bool done = false;
    while (!done) {
        if (solved > 0) refine(search);
        GROUP_BARRIER(ALL_MEMORY);
        const int states = solved > 0 ? FINE_STATES : first_states[place];
        prepare(group, item, tables);
        GROUP_BARRIER(ALL_MEMORY);
        for (int number = STEPS - 1; number >= 0; --number)
            tried += solve_step_in_teams(group, &pad, number, item, choices + (size_t)number * states, tables);
        follow(group, &pad, item, states, choices, tables);
        const REAL fitness_before = fitness;
        fitness = fitness_of_latest(group, &pad, item, tables);
        const bool leans = leans_anywhere(search, &pad, item);
        if (solved > 0) {
            quiet = close_to(fitness_before, fitness, TOLERANCE) ? quiet + 1 : 0;
            if (!leans) FOR_POINTS search->spacing[point] = search->grid[point].spacing;
        }
        if (fitness > best) {
            best = fitness;
            FOR_POINTS search->best_of_run.storage[point] = search->latest.storage[point];
        }
        ++solved;
        --left;
        if (quiet == 2 || left == 0) {
            const bool gained = restarts == 0 || best - best_before > RESTART_GAIN * fabs(best_before);
            done = restarts == most_restarts || !gained;
            restart_run(search);
            fitness = best_before = best;
            quiet = 0;
            left = MOST_REFINEMENTS;
            ++restarts;
        }
        GROUP_BARRIER(ALL_MEMORY);
    }

    transitions[(size_t)place * ITEMS + item] = tried;
    if (item == 0) {
        found_fitness[place] = best;
        grids[place] = solved;
    }
    FOR_SHARE (int number = item; number < STEPS; number += ITEMS) {
        __global const REAL *storage = search->best_of_run.storage + number;
        const Step step = year_step(number, group->year);
        found_position[(size_t)place * STEPS + number] = draft_between(storage[0], storage[1], &step, tables);
    }
}
