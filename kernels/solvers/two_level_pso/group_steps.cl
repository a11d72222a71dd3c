// Steps of a generation of a group of particles, by the work items of its work group (Li and Liu 2017, eq. 5-8).

void draw_words(__local GroupScratch *shared, const int group, const int generation, const int item, NUMBER_ARGUMENTS) {
    FOR_SHARE (int member = item; member < MEMBERS; member += ITEMS) {
        const int particle = group % GROUPS * GROUP + min(member, count_of(group) - 1);
        shared->word[member] = next_word(shared->word[member], group / GROUPS, particle, generation, NUMBER_VALUES);
    }
}

// First positions within the bounds, and first velocities within their limits.
void scatter(__local const GroupScratch *shared, const State *state, const int item, __global const float *context) {
    FOR_SHARE (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
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
    FOR_SHARE (int first = item * LANES; first < count; first += ITEMS * LANES) {
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
    FOR_SHARE (int vector = item; vector < count * (WIDTH / LANES); vector += ITEMS) {
        if (!shared->improved[vector / (WIDTH / LANES)]) continue;
        STORE_LANES(LOAD_LANES(__global, state->position + vector * LANES), __global, state->best + vector * LANES);
    }
#else
    FOR_SHARE (int member = item; member < count; member += ITEMS) {
        if (!shared->improved[member]) continue;
        for (int d = 0; d < DIM; ++d) state->best[PLACE(member, d)] = state->position[PLACE(member, d)];
    }
#endif
    FOR_SHARE (int member = item; member < count; member += ITEMS)
        if (shared->improved[member]) shared->fitness[member] = shared->value[member];
    GROUP_BARRIER(ALL_MEMORY);
}

// The member whose best is the group's.
int leader_of(const int count, __local GroupScratch *shared, const int item) {
    FOR_SHARE (int member = item; member < count; member += ITEMS) {
        shared->value[member] = shared->fitness[member];
        shared->owner[member] = member;
    }
    GROUP_BARRIER(ALL_MEMORY);
    best_by_pairs(shared->value, shared->owner, count, item);
    const int leader = shared->owner[0];
    GROUP_BARRIER(ALL_MEMORY); // all have read it
    return leader;
}
