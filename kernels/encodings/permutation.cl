// Individuals that are tours: permutations of DIM cities, whose fitness is minus the sum of their edges. A team makes a child
// (Alraslan and AlKurdi 2023, section 4.2 and pseudo-code 3).
//
// Constants: ORDER_CROSSOVER (Davis 1985) in place of one point, TWO_OPT in place of a swap. Of the problem: edge().

#define TOGETHER 1 // children that a team makes at once
#define CHILD_NUMBERS 4
#define USED_WORDS ((DIM + 31) / 32)
#define SCRATCH_WORDS (USED_WORDS + TEAM_WORDS) // of a team, in local memory

typedef struct {
    int first, last;
} Stretch;

// Two different places, the lower one first.
Stretch two_points(const uint word, const uint number) {
    const int one = place_below(word, number, DIM), other = (one + 1 + place_below(word, number + 1, DIM - 1)) % DIM;
    const Stretch points = {min(one, other), max(one, other)};
    return points;
}

// A random tour (Fisher and Yates), by one item. The loops of an item that is not active are empty, not skipped: PoCL makes
// all items of a group run loops that are as long for all of them.
void create(const int row, const bool active, const Island island, const uint word, CONTEXT_SPACE const float *context) {
    HOME GENE *tour = island.genes + row * STRIDE;
    const int cities = active ? DIM : 0;
    for (int place = 0; place < cities; ++place) tour[place] = (GENE)place;
    for (int place = cities - 1; place > 0; --place) {
        const int other = place_below(word, (uint)row * DIM + place, place + 1);
        const GENE kept = tour[place];
        tour[place] = tour[other];
        tour[other] = kept;
    }
}

// A child that has a stretch of one parent, and the cities it lacks in the order of the other.
void cross(HOME GENE *child, HOME const GENE *one, HOME const GENE *other, const uint word, const uint number,
           const bool active, __local uint *used, const SubGroup team) {
#if ORDER_CROSSOVER
    const Stretch kept = two_points(word, number);
    const int start = kept.last;
#else
    const Stretch kept = {0, 1 + place_below(word, number, DIM - 1)};
    const int start = 0;
#endif
    for (int each = team.place; each < USED_WORDS; each += TEAM) used[each] = 0;
    TEAM_BARRIER;
    // Copied apart from the marks: PoCL 3.0 makes wrong vector code of both in one loop if genes are 16 bits wide.
    for (int place = kept.first + team.place; place < kept.last; place += TEAM)
        if (active) child[place] = one[place];
    for (int place = kept.first + team.place; place < kept.last; place += TEAM) {
        const int city = one[place];
#if TEAM == 1
        used[city >> 5] |= 1u << (city & 31);
#else
        atomic_or(&used[city >> 5], 1u << (city & 31));
#endif
    }
    TEAM_BARRIER;
    int filled = kept.last; // counted on beyond the last place, to the first
    for (int from = 0; from < DIM; from += TEAM) {
        int place = start + from + team.place;
        if (ORDER_CROSSOVER && place >= DIM) place -= DIM;
        const bool there = TEAM == 1 || from + team.place < DIM;
        const int city = there ? other[place] : 0;
        const bool lacking = there && !((used[city >> 5] >> (city & 31)) & 1u);
        const uint bits = team_bits(lacking, team);
        int free = filled + bits_before(bits, team);
        if (ORDER_CROSSOVER && free >= DIM) free -= DIM;
        child[lacking && active ? free : DIM] = (GENE)city; // a row has room for one more
        filled += bits_in(bits);
    }
}

#if TWO_OPT
// Ends of the stretch whose reversal shortens a tour most, and by how much; of equals the first.
Stretch best_move(HOME const GENE *tour, int *gain, CONTEXT_SPACE const float *context, const SubGroup team) {
    int most = 0;
    Stretch found = {0, 0};
    for (int i = team.place; i < DIM - 1; i += TEAM) {
        const int before = tour[i ? i - 1 : DIM - 1], here = tour[i];
        for (int j = i + 1; j < (i ? DIM : DIM - 1); ++j) {
            const int there = tour[j], after = tour[j < DIM - 1 ? j + 1 : 0];
            const int shorter = edge(before, here, context) + edge(there, after, context) - edge(before, there, context) -
                                edge(here, after, context);
            if (shorter > most) {
                most = shorter;
                found.first = i;
                found.last = j;
            }
        }
    }
    *gain = team_most(most, team);
    // One end after the other: both in a number would not fit into 32 bits of more than 46,340 cities.
    const int first = -team_most(most == *gain ? -found.first : -DIM, team);
    const int last = -team_most(most == *gain && found.first == first ? -found.last : -DIM, team);
    const Stretch move = {first, last};
    return move;
}

// A copy of a parent with its best 2-opt move (Croes 1958); where no move is better, two neighbouring stretches change
// places (Martin, Otto and Felten 1991).
void mutate(HOME GENE *child, HOME const GENE *parent, const uint word, const uint number, const bool active,
            CONTEXT_SPACE const float *context, const SubGroup team) {
    int gain;
    const Stretch move = best_move(parent, &gain, context, team);
    const int one = 1 + place_below(word, number, DIM - 1), two = 1 + place_below(word, number + 1, DIM - 1);
    const int three = 1 + place_below(word, number + 2, DIM - 1);
    const int low = min(min(one, two), three), high = max(max(one, two), three), middle = one + two + three - low - high;
    for (int place = team.place; place < DIM; place += TEAM) {
        int from = place;
        if (gain > 0) {
            if (place >= move.first && place <= move.last) from = move.first + move.last - place;
        } else if (place >= low && place < high) {
            from = place < low + high - middle ? place + middle - low : place - high + middle;
        }
        if (active) child[place] = parent[from];
    }
}
#else
// A copy of a parent with two cities swapped.
void mutate(HOME GENE *child, HOME const GENE *parent, const uint word, const uint number, const bool active,
            CONTEXT_SPACE const float *context, const SubGroup team) {
    const Stretch swapped = two_points(word, number);
    for (int place = team.place; place < DIM; place += TEAM) {
        const int from = place == swapped.first ? swapped.last : place == swapped.last ? swapped.first : place;
        if (active) child[place] = parent[from];
    }
}
#endif

// The child of a place.
void breed(const int place, const bool active, const Island island, HOME const ushort *order, const uint word,
           const float left, __local uint *scratch, CONTEXT_SPACE const float *context, const SubGroup team) {
    const uint number = (uint)place * CHILD_NUMBERS;
    HOME GENE *child = island.genes + order[place] * STRIDE;
    HOME const GENE *one = island.genes + order[place_below(word, number, PARENTS)] * STRIDE;
    HOME const GENE *other = island.genes + order[place_below(word, number + 1, PARENTS)] * STRIDE;
#if TEAM == 1 || WARPS
    if (place < PARENTS + CROSSED) {
        cross(child, one, other, word, number + 2, active, scratch + TEAM_WORDS, team);
    } else {
        mutate(child, one, word, number + 1, active, context, team);
    }
#else // teams that meet with their group do all that any of them does
    const bool crossed = place < PARENTS + CROSSED;
    cross(child, one, other, word, number + 2, active && crossed, scratch + TEAM_WORDS, team);
    mutate(child, one, word, number + 1, active && !crossed, context, team);
#endif
    TEAM_BARRIER;
}

// The fitness of the individual of a place.
void evaluate(const int place, const bool active, const Island island, HOME const ushort *order, const uint word,
              CONTEXT_SPACE const float *context, const SubGroup team) {
    HOME const GENE *tour = island.genes + order[place] * STRIDE;
    int length = 0;
    for (int each = team.place; each < DIM; each += TEAM)
        length += edge(tour[each], tour[each < DIM - 1 ? each + 1 : 0], context);
    length = team_sum(length, team);
    if (active && team.place == 0) island.fitness[order[place]] = -length;
}
