// Random numbers by their place, as in Li and Liu 2017 (eq. 7-8): linear congruential modulo 2^31, a seed a particle. A
// particle's word is the state behind its last number; steps ahead are taken at once by the factors and summands that
// the table `ahead` holds for 0, 1, 2, ... steps.
//
// Constants: NUMBERS that a particle draws in a generation, AHEAD, the table's numbers.

__constant uint ahead[] = AHEAD;

#define NUMBER_ARGUMENTS __global const uint *seeds
#define NUMBER_VALUES seeds

uint congruential(const uint word, const int steps) {
    return (ahead[2 * steps] * word + ahead[2 * steps + 1]) & 0x7FFFFFFFu;
}

// The state behind the numbers of the generation before; at first the seed.
uint next_word(const uint before, const int problem, const int particle, const int generation, NUMBER_ARGUMENTS) {
    return generation == 0 ? seeds[problem * PARTICLES + particle] : congruential(before, NUMBERS);
}

// A number in [0, 1) for every lane: that of a place among those behind a word, cut to 23 bits.
reals number_at(const uints words, const uints places) {
    reals numbers;
    for (int lane = 0; lane < LANES; ++lane) {
        const uint state = congruential(UINT_OF(words, lane), UINT_OF(places, lane) + 1);
        REAL_OF(numbers, lane) = (float)(int)(state >> 8) * 0x1p-23f;
    }
    return numbers;
}
