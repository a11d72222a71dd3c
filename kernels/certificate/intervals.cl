// Interval arithmetic, rounded outwards: as reservoir/hydro/curves/intervals.py, operation by operation, so that in
// double the same bits come out. Nothing may be fused, rearranged or flushed to zero there: the program is built
// without the options that allow it. Stands behind real.cl.
//
// Only powers differ from the host's. OpenCL allows pow in double an error of 16 units in the last place (The OpenCL C
// Specification 1.2, section 7.4, table of double precision): at most 2^-48 of a number, and with two divisions less
// than 2^-47 of what is computed.

#ifdef SINGLE
// 16 units in the last place are at most 2^-19 of a number.
#define EPS_OF_POWER 0x1.1p-19f
// Smaller numbers are raised as an interval from zero.
#define SMALLEST 1e-30f
#else
#define EPS_OF_POWER 0x1p-47
// The same of numbers that are very small or large: an exponent of up to 12 errs by 2^-50 there, times their logarithm,
// which is less than 745.
#define EPS_OF_FAR_POWER 0x1p-39
#endif
#define FAR 0x1p60

// Functions that NVIDIA's compiler is told to keep apart: compiled into each other, as it does by itself, they take
// minutes to compile.
#ifdef __NV_CL_C_VERSION
#define APART __attribute__((noinline))
#else
#define APART
#endif

#define NOUGHT ((Interval){0.0, 0.0})
#define ONE ((Interval){1.0, 1.0})

Interval add(const Interval a, const Interval b) { return (Interval){below(a.low + b.low), above(a.high + b.high)}; }
Interval subtract(const Interval a, const Interval b) {
    return (Interval){below(a.low - b.high), above(a.high - b.low)};
}
Interval negative(const Interval a) { return (Interval){-a.high, -a.low}; }

// Product of ends: 0 times an infinite end, which no number of the interval is, is 0.
real product(const real a, const real b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

Interval multiply(const Interval a, const Interval b) {
    const real first = product(a.low, b.low), second = product(a.low, b.high);
    const real third = product(a.high, b.low), fourth = product(a.high, b.high);
    const real least = lesser(lesser(first, second), lesser(third, fourth));
    return (Interval){below(least), above(greater(greater(first, second), greater(third, fourth)))};
}

Interval scale(const real factor, const Interval a) {
    const real one = product(factor, a.low), other = product(factor, a.high);
    return (Interval){below(lesser(one, other)), above(greater(one, other))};
}

// Product of a number as it is given and an interval.
#ifdef SINGLE
Interval times(const Given factor, const Interval a) { return multiply(factor, a); }
#else
Interval times(const Given factor, const Interval a) { return scale(factor, a); }
#endif

// Square of an interval: never negative.
Interval square(const Interval a) {
    const real one = a.low * a.low, other = a.high * a.high;
    const real least = a.low <= 0.0 && 0.0 <= a.high ? 0.0 : greater(below(lesser(one, other)), 0.0);
    return (Interval){least, above(greater(one, other))};
}

// One over an interval; without bounds if that contains 0.
Interval reciprocal(const Interval a) {
    if (a.low <= 0.0 && 0.0 <= a.high) return (Interval){-INFINITY, INFINITY};
    Interval found = {1.0 / a.high, 1.0 / a.low};
#ifdef SINGLE
    found.low -= fabs(found.low) * EPS_OF_QUOTIENT;
    found.high += fabs(found.high) * EPS_OF_QUOTIENT;
#endif
    return (Interval){below(found.low), above(found.high)};
}

// Smallest interval that contains two.
Interval hull(const Interval a, const Interval b) { return (Interval){lesser(a.low, b.low), greater(a.high, b.high)}; }

// Largest absolute value.
real magnitude(const Interval a) { return greater(fabs(a.low), fabs(a.high)); }

real power_of(const real x, const real exponent) {
    if (exponent == 0.0) return 1.0;
    if (x == 0.0) return exponent > 0.0 ? 0.0 : INFINITY;
    return pow(x, exponent);
}

// Enclosures of a power of a number that is not negative, and of those with an exponent one and two lower.
#ifdef SINGLE
// The exponent is a float or lies between two in a row; less one or two it is rounded: in all it errs by less than
// 2^-22 of its size and three, and the power by that times the logarithm, which errs by 3 units in the last place. Each
// power is computed: a quotient might be flushed.
void raised_at(const real x, const Given exponent, Interval found[3]) {
    for (int lower = 0; lower < 3; ++lower) {
        const real least = LOW(exponent) - lower, most = HIGH(exponent) - lower;
        if (x == 0.0f) {
            found[lower] = hull(point(power_of(x, least)), point(power_of(x, most)));
            continue;
        }
        const real value = power_of(x, least), shifted = 0x1p-22f * (fabs(least) + 3.0f) * fabs(log(x));
        const real error = above(value * above(EPS_OF_POWER + 1.25f * shifted));
        found[lower] = (Interval){value == INFINITY ? FAR : greater(below(value - error), 0.0f), above(value + error)};
    }
}
#else
void raised_at(const real x, const Given exponent, Interval found[3]) {
    const bool far = !(x >= 1.0 / FAR && x <= FAR);
    real value = far ? 0.0 : pow(x, exponent);
    for (int lower = 0; lower < 3; ++lower) {
        if (far)
            value = power_of(x, exponent - lower);
        else if (lower > 0)
            value /= x;  // a pow takes many times as long; exponents of 10 and less make no number too large here
        const real error = fabs(value) * (far ? EPS_OF_FAR_POWER : EPS_OF_POWER) + TINY;
        found[lower].low = value == INFINITY ? FAR : greater(value - error, 0.0);
        found[lower].high = value + error;
    }
}
#endif

// The same of an interval of such numbers: powers are monotone in them.
APART void raised(const Interval a, const Given exponent, Interval found[3]) {
    Interval at_high[3];
    real low = greater(a.low, 0.0), high = greater(a.high, 0.0);
#ifdef SINGLE
    low = low < SMALLEST ? 0.0f : low;
    high = greater(high, SMALLEST);
#endif
    raised_at(low, exponent, found);
    raised_at(high, exponent, at_high);
    for (int lower = 0; lower < 3; ++lower) found[lower] = hull(found[lower], at_high[lower]);
}
