// What the driver without libFuzzer is made of: replay.c runs inputs, mutate.c makes them.
#ifndef LIMN_FUZZ_PLAIN_H
#define LIMN_FUZZ_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_ROOM = 1 << 16, INPUT_MOST = 4096, CORPUS_MOST = 1 << 14, PLACES = 1 << 20 };
#if defined __SANITIZE_ADDRESS__
enum { SANITIZED_BUILD = 1 };
#else
enum { SANITIZED_BUILD = 0 };
#endif

// The harness. The last two are there where it has mutations of its own.
int LLVMFuzzerTestOneInput(const uint8_t *, size_t n);
size_t LLVMFuzzerCustomMutator(uint8_t *, size_t n, size_t most, unsigned seed)
    __attribute__((weak));
size_t LLVMFuzzerCustomCrossOver(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *out,
                                 size_t most, unsigned seed) __attribute__((weak));

// mutate.c
size_t LLVMFuzzerMutate(uint8_t *, size_t n, size_t most); // any bytes, in a few places
bool corpus_add(const uint8_t *, size_t n);                // false: there are too many
uint32_t corpus_count(void);
size_t corpus_copy(uint32_t i, uint8_t *to); // its length
size_t mutate(unsigned *seed, uint8_t *to);  // a new input, from one or two of the corpus

#endif
