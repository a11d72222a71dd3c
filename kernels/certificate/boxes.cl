// Upper bound of a stage's bracket on a box. As reservoir/certificate/boxes.py, which see. Stands behind terms.cl.

#ifdef FREE
// A third side times a sign, with what is released net beside it or by itself.
Affine from_net(const Affine net, const Interval side, const real sign, const bool beside) {
    const real middle = sign * 0.5 * (side.low + side.high);
    if (!beside) return (Affine){middle, 0.0, 0.0, sign};
    Affine found = with_value(net, above(net.value + middle));
    found.by_flow = sign;
    return found;
}

// The release of a box: what it releases net of the free flow, and a part of that; or a part of the release.
Interval released(const Interval net, const Interval side, const bool by_release) {
    return by_release ? side : add(net, side);
}
#endif

// The largest release of steps that end in an interval: only losses lead below dead storage.
real most_released(const StageAt stage, const Interval y) {
    return y.high < LOW(stage->dead) ? HIGH(stage->at_rest) : HIGH(stage->release_upper);
}

// Minus infinity if no step leads from one to the other. `base` is the value at the middle of y less that at the middle
// of x; the slopes are of the value over the storage, in x and in y. With FREE, on one part of the free flow.
APART_IF_FREE real bound_on(const Plant *plant, const StageAt stage, const Interval x, const Interval y, const real base,
                            const real slope_x, const real slope_y AND_FLOW(const Side side)) {
    const real mid_x = 0.5 * (x.low + x.high), mid_y = 0.5 * (y.low + y.high);
    const real half_x = above(greater(x.high - mid_x, mid_x - x.low));
    const real half_y = above(greater(y.high - mid_y, mid_y - y.low));
    const Interval mean = scale(0.5, add(x, y)), middle = scale(0.5, add(point(mid_x), point(mid_y)));
    const Jet lost = loss_jet(plant, stage, mean), lost_here = loss_jet(plant, stage, middle);
    Interval release = release_of(stage, subtract(y, x), lost.value);
#ifdef FREE
    release = released(release, side.part, side.by_release);
#endif
    const real most = most_released(stage, y);
    // Where dead storage is touched, what is missing of the least release may be paid.
    const bool paid = HIGH(stage->missing_price) > 0.0 && y.low <= HIGH(stage->touched);
    const real as_kept = below(LOW(stage->release_lower) - HIGH(stage->missing_as_none));
    const real kept = !paid || release.high < as_kept ? LOW(stage->release_lower) : as_kept;
    const real least = paid ? -HIGH(stage->at_rest) : LOW(stage->release_lower);
    const real heaviest = paid ? LOW(stage->missing_price) : INFINITY;
    if (release.high < least || release.low > most) return -INFINITY;
    Interval here = release_of(stage, subtract(point(mid_y), point(mid_x)), lost_here.value);
    Geometry box = geometry(half_x, half_y, reciprocal(GIVEN(stage->hm3_per_m3s)), lost_here, lost);
    const Slopes rising = {NOUGHT, ONE, NOUGHT, NOUGHT, NOUGHT};
    const Slopes falling = {NOUGHT, {-1.0, -1.0}, NOUGHT, NOUGHT, NOUGHT};
    Affine flow = affine_bound(here, NOUGHT, ONE, &rising, &box);
    Affine minus = affine_bound(negative(here), NOUGHT, point(-1.0), &falling, &box);
    release.high = above(release.high + HIGH(stage->spare));
    Affine values = {base, -slope_x, slope_y};
    const Affine none = {0.0, 0.0, 0.0};
#ifdef FREE
    Brought brought;
    brought.most = from_net(minus, side.part, 1.0, side.by_release);
    brought.negative = from_net(flow, side.part, -1.0, side.by_release);
    flow = from_net(flow, side.part, 1.0, !side.by_release);
    minus = from_net(minus, side.part, -1.0, !side.by_release);
    here = released(here, point(side.at), side.by_release);
    box = with_side(box, side);
    values = priced(stage, values, flow, minus, &brought, &box);
#endif
    Water at[2];
    at[0] = water_at(plant, stage, middle, here, least);
    at[1] = water_at(plant, stage, mean, release, least);
    const Powers idle = {none, none, none};
    const Powers running = powers_on(plant, stage, at, here, release, flow, least, &box);
    const bool may_idle = !(mean.low >= HIGH(stage->operating_storage));
    const bool may_run = !may_idle || !(mean.high < LOW(stage->operating_storage));
#ifdef FREE
    // What the turbines take is paid, or charged: then it is one of three flows.
    const Interval paid_for = GIVEN(stage->turbined_paid);
    const bool charged = paid_for.low < 0.0;
    Affine turbined[3];
    Interval ranges[3];
    if (charged || paid_for.high > 0.0)
        turbined_on(plant, stage, at, release, charged ? minus : flow, charged ? -1.0 : 1.0, &box, turbined, ranges);
    brought.turbined = (Powers){turbined[0], turbined[1], turbined[2]};
    const real least_of_all = lesser(lesser(ranges[0].high, ranges[1].high), ranges[2].high);
#endif
    real bound = -INFINITY;
    for (int runs = 1; runs >= 0; --runs) {
        if (!(runs ? may_run : may_idle)) continue;
        const Powers powers = runs ? running : idle;
#ifdef FREE
        brought.paid = runs && paid_for.high > 0.0;
        real found = -INFINITY;
        for (int which = 0; which < (runs && charged ? 3 : 1); ++which) {
            Affine less = values;
            if (runs && charged) {
                if (!(ranges[which].low <= least_of_all)) continue;
                const Interval charge = negative(paid_for);
                real size = fabs(values.value) + charge.high * size_of(turbined[which], &box);
#ifdef SINGLE
                size += LEAST_SIZE * (1.0f + extent(&box)) * (1.0f + charge.high);
#endif
                less = at_price(with_value(values, UP(values.value + UP(ROUNDING * size))), charge, turbined[which], &box);
            }
            const real value = bound_with_costs(stage, less, &powers, flow, minus, kept, heaviest, &box, &brought);
            found = runs && charged ? greater(found, value) : value;
            if (isnan(value)) {  // which none is larger than
                found = value;
                break;
            }
        }
#else
        const real found = bound_with_costs(stage, values, &powers, flow, minus, kept, heaviest, &box);
#endif
        bound = runs || !may_run ? found : greater(bound, found);
    }
    return bound;
}
