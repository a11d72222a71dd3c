// The longest path through each pair of cells, of one or many horizons. As longest_paths of
// reservoir/certificate/paths.py, to the last bit: sums are of the same numbers in the same order, and a largest is
// the same in any. Stands behind brackets.cl and common/sync/group_barrier.cl.
//
// Constants (reservoir/certificate/path_buffers.py): the fields of a Run; ITEMS of a group.

// A walk over all steps of a horizon: its first time, and its steps; the cell that all paths begin in, and end in at
// the last time, or less than 0 for any; and where, at the place of the first cell of all, its lengths begin.
typedef struct {
    RUN_FIELDS;
} Run;

// Longest path to each cell from the start, with what is added there, cells of a time shared among the items. Paths
// lead to a cell from some of the cells between the first and the one past the last.
void walk_forth(const Run run, __global const int *first, __global const int *first_end, __global const int *first_pair,
                __global const int *first_start, __global const int *past_start, __global const double *ends,
                __global const double *brackets, __global double *before) {
    for (int time = run.first_time; time <= run.first_time + run.steps; ++time) {
        for (int y = first[time] + get_local_id(0); y < first[time + 1]; y += ITEMS) {
            double longest = -INFINITY;
            if (time == run.first_time) {
                if (run.start < 0 || y == run.start) longest = ends[y];
            } else {
                for (int x = first_start[y]; x < past_start[y]; ++x) {
                    const int pair = first_pair[x] + y - first_end[x];
                    if (pair < first_pair[x] || pair >= first_pair[x + 1]) continue;
                    longest = greater(longest, before[run.place + x] + brackets[pair]);
                }
            }
            before[run.place + y] = longest;
        }
        GROUP_BARRIER(CLK_GLOBAL_MEM_FENCE);
    }
}

// Longest path from each cell to the end.
void walk_back(const Run run, __global const int *first, __global const int *first_end, __global const int *first_pair,
               __global const double *brackets, __global double *after) {
    const int last = run.first_time + run.steps;
    for (int time = last; time >= run.first_time; --time) {
        for (int x = first[time] + get_local_id(0); x < first[time + 1]; x += ITEMS) {
            double longest = -INFINITY;
            if (time == last) {
                if (run.start < 0 || x - first[last] == run.start - first[run.first_time]) longest = 0.0;
            } else {
                for (int pair = first_pair[x]; pair < first_pair[x + 1]; ++pair) {
                    const int y = end_of(first_end, first_pair, x, pair);
                    longest = greater(longest, brackets[pair] + after[run.place + y]);
                }
            }
            after[run.place + x] = longest;
        }
        GROUP_BARRIER(CLK_GLOBAL_MEM_FENCE);
    }
}

// Two groups a run, one for either way.
__kernel void walk_both_ways(__global const Run *runs, __global const int *first, __global const int *first_end,
                             __global const int *first_pair, __global const int *first_start,
                             __global const int *past_start, __global const double *ends,
                             __global const double *brackets, __global double *before, __global double *after) {
    const Run run = runs[get_group_id(0) / 2];
    if (get_group_id(0) % 2)
        walk_back(run, first, first_end, first_pair, brackets, after);
    else
        walk_forth(run, first, first_end, first_pair, first_start, past_start, ends, brackets, before);
}

// A work item a pair: the longest path through it of all runs of its horizon, which are behind each other.
__kernel void longest_through(__global const Run *runs, __global const int *first_run, __global const int *horizon,
                              __global const int *first_end, __global const int *first_pair, const int cells,
                              const int pairs, __global const double *brackets, __global const double *before,
                              __global const double *after, __global double *through) {
    const int pair = get_global_id(0);
    if (pair >= pairs) return;
    const int x = start_of(first_pair, cells, pair), y = end_of(first_end, first_pair, x, pair);
    double longest = -INFINITY;
    for (int run = first_run[horizon[x]]; run < first_run[horizon[x] + 1]; ++run) {
        const int place = runs[run].place;
        longest = greater(longest, before[place + x] + brackets[pair] + after[place + y]);
    }
    through[pair] = longest;
}
