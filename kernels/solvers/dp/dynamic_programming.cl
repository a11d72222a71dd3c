// Dynamic programming over the storages of a horizon of any number of steps (reservoir/solvers/dp/sequential.py is the same on
// the host). A work group makes one run, from a first grid to its last refinement, a grid a launch; the host compares the runs
// (reservoir/solvers/dp/engine.py). A group keeps what it works on in global memory.
//
// The first grid, which only has to find where the optimum lies, sees the curves' forms, finer ones see parabolas which
// become exact as they narrow. Trajectories are judged by the curves as given, so that all grids can be compared.
//
// A group of one item values the transitions of a grid as it goes. Where groups have more, a launch of its own values them,
// a group for each step, so that few runs fill a device too; the recursion then only adds and compares. No result depends on
// which, or on LANES and ITEMS.
//
// Constants: GROUP_NUMBERS, room of a group in numbers; MOST_MEMBERS of a team; VALUES_SPACE, in which memory values of states
// stand. Stands behind transitions.cl.

typedef char group_has_room[sizeof(Group) <= GROUP_NUMBERS * sizeof(REAL) ? 1 : -1];

#define GROUP_OF(place) ((__global Group *)(groups + (size_t)(place) * GROUP_NUMBERS))
// Of the runs that are not done, `block` steps from `first_step` on, with tables of so many rows and so wide.
#define GRID_ARGUMENTS                                                                                                         \
    __global const REAL *tables, __global REAL *groups, __global const int *active, const int first_step, const int block,     \
        const int rows, const int width, __global reals *worth, __global reals *unmet, __global reals *cost,                   \
        __global int2 *ranges
#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void

// What items of a group show each other: the best that each has found, and what one finds for all.
typedef struct {
    REAL best_value[ITEMS * LANES];
    int choice[ITEMS * LANES];
} Pad;

typedef struct {
    REAL fitness;
    int leans, missed;
} Shared;

// Transitions of a step between states, `width` of them, and as many that follow: what each makes, and does not deliver; which
// follow each state, first and last, and what being there costs. Of small grids all stand there, also those that no release makes.
typedef struct {
    __global reals *worth, *unmet, *cost;
    __global int2 *range;
} Table;

#define VECTORS (width / LANES)
#define SMALL (rows <= 64)
#define IN_FLIGHT 8 // transitions that an item asks memory for at once

// The table of a step of a run, by its place among all.
#define TABLE_AT(place)                                                                                                        \
    {worth + (place) * rows * VECTORS, unmet + (place) * rows * VECTORS, cost + (place) * VECTORS, ranges + (place) * width}

reals storages_at(__global const Grid *grid, const int first) {
    reals storage;
    for (int lane = 0; lane < LANES; ++lane) REAL_OF(storage, lane) = storage_at(grid, first + lane);
    return storage;
}

// The value of a state, and what follows it, once the best is known of what can; -1 where none can.
int choice_of(__global Group *group, const int number, const int state, const int best, const REAL best_value, const REAL cost,
              VALUES_SPACE const REAL *ahead, VALUES_SPACE REAL *values, __global const REAL *tables) {
    REAL value = best_value;
    int choice = best;
    if (best < 0) choice = nearest(storage_at(&group->search.grid[number], state), number, group, ahead, tables, &value);
    values[state] = value - cost;
    return choice;
}

// Bellman's recursion over one step: the best next state from each state. `choices` are those of the step.
#if ITEMS == 1
int solve_step(__global Group *group, const int number, VALUES_SPACE const REAL *ahead, VALUES_SPACE REAL *values,
               __global ushort *choices, __global const REAL *tables) {
    __global const Grid *here = &group->search.grid[number], *next = here + 1;
    const Step step = year_step(number, group->year);
    int tried = 0;
    for (int first = 0; first < here->states; first += LANES) {
        const reals storage = storages_at(here, first);
        const Following range = following(storage, &step, number, group, tables);
        int lowest = next->states, highest = -1;
        for (int lane = 0; lane < LANES; ++lane) {
            lowest = min(lowest, first_of(&range, lane));
            highest = max(highest, last_of(&range, lane, next->states));
            if (first + lane < here->states)
                tried += max(last_of(&range, lane, next->states) - first_of(&range, lane) + 1, 0);
        }
        ints choice = (ints)(-1);
        reals most = (reals)(-INFINITY);
        const REAL per_worth = PER_WORTH(step);
        for (int state = lowest; state <= highest; ++state) {
            const REAL end = storage_at(next, state);
            reals unmet;
            const reals worth = worth_between(storage, end, &step, number, group, &unmet);
            reals value = FUSED(worth, (reals)(per_worth), (reals)(ahead[state]));
#if CONDITIONS
            value -= unmet;
#endif
            const ints better = (value > most) & (end >= range.lowest) & (end <= range.highest);
            most = CHOOSE(better, value, most);
            choice = CHOOSE(better, (ints)(state), choice);
        }
        for (int lane = 0; lane < LANES && first + lane < here->states; ++lane)
            choices[first + lane] =
                choice_of(group, number, first + lane, (int)INT_OF(choice, lane), REAL_OF(most, lane),
                          cost_at(REAL_OF(storage, lane), number, group), ahead, values, tables);
    }
    return tried;
}
#else
// A team of items for LANES states; the first of a team takes the best of what all have found, the first of equals.
int solve_step(__global Group *group, __local Pad *pad, const int number, const int item, const Table table, const int rows,
               const int width, VALUES_SPACE const REAL *ahead, VALUES_SPACE REAL *values, __global ushort *choices,
               __global const REAL *tables) {
    const int states = group->search.grid[number].states, members = clamp(ITEMS / VECTORS, 1, MOST_MEMBERS);
    const int teams = min(ITEMS / members, VECTORS), team = item % teams, member = item / teams;
    const REAL per_worth = PER_WORTH(year_step(number, group->year));
    int tried = 0;
    for (int round = 0; round < VECTORS; round += teams) {
        const int vector = round + team, first = vector * LANES;
        const bool busy = member < members && vector < VECTORS;
        reals cost = 0;
        if (busy) {
            int lowest = SMALL ? 0 : rows, highest = SMALL ? rows - 1 : -1;
            for (int lane = 0; lane < LANES && (member == 0 || !SMALL); ++lane) {
                const int2 range = table.range[first + lane];
                if (!SMALL) lowest = min(lowest, range.x), highest = max(highest, range.y);
                if (member == 0) tried += max(range.y - range.x + 1, 0);
            }
            cost = table.cost[vector];
            ints choice = (ints)(-1);
            reals most = (reals)(-INFINITY);
            for (int state = lowest + member; state <= highest; state += IN_FLIGHT * members) {
                reals worth[IN_FLIGHT], unmet[IN_FLIGHT]; // the last may be asked for, and tried, more than once
#pragma unroll
                for (int each = 0; each < IN_FLIGHT; ++each) {
                    const int place = min(state + each * members, highest) * VECTORS + vector;
                    worth[each] = table.worth[place];
#if CONDITIONS
                    unmet[each] = table.unmet[place];
#endif
                }
#pragma unroll
                for (int each = 0; each < IN_FLIGHT; ++each) {
                    const int follower = min(state + each * members, highest);
                    reals value = FUSED(worth[each], (reals)(per_worth), (reals)(ahead[follower]));
#if CONDITIONS
                    value -= unmet[each];
#endif
                    const ints better = value > most;
                    most = CHOOSE(better, value, most);
                    choice = CHOOSE(better, (ints)(follower), choice);
                }
            }
            for (int lane = 0; lane < LANES; ++lane) {
                pad->best_value[item * LANES + lane] = REAL_OF(most, lane);
                pad->choice[item * LANES + lane] = (int)INT_OF(choice, lane);
            }
        }
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (busy && member == 0) {
            for (int lane = 0; lane < LANES && first + lane < states; ++lane) {
                REAL best_value = pad->best_value[item * LANES + lane];
                int best = pad->choice[item * LANES + lane];
#pragma unroll
                for (int other = 1; other < MOST_MEMBERS; ++other) {
                    const int place = (item + min(other, members - 1) * teams) * LANES + lane, choice = pad->choice[place];
                    const REAL value = pad->best_value[place];
                    const bool better = value > best_value || (value == best_value && choice < best);
                    best_value = better ? value : best_value;
                    best = better ? choice : best;
                }
                choices[first + lane] =
                    choice_of(group, number, first + lane, best, best_value, REAL_OF(cost, lane), ahead, values, tables);
            }
        }
        GROUP_BARRIER(LOCAL_VALUES ? CLK_LOCAL_MEM_FENCE : ALL_MEMORY);
    }
    return tried;
}

// Value the transitions of some steps, but for the values of what follows: `slices` groups for each step of each run.
GROUP_KERNEL value_transitions(GRID_ARGUMENTS, const int slices) {
    const int slice = get_group_id(0) % slices, place = get_group_id(0) / slices;
    const int run = active[place / block], number = first_step + place % block;
    __global Group *group = GROUP_OF(run);
    __global const Grid *here = &group->search.grid[number], *next = here + 1;
    const Table table = TABLE_AT((size_t)place);
    const Step step = year_step(number, group->year);
    const int members = max(ITEMS * slices / VECTORS, 1);
    FOR_SHARE (int part = slice * ITEMS + (int)get_local_id(0); part < VECTORS * members; part += ITEMS * slices) {
        const int vector = part % VECTORS, member = part / VECTORS, first = vector * LANES;
        const reals storage = storages_at(here, first);
        const Following range = following(storage, &step, number, group, tables);
        int lowest = rows, highest = -1;
        reals cost_here;
        for (int lane = 0; lane < LANES; ++lane) {
            const int from = first_of(&range, lane);
            const int to = first + lane < here->states ? last_of(&range, lane, next->states) : -1;
            lowest = min(lowest, from);
            highest = max(highest, to);
            REAL_OF(cost_here, lane) = cost_at(REAL_OF(storage, lane), number, group);
            if (member == 0) table.range[first + lane] = (int2)(from, to);
        }
        if (member == 0) table.cost[vector] = cost_here;
        const int stop = SMALL ? rows - 1 : highest;
        for (int state = (SMALL ? 0 : lowest) + member; state <= stop; state += members) {
            const REAL end = storage_at(next, state);
            reals unmet_here;
            const reals made = worth_between(storage, end, &step, number, group, &unmet_here);
            const ints can = (end >= range.lowest) & (end <= range.highest) & (ints)(state < next->states ? -1 : 0);
            table.worth[state * VECTORS + vector] = CHOOSE(can, made, (reals)(-INFINITY));
#if CONDITIONS
            table.unmet[state * VECTORS + vector] = unmet_here;
#endif
        }
    }
}
#endif

// Solve some steps of each run's grid, a group each. Choices of a grid stand close together, a row of all its states a step; `room`
// is what a step has of them.
GROUP_KERNEL solve_grids(GRID_ARGUMENTS, const int room, __global ushort *all_choices, __global long *transitions) {
    const int item = get_local_id(0), place = get_group_id(0), run = active[place], end = first_step + block;
    __global Group *group = GROUP_OF(run);
    __global const Grid *grid = group->search.grid;
    __global ushort *choices = all_choices + (size_t)run * STEPS * room;
#if ITEMS > 1
    __local Pad pad;
#endif
#if LOCAL_VALUES
    __local REAL values[2 * ROOM];
#else
    __global REAL *values = group->values;
#endif
    FOR_SHARE (int at = item; at < 2 * ROOM; at += ITEMS) { // also those of states that no release leads to
        const int state = at - end % 2 * ROOM;
        if (state < 0 || state >= grid[end].states) values[at] = 0;
        else values[at] = end < STEPS ? group->values[at] : worth_of_end(storage_at(&grid[end], state), group);
    }
    GROUP_BARRIER(ALL_MEMORY);
    long tried = 0;
    for (int number = end - 1; number >= first_step; --number) {
        VALUES_SPACE const REAL *ahead = values + (number + 1) % 2 * ROOM;
        VALUES_SPACE REAL *here = values + number % 2 * ROOM;
        __global ushort *chosen = choices + (size_t)number * group->search.now.states;
#if ITEMS == 1
        tried += solve_step(group, number, ahead, here, chosen, tables);
#else
        const Table table = TABLE_AT((size_t)place * block + number - first_step);
        tried += solve_step(group, &pad, number, item, table, rows, width, ahead, here, chosen, tables);
#endif
    }
    transitions[(size_t)run * ITEMS + item] += tried;
    FOR_SHARE (int state = item; state < grid[first_step].states; state += ITEMS) { // for the steps before
        const int at = first_step % 2 * ROOM + state;
        group->values[at] = values[at];
    }
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
void follow(__global Group *group, __local Shared *shared, const int item, __global const ushort *choices,
            __global const REAL *tables) {
    __global Search *search = &group->search;
    __global REAL *target = search->latest, *walked = group->walked;
    const int states = search->now.states;
    if (item == 0) {
        target[0] = 0;
        for (int number = 0, state = 0; number < STEPS; ++number)
            target[number + 1] = state = choices[(size_t)number * states + state];
        shared->leans = shared->missed = 0;
    }
    GROUP_BARRIER(ALL_MEMORY);
    FOR_POINTS target[point] = point == 0 ? search->start : storage_at(&search->grid[point], (int)target[point]);
    GROUP_BARRIER(ALL_MEMORY);
    const REAL rounding_hm3 = ROUNDING * group->year[MAX_STORAGE];
    FOR_POINTS {
        if (leans_at(search, point)) shared->leans = 1;
        walked[point] = target[point];
        const REAL end = point == 0 ? target[0] : end_of_step(point - 1, target[point - 1], target[point], group, tables);
        if (fabs(end - target[point]) > rounding_hm3) shared->missed = 1;
    }
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0 && shared->missed)
        for (int number = 0; number < STEPS; ++number)
            walked[number + 1] = end_of_step(number, walked[number], target[number + 1], group, tables);
    GROUP_BARRIER(ALL_MEMORY);
}

// Fitness of the latest trajectory by the curves as given (trace); all items get it.
REAL fitness_of_latest(__global Group *group, __local Shared *shared, const int item, __global const REAL *tables) {
    FOR_SHARE (int number = item; number < STEPS; number += ITEMS) {
        const Step step = year_step(number, group->year);
        const REAL storage = group->walked[number], end = group->walked[number + 1];
        const REAL draft = draft_between(storage, group->search.latest[number + 1], &step, tables);
        Ended ended = ended_with(tables, storage, draft, step);
        ended.end = end;
        group->fitness[number] = ended_value(tables, storage, &ended, &step, cost_at(end, number + 1, group));
    }
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0) {
        REAL fitness = 0;
        for (int number = 0; number < STEPS; ++number) fitness += group->fitness[number];
        shared->fitness = fitness + end_value(group->walked[STEPS], group);
    }
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    return shared->fitness;
}

// Begin runs, a group each: `first_states` are the states of their first grids, `next_states` those of the grid to be solved.
GROUP_KERNEL begin_runs(__global const REAL *contexts, __global const int *years, __global const REAL *starts,
                        __global const int *first_states, __global const REAL *tables, __global REAL *groups,
                        __global int *next_states) {
    const int item = get_local_id(0), run = get_group_id(0);
    __global Group *group = GROUP_OF(run);
    __global Search *search = &group->search;
    FOR_SHARE (int each = item; each < CONTEXT; each += ITEMS) group->year[each] = contexts[(size_t)years[run] * CONTEXT + each];
    GROUP_BARRIER(ALL_MEMORY);
    if (item == 0) {
        search->start = starts[run];
        search->first_states = first_states[run];
        find_corridor(search, starts[run], group->year, tables);
        const Progress begun = {0, -INFINITY, -INFINITY, 0, 0, MOST_REFINEMENTS, 0, first_states[run]};
        search->now = begun;
        next_states[run] = first_states[run];
    }
    GROUP_BARRIER(ALL_MEMORY);
    FOR_POINTS {
        divide(&search->grid[point], search->lower[point], search->upper[point], first_states[run]);
        mark_dead(&search->grid[point], search);
        search->spacing[point] = search->grid[point].spacing;
    }
}

// Once a grid is solved, judge its trajectory and make the next grid, or end the run, which has no next states then.
GROUP_KERNEL judge_grids(__global const REAL *tables, __global REAL *groups, __global const int *active, const int room,
                         __global const ushort *all_choices, const int most_restarts, __global int *next_states,
                         __global REAL *position, __global REAL *fitness, __global int *grids) {
    const int item = get_local_id(0), run = active[get_group_id(0)];
    __global Group *group = GROUP_OF(run);
    __global Search *search = &group->search;
    __local Shared shared;
    follow(group, &shared, item, all_choices + (size_t)run * STEPS * room, tables);
    Progress now = search->now; // the same for all items
    const REAL latest = fitness_of_latest(group, &shared, item, tables);
    if (now.solved > 0) {
        now.quiet = close_to(now.fitness, latest, TOLERANCE) ? now.quiet + 1 : 0;
        if (!shared.leans) FOR_POINTS search->spacing[point] = search->grid[point].spacing;
    }
    now.fitness = latest;
    if (latest > now.best) {
        now.best = latest;
        FOR_POINTS search->best[point] = search->latest[point];
    }
    ++now.solved;
    now.states = FINE_STATES;
    if (--now.left == 0 || now.quiet == 2) {
        const bool gained = now.restarts == 0 || now.best - now.best_before > RESTART_GAIN * fabs(now.best_before);
        if (now.restarts == most_restarts || !gained) now.states = 0;
        // Begin again around the best trajectory, with grids a part as wide as the first time.
        FOR_POINTS {
            search->latest[point] = search->best[point];
            search->spacing[point] = RESTART_WIDTH * (search->upper[point] - search->lower[point]) / (search->first_states - 1);
        }
        now.fitness = now.best_before = now.best;
        now.quiet = 0;
        now.left = MOST_REFINEMENTS;
        ++now.restarts;
    }
    GROUP_BARRIER(ALL_MEMORY); // all have read where the run was
    if (item == 0) {
        search->now = now;
        next_states[run] = now.states;
        fitness[run] = now.best;
        grids[run] = now.solved;
    }
    if (now.states > 0) refine(search);
    GROUP_BARRIER(ALL_MEMORY);
    FOR_SHARE (int number = item; number < STEPS; number += ITEMS) {
        const Step step = year_step(number, group->year);
        if (now.states > 0) group->near[number] = curves_near(number, group, tables);
        else
            position[(size_t)run * STEPS + number] =
                draft_between(search->best[number], search->best[number + 1], &step, tables);
    }
}
