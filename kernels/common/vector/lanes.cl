// A work item carries LANES particles in OpenCL vector types: 1 on a GPU, 8 or 16 on a CPU.
//
// reals, ints and uints are vectors of LANES numbers, or plain scalars where LANES is 1. A REAL is a float, or a double
// in a program that defines DOUBLE as 1; the integers of masks are as wide. A comparison gives a mask of
// ints (0 or -1 in vectors, 0 or 1 in a scalar); CHOOSE and ANY take either.
//
// Vectors use operators where they can: PoCL 3.0 makes calls of built-ins (fma, fmin, vload, any), which empty all
// registers, and cannot compile any for vectors wider than the processor's, so that those of 16 are taken in halves.

#if defined(__clang__) && LANES > 1
#pragma clang diagnostic ignored "-Wpsabi" // only our own functions hand each other vectors wider than the processor's
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#ifndef DOUBLE
#define DOUBLE 0
#endif
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#define INTEGER long
#else
#define REAL float
#define INTEGER int
#endif

#if LANES == 1
typedef REAL reals;
typedef int ints;
typedef uint uints;
#define ANY(mask) (mask)
#define BITS_OF(mask) (mask)
#define FIRST_BIT(bits) 0
#define LOAD_LANES(SPACE, pointer) (*(pointer)) // of floats
#define STORE_LANES(value, SPACE, pointer) (*(pointer) = (value))
#define AS_REALS(bits) as_float(bits)
#define AS_UINTS(value) as_uint(value)
#define AS_INTS(value) as_int(value)
#define SQUARE_ROOT(value) sqrt(value)
#define TO_REALS(value) convert_float(value) // of uints
#define LESSER(a, b) fmin(a, b)
#define GREATER(a, b) fmax(a, b)
#define LANE_NUMBERS 0
#define REAL_OF(vector, lane) (vector) // one lane, to read or write
#define INT_OF(vector, lane) (vector)
#define UINT_OF(vector, lane) (vector)
#else
#define REAL_OF(vector, lane) ((REAL *)&(vector))[lane]
#define INT_OF(vector, lane) ((INTEGER *)&(vector))[lane]
#define UINT_OF(vector, lane) ((uint *)&(vector))[lane]
typedef PASTE(REAL, LANES) reals;
typedef PASTE(INTEGER, LANES) ints;
typedef PASTE(uint, LANES) uints;
typedef struct __attribute__((packed)) {
    reals lanes;
} AnyPlace; // that need not begin where a vector does
#define LOAD_LANES(SPACE, pointer) ((SPACE const AnyPlace *)(pointer))->lanes
#define STORE_LANES(value, SPACE, pointer) (((SPACE AnyPlace *)(pointer))->lanes = (value))
#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))
#define ANY(mask) BITS_OF(mask)
#define BITS_OF(mask) bits_of_(mask)
#define FIRST_BIT(bits) ((as_int((float)((bits) & -(bits))) >> 23) - 127) // a power of two's exponent
#if LANES == 16
#define AS_REALS(bits) as_float16(bits)
#define AS_UINTS(value) as_uint16(value)
#define AS_INTS(value) as_int16(value)
#define SQUARE_ROOT(value) (float16)(sqrt((value).lo), sqrt((value).hi))
#define TO_REALS(value) (float16)(convert_float8((value).lo), convert_float8((value).hi))
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#else
#define AS_REALS(bits) PASTE(as_float, LANES)(bits)
#define AS_UINTS(value) PASTE(as_uint, LANES)(value)
#define AS_INTS(value) PASTE(as_int, LANES)(value)
#define SQUARE_ROOT(value) sqrt(value)
#define TO_REALS(value) PASTE(convert_float, LANES)(value)
#if LANES == 2
#define LANE_NUMBERS 0, 1
#elif LANES == 4
#define LANE_NUMBERS 0, 1, 2, 3
#else
#define LANE_NUMBERS 0, 1, 2, 3, 4, 5, 6, 7
#endif
#endif
#endif

#if LANES > 1
// Which lanes a mask is set in, a bit each: what a branch asks, and what a loop over those lanes counts off.
int bits_of_(const ints mask) {
    const ints bits = mask & ((ints)(1) << (ints)(LANE_NUMBERS));
#if LANES == 2
    return (int)(bits.x | bits.y);
#else
#if LANES == 4
#define FOUR bits
#elif LANES == 8
#define FOUR (bits.lo | bits.hi)
#else
#define FOUR (bits.lo.lo | bits.lo.hi | bits.hi.lo | bits.hi.hi)
#endif
    const PASTE(INTEGER, 4) four = FOUR;
    return (int)(four.x | four.y | four.z | four.w);
#endif
}
#endif

// Where a solver keeps the state of its particles.
#ifndef STATE_SPACE
#define STATE_SPACE __private
#endif

// Where a function's results are not all used, or its loops should be unrolled among its caller's.
#define ALWAYS_INLINE __attribute__((always_inline))

#define CHOOSE(mask, yes, no) ((mask) ? (yes) : (no))

// A product and a sum, fused where the device does that fast.
#pragma OPENCL FP_CONTRACT ON
#define FUSED(a, b, c) ((a) * (b) + (c))
