// Exemplars that particles learn from, chosen by tournaments (Yu et al. 2020, section 2.1, step 3).

#define GROUP_PARTICLES (SWARMS * SWARM)
// Several swarms a group share the choice of exemplars, where a draw means the same to every item.
#define SHARED_CHOICE (LANES == 1 && SWARMS > 1 && DRAWN_TRAVELS && !BEST_IN_GLOBAL)

// STRICT: two different particles are drawn that are not the one that learns; else any two (section 2.1).
#define COUNT_OF_ONE (PARTICLES - STRICT)
#define COUNT_OF_OTHER (PARTICLES - 2 * STRICT)

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
    FOR_SHARE (int place = get_local_id(0); place < due->count[turn]; place += ITEMS * SWARMS) {
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
