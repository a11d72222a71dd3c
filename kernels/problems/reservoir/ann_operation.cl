// Operation of consecutive years by a perceptron (reservoir/rules/families/ann.py): position = the numbers of the
// network, in the order of mlp_error.cl, with biases; fitness = the mean benefit of a year, in the unit of the objective,
// less the cost of violations and with the value of the water left at the end. Lanes are networks. Stands behind
// fitted_curves.cl.
//
// Constants: KNOWN (inputs besides the start storage), HIDDEN, REACH (of first positions), PER_STAGE_BENEFIT, and where
// each number stands in the head of the context, HEAD numbers, and in the ROW of each step behind it
// (reservoir/rules/families/ann_operation.py).

#define INPUTS (1 + KNOWN)
#define UNIT (INPUTS + 2) // numbers of a hidden unit: weights of the inputs, bias, weight in the output
#define DIM (HIDDEN * UNIT + 1)
#define STEPS_OF(record) ((int)(record)[STEP_COUNT])

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

#define OF_STEP(name) row[name]
reals fitness(const reals *network, CONTEXT_SPACE const float *record) {
    reals storage = record[START], benefit = 0, cost = 0, left = 0;
#pragma unroll 1
    for (int number = 0; number < STEPS_OF(record); ++number) {
        CONTEXT_SPACE const float *row = record + HEAD + number * ROW;
        if (row[RESTARTS] > 0) { // another member of an ensemble begins
            left += (storage - record[START]) * record[WATER_VALUE];
            storage = record[START];
        }
        const Step step = {row[INFLOW], row[HM3_PER_M3S], row[M3S_PER_HM3], row[LEAST_DRAFT], row[RELEASE_UPPER],
                           record[DEAD], record[MISSING_COST] * row[HM3_PER_M3S], record[INSTALLED], record[MOST_TURBINED],
                           STEP_CONDITIONS(OF_STEP, OF_STEP) STEP_TERMS(OF_STEP)};
        const REAL lowest = row[STORAGE_LOWER], highest = row[STORAGE_UPPER];
        // The releases that are feasible as far as is known, and the part of their range that the network decides on.
        const Step expected = {row[EXPECTED_INFLOW], step.per_flow, row[EXPECTED_M3S_PER_HM3], row[RELEASE_LOWER], step.most};
        const FeasibleReleases range = feasible_releases(storage, expected, lowest, highest);
        const reals scaled = (storage - record[STORAGE_LOW]) * record[STORAGE_SCALE] - 1.0f;
        const reals part = LESSER(GREATER(decided(network, scaled, row + KNOWN_INPUTS), (reals)(0)), (reals)(1.0f));
        const reals asked = FUSED(part, range.emptying - range.filling, range.filling);
        // What the step comes to.
        const reals lossless = STORAGE_AFTER(storage, step.inflow, asked, (reals)(step.per_flow));
        const reals target = LESSER(GREATER(end_after_losses(storage, lossless, step), (reals)(lowest)), (reals)(highest));
        const reals wanted = STEERED_RELEASE(asked, lossless, LOSSLESS(FORM, reals, step, storage, target),
                                             (reals)(step.per_volume));
        const StepEnd kept = limit_release(storage, wanted, target, step);
        const reals decided = GREATER(kept.end, (reals)(step.dead)); // below dead storage only losses go
        const reals outside = cost_outside(decided, lowest, highest, row[COST_BELOW], row[COST_ABOVE]);
        cost += CHOOSE(kept.limited, outside + missing_cost(kept.release, step), (reals)(0));
        const reals release = RELEASED(reals, kept.release, step);
        const reals power = power_at(storage + kept.end, release, step);
#if CONDITIONS
        cost += unmet_cost(kept.release, power, step);
#endif
        benefit = STAGE_BENEFIT(reals, power, release, step, (reals)(step.per_flow)) + benefit;
        storage = kept.end;
    }
    left += (storage - record[START]) * record[WATER_VALUE];
    return (benefit * PER_STAGE_BENEFIT + left - cost) * record[PER_YEAR];
}
