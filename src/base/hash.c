// Hashes of bytes: FNV-1a, in 64 bits, and in 32 for short names. What they give is written into
// files, so it does not change.
#include "base.h"

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001B3u;
  return hash;
}

uint32_t hash_short(uint32_t hash, const void *bytes, size_t n) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 16777619u;
  return hash;
}
