// Dynamic programming over the futures of an ensemble: the value of each storage at the start of each future, a work group for
// each. As reservoir/solvers/ensemble_dp/step.py, which see; the steps stand in tables that the host makes by
// reservoir/hydro/step.py, so that only the water balance is written here.
//
// Constants: STATES, MEANS, DRAFTS of the tables; STEPS of a water year; MONTHS of a future; LOWEST, SPACING, STATES_PER_HM3,
// MEANS_PER_HM3, DRAFTS_PER_M3S; LOSSY, whether water is lost; ROUNDING, by how many hm3 a
// storage outside its bounds is within; INTERVALS, ROUNDS, LOSS_ROUNDS of the search for a draft; ITEMS
// of a group; where in a step's SCALARS each stands (reservoir/solvers/ensemble_dp/engine.py).

typedef struct {
    __global const float *scalars, *losses, *benefit;
    float inflow;
} Month;

// Value at a place between even points, held at the ends, in each of the two address spaces.
#define DEFINE_BETWEEN(name, SPACE)                                                                                            \
    float name(SPACE const float *values, const int points, const float place) {                                               \
        const float held = clamp(place, 0.0f, (float)(points - 1));                                                            \
        const int left = min((int)held, points - 2);                                                                           \
        return values[left] + (held - (float)left) * (values[left + 1] - values[left]);                                        \
    }
DEFINE_BETWEEN(between_global, __global)
DEFINE_BETWEEN(between_local, __local)

float loss_at(const Month *month, const float mean_storage) {
#if LOSSY
    return between_global(month->losses, MEANS, (mean_storage - LOWEST) * MEANS_PER_HM3);
#else
    return 0.0f;
#endif
}

float benefit_at(const Month *month, const float mean_storage, const float draft) {
    const float row = clamp((mean_storage - LOWEST) * MEANS_PER_HM3, 0.0f, (float)(MEANS - 1));
    const float column = clamp(draft * DRAFTS_PER_M3S, 0.0f, (float)(DRAFTS - 1));
    const int above = min((int)row, MEANS - 2), left = min((int)column, DRAFTS - 2);
    const float down = row - (float)above, right = column - (float)left;
    __global const float *at = month->benefit + above * DRAFTS + left;
    const float upper = at[0] + right * (at[1] - at[0]);
    const float lower = at[DRAFTS] + right * (at[DRAFTS + 1] - at[DRAFTS]);
    return upper + down * (lower - upper);
}

// Storage at the end of a step with a draft.
float end_with(const Month *month, const float storage, const float draft) {
    const float lossless = storage + (month->inflow - draft) * month->scalars[VOLUME];
    float end = lossless;
#if LOSSY
    for (int round = 0; round < LOSS_ROUNDS; ++round) end = lossless - loss_at(month, 0.5f * (storage + end));
#endif
    return end;
}

// What a draft makes in a step, and the value of the storage that it leaves. Of water that is not there nothing is taken: what
// is missing costs, and below dead storage only losses go, which cost nothing.
float value_of_draft(const Month *month, const float storage, const float wanted, __local const float *later) {
    const float dead = month->scalars[DEAD], least = month->scalars[LEAST], nothing = month->scalars[NOTHING];
    float draft = wanted, end = end_with(month, storage, draft), missed = 0.0f;
    if (end < dead - ROUNDING) {
        const float lost = loss_at(month, 0.5f * (storage + dead));
        const float most = month->inflow + (storage - dead - lost) * month->scalars[PER_VOLUME];
        draft = fmin(fmax(most, nothing), wanted);
        end = most > nothing ? dead : fmax(end_with(month, storage, nothing), 0.0f);
        missed = fmax(month->scalars[DRAFT_LOWER] - fmax(draft, least), 0.0f) * month->scalars[COST_SHORT] +
                 fmax(least - draft, 0.0f) * month->scalars[COST_MISSING];
    }
    const float made = benefit_at(month, 0.5f * (storage + end), draft);
    const float below = month->scalars[STORAGE_LOWER] - ROUNDING - fmax(end, dead);
    const float above = end - month->scalars[STORAGE_UPPER] - ROUNDING;
    const float cost = fmax(below, 0.0f) * month->scalars[COST_BELOW] + fmax(above, 0.0f) * month->scalars[COST_ABOVE];
    return made - cost - missed + between_local(later, STATES, (end - LOWEST) * STATES_PER_HM3);
}

// Draft that a step ends at a storage with, within its bounds.
float draft_to_reach(const Month *month, const float storage, const float end) {
    const float lost = loss_at(month, 0.5f * (storage + end));
    const float wanted = month->inflow + (storage - end - lost) * month->scalars[PER_VOLUME];
    return clamp(wanted, month->scalars[DRAFT_LOWER], month->scalars[DRAFT_UPPER]);
}

// Value of a storage at the start of a step: the best of the drafts between what fills and what empties.
float best_value(const Month *month, const float storage, __local const float *later) {
    float low = draft_to_reach(month, storage, month->scalars[STORAGE_UPPER]);
    float high = draft_to_reach(month, storage, month->scalars[STORAGE_LOWER]);
    float chosen = low, most = value_of_draft(month, storage, low, later);
    for (int searching = 0; searching < ROUNDS; ++searching) {
        const float width = (high - low) / (float)INTERVALS, begin = low;
        for (int interval = 1; interval < INTERVALS + (searching == 0); ++interval) {
            const float draft = begin + (float)interval * width, value = value_of_draft(month, storage, draft, later);
            if (value > most) {
                chosen = draft;
                most = value;
            }
        }
        low = fmax(chosen - width, low);
        high = fmin(chosen + width, high);
    }
    return most;
}

__kernel void ensemble_values(__global const float *scalars, __global const float *losses, __global const float *benefit,
                              __global const float *inflow, __global const int *first_step, __global const float *ends,
                              __global float *values) {
    __local float later[2][STATES];
    const int future = get_group_id(0), item = get_local_id(0);
    FOR_SHARE (int state = item; state < STATES; state += ITEMS) later[0][state] = ends[(size_t)future * STATES + state];
    GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    for (int number = 0; number < MONTHS; ++number) {
        const int place = MONTHS - 1 - number, step = (first_step[future] + place) % STEPS;
        const Month month = {scalars + step * SCALARS, losses + step * MEANS, benefit + (size_t)step * MEANS * DRAFTS,
                             inflow[(size_t)future * MONTHS + place]};
        FOR_SHARE (int state = item; state < STATES; state += ITEMS)
            later[(number + 1) % 2][state] = best_value(&month, LOWEST + (float)state * SPACING, later[number % 2]);
        GROUP_BARRIER(CLK_LOCAL_MEM_FENCE);
    }
    FOR_SHARE (int state = item; state < STATES; state += ITEMS) values[(size_t)future * STATES + state] = later[MONTHS % 2][state];
}
