// Particle swarm optimisation with bests of two levels (Li and Liu 2017): a swarm is cut into groups, which follow their
// own best for many generations (the local level), and exchange the best of all now and then (the global level).
//
// Constants: PARTICLES of a swarm, GROUP of them (the last group may have fewer), GROUPS, NUMBERS that a particle draws in a
// generation, INERTIA, COGNITIVE, SOCIAL, VELOCITY_FRACTION, BOUNDED (whether positions keep the bounds); the layout, in ITEMS of
// a work group: MEMBERS (GROUP with padding), and for a problem that is a sum over samples TEAMS and TEAM: TEAM items share
// in the sum of a particle, TEAMS particles are evaluated at a time. Of other problems lanes are particles.
//
// Kernels. As in the paper, each a step of a generation: random_numbers, move, evaluate, local_reduction, and for all groups
// global_reduction. And `generations`, the steps of a work group for many generations in one.

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

void draw_words(__local GroupScratch *shared, const int group, const int generation, const int item, NUMBER_ARGUMENTS) {
    for (int member = item; member < MEMBERS; member += ITEMS) {
        const int particle = group % GROUPS * GROUP + min(member, count_of(group) - 1);
        shared->word[member] = next_word(shared->word[member], group / GROUPS, particle, generation, NUMBER_VALUES);
    }
}

// First positions within the bounds, and first velocities within their limits.
void scatter(__local const GroupScratch *shared, const State *state, const int item, __global const float *context) {
    for (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
        const Numbers numbers = numbers_at(vector, shared);
        const reals low = bounds_at(numbers.d, false, context), range = bounds_at(numbers.d, true, context) - low;
        const reals position = FUSED(number_at(numbers.word, numbers.places), range, low);
        const reals velocity = FUSED(number_at(numbers.word, numbers.places + 1u), (reals)(2.0f), (reals)(-1.0f));
        STORE_LANES(position, __global, state->position + vector * LANES);
        STORE_LANES(position, __global, state->best + vector * LANES);
        STORE_LANES(velocity * range * VELOCITY_FRACTION, __global, state->velocity + vector * LANES);
    }
}

// Eq. 5-6 with a limit of the velocity; a particle that comes to a bound stops there.
void move_vector(const int vector, const Numbers numbers, const reals one, const reals other, const int leader,
                 __global const float *swarm_best, const State *state, __global const float *context) {
    const reals low = bounds_at(numbers.d, false, context), high = bounds_at(numbers.d, true, context);
    const reals fastest = (high - low) * VELOCITY_FRACTION;
    const reals position = LOAD_LANES(__global, state->position + vector * LANES);
    const reals own = LOAD_LANES(__global, state->best + vector * LANES) - position;
    const reals lead = leading_at(numbers.d, leader, swarm_best, state) - position;
    reals velocity = LOAD_LANES(__global, state->velocity + vector * LANES) * INERTIA;
    velocity = FUSED(COGNITIVE * one, own, FUSED(SOCIAL * other, lead, velocity));
    velocity = LESSER(GREATER(velocity, -fastest), fastest);
    reals moved = position + velocity;
#if BOUNDED
    velocity = CHOOSE((moved < low) | (moved > high), (reals)(0), velocity);
    moved = LESSER(GREATER(moved, low), high);
#endif
    STORE_LANES(velocity, __global, state->velocity + vector * LANES);
    STORE_LANES(moved, __global, state->position + vector * LANES);
}

#ifdef NOISE
#define NOISE_AT(words) (number_at(words, (uints)(2 * DIM)) * (NOISE))
#else
#define NOISE_AT(words) 0.0f
#endif

void judge(const int member, const float value, __local GroupScratch *shared) {
    shared->improved[member] = value > shared->fitness[member];
    shared->value[member] = value;
}

#if SUMMED
// The fitness of every member of a group.
void evaluate_members(const int count, __local GroupScratch *shared, const State *state, const int item, __global const float *context) {
    const int team = item / TEAM, place = item % TEAM;
    for (int first = 0; first < count; first += TEAMS) {
        const int member = min(first + team, MEMBERS - 1);
        __local float *weights = shared->weights + team * WIDTH, *sums = shared->sums + team * TEAM;
        for (int d = place; d < DIM; d += TEAM) weights[d] = state->position[PLACE(member, d)];
        GROUP_BARRIER(ALL_MEMORY);
        const reals share = share_of_sum(weights, place, TEAM, context);
        float sum = 0;
        for (int lane = 0; lane < LANES; ++lane) sum += REAL_OF(share, lane);
        sums[place] = sum;
        GROUP_BARRIER(ALL_MEMORY);
        sum_by_pairs(sums, TEAM, place, TEAM);
        if (place == 0 && first + team < count) {
            const uints word = shared->word[member];
            const reals noise = NOISE_AT(word);
            judge(member, fitness_of_sum(sums[0], context) + REAL_OF(noise, 0), shared);
        }
        GROUP_BARRIER(ALL_MEMORY);
    }
}
#else
void evaluate_members(const int count, __local GroupScratch *shared, const State *state, const int item, __global const float *context) {
    for (int first = item * LANES; first < count; first += ITEMS * LANES) {
        reals position[DIM];
#pragma unroll
        for (int d = 0; d < DIM; ++d) position[d] = LOAD_LANES(__global, state->position + PLACE(first, d));
        uints words;
        for (int lane = 0; lane < LANES; ++lane) UINT_OF(words, lane) = shared->word[first + lane];
        const reals value = fitness(position, context) + NOISE_AT(words);
        for (int lane = 0; lane < LANES; ++lane)
            if (first + lane < count) judge(first + lane, REAL_OF(value, lane), shared);
    }
    GROUP_BARRIER(ALL_MEMORY);
}
#endif

// Positions that are better than the particle's best take its place.
void keep_better(const int count, __local GroupScratch *shared, const State *state, const int item) {
#if SUMMED
    for (int vector = item; vector < count * (WIDTH / LANES); vector += ITEMS) {
        if (!shared->improved[vector / (WIDTH / LANES)]) continue;
        STORE_LANES(LOAD_LANES(__global, state->position + vector * LANES), __global, state->best + vector * LANES);
    }
#else
    for (int member = item; member < count; member += ITEMS) {
        if (!shared->improved[member]) continue;
        for (int d = 0; d < DIM; ++d) state->best[PLACE(member, d)] = state->position[PLACE(member, d)];
    }
#endif
    for (int member = item; member < count; member += ITEMS)
        if (shared->improved[member]) shared->fitness[member] = shared->value[member];
    GROUP_BARRIER(ALL_MEMORY);
}

// The member whose best is the group's.
int leader_of(const int count, __local GroupScratch *shared, const int item) {
    for (int member = item; member < count; member += ITEMS) {
        shared->value[member] = shared->fitness[member];
        shared->owner[member] = member;
    }
    GROUP_BARRIER(ALL_MEMORY);
    best_by_pairs(shared->value, shared->owner, count, item);
    const int leader = shared->owner[0];
    GROUP_BARRIER(ALL_MEMORY); // all have read it
    return leader;
}

void load_scratch(__local GroupScratch *shared, const int group, const int item, STATE_ARGUMENTS) {
    for (int member = item; member < MEMBERS; member += ITEMS) {
        shared->fitness[member] = best_fitness[group * MEMBERS + member];
        shared->word[member] = words[group * MEMBERS + member];
        shared->improved[member] = 0;
    }
    GROUP_BARRIER(ALL_MEMORY);
}

void store_scratch(__local const GroupScratch *shared, const int group, const int item, STATE_ARGUMENTS) {
    for (int member = item; member < MEMBERS; member += ITEMS) {
        best_fitness[group * MEMBERS + member] = shared->fitness[member];
        words[group * MEMBERS + member] = shared->word[member];
    }
}

#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
#define CONTEXTS __global const float *contexts, const int context_size
#define CONTEXT_OF(group) (contexts + (size_t)((group) / GROUPS) * context_size)

// First positions, or the given ones of `count` particles at the head of a swarm, and their fitness.
GROUP_KERNEL initialise(CONTEXTS, STATE_ARGUMENTS, __global int *leaders, __global const float *given,
                        const int given_count, NUMBER_ARGUMENTS) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    for (int member = item; member < MEMBERS; member += ITEMS) {
        shared.fitness[member] = -INFINITY;
        shared.improved[member] = 0;
    }
    draw_words(&shared, group, 0, item, NUMBER_VALUES);
    GROUP_BARRIER(ALL_MEMORY);
    scatter(&shared, &state, item, CONTEXT_OF(group));
    GROUP_BARRIER(ALL_MEMORY);
    for (int member = item; member < count; member += ITEMS) {
        const int particle = group % GROUPS * GROUP + member;
        if (particle >= given_count) continue;
        for (int d = 0; d < DIM; ++d) {
            const float at = given[(size_t)(group / GROUPS * given_count + particle) * DIM + d];
            state.position[PLACE(member, d)] = state.best[PLACE(member, d)] = at;
        }
    }
    GROUP_BARRIER(ALL_MEMORY);
    evaluate_members(count, &shared, &state, item, CONTEXT_OF(group));
    keep_better(count, &shared, &state, item);
    const int leader = leader_of(count, &shared, item);
    if (item == 0) leaders[group] = leader;
    store_scratch(&shared, group, item, STATE_VALUES);
}

// Many generations of every group, which follows the best of the swarm in the first and its own best in the others.
GROUP_KERNEL generations(CONTEXTS, STATE_ARGUMENTS, __global int *leaders,
                         __global const float *swarm_bests, const int before, const int number, NUMBER_ARGUMENTS) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    __global const float *swarm_best = swarm_bests + (size_t)(group / GROUPS) * WIDTH;
    load_scratch(&shared, group, item, STATE_VALUES);
    int leader = -1;
    for (int generation = 1; generation <= number; ++generation) {
        draw_words(&shared, group, before + generation, item, NUMBER_VALUES);
        GROUP_BARRIER(ALL_MEMORY);
        for (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
            const Numbers numbers = numbers_at(vector, &shared);
            const reals one = number_at(numbers.word, numbers.places), other = number_at(numbers.word, numbers.places + 1u);
            move_vector(vector, numbers, one, other, leader, swarm_best, &state, CONTEXT_OF(group));
        }
        GROUP_BARRIER(ALL_MEMORY);
        evaluate_members(count, &shared, &state, item, CONTEXT_OF(group));
        keep_better(count, &shared, &state, item);
        leader = leader_of(count, &shared, item);
    }
    if (item == 0) leaders[group] = leader;
    store_scratch(&shared, group, item, STATE_VALUES);
}

// Kernel 1 of the paper: the numbers that a generation needs, two of each place.
GROUP_KERNEL random_numbers(STATE_ARGUMENTS, __global float *numbers_one, __global float *numbers_other,
                            const int generation, NUMBER_ARGUMENTS) {
    const int group = get_group_id(0), item = get_local_id(0);
    __local GroupScratch shared;
    load_scratch(&shared, group, item, STATE_VALUES);
    draw_words(&shared, group, generation, item, NUMBER_VALUES);
    GROUP_BARRIER(ALL_MEMORY);
    for (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
        const Numbers numbers = numbers_at(vector, &shared);
        const size_t at = (size_t)group * GROUP_NUMBERS + vector * LANES;
        STORE_LANES(number_at(numbers.word, numbers.places), __global, numbers_one + at);
        STORE_LANES(number_at(numbers.word, numbers.places + 1u), __global, numbers_other + at);
    }
    store_scratch(&shared, group, item, STATE_VALUES);
}

// Kernel 2: velocities and positions.
GROUP_KERNEL move(CONTEXTS, STATE_ARGUMENTS, __global const int *leaders,
                  __global const float *swarm_bests, const int follow_swarm, __global const float *numbers_one,
                  __global const float *numbers_other) {
    const int group = get_group_id(0), item = get_local_id(0);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    __global const float *swarm_best = swarm_bests + (size_t)(group / GROUPS) * WIDTH;
    load_scratch(&shared, group, item, STATE_VALUES);
    for (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
        const size_t at = (size_t)group * GROUP_NUMBERS + vector * LANES;
        move_vector(vector, numbers_at(vector, &shared), LOAD_LANES(__global, numbers_one + at),
                    LOAD_LANES(__global, numbers_other + at), follow_swarm ? -1 : leaders[group], swarm_best, &state,
                    CONTEXT_OF(group));
    }
}

// Kernel 3: the fitness of every particle.
GROUP_KERNEL evaluate(CONTEXTS, STATE_ARGUMENTS, __global float *values) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    load_scratch(&shared, group, item, STATE_VALUES);
    evaluate_members(count, &shared, &state, item, CONTEXT_OF(group));
    for (int member = item; member < count; member += ITEMS) values[group * MEMBERS + member] = shared.value[member];
}

// Kernel 4: each particle's best, and, unless the global level alone is wanted, each group's leader.
GROUP_KERNEL local_reduction(STATE_ARGUMENTS, __global const float *values, __global int *leaders, const int lead) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    load_scratch(&shared, group, item, STATE_VALUES);
    for (int member = item; member < count; member += ITEMS) judge(member, values[group * MEMBERS + member], &shared);
    GROUP_BARRIER(ALL_MEMORY);
    keep_better(count, &shared, &state, item);
    if (lead) {
        const int leader = leader_of(count, &shared, item);
        if (item == 0) leaders[group] = leader;
    }
    store_scratch(&shared, group, item, STATE_VALUES);
}

// Kernel 5: the best of a swarm, among the leaders of its groups or, of a swarm without, among all particles. A work group
// a swarm. It is noted in the trace, and in the best_position_history where there is one.
GROUP_KERNEL global_reduction(STATE_ARGUMENTS, __global const int *leaders, const int lead, __global float *swarm_bests,
                              __global float *trace, const int point, const int points, __global float *best_position_history,
                              const int trail_points) {
    const int problem = get_group_id(0), item = get_local_id(0);
    __local float value[ITEMS];
    __local int owner[ITEMS];
    const int candidates = lead ? GROUPS : PARTICLES;
    float best = -INFINITY;
    int where = INT_MAX; // (group, member) as one number
    for (int candidate = item; candidate < candidates; candidate += ITEMS) {
        const int group = lead ? candidate : candidate / GROUP, member = lead ? leaders[problem * GROUPS + group] : candidate % GROUP;
        const float found = best_fitness[(problem * GROUPS + group) * MEMBERS + member];
        if (found > best || where == INT_MAX) {
            best = found;
            where = group * MEMBERS + member;
        }
    }
    value[item] = best;
    owner[item] = where;
    GROUP_BARRIER(ALL_MEMORY);
    best_by_pairs(value, owner, min(ITEMS, candidates), item);
    const State state = state_of(problem * GROUPS + owner[0] / MEMBERS, STATE_VALUES);
    for (int d = item; d < DIM; d += ITEMS) {
        const float at = state.best[PLACE(owner[0] % MEMBERS, d)];
        swarm_bests[(size_t)problem * WIDTH + d] = at;
        if (point >= 0 && point < trail_points) best_position_history[((size_t)problem * trail_points + point) * DIM + d] = at;
    }
    if (item == 0 && point >= 0) trace[(size_t)problem * points + point] = value[0];
}
