// The product's own random numbers: xoshiro128+ (Blackman and Vigna 2021, ACM TOMS 47:36), one stream a particle.
//
// The state of a stream is Philox4x32-10 of (particle, problem) under the seed, so that a stream depends on these
// three alone and never on the shape of the launch. Each lane of the state belongs to one particle.

typedef struct {
    uints word[4];
} Random;

#define RANDOM_ARGUMENTS const uint seed_low, const uint seed_high, __global const uint *streams
#define RANDOM_VALUES seed_low, seed_high, streams

void random_start(Random *random, const int problem, const int first_particle, RANDOM_ARGUMENTS) {
    for (int lane = 0; lane < LANES; ++lane) {
        const uint4 state = philox4x32((uint4)(first_particle + lane, streams[problem], 0, 0), (uint2)(seed_low, seed_high));
        ((uint *)&random->word[0])[lane] = state.x;
        ((uint *)&random->word[1])[lane] = state.y;
        ((uint *)&random->word[2])[lane] = state.z;
        ((uint *)&random->word[3])[lane] = state.w;
    }
}

// A number in [0, 1) for every lane, in steps of 2^-24.
reals random_lanes(Random *random) {
    const uints result = random->word[0] + random->word[3];
    const uints shifted = random->word[1] << 9;
    random->word[2] ^= random->word[0];
    random->word[3] ^= random->word[1];
    random->word[1] ^= random->word[2];
    random->word[0] ^= random->word[3];
    random->word[2] ^= shifted;
    random->word[3] = (random->word[3] << 11) | (random->word[3] >> 21);
    return TO_REALS(result >> 8) * (reals)(0x1p-24f);
}

uint random_bits_(Random *random, const int lane) {
    uint s0 = ((uint *)&random->word[0])[lane], s1 = ((uint *)&random->word[1])[lane];
    uint s2 = ((uint *)&random->word[2])[lane], s3 = ((uint *)&random->word[3])[lane];
    const uint result = s0 + s3;
    const uint shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotate(s3, 11u);
    ((uint *)&random->word[0])[lane] = s0;
    ((uint *)&random->word[1])[lane] = s1;
    ((uint *)&random->word[2])[lane] = s2;
    ((uint *)&random->word[3])[lane] = s3;
    return result;
}

// A number in [0, 1) for one lane; the others' streams stand still.
float random_lane(Random *random, const int lane) { return (float)(random_bits_(random, lane) >> 8) * 0x1p-24f; }

// Two independent numbers in 0 .. count - 1 for one lane, from the two halves of one draw.
int2 random_pair(Random *random, const int lane, const int count) {
    const uint bits = random_bits_(random, lane);
    return (int2)((int)(((bits >> 16) * (uint)count) >> 16), (int)(((bits & 0xFFFFu) * (uint)count) >> 16));
}
