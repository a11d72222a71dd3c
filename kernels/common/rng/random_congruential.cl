// Random numbers as in the basic model of Yu et al. 2020 (eq. 14-15): multiplicative congruential, one seed a particle.

typedef struct {
    uints phi;
} Random;

#define RANDOM_ARGUMENTS __global const uint *seeds
#define RANDOM_VALUES seeds

void random_start(STATE_SPACE Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    for (int lane = 0; lane < LANES; ++lane)
        UINT_OF(random->phi, lane) = seeds[problem * SWARM + first_particle + lane];
}

// Eq. 14. A function of its own, since NVIDIA's compiler was not done with a long chain of remainders after minutes.
__attribute__((noinline)) uints random_next_(const uints phi) {
    return (phi * (uints)(1103515245u) + (uints)(12345u)) % (uints)(2147483647u);
}

// A number in [0, scale] for every lane (eq. 15).
reals random_lanes(STATE_SPACE Random *random, const float scale) {
    random->phi = random_next_(random->phi);
    return TO_REALS(random->phi) / (reals)(2147483647.0f) * scale;
}

float random_one_(STATE_SPACE Random *random, const int lane) {
#if LANES == 1
    return random_lanes(random, 1.0f);
#else
    const uint phi = (UINT_OF(random->phi, lane) * 1103515245u + 12345u) % 2147483647u;
    UINT_OF(random->phi, lane) = phi;
    return (float)phi / 2147483647.0f;
#endif
}
