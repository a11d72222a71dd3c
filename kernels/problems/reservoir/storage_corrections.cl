// Corrections of a window's storages: position = what is added to the storage at the end of each block of steps, hm3. Within
// a block the draft changes by the same flow in every step; the year's own repair then holds all limits. RETAINED is what is
// left of a hm3 at the end of a block. Stands behind reservoir_year.cl.
//
// Constants: BLOCKS_OF_WINDOW, STEPS_OF_BLOCK, and where in the CONTEXT the rows stand
// (reservoir/problems/reservoir/corrections.py).

#define DIM BLOCKS_OF_WINDOW

REAL lower(const int d, CONTEXT_SPACE const REAL *window) { return window[CORRECTION_LOWER + d]; }

REAL upper(const int d, CONTEXT_SPACE const REAL *window) { return window[CORRECTION_UPPER + d]; }

reals fitness(const reals *position, CONTEXT_SPACE const REAL *window) {
    reals releases[STEPS];
    reals before = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const reals more = (before * window[RETAINED + d] - position[d]) * window[FLOW_PER_BLOCK_VOLUME + d];
        before = position[d];
#pragma unroll 1
        for (int step = d * STEPS_OF_BLOCK; step < (d + 1) * STEPS_OF_BLOCK; ++step)
            releases[step] = LESSER(GREATER(window[BASE_RELEASE + step] + more, (reals)(window[RELEASE_LOWER + step])),
                                    (reals)(window[RELEASE_UPPER + step]));
    }
    return fitness_with_violation(releases, (reals)(window[START]), window);
}
