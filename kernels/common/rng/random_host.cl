// Random numbers made on the host and shared by all swarms (Yu et al. 2020, sections 4.2-4.3).
//
// Particle i of swarm m reads PER_PARTICLE numbers from item PER_PARTICLE i + m of one buffer. Two swarms thus read
// the same numbers shifted by their distance: reproduced because the paper does so, poor as a default.

typedef struct {
    __global const float *numbers;
    uints next;
} Random;

#define RANDOM_ARGUMENTS __global const float *numbers
#define RANDOM_VALUES numbers

void random_start(STATE_SPACE Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    random->numbers = numbers;
    for (int lane = 0; lane < LANES; ++lane)
        UINT_OF(random->next, lane) = (uint)min(first_particle + lane, PARTICLES - 1) * PER_PARTICLE + problem;
}

float random_one_(STATE_SPACE Random *random, const int lane) { return random->numbers[UINT_OF(random->next, lane)++]; }

// The next number of every lane, times `scale`.
reals random_lanes(STATE_SPACE Random *random, const float scale) {
    reals result;
    for (int lane = 0; lane < LANES; ++lane) REAL_OF(result, lane) = random_one_(random, lane);
    return result * scale;
}
