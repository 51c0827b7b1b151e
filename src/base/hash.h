// hash.h: FNV-1a. Start with HASH_START; pass the previous result to hash further bytes.
#ifndef LIMN_BASE_HASH_H
#define LIMN_BASE_HASH_H

#include "base/base.h"

#define HASH_START 0xCBF29CE484222325u
#define HASH_START_32 2166136261u
uint64_t hash_bytes(uint64_t, const void *, size_t n);
uint64_t hash_sum(uint64_t, const void *, size_t n); // a faster checksum (not FNV) for large data
uint32_t hash_bytes_32(uint32_t, const void *, size_t n);

#endif
