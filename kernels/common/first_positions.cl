// Positions that a population begins with, besides random ones: those of its first GIVEN members, on which they are written.

#if GIVEN
#define GIVEN_ARGUMENT __global const float *given,
#define TAKE_GIVEN(position, first) take_given(position, first, given + (size_t)problem * GIVEN * DIM)

void take_given(STATE_SPACE reals *position, const int first, __global const float *given) {
    for (int member = first; member < min(first + LANES, GIVEN); ++member) {
        const ints here = (ints)(LANE_NUMBERS) + first == member;
        for (int d = 0; d < DIM; ++d)
            position[d] = CHOOSE(here, (reals)(given[(size_t)member * DIM + d]), position[d]);
    }
}
#else
#define GIVEN_ARGUMENT
#define TAKE_GIVEN(position, first)
#endif
