// Genetic algorithm on islands (Alraslan and AlKurdi 2023): a work group has an island, whose individuals are at home in
// local memory while it evolves, and stand in global memory between launches.
//
// A run has stages, at whose ends islands meet: the migrations and the end. Constants: those of island.cl and of an encoding;
// ITEMS of a group, TEAM of its items that work together, MIGRANTS, COUNTED (whether groups count how often they meet).
//
// No barrier stands in a condition: behind one PoCL 3.0 takes all items of a group the way of the first.

#define WORKERS (ITEMS / TEAM)

// What a group has at hand beside its island.
typedef struct {
    uint scratch[WORKERS * SCRATCH_WORDS], word;
    int received;
    long meetings;
} GroupScratch;

// Where islands stand in global memory, and what they leave there: migrants in one of `mail_slots` for each stage in turn,
// and the best fitness of every stage. `islands` of a problem, `generations` and `stage_count` of the run.
#define ISLAND_ARGUMENTS __global const float *contexts, const int context_size, __global GENE *genes, \
    __global FITNESS *all_fitness, __global ushort *orders, volatile __global GENE *migrant_buffer, volatile __global FITNESS *migrant_fitness, \
    const int mail_slots, __global FITNESS *trace, __global long *meetings, const int islands, const int generations, \
    const int stage_count
#define ISLAND_VALUES contexts, context_size, genes, all_fitness, orders, migrant_buffer, migrant_fitness, mail_slots, trace, meetings, islands, \
    generations, stage_count
#define CONTEXT_OF(group) (contexts + (size_t)((group) / islands) * context_size)
#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void

// A group's island in local memory, and its shared.
#define SET_UP                                                                        \
    const int group = get_group_id(0), item = get_local_id(0);                        \
    __local GENE own_genes[SIZE * STRIDE] __attribute__((aligned(64)));               \
    __local FITNESS own_fitness[SIZE];                                                    \
    __local ushort own_orders[2 * SIZE];                                              \
    __local GroupScratch shared_memory;                                                            \
    __local GroupScratch *shared = &shared_memory;                                                   \
    const Island island = {own_genes, own_fitness, own_orders};                         \
    if (item == 0) shared->meetings = 0;

void group_meet(__local GroupScratch *shared, const int item) {
    GROUP_BARRIER(ALL_MEMORY);
    if (COUNTED && item == 0) ++shared->meetings;
}

void tell_meetings(__local const GroupScratch *shared, const int group, const int item, ISLAND_ARGUMENTS) {
    if (COUNTED && item == 0 && group == 0) meetings[0] += shared->meetings;
}

SubGroup team_of(__local GroupScratch *shared, const int item) {
    const SubGroup team = {item % TEAM, shared->scratch + item / TEAM * SCRATCH_WORDS};
    return team;
}

// The individuals of places from `first` on: bred if they are children, and judged.
void settle_places(const Island island, const int first, const bool children, HOME const ushort *order, const uint word,
                   const float left, __local GroupScratch *shared, const int item, CONTEXT_SPACE const float *context) {
    const SubGroup team = team_of(shared, item);
    for (int from = first; from < SIZE; from += WORKERS * TOGETHER) {
        const int own = from + item / TEAM * TOGETHER;
        const bool active = own < SIZE; // who is not does the same for nothing, since teams may have to meet
        const int place = active ? own : SIZE - 1;
        if (children) breed(place, active, island, order, word, left, team.pad, context, team);
        evaluate(place, active, island, order, word, context, team);
    }
}

// Random individuals.
void settle(const Island island, const int group, __local GroupScratch *shared, const int item, CONTEXT_SPACE const float *context,
            const int islands, NUMBER_ARGUMENTS) {
    const uint word = next_word(0, group / islands, group % islands, 0, NUMBER_VALUES);
    FOR_SHARE (int row = item; row < SIZE; row += ITEMS) order_after(island, 0)[row] = (ushort)row;
    for (int from = 0; from < SIZE; from += ITEMS) create(from + item, from + item < SIZE, island, word, context);
    group_meet(shared, item);
    settle_places(island, 0, false, order_after(island, 0), word, 1.0f, shared, item, context);
    group_meet(shared, item);
}

// Iterations behind `before`, up to `last`.
void evolve_island(const Island island, const int group, const int before, const int last, __local GroupScratch *shared,
                   const int item, CONTEXT_SPACE const float *context, const int islands, const int generations,
                   NUMBER_ARGUMENTS) {
    for (int iteration = before + 1; iteration <= last; ++iteration) {
        const float left = 1.0f - (float)(iteration - 1) / generations;
        if (item == ITEMS - 1) // who has no tournament, if anybody
            shared->word = next_word(0, group / islands, group % islands, iteration, NUMBER_VALUES);
        select_parents(island, iteration, 0, PARENTS, item, ITEMS);
        group_meet(shared, item);
        settle_places(island, PARENTS, true, order_after(island, iteration), shared->word, left, shared, item, context);
        group_meet(shared, item);
    }
}

// Where migrants of an island and a stage begin, in individuals.
size_t mail_of(const int group, const int stage, const int mail_slots) {
    return ((size_t)(stage % mail_slots) * get_num_groups(0) + group) * MIGRANTS;
}

// The island before this one in the ring of its problem.
int neighbour_of(const int group, const int islands) {
    return group / islands * islands + (group % islands + islands - 1) % islands;
}

// The best leave copies of themselves for the next island; the best of all is noted. `ranking` stays for those who come.
void send_migrants(const Island island, HOME ushort *ranking, const int group, const int stage, __local GroupScratch *shared,
                   const int item, ISLAND_ARGUMENTS) {
    rank_rows(island, ranking, item, ITEMS);
    group_meet(shared, item);
    const size_t first = mail_of(group, stage, mail_slots);
    if (item == 0) trace[(size_t)group * stage_count + stage] = island.fitness[ranking[0]];
    FOR_SHARE (int each = item; each < MIGRANTS * DIM; each += ITEMS) {
        const int migrant = each / DIM, gene = each % DIM;
        migrant_buffer[(first + migrant) * STRIDE + gene] = island.genes[ranking[migrant] * STRIDE + gene];
    }
    FOR_SHARE (int migrant = item; migrant < MIGRANTS; migrant += ITEMS)
        migrant_fitness[first + migrant] = island.fitness[ranking[migrant]];
}

// What the island before left at the end of a stage takes the places of the worst.
void take_migrants(const Island island, HOME const ushort *ranking, const int group, const int stage, const int item,
                   ISLAND_ARGUMENTS) {
    const size_t first = mail_of(neighbour_of(group, islands), stage, mail_slots);
    FOR_SHARE (int each = item; each < MIGRANTS * DIM; each += ITEMS) {
        const int migrant = each / DIM, gene = each % DIM;
        island.genes[ranking[SIZE - 1 - migrant] * STRIDE + gene] = migrant_buffer[(first + migrant) * STRIDE + gene];
    }
    FOR_SHARE (int migrant = item; migrant < MIGRANTS; migrant += ITEMS)
        island.fitness[ranking[SIZE - 1 - migrant]] = migrant_fitness[first + migrant];
}

// Copies of an island in global memory; `iteration` is the one behind which it stands.
void load_island(const Island island, const int group, const int iteration, const int item, ISLAND_ARGUMENTS) {
    FOR_SHARE (int gene = item; gene < SIZE * STRIDE; gene += ITEMS)
        if (gene % STRIDE < DIM) island.genes[gene] = genes[(size_t)group * SIZE * STRIDE + gene];
    FOR_SHARE (int row = item; row < SIZE; row += ITEMS) {
        island.fitness[row] = all_fitness[(size_t)group * SIZE + row];
        order_after(island, iteration)[row] = orders[(size_t)group * SIZE + row];
    }
}

void store_island(const Island island, const int group, const int iteration, const int item, ISLAND_ARGUMENTS) {
    FOR_SHARE (int gene = item; gene < SIZE * STRIDE; gene += ITEMS)
        if (gene % STRIDE < DIM) genes[(size_t)group * SIZE * STRIDE + gene] = island.genes[gene];
    FOR_SHARE (int row = item; row < SIZE; row += ITEMS) {
        all_fitness[(size_t)group * SIZE + row] = island.fitness[row];
        orders[(size_t)group * SIZE + row] = order_after(island, iteration)[row];
    }
}

GROUP_KERNEL initialise(ISLAND_ARGUMENTS, NUMBER_ARGUMENTS) {
    SET_UP
    settle(island, group, shared, item, CONTEXT_OF(group), islands, NUMBER_VALUES);
    store_island(island, group, 0, item, ISLAND_VALUES);
    tell_meetings(shared, group, item, ISLAND_VALUES);
}
