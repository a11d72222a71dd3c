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
#define FOR_BLOCKS for (int block = 0; block < BLOCKS; ++block)
#define FIRST(block) (((block)*ITEMS + item) * LANES)

// `sizes`: members in each generation, the first population and that after the last generation included.
__attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void lshade(
    __global const float *contexts, __global const int *sizes, const int generations, const int trace_every,
    const int trace_points, GIVEN_ARGUMENT __global float *found_position, __global float *found_fitness, __global float *trace,
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
    FOR_SHARE (int each = item; each < CONTEXT; each += ITEMS) context[each] = contexts[(size_t)problem * CONTEXT + each];
    FOR_SHARE (int word = item; word < 2 * WORDS; word += ITEMS) findings.improved[word / WORDS][word % WORDS] = 0;
    FOR_SHARE (int place = item; place < MEMORY; place += ITEMS) keep_in_mind(&memory, place, 0.5f, 0.5f);
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
        TAKE_GIVEN(family[block].child, FIRST(block));
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
        bool exchanges = EXCHANGES(generation); // of a const that is false for all, compilers warn
        FOR_BLOCKS {
            const int first = FIRST(block);
            if (first >= count) continue;
            const uints drawn = random_bits(&random[block]);
            Factors factors = {0};
            if (exchanges) {
                exchange_two(&family[block], drawn, first, pool, context);
            } else {
                factors = draw_factors(drawn, first, count, archived, &memory);
                breed(&family[block], &factors, drawn, first, pool, context);
            }
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
        if (successes && !exchanges)
            FOR_SHARE (int part = item; part < PARTS; part += ITEMS) sum_part(part, count, &findings, sums);
        FOR_SHARE (int word = item; word < WORDS; word += ITEMS) findings.improved[1 - turn][word] = 0;
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE | POOL_FENCE);
        if (successes) {
            if (item == 0 && !exchanges) remember(&memory, remembered, sums);
            if (!exchanges) remembered = (remembered + 1) % MEMORY;
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
