// Comprehensive learning particle swarm optimisation, a swarm a work group (Yu et al. 2020, section 2.1 and Fig. 5), or
// SWARMS of them where a swarm would leave part of a GPU's group idle.
//
// A work item carries BLOCKS x LANES particles; SWARM = BLOCKS x ITEMS x LANES is PARTICLES, padded. Padding particles
// are never learnt from. Within a generation all particles choose exemplars before any moves, so that the result does
// not depend on how particles are laid out. The problem is seen through DIM, CONTEXT, lower, upper, fitness and, where it
// is noisy, NOISE alone.
//
// The models of Yu et al. are layouts of these files: STATE_IN_GLOBAL keeps the state of every particle in global memory,
// CONDITIONALS says how bounds are held, and the random numbers' file where those come from.

#define CONTEXT_STRIDE ((CONTEXT + 3) / 4 * 4) // so that every swarm's begins where vectors of four do
#define DIM_STRIDE ((DIM + 3) / 4 * 4)
#define FOR_BLOCKS for (int block = 0; block < BLOCKS; ++block)
#define FIRST(block) (((block)*ITEMS + item) * LANES)

__attribute__((reqd_work_group_size(ITEMS * SWARMS, 1, 1))) __kernel void clpso(
    __global const float *contexts, __global const float *learning, const int problems, const int generations,
    const int trace_every, const int trace_points, GIVEN_ARGUMENT __global float *found_position, __global float *found_fitness,
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
    FOR_SHARE (int each = item; each < CONTEXT; each += ITEMS) context[each] = contexts[(size_t)problem * CONTEXT + each];
    __local float all_fastest[SWARMS * DIM_STRIDE] __attribute__((aligned(16)));
    __local float *fastest = all_fastest + swarm * DIM_STRIDE;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_SHARE (int d = item; d < DIM; d += ITEMS) fastest[d] = (upper(d, context) - lower(d, context)) * VELOCITY_FRACTION;
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
        TAKE_GIVEN(particles[block].position, FIRST(block));
        const reals noise = noise_of(&particles[block].random), value = fitness_here(&particles[block], context) + noise;
        STORE_LANES((reals)(-INFINITY), BEST_SPACE, best_fitness + FIRST(block));
        remember(particles[block].position, (ints)(1) == (ints)(1), CHOOSE(value == value, value, (reals)(-INFINITY)), FIRST(block),
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
                if (ANY(better)) remember(particles[block].position, better, value, FIRST(block), best, best_fitness);
                particles[block].stagnation += CHOOSE(feasible & ~better, (ints)(1), (ints)(0));
                evaluated += CHOOSE(feasible & particles[block].counted, (ints)(1), (ints)(0));
            }
            if (EXCHANGES(generation)) evaluated += exchange_best(&particles[block], FIRST(block), best, best_fitness, context);
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
