// Dynamic programming over joint storages of up to four reservoirs (reservoir/solvers/dp_joint/lattice.py is the same in float64
// on the host): a work item has a joint storage of a year and tries all that can follow; a launch is a step of all years.
// Neighbouring items have neighbouring storages of the last reservoir, and what they read lies side by side.
//
// Constants: ITEMS of a group; STEPS; LINK_s_t, 1 where reservoir s releases into reservoir t, else 0.

#define RESERVOIRS 4
#define NEVER (-1e30f) // value of what cannot be
#define SHAPE const int size0, const int size1, const int size2, const int size3
#define SIZE (size0 * size1 * size2 * size3)
#define PLACE(at0, at1, at2, at3) ((((at0) * size1 + (at1)) * size2 + (at2)) * size3 + (at3))

// Of a year: lowest and highest storages at the start of each step and at the end of the last, then least and most releases.
#define LOWEST(reservoir, point) bounds[(reservoir) * (STEPS + 1) + (point)]
#define HIGHEST(reservoir, point) bounds[(RESERVOIRS + (reservoir)) * (STEPS + 1) + (point)]
#define LEAST(reservoir, step) bounds[2 * RESERVOIRS * (STEPS + 1) + (reservoir) * STEPS + (step)]
#define MOST(reservoir, step) bounds[2 * RESERVOIRS * (STEPS + 1) + (RESERVOIRS + (reservoir)) * STEPS + (step)]
#define OF_YEAR (2 * RESERVOIRS * (2 * STEPS + 1))

#define JOINT_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void
// The place of the item's storage, of all and of each reservoir, and the numbers of its year.
#define FIND_PLACE                                                                                                             \
    const int place = get_global_id(0), year = get_global_id(1);                                                               \
    const int at3 = place % size3, at2 = place / size3 % size2, at1 = place / (size3 * size2) % size1;                         \
    const int at0 = place / (size3 * size2 * size1);                                                                           \
    __global const int *bounds = all_bounds + year * OF_YEAR;                                                                  \
    if (place >= SIZE) return;

#define WITHIN(reservoir, at, point) (LOWEST(reservoir, point) <= (at) && (at) <= HIGHEST(reservoir, point))
#define ALLOWED(point) (WITHIN(0, at0, point) && WITHIN(1, at1, point) && WITHIN(2, at2, point) && WITHIN(3, at3, point))

// What joint storages are worth at the end; `ends` has a row of `widest` storages for each reservoir of a year.
JOINT_KERNEL joint_ends(__global const int *all_bounds, SHAPE, __global const float *ends, const int widest,
                        __global float *values) {
    FIND_PLACE
    __global const float *worth = ends + year * RESERVOIRS * widest;
    const float all = worth[at0] + worth[widest + at1] + worth[2 * widest + at2] + worth[3 * widest + at3];
    values[(size_t)year * SIZE + place] = ALLOWED(STEPS) ? all : NEVER;
}

// First and last storage that can follow, with so much in store and flowing in.
#define FIRST(reservoir, in) max(LOWEST(reservoir, step + 1), (in) - MOST(reservoir, step))
#define LAST(reservoir, in) min(HIGHEST(reservoir, step + 1), (in) - LEAST(reservoir, step))
// What a reservoir makes in the step; `made` has its releases, less the least, and in each the sums of two storages.
#define MADE(reservoir, out, sum)                                                                                              \
    made[(((reservoir) * STEPS + step) * releases + (out) - LEAST(reservoir, step)) * sums + (sum)]

JOINT_KERNEL joint_step(__global const int *all_bounds, SHAPE, __global const float *all_made, const int releases,
                        const int sums, const int step, __global const float *all_ahead, __global float *values,
                        __global int *choices, __global uint *tried) {
    FIND_PLACE
    __global const float *made = all_made + (size_t)year * RESERVOIRS * STEPS * releases * sums;
    __global const float *ahead = all_ahead + (size_t)year * SIZE;
    const size_t own = (size_t)year * SIZE + place;
    float best = NEVER;
    int choice = 0;
    uint count = 0;
    const int last0 = ALLOWED(step) ? LAST(0, at0) : -1;
    for (int to0 = FIRST(0, at0); to0 <= last0; ++to0) {
        const int out0 = at0 - to0, in1 = at1 + LINK_0_1 * out0, last1 = LAST(1, in1);
        const float of0 = MADE(0, out0, at0 + to0);
        for (int to1 = FIRST(1, in1); to1 <= last1; ++to1) {
            const int out1 = in1 - to1, in2 = at2 + LINK_0_2 * out0 + LINK_1_2 * out1, last2 = LAST(2, in2);
            const float of1 = of0 + MADE(1, out1, at1 + to1);
            for (int to2 = FIRST(2, in2); to2 <= last2; ++to2) {
                const int out2 = in2 - to2, in3 = at3 + LINK_0_3 * out0 + LINK_1_3 * out1 + LINK_2_3 * out2;
                const float of2 = of1 + MADE(2, out2, at2 + to2);
                const int first3 = FIRST(3, in3), last3 = LAST(3, in3);
                for (int to3 = first3; to3 <= last3; ++to3) {
                    const float value = of2 + (MADE(3, in3 - to3, at3 + to3) + ahead[PLACE(to0, to1, to2, to3)]);
                    choice = value > best ? PLACE(to0, to1, to2, to3) : choice;
                    best = fmax(value, best);
                }
                count += max(last3 + 1 - first3, 0);
            }
        }
    }
    values[own] = best;
    choices[((size_t)year * STEPS + step) * SIZE + place] = choice;
    tried[own] += count;
}

// Follow the choices from the first place of each row, a year each, which is -1 afterwards where nothing could follow.
__kernel void joint_paths(__global const float *values, __global const int *choices, const int size, __global int *paths) {
    const int year = get_global_id(0);
    __global int *path = paths + year * (STEPS + 1);
    for (int step = 0; step < STEPS; ++step) path[step + 1] = choices[((size_t)year * STEPS + step) * size + path[step]];
    if (values[(size_t)year * size + path[0]] <= 0.5f * NEVER) path[0] = -1;
}
