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

#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
#define CONTEXTS __global const float *contexts, const int context_size
#define CONTEXT_OF(group) (contexts + (size_t)((group) / GROUPS) * context_size)

// First positions, or the given ones of `count` particles at the head of a swarm, and their fitness.
GROUP_KERNEL initialise(CONTEXTS, STATE_ARGUMENTS, __global int *leaders, __global const float *given,
                        const int given_count, NUMBER_ARGUMENTS) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    FOR_SHARE (int member = item; member < MEMBERS; member += ITEMS) {
        shared.fitness[member] = -INFINITY;
        shared.improved[member] = 0;
    }
    draw_words(&shared, group, 0, item, NUMBER_VALUES);
    GROUP_BARRIER(ALL_MEMORY);
    scatter(&shared, &state, item, CONTEXT_OF(group));
    GROUP_BARRIER(ALL_MEMORY);
    FOR_SHARE (int member = item; member < count; member += ITEMS) {
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
        FOR_SHARE (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
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
    FOR_SHARE (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
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
    FOR_SHARE (int vector = item; vector < GROUP_VECTORS; vector += ITEMS) {
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
    FOR_SHARE (int member = item; member < count; member += ITEMS) values[group * MEMBERS + member] = shared.value[member];
}

// Kernel 4: each particle's best, and, unless the global level alone is wanted, each group's leader.
GROUP_KERNEL local_reduction(STATE_ARGUMENTS, __global const float *values, __global int *leaders, const int lead) {
    const int group = get_group_id(0), item = get_local_id(0), count = count_of(group);
    __local GroupScratch shared;
    const State state = state_of(group, STATE_VALUES);
    load_scratch(&shared, group, item, STATE_VALUES);
    FOR_SHARE (int member = item; member < count; member += ITEMS) judge(member, values[group * MEMBERS + member], &shared);
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
    FOR_SHARE (int candidate = item; candidate < candidates; candidate += ITEMS) {
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
    FOR_SHARE (int d = item; d < DIM; d += ITEMS) {
        const float at = state.best[PLACE(owner[0] % MEMBERS, d)];
        swarm_bests[(size_t)problem * WIDTH + d] = at;
        if (point >= 0 && point < trail_points) best_position_history[((size_t)problem * trail_points + point) * DIM + d] = at;
    }
    if (item == 0 && point >= 0) trace[(size_t)problem * points + point] = value[0];
}
