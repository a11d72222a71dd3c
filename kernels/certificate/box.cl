// A box of storages at the start and at the end of a step, and how the release changes in it; a function's affine
// bound on it. As reservoir/certificate/boxes.py, which see. Stands behind affine.cl and enclosures.cl.
//
// Constants (reservoir/certificate/on_device.py): the fields of a Stage, as those of Stages.

typedef struct {
    STAGE_FIELDS;
} Stage;

typedef __global const Stage *StageAt;

// Half widths; largest deviations of mean storage and release at the corners of either diagonal, and of their
// products; slopes of the release over the storages, at the middle and on the box; curvature of the release over the
// mean storage. Of the third side, m3/s, the largest distance from where functions are told, and by how much more than
// that the middle is: both 0 of a box without one.
typedef struct {
    Halves sides;
    real mean_1, release_1, mean_2, release_2, product;
    Interval release_x, release_y, release_x_box, release_y_box, bend;
#ifdef FREE
    real far, off;
#endif
} Geometry;

// First and second derivatives of a function of mean storage (m) and release (r).
typedef struct {
    Interval m, r, mm, mr, rr;
} Slopes;

// Evaporation and seepage of a step, hm3, by mean storage.
APART Jet loss_jet(const Plant *plant, const StageAt stage, const Interval mean_storage) {
    if (LOW(stage->has_losses) == 0.0) return (Jet){NOUGHT, NOUGHT, NOUGHT};
    const Jet evaporated = scale_jet(stage->evaporation, enclose(plant, AREA, mean_storage));
    return add_jets(evaporated, scale_jet(stage->hm3_per_m3s, enclose(plant, SEEPAGE, mean_storage)));
}

// Release of a step whose storage rises by a gain, m3/s.
Interval release_of(const StageAt stage, const Interval gain, const Interval loss) {
    const Interval per_volume = reciprocal(GIVEN(stage->hm3_per_m3s));
    return subtract(GIVEN(stage->inflow), multiply(add(gain, loss), per_volume));
}

Geometry geometry(const real half_x, const real half_y, const Interval per_volume, const Jet at_middle,
                  const Jet on_box) {
    const real steep = magnitude(on_box.slope), widest = per_volume.high, longer = greater(half_x, half_y);
    const real gain_1 = above(fabs(half_x - half_y)), gain_2 = above(half_x + half_y);
    const Interval half_here = scale(0.5, at_middle.slope), half_box = scale(0.5, on_box.slope);
    Geometry box;
    box.sides = (Halves){half_x, half_y AND_FLOW(0.0)};
#ifdef FREE
    box.far = box.off = 0.0;
#endif
    box.mean_1 = above(0.5 * (half_x + half_y));
    box.mean_2 = above(0.5 * fabs(half_x - half_y));
    box.release_1 = above(above(gain_1 + above(steep * box.mean_1)) * widest);
    box.release_2 = above(above(gain_2 + above(steep * box.mean_2)) * widest);
    const real squared = UP(0.5 * longer * longer) * SLIGHTLY_MORE;
    const real lost = UP(UP(steep * box.mean_1) * box.mean_1) * SLIGHTLY_MORE;
    const real area = above(squared + lost);
    box.product = above(area * widest);
    box.release_x = multiply(subtract(ONE, half_here), per_volume);
    box.release_y = negative(multiply(add(ONE, half_here), per_volume));
    box.release_x_box = multiply(subtract(ONE, half_box), per_volume);
    box.release_y_box = negative(multiply(add(ONE, half_box), per_volume));
    box.bend = negative(multiply(on_box.curvature, per_volume));
    return box;
}

// Slope over a storage: half that over the mean storage, and that over the release.
Interval by_storage(const Interval slope_m, const Interval slope_r, const Interval release) {
    return add(scale(0.5, slope_m), multiply(slope_r, release));
}

// A number times the square of another, none of them negative.
real twice(const real factor, const real x) { return UP(UP(factor * x) * x); }

// By how much a function may exceed its tangent on the box, by its curvatures.
real by_curvature(const Slopes *on_box, const Geometry *box) {
    const real bend_m = greater(add(on_box->mm, multiply(on_box->r, box->bend)).high, 0.0);
    const real bend_r = greater(on_box->rr.high, 0.0), bend_mr = magnitude(on_box->mr);
    const real one = 0.5 * UP(twice(bend_m, box->mean_1) + twice(bend_r, box->release_1));
    const real other = 0.5 * UP(twice(bend_m, box->mean_2) + twice(bend_r, box->release_2));
    return UP(greater(one, other) + UP(bend_mr * box->product)) * MORE;
}

#ifdef FREE
// What a function is above its tangent, with what a range of slopes over the free flow makes of it.
real beyond_by_flow(const real beyond, const Interval slopes, const real slope, const real far) {
    return above(beyond + above(magnitude(subtract(slopes, point(slope))) * far));
}

// Part of the free flow, or of the release, and the flow in it at which functions are told.
typedef struct {
    Interval part;
    real at;
    bool by_release;
} Side;

// The box with a third side; storages do not change the release if that is the side.
Geometry with_side(Geometry box, const Side side) {
    const real middle = 0.5 * (side.part.low + side.part.high);
    box.sides.flow = above(greater(side.part.high - middle, middle - side.part.low));
    box.far = above(greater(side.part.high - side.at, side.at - side.part.low));
    box.off = middle - side.at;
    const real across = above(box.mean_1 * box.far);
    if (side.by_release) {
        box.product = across;
        box.release_1 = box.release_2 = box.far;
        box.release_x = box.release_y = box.release_x_box = box.release_y_box = box.bend = NOUGHT;
        return box;
    }
    box.release_1 = above(box.release_1 + box.far);
    box.release_2 = above(box.release_2 + box.far);
    box.product = above(above(box.product + across));
    return box;
}
#endif

// Affine upper bound of a function, from its value and slopes at the middle and its derivatives on the box.
APART Affine affine_bound(const Interval value, const Interval slope_m, const Interval slope_r, const Slopes *on_box,
                    const Geometry *box) {
    const Affine none = {INFINITY, 0.0, 0.0};
    const Interval slope_x = by_storage(slope_m, slope_r, box->release_x);
    const Interval slope_y = by_storage(slope_m, slope_r, box->release_y);
    const real mid_x = 0.5 * (slope_x.low + slope_x.high), mid_y = 0.5 * (slope_y.low + slope_y.high);
    if (!(fabs(mid_x) < INFINITY && fabs(mid_y) < INFINITY)) return none;
    real beyond = by_curvature(on_box, box);
    const real wide_x = UP(UP(slope_x.high - slope_x.low) * box->sides.x);
    beyond = UP(beyond + UP(wide_x + UP(UP(slope_y.high - slope_y.low) * box->sides.y)));
    const Interval rise_x = subtract(by_storage(on_box->m, on_box->r, box->release_x_box), point(mid_x));
    const Interval rise_y = subtract(by_storage(on_box->m, on_box->r, box->release_y_box), point(mid_y));
    const real by_x = UP(magnitude(rise_x) * box->sides.x);
    real by_slopes = UP(by_x + UP(magnitude(rise_y) * box->sides.y)) * MORE;
#ifdef FREE
    const real by_flow = 0.5 * (slope_r.low + slope_r.high);
    if (box->far > 0.0) {
        beyond = beyond_by_flow(beyond, slope_r, by_flow, box->far);
        by_slopes = beyond_by_flow(by_slopes, on_box->r, by_flow, box->far);
    }
#endif
    if (!(beyond < by_slopes)) beyond = by_slopes;  // also where it is no number
    if (!(beyond < INFINITY)) return none;
    Affine bound = {above(value.high + above(beyond * MORE)), mid_x, mid_y};
#ifdef FREE
    if (box->far > 0.0) {
        bound.value = above(bound.value + above(above(by_flow * box->off)));
        bound.by_flow = by_flow;
    }
#endif
    return bound;
}

// Sizes of the terms of an affine function on a box, added.
real size_of(const Affine a, const Geometry *box) {
    const real size = fabs(a.value) + fabs(a.by_x) * box->sides.x + fabs(a.by_y) * box->sides.y;
#ifdef FREE
    return size + fabs(a.by_flow) * box->sides.flow;
#else
    return size;
#endif
}

// Half widths, added.
real extent(const Geometry *box) {
    const real sides = box->sides.x + box->sides.y;
#ifdef FREE
    return sides + box->sides.flow;
#else
    return sides;
#endif
}
