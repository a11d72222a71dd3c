// Training error of a perceptron with one hidden layer of sigmoids and linear outputs (Li and Liu 2017, eq. 1-3): position =
// of each hidden unit the weights of the inputs, with BIAS its bias, and its weights in the outputs; then, with BIAS, the
// biases of the outputs.
//
// It is a sum over samples, so that a solver may share it out: lanes are samples. Constants: INPUTS, HIDDEN, OUTPUTS, BIAS,
// REACH (of first positions), UNITS_TOGETHER (in vectors, a divisor of HIDDEN), where everything stands in the context
// (reservoir/problems/mlp/training_error.py), and from the solver TILE (vectors of samples handled together). The context: a
// head of HEAD numbers, the number of samples (with padding, a multiple of any LANES) and 1 / the ranges of the outputs; then
// rows of as many numbers: the inputs, the desired outputs over their ranges, the weights of the samples, which sum up to
// 1 / OUTPUTS.

#define SUMMED 1
#define SAMPLES_OF(context) ((int)(context)[SAMPLE_COUNT])
// In vectors weights of the inputs are scaled beforehand, once for all samples.
#if LANES > 1
#define WEIGHT_SPACE
#define ACTIVATION sigmoid_of_scaled
#else
#define WEIGHT_SPACE __local
#define ACTIVATION sigmoid
#endif
#define HIDDEN_BLOCK (LANES == 1 ? 1 : UNITS_TOGETHER)
#define UNIT (INPUTS + BIAS + OUTPUTS) // numbers of a hidden unit
#define DIM (HIDDEN * UNIT + BIAS * OUTPUTS)

float lower(const int d, CONTEXT_SPACE const float *context) { return -REACH; }
float upper(const int d, CONTEXT_SPACE const float *context) { return REACH; }

reals in_row(const int row, const int vector, CONTEXT_SPACE const float *context) {
    return LOAD_LANES(CONTEXT_SPACE, context + HEAD + row * SAMPLES_OF(context) + vector * LANES);
}

// What some hidden units add to the outputs.
ALWAYS_INLINE void add_units(const WEIGHT_SPACE float *unit, const reals inputs[TILE][INPUTS], reals outputs[TILE][OUTPUTS]) {
    reals active[HIDDEN_BLOCK][TILE];
#pragma unroll
    for (int h = 0; h < HIDDEN_BLOCK; ++h)
#pragma unroll
        for (int t = 0; t < TILE; ++t) active[h][t] = BIAS ? unit[h * UNIT + INPUTS] : 0.0f;
#pragma unroll
    for (int i = 0; i < INPUTS; ++i)
#pragma unroll
        for (int h = 0; h < HIDDEN_BLOCK; ++h) {
            const float weight = unit[h * UNIT + i];
#pragma unroll
            for (int t = 0; t < TILE; ++t) active[h][t] = FUSED((reals)(weight), inputs[t][i], active[h][t]);
        }
#pragma unroll
    for (int h = 0; h < HIDDEN_BLOCK; ++h)
#pragma unroll
        for (int t = 0; t < TILE; ++t) active[h][t] = ACTIVATION(active[h][t]);
#pragma unroll
    for (int h = 0; h < HIDDEN_BLOCK; ++h)
#pragma unroll
        for (int j = 0; j < OUTPUTS; ++j) {
            const float weight = unit[h * UNIT + INPUTS + BIAS + j];
#pragma unroll
            for (int t = 0; t < TILE; ++t) outputs[t][j] = FUSED((reals)(weight), active[h][t], outputs[t][j]);
        }
}

// The share of one of several members in the sum of squared errors.
reals share_of_sum(__local const float *position, const int member, const int members, CONTEXT_SPACE const float *context) {
    const int vectors = SAMPLES_OF(context) / LANES;
    reals sum = 0;
#if LANES > 1
    float weights[DIM];
    for (int d = 0; d < DIM; ++d)
        weights[d] = position[d] * (d < HIDDEN * UNIT && d % UNIT < INPUTS + BIAS ? SIGMOID_SCALE : 1.0f);
#else
    __local const float *weights = position;
#endif
#pragma unroll 1
    for (int first = member; first < vectors; first += members * TILE) {
        reals inputs[TILE][INPUTS], outputs[TILE][OUTPUTS];
#pragma unroll
        for (int t = 0; t < TILE; ++t) {
            const int vector = min(first + t * members, vectors - 1);
#pragma unroll
            for (int i = 0; i < INPUTS; ++i) inputs[t][i] = in_row(INPUT_ROW + i, vector, context);
#pragma unroll
            for (int j = 0; j < OUTPUTS; ++j) outputs[t][j] = BIAS ? weights[HIDDEN * UNIT + j] : 0.0f;
        }
#pragma unroll 1
        for (int h = 0; h < HIDDEN; h += HIDDEN_BLOCK) add_units(weights + h * UNIT, inputs, outputs);
#pragma unroll
        for (int t = 0; t < TILE; ++t) {
            const int vector = min(first + t * members, vectors - 1);
            reals square = 0;
#pragma unroll
            for (int j = 0; j < OUTPUTS; ++j) {
                const float scale = context[SCALES + j];
                const reals error = FUSED(outputs[t][j], (reals)(scale), -in_row(DESIRED_ROW + j, vector, context));
                square = FUSED(error, error, square);
            }
            const float counted = first + t * members < vectors ? 1.0f : 0.0f;
            sum = FUSED(square * counted, in_row(WEIGHT_ROW, vector, context), sum);
        }
    }
    return sum;
}

// Minus the error (eq. 3), to be made large.
float fitness_of_sum(const float sum, CONTEXT_SPACE const float *context) { return -sqrt(sum); }
