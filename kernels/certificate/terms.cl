// What a step is worth, and the bound of its bracket by weights. As reservoir/certificate/box.py, which see. Stands
// behind powers.cl.

// More than what some forty operations on numbers of one size round, as a part of it; and in place of no limit of a
// cost.
#define ROUNDING 1e-14
#define UNLIMITED 1e29

// Sizes of the terms of an affine function on a box, added.
double size_of(const Affine a, const Geometry *box) {
    return fabs(a.value) + fabs(a.by_x) * box->half_x + fabs(a.by_y) * box->half_y;
}

// Tangent of what a step is worth over power: concave, so that it is a bound; at a kink every slope between is one.
typedef struct {
    double level, worth, kinked, size;
} Tangent;

APART Tangent tangent_at(const StageAt stage, const Powers *powers, const double most_power, const bool most_cost) {
    const double target = stage->power_target, worth = stage->power_value;
    const double cost = stage->power_cost, squared = stage->power_cost_squared;
    double at = greater(lesser(lesser(powers->made.value, powers->taken.value), powers->installed.value), 0.0);
    double worth_here = 0.0;
    Tangent tangent = {-stage->power_cost_most, worth, 0.0, 0.0};
    if (most_cost) {
        at = 0.0;
    } else {
        if ((cost > 0.0 && at < target && target < most_power) || (at >= target && cost > 0.0)) {
            tangent.kinked = cost;
            at = target;
        }
        const double below_target = greater(target - at, 0.0);
        const double slope = worth + 2.0 * squared * below_target + (below_target > 0.0 ? cost : 0.0);
        worth_here = worth * at - (squared * below_target + cost) * below_target;
        tangent.level = worth_here - slope * at;
        tangent.worth = slope;
    }
    tangent.size = fabs(worth_here) + tangent.worth * at + fabs(tangent.level) + fabs(stage->offset);
    return tangent;
}

// The weighted sum of powers that bounds their minimum best, with what is added to it.
APART Affine best_mix(const Affine base, const double worth, const Powers *powers, const Geometry *box) {
    const Affine ones[3] = {powers->made, powers->made, powers->taken};
    const Affine others[3] = {powers->taken, powers->installed, powers->installed};
    Affine best = powers->made;
    double least = INFINITY;
    for (int which = 0; which < 3; ++which) {
        const Affine one = ones[which], other = others[which];
        const Affine along = scaled(worth, difference(other, one));
        const double share = best_step(moved(base, worth, one), along, 1.0, box->half_x, box->half_y);
        const Affine found = mixed(one, share, other);
        const double value = largest(moved(base, worth, found), box->half_x, box->half_y);
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
    double worth, kinked, size;
} Sum;

// Adds what a limit of the release has to spare, times the best weight.
APART void spare_release(Sum *sum, const Affine mix, const Affine spare, const Affine flow, const double limit,
                   const Geometry *box) {
    const Affine total = moved(sum->base, sum->worth, mix);
    const double weight = best_step(total, spare, INFINITY, box->half_x, box->half_y);
    sum->base = moved(sum->base, weight, spare);
    const double level = fabs(flow.value) + fabs(limit);
    sum->size += weight * (level + fabs(flow.by_x) * box->half_x + fabs(flow.by_y) * box->half_y);
}

// Adds what power is above a level, times the best weight, which is returned.
double spare_power(Sum *sum, const Affine mix, const double level, const double most, const Geometry *box) {
    const Affine spare = {mix.value - level, mix.by_x, mix.by_y};
    const Affine total = moved(sum->base, sum->worth, mix);
    const double weight = best_step(total, spare, most, box->half_x, box->half_y);
    sum->base.value = sum->base.value - weight * level;
    sum->worth = sum->worth + weight;
    sum->size += weight * level;
    return weight;
}

// Adds what a shortage of supply costs, by its tangent.
void add_supply(Sum *sum, const StageAt stage, const Affine flow, const Geometry *box) {
    const double supply = greater(stage->supply_target - flow.value, 0.0), rate = stage->supply_cost_squared;
    if (!(rate > 0.0)) return;
    const double tangent = 2.0 * rate * supply, at_flow = stage->supply_target - supply;
    const double level = -rate * supply * supply - tangent * (at_flow - stage->spare);
    sum->base.value = sum->base.value + level;
    sum->base = moved(sum->base, tangent, flow);
    sum->size += fabs(level) + tangent * size_of(flow, box);
}

// Bound of the bracket with bounds of power; with the most that missed power costs, or without a most.
APART double bound_of_terms(const StageAt stage, const Affine values, const Powers *powers, const Affine flow,
                      const Affine minus, const Geometry *box, const bool most_cost) {
    const double half_x = box->half_x, half_y = box->half_y;
    const double of_made = largest(powers->made, half_x, half_y), of_taken = largest(powers->taken, half_x, half_y);
    const double most_power = lesser(lesser(of_made, of_taken), largest(powers->installed, half_x, half_y));
    if (most_power * (1.0 + 1e-12) < stage->power_lower) return -INFINITY;
    const Tangent tangent = tangent_at(stage, powers, most_power, most_cost);
    Sum sum = {{values.value + tangent.level + stage->offset, values.by_x, values.by_y},
               tangent.worth, tangent.kinked, tangent.size};
    add_supply(&sum, stage, flow, box);

    const double least = stage->least, most = stage->most;
    const Affine spare_low = {flow.value - least, flow.by_x, flow.by_y};
    const Affine spare_high = {minus.value + most, minus.by_x, minus.by_y};
    Affine mix = best_mix(sum.base, sum.worth, powers, box);
    for (int round = 0; round < 2; ++round) {
        spare_release(&sum, mix, spare_low, flow, least, box);
        spare_release(&sum, mix, spare_high, minus, most, box);
        if (sum.kinked > 0.0) sum.kinked -= spare_power(&sum, mix, stage->power_target, sum.kinked, box);
        if (stage->power_lower > 0.0) spare_power(&sum, mix, stage->power_lower, INFINITY, box);
        mix = best_mix(sum.base, sum.worth, powers, box);
    }

    const double found = largest(moved(sum.base, sum.worth, mix), half_x, half_y);
    double size = sum.size + size_of(values, box), largest_power = 0.0;
    size += sum.worth * size_of(mix, box);
    const Affine all[3] = {powers->made, powers->taken, powers->installed};
    for (int which = 0; which < 3; ++which)
        if (all[which].value < INFINITY) largest_power = greater(largest_power, size_of(all[which], box));
    return found + ROUNDING * (size + sum.worth * largest_power);
}

// The same for either cost: one that has a most is the lesser of two, and both are bounded.
double bound_with_costs(const StageAt stage, const Affine values, const Powers *powers, const Affine flow,
                        const Affine minus, const Geometry *box) {
    double bound = -INFINITY;
    for (int most_cost = 0; most_cost < 1 + (stage->power_cost_most < UNLIMITED); ++most_cost) {
        const double found = bound_of_terms(stage, values, powers, flow, minus, box, most_cost);
        bound = most_cost ? greater(bound, found) : found;
    }
    return bound;
}
