// What the turbines take, where that is paid or charged: the least of three flows. As reservoir/certificate/boxes.py,
// which see. Of programs with FREE; stands behind powers.cl.

// Power of 1 m3/s, MW, that counts as none.
#define NO_POWER 1e-20

Jet scaled_jet(const real factor, const Jet a) {
    return (Jet){scale(factor, a.value), scale(factor, a.slope), scale(factor, a.curvature)};
}

// By head, what makes the most power: no limit where a head may make none.
APART Jet making_most(const Plant *plant, const StageAt stage, const Water *on) {
    if (!(on->per.value.low > NO_POWER)) return (Jet){{0.0, INFINITY}, NOUGHT, NOUGHT};
    const Interval power = multiply(GIVEN(plant->of->installed_mw), GIVEN(stage->plant_factor));
    const Interval most = {lesser(power.low, LOW(stage->turbined_power)), lesser(power.high, HIGH(stage->turbined_power))};
    const Jet of_one = reciprocal_jet(on->per);
    return (Jet){multiply(most, of_one.value), multiply(most, of_one.slope), multiply(most, of_one.curvature)};
}

// Bounds of the three flows of which the turbines take the least, each times a sign; and the ranges of these: the
// release, what the turbines let through, and what makes the most power.
APART void turbined_on(const Plant *plant, const StageAt stage, const Water at[2], const Interval release,
                       const Affine released, const real sign, const Geometry *box, Affine bounds[3],
                       Interval ranges[3]) {
    const real spare = HIGH(stage->spare);
    bounds[0] = sign > 0.0 ? with_value(released, above(UP(released.value + spare))) : released;
    bounds[2] = sign > 0.0 ? bounds[0] : (Affine){0.0, 0.0, 0.0};
    ranges[0] = release;
    for (int which = 1; which < 3; ++which) {
        Jet flow[2];
        for (int on_box = 0; on_box < 2; ++on_box)
            flow[on_box] = which == 1 ? scale_jet(stage->plant_factor, at[on_box].capacity)
                                      : making_most(plant, stage, at + on_box);
        ranges[which] = flow[1].value;
        if (!(which == 1 || flow[1].value.high < INFINITY)) continue;
        bounds[which] = bound_by_head(at, at + 1, scaled_jet(sign, flow[0]), scaled_jet(sign, flow[1]), spare, box);
    }
}
