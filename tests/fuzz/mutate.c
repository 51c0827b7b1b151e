// Inputs from inputs: one of the corpus, changed in a few places; or a part of another one in it.
// Later ones, which reached what was new, are taken more often.
#include "plain.h"

typedef struct {
  uint8_t *at;
  size_t n;
} CorpusItem;

static CorpusItem corpus[CORPUS_MOST];
static uint32_t items;
static unsigned dice = 1;

static uint32_t roll(unsigned *seed) { // xorshift
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed;
}

static uint32_t below(uint64_t n) { return n ? (uint32_t)(roll(&dice) % n) : 0; }

bool corpus_add(const uint8_t *bytes, size_t n) {
  uint8_t *copy = items < CORPUS_MOST ? malloc(n ? n : 1) : NULL;
  if (!copy) return false;
  if (n) memcpy(copy, bytes, n);
  corpus[items++] = (CorpusItem){copy, n};
  return true;
}

uint32_t corpus_count(void) { return items; }

size_t corpus_copy(uint32_t i, uint8_t *to) {
  if (corpus[i].n) memcpy(to, corpus[i].at, corpus[i].n);
  return corpus[i].n;
}

static const CorpusItem *choose(void) {
  uint32_t a = below(items), b = below(items);
  return &corpus[below(3) && b > a ? b : a];
}

// -- bytes ----------------------------------------------------------------------------------------
static size_t cut(uint8_t *p, size_t n, size_t at, size_t length) {
  memmove(p + at, p + at + length, n - at - length);
  return n - length;
}

// Makes room for `length` bytes at `at`, if it fits.
static size_t open_gap(uint8_t *p, size_t n, size_t at, size_t length, size_t most) {
  if (length > most - n) return n;
  memmove(p + at + length, p + at, n - at);
  return n + length;
}

// A number that is a limit of something, in 1, 2, 4 or 8 bytes, of either order.
static void put_limit(uint8_t *p, size_t n) {
  static const uint64_t limits[] = {0,
                                    1,
                                    2,
                                    127,
                                    128,
                                    255,
                                    256,
                                    65535,
                                    65536,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x7fffffffffffffff,
                                    1ull << 63,
                                    UINT64_MAX,
                                    1ull << 40};
  size_t width = (size_t)1 << below(4), at = below(n);
  uint64_t x = limits[below(sizeof limits / sizeof limits[0])] + (below(4) ? 0 : below(3));
  bool big = below(2);
  for (size_t i = 0; i < width && at + i < n; i++)
    p[at + i] = (uint8_t)(x >> 8 * (big ? width - 1 - i : i));
}

static const char *some_text(void) {
  static const char *const texts[] = {"0",
                                      "-1",
                                      "1e400",
                                      "nan",
                                      "inf",
                                      "-inf",
                                      "9223372036854775807",
                                      "18446744073709551616",
                                      "1e-9",
                                      "0x10",
                                      "null",
                                      "true",
                                      "\"\"",
                                      "[]",
                                      "{}",
                                      "[[",
                                      "\\u",
                                      "\\u0000",
                                      "\xff",
                                      "\xc3\xa9",
                                      "\n",
                                      "\r\n",
                                      "\t",
                                      "\"",
                                      ",",
                                      ":",
                                      "/",
                                      "..",
                                      "%s",
                                      "\033[2J"};
  return texts[below(sizeof texts / sizeof texts[0])];
}

static size_t put_text(uint8_t *p, size_t n, size_t most) {
  const char *text = some_text();
  size_t length = strlen(text), at = below(n + 1), after;
  if (below(2)) { // in the place of the number or word that stands there
    size_t end = at;
    while (end < n && end - at < 24 &&
           (p[end] == '.' || p[end] == '-' || (p[end] >= '0' && p[end] <= '9') || p[end] >= 'A'))
      end++;
    n = cut(p, n, at, end - at);
  }
  after = open_gap(p, n, at, length, most);
  if (after > n) memcpy(p + at, text, length);
  return after;
}

// A part of this input, or of another one, put in at another place.
static size_t put_part(uint8_t *p, size_t n, size_t most) {
  static uint8_t part[INPUT_ROOM];
  const CorpusItem *other = choose();
  bool own = below(2);
  size_t from_n = own ? n : other->n, from = below(from_n);
  size_t length = from_n ? 1 + below(from_n - from < 64 || !below(8) ? from_n - from : 64) : 0;
  if (!from_n) return n;
  memcpy(part, (own ? p : other->at) + from, length);
  size_t at = below(n + 1);
  if (below(2)) { // over what is there
    if (length > n - at) length = n - at;
    memcpy(p + at, part, length);
    return n;
  }
  size_t after = open_gap(p, n, at, length, most);
  if (after > n) memcpy(p + at, part, length);
  return after;
}

static size_t change(uint8_t *p, size_t n, size_t most) {
  if (!n) return put_text(p, n, most);
  size_t at = below(n);
  switch (below(9)) {
  case 0: p[at] ^= (uint8_t)(1 << below(8)); break;
  case 1: p[at] = (uint8_t)below(256); break;
  case 2: p[at] = (uint8_t)(p[at] + below(9) - 4); break;
  case 3: put_limit(p, n); break;
  case 4: return put_text(p, n, most);
  case 5: return cut(p, n, at, 1 + below(below(4) ? (n - at < 16 ? n - at : 16) : n - at));
  case 6: return put_part(p, n, most);
  case 7: return open_gap(p, n, at, 1, most); // the byte twice
  default:                                    // two bytes change places
    if (at + 1 < n) {
      uint8_t x = p[at];
      p[at] = p[at + 1], p[at + 1] = x;
    }
  }
  return n;
}

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t most) {
  for (uint32_t k = 1 + below(1u << below(4)); k; k--) n = change(p, n, most);
  return n;
}

size_t mutate(unsigned *seed, uint8_t *to) {
  const CorpusItem *one = choose();
  dice = roll(seed) | 1u;
  if (one->n) memcpy(to, one->at, one->n);
  if (LLVMFuzzerCustomCrossOver && !below(6)) {
    const CorpusItem *two = choose();
    size_t n =
        LLVMFuzzerCustomCrossOver(one->at, one->n, two->at, two->n, to, INPUT_MOST, roll(&dice));
    if (n) return n;
    if (one->n) memcpy(to, one->at, one->n);
  }
  if (LLVMFuzzerCustomMutator) return LLVMFuzzerCustomMutator(to, one->n, INPUT_MOST, roll(&dice));
  return LLVMFuzzerMutate(to, one->n, INPUT_MOST);
}
