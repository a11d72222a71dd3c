// Power by the curves' forms, which are written in front of this file when the program is assembled: each as _at, held beyond
// its ends, and as _within, for arguments between them. The level is by the sum of two storages, which spares a product, of the
// capacity there is its part of the largest. Stands behind reservoir_step.cl.

#define capacity_at(head) (capacity_part_at(head) * step.most_turbined)
#define capacity_within(head) (capacity_part_within(head) * step.most_turbined)
#define HELD(curve, x) curve##_at(x)
#define WITHIN(curve, x) curve##_within(x)

// Power, MW, of a step by the sum of the storages at its start and at its end, and a release.
reals power_at(const reals storages, const reals release, const Step step) {
    const reals head = HEAD_AT(HELD, storages, release);
    return WHILE_OPERATING(reals, step, storages * 0.5f, POWER_AT_HEAD(HELD, LESSER, reals, head, release, step));
}

// The same where storage and release are within their bounds but for rounding: curves are not held at their ends.
reals power_within_bounds(const reals storages, const reals release, const Step step) {
    const reals head = HEAD_AT(WITHIN, storages, release);
    return WHILE_OPERATING(reals, step, storages * 0.5f, POWER_AT_HEAD(WITHIN, LESSER, reals, head, release, step));
}
