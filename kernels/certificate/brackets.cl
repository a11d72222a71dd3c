// Upper bounds of the brackets of all pairs of cells, of one or many horizons. As reservoir/certificate/boxes.py and
// bound.py, which see. Stands behind boxes.cl.

#ifndef FREE
#define bracket_bound bound_on
#endif

// The cell that a pair starts in: the last whose first pair is no later.
int start_of(__global const int *first_pair, const int cells, const int pair) {
    int low = 0, high = cells - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (first_pair[middle] <= pair)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

int end_of(__global const int *first_end, __global const int *first_pair, const int x, const int pair) {
    return first_end[x] + pair - first_pair[x];
}

// A work item a pair; brackets that are minus infinity stay so. Of each cell, those of all times behind each other: the
// step that it starts, the first cell that it may end in, the place of its first pair, its ends (hm3), a value at its
// middle, and the slope of that over the storage.
__kernel void bound_pairs(__global const PlantNumbers *numbers, __global const CurveShape *shapes,
                          __global const Given *curves, __global const Stage *stages, __global const int *steps,
                          __global const int *first_end, __global const int *first_pair,
                          __global const real *lower, __global const real *upper, __global const real *value,
                          __global const real *slope, const int cells, const int pairs,
                          __global real *brackets AND_FLOW(__global const Told *told)) {
    const int pair = get_global_id(0);
    if (pair >= pairs || !(brackets[pair] > -INFINITY)) return;
    const Plant plant = {numbers, shapes, curves};
    const int x = start_of(first_pair, cells, pair), y = end_of(first_end, first_pair, x, pair);
    const Interval start = {lower[x], upper[x]}, end = {lower[y], upper[y]};
    const real base = value[y] - value[x];
    const StageAt stage = stages + steps[x];
    const real bound = bracket_bound(&plant, stage AND_FLOW(told + steps[x]), start, end, base, slope[x], slope[y]);
    brackets[pair] = isnan(bound) ? INFINITY : bound;  // what is no number would be taken for a pair without a path
}
