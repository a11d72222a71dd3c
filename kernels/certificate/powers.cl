// Affine upper bounds of the three powers of which the least is made. As reservoir/certificate/boxes.py, which see.
// Stands behind box.cl.

typedef struct {
    Affine made, taken, installed;
} Powers;

// Tailrace level by release; beyond its bounds, where no schedule is, it goes on in a straight line.
APART Jet tailrace(const Plant *plant, const Interval release, const real least, const real most) {
    if (release.low >= least && release.high <= most) return enclose(plant, TAILRACE, release);
    const Interval within = {greater(lesser(release.low, most), least), lesser(greater(release.high, least), most)};
    Jet found = enclose(plant, TAILRACE, within);
    for (int at_most = 0; at_most < 2; ++at_most) {
        if (!(at_most ? release.high > most : release.low < least)) continue;
        const bool all = at_most ? release.low > most : release.high < least;
        const Interval beyond = at_most ? (Interval){greater(release.low, most), release.high}
                                        : (Interval){release.low, lesser(release.high, least)};
        const Interval end = point(at_most ? most : least);
        const Jet of_end = enclose(plant, TAILRACE, end);
        const Interval line = add(of_end.value, multiply(of_end.slope, subtract(beyond, end)));
        found.value = all ? line : hull(found.value, line);
        found.slope = all ? of_end.slope : hull(found.slope, of_end.slope);
    }
    found.curvature = (Interval){lesser(found.curvature.low, 0.0), greater(found.curvature.high, 0.0)};
    return found;
}

#ifdef FREE
// Tailrace level that is no lower than a lake below, somewhere between two levels.
Jet backed_up(const Jet tail, const Interval lake) {
    if (tail.value.low >= lake.high) return tail;
    Jet found = {{greater(tail.value.low, lake.low), greater(tail.value.high, lake.high)}, NOUGHT, NOUGHT};
    if (tail.value.high <= lake.low) return found;
    found.slope = hull(tail.slope, NOUGHT);
    found.curvature = (Interval){lesser(tail.curvature.low, 0.0), INFINITY};
    return found;
}
#endif

// What the curves come to at mean storages and releases: power of 1 m3/s, and that of all that the turbines take, by
// head.
typedef struct {
    Jet level, tail, per, full;
#ifdef FREE
    Jet capacity;
#endif
} Water;

APART Water water_at(const Plant *plant, const StageAt stage, const Interval storage, const Interval release,
                     const real least) {
    Water water;
    water.level = enclose(plant, LEVEL, storage);
    water.tail = tailrace(plant, release, least, UP(HIGH(stage->release_upper) + HIGH(stage->spare)));
#ifdef FREE
    water.tail = backed_up(water.tail, (Interval){LOW(stage->tailwater), HIGH(stage->tailwater_most)});
#endif
    const Interval head = subtract(water.level.value, water.tail.value);
    water.per = enclose_conversion(plant, head);
    const Jet capacity = enclose(plant, CAPACITY, head);
#ifdef FREE
    water.capacity = capacity;
#endif
    water.full = scale_jet(stage->plant_factor, multiply_jets(water.per, capacity));
    return water;
}

// Derivatives on a box of the power that the release makes.
Slopes slopes_of_made(const Water *on, const Interval release) {
    const Interval by_head = on->per.slope, bend = on->per.curvature, level = on->level.slope, tail = on->tail.slope;
    const Interval by_m = multiply(by_head, level), by_r = negative(multiply(by_head, tail));
    const Interval by_mm = add(multiply(bend, square(level)), multiply(by_head, on->level.curvature));
    const Interval by_rr = subtract(multiply(bend, square(tail)), multiply(by_head, on->tail.curvature));
    const Interval by_mr = negative(multiply(multiply(bend, level), tail));
    Slopes made;
    made.m = multiply(by_m, release);
    made.r = add(on->per.value, multiply(by_r, release));
    made.mm = multiply(by_mm, release);
    made.mr = add(by_m, multiply(by_mr, release));
    made.rr = add(scale(2.0, by_r), multiply(by_rr, release));
    return made;
}

// Derivatives on a box of a function of the head.
Slopes slopes_by_head(const Water *on, const Jet of) {
    const Interval by_head = of.slope, bend = of.curvature, level = on->level.slope, tail = on->tail.slope;
    Slopes found;
    found.m = multiply(by_head, level);
    found.r = negative(multiply(by_head, tail));
    found.mm = add(multiply(bend, square(level)), multiply(by_head, on->level.curvature));
    found.mr = negative(multiply(multiply(bend, level), tail));
    found.rr = subtract(multiply(bend, square(tail)), multiply(by_head, on->tail.curvature));
    return found;
}

// Bound of a function of the head, told at the middle of the box and on it.
Affine bound_by_head(const Water *mid, const Water *on, const Jet of, const Jet of_box, const real spare,
                     const Geometry *box) {
    const Slopes slopes = slopes_by_head(on, of_box);
    const Interval by_m = multiply(of.slope, mid->level.slope);
    const Interval by_r = negative(multiply(of.slope, mid->tail.slope));
    Affine bound = affine_bound(of.value, by_m, by_r, &slopes, box);
    if (spare > 0.0) bound.value = above(bound.value + above(spare * greater(slopes.r.high, 0.0)));
    if (!(bound.value < INFINITY)) return (Affine){of_box.value.high, 0.0, 0.0};
    return bound;
}

// Bounds of what the release makes, of what the turbines can take, and of the installed capacity, MW; from what the
// curves come to and releases at the middle and on the box, and the least release that there is.
APART Powers powers_on(const Plant *plant, const StageAt stage, const Water at[2], const Interval here,
                       const Interval release, const Affine flow, const real least, const Geometry *box) {
    const Water *mid = at, *on = at + 1;

    const Slopes made_box = slopes_of_made(on, release);
    const Interval made_m = multiply(multiply(mid->per.slope, mid->level.slope), here);
    const Interval made_r = subtract(mid->per.value, multiply(multiply(mid->per.slope, mid->tail.slope), here));
    Powers found;
    found.made = affine_bound(multiply(mid->per.value, here), made_m, made_r, &made_box, box);
    if (!(found.made.value < INFINITY)) {  // a tailrace that rises steeply from no release: power at the best head
        const real most = greater(on->per.value.high, 0.0), negative_release = greater(-least, 0.0);
        found.made = moved((Affine){above(most * negative_release), 0.0, 0.0}, most, flow);
#ifdef SINGLE
        const real size = most * (negative_release + size_of(flow, box) + LEAST_SIZE);
        const real rounded = 4.0f * EPS * size + LEAST_SIZE * extent(box);
        found.made.value = above(found.made.value + above(rounded));
#endif
    }
    const real spare = HIGH(stage->spare);
    if (spare > 0.0) {
        const real steepest = greater(made_box.r.high, on->per.value.high);
        found.made.value = above(found.made.value + above(spare * steepest));
    }
    found.taken = bound_by_head(mid, on, mid->full, on->full, spare, box);
    found.installed = (Affine){above(HIGH(plant->of->installed_mw) * HIGH(stage->plant_factor)), 0.0, 0.0};
    return found;
}
