// The best paths of reservoirs of a system by themselves, at prices of the water of links: dynamic programming over storages
// that are given, with a free flow. reservoir/solvers/dp/free_flow.py, best_value in reservoir/solvers/dp/recursion.py and
// reservoir/certificate/tables.py are the same on the host. A work group has a problem, a reservoir of a year at its prices. What it
// finds are hints for a proof: any prices give a bound.
//
// Constants (reservoir/certificate/paths_on_device.py): ITEMS of a group; NODES, TRIED and DIVISIONS of best releases; STRIDE and
// END_DIVISIONS of best ends; SHORTER, of a golden section; DEAR, by how much more paths pay for demands that are missed than best
// releases; MISSED; KEPT, the part of a demand that may be missed; PROBLEM numbers of a problem, and where they stand. Stands behind given_curves.cl.

#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void

// A step at its prices, and what counts as nothing of the cost of demands that are missed. Prices are of a m3/s that flows in freely, of one that is released, of one that the turbines take, and of a MW.
typedef struct {
    Step step;
    REAL tailwater, lower, upper, price, paid, turbined, power, first, per_hm3, as_none, dear;
    __global const REAL *best, *tables;
} Priced;

// What a step is worth, or a release, or an end; and which.
typedef struct {
    REAL worth, of;
} Found;

Priced priced_step(const int number, __global const REAL *year, __global const REAL *problem, __global const REAL *best,
                   __global const REAL *tables) {
#define OF_STEP(name) problem[(name) + number]
    Priced found = {year_step(number, year), OF_STEP(LEVEL_BELOW), OF_STEP(FREE_LOWER), OF_STEP(FREE_UPPER),
                    OF_STEP(FREE_PRICE), OF_STEP(RELEASE_PAID), OF_STEP(TURBINED_PAID), OF_STEP(POWER_PAID),
                    problem[FIRST_NODE], problem[NODES_PER_HM3], KEPT * year[PENALTY], 1, best + number * NODES, tables};
    found.step.installed = OF_STEP(MOST_POWER);
#if CONDITIONS
    found.step.power_lower = OF_STEP(LOWEST_POWER);
#endif
    return found;
#undef OF_STEP
}

// Power of a release, and what the turbines take of it.
REAL power_of(const Priced *at, const REAL mean_storage, const REAL release, REAL *turbined) {
    __global const REAL *tables = at->tables;
    const Step step = at->step;
    const REAL head = GIVEN(level, mean_storage) - fmax(GIVEN(tailrace, release), at->tailwater);
    if (turbined) *turbined = WHILE_OPERATING(REAL, step, mean_storage, turbined_in(tables, head, release, step));
    return WHILE_OPERATING(REAL, step, mean_storage, POWER_AT_HEAD(GIVEN, fmin, REAL, head, release, step));
}

// What a draft is worth that is paid, and pays for all of itself.
REAL worth_of(const Priced *at, const REAL mean_storage, const REAL draft) {
    const Step step = at->step;
    const REAL release = RELEASED(REAL, draft, step);
    REAL turbined = 0;
    const REAL power = power_of(at, mean_storage, release, at->turbined != 0 ? &turbined : 0);
    REAL worth = STAGE_BENEFIT(REAL, power, release, step, step.per_flow * PER_STAGE_BENEFIT);
    REAL unmet = missing_cost(draft, step);
    unmet = unmet > at->as_none ? unmet : 0;
#if CONDITIONS
    const REAL more = unmet_cost(draft, power, step);
    unmet += more > at->as_none ? more : 0;
#endif
    return worth - at->dear * unmet + (at->paid - at->price) * draft + at->turbined * turbined + at->power * power;
}

// The best release at a node of the mean storage where nothing else limits it.
REAL best_of_node(const Priced *at, const int node) {
    const REAL storage = at->first + node / at->per_hm3, lower = at->step.least, upper = at->step.most;
    const REAL width = (upper - lower) / (TRIED - 1);
    REAL found = lower, most = -INFINITY;
    for (int place = 0; place < TRIED; ++place) {
        const REAL release = lower + place * width, worth = worth_of(at, storage, release);
        if (worth > most) found = release, most = worth;
    }
    REAL low = fmax(found - width, lower), high = fmin(found + width, upper);
    REAL left = low + SHORTER * (high - low), right = high - SHORTER * (high - low);
    REAL of_left = worth_of(at, storage, left), of_right = worth_of(at, storage, right);
    for (int divided = 0; divided < DIVISIONS; ++divided) {
        const bool to_left = of_left > of_right;
        if (to_left) {
            high = right, right = left, of_right = of_left;
            left = low + SHORTER * (high - low);
        } else {
            low = left, left = right, of_left = of_right;
            right = high - SHORTER * (high - low);
        }
        const REAL worth = worth_of(at, storage, to_left ? left : right);
        if (to_left) of_left = worth;
        else of_right = worth;
    }
    if (fmax(of_left, of_right) > most) found = of_left > of_right ? left : right;
    return found;
}

// Release less what flows in freely that ends a step at a storage.
REAL net_between(const Priced *at, const REAL storage, const REAL end) {
    __global const REAL *tables = at->tables;
    const Step step = at->step;
    return RELEASE_TO_REACH(storage, LOSSLESS(GIVEN, REAL, step, storage, end), step.inflow, step.per_volume);
}

REAL end_with(const Priced *at, const REAL storage, const REAL net) {
    return end_in(at->tables, storage, STORAGE_AFTER(storage, at->step.inflow, net, at->step.per_flow), at->step);
}

// Up to where an end of a step is below dead storage, and not at it by rounding.
REAL below_dead(const Priced *at) { return at->step.dead - 1e-9 * (fabs(at->step.dead) + 1); }

// The draft that takes no water.
REAL at_rest(const Priced *at) {
#if CONDITIONS
    return NOTHING(at->step);
#else
    return 0;
#endif
}

// The best release of a step that releases so much more than flows in freely, and what that is worth.
Found best_flow(const Priced *at, const REAL storage, const REAL end, const REAL net) {
    REAL lower = fmax(at->step.least, net + at->lower), upper = fmin(at->step.most, net + at->upper);
    if (end <= below_dead(at)) upper = fmin(upper, at_rest(at)); // where only losses lead
    if (!(lower < upper)) lower = upper = (lower + upper) / 2;
    const REAL mean_storage = (storage + end) / 2;
    const REAL place = fmin(fmax((mean_storage - at->first) * at->per_hm3, (REAL)0), (REAL)(NODES - 1));
    const int left = min((int)place, NODES - 2);
    const REAL best = FUSED(place - left, at->best[left + 1] - at->best[left], at->best[left]);
    const REAL tried[3] = {fmin(fmax(best, lower), upper), lower, upper};
    Found found = {-INFINITY, 0};
    for (int which = 0; which < 3; ++which) {
        if (which > 0 && tried[which] == tried[0]) continue;
        const REAL worth = worth_of(at, mean_storage, tried[which]);
        if (worth > found.worth) found.worth = worth, found.of = tried[which];
    }
    found.worth += at->price * net;
    return found;
}

// Storages that can be where a step ends, and their values.
typedef struct {
    __global const REAL *storage, *value;
    int states;
} Row;

// Last state but one, or an earlier one, that is not above a storage.
int cell_of(const Row *row, const REAL storage) {
    int low = 0, high = row->states - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (row->storage[middle] <= storage) low = middle;
        else high = middle;
    }
    return low;
}

REAL value_at(const Priced *at, const Row *row, const REAL storage, const REAL end) {
    const int left = cell_of(row, end);
    const REAL width = row->storage[left + 1] - row->storage[left];
    const REAL part = width > 0 ? fmin(fmax((end - row->storage[left]) / width, (REAL)0), (REAL)1) : 0;
    const REAL later = row->value[left] + part * (row->value[left + 1] - row->value[left]);
    return best_flow(at, storage, end, net_between(at, storage, end)).worth + later;
}

// Value of a storage with the best end of the step between two, and that end.
Found best_end(const Priced *at, const Row *row, const REAL storage, const REAL lowest, const REAL highest) {
    const int last = row->states - 1, inside = cell_of(row, lowest) + 1;
    Found found = {value_at(at, row, storage, lowest), lowest};
    REAL low = lowest, high = fmin(row->storage[min(inside + STRIDE, last)], highest);
    for (int following = inside; following <= last && row->storage[following] < highest; following += STRIDE) {
        const REAL end = row->storage[following], worth = value_at(at, row, storage, end);
        if (!(worth > found.worth)) continue;
        found.worth = worth, found.of = end;
        low = fmax(row->storage[max(following - STRIDE, 0)], lowest);
        high = fmin(row->storage[min(following + STRIDE, last)], highest);
    }
    const REAL of_highest = value_at(at, row, storage, highest);
    if (of_highest > found.worth) {
        found.worth = of_highest, found.of = highest;
        low = fmax(row->storage[max(cell_of(row, highest) - STRIDE, 0)], lowest), high = highest;
    }
    REAL left = low + SHORTER * (high - low), right = high - SHORTER * (high - low);
    REAL of_left = value_at(at, row, storage, left), of_right = value_at(at, row, storage, right);
    for (int divided = 0; divided < END_DIVISIONS; ++divided) {
        const bool to_left = of_left > of_right;
        if (to_left) {
            high = right, right = left, of_right = of_left;
            left = low + SHORTER * (high - low);
        } else {
            low = left, left = right, of_left = of_right;
            right = high - SHORTER * (high - low);
        }
        const REAL worth = value_at(at, row, storage, to_left ? left : right);
        if (to_left) of_left = worth;
        else of_right = worth;
    }
    const REAL worth = fmax(of_left, of_right);
    if (worth > found.worth) found.worth = worth, found.of = of_left > of_right ? left : right;
    return found;
}

// Lowest and highest storage that a step can end at, its release beyond its bounds by no more than rounding, at dead storage
// and above, or sunk below it; crossed if none. Only losses lead below: all stays there that flows in, and no least release is kept.
typedef struct {
    REAL lowest, highest;
} Ends;

Ends ends_of(const Priced *at, const REAL storage, const REAL largest, const int sunk) {
    const REAL rounding = 1e-8 * (fabs(largest) + 1) / at->step.per_flow;
    Ends found = {end_with(at, storage, at->step.most - at->lower + rounding),
                  end_with(at, storage, at->step.least - at->upper - rounding)};
    if (!sunk) {
        found.lowest = fmax(found.lowest, at->step.dead);
    } else if (found.lowest > below_dead(at) || at->step.least > at_rest(at) + rounding) {
        found.lowest = INFINITY, found.highest = -INFINITY;
    } else {
        found.lowest = fmax(found.lowest, end_with(at, storage, at_rest(at) - at->lower + rounding));
        found.highest = fmin(found.highest, below_dead(at));
    }
    return found;
}

REAL slope_between(const Row *row, const int low, const int high) {
    const REAL width = row->storage[high] - row->storage[low];
    return width > 0 ? (row->value[high] - row->value[low]) / width : 0;
}

// Value of a state below the first, or above the last, that has an end: on in a line.
REAL beyond(const Row *row, const int state, const int first, const int last) {
    int inner = state < first ? first + 1 : last - 1;
    if (state < first) {
        while (inner < last && !(row->storage[inner] > row->storage[first])) ++inner;
        const REAL slope = slope_between(row, first, min(inner, last));
        return row->value[first] + slope * (row->storage[state] - row->storage[first]);
    }
    while (inner > first && !(row->storage[inner] < row->storage[last])) --inner;
    return row->value[last] + slope_between(row, max(inner, first), last) * (row->storage[state] - row->storage[last]);
}

// Of each problem, `places` has where its year, curves and storages begin, and how many states a step has.
GROUP_KERNEL best_paths(__global const int4 *places, __global const REAL *years, __global const REAL *curves,
                        __global const REAL *grids, __global const REAL *problems, __global REAL *all_values,
                        __global REAL *all_best, __global REAL *storages, __global REAL *flows, __global REAL *worth) {
    const int item = get_local_id(0), group = get_group_id(0);
    const int4 place = places[group];
    __global const REAL *year = years + place.x, *tables = curves + place.y, *grid = grids + place.z;
    __global const REAL *problem = problems + (size_t)group * PROBLEM;
    __global REAL *values = all_values + place.z, *best = all_best + (size_t)group * STEPS * NODES;
    const int states = place.w;
    __local int ends[2];
    FOR_SHARE (int pair = item; pair < STEPS * NODES; pair += ITEMS) {
        const Priced at = priced_step(pair / NODES, year, problem, best, tables);
        best[pair] = best_of_node(&at, pair % NODES);
    }
    FOR_SHARE (int state = item; state < states; state += ITEMS)
        values[STEPS * states + state] = problem[WORTH_OF_END] * grid[STEPS * states + state];
    GROUP_BARRIER(ALL_MEMORY);
    int low = 0, high = states - 1; // of the states that the next step can begin with
    for (int number = STEPS - 1; number >= 0; --number) {
        __global const REAL *here = grid + number * states;
        __global REAL *values_here = values + number * states;
        const Row row = {here + states, values_here + states, states}, own = {here, values_here, states};
        Priced at = priced_step(number, year, problem, best, tables);
        at.dear = DEAR;
        if (item == 0) ends[0] = states, ends[1] = -1;
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
        FOR_SHARE (int state = item; state < states; state += ITEMS) {
            REAL value = -INFINITY;
            for (int sunk = 0; sunk < 2; ++sunk) {
                const Ends reach = ends_of(&at, here[state], here[states - 1], sunk);
                const REAL lowest = fmax(reach.lowest, row.storage[low]), highest = fmin(reach.highest, row.storage[high]);
                if (lowest <= highest) value = fmax(value, best_end(&at, &row, here[state], lowest, highest).worth);
            }
            values_here[state] = value;
            if (value > -INFINITY) {
                atomic_min(&ends[0], state);
                atomic_max(&ends[1], state);
            }
        }
        GROUP_BARRIER(ALL_MEMORY);
        const int first = ends[0], last = ends[1];
        FOR_SHARE (int state = item; state < states; state += ITEMS) {
            if (last < 0) values_here[state] = row.value[state];
            else if (state < first || state > last) values_here[state] = beyond(&own, state, first, last);
        }
        low = last < 0 ? states - 1 : first;
        high = last < 0 ? states - 1 : last;
        GROUP_BARRIER(ALL_MEMORY);
    }
    if (item > 0) return;
    int start = low <= high ? low : 0; // the best of those with an end; all are one where the start is given
    for (int state = low + 1; state <= high; ++state)
        if (values[state] - problem[WORTH_OF_END] * grid[state] > values[start] - problem[WORTH_OF_END] * grid[start])
            start = state;
    REAL total = 0, storage = storages[(size_t)group * (STEPS + 1)] = grid[start];
    for (int number = 0; number < STEPS; ++number) {
        const Row row = {grid + (number + 1) * states, values + (number + 1) * states, states};
        Priced at = priced_step(number, year, problem, best, tables);
        at.dear = DEAR;
        Found best = {-INFINITY, storage};
        for (int sunk = 0; sunk < 2; ++sunk) {
            Ends reach = ends_of(&at, storage, grid[number * states + states - 1], sunk);
            reach.lowest = fmax(reach.lowest, row.storage[0]), reach.highest = fmin(reach.highest, row.storage[states - 1]);
            if (reach.lowest > reach.highest) {
                if (!(reach.lowest - reach.highest <= MISSED * (fabs(row.storage[states - 1]) + 1))) continue;
                const REAL middle = (reach.lowest + reach.highest) / 2; // rounding alone does not lead below dead storage
                reach.lowest = reach.highest = sunk ? middle : fmax(middle, at.step.dead);
            }
            const Found found = best_end(&at, &row, storage, reach.lowest, reach.highest);
            if (found.worth > best.worth) best = found;
        }
        if (best.worth == -INFINITY) {
            total = -INFINITY;
            break;
        }
        const REAL end = best.of;
        const REAL net = net_between(&at, storage, end);
        const Found chosen = best_flow(&at, storage, end, net);
        const REAL release = RELEASED(REAL, chosen.of, at.step);
        REAL turbined;
        __global REAL *of_step = flows + (size_t)group * 4 * STEPS + number;
        of_step[0] = chosen.of;
        of_step[2 * STEPS] = power_of(&at, (storage + end) / 2, release, &turbined);
        of_step[STEPS] = turbined;
        of_step[3 * STEPS] = chosen.of - net;
        storages[(size_t)group * (STEPS + 1) + number + 1] = storage = end;
        total += chosen.worth;
    }
    worth[group] = total;
}
