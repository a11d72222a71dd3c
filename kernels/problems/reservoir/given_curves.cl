// The curves of a reservoir as they are given: finely divided even tables, and, for a narrow range, parabolas through
// three of a table's points, which vector lanes follow much faster. reservoir_year.cl has forms for any range.
//
// Constants: TABLE_POINTS. A table is where it begins, its points per unit, and the points, straight lines between them.

#define LEVEL_TABLE 0     // m by storage, hm3
#define TAILRACE_TABLE 1  // m by release, m3/s
#define SPECIFIC_TABLE 2  // MW per m3/s by head, m
#define CAPACITY_TABLE 3  // m3/s by head, m
#define TABLE(curve) (tables + (curve) * (TABLE_POINTS + 2))

REAL value_in(__global const REAL *table, const REAL x) {
    const REAL place = fmin(fmax((x - table[0]) * table[1], (REAL)0), (REAL)(TABLE_POINTS - 1));
    const int left = min((int)place, TABLE_POINTS - 2);
    return FUSED(place - left, table[left + 3] - table[left + 2], table[left + 2]);
}

REAL head_in(__global const REAL *tables, const REAL mean_storage, const REAL release) {
    return value_in(TABLE(LEVEL_TABLE), mean_storage) - value_in(TABLE(TAILRACE_TABLE), release);
}

// Power, MW (eq. 7-9), by the tables.
REAL power_in(__global const REAL *tables, const REAL mean_storage, const REAL release) {
    const REAL head = head_in(tables, mean_storage, release);
    const REAL discharge = fmin(release, value_in(TABLE(CAPACITY_TABLE), head));
    return fmin(value_in(TABLE(SPECIFIC_TABLE), head) * discharge, (REAL)INSTALLED_MW);
}

typedef struct {
    REAL centre, value, slope, bend;
} Parabola;

typedef struct {
    Parabola level, tailrace, specific, capacity;
} NearCurves;

// A table between low and high; at least as wide as the distance of two points, for their straight lines to count less.
Parabola parabola(__global const REAL *table, const REAL low, const REAL high) {
    const REAL centre = (low + high) / 2, reach = fmax((high - low) / 2, 1 / table[1]);
    const REAL middle = value_in(table, centre);
    const REAL left = value_in(table, centre - reach) - middle, right = value_in(table, centre + reach) - middle;
    const Parabola through = {centre, middle, (right - left) / (2 * reach), (right + left) / (2 * reach * reach)};
    return through;
}

// The curves for mean storages between two and releases between two.
NearCurves near_curves(__global const REAL *tables, const REAL low, const REAL high, const REAL least, const REAL most) {
    const REAL lowest = head_in(tables, low, most), highest = head_in(tables, high, least);
    NearCurves curves;
    curves.level = parabola(TABLE(LEVEL_TABLE), low, high);
    curves.tailrace = parabola(TABLE(TAILRACE_TABLE), least, most);
    curves.specific = parabola(TABLE(SPECIFIC_TABLE), lowest, highest);
    curves.capacity = parabola(TABLE(CAPACITY_TABLE), lowest, highest);
    return curves;
}

reals value_on(__local const Parabola *curve, const reals x) {
    const reals offset = x - curve->centre;
    return FUSED(FUSED(offset, (reals)(curve->bend), (reals)(curve->slope)), offset, (reals)(curve->value));
}

// Power, MW (eq. 7-9), by the parabolas.
reals power_near(__local const NearCurves *curves, const reals mean_storage, const reals release) {
    const reals head = value_on(&curves->level, mean_storage) - value_on(&curves->tailrace, release);
    const reals discharge = LESSER(release, value_on(&curves->capacity, head));
    return LESSER(value_on(&curves->specific, head) * discharge, (reals)(INSTALLED_MW));
}
