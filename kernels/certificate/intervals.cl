// Interval arithmetic in double, rounded outwards: as reservoir/hydro/curves/intervals.py, operation by operation, so
// that the same bits come out. Nothing may be fused, rearranged or flushed to zero: the program is built without the
// options that allow it.
//
// Only powers differ from the host's. OpenCL allows pow in double an error of 16 units in the last place (The OpenCL C
// Specification 1.2, section 7.4, table of double precision): at most 2^-48 of a number, and with two divisions less
// than 2^-47 of what is computed.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define EPS 0x1p-52
#define TINY 1e-300
#define EPS_OF_POWER 0x1p-47
// The same of numbers that are very small or large: an exponent of up to 12 errs by 2^-50 there, times their logarithm,
// which is less than 745.
#define EPS_OF_FAR_POWER 0x1p-39
#define FAR 0x1p60

// Functions that NVIDIA's compiler is told to keep apart: compiled into each other, as it does by itself, they take
// minutes to compile.
#ifdef __NV_CL_C_VERSION
#define APART __attribute__((noinline))
#else
#define APART
#endif

typedef struct {
    double low, high;
} Interval;

#define NOUGHT ((Interval){0.0, 0.0})
#define ONE ((Interval){1.0, 1.0})

// As Python compares: the first where one is no number.
double lesser(const double a, const double b) { return b < a ? b : a; }
double greater(const double a, const double b) { return b > a ? b : a; }

Interval point(const double x) { return (Interval){x, x}; }

// A number below, or above, all that round to x.
double below(const double x) { return x - (fabs(x) * EPS + TINY); }
double above(const double x) { return x + (fabs(x) * EPS + TINY); }

Interval add(const Interval a, const Interval b) { return (Interval){below(a.low + b.low), above(a.high + b.high)}; }
Interval subtract(const Interval a, const Interval b) {
    return (Interval){below(a.low - b.high), above(a.high - b.low)};
}
Interval negative(const Interval a) { return (Interval){-a.high, -a.low}; }

// Product of ends: 0 times an infinite end, which no number of the interval is, is 0.
double product(const double a, const double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

Interval multiply(const Interval a, const Interval b) {
    const double first = product(a.low, b.low), second = product(a.low, b.high);
    const double third = product(a.high, b.low), fourth = product(a.high, b.high);
    const double least = lesser(lesser(first, second), lesser(third, fourth));
    return (Interval){below(least), above(greater(greater(first, second), greater(third, fourth)))};
}

Interval scale(const double factor, const Interval a) {
    const double one = product(factor, a.low), other = product(factor, a.high);
    return (Interval){below(lesser(one, other)), above(greater(one, other))};
}

// Square of an interval: never negative.
Interval square(const Interval a) {
    const double one = a.low * a.low, other = a.high * a.high;
    const double least = a.low <= 0.0 && 0.0 <= a.high ? 0.0 : greater(below(lesser(one, other)), 0.0);
    return (Interval){least, above(greater(one, other))};
}

// One over an interval; without bounds if that contains 0.
Interval reciprocal(const Interval a) {
    if (a.low <= 0.0 && 0.0 <= a.high) return (Interval){-INFINITY, INFINITY};
    return (Interval){below(1.0 / a.high), above(1.0 / a.low)};
}

// Smallest interval that contains two.
Interval hull(const Interval a, const Interval b) { return (Interval){lesser(a.low, b.low), greater(a.high, b.high)}; }

// Largest absolute value.
double magnitude(const Interval a) { return greater(fabs(a.low), fabs(a.high)); }

double power_of(const double x, const double exponent) {
    if (exponent == 0.0) return 1.0;
    if (x == 0.0) return exponent > 0.0 ? 0.0 : INFINITY;
    return pow(x, exponent);
}

// Enclosures of a power of a number that is not negative, and of those with an exponent one and two lower.
void raised_at(const double x, const double exponent, Interval found[3]) {
    const bool far = !(x >= 1.0 / FAR && x <= FAR);
    double value = far ? 0.0 : pow(x, exponent);
    for (int lower = 0; lower < 3; ++lower) {
        if (far)
            value = power_of(x, exponent - lower);
        else if (lower > 0)
            value /= x;  // a pow takes many times as long; exponents of 10 and less make no number too large here
        const double error = fabs(value) * (far ? EPS_OF_FAR_POWER : EPS_OF_POWER) + TINY;
        found[lower].low = value == INFINITY ? FAR : greater(value - error, 0.0);
        found[lower].high = value + error;
    }
}

// The same of an interval of such numbers: powers are monotone in them.
APART void raised(const Interval a, const double exponent, Interval found[3]) {
    Interval at_high[3];
    raised_at(greater(a.low, 0.0), exponent, found);
    raised_at(greater(a.high, 0.0), exponent, at_high);
    for (int lower = 0; lower < 3; ++lower) found[lower] = hull(found[lower], at_high[lower]);
}
