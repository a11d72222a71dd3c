// Dynamic programming of one reservoir of a system on grids of storages that are given, around the schedule that is held: one
// launch values all transitions of all years, another solves them, a work group a year (reservoir/solvers/dpsa/engine.py has the
// same on the host). What a transition makes is told relative to that of the schedule, so that float32 can tell the best apart.
//
// Constants: ITEMS of a group; STATES of a step, the schedule's in the middle; BEYOND_r, BEYOND_t, BEYOND_s, BEYOND_l, whether
// what is released, turbined and spilled, and the mean storage, are worth something to other reservoirs
// (KINDS, reservoir/solvers/dp/beyond.py); POINTS of such a table, which straight lines join; ROUNDING. Stands behind given_curves.cl.

#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
#define MIDDLE (STATES / 2)

// Of a step of a year: its numbers, the level of the lake below, and tables of what flows and storages are worth to others.
typedef struct {
    Step step;
    REAL tailwater;
    __global const REAL *worth, *first, *per_unit;
} Given;

REAL worth_beyond(const Given *given, const int kind, const REAL x) {
    const int row = kind * STEPS;
    const REAL at = fmin(fmax((x - given->first[row]) * given->per_unit[row], (REAL)0), (REAL)(POINTS - 1));
    const int left = min((int)at, POINTS - 2);
    __global const REAL *points = given->worth + row * POINTS + left;
    return FUSED(at - left, points[1] - points[0], points[0]);
}

// What a step between two storages makes, GWH, and what that is worth to others, less the cost of where it ends.
REAL step_value(__global const REAL *tables, __global const REAL *year, const Given *given, const int number, const REAL storage,
                const REAL end, const REAL draft) {
    const Step step = given->step;
    const REAL mean_storage = (storage + end) / 2, release = RELEASED(REAL, draft, step);
    const REAL level = GIVEN(level, mean_storage), head = level - fmax(GIVEN(tailrace, release), given->tailwater);
    const REAL at_head = POWER_AT_HEAD(GIVEN, fmin, REAL, head, release, step);
    const REAL power = WHILE_OPERATING(REAL, step, mean_storage, at_head);
    REAL value = STAGE_BENEFIT(REAL, power, release, step, step.per_flow * PER_STAGE_BENEFIT);
    value -= violation_cost(end, end, number, year);
#if CONDITIONS
    value -= unmet_cost(draft, power, step);
#endif
#if BEYOND_r
    value += worth_beyond(given, 0, draft);
#endif
#if BEYOND_t || BEYOND_s // the turbines' share of a draft, at the head of it
    const REAL turbined = turbined_in(tables, level - fmax(GIVEN(tailrace, draft), given->tailwater), draft, step);
#endif
#if BEYOND_t
    value += worth_beyond(given, 1, turbined);
#endif
#if BEYOND_s
    value += worth_beyond(given, 2, draft - turbined);
#endif
#if BEYOND_l
    value += worth_beyond(given, 3, mean_storage);
#endif
    return value;
}

REAL draft_between(__global const REAL *tables, const Step step, const REAL storage, const REAL end) {
    return RELEASE_TO_REACH(storage, LOSSLESS(GIVEN, REAL, step, storage, end), step.inflow, step.per_volume);
}

// Value all transitions between the storages of `grids`: a group for each step of each year. Steps of cyclic years may begin
// behind `turned` others. From a storage that no draft within its bounds leads on from, the nearest is taken at a penalty.
GROUP_KERNEL value_given(__global const REAL *tables, __global const REAL *contexts, __global const REAL *grids,
                         __global const REAL *tailwater, __global const REAL *worth,
                         __global const REAL *first, __global const REAL *per_unit, const int turned, __global REAL *made,
                         __global int *tried) {
    const size_t place = get_group_id(0), of_year = place / STEPS;
    const int turn = (place % STEPS + turned) % STEPS;
    __global const REAL *year = contexts + of_year * CONTEXT, *here = grids + (place + of_year) * STATES, *next = here + STATES;
    const size_t row = of_year * KINDS * STEPS + turn, own = of_year * STEPS + turn;
    const Given given = {year_step(turn, year), tailwater[own], worth + row * POINTS, first + row, per_unit + row};
    const Step step = given.step;
    const REAL rounding = ROUNDING * (year[MAX_STORAGE] + 1) * step.per_volume;
    const REAL empty = step.dead - DEAD_ROUNDING * (fabs(step.dead) + 1); // only losses lead below
    const REAL kept = draft_between(tables, step, here[MIDDLE], next[MIDDLE]);
    const REAL held = step_value(tables, year, &given, turn, here[MIDDLE], next[MIDDLE], kept);
    FOR_SHARE (int state = get_local_id(0); state < STATES; state += ITEMS) {
        __global REAL *column = made + place * STATES * STATES + state;
        const REAL storage = here[state];
        REAL nearest = INFINITY;
        int count = 0, choice = 0;
        for (int end = 0; end < STATES; ++end) {
            const REAL draft = draft_between(tables, step, storage, next[end]);
            const REAL outside = fmax(draft - step.most, step.least - draft);
            const bool can = outside <= rounding && next[end] >= empty;
            column[end * STATES] =
                can ? step_value(tables, year, &given, turn, storage, next[end], draft) - held : -INFINITY;
            count += can;
            choice = outside < nearest ? end : choice;
            nearest = fmin(outside, nearest);
        }
        if (count == 0)
            column[choice * STATES] = -held - year[PENALTY] * nearest * step.per_flow / fmax(fabs(storage), (REAL)1);
        tried[place * STATES + state] = count;
    }
}

// The best trajectory of each year: places in its grids.
GROUP_KERNEL solve_given(__global const REAL *contexts, __global const REAL *grids, __global const REAL *made,
                         __global ushort *choices, __global int *paths) {
    const int item = get_local_id(0);
    const size_t of_year = get_group_id(0), first = of_year * STEPS;
    __global const REAL *ends = grids + (first + of_year + STEPS) * STATES;
    __local REAL values[2 * STATES];
    FOR_SHARE (int state = item; state < STATES; state += ITEMS) {
#if CONDITIONS
        values[STEPS % 2 * STATES + state] = (ends[state] - ends[MIDDLE]) * contexts[of_year * CONTEXT + END_VALUE];
#else
        values[STEPS % 2 * STATES + state] = 0;
#endif
    }
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    for (int number = STEPS - 1; number >= 0; --number) {
        __local const REAL *ahead = values + (number + 1) % 2 * STATES;
        FOR_SHARE (int state = item; state < STATES; state += ITEMS) {
            __global const REAL *column = made + (first + number) * STATES * STATES + state;
            REAL most = -INFINITY;
            int choice = 0;
            for (int end = 0; end < STATES; ++end) {
                const REAL value = column[end * STATES] + ahead[end];
                choice = value > most ? end : choice;
                most = fmax(value, most);
            }
            values[number % 2 * STATES + state] = most;
            choices[(first + number) * STATES + state] = choice;
        }
        GROUP_BARRIER(ALL_MEMORY);
    }
    if (item > 0) return;
    __global int *path = paths + first + of_year;
    int at = 0;
    for (int state = 1; state < STATES; ++state) at = values[state] > values[at] ? state : at;
    path[0] = at;
    for (int number = 0; number < STEPS; ++number) path[number + 1] = at = choices[(first + number) * STATES + at];
}
