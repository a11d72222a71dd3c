// The curves of a reservoir as finely divided even tables. Stands behind reservoir_step.cl, in front of given_curves.cl.
//
// Constants (reservoir/solvers/dp/engine.py): where the tables of level, tailrace, specific_power and capacity begin (with
// CONDITIONS also area and seepage), and in each TABLE_LOWEST, TABLE_PER_UNIT and TABLE_VALUES, TABLE_POINTS numbers with
// straight lines between.

#define TABLE(curve) (tables + curve##_table)

REAL value_in(__global const REAL *table, const REAL x) {
    const REAL place = fmin(fmax((x - table[TABLE_LOWEST]) * table[TABLE_PER_UNIT], (REAL)0), (REAL)(TABLE_POINTS - 1));
    const int left = min((int)place, TABLE_POINTS - 2);
    __global const REAL *points = table + TABLE_VALUES;
    return FUSED(place - left, points[left + 1] - points[left], points[left]);
}
