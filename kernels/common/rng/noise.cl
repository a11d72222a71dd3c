// What is added to a fitness: a noisy problem defines NOISE, the largest. Drawn by every particle in every generation, so
// that its random numbers do not depend on who else is there; stands behind a file of random numbers.
reals noise_of(STATE_SPACE Random *random) {
#ifdef NOISE
    return random_lanes(random, NOISE);
#else
    return (reals)(-0.0f); // which leaves every number as it is
#endif
}
