// All items of a work group wait for each other, and see what the others wrote to memory of the fence: a barrier, which a
// group of one item does without.
//
// Constants: GROUP_ITEMS of a group; ITEMS where it is not given.

#ifndef GROUP_ITEMS
#define GROUP_ITEMS ITEMS
#endif

#define ALL_MEMORY (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#if GROUP_ITEMS > 1
#define GROUP_BARRIER(fence) barrier(fence)
#else
#define GROUP_BARRIER(fence)
#endif
