// Work groups of one launch that wait for each other. OpenCL promises no progress to a group while others run; where all
// groups run at once, they can wait, and that they do is shown by a co-residency probe (after Sorensen et al. 2016, OOPSLA): nobody
// begins before everybody is there, and who waits too long calls it off for all.
//
// What a group has written another must see in order. PTX promises that by a fence, OpenCL C from 2.0 on by atomic numbers
// and fences of the scope of the device (SCOPED). OpenCL C 1.2 does not: there GROUPS_WAIT is 0, and no kernel waits.

#ifndef MAX_POLLS
#define MAX_POLLS 0
#endif

enum { NOT_CO_RESIDENT = 1, CO_RESIDENT = 2 };

#define GROUPS_WAIT (PTX || SCOPED)
#define FULL_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#if GROUPS_WAIT

// A fence: what a group wrote to global memory before it is there for other groups behind theirs. And atomic loads
// and stores of numbers that other groups write or read meanwhile.
#if PTX
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
int load_int(volatile __global const int *place) { return *place; }
void store_int(volatile __global int *place, const int value) { *place = value; }
float load_float(volatile __global const float *place) { return *place; }
void store_float(volatile __global float *place, const float value) { *place = value; }
#else
#define DEVICE_FENCE atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#define ATOMIC(place) ((volatile __global atomic_int *)(place))
int load_int(volatile __global const int *place) {
    return atomic_load_explicit(ATOMIC(place), memory_order_relaxed, memory_scope_device);
}
void store_int(volatile __global int *place, const int value) {
    atomic_store_explicit(ATOMIC(place), value, memory_order_relaxed, memory_scope_device);
}
float load_float(volatile __global const float *place) { return as_float(load_int((volatile __global const int *)place)); }
void store_float(volatile __global float *place, const float value) { store_int((volatile __global int *)place, as_int(value)); }
#endif

// CO_RESIDENT if all groups of the launch were there at once, else NOT_CO_RESIDENT; the same for all. `probe` is a count and a verdict,
// both zero before. Items of a group call it together; `received` is room for what one of them reads for all.
int co_residency_probe(volatile __global int *probe, const int groups, __local int *received, const int item) {
    if (item == 0) {
        if (atomic_inc(&probe[0]) + 1 == groups) atomic_cmpxchg(&probe[1], 0, CO_RESIDENT);
        for (int polls = 0; load_int(&probe[1]) == 0; ++polls)
            if (polls >= MAX_POLLS) atomic_cmpxchg(&probe[1], 0, NOT_CO_RESIDENT);
        *received = load_int(&probe[1]);
    }
    FULL_BARRIER;
    const int verdict = *received;
    FULL_BARRIER; // all have read it
    return verdict;
}

// All groups meet, for the `meeting`-th time, counted from 1; only after a probe that found them co-resident. The count of
// arrivals may begin again at zero: who waits reads how far it is behind, which is never more than the groups.
void grid_barrier(volatile __global int *arrived, const int groups, const uint meeting, const int item) {
    FULL_BARRIER;
    if (item == 0) { // whose fences stand for the whole group's
        const uint all = (uint)groups * meeting;
        DEVICE_FENCE;
        atomic_inc(arrived);
        while ((int)((uint)load_int(arrived) - all) < 0) {
        }
        DEVICE_FENCE;
    }
    FULL_BARRIER;
}

#endif
