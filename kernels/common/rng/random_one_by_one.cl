// How a new exemplar is drawn where numbers follow each other; stands behind a scheme with random_one_.

// The numbers of one lane, for a new exemplar, are drawn when asked for; the other lanes' streams stand still.
typedef STATE_SPACE Random *Draws;
typedef struct {
    STATE_SPACE Random *random;
    int lane;
} Drawn;
#define DRAWN_TRAVELS 0

Draws random_draws(STATE_SPACE Random *random, const ints due) { return random; }

Drawn drawn_by(const Draws *draws, const int lane) {
    const Drawn drawn = {*draws, lane};
    return drawn;
}

// A number in 0 .. count - 1.
int random_below(const Drawn *drawn, const int step, const int count) {
    return min((int)(random_one_(drawn->random, drawn->lane) * count), count - 1);
}

// Whether a particle learns, and if so between which two it chooses, in 0 .. count - 1 and 0 .. other_count - 1.
bool random_rivals(const Drawn *drawn, const int step, const float probability, const int count, const int other_count,
                   int2 *rivals) {
    *rivals = 0;
    if (random_one_(drawn->random, drawn->lane) >= probability) return false;
    const int first = random_below(drawn, step, count);
    *rivals = (int2)(first, random_below(drawn, step, other_count));
    return true;
}

#if LANES > 1
// The same of so many steps, one after the other.
ints random_rivals_of_steps(const Drawn *drawn, const int first_step, const int steps, const float probability,
                            const int count, const int other_count, ints *one, ints *other) {
    ints learns = 0;
    for (int step = 0; step < steps; ++step) {
        int2 rivals;
        const bool learns_here = random_rivals(drawn, first_step + step, probability, count, other_count, &rivals);
        INT_OF(learns, step) = -learns_here; // a mask
        INT_OF(*one, step) = rivals.x;
        INT_OF(*other, step) = rivals.y;
    }
    return learns;
}
#endif
