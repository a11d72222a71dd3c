// 1 / (1 + exp(-x)) of all lanes, for x times -log2(e): of one lane in functions of the language, of several in operators
// alone (see lanes.cl).

#define SIGMOID_SCALE -1.44269504f

#if LANES == 1 && defined(__NV_CL_C_VERSION)
// NVIDIA's instructions are exact to 2e-7. How exact native functions are is each driver's choice: Intel's for CPUs has 12
// bits of a reciprocal.
reals sigmoid_of_scaled(const reals x) { return native_recip(1.0f + native_exp2(x)); }
#elif LANES == 1
reals sigmoid_of_scaled(const reals x) { return 1.0f / (1.0f + exp2(x)); }
#else
// The error of the polynomial for 2^rest, |rest| <= 1/2, is 2e-7 of it. Beyond |x| = 39 the result is 0 or 1 to float32.
reals sigmoid_of_scaled(const reals x) {
    const reals bounded = LESSER(GREATER(x, (reals)(-39.0f)), (reals)(39.0f));
    const reals places = bounded + 12582912.0f; // beside 1.5 x 2^23 a float has no room for fractions
    const reals rest = bounded - (places - 12582912.0f);
    reals value = FUSED((reals)(0.0013276472f), rest, (reals)(0.009675541f));
    value = FUSED(value, rest, (reals)(0.05550713f));
    value = FUSED(value, rest, (reals)(0.2402212f));
    value = FUSED(value, rest, (reals)(0.69314694f));
    value = FUSED(value, rest, (reals)(1.0000001f));
    const reals scale = AS_REALS((AS_UINTS(places) << 23) + 0x3F800000u); // 2 to the power, which ends the bits of places
    return 1.0f / FUSED(value, scale, (reals)(1.0f));
}
#endif

reals sigmoid(const reals x) { return sigmoid_of_scaled(x * SIGMOID_SCALE); }
