// Normal and Cauchy numbers of every lane from uniform ones, in operators alone: see lanes.cl.

// Cosine of 2 pi turns, where 0 <= turns <= 1/2: a polynomial with an error under 2e-7.
reals cosine_of_turns_(const reals turns) {
    const reals nearest = LESSER(turns, 0.5f - turns), square = nearest * nearest;
    reals value = FUSED((reals)(-25.018335f), square, (reals)(60.15002f));
    value = FUSED(value, square, (reals)(-85.453934f));
    value = FUSED(value, square, (reals)(64.939354f));
    value = FUSED(value, square, (reals)(-19.739208f));
    value = FUSED(value, square, (reals)(1.0f));
    return CHOOSE(turns > 0.25f, -value, value);
}

// Natural logarithm of normal numbers: the exponent, and the series of the inverse hyperbolic tangent for the rest, which
// lies between the square roots of 1/2 and of 2.
reals logarithm_(const reals x) {
    const uints bits = AS_UINTS(x) + 0x004AFB0Du;
    const reals exponent = TO_REALS(bits >> 23) - 127.0f;
    const reals rest = AS_REALS((bits & 0x7FFFFFu) + 0x3F3504F3u);
    const reals ratio = (rest - 1.0f) / (rest + 1.0f), square = ratio * ratio;
    reals series = FUSED((reals)(1.0f / 9.0f), square, (reals)(1.0f / 7.0f));
    series = FUSED(series, square, (reals)(1.0f / 5.0f));
    series = FUSED(series, square, (reals)(1.0f / 3.0f));
    series = FUSED(series, square, (reals)(1.0f));
    return FUSED(exponent, (reals)(0.69314718f), 2.0f * ratio * series);
}

// A standard normal number from two uniform ones in [0, 1) (Box and Muller 1958).
reals normal_lanes(const reals radial, const reals angle) {
    const reals square = -2.0f * logarithm_(1.0f - radial);
    return SQUARE_ROOT(GREATER(square, (reals)(0))) * cosine_of_turns_(LESSER(angle, 1.0f - angle));
}

// A standard Cauchy number from a uniform one in (0, 1), by the inverse of its distribution; of no use in the last
// thousandth at either end.
reals cauchy_lanes(const reals part) {
    const reals from_middle = GREATER(part - 0.5f, 0.5f - part);
    const reals tangent = cosine_of_turns_(0.25f - 0.5f * from_middle) / cosine_of_turns_(0.5f * from_middle);
    return CHOOSE(part < 0.5f, -tangent, tangent);
}
