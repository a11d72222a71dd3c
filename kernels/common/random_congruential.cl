// Random numbers as in the basic model of Yu et al. 2020 (eq. 14-15): multiplicative congruential, one seed a particle.

typedef struct {
    uints phi;
} Random;

#define RANDOM_ARGUMENTS __global const uint *seeds
#define RANDOM_VALUES seeds

void random_start(Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    for (int lane = 0; lane < LANES; ++lane)
        UINT_OF(random->phi, lane) = seeds[problem * SWARM + first_particle + lane];
}

// A number in [0, scale] for every lane (eq. 15).
reals random_lanes(Random *random, const float scale) {
    random->phi = (random->phi * (uints)(1103515245u) + (uints)(12345u)) % (uints)(2147483647u);
    return TO_REALS(random->phi) / (reals)(2147483647.0f) * scale;
}

float random_one_(Random *random, const int lane) {
    const uint phi = (UINT_OF(random->phi, lane) * 1103515245u + 12345u) % 2147483647u;
    UINT_OF(random->phi, lane) = phi;
    return (float)phi / 2147483647.0f;
}

// The numbers of one lane, for a new exemplar; the other lanes' streams stand still.
typedef struct {
    Random *random;
    int lane;
} Drawn;
#define DRAWN_TRAVELS 0

Drawn random_draw(Random *random, const int lane) {
    const Drawn drawn = {random, lane};
    return drawn;
}

// A number in 0 .. count - 1.
int random_below(const Drawn *drawn, const int step, const int count) {
    return min((int)(random_one_(drawn->random, drawn->lane) * count), count - 1);
}

// Whether a particle learns, and if so between which two in 0 .. count - 1 it chooses.
bool random_rivals(const Drawn *drawn, const int step, const float probability, const int count, int2 *rivals) {
    *rivals = 0;
    if (random_one_(drawn->random, drawn->lane) >= probability) return false;
    const int first = random_below(drawn, step, count);
    *rivals = (int2)(first, random_below(drawn, step, count));
    return true;
}
