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

// Before the head of a loop in which the items of a group share the work: item, item + ITEMS, ...
//
// With AVX-512, which can gather and scatter, PoCL 3.0 makes vectors of such a loop before it lays the items of a group
// side by side. It then takes the loop's condition, which differs by item, for one that all items agree in, and where a
// barrier follows, all items go the way of the last one. It must not make such vectors.
#if GROUP_ITEMS > 1 && defined(POCL_DEVICE_ADDRESS_BITS)
#define FOR_SHARE _Pragma("clang loop vectorize(disable)") for
#else
#define FOR_SHARE for
#endif
