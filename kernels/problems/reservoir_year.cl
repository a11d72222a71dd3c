// One year of one reservoir (Yu et al. 2020, eq. 6-21): position = the releases of the steps, m3/s, then, in a cyclic
// year, the storage at its start, hm3. The curves level_at, tailrace_at, specific_power_at and capacity_at are written
// in front of this file when the program is assembled.
//
// Constants: STEPS, CYCLIC, INSTALLED_MW, GWH_PER_MW_VOLUME, and the rows below, each of STEPS numbers.

#define INFLOW 0
#define VOLUME_PER_FLOW 1
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
#define CONTEXT (START + 5)

#define DIM (STEPS + CYCLIC)
#define AT(row, step) year[(row)*STEPS + (step)]

float lower(const int d, CONTEXT_SPACE const float *year) { return d < STEPS ? AT(RELEASE_LOWER, d) : year[START_LOWER]; }

float upper(const int d, CONTEXT_SPACE const float *year) { return d < STEPS ? AT(RELEASE_UPPER, d) : year[START_UPPER]; }

// Power, MW, at a mean storage and a release (eq. 7-9).
reals power_at(const reals mean_storage, const reals release) {
    const reals head = level_at(mean_storage) - tailrace_at(release);
    return LESSER(specific_power_at(head) * LESSER(release, capacity_at(head)), (reals)(INSTALLED_MW));
}

// Violation cost, GWh, of a storage outside its bounds at the end of a step (eq. 20-21).
reals violation_cost(const reals storage, const reals start, const int step, CONTEXT_SPACE const float *year) {
#if CYCLIC
    if (step == STEPS - 1) {
        const reals scale = CHOOSE(start > 0.0f, start, (reals)(year[CAPACITY]));
        return GREATER(storage - start, start - storage) / scale * year[PENALTY];
    }
#endif
    return GREATER(AT(STORAGE_LOWER, step) - storage, (reals)(0)) * AT(PENALTY_BELOW, step) +
           GREATER(storage - AT(STORAGE_UPPER, step), (reals)(0)) * AT(PENALTY_ABOVE, step);
}

// Benefit less violation cost, GWh (eq. 21), of releases repaired as in eq. 18-19.
reals fitness(const reals *position, CONTEXT_SPACE const float *year) {
#if CYCLIC
    const reals start = position[STEPS];
#else
    const reals start = year[START];
#endif
    reals storage = start, volume = 0, cost = 0;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const float inflow = AT(INFLOW, step), per_flow = AT(VOLUME_PER_FLOW, step);
        reals reach_lower = AT(REACH_LOWER, step), reach_upper = AT(REACH_UPPER, step);
#if CYCLIC
        const reals most = reach_upper;
        reach_upper = LESSER(GREATER(start - AT(DRIFT_UPPER, step), reach_lower), most);
        reach_lower = LESSER(GREATER(start - AT(DRIFT_LOWER, step), reach_lower), most);
#endif
        const reals release = position[step];
        const reals unrepaired = FUSED(inflow - release, (reals)(per_flow), storage);
        reals end = LESSER(GREATER(unrepaired, reach_lower), reach_upper);
        const reals wanted = FUSED(unrepaired - end, (reals)(AT(FLOW_PER_VOLUME, step)), release);
        const reals kept = LESSER(GREATER(wanted, (reals)(AT(RELEASE_LOWER, step))), (reals)(AT(RELEASE_UPPER, step)));
        const ints short_of = kept != wanted;
        if (ANY(short_of)) {
            end = CHOOSE(short_of, FUSED(inflow - kept, (reals)(per_flow), storage), end);
            cost += violation_cost(end, start, step, year);
        }
        volume = FUSED(power_at((storage + end) * 0.5f, kept), (reals)(per_flow), volume);
        storage = end;
    }
    return volume * GWH_PER_MW_VOLUME - cost;
}
