// A team: TEAM neighbouring items of a work group that work on one thing together, at most 32.
//
// A team of one needs nothing. With WARPS a team is a warp of a CUDA device, or an even part of one, whose items
// synchronise and read each other's registers by instructions of PTX (NVIDIA's OpenCL has no sub-groups). Elsewhere teams
// meet with their whole work group, so that all of its teams must call these functions together, and exchange by a pad in
// local memory. All items of a team get the same answer.

typedef struct {
    int place;         // of the item in its team
    __local uint *pad; // of the team, TEAM_WORDS
} SubGroup;

#if TEAM == 1

#define TEAM_WORDS 0
#define TEAM_BARRIER

uint team_bits(const bool yes, const SubGroup team) { return yes; }

#define DEFINE_FOLD(name, type, partner_of, COMBINED) \
    type name(const type value, const SubGroup team) { return value; }

#elif WARPS

#define TEAM_WORDS 0
// A bit of each item of the team, among the 32 of the warp.
#define TEAM_SHIFT ((uint)get_local_id(0) % 32 / TEAM * TEAM)
#define TEAM_MEMBERS (TEAM == 32 ? 0xFFFFFFFFu : ((1u << TEAM % 32) - 1u) << TEAM_SHIFT)
#define TEAM_BARRIER asm volatile("bar.warp.sync %0;" ::"r"(TEAM_MEMBERS) : "memory")

// A bit of each item that says yes.
uint team_bits(const bool yes, const SubGroup team) {
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

float float_of_partner_(const float value, const int distance) {
    return as_float(from_partner_(as_int(value), distance));
}

long long_of_partner_(const long value, const int distance) {
    const uint low = (uint)from_partner_((int)value, distance);
    return (long)from_partner_((int)(value >> 32), distance) << 32 | low;
}

#define DEFINE_FOLD(name, type, partner_of, COMBINED)                  \
    type name(type value, const SubGroup team) {                           \
        for (int distance = TEAM / 2; distance > 0; distance /= 2) {   \
            const type other = partner_of(value, distance);            \
            value = COMBINED(value, other);                            \
        }                                                              \
        return value;                                                  \
    }

#else

#define TEAM_WORDS TEAM
#define TEAM_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

uint team_bits(const bool yes, const SubGroup team) {
    team.pad[team.place] = (uint)yes << team.place;
    TEAM_BARRIER;
    uint bits = 0;
    for (int item = 0; item < TEAM; ++item) bits |= team.pad[item];
    TEAM_BARRIER;
    return bits;
}

#define DEFINE_FOLD(name, type, partner_of, COMBINED)                                       \
    type name(const type value, const SubGroup team) {                                          \
        __local type *const pad = (__local type *)team.pad;                                 \
        pad[team.place] = value;                                                            \
        TEAM_BARRIER;                                                                          \
        type folded = pad[0];                                                               \
        for (int item = 1; item < TEAM; ++item) {                                           \
            const type other = pad[item];                                                   \
            folded = COMBINED(folded, other);                                               \
        }                                                                                   \
        TEAM_BARRIER;                                                                          \
        return folded;                                                                      \
    }

#endif

// What all items' values come to; `partner_of` reads another item's register, `COMBINED` is a macro of two names.
#define SUM_OF(a, b) ((a) + (b))
#define PRODUCT_OF(a, b) ((a) * (b))
#define GREATER_OF(a, b) ((a) > (b) ? (a) : (b))
DEFINE_FOLD(team_sum, int, from_partner_, SUM_OF)
DEFINE_FOLD(team_most, int, from_partner_, GREATER_OF)
DEFINE_FOLD(team_sum_of_floats, float, float_of_partner_, SUM_OF)
DEFINE_FOLD(team_product_of_floats, float, float_of_partner_, PRODUCT_OF)
#if TEAM == 1 || WARPS // a pad has no room for long numbers
DEFINE_FOLD(team_most_of_longs, long, long_of_partner_, GREATER_OF)
#endif

// How many items before this one are among the bits.
int bits_before(const uint bits, const SubGroup team) { return TEAM == 1 ? 0 : (int)popcount(bits & ((1u << team.place) - 1u)); }
int bits_in(const uint bits) { return TEAM == 1 ? (int)bits : (int)popcount(bits); }
