// The travelling salesman problem: a tour is a permutation of DIM cities. The context: costs of the edges from each city to
// each other, whole numbers in the room of floats.

int edge(const int from, const int to, CONTEXT_SPACE const float *context) {
    return ((CONTEXT_SPACE const int *)context)[(size_t)from * DIM + to];
}
