// What one step contributes to the objective, as reservoir/hydro/benefit.py has it, in PER_STAGE_BENEFIT. A macro for NUMBERS,
// REAL or reals: where the objective is energy, it is fused with the sum that it is added to, and `per_flow` may have a constant
// factor. Other objectives (TERMS) have a Step's terms.
#if TERMS
typedef struct {
    REAL offset, power_value, power_target, power_cost, power_cost_squared, power_cost_most, supply_target, supply_cost_squared;
} Terms;

#define STAGE_BENEFIT(NUMBERS, power, release, step, per_flow) stage_benefit_##NUMBERS(power, release, (step).terms)

#define DEFINE_STAGE_BENEFIT(NUMBERS, MORE, LESS)                                                                              \
    NUMBERS stage_benefit_##NUMBERS(const NUMBERS power, const NUMBERS release, const Terms terms) {                           \
        const NUMBERS short_mw = MORE(terms.power_target - power, (NUMBERS)(0));                                               \
        const NUMBERS short_m3s = MORE(terms.supply_target - release, (NUMBERS)(0));                                           \
        const NUMBERS of_power = (terms.power_cost_squared * short_mw + terms.power_cost) * short_mw;                          \
        const NUMBERS cost = LESS(of_power, (NUMBERS)(terms.power_cost_most));                                                 \
        return terms.power_value * power + terms.offset - cost - terms.supply_cost_squared * short_m3s * short_m3s;            \
    }
DEFINE_STAGE_BENEFIT(REAL, fmax, fmin)
DEFINE_STAGE_BENEFIT(reals, GREATER, LESSER)
#else
#define STAGE_BENEFIT(NUMBERS, power, release, step, per_flow) ((power) * (per_flow))
#endif
