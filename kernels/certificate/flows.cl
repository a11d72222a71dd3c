// The largest bound of parts of the free flow. As reservoir/certificate/boxes.py, which see. Of programs with FREE;
// stands behind boxes.cl.
//
// Constants (reservoir/certificate/on_device.py): the fields of a Told, which are those of FreeFlow and ByMean.

// What is told of a step: the best releases, at nodes of the mean storage from the first on, and a straight line on
// each of some segments of it.
typedef struct {
    TOLD_FIELDS;
} Told;

typedef __global const Told *ToldAt;

// When a part is narrow enough, and how the next one is made (boxes.py).
#define ENOUGH 0.3
#define NARROWER 4.0
#define NARROWEST 1e-5
#define MOST_PARTS 60
#define MORE_FOR_NARROWER 1.6
#define OF_LOSS 0.2
#define FEW 2

// The best release at a mean storage where nothing else limits it: a hint.
real best_release(const ToldAt told, const real mean_storage) {
    real at = (mean_storage - LOW(told->first)) * LOW(told->per_hm3);
    at = lesser(greater(at, 0.0), NODES - 1.0);
    const int place = min((int)at, NODES - 2);
    const real left = LOW(told->best[place]);
    return left + (at - place) * (LOW(told->best[place + 1]) - left);
}

// The bound by what is told of mean storages, and whether a box by itself may do better; infinity for nothing.
APART real by_mean(const StageAt stage, const ToldAt told, const Interval x, const Interval y, const real base,
                   const real slope_x, const real slope_y, bool *loose) {
    const Interval mean = scale(0.5, add(x, y));
    const int count = (int)LOW(told->number);
    *loose = true;
    if (count == 0 || !(fabs(base) + fabs(slope_x) + fabs(slope_y) < UNLIMITED)) return INFINITY;
    if (mean.low < HIGH(told->edges[0]) || mean.high > LOW(told->edges[count])) return INFINITY;
    if (HIGH(stage->missing_price) > 0.0 && y.low <= HIGH(stage->touched)) return INFINITY;
    if (y.high < LOW(stage->dead)) return INFINITY;  // where nothing is released, of which nothing is told
    const real mid_x = 0.5 * (x.low + x.high), mid_y = 0.5 * (y.low + y.high);
    const real half_x = greater(x.high - mid_x, mid_x - x.low), half_y = greater(y.high - mid_y, mid_y - y.low);
#ifdef SINGLE
    const Interval each = multiply(GIVEN(stage->free_price), reciprocal(GIVEN(stage->hm3_per_m3s)));
    const real stored = 0.5f * (each.low + each.high);
#else
    const real stored = stage->free_price / stage->hm3_per_m3s;
#endif
    const real by_x = stored - slope_x, by_y = slope_y - stored;
    const real middle = 0.5 * (mid_x + mid_y), half_mean = 0.5 * (half_x + half_y);
    const real first = 2.0 * greater(by_x, by_y), second = 2.0 * lesser(by_x, by_y);
    const real lowest = -by_x * half_x - by_y * half_y, highest = by_x * half_x + by_y * half_y;
    const real bend = middle + 0.5 * (by_x > by_y ? half_x - half_y : half_y - half_x);
    int left = 0, right = count;
    while (right - left > 1) {
        const int between = (left + right) / 2;
        if (HIGH(told->edges[between]) <= mean.low)
            left = between;
        else
            right = between;
    }
    const int first_of_all = left;
    real bound = -INFINITY, size = 0.0, over = 0.0;
#ifdef SINGLE
    real far = 0.0f;
#endif
    for (; left < count && LOW(told->edges[left]) <= mean.high; ++left) {
        const real low = greater(LOW(told->edges[left]), mean.low);
        const real high = lesser(HIGH(told->edges[left + 1]), mean.high);
        const real value = HIGH(told->value[left]), slope = LOW(told->slope[left]);
        const real center = 0.5 * (LOW(told->edges[left]) + LOW(told->edges[left + 1]));
        for (int which = 0; which < 3; ++which) {
            const real at = which == 0 ? low : which == 1 ? lesser(greater(bend, low), high) : high;
            const real away = at - middle;
            const real beside = lesser(lowest + first * (away + half_mean), highest + second * (away - half_mean));
            bound = greater(bound, value + slope * (at - center) + beside);
        }
        over = greater(over, LOW(told->over[left]));
#ifdef SINGLE
        if (value > -INFINITY) {
            const real wide = HIGH(told->edges[left + 1]) - LOW(told->edges[left]);
            size = greater(size, fabs(value) + fabs(slope) * wide);
            far = greater(far, fabs(slope) * (fabs(LOW(told->edges[left])) + fabs(HIGH(told->edges[left + 1]))));
            far = greater(far, (HIGH(told->slope[left]) - slope) * wide * 0x1p20f);
        }
#else
        if (value > -INFINITY) size = greater(size, fabs(value) + fabs(slope) * (fabs(low) + fabs(high)));
#endif
    }
    *loose = false;
    if (bound == -INFINITY) return bound;
    *loose = over > LOW(stage->free_slack) && left - first_of_all <= FEW;
    const real reach = fabs(x.low) + fabs(x.high) + fabs(y.low) + fabs(y.high);
    const real slopes = fabs(slope_x) + fabs(slope_y) + 2.0 * fabs(stored);
#ifdef SINGLE
    // Differences of storages err by less than 2^-21 of these, then products and sums of what is left by less than
    // 2^-18 of themselves. A price of what is stored counts by how far storages are apart.
    const real apart = fabs(mid_y - mid_x) + half_x + half_y;
    const real rounded = 0x1p-17f * (size + fabs(base) + slopes * apart + LEAST_SIZE * (1.0f + reach));
    const real of_far = 0x1p-20f * (far + slopes * reach) + 1.01f * (each.high - each.low) * apart;
    return above(bound + (base - stored * (mid_y - mid_x)) + above(rounded + of_far));
#else
    size += fabs(base) + slopes * reach;
    return above(bound + (base - stored * (mid_y - mid_x)) + ROUNDING * size);
#endif
}

// What is bounded next: the whole range, or the best release alone, on the box and at its middle; then parts of the
// range, and what comes to most where a part is made narrower.
enum { WHOLE, BEST, BEST_AT_MIDDLE, PART, FAR_END };

// The largest bound of parts of the free flow: as wide as they may be, told where they are next to the best.
APART real over_flows(const Plant *plant, const StageAt stage, const ToldAt told, const Interval x, const Interval y,
                      const real base, const real slope_x, const real slope_y) {
    const Interval mid_x = point(0.5 * (x.low + x.high)), mid_y = point(0.5 * (y.low + y.high));
    const real middle = 0.5 * (mid_x.low + mid_y.low);
    const Interval net = release_of(stage, subtract(y, x), loss_jet(plant, stage, scale(0.5, add(x, y))).value);
    const Interval brings = {LOW(stage->free_lower), HIGH(stage->free_upper)};
    const Interval limits = {LOW(stage->release_lower), most_released(stage, y)};
    const bool by_release = brings.high - brings.low > net.high - net.low;
    Interval range = {greater(limits.low, below(brings.low + net.low)), lesser(limits.high, above(brings.high + net.high))};
    real best = best_release(told, middle);
    if (!by_release) {
        range.low = greater(brings.low, below(limits.low - net.high));
        range.high = lesser(brings.high, above(limits.high - net.low));
        const Interval lost = loss_jet(plant, stage, point(middle)).value;
        best -= release_of(stage, point(mid_y.low - mid_x.low), lost).low;
    }
    if (range.low > range.high) return -INFINITY;
    bool loose;
    const real known = by_mean(stage, told, x, y, base, slope_x, slope_y, &loose);
    if (known < INFINITY && !loose) {
        const real start = best_release(told, 0.5 * (x.low + y.low)), end = best_release(told, 0.5 * (x.high + y.high));
        if (brings.low <= lesser(start, end) - net.high && greater(start, end) - net.low <= brings.high) return known;
    }
    best = lesser(greater(best, range.low), range.high);

    Side side = {range, best, by_release};
    int next = WHOLE, parts = 0;
    real least = known, floor = 0.0, above_floor = 0.0, bound = 0.0, edge = best, end = best, far = best, width = 0.0;
    const real narrowest = NARROWEST * (range.high - range.low);
    for (;;) {
        const bool at_middle = next == BEST_AT_MIDDLE;
        const real found =
            bound_on(plant, stage, at_middle ? mid_x : x, at_middle ? mid_y : y, base, slope_x, slope_y, side);
        if (next == WHOLE) {
            least = lesser(known, found);
            if (!(range.low < range.high) || found == -INFINITY) return least;
            side.part = point(best);
            next = BEST;
            continue;
        }
        if (next == BEST) {
            floor = found;
            next = BEST_AT_MIDDLE;
            continue;
        }
        if (next == BEST_AT_MIDDLE) {
            above_floor = greater(LOW(stage->free_slack), -OF_LOSS * floor);
            // Else no step is at the middle, as just below dead storage.
            if (found > -INFINITY) above_floor = greater(ENOUGH * (floor - found), above_floor);
            if (!(least > floor + above_floor)) return least;
            bound = floor;
            end = range.high;
            width = fabs(end - best);
        } else if (next == FAR_END) {
            floor = greater(floor, found);
        } else {
            ++parts;
            if (isnan(found)) return least;  // no number, which none is larger than
            if (found > greater(bound, floor + above_floor) && width > narrowest && parts < MOST_PARTS) {
                width = width / NARROWER;
                above_floor = MORE_FOR_NARROWER * above_floor;
                side = (Side){point(far), far, by_release};
                next = FAR_END;
                continue;
            }
            bound = greater(bound, found);
            edge = far;
            width = 2.0 * width;
        }
        if (edge == end) {
            if (end == range.low) return lesser(known, bound);
            edge = best;
            end = range.low;
            width = fabs(end - best);
            if (edge == end) return lesser(known, bound);
        }
        const real left = fabs(end - edge);
        width = parts >= MOST_PARTS ? left : lesser(width, left);
        far = width == left ? end : end > edge ? edge + width : edge - width;
        side = (Side){{lesser(edge, far), greater(edge, far)}, edge, by_release};
        next = PART;
    }
}

real bracket_bound(const Plant *plant, const StageAt stage, const ToldAt told, const Interval x, const Interval y,
                   const real base, const real slope_x, const real slope_y) {
    return over_flows(plant, stage, told, x, y, base, slope_x, slope_y);
}
