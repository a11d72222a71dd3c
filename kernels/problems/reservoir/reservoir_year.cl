// One year of one reservoir (Yu et al. 2020, eq. 6-21): position = the releases of the steps, m3/s, then, in a cyclic
// year, the storage at its start, hm3. Stands behind fitted_curves.cl.
//
// Constants: STEPS, CYCLIC, PER_STAGE_BENEFIT, and where in a year's CONTEXT each row of STEPS numbers and each number
// stands (reservoir/problems/reservoir/rows.py).

#define AT(row, step) year[(row) + (step)]

#ifndef STEPS_OF_BLOCK // else the variables are others (storage_corrections.cl)
#define DIM (STEPS + CYCLIC)

REAL lower(const int d, CONTEXT_SPACE const REAL *year) {
#if CONDITIONS // the withdrawal is cut by a repair alone
    if (d < STEPS) return AT(RELEASE_LOWER, d) + AT(WITHDRAWAL, d);
#endif
    return d < STEPS ? AT(RELEASE_LOWER, d) : year[START_LOWER];
}

REAL upper(const int d, CONTEXT_SPACE const REAL *year) { return d < STEPS ? AT(RELEASE_UPPER, d) : year[START_UPPER]; }

// Releases may be exchanged, by their volumes.
#define EXCHANGED STEPS
REAL exchange_weight(const int d, CONTEXT_SPACE const REAL *year) { return AT(HM3_PER_M3S, d); }
#endif

// Storage at the end of a step, moved into reach of the year's end (eq. 16-18).
reals within_reach(const reals storage, const reals start, const int step, CONTEXT_SPACE const REAL *year) {
    reals lowest = AT(REACH_LOWER, step), highest = AT(REACH_UPPER, step);
#if CYCLIC
    const reals most = highest;
#if CONDITIONS
    const reals from_middle = start - year[MIDDLE_START];
    highest = LESSER(GREATER(start - AT(DRIFT_UPPER, step) + AT(TILT_UPPER, step) * from_middle, lowest), most);
    lowest = LESSER(GREATER(start - AT(DRIFT_LOWER, step) + AT(TILT_LOWER, step) * from_middle, lowest), most);
#else
    highest = LESSER(GREATER(start - AT(DRIFT_UPPER, step), lowest), most);
    lowest = LESSER(GREATER(start - AT(DRIFT_LOWER, step), lowest), most);
#endif
#endif
    return LESSER(GREATER(storage, lowest), highest);
}

#define OF_STEP(name) AT(name, step)
#define OF_YEAR(name) year[name]
Step year_step(const int step, CONTEXT_SPACE const REAL *year) {
    const Step found = {AT(INFLOW, step), AT(HM3_PER_M3S, step), AT(FLOW_PER_VOLUME, step), AT(RELEASE_LOWER, step),
                        AT(RELEASE_UPPER, step), year[DEAD], year[MISSING_COST] * AT(HM3_PER_M3S, step),
                        year[INSTALLED], year[MOST_TURBINED], STEP_CONDITIONS(OF_STEP, OF_YEAR) STEP_TERMS(OF_STEP)};
    return found;
}
#undef OF_STEP
#undef OF_YEAR

// Violation cost, GWh, of a storage outside its bounds at the end of a step (eq. 20-21).
reals violation_cost(const reals storage, const reals start, const int step, CONTEXT_SPACE const REAL *year) {
#if CYCLIC
    if (step == STEPS - 1) {
        const reals scale = CHOOSE(start > 0.0f, start, (reals)(year[MAX_STORAGE]));
        return GREATER(storage - start, start - storage) / scale * year[PENALTY];
    }
#endif
    return cost_outside(storage, AT(STORAGE_LOWER, step), AT(STORAGE_UPPER, step), AT(PENALTY_BELOW, step),
                        AT(PENALTY_ABOVE, step));
}

#ifndef NO_FITNESS // of a long horizon it takes the compiler minutes, and dynamic programming never asks for it
// Benefit less violation cost, GWh (eq. 21), of releases repaired as in eq. 18-19, where a step cannot be repaired. The
// repaired releases take the place of those given.
reals fitness_with_violation(reals *releases, const reals start, CONTEXT_SPACE const REAL *year) {
    reals storage = start, benefit = 0, cost = 0;
#if CONDITIONS
    reals before = releases[0];
#endif
#pragma unroll 1
    for (int number = 0; number < STEPS; ++number) {
        const Step step = year_step(number, year);
        reals asked = releases[number];
#if CONDITIONS
        if (number > 0) asked = LESSER(GREATER(asked, before - year[RAMP_DOWN]), before + year[RAMP_UP]);
#endif
        const reals lossless = STORAGE_AFTER(storage, step.inflow, asked, (reals)(step.per_flow));
        const reals target = within_reach(end_after_losses(storage, lossless, step), start, number, year);
        const reals wanted = STEERED_RELEASE(asked, lossless, LOSSLESS(FORM, reals, step, storage, target),
                                             (reals)(step.per_volume));
        const StepEnd kept = limit_release(storage, wanted, target, step);
        const reals violated = violation_cost(kept.end, start, number, year) + missing_cost(kept.release, step);
        cost += CHOOSE(kept.limited, violated, (reals)(0));
        const reals release = RELEASED(reals, kept.release, step);
        const reals power = power_at(storage + kept.end, release, step);
#if CONDITIONS
        const reals beyond = GREATER((release - before) * year[PER_RAMP_UP], (before - release) * year[PER_RAMP_DOWN]);
        cost += unmet_cost(kept.release, power, step);
        if (number > 0) cost += GREATER(beyond - 1.0f, (reals)(0)) * year[PENALTY];
        before = release;
#endif
        benefit = STAGE_BENEFIT(reals, power, release, step, (reals)(step.per_flow)) + benefit;
        releases[number] = GREATER(kept.release, (reals)(step.least)); // the cut is made again wherever they are followed
        storage = kept.end;
    }
#if CONDITIONS
    cost -= (storage - start) * year[END_VALUE];
#endif
    return benefit * PER_STAGE_BENEFIT - cost;
}

#ifndef STEPS_OF_BLOCK
// The same, and the position with repaired releases. Where repair always succeeds, the chain from one storage to the next
// is short, and no bound needs to be looked at.
#define REPAIRS 1
ALWAYS_INLINE reals repaired_fitness(const reals *position, reals *repaired, CONTEXT_SPACE const REAL *year) {
#if CYCLIC
    const reals start = repaired[STEPS] = position[STEPS];
#else
    const reals start = year[START];
#endif
    if (!year[REPAIRABLE]) {
        reals releases[STEPS]; // the loop over them is not unrolled, which must not cost `position` its registers
#pragma unroll
        for (int step = 0; step < STEPS; ++step) releases[step] = position[step];
        const reals found = fitness_with_violation(releases, start, year);
#pragma unroll
        for (int step = 0; step < STEPS; ++step) repaired[step] = releases[step];
        return found;
    }
    reals storage = start, benefit = 0;
#pragma unroll
    for (int number = 0; number < STEPS; ++number) {
        const Step step = year_step(number, year);
        const reals unlimited = STORAGE_AFTER(storage, step.inflow, position[number], (reals)(step.per_flow));
        const reals end = within_reach(unlimited, start, number, year);
        const reals kept = STEERED_RELEASE(position[number], unlimited, end, (reals)(step.per_volume));
        const reals power = power_within_bounds(storage + end, kept, step);
        benefit = STAGE_BENEFIT(reals, power, kept, step, (reals)(step.per_flow)) + benefit;
        repaired[number] = LESSER(GREATER(kept, (reals)(step.least)), (reals)(step.most));
        storage = end;
    }
    return benefit * PER_STAGE_BENEFIT;
}

reals fitness(const reals *position, CONTEXT_SPACE const REAL *year) {
    reals repaired[DIM];
    return repaired_fitness(position, repaired, year);
}
#endif
#endif
