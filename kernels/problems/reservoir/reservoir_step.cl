// One step of a reservoir (Yu et al. 2020, eq. 7-10 and 18-20): the only expression of it for devices, as
// reservoir/hydro/step.py is for Python. What is a macro takes vectors and single numbers alike, and is fused with what it is
// added to; per_flow is hm3 per m3/s, per_volume its reciprocal, so that no step divides.
//
// Constants: INSTALLED_MW.

// Storage at the end of a step (eq. 10).
#define STORAGE_AFTER(storage, inflow, release, per_flow) FUSED((inflow) - (release), per_flow, storage)

// Release that a step ends at a storage with (eq. 10), whether it is within its bounds or not.
#define RELEASE_TO_REACH(storage, end, inflow, per_volume) ((inflow) - ((end) - (storage)) * (per_volume))

// The release wanted, and what it must add for the step to end at a target instead of a storage (eq. 19).
#define STEERED_RELEASE(wanted, end, target, per_volume) FUSED((end) - (target), per_volume, wanted)

// Head, m (eq. 8), and power, MW (eq. 7 and 9). CURVE(name, x) is how the curves level, tailrace, specific_power and capacity
// are read, LEAST the lesser of two NUMBERS.
#define HEAD_AT(CURVE, mean_storage, release) (CURVE(level, mean_storage) - CURVE(tailrace, release))
#define POWER_AT_HEAD(CURVE, LEAST, NUMBERS, head, release)                                                                    \
    LEAST(CURVE(specific_power, head) * LEAST(release, CURVE(capacity, head)), (NUMBERS)(INSTALLED_MW))

// What a step has to go by.
typedef struct {
    REAL inflow, per_flow, per_volume, least, most;
} Step;

typedef struct {
    reals release, end;
    ints limited; // where the bounds of the release did not let the step end at its target
} StepEnd;

// Releases that end a step at its highest and at its lowest storage, with the inflow that is expected, within their bounds:
// what lies between may be.
typedef struct {
    reals filling, emptying;
} FeasibleReleases;

FeasibleReleases feasible_releases(const reals storage, const Step expected, const REAL lowest, const REAL highest) {
    const reals inflow = expected.inflow, per_volume = expected.per_volume, least = expected.least, most = expected.most;
    FeasibleReleases found;
    found.filling = LESSER(GREATER(FUSED(storage - highest, per_volume, inflow), least), most);
    found.emptying = LESSER(GREATER(FUSED(storage - lowest, per_volume, inflow), least), most);
    return found;
}

// A release that leads to a target, brought within its bounds, and the storage that it then leads to (eq. 19).
StepEnd limit_release(const reals storage, const reals wanted, const reals target, const Step step) {
    StepEnd found;
    found.release = LESSER(GREATER(wanted, (reals)(step.least)), (reals)(step.most));
    found.limited = found.release != wanted;
    found.end = CHOOSE(found.limited, STORAGE_AFTER(storage, step.inflow, found.release, (reals)(step.per_flow)), target);
    return found;
}

// Cost of a storage outside its bounds (eq. 20-21), by what a hm3 beyond each of them costs.
reals cost_outside(const reals storage, const REAL lowest, const REAL highest, const REAL below, const REAL above) {
    return GREATER(lowest - storage, (reals)(0)) * below + GREATER(storage - highest, (reals)(0)) * above;
}
