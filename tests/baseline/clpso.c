// The sequential engine's equal in plain C: comprehensive learning PSO (Yu et al. 2020, section 2.1 and Fig. 1) on the
// years of a reservoir, one after another on one thread. What the sequential engine is measured against.
//
// In front of this file stand the constants and curves of the reservoir and kernels/problems/reservoir, whose
// OpenCL C is plain C where vectors are one number wide.

#include <stdint.h>
#include <string.h>

typedef struct {
    float position[DIM], velocity[DIM], exemplar[DIM];
    int stagnation;
    uint32_t random[4];
} Particle;

static Particle swarm[PARTICLES];
static float best[PARTICLES][DIM], best_fitness[PARTICLES];

static inline uint32_t next_bits(uint32_t *s) {
    const uint32_t result = s[0] + s[3], shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 11) | (s[3] >> 21);
    return result;
}

static inline float next_uniform(uint32_t *state) { return (float)(int32_t)(next_bits(state) >> 9) * 0x1p-23f; }

static inline uint32_t mixed(const uint32_t drawn, const uint32_t step) {
    uint32_t bits = drawn + step * 0x9E3779B9u;
    bits = (bits ^ (bits >> 16)) * 0x7FEB352Du;
    bits = (bits ^ (bits >> 15)) * 0x846CA68Bu;
    return bits ^ (bits >> 16);
}

static inline int below(const uint32_t bits, const int count) { return (int)((bits * (uint32_t)count) >> 16); }

// Storages first, then the power of all steps, which no step waits for.
static float judged(const float *restrict position, const float *restrict year) {
    float storages[STEPS + 1], releases[STEPS];
    if (!year[REPAIRABLE]) {
        memcpy(releases, position, sizeof releases);
        return fitness_with_violation(releases, year[START], year);
    }
    storages[0] = year[START];
    for (int step = 0; step < STEPS; ++step) {
        const float unlimited = STORAGE_AFTER(storages[step], AT(INFLOW, step), position[step], AT(HM3_PER_M3S, step));
        storages[step + 1] = LESSER(GREATER(unlimited, AT(REACH_LOWER, step)), AT(REACH_UPPER, step));
        releases[step] = STEERED_RELEASE(position[step], unlimited, storages[step + 1], AT(FLOW_PER_VOLUME, step));
    }
    float benefit = 0;
    for (int step = 0; step < STEPS; ++step) {
        const float both = storages[step] + storages[step + 1];
        const float power = power_within_bounds(both, releases[step], year_step(step, year));
        benefit += STAGE_BENEFIT(REAL, power, 0, 0, AT(HM3_PER_M3S, step));
    }
    return benefit * PER_STAGE_BENEFIT;
}

static void initialise(Particle *particle, const float *year) {
    for (int d = 0; d < DIM; ++d) {
        const float width = upper(d, year) - lower(d, year);
        particle->velocity[d] = (2 * next_uniform(particle->random) - 1) * (width * VELOCITY_FRACTION);
        particle->position[d] = lower(d, year) + next_uniform(particle->random) * width;
    }
    particle->stagnation = GAP;
}

static void choose_exemplar(const int i, const float learning) {
    const uint32_t drawn = next_bits(swarm[i].random);
    int learns = 0;
    for (int d = 0; d < DIM; ++d) {
        const uint32_t bits = mixed(drawn, d);
        int teacher = i;
        if ((float)(int32_t)(bits >> 9) < learning * 0x1p23f) {
            const uint32_t spread = bits * 0x9E379E37u;
            const int one = below(spread >> 16, PARTICLES), other = below(spread & 0xFFFFu, PARTICLES);
            teacher = best_fitness[one] > best_fitness[other] ? one : other;
        }
        learns |= teacher != i;
        swarm[i].exemplar[d] = best[teacher][d];
    }
    if (!learns) {
        const int spare = below(mixed(drawn, DIM) >> 16, DIM);
        swarm[i].exemplar[spare] = best[below(mixed(drawn, DIM + 1) >> 16, PARTICLES)][spare];
    }
    swarm[i].stagnation = 0;
}

static int move(Particle *restrict particle, const float inertia, const float *restrict year) {
    float drawn[DIM];
    for (int d = 0; d < DIM; ++d) drawn[d] = next_uniform(particle->random);
    int outside = 0;
    for (int d = 0; d < DIM; ++d) {
        const float fastest = (upper(d, year) - lower(d, year)) * VELOCITY_FRACTION;
        const float pull = ACCELERATION * drawn[d] * (particle->exemplar[d] - particle->position[d]);
        float velocity = LESSER(GREATER(inertia * particle->velocity[d] + pull, -fastest), fastest);
        velocity = __builtin_fabsf(velocity) < SMALLEST_VELOCITY ? 0 : velocity;
        particle->velocity[d] = velocity;
        particle->position[d] += velocity;
        outside += (particle->position[d] < lower(d, year)) | (particle->position[d] > upper(d, year));
    }
    return !outside;
}

// Solve one year; returns the number of evaluations.
int solve(const float *year, const float *learning, const uint32_t *states, const int generations, float *found) {
    int evaluations = 0;
    for (int i = 0; i < PARTICLES; ++i) {
        memcpy(swarm[i].random, states + 4 * i, sizeof swarm[i].random);
        initialise(&swarm[i], year);
        best_fitness[i] = -3e38f;
    }
    for (int generation = 0; generation <= generations; ++generation) {
        const float inertia = INERTIA_FIRST - INERTIA_FALL * generation / generations;
        for (int i = 0; i < PARTICLES; ++i)
            if (generation && swarm[i].stagnation >= GAP) choose_exemplar(i, learning[i]);
        for (int i = 0; i < PARTICLES; ++i) {
            if (generation && !move(&swarm[i], inertia, year)) continue;
            const float value = judged(swarm[i].position, year);
            ++evaluations;
            if (value > best_fitness[i]) {
                best_fitness[i] = value;
                memcpy(best[i], swarm[i].position, sizeof best[i]);
            } else {
                ++swarm[i].stagnation;
            }
        }
    }
    int leader = 0;
    for (int i = 1; i < PARTICLES; ++i)
        if (best_fitness[i] > best_fitness[leader]) leader = i;
    memcpy(found, best[leader], sizeof best[leader]);
    return evaluations;
}
