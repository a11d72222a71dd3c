// The particles of a work item: how they begin, move and remember their bests (Yu et al. 2020, section 2.1, steps 1, 3 and 4).

#define FOR_DIM for (int d = 0; d < DIM; ++d) // under "#pragma unroll" each: one in a macro is not heeded everywhere
#define BRANCHES 0  // if ...: the basic and the intermediate model
#define BUILT_INS 1 // clamp and step: the final model
#define OPERATORS 2

typedef struct {
    reals position[DIM], velocity[DIM], exemplar[DIM];
    ints stagnation;
    ints counted;  // a mask: padding particles are not counted
    Random random;
} Particles;

// Step 1: uniform positions and velocities, drawn velocity first.
void initialise(STATE_SPACE Particles *particles, const int first, CONTEXT_SPACE const float *context) {
#pragma unroll
    FOR_DIM {
        const float low = lower(d, context), range = upper(d, context) - low;
        const reals drawn = random_lanes(&particles->random, 2.0f);
        particles->velocity[d] = (drawn - 1.0f) * (range * VELOCITY_FRACTION);
        particles->position[d] = FUSED(random_lanes(&particles->random, 1.0f), (reals)(range), (reals)(low));
    }
    particles->stagnation = GAP;
    particles->counted = (ints)(LANE_NUMBERS) + first < PARTICLES;
}

// Eq. 3.
reals held(const reals velocity, const float fastest) {
#if CONDITIONALS == BRANCHES
    if (velocity > fastest) return fastest;
    if (velocity < -fastest) return -fastest;
    return velocity;
#elif CONDITIONALS == BUILT_INS
    return clamp(velocity, -fastest, fastest);
#else
    return LESSER(GREATER(velocity, (reals)(-fastest)), (reals)(fastest));
#endif
}

// Eq. 1-3, within the largest velocity of each dimension.
void move(STATE_SPACE Particles *particles, const float inertia, __local const float *fastest) {
#pragma unroll
    FOR_DIM {
        const reals pull = random_lanes(&particles->random, ACCELERATION);
        const reals distance = particles->exemplar[d] - particles->position[d];
        reals velocity = held(FUSED(pull, distance, inertia * particles->velocity[d]), fastest[d]);
#if LANES > 1 // on a CPU denormal numbers are slow: velocities too small to matter are dropped before
        velocity = CHOOSE((velocity < SMALLEST_VELOCITY) & (velocity > -SMALLEST_VELOCITY), (reals)(0), velocity);
#endif
        particles->velocity[d] = velocity;
        particles->position[d] += velocity;
    }
}

ints within(const reals position, const float low, const float high) {
#if CONDITIONALS == BRANCHES
    if (position < low) return 0;
    if (position > high) return 0;
    return 1;
#elif CONDITIONALS == BUILT_INS
    return step(low, position) + step(position, high) == 2.0f;
#else
    return (position >= low) & (position <= high);
#endif
}

ints inside(STATE_SPACE const Particles *particles, CONTEXT_SPACE const float *context) {
    ints feasible = (ints)(1) == (ints)(1);
#pragma unroll
    FOR_DIM feasible &= within(particles->position[d], lower(d, context), upper(d, context));
    return feasible;
}

// Step 4, where positions are judged.
reals fitness_here(STATE_SPACE const Particles *particles, CONTEXT_SPACE const float *context) {
#if STATE_IN_GLOBAL
    reals position[DIM];
    FOR_DIM position[d] = particles->position[d];
    return fitness(position, context);
#else
    return fitness(particles->position, context);
#endif
}

void remember(STATE_SPACE const reals *position, const ints better, const reals value, const int first,
              BEST_SPACE float *best, BEST_SPACE float *best_fitness) {
    STORE_LANES(CHOOSE(better, value, LOAD_LANES(BEST_SPACE, best_fitness + first)), BEST_SPACE, best_fitness + first);
#pragma unroll
    FOR_DIM {
        BEST_SPACE float *place = best + d * SWARM + first;
        STORE_LANES(CHOOSE(better, position[d], LOAD_LANES(BEST_SPACE, place)), BEST_SPACE, place);
    }
}

// Not of the paper: a particle tries its best with two variables exchanged. Returns which tries count as evaluations.
ints exchange_best(STATE_SPACE Particles *particles, const int first, BEST_SPACE float *best, BEST_SPACE float *best_fitness,
                   CONTEXT_SPACE const float *context) {
#if EXCHANGE_INTERVAL
    reals position[DIM];
#pragma unroll
    FOR_DIM position[d] = LOAD_LANES(BEST_SPACE, best + d * SWARM + first);
    const uints drawn = random_bits(&particles->random), to = EXCHANGE_TO(drawn, 0);
    exchange(position, to, exchange_from(to, drawn, 1), random_units(drawn, 2), context);
#ifdef REPAIRS
    reals repaired[DIM];
    const reals value = repaired_fitness(position, repaired, context);
#pragma unroll
    FOR_DIM position[d] = repaired[d];
#else
    const reals value = fitness(position, context) + noise_of(&particles->random);
#endif
    const ints better = value > LOAD_LANES(BEST_SPACE, best_fitness + first);
    if (ANY(better)) remember(position, better, value, first, best, best_fitness);
    return CHOOSE(particles->counted, (ints)(1), (ints)(0));
#else
    return 0;
#endif
}

// Step 5, needed only where it is reported: the best particle, the first of equals.
int leader(BEST_SPACE const float *best_fitness) {
    int found = 0;
    for (int particle = 1; particle < PARTICLES; ++particle)
        if (best_fitness[particle] > best_fitness[found]) found = particle;
    return found;
}
