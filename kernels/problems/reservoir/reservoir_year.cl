// One year of one reservoir (Yu et al. 2020, eq. 6-21): position = the releases of the steps, m3/s, then, in a cyclic
// year, the storage at its start, hm3. Stands behind reservoir_step.cl.
//
// Constants: STEPS, CYCLIC, GWH_PER_STAGE_BENEFIT, and the rows below, each of STEPS numbers.

#define INFLOW 0
#define HM3_PER_M3S 1
#define FLOW_PER_VOLUME 2
#define RELEASE_LOWER 3
#define RELEASE_UPPER 4
#define STORAGE_LOWER 5
#define STORAGE_UPPER 6
#define REACH_LOWER 7
#define REACH_UPPER 8
#define PENALTY_BELOW 9
#define PENALTY_ABOVE 10
#define DRIFT_LOWER 11
#define DRIFT_UPPER 12
#define ROWS 13
#define START (ROWS * STEPS)
#define START_LOWER (START + 1)
#define START_UPPER (START + 2)
#define CAPACITY (START + 3)
#define PENALTY (START + 4)
#define REPAIRABLE (START + 5) // not 0 if repair always leaves storages and releases within their bounds
#define CONTEXT (START + 6)

#define DIM (STEPS + CYCLIC)
#define AT(row, step) year[(row)*STEPS + (step)]

REAL lower(const int d, CONTEXT_SPACE const REAL *year) { return d < STEPS ? AT(RELEASE_LOWER, d) : year[START_LOWER]; }

REAL upper(const int d, CONTEXT_SPACE const REAL *year) { return d < STEPS ? AT(RELEASE_UPPER, d) : year[START_UPPER]; }

// Storage at the end of a step, moved into reach of the year's end (eq. 16-18).
reals within_reach(const reals storage, const reals start, const int step, CONTEXT_SPACE const REAL *year) {
    reals lowest = AT(REACH_LOWER, step), highest = AT(REACH_UPPER, step);
#if CYCLIC
    const reals most = highest;
    highest = LESSER(GREATER(start - AT(DRIFT_UPPER, step), lowest), most);
    lowest = LESSER(GREATER(start - AT(DRIFT_LOWER, step), lowest), most);
#endif
    return LESSER(GREATER(storage, lowest), highest);
}

// Violation cost, GWh, of a storage outside its bounds at the end of a step (eq. 20-21).
reals violation_cost(const reals storage, const reals start, const int step, CONTEXT_SPACE const REAL *year) {
#if CYCLIC
    if (step == STEPS - 1) {
        const reals scale = CHOOSE(start > 0.0f, start, (reals)(year[CAPACITY]));
        return GREATER(storage - start, start - storage) / scale * year[PENALTY];
    }
#endif
    return GREATER(AT(STORAGE_LOWER, step) - storage, (reals)(0)) * AT(PENALTY_BELOW, step) +
           GREATER(storage - AT(STORAGE_UPPER, step), (reals)(0)) * AT(PENALTY_ABOVE, step);
}

// Benefit less violation cost, GWh (eq. 21), of releases repaired as in eq. 18-19, where a step cannot be repaired. The
// repaired releases take the place of those given.
reals fitness_with_violation(reals *releases, const reals start, CONTEXT_SPACE const REAL *year) {
    reals storage = start, volume = 0, cost = 0;
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) {
        const REAL inflow = AT(INFLOW, step), per_flow = AT(HM3_PER_M3S, step);
        const reals unrepaired = FUSED(inflow - releases[step], (reals)(per_flow), storage);
        const reals target = within_reach(unrepaired, start, step, year);
        const reals wanted = FUSED(unrepaired - target, (reals)(AT(FLOW_PER_VOLUME, step)), releases[step]);
        reals end;
        const reals kept = kept_release(wanted, AT(RELEASE_LOWER, step), AT(RELEASE_UPPER, step), storage, inflow, per_flow,
                                        target, &end);
        cost += CHOOSE(kept != wanted, violation_cost(end, start, step, year), (reals)(0));
        volume = FUSED(power_at((storage + end) * 0.5f, kept), (reals)(per_flow), volume);
        releases[step] = kept;
        storage = end;
    }
    return volume * GWH_PER_STAGE_BENEFIT - cost;
}

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
    reals storage = start, volume = 0;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const REAL per_flow = AT(HM3_PER_M3S, step);
        const reals unrepaired = FUSED(AT(INFLOW, step) - position[step], (reals)(per_flow), storage);
        const reals end = within_reach(unrepaired, start, step, year);
        const reals kept = FUSED(unrepaired - end, (reals)(AT(FLOW_PER_VOLUME, step)), position[step]);
        volume = FUSED(power_within_bounds((storage + end) * 0.5f, kept), (reals)(per_flow), volume);
        repaired[step] = LESSER(GREATER(kept, (reals)(AT(RELEASE_LOWER, step))), (reals)(AT(RELEASE_UPPER, step)));
        storage = end;
    }
    return volume * GWH_PER_STAGE_BENEFIT;
}

reals fitness(const reals *position, CONTEXT_SPACE const REAL *year) {
    reals repaired[DIM];
    return repaired_fitness(position, repaired, year);
}
