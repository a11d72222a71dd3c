// A team: TEAM neighbouring items of a work group that work on one thing together, at most 32.
//
// A team of one needs nothing. With WARPS a team is a warp of a CUDA device, or an even part of one, whose items
// synchronise and read each other's registers by instructions of PTX (NVIDIA's OpenCL has no sub-groups). Elsewhere teams
// meet with their whole work group, so that all of its teams must call these functions together, and exchange by a pad in
// local memory. All items of a team get the same answer.

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
float team_sum_of_floats(const float value, const Team team) { return value; }
float team_product_of_floats(const float value, const Team team) { return value; }

#elif WARPS

#define TEAM_WORDS 0
// A bit of each item of the team, among the 32 of the warp.
#define TEAM_SHIFT ((uint)get_local_id(0) % 32 / TEAM * TEAM)
#define TEAM_MEMBERS (TEAM == 32 ? 0xFFFFFFFFu : ((1u << TEAM % 32) - 1u) << TEAM_SHIFT)
#define TEAM_MEET asm volatile("bar.warp.sync %0;" ::"r"(TEAM_MEMBERS) : "memory")

// A bit of each item that says yes.
uint team_bits(const bool yes, const Team team) {
    uint bits;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(bits)
                 : "r"((uint)yes), "r"(TEAM_MEMBERS));
    return bits >> TEAM_SHIFT;
}

int from_partner_(const int value, const int distance) {
    int other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;"
                 : "=r"(other)
                 : "r"(value), "r"(distance), "r"(TEAM_MEMBERS));
    return other;
}

int team_sum(int value, const Team team) {
    for (int distance = TEAM / 2; distance > 0; distance /= 2) value += from_partner_(value, distance);
    return value;
}

int team_most(int value, const Team team) {
    for (int distance = TEAM / 2; distance > 0; distance /= 2) value = max(value, from_partner_(value, distance));
    return value;
}

float team_sum_of_floats(float value, const Team team) {
    for (int distance = TEAM / 2; distance > 0; distance /= 2) value += as_float(from_partner_(as_int(value), distance));
    return value;
}

float team_product_of_floats(float value, const Team team) {
    for (int distance = TEAM / 2; distance > 0; distance /= 2) value *= as_float(from_partner_(as_int(value), distance));
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

float team_sum_of_floats(const float value, const Team team) {
    team.pad[team.place] = as_uint(value);
    TEAM_MEET;
    float sum = 0;
    for (int item = 0; item < TEAM; ++item) sum += as_float(team.pad[item]);
    TEAM_MEET;
    return sum;
}

float team_product_of_floats(const float value, const Team team) {
    team.pad[team.place] = as_uint(value);
    TEAM_MEET;
    float product = 1;
    for (int item = 0; item < TEAM; ++item) product *= as_float(team.pad[item]);
    TEAM_MEET;
    return product;
}

#endif

// How many items before this one are among the bits.
int bits_before(const uint bits, const Team team) { return TEAM == 1 ? 0 : (int)popcount(bits & ((1u << team.place) - 1u)); }
int bits_in(const uint bits) { return TEAM == 1 ? (int)bits : (int)popcount(bits); }
