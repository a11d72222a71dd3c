// Power by the curves' forms, which are written in front of this file when the program is assembled: each as _at, held beyond
// its ends, and as _within, for arguments between them; of the capacity its part of the largest. Stands behind reservoir_step.cl.

#define capacity_at(head) (capacity_part_at(head) * step.most_turbined)
#define capacity_within(head) (capacity_part_within(head) * step.most_turbined)
#define HELD(curve, x) curve##_at(x)
#define WITHIN(curve, x) curve##_within(x)

// Power, MW, of a step at a mean storage and a release.
reals power_at(const reals mean_storage, const reals release, const Step step) {
    const reals head = HEAD_AT(HELD, mean_storage, release);
    return WHILE_OPERATING(reals, step, mean_storage, POWER_AT_HEAD(HELD, LESSER, reals, head, release, step));
}

// The same where storage and release are within their bounds but for rounding: curves are not held at their ends.
reals power_within_bounds(const reals mean_storage, const reals release, const Step step) {
    const reals head = HEAD_AT(WITHIN, mean_storage, release);
    return WHILE_OPERATING(reals, step, mean_storage, POWER_AT_HEAD(WITHIN, LESSER, reals, head, release, step));
}
