// Individuals that are real vectors within bounds. An item makes LANES children at once.
//
// Constants: BLEND, alpha of the blend crossover (Eshelman and Schaffer 1993), MUTATION_SCALE, the first standard deviation
// of the Gaussian mutation as a part of a variable's range. Of the problem: lower(), upper(), fitness().

#define TOGETHER LANES // children that an item makes at once
#define CHILD_NUMBERS (2 * DIM + 3) // two parents, two of each variable, and the noise
#define SCRATCH_WORDS 1 // since no array is empty

#ifdef NOISE
#define NOISE_AT(word, numbers) (number_at(word, (numbers) + (uint)(2 * DIM + 2)) * (NOISE))
#else
#define NOISE_AT(word, numbers) 0.0f
#endif

uints numbers_from(const int place) { return ((uints)(LANE_NUMBERS) + (uint)place) * (uint)CHILD_NUMBERS; }

// A random position, by one item. The loop of an item that is not active is empty, not skipped: see permutation.cl.
void create(const int row, const bool active, const Island island, const uint word, CONTEXT_SPACE const float *context) {
    HOME GENE *position = island.genes + row * STRIDE;
    const int variables = active ? DIM : 0;
    for (int d = 0; d < variables; ++d) {
        const reals part = number_at((uints)(word), (uints)((uint)row * CHILD_NUMBERS + 2 + d));
        position[d] = FUSED(REAL_OF(part, 0), upper(d, context) - lower(d, context), lower(d, context));
    }
}

// The children of places from this one on; `left` is the part of the run to come.
void breed(const int place, const bool active, const Island island, HOME const ushort *order, const uint word,
           const float left, __local uint *scratch, CONTEXT_SPACE const float *context, const SubGroup team) {
    HOME const GENE *one[LANES], *other[LANES];
    HOME GENE *child[LANES];
    for (int lane = 0; lane < LANES; ++lane) {
        const int here = min(place + lane, SIZE - 1);
        const uint number = (uint)here * CHILD_NUMBERS;
        child[lane] = island.genes + order[here] * STRIDE;
        one[lane] = island.genes + order[place_below(word, number, PARENTS)] * STRIDE;
        other[lane] = island.genes + order[place_below(word, number + 1, PARENTS)] * STRIDE;
    }
    const uints numbers = numbers_from(place);
    const bool all_crossed = place + LANES <= PARENTS + CROSSED;
    const ints crossed = (ints)(LANE_NUMBERS) + place < PARENTS + CROSSED;
    for (int d = 0; d < DIM; ++d) {
        reals from, to;
        for (int lane = 0; lane < LANES; ++lane) {
            REAL_OF(from, lane) = one[lane][d];
            REAL_OF(to, lane) = other[lane][d];
        }
        const float low = lower(d, context), high = upper(d, context);
        const reals part = number_at((uints)(word), numbers + (uint)(2 + d));
        reals value = FUSED(FUSED(part, (reals)(1.0f + 2.0f * BLEND), (reals)(-BLEND)), to - from, from);
        if (!all_crossed) {
            const reals also = number_at((uints)(word), numbers + (uint)(2 + DIM + d));
            const reals mutated = FUSED(normal_lanes(part, also), (reals)(MUTATION_SCALE * left * (high - low)), from);
            value = CHOOSE(crossed, value, mutated);
        }
        value = LESSER(GREATER(value, (reals)(low)), (reals)(high));
        for (int lane = 0; lane < LANES; ++lane)
            if (active && place + lane < SIZE) child[lane][d] = REAL_OF(value, lane);
    }
}

// The fitness of the individuals of places from this one on; a NaN is worse than anything.
void evaluate(const int place, const bool active, const Island island, HOME const ushort *order, const uint word,
              CONTEXT_SPACE const float *context, const SubGroup team) {
    reals position[DIM];
#pragma unroll
    for (int d = 0; d < DIM; ++d)
        for (int lane = 0; lane < LANES; ++lane)
            REAL_OF(position[d], lane) = island.genes[order[min(place + lane, SIZE - 1)] * STRIDE + d];
    const reals found = fitness(position, context) + NOISE_AT((uints)(word), numbers_from(place));
    const reals value = CHOOSE(found > -INFINITY, found, (reals)(-INFINITY));
    for (int lane = 0; lane < LANES; ++lane)
        if (active && place + lane < SIZE) island.fitness[order[place + lane]] = REAL_OF(value, lane);
}
