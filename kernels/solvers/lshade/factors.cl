// The factors of L-SHADE: drawn for every member about those that succeeded, which are remembered (Tanabe and Fukunaga 2014).

#define WORDS (MEMBERS / 32 + 1)

// Which number of a member's draw serves what; the first DIM serve the crossover.
#define DRAW_SLOT (DIM)
#define DRAW_SCALE (DIM + 1)
#define DRAW_RATE (DIM + 2)
#define DRAW_ANGLE (DIM + 3)
#define DRAW_BEST (DIM + 4)
#define DRAW_ONE (DIM + 5)
#define DRAW_OTHER (DIM + 6)
#define DRAW_FORCED (DIM + 7)
#define DRAW_PLACE (DIM + 8)

// A member's own factors and the members that it learns from.
typedef struct {
    reals scale, rate;
    uints best, one, other, forced;
} Factors;

// What is remembered of factors that succeeded: MEMORY pairs, replaced in turn. `shut` is the part of Cauchy's
// distribution around a scale that lies below zero. A rate below zero stands for ever for zero.
typedef struct {
    float scale[MEMORY], shut[MEMORY], rate[MEMORY];
} Memory;

// What members found in a generation: their fitness, what they gained on their parents, and with which factors.
typedef struct {
    float fitness[MEMBERS], gain[MEMBERS], scale[MEMBERS], rate[MEMBERS];
    uint improved[2][WORDS]; // a bit a member; of this generation and of the next
    uint drawn;              // of the first member
} Findings;

void keep_in_mind(__local Memory *memory, const int place, const float scale, const float rate) {
    memory->scale[place] = scale;
    memory->shut[place] = 0.5f - atan(scale * 10.0f) * M_1_PI_F;
    memory->rate[place] = rate;
}

float pick(__local const float *values, const uints places, const int lane) { return values[UINT_OF(places, lane)]; }

// Scale by Cauchy's distribution above zero, rate by the normal one, both about a remembered pair; one member near the
// best, one other, and one other or archived.
Factors draw_factors(const uints drawn, const int first, const int count, const int archived, __local const Memory *memory) {
    const uints place = random_places(drawn, DRAW_SLOT, MEMORY);
    reals scale, shut, rate;
    for (int lane = 0; lane < LANES; ++lane) {
        REAL_OF(scale, lane) = pick(memory->scale, place, lane);
        REAL_OF(shut, lane) = pick(memory->shut, place, lane);
        REAL_OF(rate, lane) = pick(memory->rate, place, lane);
    }
    Factors factors;
    const reals part = FUSED(1.0f - shut, random_units(drawn, DRAW_SCALE), shut);
    scale = FUSED((reals)(0.1f), cauchy_lanes(part), scale);
    factors.scale = CHOOSE((part > 0.999f) | (scale > 1.0f), (reals)(1.0f), scale);
    const reals spread = FUSED((reals)(0.1f), normal_lanes(random_units(drawn, DRAW_RATE), random_units(drawn, DRAW_ANGLE)), rate);
    factors.rate = CHOOSE(rate < 0.0f, (reals)(0), LESSER(GREATER(spread, (reals)(0)), (reals)(1.0f)));

    const uints member = (uints)(LANE_NUMBERS) + (uint)first;
    factors.best = random_places(drawn, DRAW_BEST, max(2, (int)(BEST_FRACTION * count + 0.5f)));
    const uints one = random_places(drawn, DRAW_ONE, count - 1);
    factors.one = CHOOSE(one >= member, one + 1, one);
    const uints lesser = CHOOSE(member < factors.one, member, factors.one), greater = member + factors.one - lesser;
    uints other = random_places(drawn, DRAW_OTHER, count + archived - 2);
    other = CHOOSE(other >= lesser, other + 1, other);
    other = CHOOSE(other >= greater, other + 1, other);
    factors.other = CHOOSE(other < (uint)count, other, other + (uint)(MEMBERS - count));
    factors.forced = random_places(drawn, DRAW_FORCED, DIM);
    return factors;
}

// Sums over the members that improved, weighted by what they gained: of their factors and the squares of these. First of
// every PARTS-th member (a constant), so that as many items can work, and the sum does not depend on how many there are.
void sum_part(const int part, const int count, __local const Findings *findings, __local float4 *sums) {
    float4 sum = 0;
    for (int member = part; member < count; member += PARTS) {
        const float gain = findings->gain[member], scale = findings->scale[member], rate = findings->rate[member];
        if (gain > 0) sum += gain * (float4)(scale, scale * scale, rate, rate * rate);
    }
    sums[part] = sum;
}

// A new pair to remember: Lehmer means of the factors that succeeded.
void remember(__local Memory *memory, const int place, __local const float4 *sums) {
    float4 sum = 0;
#pragma unroll
    for (int part = 0; part < PARTS; ++part) sum += sums[part];
    if (sum.x <= 0) return;
    keep_in_mind(memory, place, sum.y / sum.x, memory->rate[place] < 0 || sum.z <= 0 ? -1.0f : sum.w / sum.z);
}
