// Particle swarm optimisation in a ring (Mussi, Nashed and Cagnoni 2011): a work group has a particle, a work item a dimension
// of it (or several, if there are fewer items), and a particle is informed by itself and its two neighbours.
//
// Constants: PARTICLES of a swarm, INERTIA, COGNITIVE, SOCIAL, STOPS (velocity is lost at a bound), BOUNDED, BY_DIMENSION (the
// fitness is made of terms that items may share, see problems/sums/of_terms.cl), ITEMS of a group, TEAM of its items that add up
// their shares in registers, CHECKED (what is read of neighbours is held against its fitness), FITNESS_APART (the fitness is
// no part of the functions that call it).

#define WORKERS (ITEMS / TEAM)

typedef struct {
    float at[DIM], velocity[DIM], best[DIM], lead[DIM]; // with the own best, and the best that is followed
    float sums[WORKERS], products[WORKERS], value;
    int chosen, fresh, slot, sound, received;
} GroupScratch;

#define STATE_ARGUMENTS __global const float *contexts, const int context_size, __global float *positions, \
    __global float *velocities, volatile __global float *bests, __global float *values, volatile __global float *best_values, \
    __global int *informants, __global float *trace, const int trace_points
#define STATE_VALUES contexts, context_size, positions, velocities, bests, values, best_values, informants, trace, trace_points
// Where particles post their bests for each other: two slots, taken in turns, and stamps. Stamp 2 v: v bests were posted, the
// last of them in slot v % 2; 2 v + 1: another is being written into the other slot.
#define POST_ARGUMENTS volatile __global float *posted, volatile __global float *posted_values, volatile __global int *stamps
#define GROUP_KERNEL __attribute__((reqd_work_group_size(ITEMS, 1, 1))) __kernel void

#define SET_UP                                                                        \
    const int group = get_group_id(0), item = get_local_id(0);                        \
    const int swarm = group / PARTICLES, particle = group % PARTICLES;                \
    const size_t row = (size_t)group * DIM;                                           \
    __global const float *context = contexts + (size_t)swarm * context_size;          \
    __local GroupScratch shared_memory;                                                            \
    __local GroupScratch *shared = &shared_memory;
#define EACH_DIMENSION(d) FOR_SHARE (int d = item; d < DIM; d += ITEMS)

int left_of(const int group) { return group % PARTICLES ? group - 1 : group + PARTICLES - 1; }
int right_of(const int group) { return group % PARTICLES < PARTICLES - 1 ? group + 1 : group - PARTICLES + 1; }

#ifdef NOISE
#define NOISE_OF(word) (number_at(word, (uint)(2 * DIM)) * (NOISE))
#else
#define NOISE_OF(word) 0.0f
#endif

#if !BY_DIMENSION && FITNESS_APART
// Inlined beside local memory, Intel's compiler for CPUs (2026.22.10) makes a fitness that reads other positions.
__attribute__((noinline)) float fitness_apart(const float *position, __global const float *context) {
    return fitness(position, context);
}
#else
#define fitness_apart fitness
#endif

// The fitness of a position at the shared, for all items; all have met before.
float judged(__local const float *at, __local GroupScratch *shared, const int item, __global const float *context) {
#if BY_DIMENSION
    float sum = 0, product = 1;
    EACH_DIMENSION(d) add_term(at[d], at[min(d + 1, DIM - 1)], d, &sum, &product, context);
    const SubGroup team = {item % TEAM, 0};
    sum = team_sum_of_floats(sum, team);
    product = team_product_of_floats(product, team);
    if (item % TEAM == 0) {
        shared->sums[item / TEAM] = sum;
        shared->products[item / TEAM] = product;
    }
    GROUP_BARRIER(ALL_MEMORY);
    sum = 0;
    product = 1;
    for (int worker = 0; worker < WORKERS; ++worker) {
        sum += shared->sums[worker];
        product *= shared->products[worker];
    }
    const float value = fitness_of_terms(sum, product);
#else
    if (item == 0) {
        float position[DIM];
        for (int d = 0; d < DIM; ++d) position[d] = at[d];
        shared->value = fitness_apart(position, context);
    }
    GROUP_BARRIER(ALL_MEMORY);
    const float value = shared->value;
#endif
    GROUP_BARRIER(ALL_MEMORY);
    return value;
}

// A step of one dimension, eq. 1 and 2; returns the velocity and changes the position.
float step_of(float *at, const float velocity, const float own, const float lead, const int d, const uint word,
              __global const float *context) {
    const float towards_own = COGNITIVE * number_at(word, 2u * d) * (own - *at);
    const float towards_lead = SOCIAL * number_at(word, 2u * d + 1u) * (lead - *at);
    float speed = INERTIA * velocity + towards_own + towards_lead;
    const float moved = *at + speed;
#if BOUNDED
    *at = fmin(fmax(moved, lower(d, context)), upper(d, context));
    if (STOPS && *at != moved) speed = 0;
#else
    *at = moved;
#endif
    return speed;
}

// First positions, velocities that are half the way to others, and first bests.
GROUP_KERNEL initialise(STATE_ARGUMENTS, POST_ARGUMENTS, NUMBER_ARGUMENTS) {
    SET_UP
    const uint word = next_word(0, swarm, particle, 0, NUMBER_VALUES);
    EACH_DIMENSION(d) {
        const float low = lower(d, context), width = upper(d, context) - low;
        const float at = FUSED(number_at(word, 2u * d), width, low), other = FUSED(number_at(word, 2u * d + 1u), width, low);
        shared->at[d] = positions[row + d] = bests[row + d] = posted[row + d] = at;
        velocities[row + d] = 0.5f * (other - at);
    }
    GROUP_BARRIER(ALL_MEMORY);
    const float value = judged(shared->at, shared, item, context) + NOISE_OF(word);
    if (item == 0) {
        values[group] = best_values[group] = posted_values[group] = value > -INFINITY ? value : -INFINITY;
        informants[group] = group;
    }
}

// The three kernels of a generation of the synchronous form, and how informants are first chosen. Positions:
GROUP_KERNEL move(STATE_ARGUMENTS, const int generation, NUMBER_ARGUMENTS) {
    SET_UP
    const uint word = next_word(0, swarm, particle, generation, NUMBER_VALUES);
    const size_t lead = (size_t)informants[group] * DIM;
    EACH_DIMENSION(d) {
        float at = positions[row + d];
        velocities[row + d] = step_of(&at, velocities[row + d], bests[row + d], bests[lead + d], d, word, context);
        positions[row + d] = at;
    }
}

// Fitness.
GROUP_KERNEL evaluate(STATE_ARGUMENTS, const int generation, NUMBER_ARGUMENTS) {
    SET_UP
    EACH_DIMENSION(d) shared->at[d] = positions[row + d];
    GROUP_BARRIER(ALL_MEMORY);
    float value = judged(shared->at, shared, item, context);
#ifdef NOISE
    value += NOISE_OF(next_word(0, swarm, particle, generation, NUMBER_VALUES));
#endif
    if (item == 0) values[group] = value;
}

// What a particle's best will be, whether or not its group has taken it yet.
float best_to_be(const int group, __global const float *values, volatile __global const float *best_values) {
    const float value = values[group], best = best_values[group];
    return value > best ? value : best;
}

// Bests: of each particle, and whom it follows. The point of the trace is negative if none is due.
GROUP_KERNEL take_bests(STATE_ARGUMENTS, const int point) {
    SET_UP
    if (item == 0) {
        const float value = values[group], before = best_values[group];
        float most = best_to_be(group, values, best_values);
        shared->sound = value > before;
        int found = group;
        for (int side = 0; side < 2; ++side) {
            const int other = side ? right_of(group) : left_of(group);
            const float theirs = best_to_be(other, values, best_values);
            if (theirs > most) {
                most = theirs;
                found = other;
            }
        }
        informants[group] = found;
        if (value > before) best_values[group] = value;
        if (point >= 0) trace[(size_t)group * trace_points + point] = best_to_be(group, values, best_values);
    }
    GROUP_BARRIER(ALL_MEMORY);
    EACH_DIMENSION(d) if (shared->sound) bests[row + d] = positions[row + d];
}

#if GROUPS_WAIT

// The asynchronous form: generations behind `before`, with no barrier between particles. A particle posts a best by its stamp,
// then its position and fitness, a fence, and its stamp again. Who reads takes the last that is complete, and looks at the
// stamp again afterwards: if by then the slot may have been written over, it follows its own best for once.
//
// `span` generations if all groups answer the co-residency probe, else `slice`. `seen`: pairs of position and fitness that were read,
// and how many of them did not belong together, if CHECKED.
GROUP_KERNEL run_async(STATE_ARGUMENTS, POST_ARGUMENTS, volatile __global int *probe, __global int *seen, const int before,
                 const int span, const int slice, const int trace_every, NUMBER_ARGUMENTS) {
    SET_UP
    const bool resident = co_residency_probe(probe, get_num_groups(0), &shared->received, item) == CO_RESIDENT;
    const int number = resident ? span : slice, groups = get_num_groups(0);
    EACH_DIMENSION(d) {
        shared->at[d] = positions[row + d];
        shared->best[d] = shared->lead[d] = bests[row + d];
        shared->velocity[d] = velocities[row + d];
    }
    float best = best_values[group];
    int own_bests = load_int(&stamps[group]) / 2;
    int held = -1, held_bests = -1; // whose best stands at the shared, and which, by item 0
    for (int generation = before + 1; generation <= before + number; ++generation) {
        const uint word = next_word(0, swarm, particle, generation, NUMBER_VALUES);
        int their_bests = 0;
        if (item == 0) {
            const int left = left_of(group), right = right_of(group);
            const int of_left = load_int(&stamps[left]) / 2, of_right = load_int(&stamps[right]) / 2;
            DEVICE_FENCE;
            const float left_value = load_float(&posted_values[(size_t)(of_left % 2) * groups + left]);
            const float right_value = load_float(&posted_values[(size_t)(of_right % 2) * groups + right]);
            float most = best;
            int found = group;
            if (left_value > most) {
                most = left_value;
                found = left;
                their_bests = of_left;
            }
            if (right_value > most) {
                most = right_value;
                found = right;
                their_bests = of_right;
            }
            shared->chosen = found;
            shared->fresh = found == group || found != held || their_bests != held_bests;
            shared->slot = their_bests % 2;
            shared->value = most;
        }
        GROUP_BARRIER(ALL_MEMORY);
        const int chosen = shared->chosen;
        const bool fresh = shared->fresh;
        const float theirs = shared->value;
        const size_t from = ((size_t)shared->slot * groups + chosen) * DIM;
        EACH_DIMENSION(d) if (fresh) shared->lead[d] = chosen == group ? shared->best[d] : load_float(&posted[from + d]);
        if (fresh) DEVICE_FENCE;
        GROUP_BARRIER(ALL_MEMORY);
        if (item == 0) {
            shared->sound = chosen == group || !fresh || load_int(&stamps[chosen]) <= 2 * their_bests + 2;
            held = shared->sound && chosen != group ? chosen : -1;
            held_bests = their_bests;
        }
        GROUP_BARRIER(ALL_MEMORY);
        const bool sound = shared->sound;
        EACH_DIMENSION(d) if (!sound) shared->lead[d] = shared->best[d];
#if CHECKED
        GROUP_BARRIER(ALL_MEMORY);
        const float again = judged(shared->lead, shared, item, context);
        if (item == 0 && sound && chosen != group && fresh) {
            atomic_inc(&seen[0]);
            if (again != theirs) atomic_inc(&seen[1]);
        }
#endif
        EACH_DIMENSION(d) {
            float at = shared->at[d];
            shared->velocity[d] = step_of(&at, shared->velocity[d], shared->best[d], shared->lead[d], d, word, context);
            shared->at[d] = at;
        }
        GROUP_BARRIER(ALL_MEMORY);
        const float value = judged(shared->at, shared, item, context) + NOISE_OF(word);
        const bool better = value > best;
        if (better) ++own_bests;
        if (item == 0 && better) store_int(&stamps[group], 2 * own_bests - 1);
        GROUP_BARRIER(ALL_MEMORY);
        if (better) DEVICE_FENCE; // of every item that writes: who reads what it wrote finds this stamp afterwards
        const size_t to = (size_t)(own_bests % 2) * groups + group;
        EACH_DIMENSION(d) {
            if (better) {
                shared->best[d] = shared->at[d];
                store_float(&posted[to * DIM + d], shared->at[d]);
            }
        }
        if (item == 0 && better) store_float(&posted_values[to], value);
        GROUP_BARRIER(ALL_MEMORY);
        if (item == 0 && better) {
            DEVICE_FENCE;
            store_int(&stamps[group], 2 * own_bests);
        }
        best = better ? value : best;
        if (item == 0 && generation % trace_every == 0)
            trace[(size_t)group * trace_points + generation / trace_every - 1] = best;
    }
    EACH_DIMENSION(d) {
        positions[row + d] = shared->at[d];
        velocities[row + d] = shared->velocity[d];
        bests[row + d] = shared->best[d];
    }
    if (item == 0) best_values[group] = best;
}

#endif
