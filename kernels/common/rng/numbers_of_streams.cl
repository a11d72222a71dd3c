// Random numbers by their place: those that a particle draws in a generation are mixed from one word, which Philox makes
// of (particle, problem, generation) under the seed. Whoever needs a number makes it; nothing is kept.

#define NUMBER_ARGUMENTS const uint seed_low, const uint seed_high, __global const uint *streams
#define NUMBER_VALUES seed_low, seed_high, streams

// The word of a generation; the word of the generation before is not needed here.
uint next_word(const uint before, const int problem, const int particle, const int generation, NUMBER_ARGUMENTS) {
    return philox4x32((uint4)(particle, streams[problem], generation, 1), (uint2)(seed_low, seed_high)).x;
}

// 32 bits of a place among the numbers of a word: SplitMix with the mixer lowbias32 of C. Wellons.
#define DEFINE_BITS_AT(bits_at, type)                      \
    type bits_at(const type words, const type places) {    \
        type mixed = words + places * 0x9E3779B9u;         \
        mixed = (mixed ^ (mixed >> 16)) * 0x7FEB352Du;     \
        mixed = (mixed ^ (mixed >> 15)) * 0x846CA68Bu;     \
        return mixed ^ (mixed >> 16);                      \
    }
DEFINE_BITS_AT(bits_at, uint)
DEFINE_BITS_AT(bits_of_lanes_, uints)

// A number in [0, 1) for every lane: that of a place among those of a word.
reals number_at(const uints words, const uints places) {
    return AS_REALS((bits_of_lanes_(words, places) >> 9) | 0x3F800000u) - 1.0f;
}

// A whole number in 0 .. count - 1: that of a place among those of a word. 16 bits are enough unless they would make some
// numbers twice as likely as others.
int place_below(const uint word, const uint place, const int count) {
    const uint bits = bits_at(word, place);
    if (count > 32768) return (int)(((ulong)bits * (uint)count) >> 32);
    return (int)(((bits >> 16) * (uint)count) >> 16);
}
