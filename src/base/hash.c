// FNV-1a with 64 and 32 bits, and a faster 64-bit checksum. Some hashes are part of files, so they
// are equal on every machine and must not change.
#include "base/hash.h"
#include "base/base.h"

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

// A single load if `n` is constant.
static inline uint64_t word_at(const unsigned char *at, size_t n) {
  uint64_t word = 0;
  for (size_t k = 0; k < n; k++) word |= (uint64_t)at[k] << 8 * k;
  return word;
}

static uint64_t short_word(const unsigned char *at, size_t n) {
  return n < 4 ? word_at(at, n) : word_at(at, 4) | word_at(at + 4, n - 4) << 32;
}

static uint64_t sum_with(uint64_t h, uint64_t word) {
  h = (h ^ word) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

// Hashes eight bytes at a time. Each step is invertible, so texts of one length that differ in one
// word never collide.
uint64_t hash_sum(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes, *end = at + n / 8 * 8;
  for (; at < end; at += 8) h = sum_with(h, word_at(at, 8));
  if (n % 8) h = sum_with(h, short_word(at, n % 8));
  return (h ^ n) * 0x9E3779B97F4A7C15u;
}
