// L-SHADE: differential evolution that remembers which factors succeeded, with a population that shrinks (Tanabe and
// Fukunaga 2014, "Improving the search performance of SHADE using linear population size reduction", IEEE CEC, 1658-1665);
// a population a work group.
//
// A work item carries BLOCKS x LANES members; MEMBERS = BLOCKS x ITEMS x LANES is the first population, padded. Members
// stand in order of their fitness, so that the best of them are the first ones and the population shrinks at its end.
// A generation has two parts: every member breeds a child from what all can read; then children take their parents'
// places, parents go to the archive and all move to their ranks. The problem is seen through DIM, CONTEXT, lower, upper
// and fitness, or repaired_fitness, alone.

#define CONTEXT_STRIDE ((CONTEXT + 3) / 4 * 4)
#define STRIDE (MEMBERS + ARCHIVE) // the archive stands behind the members
#define WORDS (MEMBERS / 32 + 1)
#define FOR_DIM for (int d = 0; d < DIM; ++d) // under "#pragma unroll" each: one in a macro is not heeded everywhere
#define FOR_BLOCKS for (int block = 0; block < BLOCKS; ++block)
#define FIRST(block) (((block)*ITEMS + item) * LANES)
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

typedef struct {
    reals parent[DIM], child[DIM], fitness;
    ints improved;
} Family;

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

reals gathered(POOL_SPACE const float *row, const uints places) {
    reals values;
    for (int lane = 0; lane < LANES; ++lane) REAL_OF(values, lane) = row[UINT_OF(places, lane)];
    return values;
}

// current-to-pbest/1/bin; what leaves the bounds comes back half way between the parent and the bound.
void breed(Family *family, const Factors *factors, const uints drawn, const int first, POOL_SPACE const float *pool,
           CONTEXT_SPACE const float *context) {
#pragma unroll
    FOR_DIM {
        POOL_SPACE const float *row = pool + d * STRIDE;
        const float low = lower(d, context), high = upper(d, context);
        const reals parent = LOAD_LANES(POOL_SPACE, row + first);
        const reals pull = gathered(row, factors->best) - parent + (gathered(row, factors->one) - gathered(row, factors->other));
        reals child = FUSED(factors->scale, pull, parent);
        child = CHOOSE(child < low, (parent + low) * 0.5f, child);
        child = CHOOSE(child > high, (parent + high) * 0.5f, child);
        const ints crossed = (random_units(drawn, d) < factors->rate) | (factors->forced == (uint)d);
        family->parent[d] = parent;
        family->child[d] = CHOOSE(crossed, child, parent);
    }
}

// A child's fitness. Where the problem repairs positions the child takes the repaired one, since what differs between
// positions of equal fitness would mislead those that learn from the difference.
reals live(Family *family, CONTEXT_SPACE const float *context) {
#ifdef REPAIRS
    reals repaired[DIM];
    const reals value = repaired_fitness(family->child, repaired, context);
#pragma unroll
    FOR_DIM family->child[d] = repaired[d];
    return value;
#else
    return fitness(family->child, context);
#endif
}

// The better of child and parent stays; of equals the child.
void select_better(Family *family, const Factors *factors, const ints counted, const reals value, const int first, const int turn,
                   __local const float *fitness_before, __local Findings *findings) {
    const reals before = LOAD_LANES(__local, fitness_before + first);
    const ints stays = counted & (value >= before);
    const ints improved = counted & (value > before);
#pragma unroll
    FOR_DIM family->child[d] = CHOOSE(stays, family->child[d], family->parent[d]);
    family->fitness = CHOOSE(stays, value, before);
    family->improved = improved;
    STORE_LANES(family->fitness, __local, findings->fitness + first);
    if (!ANY(improved)) {
        STORE_LANES((reals)(0), __local, findings->gain + first);
        return;
    }
    const reals gain = value - before;
    STORE_LANES(CHOOSE(improved & (gain < INFINITY), gain, (reals)(0)), __local, findings->gain + first);
    STORE_LANES(factors->scale, __local, findings->scale + first);
    STORE_LANES(factors->rate, __local, findings->rate + first);
    for (int lane = 0; lane < LANES; ++lane)
        if (INT_OF(improved, lane))
            atomic_or(&findings->improved[turn][(first + lane) / 32], 1u << ((first + lane) % 32));
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

// Members that improved among those before one of them, or among all.
int before_in_order(__local const uint *words, const int member) {
    int found = popcount(words[member / 32] & ((1u << (member % 32)) - 1u));
    for (int word = 0; word < member / 32; ++word) found += popcount(words[word]);
    return found;
}

// Beaten parents are archived, each in a place of its own: behind the others while there is room, then over a random
// stretch of them. Of more than there is room for in all, a random stretch is archived.
void archive_parents(const Family *family, const int first, const int archived, const int room, const int successes,
                     __local const uint *improved, const uint drawn, POOL_SPACE float *pool) {
    const bool too_many = successes > room; // never in an archive as large as the population
    const int shift = random_below(&drawn, DRAW_PLACE, too_many ? successes : archived);
    for (int lane = 0; lane < LANES; ++lane) {
        if (!INT_OF(family->improved, lane)) continue;
        const int order = before_in_order(improved, first + lane);
        int place = archived + order;
        if (too_many) {
            place = (order + shift) % successes;
            if (place >= room) continue;
        } else if (place >= room) {
            place = (place - room + shift) % archived; // there are some: else all would have found room
        }
#pragma unroll
        FOR_DIM pool[d * STRIDE + MEMBERS + place] = REAL_OF(family->parent[d], lane);
    }
}

// How many members are better; of equals, those that come first.
ints rank_of(const reals fitness, const int first, const int count, __local const float *all) {
    const ints own = (ints)(LANE_NUMBERS) + first;
    ints rank = 0;
#pragma unroll 8
    for (int member = 0; member < count; ++member)
        rank += CHOOSE((all[member] > fitness) | ((all[member] == fitness) & (member < own)), (ints)(1), (ints)(0));
    return rank;
}

void move_to_ranks(const Family *family, const int first, const int count, __local const float *all, __local float *in_order,
                   POOL_SPACE float *pool) {
    const ints rank = rank_of(family->fitness, first, count, all);
    for (int lane = 0; lane < LANES; ++lane) {
        if (first + lane >= count) break;
        in_order[INT_OF(rank, lane)] = REAL_OF(family->fitness, lane);
#pragma unroll
        FOR_DIM pool[d * STRIDE + INT_OF(rank, lane)] = REAL_OF(family->child[d], lane);
    }
}

// `sizes`: members in each generation, the first population and that after the last generation included.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void lshade(
    __global const float *contexts, __global const int *sizes, const int generations, const int trace_every,
    const int trace_points, __global float *found_position, __global float *found_fitness, __global float *trace,
#if POOL_IN_GLOBAL
    __global float *pool_memory,
#endif
    RANDOM_ARGUMENTS) {
    const int problem = get_group_id(0), item = get_local_id(0);
    __local float context[CONTEXT_STRIDE] __attribute__((aligned(16)));
    __local float in_order[MEMBERS] __attribute__((aligned(16)));
    __local Findings findings;
    __local Memory memory;
    __local float4 sums[PARTS];
#if POOL_IN_GLOBAL
    __global float *pool = pool_memory + (size_t)problem * DIM * STRIDE;
#else
    __local float pool[DIM * STRIDE] __attribute__((aligned(16)));
#endif
    for (int each = item; each < CONTEXT; each += ITEMS) context[each] = contexts[(size_t)problem * CONTEXT + each];
    for (int word = item; word < 2 * WORDS; word += ITEMS) findings.improved[word / WORDS][word % WORDS] = 0;
    for (int place = item; place < MEMORY; place += ITEMS) keep_in_mind(&memory, place, 0.5f, 0.5f);
    barrier(CLK_LOCAL_MEM_FENCE);

    Random random[BLOCKS];
    Family family[BLOCKS];
    int archived = 0, remembered = 0;
    FOR_BLOCKS {
        random_start(&random[block], problem, FIRST(block), RANDOM_VALUES);
#pragma unroll
        FOR_DIM {
            const float low = lower(d, context), range = upper(d, context) - low;
            family[block].child[d] = FUSED(random_lanes(&random[block], 1.0f), (reals)(range), (reals)(low));
        }
        const reals value = live(&family[block], context) + noise_of(&random[block]);
        family[block].fitness = CHOOSE(value == value, value, (reals)(-INFINITY));
        STORE_LANES(family[block].fitness, __local, findings.fitness + FIRST(block));
    }
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE);
    FOR_BLOCKS move_to_ranks(&family[block], FIRST(block), sizes[0], findings.fitness, in_order, pool);
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE);

    for (int generation = 1; generation <= generations; ++generation) {
        const int count = sizes[generation], turn = generation & 1, room = (int)(ARCHIVE_FRACTION * count + 0.5f);
        archived = min(archived, room);
        FOR_BLOCKS {
            const int first = FIRST(block);
            if (first >= count) continue;
            const uints drawn = random_bits(&random[block]);
            const Factors factors = draw_factors(drawn, first, count, archived, &memory);
            breed(&family[block], &factors, drawn, first, pool, context);
            const ints counted = (ints)(LANE_NUMBERS) + first < count;
            const reals value = live(&family[block], context) + noise_of(&random[block]);
            select_better(&family[block], &factors, counted, value, first, turn, in_order, &findings);
            if (first == 0) findings.drawn = UINT_OF(drawn, 0);
        }
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE);
        const int successes = before_in_order(findings.improved[turn], MEMBERS);
        FOR_BLOCKS {
            const int first = FIRST(block);
            if (first >= count) continue;
            archive_parents(&family[block], first, archived, room, successes, findings.improved[turn], findings.drawn, pool);
            move_to_ranks(&family[block], first, count, findings.fitness, in_order, pool);
        }
        if (successes)
            for (int part = item; part < PARTS; part += ITEMS) sum_part(part, count, &findings, sums);
        for (int word = item; word < WORDS; word += ITEMS) findings.improved[1 - turn][word] = 0;
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE);
        if (successes) {
            if (item == 0) remember(&memory, remembered, sums);
            remembered = (remembered + 1) % MEMORY;
            archived = min(archived + successes, room);
            GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE); // all have counted the same successes
        }
        if (item == 0 && generation % trace_every == 0)
            trace[(size_t)problem * trace_points + generation / trace_every - 1] = in_order[0];
    }

    if (item == 0) {
        found_fitness[problem] = in_order[0];
        for (int d = 0; d < DIM; ++d) found_position[(size_t)problem * DIM + d] = pool[d * STRIDE];
    }
}
