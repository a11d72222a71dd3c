// Upper bounds of the brackets of all pairs of cells, of one or many horizons. As reservoir/certificate/boxes.py and
// bound.py, which see. Stands behind terms.cl.

// Upper bound of a stage's bracket on a box; minus infinity if no step leads from one to the other. `base` is the
// value at the middle of y less that at the middle of x; the slopes are of the value over the storage, in x and in y.
real bracket_bound(const Plant *plant, const StageAt stage, const Interval x, const Interval y, const real base,
                   const real slope_x, const real slope_y) {
    const real mid_x = 0.5 * (x.low + x.high), mid_y = 0.5 * (y.low + y.high);
    const real half_x = above(greater(x.high - mid_x, mid_x - x.low));
    const real half_y = above(greater(y.high - mid_y, mid_y - y.low));
    const Interval mean = scale(0.5, add(x, y)), middle = scale(0.5, add(point(mid_x), point(mid_y)));
    const Jet lost = loss_jet(plant, stage, mean), lost_here = loss_jet(plant, stage, middle);
    Interval release = release_of(stage, subtract(y, x), lost.value);
    const real most = y.high < LOW(stage->dead) ? HIGH(stage->at_rest) : HIGH(stage->release_upper);
    // Where dead storage is touched, what is missing of the least release may be paid.
    const bool paid = HIGH(stage->missing_price) > 0.0 && y.low <= HIGH(stage->touched);
    const real as_kept = below(LOW(stage->release_lower) - HIGH(stage->missing_as_none));
    const real kept = !paid || release.high < as_kept ? LOW(stage->release_lower) : as_kept;
    const real least = paid ? -HIGH(stage->at_rest) : LOW(stage->release_lower);
    const real heaviest = paid ? LOW(stage->missing_price) : INFINITY;
    if (release.high < least || release.low > most) return -INFINITY;
    const Interval here = release_of(stage, subtract(point(mid_y), point(mid_x)), lost_here.value);
    const Geometry box = geometry(half_x, half_y, reciprocal(GIVEN(stage->hm3_per_m3s)), lost_here, lost);
    const Slopes rising = {NOUGHT, ONE, NOUGHT, NOUGHT, NOUGHT};
    const Slopes falling = {NOUGHT, {-1.0, -1.0}, NOUGHT, NOUGHT, NOUGHT};
    const Affine flow = affine_bound(here, NOUGHT, ONE, &rising, &box);
    const Affine minus = affine_bound(negative(here), NOUGHT, point(-1.0), &falling, &box);
    release.high = above(release.high + HIGH(stage->spare));
    const Affine values = {base, -slope_x, slope_y}, none = {0.0, 0.0, 0.0};
    const Powers idle = {none, none, none};
    const Powers running = powers_on(plant, stage, middle, mean, here, release, flow, least, &box);
    const bool may_idle = !(mean.low >= HIGH(stage->operating_storage));
    const bool may_run = !may_idle || !(mean.high < LOW(stage->operating_storage));
    real bound = -INFINITY;
    for (int runs = 1; runs >= 0; --runs) {
        if (!(runs ? may_run : may_idle)) continue;
        const Powers powers = runs ? running : idle;
        const real found = bound_with_costs(stage, values, &powers, flow, minus, kept, heaviest, &box);
        bound = runs || !may_run ? found : greater(bound, found);
    }
    return bound;
}

// The cell that a pair starts in: the last whose first pair is no later.
int start_of(__global const int *first_pair, const int cells, const int pair) {
    int low = 0, high = cells - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (first_pair[middle] <= pair)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int end_of(__global const int *first_end, __global const int *first_pair, const int x, const int pair) {
    return first_end[x] + pair - first_pair[x];
}

// A work item a pair; brackets that are minus infinity stay so. Of each cell, those of all times behind each other: the
// step that it starts, the first cell that it may end in, the place of its first pair, its ends (hm3), a value at its
// middle, and the slope of that over the storage.
__kernel void bound_pairs(__global const PlantNumbers *numbers, __global const CurveShape *shapes,
                          __global const Given *curves, __global const Stage *stages, __global const int *steps,
                          __global const int *first_end, __global const int *first_pair,
                          __global const real *lower, __global const real *upper, __global const real *value,
                          __global const real *slope, const int cells, const int pairs, __global real *brackets) {
    const int pair = get_global_id(0);
    if (pair >= pairs || !(brackets[pair] > -INFINITY)) return;
    const Plant plant = {numbers, shapes, curves};
    const int x = start_of(first_pair, cells, pair), y = end_of(first_end, first_pair, x, pair);
    const Interval start = {lower[x], upper[x]}, end = {lower[y], upper[y]};
    const real base = value[y] - value[x];
    const real bound = bracket_bound(&plant, stages + steps[x], start, end, base, slope[x], slope[y]);
    brackets[pair] = isnan(bound) ? INFINITY : bound;  // what is no number would be taken for a pair without a path
}
