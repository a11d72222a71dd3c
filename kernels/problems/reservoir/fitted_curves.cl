// Power by the curves' forms, written in front of this file when a program is assembled: each as _at, held beyond its ends, and
// as _within, for arguments between them; the level by the sum of two storages, of the capacity its part of the largest.

#define capacity_at(head) (capacity_part_at(head) * step.most_turbined)
#define capacity_within(head) (capacity_part_within(head) * step.most_turbined)
#define WITHIN(curve, x) curve##_within(x)

// Power, MW, of a step by the sum of the storages at its start and at its end, and a release.
reals power_at(const reals storages, const reals release, const Step step) {
    const reals head = HEAD_AT(FORM, storages, release);
    return WHILE_OPERATING(reals, step, storages * 0.5f, POWER_AT_HEAD(FORM, LESSER, reals, head, release, step));
}

// The same for storages and releases within their bounds but for rounding.
reals power_within_bounds(const reals storages, const reals release, const Step step) {
    const reals head = HEAD_AT(WITHIN, storages, release);
    return WHILE_OPERATING(reals, step, storages * 0.5f, POWER_AT_HEAD(WITHIN, LESSER, reals, head, release, step));
}
