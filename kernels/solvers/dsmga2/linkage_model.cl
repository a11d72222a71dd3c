// The linkage model of DSMGA-II (Li and Yu 2017, sections 4 and 5): who belongs to whom, in three kernels.
//
// A program has LOCI bits of an individual and PEOPLE individuals, whose columns are WORDS words of 64 (32 in the paper).
// Rows of loci are padded to PADDED, a multiple of LANES: a vector has LANES loci, 8 or 16, or 1 on a GPU. Groups of the
// third kernel have ITEMS items in teams (see teams.cl), which share the loci: OWN vectors each. The second index of every launch
// is the problem.
//
// The host sends a row of NUMBERS a problem: the columns of the population, in halves of words, the winners of the
// tournaments, and for the loci a permutation of ranks, twice, the places of the ranks, and a representative each.
//
// Mutual information comes in whole numbers of 64 bits with RANK_BITS free bits below (reservoir/solvers/dsmga2/
// information.py): sums are the same in any order, and a largest strength has the rank of its locus in its lowest bits.
// What a locus has in common with itself is USED, so that a locus which joins its set leaves the rest for good.

#define USED (-(1L << 62))

#define HALVES (2 * WORDS)
#define COLUMNS 0
#define WINNERS (COLUMNS + LOCI * HALVES)
#define RANKS (WINNERS + PEOPLE)
#define PLACES (RANKS + 2 * LOCI)
#define REPRESENTATIVES (PLACES + LOCI)
#define NUMBERS (REPRESENTATIVES + LOCI)

#if LANES == 1
typedef ulong Words;
typedef long Strengths;
#define WORD_OF(words, lane) (words)
#else
typedef PASTE(ulong, LANES) Words;
typedef PASTE(long, LANES) Strengths;
#define WORD_OF(words, lane) ((ulong *)&(words))[lane]
#endif

// Bits that are set, by operators: PoCL's built-in is a call.
Words bits_in_words(Words words) {
#if LANES == 1
    return popcount(words);
#else
    words = words - ((words >> 1) & 0x5555555555555555UL);
    words = (words & 0x3333333333333333UL) + ((words >> 2) & 0x3333333333333333UL);
    return (((words + (words >> 4)) & 0x0F0F0F0F0F0F0F0FUL) * 0x0101010101010101UL) >> 56;
#endif
}

// FastCounting: the genes of 64 winners at a locus in a word; an item for each locus and word.
__kernel void count_genes(__global ulong *genes, __global const uint *numbers) {
    const int locus = get_global_id(0), word = get_global_id(2);
    const size_t problem = get_global_id(1);
    if (locus >= PADDED) return;
    __global const uint *column = numbers + problem * NUMBERS + COLUMNS + locus * HALVES;
    __global const uint *winners = numbers + problem * NUMBERS + WINNERS + 64 * word;
    const int count = locus < LOCI ? min(64, PEOPLE - 64 * word) : 0;
    ulong bits = 0;
    for (int bit = 0; bit < count; ++bit)
        bits |= (ulong)((column[winners[bit] / 32] >> (winners[bit] % 32)) & 1u) << bit;
    genes[(problem * WORDS + word) * PADDED + locus] = bits;
}

#define VECTOR_AT(pointer) (*(__global const Words *)(pointer))

// Mutual information of every two loci: squares of LANES x LANES; what is left of the diagonal is a mirror image.
__kernel void fill_matrix(__global long *matrix, __global const ulong *genes, __global const long *table) {
    const int top = get_global_id(2) * LANES, step = get_global_size(0) * LANES, rows = min(LANES, LOCI - top);
    const size_t problem = get_global_id(1);
    genes += problem * WORDS * PADDED;
    matrix += problem * PADDED * PADDED;
    Words mine = 0;
    for (int word = 0; word < WORDS; ++word) mine += bits_in_words(VECTOR_AT(genes + word * PADDED + top));
    for (int first = top + (int)get_global_id(0) * LANES; first < PADDED; first += step) {
        Words theirs = 0;
        for (int word = 0; word < WORDS; ++word) theirs += bits_in_words(VECTOR_AT(genes + word * PADDED + first));
        long apart[LANES]; // c ln c of both values of each of theirs
        for (int lane = 0; lane < LANES; ++lane)
            apart[lane] = table[WORD_OF(theirs, lane)] + table[PEOPLE - WORD_OF(theirs, lane)];
        for (int row = 0; row < rows; ++row) {
            const int one = top + row, ones = (int)WORD_OF(mine, row);
            const long rest = table[PEOPLE] - table[ones] - table[PEOPLE - ones];
            Words both = 0;
            for (int word = 0; word < WORDS; ++word)
                both += bits_in_words(VECTOR_AT(genes + word * PADDED + first) & genes[word * PADDED + one]);
            __global long *const across = matrix + (size_t)one * PADDED + first;
            __global long *const down = matrix + (size_t)first * PADDED + one;
            for (int lane = 0; lane < LANES; ++lane) {
                const int shared = (int)WORD_OF(both, lane), others = (int)WORD_OF(theirs, lane);
                const long value = table[shared] + table[ones - shared] + table[others - shared] +
                                   table[PEOPLE - ones - others + shared] + rest - apart[lane];
                across[lane] = down[lane * PADDED] = value > 0 ? value : 0;
            }
            if (first == top) across[row] = USED;
        }
    }
}

// The largest lane.
long largest_lane(const Strengths most) {
#if LANES == 1
    return most;
#else
#if LANES == 16
    const long8 eight = GREATER_OF(most.lo, most.hi);
#else
    const long8 eight = most;
#endif
    const long4 four = GREATER_OF(eight.lo, eight.hi);
    const long2 two = GREATER_OF(four.lo, four.hi);
    return GREATER_OF(two.x, two.y);
#endif
}

#define TEAMS (ITEMS / TEAM)

// The largest of all items' numbers; `pad` has room for a number of every team, and is not used by the next call.
long largest_of_group(long most, __local long *pad) {
    const int item = get_local_id(0);
    const SubGroup team = {item % TEAM, 0};
    most = team_most_of_longs(most, team);
#if TEAMS > 1
    if (team.place == 0) pad[item / TEAM] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    most = pad[0];
    for (int other = 1; other < TEAMS; ++other) most = GREATER_OF(most, pad[other]);
#endif
    return most;
}

#if LOSSY
// Leave those candidates that differ from the representative at a locus, too: is anybody left?
bool differs(uint *candidates, __global const uint *numbers, const int locus, const uint representative,
             __local long *pad) {
    __global const uint *column = numbers + COLUMNS + locus * HALVES;
    const uint gene = (column[representative / 32] >> representative % 32) & 1u;
    uint left = 0;
    for (int own = 0; own < OWN_WORDS; ++own) {
        const int word = own * ITEMS + (int)get_local_id(0);
        if (word < HALVES) candidates[own] &= column[word] ^ (0u - gene);
        left |= candidates[own];
    }
    return largest_of_group((long)left, pad) > 0;
}
#endif

// FindClique: a linkage set from every locus, a group for each. With LOSSY a set ends where no individual differs from
// the representative at all of its loci; sets then stand in columns, under their lengths.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void find_sets(__global ushort *sets,
                                                                           __global const long *matrix,
                                                                           __global const uint *numbers) {
    __local long pads[2 * TEAMS]; // for one call and the next
    const int item = get_local_id(0), start = get_group_id(0);
    const size_t problem = get_group_id(1);
    numbers += problem * NUMBERS;
    matrix += problem * PADDED * PADDED;
#if LOSSY
    const size_t stride = LOCI * get_num_groups(1);
    sets += problem * LOCI + start;
#else
    const size_t stride = 1;
    sets += (problem * LOCI + start) * LOCI;
    if (item == 0) sets[0] = start;
#endif

    Strengths strengths[OWN];
    Strengths most = USED;
    for (int own = 0; own < OWN; ++own) {
        const int first = (own * ITEMS + item) * LANES;
        strengths[own] = USED;
        if (first < PADDED) {
#if LANES == 1
            strengths[own] = matrix[(size_t)start * PADDED + first] + numbers[RANKS + start + first];
#else
            for (int lane = 0; lane < LANES; ++lane)
                if (first + lane < LOCI)
                    ((long *)&strengths[own])[lane] =
                        matrix[(size_t)start * PADDED + first + lane] + numbers[RANKS + start + first + lane];
#endif
        }
        most = GREATER_OF(most, strengths[own]);
    }

#if LOSSY
    // Who differs from the representative at all loci of the set, a bit each.
    const uint representative = numbers[REPRESENTATIVES + start];
    uint candidates[OWN_WORDS];
    for (int own = 0; own < OWN_WORDS; ++own) {
        const int left = PEOPLE - 32 * (own * ITEMS + item);
        candidates[own] = left >= 32 ? 0xFFFFFFFFu : left > 0 ? (1u << left) - 1u : 0;
    }
    // One way out of the loop, by its length: PoCL takes no other where barriers stand in it.
    int longest = differs(candidates, numbers, start, representative, pads) ? LONGEST : 1, length = 1;
#else
    const int longest = LONGEST;
#endif
    for (int size = 1; size < longest; ++size) {
        const long largest = largest_of_group(largest_lane(most), pads + (LOSSY ? 1 : size % 2) * TEAMS);
        int locus = (int)numbers[PLACES + (int)(largest & ((1 << RANK_BITS) - 1))] - start;
        locus += locus < 0 ? LOCI : 0;
#if LOSSY
        const bool anybody = differs(candidates, numbers, locus, representative, pads);
        longest = anybody ? longest : size;
        length += anybody;
        if (anybody && item == 0) sets[size * stride] = locus;
#else
        if (item == 0) sets[size * stride] = locus;
#endif
        most = USED;
        for (int own = 0; own < OWN; ++own) {
            const int first = (own * ITEMS + item) * LANES;
            if (first < PADDED) strengths[own] += *(__global const Strengths *)(matrix + (size_t)locus * PADDED + first);
            most = GREATER_OF(most, strengths[own]);
        }
    }
#if LOSSY
    if (item == 0) sets[0] = length;
#endif
}
