// The curves of a reservoir for a narrow range: parabolas through three of a table's points, which vector lanes follow much
// faster. Stands behind given_curves.cl, with even_tables.cl.
//
// Constants: GROUP_SPACE, in which memory a group keeps its parabolas.

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
