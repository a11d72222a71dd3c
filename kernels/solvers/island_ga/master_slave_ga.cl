// Genetic algorithm with one population, at home in global memory, an individual an item: the models that islands are
// compared with. SAK, switching among kernels (Abbasi et al. 2020): each step is a kernel. SLK, scheduled light kernel
// (Capodieci and Burgio 2015): one kernel whose groups meet after every step, and do at each what a schedule tells them.
//
// Both give every group the same range of every step. Constants: as in island_ga.cl, without islands; GROUPS of a problem.

#define POPULATION_ARGUMENTS __global const float *contexts, const int context_size, __global GENE *genes, \
    __global FITNESS *all_fitness, __global ushort *orders, __global const int2 *schedule, const int generations
#define POPULATION_VALUES contexts, context_size, genes, all_fitness, orders, schedule, generations
#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void

// Steps, each over places of the population: at the start, and of every iteration. The schedule has for each step and each
// group of a problem the first place (or tournament) and the one behind the last; the same if there is nothing to do.
enum { CREATE_STEP, SELECT_STEP, BREED_STEP, EVALUATE_STEP, STEPS_IN_ALL };
#define RANGE_OF(step) schedule[(step)*GROUPS + member]

Island population_of(const int problem, POPULATION_ARGUMENTS) {
    const Island population = {genes + (size_t)problem * SIZE * STRIDE, all_fitness + (size_t)problem * SIZE,
                               orders + (size_t)problem * 2 * SIZE};
    return population;
}

#define CONTEXT_OF(problem) (contexts + (size_t)(problem) * context_size)
#define SET_UP                                                                                    \
    const int problem = get_group_id(0) / GROUPS, member = get_group_id(0) % GROUPS;              \
    const int item = get_local_id(0);                                                             \
    __local uint all_scratch[ITEMS * SCRATCH_WORDS];                                              \
    __local uint *scratch = all_scratch + item * SCRATCH_WORDS;                                   \
    const Island population = population_of(problem, POPULATION_VALUES);                          \
    __global const float *context = CONTEXT_OF(problem);

uint word_of(const int problem, const int iteration, NUMBER_ARGUMENTS) {
    return next_word(0, problem, 0, iteration, NUMBER_VALUES);
}

// The places of a range, shared by the items of a group.
void breed_range(const Island population, const int2 range, const int iteration, const int generations, const uint word,
                 const int item, __local uint *scratch, __global const float *context) {
    const SubGroup team = {0, scratch};
    const float left = 1.0f - (float)(iteration - 1) / generations;
    for (int from = range.x; from < range.y; from += ITEMS * TOGETHER) {
        const int place = from + item * TOGETHER;
        breed(min(place, SIZE - 1), place < range.y, population, order_after(population, iteration), word, left, scratch,
              context, team);
    }
}

void evaluate_range(const Island population, const int2 range, const int iteration, const uint word, const int item,
                    __local uint *scratch, __global const float *context) {
    const SubGroup team = {0, scratch};
    for (int from = range.x; from < range.y; from += ITEMS * TOGETHER) {
        const int place = from + item * TOGETHER;
        evaluate(min(place, SIZE - 1), place < range.y, population, order_after(population, iteration), word, context, team);
    }
}

GROUP_KERNEL initialise(POPULATION_ARGUMENTS, NUMBER_ARGUMENTS) {
    SET_UP
    const uint word = word_of(problem, 0, NUMBER_VALUES);
    const int2 range = RANGE_OF(CREATE_STEP);
    FOR_SHARE (int row = range.x + item; row < range.y; row += ITEMS) order_after(population, 0)[row] = (ushort)row;
    for (int from = range.x; from < range.y; from += ITEMS)
        create(from + item, from + item < range.y, population, word, context);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    evaluate_range(population, range, 0, word, item, scratch, context);
}

GROUP_KERNEL select_step(POPULATION_ARGUMENTS, const int iteration) {
    SET_UP
    const int2 range = RANGE_OF(SELECT_STEP);
    select_parents(population, iteration, range.x, range.y, item, ITEMS);
}

GROUP_KERNEL breed_step(POPULATION_ARGUMENTS, const int iteration, NUMBER_ARGUMENTS) {
    SET_UP
    const uint word = word_of(problem, iteration, NUMBER_VALUES);
    breed_range(population, RANGE_OF(BREED_STEP), iteration, generations, word, item, scratch, context);
}

GROUP_KERNEL evaluate_step(POPULATION_ARGUMENTS, const int iteration, NUMBER_ARGUMENTS) {
    SET_UP
    const uint word = word_of(problem, iteration, NUMBER_VALUES);
    evaluate_range(population, RANGE_OF(EVALUATE_STEP), iteration, word, item, scratch, context);
}

#if GROUPS_WAIT

// All iterations in one launch. `probe`: a count and a verdict (see grid.cl), and how many groups have arrived at barriers;
// `meetings`: of each group, and of the grid.
GROUP_KERNEL scheduled(POPULATION_ARGUMENTS, volatile __global int *probe, __global long *meetings, NUMBER_ARGUMENTS) {
    SET_UP
    __local int received;
    const int groups = get_num_groups(0);
    const bool resident = co_residency_probe(probe, groups, &received, item) == CO_RESIDENT;
    const int count = resident ? generations : 0;
    uint meeting = 0;
    for (int iteration = 1; iteration <= count; ++iteration) {
        const uint word = word_of(problem, iteration, NUMBER_VALUES);
        for (int step = SELECT_STEP; step < STEPS_IN_ALL; ++step) {
            const int2 range = RANGE_OF(step);
            if (step == SELECT_STEP) {
                select_parents(population, iteration, range.x, range.y, item, ITEMS);
            } else if (step == BREED_STEP) {
                breed_range(population, range, iteration, generations, word, item, scratch, context);
            } else {
                evaluate_range(population, range, iteration, word, item, scratch, context);
            }
            grid_barrier(probe + 2, groups, ++meeting, item);
        }
    }
    if (COUNTED && item == 0 && get_group_id(0) == 0) meetings[1] += meeting;
}

#endif
