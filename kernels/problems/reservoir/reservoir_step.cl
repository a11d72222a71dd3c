// One step of a reservoir (Yu et al. 2020, eq. 7-10 and 18-20): the expression of it for devices, as
// reservoir/hydro/step.py is for Python. What is a macro takes vectors and single numbers alike, and is fused with what it is
// added to; per_flow is hm3 per m3/s, per_volume its reciprocal, so that no step divides.
//
// Constants: CONDITIONS; PLANTS, if it is a step of one of several reservoirs: curves are then asked for by its plant, and what
// flows in, and the level of the lake below, differ from lane to lane. Stands behind stage_benefit.cl.
#ifdef PLANTS
#define FLOW reals
#else
#define FLOW REAL
#endif

// Storage at the end of a step (eq. 10).
#define STORAGE_AFTER(storage, inflow, release, per_flow) FUSED((inflow) - (release), per_flow, storage)

// Release that a step ends at a storage with (eq. 10), whether it is within its bounds or not.
#define RELEASE_TO_REACH(storage, end, inflow, per_volume) ((inflow) - ((end) - (storage)) * (per_volume))

// The release wanted, and what it must add for the step to end at a target instead of a storage (eq. 19).
#define STEERED_RELEASE(wanted, end, target, per_volume) FUSED((end) - (target), per_volume, wanted)

// What a step has to go by. Below `dead` storage nothing can be released; missing_cost (GWH) is that of a m3/s missing of the
// least release; `installed` is in MW, most_turbined the largest capacity at any head. With CONDITIONS the inflow is less the
// withdrawal demanded, least is the least draft; *_cost are in GWH, of 1 m3/s of shortage and of 1 MW below the lowest power.
typedef struct {
    FLOW inflow;
    REAL per_flow, per_volume, least, most, dead, missing_cost, installed, most_turbined;
#if CONDITIONS
    REAL evaporation, withdrawal, plant_factor, operating_storage, shortage_cost, power_lower, power_cost;
#endif
#if TERMS
    Terms terms;
#endif
#ifdef PLANTS
    int plant;
    reals tailwater;
#endif
} Step;

// The end of a step's numbers, by what tells one of the step, and one of the year, by its place in a context.
#if CONDITIONS
#define STEP_CONDITIONS(OF_STEP, OF_YEAR)                                                                                      \
    OF_STEP(EVAPORATION), OF_STEP(WITHDRAWAL), OF_STEP(PLANT_FACTOR), OF_YEAR(OPERATING_STORAGE), OF_STEP(SHORTAGE_COST),      \
        OF_STEP(POWER_LOWER), OF_STEP(POWER_COST),
#else
#define STEP_CONDITIONS(OF_STEP, OF_YEAR)
#endif
#if TERMS
#define STEP_TERMS(OF_STEP)                                                                                                    \
    {OF_STEP(TERM_OFFSET), OF_STEP(TERM_POWER_VALUE), OF_STEP(TERM_POWER_TARGET), OF_STEP(TERM_POWER_COST),                    \
     OF_STEP(TERM_POWER_COST_SQUARED), OF_STEP(TERM_POWER_COST_MOST), OF_STEP(TERM_SUPPLY_TARGET),                             \
     OF_STEP(TERM_SUPPLY_COST_SQUARED)},
#else
#define STEP_TERMS(OF_STEP)
#endif

// What conditions add to a step, and what stands in their place where there are none. Numbers are REAL or reals.
#define FORM(curve, x) curve##_at(x)
#if CONDITIONS
#define LOSS(CURVE, NUMBERS, step, mean_storage)                                                                               \
    FUSED(CURVE(area, mean_storage), (NUMBERS)((step).evaporation), CURVE(seepage, mean_storage) * (NUMBERS)((step).per_flow))
// Storage that a step would end at without losses, from the one that it ends at.
#define LOSSLESS(CURVE, NUMBERS, step, storage, end) ((end) + LOSS(CURVE, NUMBERS, step, ((storage) + (end)) * (NUMBERS)0.5f))
#define RELEASED(NUMBERS, draft, step) GREATER(draft, LESSER(draft, (NUMBERS)((step).least)) + (NUMBERS)((step).withdrawal))
#define NOTHING(step) (-(step).withdrawal) // the draft that takes no water
#define AVAILABLE(NUMBERS, step, capacity) ((capacity) * (NUMBERS)((step).plant_factor))
#define WHILE_OPERATING(NUMBERS, step, mean_storage, power)                                                                    \
    CHOOSE((mean_storage) < (NUMBERS)((step).operating_storage), (NUMBERS)(0), power)

// The reverse of LOSSLESS by the fitted curves, with the slope between the first two guesses.
reals end_after_losses(const reals storage, const reals lossless, const Step step) {
    const reals lost = LOSS(FORM, reals, step, (storage + lossless) * 0.5f);
    reals end = lossless - lost;
    const reals less = LOSS(FORM, reals, step, (storage + end) * 0.5f);
    const reals slope = 1.0f + (lost - less) / CHOOSE(lost == 0.0f, (reals)(1.0f), lost);
    for (int refined = 0; refined < 2; ++refined) end += (lossless - LOSSLESS(FORM, reals, step, storage, end)) / slope;
    return end;
}

// Cost, GWH, of what a step does not deliver: of the withdrawal, and of the lowest power.
reals unmet_cost(const reals draft, const reals power, const Step step) {
    const reals short_m3s = RELEASED(reals, draft, step) - draft;
    return short_m3s * step.shortage_cost + GREATER(step.power_lower - power, (reals)(0)) * step.power_cost;
}
#else
#define LOSSLESS(CURVE, NUMBERS, step, storage, end) (end)
#define RELEASED(NUMBERS, draft, step) (draft)
#define NOTHING(step) ((REAL)0)
#define AVAILABLE(NUMBERS, step, capacity) (capacity)
#define WHILE_OPERATING(NUMBERS, step, mean_storage, power) (power)
#define end_after_losses(storage, lossless, step) (lossless)
#endif

// Head, m (eq. 8), and power, MW (eq. 7 and 9). CURVE(name, x) is how the curves level, tailrace, specific_power and capacity
// are read, LEAST the lesser of two NUMBERS.
#define HEAD_AT(CURVE, mean_storage, release) (CURVE(level, mean_storage) - CURVE(tailrace, release))
#define POWER_AT_HEAD(CURVE, LEAST, NUMBERS, head, release, step)                                                              \
    LEAST(CURVE(specific_power, head) * LEAST(release, AVAILABLE(NUMBERS, step, CURVE(capacity, head))),                        \
          AVAILABLE(NUMBERS, step, (NUMBERS)((step).installed)))

typedef struct {
    reals release, end;
    ints limited; // where the bounds of the release did not let the step end at its target
} StepEnd;

// Releases within their bounds that end a step at its highest and at its lowest storage, with the inflow that is expected.
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

// Cut a draft to the water that is there (there_is in step.py): what lies above dead storage, and what flows in less losses.
// Below dead storage only losses go, and never more than there is.
void cut_to_water(const reals storage, StepEnd *found, const Step step) {
    const reals nothing = NOTHING(step), dead = step.dead;
    const ints dry = found->end < dead;
    if (!ANY(dry)) return;
    const reals before_losses = LOSSLESS(FORM, reals, step, storage, dead);
    const reals most = RELEASE_TO_REACH(storage, before_losses, (reals)(step.inflow), (reals)(step.per_volume));
    const reals lossless = STORAGE_AFTER(storage, step.inflow, nothing, (reals)(step.per_flow));
    const reals at_rest = GREATER(end_after_losses(storage, lossless, step), (reals)(0));
    found->release = CHOOSE(dry, LESSER(GREATER(most, nothing), found->release), found->release);
    found->end = CHOOSE(dry, CHOOSE(most > nothing, dead, at_rest), found->end);
    found->limited = found->limited | dry;
}

// Cost, GWH, of what a draft misses of the least release.
reals missing_cost(const reals draft, const Step step) { return GREATER(step.least - draft, (reals)(0)) * step.missing_cost; }

// A release that leads to a target, brought within its bounds, and the storage that it then leads to (eq. 19); of water that
// is not there nothing is released.
StepEnd limit_release(const reals storage, const reals wanted, const reals target, const Step step) {
    StepEnd found;
    found.release = LESSER(GREATER(wanted, (reals)(step.least)), (reals)(step.most));
    found.limited = found.release != wanted;
    const reals lossless = STORAGE_AFTER(storage, step.inflow, found.release, (reals)(step.per_flow));
    found.end = CHOOSE(found.limited, end_after_losses(storage, lossless, step), target);
    cut_to_water(storage, &found, step);
    return found;
}

// Cost of a storage outside its bounds (eq. 20-21), by what a hm3 beyond each of them costs.
reals cost_outside(const reals storage, const REAL lowest, const REAL highest, const REAL below, const REAL above) {
    return GREATER(lowest - storage, (reals)(0)) * below + GREATER(storage - highest, (reals)(0)) * above;
}
