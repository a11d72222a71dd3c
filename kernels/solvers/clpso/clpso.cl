// Comprehensive learning particle swarm optimisation, a swarm a work group (Yu et al. 2020, section 2.1 and Fig. 5), or
// SWARMS of them where a swarm would leave part of a GPU's group idle.
//
// A work item carries BLOCKS x LANES particles; SWARM = BLOCKS x ITEMS x LANES is PARTICLES, padded. Padding particles
// are never learnt from. Within a generation all particles choose exemplars before any moves, so that the result does
// not depend on how particles are laid out. The problem is seen through DIM, CONTEXT, lower, upper, fitness and, where it
// is noisy, NOISE alone.
//
// The models of Yu et al. are layouts of this file: STATE_IN_GLOBAL keeps the state of every particle in global memory,
// CONDITIONALS says how bounds are held, and the random numbers' file where those come from.

#define CONTEXT_STRIDE ((CONTEXT + 3) / 4 * 4) // so that every swarm's begins where vectors of four do
#define DIM_STRIDE ((DIM + 3) / 4 * 4)
#define GROUP_PARTICLES (SWARMS * SWARM)
// Several swarms a group share the choice of exemplars, where a draw means the same to every item.
#define SHARED_CHOICE (LANES == 1 && SWARMS > 1 && DRAWN_TRAVELS && !BEST_IN_GLOBAL)
#define FOR_DIM for (int d = 0; d < DIM; ++d) // under "#pragma unroll" each: one in a macro is not heeded everywhere
#define FOR_BLOCKS for (int block = 0; block < BLOCKS; ++block)
#define FIRST(block) (((block)*ITEMS + item) * LANES)
#define BRANCHES 0  // if ...: the basic and the intermediate model
#define BUILT_INS 1 // clamp and step: the final model
#define OPERATORS 2

// STRICT: two different particles are drawn that are not the one that learns; else any two (section 2.1).
#define COUNT_OF_ONE (PARTICLES - STRICT)
#define COUNT_OF_OTHER (PARTICLES - 2 * STRICT)

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

// The better of two particles, by their personal bests.
int winner(const int one, const int other, BEST_SPACE const float *best_fitness) {
    return best_fitness[one] > best_fitness[other] ? one : other;
}

// Two of the particles from numbers below COUNT_OF_ONE and COUNT_OF_OTHER.
int2 apart(const int2 rivals, const int particle) {
#if STRICT
    const int one = rivals.x + (rivals.x >= particle), low = one < particle ? one : particle, high = one ^ particle ^ low;
    int other = rivals.y + (rivals.y >= low);
    other += other >= high;
    return (int2)(one, other);
#else
    return rivals;
#endif
}

#if LANES == 1
// Step 3 in one dimension: the personal best to learn from, by a tournament. Both rivals are read whether the particle
// learns or not, since on a GPU a branch costs more.
float taught(const Drawn *drawn, const int d, const int particle, const float learning, BEST_SPACE const float *best,
             BEST_SPACE const float *best_fitness, int *learns) {
    int2 rivals;
    const bool learns_here = random_rivals(drawn, d, learning, COUNT_OF_ONE, COUNT_OF_OTHER, &rivals);
#if CONDITIONALS == BRANCHES
    if (!learns_here) return best[d * SWARM + particle];
#endif
    rivals = apart(rivals, particle);
    const int better = winner(rivals.x, rivals.y, best_fitness), teacher = learns_here ? better : particle;
    *learns |= teacher != particle;
    return best[d * SWARM + teacher];
}
#endif

// What particles that are due learn from themselves: in every dimension, before others come in. On a CPU, where vectors do
// it; on a GPU it is part of `choose_exemplar`.
void learn_from_themselves(STATE_SPACE Particles *particles, const ints due, const int first, BEST_SPACE const float *best) {
#if LANES > 1
    FOR_DIM particles->exemplar[d] = CHOOSE(due, LOAD_LANES(BEST_SPACE, best + d * SWARM + first), particles->exemplar[d]);
#endif
}

// Step 3: a new exemplar for one particle. On a GPU no index may vary, so that arrays stay in registers; on a CPU a vector
// holds the numbers of LANES dimensions.
void choose_exemplar(STATE_SPACE Particles *particles, const Drawn drawn, const int lane, const int particle, const float learning,
                     BEST_SPACE const float *best, BEST_SPACE const float *best_fitness) {
    int learns = 0;
#if LANES == 1
#pragma unroll
    FOR_DIM particles->exemplar[d] = taught(&drawn, d, particle, learning, best, best_fitness, &learns);
#else
    for (int first = 0; first < DIM; first += LANES) {
        ints one, other;
        const int steps = DIM - first < LANES ? DIM - first : LANES;
        const ints learns_here =
            random_rivals_of_steps(&drawn, first, steps, learning, COUNT_OF_ONE, COUNT_OF_OTHER, &one, &other);
        for (int left = BITS_OF(learns_here); left; left &= left - 1) {
            const int place = FIRST_BIT(left), d = first + place;
            const int2 rivals = apart((int2)(INT_OF(one, place), INT_OF(other, place)), particle);
            const int teacher = winner(rivals.x, rivals.y, best_fitness);
            learns |= teacher != particle;
            REAL_OF(particles->exemplar[d], lane) = best[d * SWARM + teacher];
        }
    }
#endif
    if (!learns) {
        const int spare = random_below(&drawn, DIM, DIM), any = random_below(&drawn, DIM + 1, COUNT_OF_ONE);
        const float learnt = best[spare * SWARM + any + (STRICT && any >= particle)];
#if LANES == 1
#pragma unroll
        FOR_DIM particles->exemplar[d] = d == spare ? learnt : particles->exemplar[d];
#else
        REAL_OF(particles->exemplar[spare], lane) = learnt;
#endif
    }
}

#if SHARED_CHOICE
// Particles of a group that are due for new exemplars. Few are, but some in nearly every warp, and a warp takes as long
// for one as for all its items: listed one after the other, they keep few warps busy, and the others have none to do.
typedef struct {
    int count[2]; // of this generation's list and of the next one's
    int particle[GROUP_PARTICLES]; // among all of the group
    Drawn drawn[GROUP_PARTICLES];
    float exemplar[DIM * GROUP_PARTICLES];
} Due;

// Put a particle that is due on the list; its place there, or -1.
int listed(__local Due *due, const int turn, const int particle, STATE_SPACE Particles *particles) {
    if (particles->stagnation < GAP) return -1;
    const int place = atomic_inc(&due->count[turn]);
    due->particle[place] = particle;
    const Draws draws = random_draws(&particles->random, 1);
    due->drawn[place] = drawn_by(&draws, 0);
    particles->stagnation = 0;
    return place;
}

// Choose the exemplars of the list, shared among all items of the group; the same as `choose_exemplar`.
void choose_listed(__local Due *due, const int turn, __global const float *learning, __local const float *all_best) {
    for (int place = get_local_id(0); place < due->count[turn]; place += ITEMS * SWARMS) {
        // Places in all_best: one sum of unsigned numbers each, since sums of pointers cost more.
        const uint particle = (uint)due->particle[place] % SWARM;
        const uint swarm = (uint)due->particle[place] / SWARM * ((DIM + 1) * SWARM), self = swarm + particle;
        const Drawn drawn = due->drawn[place];
        const float probability = learning[particle];
        int learns = 0;
#pragma unroll
        FOR_DIM {
            int2 rivals;
            const bool learns_here = random_rivals(&drawn, d, probability, COUNT_OF_ONE, COUNT_OF_OTHER, &rivals);
            rivals = apart(rivals, (int)particle);
            const uint one = swarm + (uint)rivals.x, other = swarm + (uint)rivals.y;
            const uint better = all_best[one + DIM * SWARM] > all_best[other + DIM * SWARM] ? one : other;
            const uint teacher = learns_here ? better : self;
            learns |= teacher != self;
            due->exemplar[d * GROUP_PARTICLES + place] = all_best[teacher + d * SWARM];
        }
        if (!learns) {
            const int spare = random_below(&drawn, DIM, DIM), any = random_below(&drawn, DIM + 1, COUNT_OF_ONE);
            const int teacher = any + (STRICT && any >= (int)particle);
            due->exemplar[spare * GROUP_PARTICLES + place] = all_best[swarm + spare * SWARM + teacher];
        }
    }
}
#endif

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

void remember(STATE_SPACE const Particles *particles, const ints better, const reals value, const int first,
              BEST_SPACE float *best, BEST_SPACE float *best_fitness) {
    STORE_LANES(CHOOSE(better, value, LOAD_LANES(BEST_SPACE, best_fitness + first)), BEST_SPACE, best_fitness + first);
#pragma unroll
    FOR_DIM {
        BEST_SPACE float *place = best + d * SWARM + first;
        STORE_LANES(CHOOSE(better, particles->position[d], LOAD_LANES(BEST_SPACE, place)), BEST_SPACE, place);
    }
}

// Step 5, needed only where it is reported: the best particle, the first of equals.
int leader(BEST_SPACE const float *best_fitness) {
    int found = 0;
    for (int particle = 1; particle < PARTICLES; ++particle)
        if (best_fitness[particle] > best_fitness[found]) found = particle;
    return found;
}

__attribute__((reqd_work_group_size(ITEMS * SWARMS, 1, 1))) __kernel void clpso(
    __global const float *contexts, __global const float *learning, const int problems, const int generations,
    const int trace_every, const int trace_points, __global float *found_position, __global float *found_fitness,
    __global int *evaluations, __global float *trace,
#if BEST_IN_GLOBAL
    __global float *best_memory,
#endif
#if STATE_IN_GLOBAL
    __global Particles *state,
#endif
    RANDOM_ARGUMENTS) {
    const int swarm = get_local_id(0) / ITEMS, item = get_local_id(0) % ITEMS;
    const int share = get_group_id(0) * SWARMS + swarm;
    const bool asked_for = share < problems;
    const int problem = asked_for ? share : problems - 1; // the last group may have swarms to spare
    __local float all_contexts[SWARMS * CONTEXT_STRIDE] __attribute__((aligned(16)));
    __local float *context = all_contexts + swarm * CONTEXT_STRIDE;
#if BEST_IN_GLOBAL
    __global float *best = best_memory + (size_t)share * (DIM + 1) * SWARM;
#else
    __local float all_best[SWARMS * (DIM + 1) * SWARM];
    __local float *best = all_best + swarm * (DIM + 1) * SWARM;
#endif
    BEST_SPACE float *best_fitness = best + DIM * SWARM;
    for (int each = item; each < CONTEXT; each += ITEMS) context[each] = contexts[(size_t)problem * CONTEXT + each];
    __local float all_fastest[SWARMS * DIM_STRIDE] __attribute__((aligned(16)));
    __local float *fastest = all_fastest + swarm * DIM_STRIDE;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = item; d < DIM; d += ITEMS) fastest[d] = (upper(d, context) - lower(d, context)) * VELOCITY_FRACTION;
    barrier(CLK_LOCAL_MEM_FENCE);

#if SHARED_CHOICE
    __local Due due;
    if (get_local_id(0) == 0) due.count[0] = due.count[1] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int place[BLOCKS]; // on the list
#endif

#if STATE_IN_GLOBAL
    __global Particles *particles = state + (size_t)get_global_id(0) * BLOCKS;
#else
    Particles particles[BLOCKS];
#endif
    ints evaluated = 0;
    FOR_BLOCKS {
        random_start(&particles[block].random, problem, FIRST(block), RANDOM_VALUES);
        initialise(&particles[block], FIRST(block), context);
        const reals noise = noise_of(&particles[block].random), value = fitness_here(&particles[block], context) + noise;
        STORE_LANES((reals)(-INFINITY), BEST_SPACE, best_fitness + FIRST(block));
        remember(&particles[block], (ints)(1) == (ints)(1), CHOOSE(value == value, value, (reals)(-INFINITY)), FIRST(block),
                 best, best_fitness);
#if SHARED_CHOICE
        place[block] = listed(&due, 1, swarm * SWARM + FIRST(block), &particles[block]);
#endif
    }
    GROUP_BARRIER(BEST_FENCE);

    for (int generation = 1; generation <= generations; ++generation) {
        const float inertia = INERTIA_FIRST - INERTIA_FALL * generation / generations;
#if SHARED_CHOICE
        const int turn = generation & 1;
        choose_listed(&due, turn, learning, all_best);
        GROUP_BARRIER(BEST_FENCE);
        if (get_local_id(0) == 0) due.count[turn] = 0; // for the generation after next
        FOR_BLOCKS {
            if (place[block] >= 0) {
#pragma unroll
                FOR_DIM particles[block].exemplar[d] = due.exemplar[d * GROUP_PARTICLES + place[block]];
            }
        }
#else
        FOR_BLOCKS {
            const ints due = particles[block].stagnation >= GAP;
            if (ANY(due)) {
                learn_from_themselves(&particles[block], due, FIRST(block), best);
                const Draws draws = random_draws(&particles[block].random, due);
                for (int left = BITS_OF(due); left; left &= left - 1) {
                    const int lane = FIRST_BIT(left), particle = FIRST(block) + lane;
                    choose_exemplar(&particles[block], drawn_by(&draws, lane), lane, particle, learning[particle], best,
                                    best_fitness);
                }
                particles[block].stagnation = CHOOSE(due, (ints)(0), particles[block].stagnation);
            }
        }
        GROUP_BARRIER(BEST_FENCE);
#endif
        FOR_BLOCKS {
            move(&particles[block], inertia, fastest);
            const reals noise = noise_of(&particles[block].random);
            const ints feasible = inside(&particles[block], context);
            if (ANY(feasible)) {
                const reals value = fitness_here(&particles[block], context) + noise;
                const ints better = feasible & (value > LOAD_LANES(BEST_SPACE, best_fitness + FIRST(block)));
                if (ANY(better)) remember(&particles[block], better, value, FIRST(block), best, best_fitness);
                particles[block].stagnation += CHOOSE(feasible & ~better, (ints)(1), (ints)(0));
                evaluated += CHOOSE(feasible & particles[block].counted, (ints)(1), (ints)(0));
            }
#if SHARED_CHOICE // at once, which spares the list a barrier of its own
            place[block] = listed(&due, 1 - turn, swarm * SWARM + FIRST(block), &particles[block]);
#endif
        }
        GROUP_BARRIER(BEST_FENCE);
        if (item == 0 && asked_for && generation % trace_every == 0)
            trace[(size_t)problem * trace_points + generation / trace_every - 1] = best_fitness[leader(best_fitness)];
    }

    if (!asked_for) return;
    for (int lane = 0; lane < LANES; ++lane)
        evaluations[((size_t)problem * ITEMS + item) * LANES + lane] = INT_OF(evaluated, lane);
    if (item == 0) {
        const int found = leader(best_fitness);
        found_fitness[problem] = best_fitness[found];
        for (int d = 0; d < DIM; ++d) found_position[(size_t)problem * DIM + d] = best[d * SWARM + found];
    }
}
