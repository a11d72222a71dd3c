// Random numbers as in the basic model of Yu et al. 2020 (eq. 14-15): multiplicative congruential, one seed a particle.

typedef struct {
    uints phi;
} Random;

#define RANDOM_ARGUMENTS __global const uint *seeds
#define RANDOM_VALUES seeds

void random_start(Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    for (int lane = 0; lane < LANES; ++lane)
        ((uint *)&random->phi)[lane] = seeds[problem * SWARM + first_particle + lane];
}

// A number in [0, 1] for every lane (eq. 15).
reals random_lanes(Random *random) {
    random->phi = (random->phi * (uints)(1103515245u) + (uints)(12345u)) % (uints)(2147483647u);
    return TO_REALS(random->phi) / (reals)(2147483647.0f);
}

// A number in [0, 1] for one lane; the others' streams stand still.
float random_lane(Random *random, const int lane) {
    uint *phi = (uint *)&random->phi + lane;
    *phi = (*phi * 1103515245u + 12345u) % 2147483647u;
    return (float)*phi / 2147483647.0f;
}

// Two numbers in 0 .. count - 1 for one lane.
int2 random_pair(Random *random, const int lane, const int count) {
    const float first = random_lane(random, lane), second = random_lane(random, lane);
    return (int2)(min((int)(first * count), count - 1), min((int)(second * count), count - 1));
}
