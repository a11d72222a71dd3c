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

void random_start(Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    random->numbers = numbers;
    for (int lane = 0; lane < LANES; ++lane)
        ((uint *)&random->next)[lane] = (uint)min(first_particle + lane, PARTICLES - 1) * PER_PARTICLE + problem;
}

// The next number of one lane; the others' streams stand still.
float random_lane(Random *random, const int lane) { return random->numbers[((uint *)&random->next)[lane]++]; }

// The next number of every lane.
reals random_lanes(Random *random) {
    reals result;
    for (int lane = 0; lane < LANES; ++lane) ((float *)&result)[lane] = random_lane(random, lane);
    return result;
}

// Two numbers in 0 .. count - 1 for one lane.
int2 random_pair(Random *random, const int lane, const int count) {
    const float first = random_lane(random, lane), second = random_lane(random, lane);
    return (int2)((int)(first * count), (int)(second * count));
}
