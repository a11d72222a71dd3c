// A team: TEAM neighbouring items of a work group that work on one thing together, at most 32.
//
// A team of one needs nothing. With WARPS a team is a warp of 32 items, which CUDA devices synchronise and let exchange
// registers by instructions of their own (NVIDIA's OpenCL has no sub-groups, but takes PTX). Elsewhere teams meet with
// their whole work group, so that all of its teams must call these functions together, and exchange by a pad in local
// memory. All items of a team get the same answer.

typedef struct {
    int place;         // of the item in its team
    __local uint *pad; // of the team, TEAM_WORDS
} Team;

#if TEAM == 1

#define TEAM_WORDS 0
#define TEAM_MEET

uint team_bits(const bool yes, const Team team) { return yes; }
int team_sum(const int value, const Team team) { return value; }
int team_most(const int value, const Team team) { return value; }

#elif WARPS

#define TEAM_WORDS 0
#define TEAM_MEET asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

// A bit of each item that says yes.
uint team_bits(const bool yes, const Team team) {
    uint bits;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(bits)
                 : "r"((uint)yes));
    return bits;
}

int from_partner_(const int value, const int distance) {
    int other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(other) : "r"(value), "r"(distance));
    return other;
}

int team_sum(int value, const Team team) {
    for (int distance = 16; distance > 0; distance /= 2) value += from_partner_(value, distance);
    return value;
}

int team_most(int value, const Team team) {
    for (int distance = 16; distance > 0; distance /= 2) value = max(value, from_partner_(value, distance));
    return value;
}

#else

#define TEAM_WORDS TEAM
#define TEAM_MEET barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

uint team_bits(const bool yes, const Team team) {
    team.pad[team.place] = (uint)yes << team.place;
    TEAM_MEET;
    uint bits = 0;
    for (int item = 0; item < TEAM; ++item) bits |= team.pad[item];
    TEAM_MEET;
    return bits;
}

int team_sum(const int value, const Team team) {
    team.pad[team.place] = as_uint(value);
    TEAM_MEET;
    int sum = 0;
    for (int item = 0; item < TEAM; ++item) sum += as_int(team.pad[item]);
    TEAM_MEET;
    return sum;
}

int team_most(const int value, const Team team) {
    team.pad[team.place] = as_uint(value);
    TEAM_MEET;
    int most = value;
    for (int item = 0; item < TEAM; ++item) most = max(most, as_int(team.pad[item]));
    TEAM_MEET;
    return most;
}

#endif

// How many items before this one are among the bits.
int bits_before(const uint bits, const Team team) { return TEAM == 1 ? 0 : (int)popcount(bits & ((1u << team.place) - 1u)); }
int bits_in(const uint bits) { return TEAM == 1 ? (int)bits : (int)popcount(bits); }
