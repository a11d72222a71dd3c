// The curves of a reservoir as they are given: finely divided even tables, and, for a narrow range, parabolas through
// three of a table's points, which vector lanes follow much faster. Stands behind reservoir_step.cl; fitted_curves.cl has forms
// for any range.
//
// Constants (reservoir/solvers/dp/engine.py): where the tables of level, tailrace, specific_power and capacity begin (with
// CONDITIONS also area and seepage), and in each TABLE_LOWEST, TABLE_PER_UNIT and TABLE_VALUES, TABLE_POINTS numbers with
// straight lines between; GROUP_SPACE, in which memory a group keeps its parabolas.

#define TABLE(curve) (tables + curve##_table)
// A storage is below dead storage that is so by more than this part of it.
#define DEAD_ROUNDING ((REAL)1 / (DOUBLE ? 1000000000 : 1000000))

REAL value_in(__global const REAL *table, const REAL x) {
    const REAL place = fmin(fmax((x - table[TABLE_LOWEST]) * table[TABLE_PER_UNIT], (REAL)0), (REAL)(TABLE_POINTS - 1));
    const int left = min((int)place, TABLE_POINTS - 2);
    __global const REAL *points = table + TABLE_VALUES;
    return FUSED(place - left, points[left + 1] - points[left], points[left]);
}

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

typedef struct {
    REAL centre, value, slope, bend;
} Parabola;

typedef struct {
    Parabola level, tailrace, specific_power, capacity;
#if CONDITIONS
    Parabola area, seepage;
#endif
} NearCurves;

// A table between low and high; at least as wide as the distance of two points, for their straight lines to count less.
Parabola parabola(__global const REAL *table, const REAL low, const REAL high) {
    const REAL centre = (low + high) / 2, reach = fmax((high - low) / 2, 1 / table[TABLE_PER_UNIT]);
    const REAL middle = value_in(table, centre);
    const REAL left = value_in(table, centre - reach) - middle, right = value_in(table, centre + reach) - middle;
    const Parabola through = {centre, middle, (right - left) / (2 * reach), (right + left) / (2 * reach * reach)};
    return through;
}

// The curves for mean storages between two and releases between two.
NearCurves near_curves(__global const REAL *tables, const REAL low, const REAL high, const REAL least, const REAL most) {
    const REAL lowest = HEAD_AT(GIVEN, low, most), highest = HEAD_AT(GIVEN, high, least);
    NearCurves curves;
    curves.level = parabola(TABLE(level), low, high);
    curves.tailrace = parabola(TABLE(tailrace), least, most);
    curves.specific_power = parabola(TABLE(specific_power), lowest, highest);
    curves.capacity = parabola(TABLE(capacity), lowest, highest);
#if CONDITIONS
    curves.area = parabola(TABLE(area), low, high);
    curves.seepage = parabola(TABLE(seepage), low, high);
#endif
    return curves;
}

reals value_on(GROUP_SPACE const Parabola *curve, const reals x) {
    const reals offset = x - curve->centre;
    return FUSED(FUSED(offset, (reals)(curve->bend), (reals)(curve->slope)), offset, (reals)(curve->value));
}

#define NEAR(curve, x) value_on(&curves->curve, x)

// Power, MW, by the parabolas.
reals power_near(GROUP_SPACE const NearCurves *curves, const reals mean_storage, const reals release, const Step step) {
    const reals head = HEAD_AT(NEAR, mean_storage, release);
    return WHILE_OPERATING(reals, step, mean_storage, POWER_AT_HEAD(NEAR, LESSER, reals, head, release, step));
}

#if CONDITIONS
// Evaporation and seepage, hm3, by the parabolas.
reals loss_near(GROUP_SPACE const NearCurves *curves, const reals mean_storage, const Step step) {
    return LOSS(NEAR, reals, step, mean_storage);
}
#endif
