// A step by the curves of a reservoir as they are given: by even tables (even_tables.cl), or exactly (exact_curves.cl), which
// stand in front of this file with TABLE and value_in; fitted_curves.cl has forms for any range.

// A storage is below dead storage that is so by more than this part of it.
#define DEAD_ROUNDING ((REAL)1 / (DOUBLE ? 1000000000 : 1000000))

#define GIVEN(curve, x) value_in(TABLE(curve), x)

// Power, MW, by the tables.
REAL power_in(__global const REAL *tables, const REAL mean_storage, const REAL release, const Step step) {
    const REAL head = HEAD_AT(GIVEN, mean_storage, release);
    const REAL power = POWER_AT_HEAD(GIVEN, fmin, REAL, head, release, step);
#if CONDITIONS
    return mean_storage < step.operating_storage ? 0 : power;
#else
    return power;
#endif
}

// What the turbines take of a draft, m3/s, at a head (turbined_at in step.py).
REAL turbined_in(__global const REAL *tables, const REAL head, const REAL draft, const Step step) {
    const REAL per_flow = GIVEN(specific_power, head);
    const REAL most = AVAILABLE(REAL, step, step.installed) / fmax(per_flow, (REAL)1e-9f);
    return per_flow > 0 ? fmin(draft, fmin(AVAILABLE(REAL, step, GIVEN(capacity, head)), most)) : 0;
}

// Storage at the end of a step that would end at `lossless` without losses, by the tables.
REAL end_in(__global const REAL *tables, const REAL storage, const REAL lossless, const Step step) {
#if CONDITIONS
    const REAL lost = LOSS(GIVEN, REAL, step, (storage + lossless) / 2);
    REAL end = lossless - lost;
    const REAL less = LOSS(GIVEN, REAL, step, (storage + end) / 2), slope = 1 + (lost - less) / (lost == 0 ? 1 : lost);
    for (int refined = 0; refined < 4; ++refined) end += (lossless - LOSSLESS(GIVEN, REAL, step, storage, end)) / slope;
    return end;
#else
    return lossless;
#endif
}

// How a step with a draft ends, by the tables, and the draft that there is water for (there_is in step.py).
typedef struct {
    REAL draft, end;
    bool little; // there is too little water for the draft, or for losses
} Ended;

Ended ended_with(__global const REAL *tables, const REAL storage, const REAL draft, const Step step) {
    Ended found = {draft, end_in(tables, storage, STORAGE_AFTER(storage, step.inflow, draft, step.per_flow), step), false};
    found.little = found.end < step.dead - DEAD_ROUNDING * (fabs(step.dead) + 1);
    if (!found.little) return found;
    const REAL nothing = NOTHING(step);
    const REAL most = RELEASE_TO_REACH(storage, LOSSLESS(GIVEN, REAL, step, storage, step.dead), step.inflow, step.per_volume);
    const REAL at_rest = end_in(tables, storage, STORAGE_AFTER(storage, step.inflow, nothing, step.per_flow), step);
    found.draft = clamp(most, nothing, draft);
    found.end = most > nothing ? step.dead : fmax(at_rest, (REAL)0);
    return found;
}
