// The members of L-SHADE: how they breed, are selected, archived and ranked (Tanabe and Fukunaga 2014).

#define STRIDE (MEMBERS + ARCHIVE) // the archive stands behind the members
#define FOR_DIM for (int d = 0; d < DIM; ++d) // under "#pragma unroll" each: one in a macro is not heeded everywhere

typedef struct {
    reals parent[DIM], child[DIM], fitness;
    ints improved;
} Family;

reals gathered(POOL_SPACE const float *row, const uints places) {
    reals values;
    for (int lane = 0; lane < LANES; ++lane) REAL_OF(values, lane) = row[UINT_OF(places, lane)];
    return values;
}

// Mutation and crossover, current-to-pbest/1/bin; what leaves the bounds comes back half way between the parent and the bound.
void breed(Family *family, const Factors *factors, const uints drawn, const int first, POOL_SPACE const float *pool,
           CONTEXT_SPACE const float *context) {
#pragma unroll
    FOR_DIM {
        POOL_SPACE const float *row = pool + d * STRIDE;
        const float low = lower(d, context), high = upper(d, context);
        const reals parent = LOAD_LANES(POOL_SPACE, row + first);
        const reals pull = gathered(row, factors->best) - parent + (gathered(row, factors->one) - gathered(row, factors->other));
        reals child = FUSED(factors->scale, pull, parent);
        child = CHOOSE(child < low, (parent + low) * 0.5f, child);
        child = CHOOSE(child > high, (parent + high) * 0.5f, child);
        const ints crossed = (random_units(drawn, d) < factors->rate) | (factors->forced == (uint)d);
        family->parent[d] = parent;
        family->child[d] = CHOOSE(crossed, child, parent);
    }
}

// Instead of breeding: a child is its parent with two variables exchanged.
void exchange_two(Family *family, const uints drawn, const int first, POOL_SPACE const float *pool,
                  CONTEXT_SPACE const float *context) {
#pragma unroll
    FOR_DIM family->parent[d] = family->child[d] = LOAD_LANES(POOL_SPACE, pool + d * STRIDE + first);
    const uints to = EXCHANGE_TO(drawn, DRAW_ONE);
    exchange(family->child, to, exchange_from(to, drawn, DRAW_OTHER), random_units(drawn, DRAW_RATE), context);
}

// A child's fitness. Where the problem repairs positions the child takes the repaired one, since what differs between
// positions of equal fitness would mislead those that learn from the difference.
reals live(Family *family, CONTEXT_SPACE const float *context) {
#ifdef REPAIRS
    reals repaired[DIM];
    const reals value = repaired_fitness(family->child, repaired, context);
#pragma unroll
    FOR_DIM family->child[d] = repaired[d];
    return value;
#else
    return fitness(family->child, context);
#endif
}

// The better of child and parent stays; of equals the child.
void select_better(Family *family, const Factors *factors, const ints counted, const reals value, const int first, const int turn,
                   __local const float *fitness_before, __local Findings *findings) {
    const reals before = LOAD_LANES(__local, fitness_before + first);
    const ints stays = counted & (value >= before);
    const ints improved = counted & (value > before);
#pragma unroll
    FOR_DIM family->child[d] = CHOOSE(stays, family->child[d], family->parent[d]);
    family->fitness = CHOOSE(stays, value, before);
    family->improved = improved;
    STORE_LANES(family->fitness, __local, findings->fitness + first);
    if (!ANY(improved)) {
        STORE_LANES((reals)(0), __local, findings->gain + first);
        return;
    }
    const reals gain = value - before;
    STORE_LANES(CHOOSE(improved & (gain < INFINITY), gain, (reals)(0)), __local, findings->gain + first);
    STORE_LANES(factors->scale, __local, findings->scale + first);
    STORE_LANES(factors->rate, __local, findings->rate + first);
    for (int lane = 0; lane < LANES; ++lane)
        if (INT_OF(improved, lane))
            atomic_or(&findings->improved[turn][(first + lane) / 32], 1u << ((first + lane) % 32));
}

// Members that improved among those before one of them, or among all.
int before_in_order(__local const uint *words, const int member) {
    int found = popcount(words[member / 32] & ((1u << (member % 32)) - 1u));
    for (int word = 0; word < member / 32; ++word) found += popcount(words[word]);
    return found;
}

// Beaten parents are archived, each in a place of its own: behind the others while there is room, then over a random
// stretch of them. Of more than there is room for in all, a random stretch is archived.
void archive_parents(const Family *family, const int first, const int archived, const int room, const int successes,
                     __local const uint *improved, const uint drawn, POOL_SPACE float *pool) {
    const bool too_many = successes > room; // never in an archive as large as the population
    const int shift = random_below(&drawn, DRAW_PLACE, too_many ? successes : archived);
    for (int lane = 0; lane < LANES; ++lane) {
        if (!INT_OF(family->improved, lane)) continue;
        const int order = before_in_order(improved, first + lane);
        int place = archived + order;
        if (too_many) {
            place = (order + shift) % successes;
            if (place >= room) continue;
        } else if (place >= room) {
            place = (place - room + shift) % archived; // there are some: else all would have found room
        }
#pragma unroll
        FOR_DIM pool[d * STRIDE + MEMBERS + place] = REAL_OF(family->parent[d], lane);
    }
}

// How many members are better; of equals, those that come first.
ints rank_of(const reals fitness, const int first, const int count, __local const float *all) {
    const ints own = (ints)(LANE_NUMBERS) + first;
    ints rank = 0;
#pragma unroll 8
    for (int member = 0; member < count; ++member)
        rank += CHOOSE((all[member] > fitness) | ((all[member] == fitness) & (member < own)), (ints)(1), (ints)(0));
    return rank;
}

void move_to_ranks(const Family *family, const int first, const int count, __local const float *all, __local float *in_order,
                   POOL_SPACE float *pool) {
    const ints rank = rank_of(family->fitness, first, count, all);
    for (int lane = 0; lane < LANES; ++lane) {
        if (first + lane >= count) break;
        in_order[INT_OF(rank, lane)] = REAL_OF(family->fitness, lane);
#pragma unroll
        FOR_DIM pool[d * STRIDE + INT_OF(rank, lane)] = REAL_OF(family->child[d], lane);
    }
}
