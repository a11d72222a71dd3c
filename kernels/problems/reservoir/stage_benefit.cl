// What one step contributes to the objective, as reservoir/hydro/benefit.py has it: energy, in GWH_PER_STAGE_BENEFIT. A macro,
// so that it is fused with the sum that it is added to.
#define STAGE_BENEFIT(power, per_flow) ((power) * (per_flow))
