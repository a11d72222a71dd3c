// What a step is worth, and the bound of its bracket by weights. As reservoir/certificate/boxes.py, which see. Stands
// behind powers.cl.

// What sums and products of terms round, as a part of the sizes of these. In double more than what some forty
// operations on numbers of one size round. In float each rounds by at most 2^-24 of its result, which is no more than
// all sizes together:
// - The value takes 14 sums: less that at the start, the level, the offset, two of a supply, four of limits in each of
//   two rounds, the worth of power. What `largest` adds is rounded upwards.
// - The worth of power, times the largest power, takes 14 roundings: three of `mixed`, four of the slope of a tangent,
//   four of weights that are added to it, what is left of a kink, a product, a sum.
// - Levels of tangents, and limits times weights, take at most 14 until they are added, then 13 sums; weights of the
//   least release come to more than the heaviest by one rounding at most.
// The first two are less than 16, the third less than 32.
#ifdef SINGLE
#define ROUNDING 0x1p-20f
#define ROUNDING_OF_LEVELS 0x1p-19f
#else
#define ROUNDING 1e-14
#endif

// Tangent of what a step is worth over power: concave, so that it is a bound; at a kink every slope between is one.
typedef struct {
    real level, worth, kinked, size;
} Tangent;

APART Tangent tangent_at(const StageAt stage, const Powers *powers, const real most_power, const bool most_cost) {
    // Each such that the worth of a power, which is not negative, becomes no less.
    const real target = LOW(stage->power_target), worth = HIGH(stage->power_value);
    const real cost = LOW(stage->power_cost), squared = LOW(stage->power_cost_squared);
    real at = greater(lesser(lesser(powers->made.value, powers->taken.value), powers->installed.value), 0.0);
    real worth_here = 0.0;
    Tangent tangent = {-LOW(stage->power_cost_most), worth, 0.0, 0.0};
    if (most_cost) {
        at = 0.0;
    } else {
#ifdef SINGLE
        // A straight line through zero, without a rounding.
        if (!(cost > 0.0f || squared > 0.0f)) return (Tangent){0.0f, worth, 0.0f, fabs(HIGH(stage->offset))};
#endif
        if ((cost > 0.0 && at < target && target < most_power) || (at >= target && cost > 0.0)) {
            tangent.kinked = cost;
            at = target;
        }
        const real below_target = greater(target - at, 0.0);
        const real slope = worth + 2.0 * squared * below_target + (below_target > 0.0 ? cost : 0.0);
        worth_here = worth * at - (squared * below_target + cost) * below_target;
        tangent.level = worth_here - slope * at;
        tangent.worth = slope;
    }
    tangent.size = fabs(worth_here) + tangent.worth * at + fabs(tangent.level) + fabs(HIGH(stage->offset));
    return tangent;
}

// The weighted sum of powers that bounds their minimum best, with what is added to it.
APART Affine best_mix(const Affine base, const real worth, const Powers *powers, const Geometry *box) {
    const Affine ones[3] = {powers->made, powers->made, powers->taken};
    const Affine others[3] = {powers->taken, powers->installed, powers->installed};
    Affine best = powers->made;
    real least = INFINITY;
    for (int which = 0; which < 3; ++which) {
        const Affine one = ones[which], other = others[which];
        const Affine along = scaled(worth, difference(other, one));
        const real share = best_step(moved(base, worth, one), along, 1.0, box->half_x, box->half_y);
        const Affine found = mixed(one, share, other);
        const real value = largest(moved(base, worth, found), box->half_x, box->half_y);
        if (value < least) {
            best = found;
            least = value;
        }
    }
    return best;
}

// The bound so far: an affine function and what power is worth beside it, with the sizes of the numbers in it.
typedef struct {
    Affine base;
    real worth, kinked, size;
} Sum;

// Adds what a limit of the release has to spare, times the best weight up to a heaviest, which is returned.
APART real spare_release(Sum *sum, const Affine mix, const Affine spare, const Affine flow, const real limit,
                         const real heaviest, const Geometry *box) {
    const Affine total = moved(sum->base, sum->worth, mix);
    const real weight = best_step(total, spare, heaviest, box->half_x, box->half_y);
    sum->base = moved(sum->base, weight, spare);
    const real level = fabs(flow.value) + fabs(limit) + LEAST_SIZE;
    sum->size += weight * (level + fabs(flow.by_x) * box->half_x + fabs(flow.by_y) * box->half_y);
    return weight;
}

// Adds what power is above a level, times the best weight, which is returned.
real spare_power(Sum *sum, const Affine mix, const real level, const real most, const Geometry *box) {
    const Affine spare = {mix.value - level, mix.by_x, mix.by_y};
    const Affine total = moved(sum->base, sum->worth, mix);
    const real weight = best_step(total, spare, most, box->half_x, box->half_y);
    sum->base.value = sum->base.value - weight * level;
    sum->worth = sum->worth + weight;
    sum->size += weight * level;
    return weight;
}

// Adds what a shortage of supply costs, by its tangent.
void add_supply(Sum *sum, const StageAt stage, const Affine flow, const Geometry *box) {
    const real target = LOW(stage->supply_target), rate = LOW(stage->supply_cost_squared);
    const real supply = greater(target - flow.value, 0.0);
    if (!(rate > 0.0)) return;
    const real tangent = 2.0 * rate * supply, at_flow = target - supply;
    const real level = -rate * supply * supply - tangent * (at_flow - HIGH(stage->spare));
    sum->base.value = sum->base.value + level;
    sum->base = moved(sum->base, tangent, flow);
#ifdef SINGLE
    sum->size += tangent * HIGH(stage->spare);
#endif
    sum->size += fabs(level) + tangent * size_of(flow, box);
}

// Bound of the bracket with bounds of power; with the most that missed power costs, or without a most.
APART real bound_of_terms(const StageAt stage, const Affine values, const Powers *powers, const Affine flow,
                          const Affine minus, const real least, const real heaviest, const Geometry *box,
                          const bool most_cost) {
    const real half_x = box->half_x, half_y = box->half_y;
    const real of_made = largest(powers->made, half_x, half_y), of_taken = largest(powers->taken, half_x, half_y);
    const real most_power = lesser(lesser(of_made, of_taken), largest(powers->installed, half_x, half_y));
    if (most_power * (1.0 + 1e-12) < LOW(stage->power_lower)) return -INFINITY;
    const Tangent tangent = tangent_at(stage, powers, most_power, most_cost);
    Sum sum = {{values.value + tangent.level + HIGH(stage->offset), values.by_x, values.by_y},
               tangent.worth, tangent.kinked, tangent.size};
    add_supply(&sum, stage, flow, box);

    const real most = HIGH(stage->release_upper);
    const Affine spare_low = {flow.value - least, flow.by_x, flow.by_y};
    const Affine spare_high = {minus.value + most, minus.by_x, minus.by_y};
    real left = heaviest;  // what is to spare of the least release may weigh yet: what missing it costs, or no limit
    Affine mix = best_mix(sum.base, sum.worth, powers, box);
    for (int round = 0; round < 2; ++round) {
        left -= spare_release(&sum, mix, spare_low, flow, least, left, box);
        spare_release(&sum, mix, spare_high, minus, most, INFINITY, box);
        if (sum.kinked > 0.0) sum.kinked -= spare_power(&sum, mix, LOW(stage->power_target), sum.kinked, box);
        if (LOW(stage->power_lower) > 0.0) spare_power(&sum, mix, LOW(stage->power_lower), INFINITY, box);
        mix = best_mix(sum.base, sum.worth, powers, box);
    }

    const real found = largest(moved(sum.base, sum.worth, mix), half_x, half_y);
    const Affine all[3] = {powers->made, powers->taken, powers->installed};
    real largest_power = 0.0;
    for (int which = 0; which < 3; ++which)
        if (all[which].value < INFINITY) largest_power = greater(largest_power, size_of(all[which], box));
#ifdef SINGLE
    const real least_size = LEAST_SIZE * (1.0f + half_x + half_y) * (1.0f + sum.worth);
    const real rounded = ROUNDING * (size_of(values, box) + sum.worth * largest_power + least_size);
    const real bound = above(found + above(rounded + ROUNDING_OF_LEVELS * sum.size));
    return isnan(bound) ? INFINITY : bound;  // else the greater of two could be the other one
#else
    real size = sum.size + size_of(values, box);
    size += sum.worth * size_of(mix, box);
    return found + ROUNDING * (size + sum.worth * largest_power);
#endif
}

// The same for either cost: one that has a most is the lesser of two, and both are bounded.
real bound_with_costs(const StageAt stage, const Affine values, const Powers *powers, const Affine flow,
                      const Affine minus, const real least, const real heaviest, const Geometry *box) {
    real bound = -INFINITY;
    for (int most_cost = 0; most_cost < 1 + (LOW(stage->power_cost_most) < UNLIMITED); ++most_cost) {
        const real found = bound_of_terms(stage, values, powers, flow, minus, least, heaviest, box, most_cost);
        bound = most_cost ? greater(bound, found) : found;
    }
    return bound;
}
