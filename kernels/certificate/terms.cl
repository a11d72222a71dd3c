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
// With FREE, what the turbines take and what the free flow has to spare add five sums to the value, and to levels and
// their sums: less than 32 and 64.
#ifdef SINGLE
#ifdef FREE
#define ROUNDING 0x1p-19f
#define ROUNDING_OF_LEVELS 0x1p-18f
#else
#define ROUNDING 0x1p-20f
#define ROUNDING_OF_LEVELS 0x1p-19f
#endif
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
        const real share = best_step(moved(base, worth, one), along, 1.0, box->sides);
        const Affine found = mixed(one, share, other);
        const real value = largest(moved(base, worth, found), box->sides);
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

// Adds what a limit of a flow has to spare, times the best weight up to a heaviest, which is returned.
APART real spare_flow(Sum *sum, const Affine mix, const Affine spare, const Affine flow, const real limit,
                      const real heaviest, const Geometry *box) {
    const Affine total = moved(sum->base, sum->worth, mix);
    const real weight = best_step(total, spare, heaviest, box->sides);
    sum->base = moved(sum->base, weight, spare);
    sum->size += weight * size_of(with_value(flow, fabs(flow.value) + fabs(limit) + LEAST_SIZE), box);
    return weight;
}

// Adds what power is above a level, times the best weight, which is returned.
real spare_power(Sum *sum, const Affine mix, const real level, const real most, const Geometry *box) {
    const Affine total = moved(sum->base, sum->worth, mix);
    const real weight = best_step(total, with_value(mix, mix.value - level), most, box->sides);
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

#ifdef FREE
// Bounds of the free flow and of its negative, and of the three flows of which the turbines take the least, if that is
// paid.
typedef struct {
    Affine most, negative;
    Powers turbined;
    bool paid;
} Brought;

// A function plus another one times a price that is not negative.
Affine at_price(const Affine a, const Interval price, const Affine along, const Geometry *box) {
    Affine found = moved(a, price.low, along);
#ifdef SINGLE
    const real more = above(above(price.high - price.low) * above(1.0001f * size_of(along, box) + TINY));
    found.value = above(found.value + more);
#endif
    return found;
}

// Size of a price.
Interval unsigned_of(const Interval price) { return price.high > 0.0 ? price : negative(price); }

// Values with what the free flow costs and the release is paid, and more than what that rounds.
Affine priced(const StageAt stage, const Affine values, const Affine flow, const Affine minus, const Brought *brought,
              const Geometry *box) {
    const Interval price = GIVEN(stage->free_price), paid = GIVEN(stage->release_paid);
    const Affine charged = price.high > 0.0 ? brought->negative : brought->most;
    const Affine released = paid.high > 0.0 ? flow : minus;
    real size = fabs(values.value) + magnitude(price) * size_of(charged, box) + magnitude(paid) * size_of(released, box);
#ifdef SINGLE
    size += LEAST_SIZE * (1.0f + extent(box)) * (1.0f + magnitude(price) + magnitude(paid));
#endif
    const real spare = above(greater(paid.high, 0.0) * HIGH(stage->spare));
    Affine own = with_value(values, UP(UP(values.value + UP(ROUNDING * size)) + spare));
    own = at_price(own, unsigned_of(price), charged, box);
    return at_price(own, unsigned_of(paid), released, box);
}

// Adds what is paid for what the turbines take, which is no more than a weighted sum of three flows.
void add_turbined(Sum *sum, const StageAt stage, const Affine mix, const Powers *turbined, const Geometry *box) {
    const Interval paid = GIVEN(stage->turbined_paid);
    const Affine taken = best_mix(moved(sum->base, sum->worth, mix), paid.high, turbined, box);
    sum->base = at_price(sum->base, paid, taken, box);
#ifdef SINGLE
    const Affine all[3] = {turbined->made, turbined->taken, turbined->installed};
    real most = 0.0;
    for (int which = 0; which < 3; ++which)
        if (all[which].value < INFINITY) most = greater(most, size_of(all[which], box));
    sum->size += paid.high * (most + LEAST_SIZE * (1.0f + extent(box)));
#else
    sum->size += paid.high * (size_of(taken, box) + size_of(turbined->made, box));
#endif
}

// Adds what the bounds of the free flow have to spare, times the best weights.
void add_brought(Sum *sum, const StageAt stage, const Affine mix, const Brought *brought, const Geometry *box) {
    const real lower = LOW(stage->free_lower), upper = HIGH(stage->free_upper);
    const Affine most = brought->most, minus = brought->negative;
    spare_flow(sum, mix, with_value(most, most.value - lower), most, lower, INFINITY, box);
    spare_flow(sum, mix, with_value(minus, minus.value + upper), minus, upper, INFINITY, box);
}
#endif

// Bound of the bracket with bounds of power; with the most that missed power costs, or without a most.
APART real bound_of_terms(const StageAt stage, const Affine values, const Powers *powers, const Affine flow,
                          const Affine minus, const real least, const real heaviest, const Geometry *box,
                          const bool most_cost AND_FLOW(const Brought *brought)) {
    const real of_made = largest(powers->made, box->sides), of_taken = largest(powers->taken, box->sides);
    const real most_power = lesser(lesser(of_made, of_taken), largest(powers->installed, box->sides));
    if (most_power * (1.0 + 1e-12) < LOW(stage->power_lower)) return -INFINITY;
    const Tangent tangent = tangent_at(stage, powers, most_power, most_cost);
    Sum sum = {with_value(values, values.value + tangent.level + HIGH(stage->offset)), tangent.worth, tangent.kinked,
               tangent.size};
    add_supply(&sum, stage, flow, box);

    const real most = HIGH(stage->release_upper);
    const Affine spare_low = with_value(flow, flow.value - least);
    const Affine spare_high = with_value(minus, minus.value + most);
    real left = heaviest;  // what is to spare of the least release may weigh yet: what missing it costs, or no limit
    Affine mix = best_mix(sum.base, sum.worth, powers, box);
#ifdef FREE
    if (brought->paid) add_turbined(&sum, stage, mix, &brought->turbined, box);
#endif
    for (int round = 0; round < 2; ++round) {
        left -= spare_flow(&sum, mix, spare_low, flow, least, left, box);
        spare_flow(&sum, mix, spare_high, minus, most, INFINITY, box);
#ifdef FREE
        add_brought(&sum, stage, mix, brought, box);
#endif
        if (sum.kinked > 0.0) sum.kinked -= spare_power(&sum, mix, LOW(stage->power_target), sum.kinked, box);
        if (LOW(stage->power_lower) > 0.0) spare_power(&sum, mix, LOW(stage->power_lower), INFINITY, box);
        mix = best_mix(sum.base, sum.worth, powers, box);
    }

    const real found = largest(moved(sum.base, sum.worth, mix), box->sides);
    const Affine all[3] = {powers->made, powers->taken, powers->installed};
    real largest_power = 0.0;
    for (int which = 0; which < 3; ++which)
        if (all[which].value < INFINITY) largest_power = greater(largest_power, size_of(all[which], box));
#ifdef SINGLE
    const real least_size = LEAST_SIZE * (1.0f + extent(box)) * (1.0f + sum.worth);
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
                      const Affine minus, const real least, const real heaviest,
                      const Geometry *box AND_FLOW(const Brought *brought)) {
    real bound = -INFINITY;
    for (int most_cost = 0; most_cost < 1 + (LOW(stage->power_cost_most) < UNLIMITED); ++most_cost) {
        const real found = bound_of_terms(stage, values, powers, flow, minus, least, heaviest, box,
                                          most_cost AND_FLOW(brought));
        bound = most_cost ? greater(bound, found) : found;
    }
    return bound;
}
