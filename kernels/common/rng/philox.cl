// Philox4x32-10 (Salmon et al. 2011, SC '11): a counter and a key give four random 32-bit numbers.

uint4 philox4x32(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const ulong product0 = (ulong)0xD2511F53u * counter.x;
        const ulong product1 = (ulong)0xCD9E8D57u * counter.z;
        counter = (uint4)((uint)(product1 >> 32) ^ counter.y ^ key.x, (uint)product1,
                          (uint)(product0 >> 32) ^ counter.w ^ key.y, (uint)product0);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}
