// Exchange between two variables of a position. Where the sum of variables is bound, as the releases of a year are by its
// water, a better position often differs in two of them, and no change of one alone leads there.
//
// A problem that defines EXCHANGED lets its first EXCHANGED variables be exchanged; a variable counts exchange_weight(d).

#if defined(EXCHANGED) && EXCHANGE_INTERVAL
#define EXCHANGES(generation) ((generation) % EXCHANGE_INTERVAL == 0)

// Which two variables, for every lane: two numbers in 0 .. EXCHANGED - 1 that differ.
#define EXCHANGE_TO(drawn, step) random_places(drawn, step, EXCHANGED)
uints exchange_from(const uints to, const uints drawn, const int step) {
    const uints from = random_places(drawn, step, EXCHANGED - 1);
    return CHOOSE(from >= to, from + 1, from);
}

// Amounts, each by its weight, change places where `part` is below a half; else a random part of what one variable can give
// and the other take is moved. Both stay within their bounds.
void exchange(reals *position, const uints to, const uints from, const reals part, CONTEXT_SPACE const float *context) {
    reals taken = 0, given = 0, room = 0, stock = 0;
#pragma unroll
    for (int d = 0; d < EXCHANGED; ++d) {
        const float weight = exchange_weight(d, context);
        taken = CHOOSE(to == (uint)d, position[d] * weight, taken);
        given = CHOOSE(from == (uint)d, position[d] * weight, given);
        room = CHOOSE(to == (uint)d, (upper(d, context) - position[d]) * weight, room);
        stock = CHOOSE(from == (uint)d, (position[d] - lower(d, context)) * weight, stock);
    }
    const reals moved = CHOOSE(part < 0.5f, given - taken, (2.0f * part - 1.0f) * LESSER(room, stock));
#pragma unroll
    for (int d = 0; d < EXCHANGED; ++d) {
        const reals change = CHOOSE(to == (uint)d, moved, CHOOSE(from == (uint)d, -moved, (reals)(0)));
        const reals changed = FUSED(change, (reals)(1.0f / exchange_weight(d, context)), position[d]);
        position[d] = LESSER(GREATER(changed, (reals)(lower(d, context))), (reals)(upper(d, context)));
    }
}
#else
#define EXCHANGES(generation) false
#define EXCHANGE_TO(drawn, step) 0
uints exchange_from(const uints to, const uints drawn, const int step) { return to; }
void exchange(reals *position, const uints to, const uints from, const reals part, CONTEXT_SPACE const float *context) {}
#endif
