// Work groups of one launch that wait for each other. OpenCL promises no progress to a group while others run; where all
// groups run at once, they can wait, and that they do is shown by a roll call (after Sorensen et al. 2016, OOPSLA): nobody
// begins before everybody is there, and who waits too long calls it off for all.
//
// What a group has written another must see in order. PTX promises that by a fence, OpenCL C from 2.0 on by atomic numbers
// and fences of the scope of the device (SCOPED). OpenCL C 1.2 does not: there GROUPS_WAIT is 0, and no kernel waits.

#ifndef MAX_POLLS
#define MAX_POLLS 0
#endif

enum { ABSENT = 1, PRESENT = 2 };

#define GROUPS_WAIT (PTX || SCOPED)
#define WHOLE_GROUP barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#if GROUPS_WAIT

// A fence: what a group wrote to global memory before it is there for other groups behind theirs. And numbers that other
// groups write or read meanwhile.
#if PTX
#define DEVICE_FENCE asm volatile("membar.gl;" ::: "memory")
int look(volatile __global const int *place) { return *place; }
void show(volatile __global int *place, const int value) { *place = value; }
float look_at(volatile __global const float *place) { return *place; }
void show_at(volatile __global float *place, const float value) { *place = value; }
#else
#define DEVICE_FENCE atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#define ATOMIC(place) ((volatile __global atomic_int *)(place))
int look(volatile __global const int *place) {
    return atomic_load_explicit(ATOMIC(place), memory_order_relaxed, memory_scope_device);
}
void show(volatile __global int *place, const int value) {
    atomic_store_explicit(ATOMIC(place), value, memory_order_relaxed, memory_scope_device);
}
float look_at(volatile __global const float *place) { return as_float(look((volatile __global const int *)place)); }
void show_at(volatile __global float *place, const float value) { show((volatile __global int *)place, as_int(value)); }
#endif

// PRESENT if all groups of the launch were there at once, else ABSENT; the same for all. `roll` is a count and a verdict,
// both zero before. Items of a group call it together.
int co_residency_probe(volatile __global int *roll, const int groups, __local int *heard, const int item) {
    if (item == 0) {
        if (atomic_inc(&roll[0]) + 1 == groups) atomic_cmpxchg(&roll[1], 0, PRESENT);
        for (int polls = 0; look(&roll[1]) == 0; ++polls)
            if (polls >= MAX_POLLS) atomic_cmpxchg(&roll[1], 0, ABSENT);
        *heard = look(&roll[1]);
    }
    WHOLE_GROUP;
    const int verdict = *heard;
    WHOLE_GROUP; // all have read it
    return verdict;
}

// All groups meet, for the `meeting`-th time, counted from 1; only after a roll call with all present. The count of arrivals
// may begin again at zero: who waits looks at how far it is behind, which is never more than the groups.
void grid_meet(volatile __global int *arrived, const int groups, const uint meeting, const int item) {
    WHOLE_GROUP;
    if (item == 0) { // whose fences stand for the whole group's
        const uint all = (uint)groups * meeting;
        DEVICE_FENCE;
        atomic_inc(arrived);
        while ((int)((uint)look(arrived) - all) < 0) {
        }
        DEVICE_FENCE;
    }
    WHOLE_GROUP;
}

#endif
