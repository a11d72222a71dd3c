// Bellman's recursion over the states of a step: what can follow a storage, and the value that it gives.
//
// Constants: ROOM, states at most; ROUNDING, what rounding adds to a storage, as a part of the largest.

typedef struct {
    Search search;
    REAL year[CONTEXT];
    NearCurves near[STEPS];
    REAL values[2 * ROOM]; // of a point's states, less the violation cost of being there; every other point's in turn
    REAL walked[POINTS];   // storages that the releases of the latest trajectory lead to, which rounding moves off the grid
    REAL fitness[STEPS];   // of its steps
} Group;

// What can follow LANES storages: storages between two, and the places of these two among the next grid's states.
typedef struct {
    reals lowest, highest, first_place, last_place;
} Following;

// The draft that leads from one storage to another, within its bounds.
REAL draft_between(const REAL storage, const REAL end, const Step *step, __global const REAL *tables) {
    const REAL lossless = LOSSLESS(GIVEN, REAL, *step, storage, end);
    return clamp(RELEASE_TO_REACH(storage, lossless, step->inflow, step->per_volume), step->least, step->most);
}

// Benefit of a step, GWH, between two storages with a draft, by the curves as given; less a cost.
REAL stage_value(__global const REAL *tables, const REAL storage, const REAL end, const REAL draft, const Step *step,
                 const REAL violation) {
    const REAL release = RELEASED(REAL, draft, *step), power = power_in(tables, (storage + end) / 2, release, *step);
    REAL cost = violation;
#if CONDITIONS
    const reals unmet = unmet_cost((reals)(draft), (reals)(power), *step);
    cost += REAL_OF(unmet, 0);
#endif
    return STAGE_BENEFIT(REAL, power, release, *step, step->per_flow * PER_STAGE_BENEFIT) - cost;
}

// The same of a draft that may be less than the least, for want of water; less another cost.
REAL ended_value(__global const REAL *tables, const REAL storage, const Ended *ended, const Step *step, const REAL violation) {
    const REAL missing = fmax(step->least - ended->draft, (REAL)0) * step->missing_cost;
    return stage_value(tables, storage, ended->end, ended->draft, step, violation + missing);
}

// What a storage at the end of the year is worth besides, GWH.
REAL end_value(const REAL storage, __global const Group *group) {
#if CONDITIONS
    return (storage - group->search.start) * group->year[END_VALUE];
#else
    return 0;
#endif
}

// Violation cost, GWh, of a storage at a point; none at the start.
REAL cost_at(const REAL storage, const int point, __global const Group *group) {
    if (point == 0) return 0;
    const reals cost = violation_cost((reals)(storage), (reals)(group->search.start), point - 1, group->year);
    return REAL_OF(cost, 0);
}

// What a state of the last point is worth.
REAL worth_of_end(const REAL storage, __global const Group *group) {
    return end_value(storage, group) - cost_at(storage, STEPS, group);
}

bool is_coarse(__global const Group *group) { return group->search.now.solved == 0; }

#if CONDITIONS
// Evaporation and seepage of a step, hm3: on a first grid by forms, on a finer one by parabolas.
reals grid_loss(const reals mean_storage, const Step *step, const int number, __global const Group *group) {
    return is_coarse(group) ? LOSS(FORM, reals, *step, mean_storage) : loss_near(&group->near[number], mean_storage, *step);
}

// As end_in for LANES storages: first by the curves of the grid, which hold between its bounds, then corrected by the tables.
reals ends_in(__global const REAL *tables, const reals storage, const reals lossless, const Step *step, const int number,
              __global const Group *group) {
    __global const Grid *next = &group->search.grid[number + 1];
    const reals low = next->low, high = next->high;
    const reals lost = grid_loss((storage + LESSER(GREATER(lossless, low), high)) * 0.5f, step, number, group);
    reals end = lossless - lost;
    const reals less = grid_loss((storage + LESSER(GREATER(end, low), high)) * 0.5f, step, number, group);
    const reals slope = 1.0f + (lost - less) / CHOOSE(lost == 0.0f, (reals)(1.0f), lost);
    end += (lost - less) / slope;
    const int corrections = next->exact ? 6 : 1 + is_coarse(group);
    for (int lane = 0; lane < LANES; ++lane)
        for (int corrected = 0; corrected < corrections; ++corrected)
            REAL_OF(end, lane) += (REAL_OF(lossless, lane) -
                                   LOSSLESS(GIVEN, REAL, *step, REAL_OF(storage, lane), REAL_OF(end, lane))) /
                                  REAL_OF(slope, lane);
    return end;
}
#endif

Following following(const reals storage, const Step *step, const int number, __global const Group *group,
                    __global const REAL *tables) {
    __global const Grid *next = &group->search.grid[number + 1];
    const REAL rounding_hm3 = ROUNDING * group->year[MAX_STORAGE];
    const REAL per_spacing = next->states > 1 ? 1 / next->spacing : 0;
    const reals before = (reals)(-1), after = (reals)(next->states);
    Following found;
    found.lowest = STORAGE_AFTER(storage, step->inflow, step->most, step->per_flow) - rounding_hm3;
    found.highest = STORAGE_AFTER(storage, step->inflow, step->least, step->per_flow) + rounding_hm3;
#if CONDITIONS
    found.lowest = ends_in(tables, storage, found.lowest, step, number, group);
    found.highest = ends_in(tables, storage, found.highest, step, number, group);
#endif
    const REAL empty = step->dead - DEAD_ROUNDING * (fabs(step->dead) + 1); // only losses lead below
    found.lowest = GREATER(found.lowest, (reals)(empty));
    found.first_place = LESSER(GREATER((found.lowest - next->low) * per_spacing, before), after);
    found.last_place = LESSER(GREATER((found.highest - next->low) * per_spacing, before), after);
#if CONDITIONS
    const reals dead_place = next->dead_state, dead = next->dead;
    if (next->dead_state >= 0) { // it is not where its place among the others says
        found.first_place = CHOOSE(found.lowest <= dead, LESSER(found.first_place, dead_place), found.first_place);
        found.last_place = CHOOSE(found.highest >= dead, GREATER(found.last_place, dead_place), found.last_place);
    }
#endif
    return found;
}

int first_of(const Following *range, const int lane) { return max((int)ceil(REAL_OF(range->first_place, lane)), 0); }

int last_of(const Following *range, const int lane, const int states) {
    return min((int)floor(REAL_OF(range->last_place, lane)), states - 1);
}

// What a step makes that ends at a state of the next point, to be multiplied by PER_WORTH; and the cost of what it does not
// deliver.
#if TERMS
#define WORTH(power, release, step) STAGE_BENEFIT(reals, power, release, step, (reals)(0))
#define PER_WORTH(step) ((REAL)1)
#else
#define WORTH(power, release, step) (power)
#define PER_WORTH(step) ((step).per_flow * PER_STAGE_BENEFIT)
#endif
ALWAYS_INLINE reals worth_between(const reals storage, const REAL end, const Step *step, const int number,
                                  __global const Group *group, reals *unmet) {
    const reals mean_storage = (storage + end) * 0.5f;
#if CONDITIONS
    const reals lost = grid_loss(mean_storage, step, number, group);
    const reals wanted = RELEASE_TO_REACH(storage, end + lost, step->inflow, step->per_volume);
#else
    const reals wanted = RELEASE_TO_REACH(storage, end, step->inflow, step->per_volume);
#endif
    const reals draft = LESSER(GREATER(wanted, (reals)(step->least)), (reals)(step->most));
    const reals release = RELEASED(reals, draft, *step);
    const reals power = is_coarse(group) ? power_at(storage + end, release, *step)
                                         : power_near(&group->near[number], mean_storage, release, *step);
#if CONDITIONS
    *unmet = unmet_cost(draft, power, *step);
#endif
    return WORTH(power, release, *step);
}

REAL beyond(const REAL storage, const Following *range) {
    return fmax(REAL_OF(range->lowest, 0) - storage, storage - REAL_OF(range->highest, 0));
}

// Where none can follow, for want of water, a step ends where that leaves it, with the value between two states; likewise
// between a state below dead storage, to which no release leads, and one that is too high. Else the nearest, at a penalty.
int nearest(const REAL storage, const int number, __global const Group *group, VALUES_SPACE const REAL *ahead,
            __global const REAL *tables, REAL *best_value) {
    __global const Grid *next = &group->search.grid[number + 1];
    const Step here = year_step(number, group->year), *step = &here;
    const Following around = following((reals)(storage), step, number, group, tables), *range = &around;
    const Ended least = ended_with(tables, storage, step->least, here);
    if (least.little) {
        *best_value = value_between(next, ahead, least.end) + ended_value(tables, storage, &least, step, 0);
        return state_near(next, least.end);
    }
#if CONDITIONS
    if (next->low < step->dead - DEAD_ROUNDING * (fabs(step->dead) + 1)) {
        const REAL lowest = fmax(REAL_OF(range->lowest, 0), step->dead);
        const REAL draft = draft_between(storage, lowest, step, tables);
        const Ended most = {draft, lowest, false};
        const REAL of_least = value_between(next, ahead, least.end) + ended_value(tables, storage, &least, step, 0);
        const REAL of_most = value_between(next, ahead, lowest) + ended_value(tables, storage, &most, step, 0);
        *best_value = fmax(of_least, of_most);
        return state_near(next, of_most > of_least ? lowest : least.end);
    }
#endif
    const int below = max(last_of(range, 0, next->states), 0), above = min(first_of(range, 0), next->states - 1);
    const REAL to_below = beyond(storage_at(next, below), range);
    const REAL to_above = beyond(storage_at(next, above), range);
    const int taken = to_above < to_below ? above : below;
    *best_value = ahead[taken] - group->year[PENALTY] * fmin(to_below, to_above) / fmax(fabs(storage), (REAL)1);
#if CONDITIONS
    const REAL draft = taken == above ? step->least : step->most;
    *best_value -= (RELEASED(REAL, draft, *step) - draft) * step->shortage_cost;
#endif
    return taken;
}

// The curves around the corridor of a finer grid in a step.
NearCurves curves_near(const int number, __global const Group *group, __global const REAL *tables) {
    __global const Grid *here = &group->search.grid[number], *next = here + 1;
    const Step step = year_step(number, group->year);
    return near_curves(tables, (here->low + next->low) / 2, (here->high + next->high) / 2,
                       draft_between(here->low, next->high, &step, tables),
                       draft_between(here->high, next->low, &step, tables));
}
