// A problem whose variables all have the same bounds, LOWER and UPPER, and whose context is empty.

#define CONTEXT 1 // since no array is empty

float lower(const int d, CONTEXT_SPACE const float *context) { return LOWER; }
float upper(const int d, CONTEXT_SPACE const float *context) { return UPPER; }
