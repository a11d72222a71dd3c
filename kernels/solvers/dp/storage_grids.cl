// The grids of a year's storages: first everything that can be reached, then ever finer ones around the best trajectory
// found, and all of it again from a finer first grid until two agree. One work item decides for its group.
//
// Constants: STATES, FINE_STATES, HALF_WIDTH, TOLERANCE, AGREEMENT, MOST_REFINEMENTS
// (reservoir/solvers/dp/__init__.py), STEPS, and LONG_HORIZON and GROUP_SPACE (transitions.cl). Storages are those at the
// start and at the end of every step. The items of a group share the points of a long horizon.

#define POINTS (STEPS + 1)
#if LONG_HORIZON
#define FOR_POINTS FOR_SHARE (int point = get_local_id(0); point < POINTS; point += ITEMS)
#else
#define FOR_POINTS for (int point = 0; point < POINTS; ++point)
#endif

typedef struct {
    REAL low, high, spacing;
    int states; // one where low is high
#if CONDITIONS
    int dead_state; // the state that is moved to dead storage, below which no release leads; -1 if none is near it
    REAL dead;
    bool exact; // of a horizon that sinks below dead storage, whose best may be to hold back all water: no rounding helps
#endif
} Grid;

typedef struct {
    REAL fitness;
    REAL storage[POINTS];
} Trajectory;

typedef struct {
    REAL start;
    REAL lower[POINTS], upper[POINTS]; // what can be reached and left again
    Grid grid[POINTS];
    REAL spacing[POINTS]; // of the next finer grid's corridor; stays while the trajectory leans against the corridor
#if LONG_HORIZON
    Trajectory latest, best_of_run;
#else
    Trajectory latest, best_of_run, best;
#endif
    int states, most_states, grids_of_run, grids, quiet;
    bool coarse, done;
#if CONDITIONS
    REAL dead;
    bool sinks; // below dead storage
#endif
} Search;

REAL storage_at(GROUP_SPACE const Grid *grid, const int state) {
#if CONDITIONS
    if (state == grid->dead_state) return grid->dead;
#endif
    return state < grid->states - 1 ? FUSED((REAL)state, grid->spacing, grid->low) : grid->high;
}

void divide(GROUP_SPACE Grid *grid, const REAL low, const REAL high, const int states) {
    grid->low = low;
    grid->high = high;
    grid->states = high > low ? states : 1;
    grid->spacing = (high - low) / (states - 1);
}

// Which of a grid's states is dead storage.
void mark_dead(GROUP_SPACE Grid *grid, GROUP_SPACE const Search *search) {
#if CONDITIONS
    const bool within = grid->states > 2 && grid->low < search->dead && search->dead < grid->high;
    grid->dead = search->dead;
    grid->exact = search->sinks;
    grid->dead_state = within ? clamp((int)rint((grid->dead - grid->low) / grid->spacing), 1, grid->states - 2) : -1;
#endif
}

// State nearest to a storage.
int state_near(GROUP_SPACE const Grid *grid, const REAL storage) {
    const int near = clamp((int)rint(grid->states > 1 ? (storage - grid->low) / grid->spacing : 0), 0, grid->states - 1);
#if CONDITIONS
    if (grid->dead_state >= 0 && fabs(storage - grid->dead) < fabs(storage - storage_at(grid, near))) return grid->dead_state;
#endif
    return near;
}

// Value on the line between two states; beyond them, that of the last.
REAL value_between(GROUP_SPACE const Grid *grid, GROUP_SPACE const REAL *values, const REAL storage) {
    if (grid->states == 1) return values[0];
    const int last = grid->states - 2;
    int left = clamp((int)floor((storage - grid->low) / grid->spacing), 0, last);
    if (left > 0 && storage < storage_at(grid, left)) --left;
    if (left < last && storage > storage_at(grid, left + 1)) ++left;
    const REAL below = storage_at(grid, left), part = (storage - below) / (storage_at(grid, left + 1) - below);
    return values[left] + clamp(part, (REAL)0, (REAL)1) * (values[left + 1] - values[left]);
}

// Storages that can be reached from the start and from which the year can be completed; where none within the bounds
// can be reached, the one nearest to them stands alone; where there is too little water to stay above dead storage, they reach
// down to what losses alone leave (`corridor` in reservoir/hydro/limits.py).
void find_corridor(GROUP_SPACE Search *search, const REAL start, CONTEXT_SPACE const REAL *year, __global const REAL *tables) {
    search->lower[0] = search->upper[0] = start;
#if CONDITIONS
    search->dead = year[DEAD];
    search->sinks = false;
#endif
    for (int step = 0; step < STEPS; ++step) {
        const Step here = year_step(step, year);
        const REAL low = search->lower[step], high = search->upper[step];
        const REAL least = end_in(tables, low, STORAGE_AFTER(low, here.inflow, here.most, here.per_flow), here);
        const REAL most = ended_with(tables, high, here.least, here).end;
        const Ended deepest = ended_with(tables, low, here.least, here);
        const reals lowest = within_reach((reals)(-INFINITY), (reals)(start), step, year);
        const reals highest = within_reach((reals)(INFINITY), (reals)(start), step, year);
        const REAL lower = fmin(fmax(least, REAL_OF(lowest, 0)), most), upper = fmax(fmin(most, REAL_OF(highest, 0)), least);
        const REAL alone = least > REAL_OF(highest, 0) ? least : most;
        search->lower[step + 1] = lower > upper ? alone : lower;
        if (deepest.little) search->lower[step + 1] = fmin(search->lower[step + 1], deepest.end);
        search->upper[step + 1] = lower > upper ? alone : upper;
#if CONDITIONS
        search->sinks |= search->lower[step + 1] < here.dead - DEAD_ROUNDING * (fabs(here.dead) + 1);
#endif
    }
}

void start_run(GROUP_SPACE Search *search, const int states) {
    search->states = states;
    search->grids_of_run = search->quiet = 0;
    search->coarse = true;
    FOR_POINTS {
        divide(&search->grid[point], search->lower[point], search->upper[point], states);
        mark_dead(&search->grid[point], search);
        search->spacing[point] = search->grid[point].spacing;
    }
}

void refine(GROUP_SPACE Search *search) {
    search->coarse = false;
    FOR_POINTS {
        const REAL lower = search->lower[point], upper = search->upper[point], reach = HALF_WIDTH * search->spacing[point];
        const REAL storage = search->latest.storage[point];
        const REAL low = clamp(storage - reach, lower, upper), high = clamp(storage + reach, lower, upper);
        divide(&search->grid[point], low, high, FINE_STATES);
        mark_dead(&search->grid[point], search);
    }
}

// Whether the latest trajectory leans against the grid where the year's own limits do not hold it.
bool at_edge(GROUP_SPACE const Search *search) {
    bool leans = false;
    FOR_POINTS {
        const REAL storage = search->latest.storage[point], low = search->grid[point].low, high = search->grid[point].high;
        leans |= low < high && storage <= low && low > search->lower[point];
        leans |= low < high && storage >= high && high < search->upper[point];
    }
    return leans;
}

bool close_to(const REAL one, const REAL other, const REAL tolerance) {
    return fabs(one - other) <= tolerance * fmax(fabs(other), (REAL)1e-12f);
}

#if !LONG_HORIZON
void start_search(GROUP_SPACE Search *search, const REAL start, const int most_states, CONTEXT_SPACE const REAL *year,
                  __global const REAL *tables) {
    search->start = start;
    find_corridor(search, start, year, tables);
    search->best.fitness = -INFINITY;
    search->grids = 0;
    search->most_states = most_states;
    search->done = false;
    start_run(search, STATES);
}

// Judge the latest trajectory, once a grid is solved, and choose the next grid.
void judge(GROUP_SPACE Search *search, const REAL fitness_before) {
    const REAL fitness = search->latest.fitness;
    if (search->coarse) search->best_of_run.fitness = -INFINITY;
    else {
        search->quiet = close_to(fitness_before, fitness, TOLERANCE) ? search->quiet + 1 : 0;
        if (!at_edge(search)) FOR_POINTS search->spacing[point] = search->grid[point].spacing;
    }
    if (fitness > search->best_of_run.fitness) search->best_of_run = search->latest;
    ++search->grids;
    ++search->grids_of_run;
    if (search->quiet < 2 && search->grids_of_run < MOST_REFINEMENTS) {
        refine(search);
        return;
    }
    const bool agreed = close_to(search->best.fitness, search->best_of_run.fitness, AGREEMENT);
    if (search->best_of_run.fitness > search->best.fitness) search->best = search->best_of_run;
    search->done = agreed || search->states >= search->most_states;
    if (!search->done) start_run(search, search->states * 3 / 2);
}
#endif
