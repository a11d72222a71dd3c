// Work groups of one launch that wait for each other. OpenCL promises no progress to a group while others run; where all
// groups run at once, they can wait, and that they do is shown by a roll call (after Sorensen et al. 2016, OOPSLA): nobody
// begins before everybody is there, and who waits too long calls it off for all.

#ifndef PATIENCE
#define PATIENCE 0
#endif

enum { ABSENT = 1, PRESENT = 2 };

// What a group wrote to global memory is there for other groups behind this fence.
#if PTX
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
#else
#define DEVICE_FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

#define WHOLE_GROUP barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// PRESENT if all groups of the launch were there at once, else ABSENT; the same for all. `roll` is a count and a verdict,
// both zero before. Items of a group call it together.
int roll_call(volatile __global int *roll, const int groups, __local int *heard, const int item) {
    if (item == 0) {
        if (atomic_inc(&roll[0]) + 1 == groups) atomic_cmpxchg(&roll[1], 0, PRESENT);
        for (int polls = 0; roll[1] == 0; ++polls)
            if (polls >= PATIENCE) atomic_cmpxchg(&roll[1], 0, ABSENT);
        *heard = roll[1];
    }
    WHOLE_GROUP;
    const int verdict = *heard;
    WHOLE_GROUP; // all have read it
    return verdict;
}

// All groups meet, for the `meeting`-th time, counted from 1; only after a roll call with all present.
void grid_meet(volatile __global int *arrived, const int groups, const int meeting, const int item) {
    DEVICE_FENCE;
    WHOLE_GROUP;
    if (item == 0) {
        atomic_inc(arrived);
        while (*arrived < groups * meeting) {
        }
        DEVICE_FENCE;
    }
    WHOLE_GROUP;
}
