// Bounds of functions on a box that are affine. As reservoir/certificate/boxes.py, which see.

// Value at the middle of the box, and slopes over both storages: an upper bound on the box.
typedef struct {
    real value, by_x, by_y;
} Affine;

// Largest value on a box of these half widths.
real largest(const Affine a, const real half_x, const real half_y) {
    return UP(UP(a.value + UP(fabs(a.by_x) * half_x)) + UP(fabs(a.by_y) * half_y));
}

// A function plus another one times a number.
Affine moved(const Affine a, const real by, const Affine along) {
    return (Affine){a.value + by * along.value, a.by_x + by * along.by_x, a.by_y + by * along.by_y};
}

// Weighted sum of two, by the share of the second.
Affine mixed(const Affine a, const real share, const Affine b) {
    const real rest = 1.0 - share;
    return (Affine){rest * a.value + share * b.value, rest * a.by_x + share * b.by_x, rest * a.by_y + share * b.by_y};
}

Affine difference(const Affine a, const Affine b) {
    return (Affine){a.value - b.value, a.by_x - b.by_x, a.by_y - b.by_y};
}

Affine scaled(const real factor, const Affine a) {
    return (Affine){factor * a.value, factor * a.by_x, factor * a.by_y};
}

// How far to move along another function, at most, so that the largest value on the box is smallest: convex and
// piecewise linear in it, smallest at 0, at the most, or where one of the slopes vanishes.
APART real best_step(const Affine a, const Affine along, const real most, const real half_x, const real half_y) {
    const real candidates[3] = {-a.by_x / along.by_x, -a.by_y / along.by_y, most};
    real found = 0.0, least = largest(a, half_x, half_y);
    for (int which = 0; which < 3; ++which) {
        const real candidate = candidates[which];
        if (!(0.0 < candidate && candidate <= most && candidate < 1e12)) continue;
        const real value = largest(moved(a, candidate, along), half_x, half_y);
        if (value < least) {
            found = candidate;
            least = value;
        }
    }
    return found;
}
