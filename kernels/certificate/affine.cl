// Bounds of functions on a box that are affine. As reservoir/certificate/boxes.py, which see.
//
// With FREE, part of the inflow is free: boxes have a third side then, a part of that flow, or of the release.

#ifdef FREE
#define SIDES 3
#define AND_FLOW(x) , x
#define APART_IF_FREE APART
#else
#define SIDES 2
#define AND_FLOW(x)
#define APART_IF_FREE
#endif

// Half widths of a box, hm3, and m3/s of its third side.
typedef struct {
    real x, y AND_FLOW(flow);
} Halves;

// Value at the middle of the box, and slopes over both storages, and over the free flow: an upper bound on the box.
typedef struct {
    real value, by_x, by_y AND_FLOW(by_flow);
} Affine;

Affine with_value(Affine a, const real value) {
    a.value = value;
    return a;
}

// Largest value on a box of these half widths.
real largest(const Affine a, const Halves sides) {
    const real found = UP(UP(a.value + UP(fabs(a.by_x) * sides.x)) + UP(fabs(a.by_y) * sides.y));
#ifdef FREE
    return UP(found + UP(fabs(a.by_flow) * sides.flow));
#else
    return found;
#endif
}

// A function plus another one times a number.
Affine moved(const Affine a, const real by, const Affine along) {
    return (Affine){a.value + by * along.value, a.by_x + by * along.by_x,
                    a.by_y + by * along.by_y AND_FLOW(a.by_flow + by * along.by_flow)};
}

// Weighted sum of two, by the share of the second.
Affine mixed(const Affine a, const real share, const Affine b) {
    const real rest = 1.0 - share;
    return (Affine){rest * a.value + share * b.value, rest * a.by_x + share * b.by_x,
                    rest * a.by_y + share * b.by_y AND_FLOW(rest * a.by_flow + share * b.by_flow)};
}

Affine difference(const Affine a, const Affine b) {
    return (Affine){a.value - b.value, a.by_x - b.by_x, a.by_y - b.by_y AND_FLOW(a.by_flow - b.by_flow)};
}

Affine scaled(const real factor, const Affine a) {
    return (Affine){factor * a.value, factor * a.by_x, factor * a.by_y AND_FLOW(factor * a.by_flow)};
}

// How far to move along another function, at most, so that the largest value on the box is smallest: convex and
// piecewise linear in it, smallest at 0, at the most, or where one of the slopes vanishes.
APART real best_step(const Affine a, const Affine along, const real most, const Halves sides) {
    const real candidates[SIDES + 1] = {-a.by_x / along.by_x,
                                        -a.by_y / along.by_y AND_FLOW(-a.by_flow / along.by_flow), most};
    real found = 0.0, least = largest(a, sides);
    for (int which = 0; which < SIDES + 1; ++which) {
        const real candidate = candidates[which];
        if (!(0.0 < candidate && candidate <= most && candidate < 1e12)) continue;
        const real value = largest(moved(a, candidate, along), sides);
        if (value < least) {
            found = candidate;
            least = value;
        }
    }
    return found;
}
