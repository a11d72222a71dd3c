// A year of a system: position = parts between 0 and 1, reservoir by reservoir from upstream to downstream, as
// reservoir/problems/system.py has them, which certifies in float64 what this file judges. Stands behind fitted_curves.cl.
//
// The context has a row of constants a reservoir (reservoir_year.cl's), whether variables are parts of the limits, and the terms
// of the sum. Constants: RESERVOIRS, STEPS, DIM, LINKS, LINK_ROWS, BACKWATER, RAMPS, and where rows and numbers stand; in front
// of this file are the arrays `said`, of places and kinds of each reservoir, `link_said`, `link_numbers` and `end_values`.

#define AT(row, step) year[(row) + (step)]
#define SAID(place, what) said[(place)*SAID_NUMBERS + (what)]
#define LINK(link, what) link_said[(link)*LINK_PLACES + (what)]
#define LINK_NUMBER(link, what) link_numbers[(link)*LINK_PLACES + (what)]
enum { SAID_FIRST, SAID_STOP, SAID_HAS_START, SAID_CYCLIC, SAID_LINKED, SAID_BELOW, SAID_LINK, SAID_LINK_STOP };
#define SAID_NUMBERS 8
enum { LINK_TARGET = 1, LINK_CARRIES, LINK_WHOLE, LINK_WRAPS, LINK_ROW };
enum { LINK_SHARE, LINK_ARRIVES, LINK_LOST, LINK_BEFORE, LINK_LATER };
enum { CARRIES_RELEASE, CARRIES_TURBINED, CARRIES_SPILLED };
#define LINK_PLACES 6
#define NO_TAILWATER ((reals)(-1e9f))

float lower(const int d, CONTEXT_SPACE const REAL *context) { return 0.0f; }
float upper(const int d, CONTEXT_SPACE const REAL *context) { return 1.0f; }

// What flows in, and the storages at the ends of steps from which the year can be completed.
typedef struct {
    reals inflow[STEPS], lowest[STEPS], highest[STEPS];
} Reach;

#define OF_STEP(name) AT(name, step)
#define OF_YEAR(name) year[name]
Step system_step(const int place, const int step, const reals inflow, CONTEXT_SPACE const REAL *year) {
    const Step found = {inflow, AT(HM3_PER_M3S, step), AT(FLOW_PER_VOLUME, step), AT(RELEASE_LOWER, step),
                        AT(RELEASE_UPPER, step), year[DEAD], year[MISSING_COST] * AT(HM3_PER_M3S, step),
                        year[INSTALLED], year[MOST_TURBINED], STEP_CONDITIONS(OF_STEP, OF_YEAR) STEP_TERMS(OF_STEP)
                        place, NO_TAILWATER};
    return found;
}
#undef OF_STEP
#undef OF_YEAR

reals end_with(const reals storage, const REAL draft, const REAL less, const Step step) {
    const reals lossless = STORAGE_AFTER(storage, step.inflow, draft, (reals)(step.per_flow)) + less;
    return end_after_losses(storage, lossless, step);
}

// Storage at the start of a step that ends at one with a draft, and would gain so much less.
reals start_with(const reals end, const REAL draft, const REAL less, const Step step) {
    const reals lossless = end - (step.inflow - draft) * step.per_flow + less;
#if CONDITIONS
    reals start = lossless;
    for (int refined = 0; refined < 4; ++refined) start = lossless + LOSS(FORM, reals, step, (start + end) * 0.5f);
    return start;
#else
    return lossless;
#endif
}

// Volume that a link took on in a step, before the first too.
reals moved(const reals *row, const int link, const int step, CONTEXT_SPACE const REAL *year) {
    const int within = (step % STEPS + STEPS) % STEPS;
    const bool before = step < 0 && !LINK(link, LINK_WRAPS);
    return (before ? (reals)(LINK_NUMBER(link, LINK_BEFORE)) : row[within]) * AT(HM3_PER_M3S, within);
}

// What flows in: of its own, and what links bring.
void take_inflow(const int place, reals flow[LINK_ROWS][STEPS], reals *inflow, CONTEXT_SPACE const REAL *year) {
#pragma unroll 1
    for (int step = 0; step < STEPS; ++step) inflow[step] = AT(INFLOW, step);
    for (int link = 0; link < LINKS; ++link) {
        if (LINK(link, LINK_TARGET) != place) continue;
        const reals *row = flow[LINK(link, LINK_ROW)];
        const int whole = LINK(link, LINK_WHOLE);
        const float later = LINK_NUMBER(link, LINK_LATER);
#pragma unroll 1
        for (int step = 0; step < STEPS; ++step) {
            reals arriving = row[step];
            if (whole > 0 || later > 0) {
                arriving = moved(row, link, step - whole, year) * (1.0f - later);
                if (later > 0) arriving += moved(row, link, step - whole - 1, year) * later;
                arriving *= AT(FLOW_PER_VOLUME, step);
            }
            arriving = arriving * LINK_NUMBER(link, LINK_ARRIVES) - LINK_NUMBER(link, LINK_LOST);
            inflow[step] += GREATER(arriving, (reals)(0));
        }
    }
}

// The start of a cyclic year, a part of what it can return to (start_range in reservoir/problems/stacked.py).
reals start_at(const int place, const reals part, const reals *inflow, CONTEXT_SPACE const REAL *year) {
    const float slack = year[MAX_STORAGE] * START_SLACK;
    reals need = AT(STORAGE_LOWER, STEPS - 1), most = AT(STORAGE_UPPER, STEPS - 1);
#pragma unroll 1
    for (int number = STEPS - 1; number >= 0; --number) {
        const Step step = system_step(place, number, inflow[number], year);
        need = GREATER(need, (reals)(AT(STORAGE_LOWER, number)));
        most = LESSER(most, (reals)(AT(STORAGE_UPPER, number)));
        need = start_with(need, step.least, 0.0f, step);
        most = start_with(most, step.most, 0.0f, step);
    }
    reals least = AT(STORAGE_LOWER, 0), top = AT(STORAGE_UPPER, 0);
#pragma unroll 1
    for (int number = 1; number < STEPS; ++number) {
        const Step step = system_step(place, number, inflow[number], year);
        least = GREATER(end_with(least, step.most, 0.0f, step), (reals)(AT(STORAGE_LOWER, number)));
        top = LESSER(end_with(top, step.least, 0.0f, step), (reals)(AT(STORAGE_UPPER, number)));
    }
    const reals first = GREATER(need, least) + slack, last = LESSER(most, top) - slack;
    const ints none = first > last;
    const reals lowest = CHOOSE(none, (reals)(AT(STORAGE_LOWER, STEPS - 1)), first);
    const reals highest = CHOOSE(none, (reals)(AT(STORAGE_UPPER, STEPS - 1)), last);
    return FUSED(part, highest - lowest, lowest);
}

// Storages from which the year can be completed, with its last one between two (draw_in in reservoir/hydro/compiled_year.py).
void fill_reach(const int place, Reach *reach, const reals lower_end, const reals upper_end, CONTEXT_SPACE const REAL *year) {
    const float slack = year[MAX_STORAGE] * REACH_SLACK;
    reals below = reach->lowest[STEPS - 1] = lower_end, above = reach->highest[STEPS - 1] = upper_end;
#pragma unroll 1
    for (int number = STEPS - 1; number > 0; --number) {
        const Step step = system_step(place, number, reach->inflow[number], year);
        const bool must = step.least - NOTHING(step) > 0;
        const reals least = must ? GREATER(below, (reals)(step.dead)) : below;
        const reals from = start_with(least, step.least, slack, step), to = start_with(above, step.most, -slack, step);
        const ints crossed = from > to;
        const reals middle = (from + to) * 0.5f, highest = AT(STORAGE_UPPER, number - 1), lowest = AT(STORAGE_LOWER, number - 1);
        reals need = CHOOSE(crossed, middle, from);
        const ints little = (least <= step.dead) & (need > highest * 1.0000002f);
        if (must) need = CHOOSE(little, lowest, need);
        below = reach->lowest[number - 1] = LESSER(GREATER(need, lowest), highest);
        above = reach->highest[number - 1] = LESSER(GREATER(CHOOSE(crossed, middle, to), lowest), highest);
    }
}

// Power discharge, m3/s, by the sum of the storages at the start and at the end.
reals turbined_at(const reals storages, const reals release, const Step step) {
    const reals head = HEAD_AT(FORM, storages, release), per_flow = specific_power_at(head);
    const reals most = (reals)(AVAILABLE(REAL, step, step.installed)) / GREATER(per_flow, (reals)(1e-30f));
    const reals allowed = LESSER(AVAILABLE(reals, step, capacity_at(head)), most);
    return WHILE_OPERATING(reals, step, storages * 0.5f, CHOOSE(per_flow > 0.0f, LESSER(release, allowed), (reals)(0)));
}

// What all plants come to: power, and what leaves the system, where terms are of their sum.
typedef struct {
    reals benefit, cost;
#if TERMS
    reals power[STEPS], leaving[STEPS];
#endif
} Sums;

void add_value(const int number, const reals storages, const reals draft, const Step step, Sums *sums) {
    const reals release = RELEASED(reals, draft, step), power = power_at(storages, release, step);
    sums->benefit = STAGE_BENEFIT(reals, power, release, step, (reals)(step.per_flow)) + sums->benefit;
#if CONDITIONS
    sums->cost += unmet_cost(draft, power, step);
#endif
#if TERMS
    sums->power[number] += power;
    sums->leaving[number] += release;
#endif
}

// What links carry of a step's release.
void hand_on(const int place, const int number, const reals storages, const reals release, const Step step,
             reals flow[LINK_ROWS][STEPS], Sums *sums) {
    for (int link = SAID(place, SAID_LINK); link < SAID(place, SAID_LINK_STOP); ++link) {
        const int carries = LINK(link, LINK_CARRIES);
        const reals of_release = carries == CARRIES_RELEASE ? release : turbined_at(storages, release, step);
        const reals carried = carries == CARRIES_SPILLED ? release - of_release : of_release * LINK_NUMBER(link, LINK_SHARE);
        flow[LINK(link, LINK_ROW)][number] = carried;
#if TERMS
        sums->leaving[number] -= carried;
#endif
    }
}

// Benefit less violation cost (eq. 21 of Yu et al. 2020).
reals fitness(const reals *position, CONTEXT_SPACE const REAL *context) {
    reals flow[LINK_ROWS][STEPS];
    Reach reach;
    Sums sums;
    sums.benefit = sums.cost = 0;
#if TERMS
    for (int step = 0; step < STEPS; ++step) sums.power[step] = sums.leaving[step] = 0;
#endif
#if BACKWATER
    reals lakes[RESERVOIRS][STEPS + 1], drafts[RESERVOIRS][STEPS];
#endif
#pragma unroll 1
    for (int place = 0; place < RESERVOIRS; ++place) {
        CONTEXT_SPACE const REAL *year = context + place * YEAR;
        const bool cyclic = SAID(place, SAID_CYCLIC);
        int variable = SAID(place, SAID_FIRST);
        take_inflow(place, flow, reach.inflow, year);
        reals start = year[START], last_lower = AT(STORAGE_LOWER, STEPS - 1), last_upper = AT(STORAGE_UPPER, STEPS - 1);
        if (cyclic) {
            const reals part = SAID(place, SAID_HAS_START) ? position[variable++] : (reals)(0);
            last_lower = last_upper = start = start_at(place, part, reach.inflow, year);
        }
        if (cyclic || SAID(place, SAID_LINKED)) {
            fill_reach(place, &reach, last_lower, last_upper, year);
        } else {
            for (int step = 0; step < STEPS; ++step) {
                reach.lowest[step] = AT(REACH_LOWER, step);
                reach.highest[step] = AT(REACH_UPPER, step);
            }
        }
        reals storage = start;
#if RAMPS
        reals before = 0;
#endif
#pragma unroll 1
        for (int number = 0; number < STEPS; ++number) {
            const Step step = system_step(place, number, reach.inflow[number], year);
            const reals low = GREATER(reach.lowest[number], end_with(storage, step.most, 0.0f, step));
            const reals high = LESSER(reach.highest[number], end_with(storage, step.least, 0.0f, step));
            const reals part = variable < SAID(place, SAID_STOP) ? position[variable] : (reals)(0);
            ++variable;
            reals target = FUSED(part, high - low, low);
            if (context[ABSOLUTE] != 0) {
                const REAL least = AT(STORAGE_LOWER, number), most = AT(STORAGE_UPPER, number);
                target = FUSED(part, (reals)(most - least), (reals)(least));
            }
            target = LESSER(GREATER(target, LESSER(low, high)), GREATER(low, high));
            reals wanted = RELEASE_TO_REACH(storage, LOSSLESS(FORM, reals, step, storage, target), step.inflow,
                                            (reals)(step.per_volume));
#if RAMPS
            if (number > 0) {
                const reals within = LESSER(GREATER(wanted, (reals)(step.least)), (reals)(step.most));
                const reals asked = LESSER(GREATER(within, before - year[RAMP_DOWN]), before + year[RAMP_UP]);
                const reals lossless = STORAGE_AFTER(storage, step.inflow, asked, (reals)(step.per_flow));
                const reals end = end_after_losses(storage, lossless, step);
                target = LESSER(GREATER(end, reach.lowest[number]), reach.highest[number]);
                wanted = STEERED_RELEASE(asked, lossless, LOSSLESS(FORM, reals, step, storage, target),
                                         (reals)(step.per_volume));
            }
#endif
            const StepEnd kept = limit_release(storage, wanted, target, step);
            if (cyclic && number == STEPS - 1) {
                const reals scale = CHOOSE(start > 0.0f, start, (reals)(year[MAX_STORAGE]));
                sums.cost += GREATER(kept.end - start, start - kept.end) / scale * year[PENALTY];
            } else {
                sums.cost += cost_outside(kept.end, AT(STORAGE_LOWER, number), AT(STORAGE_UPPER, number),
                                          AT(PENALTY_BELOW, number), AT(PENALTY_ABOVE, number));
            }
            sums.cost += missing_cost(kept.release, step);
            const reals release = RELEASED(reals, kept.release, step);
#if RAMPS
            const reals beyond = GREATER((release - before) * year[PER_RAMP_UP], (before - release) * year[PER_RAMP_DOWN]);
            if (number > 0) sums.cost += GREATER(beyond - 1.0f, (reals)(0)) * year[PENALTY];
            before = release;
#endif
            hand_on(place, number, storage + kept.end, release, step, flow, &sums);
#if BACKWATER
            lakes[place][number] = storage;
            lakes[place][number + 1] = kept.end;
            drafts[place][number] = kept.release;
#else
            add_value(number, storage + kept.end, kept.release, step, &sums);
#endif
            storage = kept.end;
        }
        sums.cost -= (storage - start) * end_values[place];
    }
#if BACKWATER
#pragma unroll 1
    for (int place = 0; place < RESERVOIRS; ++place) {
        const int below = SAID(place, SAID_BELOW);
#pragma unroll 1
        for (int number = 0; number < STEPS; ++number) {
            Step step = system_step(place, number, (reals)(0), context + place * YEAR);
            if (below >= 0) step.tailwater = level_of(below, lakes[below][number] + lakes[below][number + 1]);
            add_value(number, lakes[place][number] + lakes[place][number + 1], drafts[place][number], step, &sums);
        }
    }
#endif
#if TERMS
    for (int number = 0; number < STEPS; ++number) {
#define SUM(term) context[SUM_TERMS + (term)*STEPS + number]
        const Terms terms = {SUM(0), SUM(1), SUM(2), SUM(3), SUM(4), SUM(5), SUM(6), SUM(7)};
        sums.benefit += stage_benefit_reals(sums.power[number], sums.leaving[number], terms);
    }
#endif
    return sums.benefit * PER_STAGE_BENEFIT - sums.cost;
}
