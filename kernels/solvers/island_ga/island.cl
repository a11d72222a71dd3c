// An island of a genetic algorithm, and the steps that do not depend on how individuals are written down.
//
// An individual stays in its row; what a step moves are the rows' numbers in `order`: winners of tournaments first, then
// those whose rows the children get.
//
// Constants: SIZE of an island, PARENTS that stay, CROSSED children by crossover (the rest of SIZE by mutation), STRIDE of a
// row, GENE and FITNESS (types), HOME (the address space of a population).

typedef struct {
    HOME GENE *genes;    // SIZE rows
    HOME FITNESS *fitness;   // of each row
    HOME ushort *orders; // two of SIZE rows, before an iteration and after, in turns
} Island;

HOME ushort *order_after(const Island island, const int iteration) { return island.orders + (iteration & 1) * SIZE; }

// Tournaments of neighbours, of a range: the winners come first, in the order of the tournaments, then the losers.
void select_parents(const Island island, const int iteration, const int from, const int to, const int item, const int items) {
    HOME const ushort *before = order_after(island, iteration - 1);
    HOME ushort *after = order_after(island, iteration);
    for (int begin = from; begin < to; begin += items) {
        const bool active = begin + item < to; // who is not does the same for nothing: PoCL wants loops for all or none
        const int tournament = active ? begin + item : to - 1;
        const int first = (int)((uint)tournament * SIZE / PARENTS), last = (int)((uint)(tournament + 1) * SIZE / PARENTS);
        int winner = first;
        FITNESS best = island.fitness[before[first]];
        for (int place = first + 1; place < last; ++place) {
            const FITNESS value = island.fitness[before[place]];
            if (value > best) {
                best = value;
                winner = place;
            }
        }
        if (active) after[tournament] = before[winner];
        for (int place = first, loser = PARENTS + first - tournament; place < last; ++place)
            if (active && place != winner) after[loser++] = before[place];
    }
}

// The rows from the best to the worst; of equals the first comes first.
void rank_rows(const Island island, HOME ushort *ranking, const int item, const int items) {
    for (int from = 0; from < SIZE; from += items) {
        const int row = min(from + item, SIZE - 1);
        const FITNESS value = island.fitness[row];
        int better = 0;
        for (int other = 0; other < SIZE; ++other)
            better += island.fitness[other] > value || (island.fitness[other] == value && other < row);
        if (from + item < SIZE) ranking[better] = (ushort)row;
    }
}
