// The grids of a year's storages: first everything that can be reached, then ever finer ones around the best trajectory
// found.
//
// Constants: FINE_STATES, HALF_WIDTH, TOLERANCE, MOST_REFINEMENTS, RESTART_WIDTH, RESTART_GAIN
// (reservoir/solvers/dp/__init__.py), STEPS. Storages are those at the start and at the end of every step. The items of a group
// share the points.

#define POINTS (STEPS + 1)
#define FOR_POINTS FOR_SHARE (int point = get_local_id(0); point < POINTS; point += ITEMS)

typedef struct {
    REAL low, high, spacing;
    int states; // one where low is high
#if CONDITIONS
    int dead_state; // the state that is moved to dead storage, below which no release leads; -1 if none is near it
    REAL dead;
    bool exact; // of a horizon that sinks below dead storage, whose best may be to hold back all water: no rounding helps
#endif
} Grid;

// Where a run is: fitness of the latest trajectory, of the best one, and of that before the last restart; grids solved, those
// in a row that changed next to nothing, and those left until a restart; states of the grid to be solved, none at the end.
typedef struct {
    REAL fitness, best, best_before;
    int solved, quiet, left, restarts, states;
} Progress;

typedef struct {
    REAL start;
    REAL lower[POINTS], upper[POINTS]; // what can be reached and left again
    Grid grid[POINTS];
    REAL spacing[POINTS]; // of the next finer grid's corridor; stays while the trajectory leans against the corridor
    REAL latest[POINTS], best[POINTS];
    Progress now;
    int first_states;
#if CONDITIONS
    REAL dead;
    bool sinks; // below dead storage
#endif
} Search;

REAL storage_at(__global const Grid *grid, const int state) {
#if CONDITIONS
    if (state == grid->dead_state) return grid->dead;
#endif
    return state < grid->states - 1 ? FUSED((REAL)state, grid->spacing, grid->low) : grid->high;
}

void divide(__global Grid *grid, const REAL low, const REAL high, const int states) {
    grid->low = low;
    grid->high = high;
    grid->states = high > low ? states : 1;
    grid->spacing = (high - low) / (states - 1);
}

// Which of a grid's states is dead storage.
void mark_dead(__global Grid *grid, __global const Search *search) {
#if CONDITIONS
    const bool within = grid->states > 2 && grid->low < search->dead && search->dead < grid->high;
    grid->dead = search->dead;
    grid->exact = search->sinks;
    grid->dead_state = within ? clamp((int)rint((grid->dead - grid->low) / grid->spacing), 1, grid->states - 2) : -1;
#endif
}

// State nearest to a storage.
int state_near(__global const Grid *grid, const REAL storage) {
    const int near = clamp((int)rint(grid->states > 1 ? (storage - grid->low) / grid->spacing : 0), 0, grid->states - 1);
#if CONDITIONS
    if (grid->dead_state >= 0 && fabs(storage - grid->dead) < fabs(storage - storage_at(grid, near))) return grid->dead_state;
#endif
    return near;
}

// Value on the line between two states; beyond them, that of the last.
REAL value_between(__global const Grid *grid, VALUES_SPACE const REAL *values, const REAL storage) {
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
void find_corridor(__global Search *search, const REAL start, __global const REAL *year, __global const REAL *tables) {
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

void refine(__global Search *search) {
    FOR_POINTS {
        const REAL lower = search->lower[point], upper = search->upper[point], reach = HALF_WIDTH * search->spacing[point];
        const REAL storage = search->latest[point];
        const REAL low = clamp(storage - reach, lower, upper), high = clamp(storage + reach, lower, upper);
        divide(&search->grid[point], low, high, FINE_STATES);
        mark_dead(&search->grid[point], search);
    }
}

// Whether the latest trajectory leans against the grid where the year's own limits do not hold it.
bool leans_at(__global const Search *search, const int point) {
    const REAL storage = search->latest[point], low = search->grid[point].low, high = search->grid[point].high;
    return low < high && ((storage <= low && low > search->lower[point]) || (storage >= high && high < search->upper[point]));
}

bool close_to(const REAL one, const REAL other, const REAL tolerance) {
    return fabs(one - other) <= tolerance * fmax(fabs(other), (REAL)1e-12f);
}
