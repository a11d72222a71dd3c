// A group of particles of a swarm of two levels: where its numbers stand in global memory, and what it keeps at hand.

#ifndef SUMMED
#define SUMMED 0
#define TEAM 1
#define TEAMS 1
#endif
#define WIDTH ((DIM + LANES - 1) / LANES * LANES) // of a position, with padding
#define GROUP_NUMBERS (MEMBERS * WIDTH)
#define GROUP_VECTORS (GROUP_NUMBERS / LANES)

// Where a group keeps its numbers: of a sum over samples a particle's stand together, else a dimension's.
#if SUMMED
#define PLACE(member, d) ((member) * WIDTH + (d))
#else
#define PLACE(member, d) ((d) * MEMBERS + (member))
#endif

// The state of a group in global memory, and what it keeps at hand.
typedef struct {
    __global float *position, *velocity, *best;
} State;

typedef struct {
    float fitness[MEMBERS], value[MEMBERS];
    int owner[MEMBERS], improved[MEMBERS];
    uint word[MEMBERS];
#if SUMMED
    float weights[TEAMS * WIDTH] __attribute__((aligned(64))), sums[TEAMS * TEAM];
#endif
} GroupScratch;

#define STATE_ARGUMENTS __global float *positions, __global float *velocities, __global float *bests, \
    __global float *best_fitness, __global uint *words
#define STATE_VALUES positions, velocities, bests, best_fitness, words

State state_of(const int group, STATE_ARGUMENTS) {
    const size_t first = (size_t)group * GROUP_NUMBERS;
    const State state = {positions + first, velocities + first, bests + first};
    return state;
}

int count_of(const int group) { return min(GROUP, PARTICLES - group % GROUPS * GROUP); }

// A vector of a group's numbers: dimensions and members of its lanes, and the words of their particles.
typedef struct {
    int d, member;
    uints word, places;
} Numbers;

Numbers numbers_at(const int vector, __local const GroupScratch *shared) {
    Numbers numbers;
#if SUMMED
    numbers.member = vector / (WIDTH / LANES);
    numbers.d = vector % (WIDTH / LANES) * LANES;
    numbers.word = shared->word[numbers.member];
    numbers.places = ((uints)(LANE_NUMBERS) + (uint)numbers.d) * 2u;
#else
    numbers.d = vector / (MEMBERS / LANES);
    numbers.member = vector % (MEMBERS / LANES) * LANES;
    for (int lane = 0; lane < LANES; ++lane) UINT_OF(numbers.word, lane) = shared->word[numbers.member + lane];
    numbers.places = (uint)numbers.d * 2u;
#endif
    return numbers;
}

reals bounds_at(const int d, const bool above, __global const float *context) {
#if SUMMED && BOUNDED
    reals bounds;
    for (int lane = 0; lane < LANES; ++lane) {
        const int at = min(d + lane, DIM - 1);
        REAL_OF(bounds, lane) = above ? upper(at, context) : lower(at, context);
    }
    return bounds;
#else
    return above ? upper(d, context) : lower(d, context);
#endif
}

// The best that a group follows at a dimension: of the swarm, or of the group's leader.
reals leading_at(const int d, const int leader, __global const float *swarm_best, const State *state) {
#if SUMMED
    __global const float *from = leader < 0 ? swarm_best : state->best + PLACE(leader, 0);
    return LOAD_LANES(__global, from + d);
#else
    return leader < 0 ? swarm_best[d] : state->best[PLACE(leader, d)];
#endif
}

void load_scratch(__local GroupScratch *shared, const int group, const int item, STATE_ARGUMENTS) {
    FOR_SHARE (int member = item; member < MEMBERS; member += ITEMS) {
        shared->fitness[member] = best_fitness[group * MEMBERS + member];
        shared->word[member] = words[group * MEMBERS + member];
        shared->improved[member] = 0;
    }
    GROUP_BARRIER(ALL_MEMORY);
}

void store_scratch(__local const GroupScratch *shared, const int group, const int item, STATE_ARGUMENTS) {
    FOR_SHARE (int member = item; member < MEMBERS; member += ITEMS) {
        best_fitness[group * MEMBERS + member] = shared->fitness[member];
        words[group * MEMBERS + member] = shared->word[member];
    }
}
