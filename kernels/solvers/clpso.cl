// Comprehensive learning particle swarm optimisation, one swarm a work group (Yu et al. 2020, section 2.1 and Fig. 5).
//
// A work item carries BLOCKS x LANES particles; SWARM = BLOCKS x ITEMS x LANES is PARTICLES, padded. Padding particles
// are never learnt from. Within a generation all particles choose exemplars before any moves, so that the result does
// not depend on how particles are laid out. The problem is seen through DIM, CONTEXT, lower, upper and fitness alone.

#define FOR_DIM _Pragma("unroll") for (int d = 0; d < DIM; ++d)
#define FOR_BLOCKS for (int block = 0; block < BLOCKS; ++block)
#define FIRST(block) (((block)*ITEMS + item) * LANES)
#if ITEMS > 1
#define MEET barrier(BEST_FENCE)
#else
#define MEET
#endif

typedef struct {
    reals position[DIM], velocity[DIM], exemplar[DIM];
    ints stagnation;
    ints counted;  // a mask: padding particles are not counted
    Random random;
} Particles;

// Step 1: uniform positions and velocities, drawn velocity first.
void initialise(Particles *particles, const int first, CONTEXT_SPACE const float *context) {
    FOR_DIM {
        const float low = lower(d, context), range = upper(d, context) - low;
        const reals drawn = random_lanes(&particles->random);
        particles->velocity[d] = (drawn * 2.0f - 1.0f) * (range * VELOCITY_PART);
        particles->position[d] = FUSED(random_lanes(&particles->random), (reals)(range), (reals)(low));
    }
    particles->stagnation = GAP;
    particles->counted = (ints)(LANE_NUMBERS) + first < PARTICLES;
}

// Step 3: new exemplars for one particle by tournaments between personal bests; relaxed, as section 2.1 ends.
void choose_exemplar(Particles *particles, const int lane, const int particle, const float learning,
                     BEST_SPACE const float *best, BEST_SPACE const float *best_fitness) {
    int learns = 0;
    FOR_DIM {
        int teacher = particle;
        if (random_lane(&particles->random, lane) < learning) {
            const int2 pair = random_pair(&particles->random, lane, PARTICLES);
            teacher = best_fitness[pair.x] > best_fitness[pair.y] ? pair.x : pair.y;
        }
        learns |= teacher != particle;
        ((float *)&particles->exemplar[d])[lane] = best[d * SWARM + teacher];
    }
    if (!learns) {
        const int d = min((int)(random_lane(&particles->random, lane) * DIM), DIM - 1);
        const int teacher = min((int)(random_lane(&particles->random, lane) * PARTICLES), PARTICLES - 1);
        const float learnt = best[d * SWARM + teacher];
        for (int each = 0; each < DIM; ++each)  // keeps every index constant, so that arrays stay in registers
            if (each == d) ((float *)&particles->exemplar[each])[lane] = learnt;
    }
}

// Eq. 1-3; velocities too small to matter are dropped before they become denormal numbers.
void move(Particles *particles, const float inertia, CONTEXT_SPACE const float *context) {
    FOR_DIM {
        const float fastest = (upper(d, context) - lower(d, context)) * VELOCITY_PART;
        const reals pull = ACCELERATION * random_lanes(&particles->random);
        reals velocity = FUSED(pull, particles->exemplar[d] - particles->position[d], inertia * particles->velocity[d]);
        velocity = LESSER(GREATER(velocity, (reals)(-fastest)), (reals)(fastest));
        particles->velocity[d] = CHOOSE((velocity < SMALLEST_VELOCITY) & (velocity > -SMALLEST_VELOCITY), (reals)(0), velocity);
        particles->position[d] += particles->velocity[d];
    }
}

ints inside(const Particles *particles, CONTEXT_SPACE const float *context) {
    ints feasible = (ints)(1) == (ints)(1);
    FOR_DIM feasible &= (particles->position[d] >= lower(d, context)) & (particles->position[d] <= upper(d, context));
    return feasible;
}

void remember(const Particles *particles, const ints better, const reals value, const int first,
              BEST_SPACE float *best, BEST_SPACE float *best_fitness) {
    STORE_LANES(CHOOSE(better, value, LOAD_LANES(best_fitness + first)), best_fitness + first);
    FOR_DIM {
        BEST_SPACE float *place = best + d * SWARM + first;
        STORE_LANES(CHOOSE(better, particles->position[d], LOAD_LANES(place)), place);
    }
}

// Step 5, needed only where it is reported: the best particle, the first of equals.
int leader(BEST_SPACE const float *best_fitness) {
    int found = 0;
    for (int particle = 1; particle < PARTICLES; ++particle)
        if (best_fitness[particle] > best_fitness[found]) found = particle;
    return found;
}

__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void clpso(__global const float *contexts, __global const float *learning, const int generations,
                    const int trace_every, const int trace_points, __global float *found_position,
                    __global float *found_fitness, __global int *evaluations, __global float *trace,
#if BEST_IN_GLOBAL
                    __global float *best_memory,
#endif
                    RANDOM_ARGUMENTS) {
    const int problem = get_group_id(0), item = get_local_id(0);
#if BEST_IN_GLOBAL
    __global float *best = best_memory + (size_t)problem * (DIM + 1) * SWARM;
    __global float *best_fitness = best + DIM * SWARM;
#else
    __local float best[DIM * SWARM];
    __local float best_fitness[SWARM];
#endif
    __local float context[CONTEXT];
    for (int each = item; each < CONTEXT; each += ITEMS) context[each] = contexts[(size_t)problem * CONTEXT + each];
    barrier(CLK_LOCAL_MEM_FENCE);

    Particles particles[BLOCKS];
    ints evaluated = 0;
    FOR_BLOCKS {
        random_start(&particles[block].random, problem, FIRST(block), RANDOM_VALUES);
        initialise(&particles[block], FIRST(block), context);
        const reals value = fitness(particles[block].position, context);
        STORE_LANES((reals)(-INFINITY), best_fitness + FIRST(block));
        remember(&particles[block], (ints)(1) == (ints)(1), CHOOSE(value == value, value, (reals)(-INFINITY)), FIRST(block),
                 best, best_fitness);
    }
    MEET;

    for (int generation = 1; generation <= generations; ++generation) {
        const float inertia = INERTIA_FIRST - INERTIA_FALL * generation / generations;
        FOR_BLOCKS {
            const ints due = particles[block].stagnation >= GAP;
            if (ANY(due)) {
                for (int lane = 0; lane < LANES; ++lane) {
                    if (((const int *)&due)[lane]) {
                        const int particle = FIRST(block) + lane;
                        choose_exemplar(&particles[block], lane, particle, learning[particle], best, best_fitness);
                    }
                }
                particles[block].stagnation = CHOOSE(due, (ints)(0), particles[block].stagnation);
            }
        }
        MEET;
        FOR_BLOCKS {
            move(&particles[block], inertia, context);
            const ints feasible = inside(&particles[block], context);
            if (ANY(feasible)) {
                const reals value = fitness(particles[block].position, context);
                const ints better = feasible & (value > LOAD_LANES(best_fitness + FIRST(block)));
                if (ANY(better)) remember(&particles[block], better, value, FIRST(block), best, best_fitness);
                particles[block].stagnation += CHOOSE(feasible & ~better, (ints)(1), (ints)(0));
                evaluated += CHOOSE(feasible & particles[block].counted, (ints)(1), (ints)(0));
            }
        }
        MEET;
        if (item == 0 && generation % trace_every == 0)
            trace[(size_t)problem * trace_points + generation / trace_every - 1] = best_fitness[leader(best_fitness)];
    }

    for (int lane = 0; lane < LANES; ++lane)
        evaluations[((size_t)problem * ITEMS + item) * LANES + lane] = ((const int *)&evaluated)[lane];
    if (item == 0) {
        const int found = leader(best_fitness);
        found_fitness[problem] = best_fitness[found];
        for (int d = 0; d < DIM; ++d) found_position[problem * DIM + d] = best[d * SWARM + found];
    }
}
