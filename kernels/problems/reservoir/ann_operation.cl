// Operation of consecutive years by a perceptron (design of rules/ann.py): position = the numbers of the network, in the
// order of mlp_error.cl, with biases; fitness = the mean energy of a year, GWH, less the cost of violations and with the
// worth of the water that is left at the end. Lanes are networks. Stands behind reservoir_step.cl.
//
// Constants: KNOWN (inputs besides the start storage), HIDDEN, REACH (of first positions), GWH_PER_STAGE_BENEFIT. The context: a
// head, and for each step a row of ROW numbers, the first KNOWN of them the inputs.

#define INPUTS (1 + KNOWN)
#define UNIT (INPUTS + 2) // numbers of a hidden unit: weights of the inputs, bias, weight in the output
#define DIM (HIDDEN * UNIT + 1)
#define INFLOW (KNOWN)
#define PER_FLOW (KNOWN + 1)
#define FLOW_PER_VOLUME (KNOWN + 2)
#define EXPECTED_INFLOW (KNOWN + 3) // what the rule reckons with
#define EXPECTED_FLOW_PER_VOLUME (KNOWN + 4)
#define RELEASE_LOWER (KNOWN + 5)
#define RELEASE_UPPER (KNOWN + 6)
#define STORAGE_LOWER (KNOWN + 7) // at the end of the step
#define STORAGE_UPPER (KNOWN + 8)
#define PENALTY_BELOW (KNOWN + 9)
#define PENALTY_ABOVE (KNOWN + 10)
#define ROW (KNOWN + 11)
#define STEPS_OF(record) ((int)(record)[0])
#define START_STORAGE 1
#define WATER_VALUE 2 // GWh a hm3 left at the end
#define STORAGE_LOW 3 // what the storage is scaled by
#define STORAGE_SCALE 4
#define PER_YEAR 5
#define HEAD 6

float lower(const int d, CONTEXT_SPACE const float *record) { return -REACH; }
float upper(const int d, CONTEXT_SPACE const float *record) { return REACH; }

// Output of the network for a scaled storage and what else is known in a step.
ALWAYS_INLINE reals decided(const reals *network, const reals storage, CONTEXT_SPACE const float *known) {
    reals output = network[HIDDEN * UNIT];
#pragma unroll
    for (int h = 0; h < HIDDEN; ++h) {
        const reals *unit = network + h * UNIT;
        reals active = FUSED(unit[0], storage, unit[INPUTS]);
#pragma unroll
        for (int i = 0; i < KNOWN; ++i) active = FUSED(unit[1 + i], (reals)(known[i]), active);
        output = FUSED(unit[INPUTS + 1], sigmoid(active), output);
    }
    return output;
}

reals fitness(const reals *network, CONTEXT_SPACE const float *record) {
    reals storage = record[START_STORAGE], volume = 0, cost = 0;
#pragma unroll 1
    for (int step = 0; step < STEPS_OF(record); ++step) {
        CONTEXT_SPACE const float *row = record + HEAD + step * ROW;
        const REAL least = row[RELEASE_LOWER], most = row[RELEASE_UPPER], inflow = row[INFLOW], per_flow = row[PER_FLOW];
        const REAL lowest = row[STORAGE_LOWER], highest = row[STORAGE_UPPER];
        // The releases that are feasible as far as is known, and the part of their range that the network decides on.
        const REAL expected = row[EXPECTED_INFLOW], expected_flow = row[EXPECTED_FLOW_PER_VOLUME];
        const reals filling = LESSER(GREATER(FUSED(storage - highest, (reals)(expected_flow), (reals)(expected)), (reals)(least)), (reals)(most));
        const reals emptying = LESSER(GREATER(FUSED(storage - lowest, (reals)(expected_flow), (reals)(expected)), (reals)(least)), (reals)(most));
        const reals scaled = (storage - record[STORAGE_LOW]) * record[STORAGE_SCALE] - 1.0f;
        const reals part = LESSER(GREATER(decided(network, scaled, row), (reals)(0)), (reals)(1.0f));
        const reals asked = FUSED(part, emptying - filling, filling);
        // What the step comes to.
        const reals unrepaired = FUSED(inflow - asked, (reals)(per_flow), storage);
        const reals target = LESSER(GREATER(unrepaired, (reals)(lowest)), (reals)(highest));
        const reals wanted = FUSED(unrepaired - target, (reals)(row[FLOW_PER_VOLUME]), asked);
        reals end;
        const reals kept = kept_release(wanted, least, most, storage, inflow, per_flow, target, &end);
        cost += CHOOSE(kept != wanted, GREATER(lowest - end, (reals)(0)) * row[PENALTY_BELOW] +
                                           GREATER(end - highest, (reals)(0)) * row[PENALTY_ABOVE], (reals)(0));
        volume = FUSED(power_at((storage + end) * 0.5f, kept), (reals)(per_flow), volume);
        storage = end;
    }
    const reals left = (storage - record[START_STORAGE]) * record[WATER_VALUE];
    return (volume * GWH_PER_STAGE_BENEFIT + left - cost) * record[PER_YEAR];
}
