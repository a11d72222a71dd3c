// One step of a reservoir (Yu et al. 2020, eq. 6-10, 19). The curves level, tailrace, specific_power and capacity are written
// in front of this file when the program is assembled: each as _at, held beyond its ends, and as _within, for arguments
// between them.
//
// Constants: INSTALLED_MW.

// Power, MW, at a mean storage and a release (eq. 7-9).
reals power_at(const reals mean_storage, const reals release) {
    const reals head = level_at(mean_storage) - tailrace_at(release);
    return LESSER(specific_power_at(head) * LESSER(release, capacity_at(head)), (reals)(INSTALLED_MW));
}

// The same where storage and release are within their bounds but for rounding: curves are not held at their ends.
reals power_within_bounds(const reals mean_storage, const reals release) {
    const reals head = level_within(mean_storage) - tailrace_within(release);
    return LESSER(specific_power_within(head) * LESSER(release, capacity_within(head)), (reals)(INSTALLED_MW));
}

// The release that is wanted for a step to end at a target, kept within its bounds, and the storage that the step ends at.
reals kept_release(const reals wanted, const REAL least, const REAL most, const reals storage, const REAL inflow,
                   const REAL per_flow, const reals target, reals *end) {
    const reals kept = LESSER(GREATER(wanted, (reals)(least)), (reals)(most));
    *end = CHOOSE(kept != wanted, FUSED(inflow - kept, (reals)(per_flow), storage), target);
    return kept;
}
