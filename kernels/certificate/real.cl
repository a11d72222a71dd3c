// Numbers of a proof: double, or float with SINGLE; and how the numbers of a plant and of steps are given in them.
// Where the code of double relies on a margin for what it rounds, that of float rounds upwards each time (UP).
//
// Float: + - * round to nearest; a quotient errs by at most 2.5 units in the last place, a power by 16 (The OpenCL C
// Specification 1.2, section 7.4). Numbers below 2^-126 may be flushed to zero: TINY is many times as large, so that an
// end which is moved outwards by it stays outside. The host gives no such numbers either.

#pragma OPENCL FP_CONTRACT OFF

#ifdef SINGLE
typedef float real;
#define EPS 0x1p-23f
#define TINY 1e-36f
#define LARGEST 3e38f
// What is added to the sizes of terms, so that a part of it is more than what is flushed to zero.
#define LEAST_SIZE 1e-24f
// Margins of double where float rounds upwards.
#define SLIGHTLY_MORE 1.0f
#define MORE 1.0f
// More than 2.5 units in the last place of a quotient, to which EPS is added.
#define EPS_OF_QUOTIENT 0x1.5p-22f
// In place of no limit of a cost: more than in double, so that what is a limit there is one here.
#define UNLIMITED 2e29f
#else
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#define EPS 0x1p-52
#define TINY 1e-300
#define LEAST_SIZE 0.0
#define SLIGHTLY_MORE (1.0 + 1e-15)
#define MORE (1.0 + 1e-14)
// In place of no limit of a cost.
#define UNLIMITED 1e29
#endif

typedef struct {
    real low, high;
} Interval;

// As Python compares: the first where one is no number.
real lesser(const real a, const real b) { return b < a ? b : a; }
real greater(const real a, const real b) { return b > a ? b : a; }

Interval point(const real x) { return (Interval){x, x}; }

// A number below, or above, all that round to x.
#ifdef SINGLE
// What float cannot hold is infinity: a lower end is a number yet.
real below(const real x) {
    if (fabs(x) <= LARGEST) return x - (fabs(x) * EPS + TINY);
    return x > 0.0f ? LARGEST : x < 0.0f ? -INFINITY : x;
}
real above(const real x) { return -below(-x); }
#define UP(x) above(x)
#else
real below(const real x) { return x - (fabs(x) * EPS + TINY); }
real above(const real x) { return x + (fabs(x) * EPS + TINY); }
#define UP(x) (x)
#endif

// A number as the host gives it: in double itself; in float an interval that contains it, a point if float can say it.
#ifdef SINGLE
typedef Interval Given;
#define GIVEN(x) (x)
#define LOW(x) (x).low
#define HIGH(x) (x).high
#define LITERAL(x) ((Interval){below(x), above(x)})
#else
typedef double Given;
#define GIVEN(x) point(x)
#define LOW(x) (x)
#define HIGH(x) (x)
#define LITERAL(x) (x)
#endif
