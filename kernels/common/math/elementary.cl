// Elementary functions of all lanes, in operators alone (see lanes.cl): polynomials of least error, float32.

// The nearest whole number, for |x| < 2^22: beside 1.5 x 2^23 a float has no room for fractions.
#define NEAREST(x) (((x) + 12582912.0f) - 12582912.0f)

// sin(pi x), |x| <= 1/2; the relative error of the polynomial is 6e-9, so that small sines keep all their digits.
reals sine_near_(const reals x) {
    const reals square = x * x;
    reals value = FUSED((reals)(0.077560387f), square, (reals)(-0.5982421264f));
    value = FUSED(value, square, (reals)(2.550069726f));
    value = FUSED(value, square, (reals)(-5.167709685f));
    return FUSED(value, square, (reals)(3.141592637f)) * x;
}

// sin(pi x)^2 = (1 - cos(2 pi x)) / 2, |x| < 2^22.
reals squared_sine_of_half_turns(const reals x) {
    const reals sine = sine_near_(x - NEAREST(x));
    return sine * sine;
}

// sin(2 pi x), |x| < 2^22.
reals sine_of_turns(const reals x) {
    const reals turn = x - NEAREST(x);
    const reals mirrored = CHOOSE(turn < 0.0f, -0.5f - turn, 0.5f - turn);
    return sine_near_(2.0f * CHOOSE((turn > 0.25f) | (turn < -0.25f), mirrored, turn));
}

// exp(x) - 1, |x| < 80: powers of two times a polynomial whose error is 2e-9; small results keep all their digits.
reals exponential_less_one(const reals x) {
    const reals places = x * 1.44269504f + 12582912.0f, power = places - 12582912.0f;
    const reals rest = FUSED(power, (reals)(1.42860677e-6f), FUSED(power, (reals)(-0.693148613f), x));
    reals value = FUSED((reals)(0.0001990757402f), rest, (reals)(0.00139336432f));
    value = FUSED(value, rest, (reals)(0.008333286022f));
    value = FUSED(value, rest, (reals)(0.04166646498f));
    value = FUSED(value, rest, (reals)(0.1666666676f));
    value = FUSED(value, rest, (reals)(0.5f));
    value = FUSED(value * rest, rest, rest);
    const reals scale = AS_REALS((AS_UINTS(places) << 23) + 0x3F800000u); // 2 to the power, which ends the bits of places
    return FUSED(value, scale, scale - 1.0f);
}

reals magnitude(const reals x) { return GREATER(x, -x); }
