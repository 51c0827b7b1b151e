// FNV-1a, by 64 and by 32 bits. Hashes tell things apart where nothing but speed depends on them; some are part of files,
// so they are the same on every machine and do not change.
#include "base.h"

uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 0x100000001B3u;
  return h;
}

uint32_t hash_bytes_32(uint32_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) h = (h ^ at[i]) * 16777619u;
  return h;
}
