// Reductions in local memory by pairs (Li and Liu 2017, section 5.4 and Figure 2): of n numbers, n of any size, number i
// meets number n - 1 - i, and the middle of an odd count stays. All items of a group call these together, and afterwards
// each may read the result.
//
// Constants: ITEMS of a group.

// Puts the largest of `count` numbers first, and its owner; of equals the least owner.
void best_by_pairs(__local REAL *values, __local int *owners, const int count, const int item) {
    for (int left = count; left > 1; left = (left + 1) / 2) {
        FOR_SHARE (int one = item; one < left / 2; one += ITEMS) {
            const int other = left - 1 - one;
            if (values[other] > values[one] || (values[other] == values[one] && owners[other] < owners[one])) {
                values[one] = values[other];
                owners[one] = owners[other];
            }
        }
        GROUP_BARRIER(ALL_MEMORY);
    }
}

// Puts the sum of `count` numbers first. A group may sum several rows at once, each by as many of its items.
void sum_by_pairs(__local REAL *row, const int count, const int item, const int items) {
    for (int left = count; left > 1; left = (left + 1) / 2) {
        FOR_SHARE (int one = item; one < left / 2; one += items) row[one] += row[left - 1 - one];
        GROUP_BARRIER(ALL_MEMORY);
    }
}
