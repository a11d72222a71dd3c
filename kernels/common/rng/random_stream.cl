// The product's own random numbers: xoshiro128+ (Blackman and Vigna 2021, ACM TOMS 47:36), one stream a particle.
//
// The state of a stream is Philox4x32-10 of (particle, problem) under the seed, so that a stream depends on these
// three alone and never on the shape of the launch. Each lane of the state belongs to one particle.

typedef struct {
    uints word[4];
} Random;

#define RANDOM_ARGUMENTS const uint seed_low, const uint seed_high, __global const uint *streams
#define RANDOM_VALUES seed_low, seed_high, streams

void random_start(STATE_SPACE Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    for (int lane = 0; lane < LANES; ++lane) {
        const uint4 state = philox4x32((uint4)(first_particle + lane, streams[problem], 0, 0), (uint2)(seed_low, seed_high));
        UINT_OF(random->word[0], lane) = state.x;
        UINT_OF(random->word[1], lane) = state.y;
        UINT_OF(random->word[2], lane) = state.z;
        UINT_OF(random->word[3], lane) = state.w;
    }
}

// The next 32 bits of every lane.
uints random_bits(STATE_SPACE Random *random) {
    const uints result = random->word[0] + random->word[3];
    const uints shifted = random->word[1] << 9;
    random->word[2] ^= random->word[0];
    random->word[3] ^= random->word[1];
    random->word[1] ^= random->word[2];
    random->word[0] ^= random->word[3];
    random->word[2] ^= shifted;
    random->word[3] = (random->word[3] << 11) | (random->word[3] >> 21);
    return result;
}

// A number in [0, scale) for every lane: 23 random bits are the fraction of a number in [1, 2).
reals random_lanes(STATE_SPACE Random *random, const float scale) {
    return (AS_REALS((random_bits(random) >> 9) | 0x3F800000u) - 1.0f) * scale;
}

// A draw serves all dimensions of a new exemplar, so that they do not wait for each other. Lanes that are not due stand
// still.
typedef uints Draws;
typedef uint Drawn; // by one lane
#define DRAWN_TRAVELS 1 // any item may use it

Draws random_draws(STATE_SPACE Random *random, const ints due) {
    const Random before = *random;
    const uints result = random_bits(random);
    for (int word = 0; word < 4; ++word) random->word[word] = CHOOSE(due, random->word[word], before.word[word]);
    return result;
}

Drawn drawn_by(const Draws *draws, const int lane) { return UINT_OF(*draws, lane); }

// The mixer lowbias32 of C. Wellons: with steps of 0x9E3779B9 between its arguments, SplitMix. Of one lane and of all.
#define DEFINE_MIXER(mixer, type)                          \
    type mixer(const type drawn, const int step) {         \
        type mixed = drawn + (uint)step * 0x9E3779B9u;     \
        mixed = (mixed ^ (mixed >> 16)) * 0x7FEB352Du;     \
        mixed = (mixed ^ (mixed >> 15)) * 0x846CA68Bu;     \
        return mixed ^ (mixed >> 16);                      \
    }
DEFINE_MIXER(random_mixed_, uint)
DEFINE_MIXER(random_mixed_lanes_, uints)

// A number in [0, 1) for every lane.
reals random_units(const uints drawn, const int step) {
    return AS_REALS((random_mixed_lanes_(drawn, step) >> 9) | 0x3F800000u) - 1.0f;
}

// A number in 0 .. count - 1 from 32 bits: from the upper 16 of them, unless these would make some numbers twice as likely
// as others. WIDE_DRAWS says that a program has counts as large as that.
uint random_of_bits_(const uint bits, const uint count) {
#if WIDE_DRAWS
    if (count > 32768u) return (uint)(((ulong)bits * count) >> 32);
#endif
    return ((bits >> 16) * count) >> 16;
}

// A number in 0 .. count - 1 for every lane.
uints random_places(const uints drawn, const int step, const uint count) {
    const uints mixed = random_mixed_lanes_(drawn, step);
#if WIDE_DRAWS
    uints places;
    for (int lane = 0; lane < LANES; ++lane) UINT_OF(places, lane) = random_of_bits_(UINT_OF(mixed, lane), count);
    return places;
#else
    return ((mixed >> 16) * count) >> 16;
#endif
}

// A number in 0 .. count - 1.
int random_below(const Drawn *drawn, const int step, const int count) {
    return (int)random_of_bits_(random_mixed_(*drawn, step), (uint)count);
}

// Whether a particle learns, and between which two it would choose, in 0 .. count - 1 and 0 .. other_count - 1. What is left
// of a mixture below the probability is spread over 32 bits, whose halves are the two; of wide counts, they and their mixture.
int2 rivals_of_bits_(const uint spread, const int count, const int other_count) {
#if WIDE_DRAWS
    if (count > 32768)
        return (int2)((int)random_of_bits_(spread, (uint)count), (int)random_of_bits_(random_mixed_(spread, 1), (uint)other_count));
#endif
    return (int2)((int)(((spread >> 16) * (uint)count) >> 16), (int)(((spread & 0xFFFFu) * (uint)other_count) >> 16));
}

bool random_rivals(const Drawn *drawn, const int step, const float probability, const int count, const int other_count,
                   int2 *rivals) {
    const uint mixed = random_mixed_(*drawn, step);
    *rivals = rivals_of_bits_(mixed * 0x9E379E37u, count, other_count);
    return (float)(int)(mixed >> 9) < probability * 0x1p23f;
}

#if LANES > 1
// The same of so many steps at once as a vector has lanes.
ints random_rivals_of_steps(const Drawn *drawn, const int first_step, const int steps, const float probability,
                            const int count, const int other_count, ints *one, ints *other) {
    const uints offset = ((uints)(LANE_NUMBERS) + (uint)first_step) * 0x9E3779B9u;
    const uints mixed = random_mixed_lanes_(*drawn + offset, 0), spread = mixed * 0x9E379E37u;
#if WIDE_DRAWS
    for (int lane = 0; lane < LANES; ++lane) {
        const int2 rivals = rivals_of_bits_(UINT_OF(spread, lane), count, other_count);
        INT_OF(*one, lane) = rivals.x;
        INT_OF(*other, lane) = rivals.y;
    }
#else
    *one = AS_INTS(((spread >> 16) * (uint)count) >> 16);
    *other = AS_INTS(((spread & 0xFFFFu) * (uint)other_count) >> 16);
#endif
    const float below = probability * 0x1p23f; // compared as an integer: of the numbers 0 .. 2**23 - 1 so many are below it
    const int whole = (int)below, numbers = whole + (whole < below);
    return (AS_INTS(mixed >> 9) < numbers) & ((ints)(LANE_NUMBERS) < steps);
}
#endif
