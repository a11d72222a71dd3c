// The curves of a reservoir exactly (exact_value in reservoir/hydro/curves/forms.py, conversion_value in
// reservoir/hydro/conversion.py). Stands behind reservoir_step.cl, in front of given_curves.cl.
//
// Constants (reservoir/certificate/paths_on_device.py): by the names of curves, where stands where a curve's numbers begin, and
// the places of these in it; MW_PER_KW_HOURS.

#define TABLE(curve) (tables + (int)tables[curve##_table])

// What is told of a head may be power: a rate is turned over, a coefficient times the head makes it.
REAL value_in(__global const REAL *curve, const REAL x) {
    const int pieces = (int)curve[CURVE_PIECES], columns = (int)curve[CURVE_COLUMNS];
    __global const REAL *breaks = curve + CURVE_BREAKS, *coefficients = breaks + pieces + 1;
    const REAL held = fmin(fmax(x, breaks[0]), breaks[pieces]);
    REAL value;
    if (curve[CURVE_IS_POWER] != 0) {
        value = coefficients[1] + coefficients[0] * pow(held - curve[CURVE_ORIGIN], curve[CURVE_EXPONENT]);
    } else {
        int piece = 0, last = pieces - 1;
        while (piece < last) {
            const int middle = (piece + last + 1) / 2;
            if (held >= breaks[middle]) piece = middle;
            else last = middle - 1;
        }
        const REAL offset = held - breaks[piece];
        coefficients += piece * columns;
        value = coefficients[0];
        for (int power = 1; power < columns; ++power) value = FUSED(value, offset, coefficients[power]);
    }
    if (curve[CURVE_IS_RATE] != 0) return MW_PER_KW_HOURS / value;
    if (curve[CURVE_FACTOR] == 0) return value;
    return value * curve[CURVE_FACTOR] * fmin(fmax(x, curve[CURVE_LOWER]), curve[CURVE_UPPER]);
}
