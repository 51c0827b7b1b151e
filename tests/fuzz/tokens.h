// Mutations that keep most of a text readable: whole words and symbols are copied, moved and
// dropped, and parts of one text stand in another. Included by the harnesses that read the
// language.
#ifndef LIMN_FUZZ_TOKENS_H
#define LIMN_FUZZ_TOKENS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *, size_t n, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *out,
                                 size_t most, unsigned seed);

enum { TOKENS = 4096, INPUT_LIMIT = 4096 };
typedef struct {
  size_t at, n;
} Piece;
typedef struct {
  const uint8_t *text;
  uint32_t n;
  Piece token[TOKENS];
} Pieces;

static bool is_word(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}
static bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }

// Words, symbols (a character each, or one of two), a string, a comment, a line's end with what
// stands before the next word.
static size_t piece_length(const uint8_t *p, size_t n) {
  size_t i = 1;
  if (is_word(p[0])) {
    while (i < n && is_word(p[i])) i++;
  } else if (p[0] == '"') {
    while (i < n && p[i] != '"' && p[i] != '\n') i++;
    if (i < n) i++;
  } else if (p[0] == '#') {
    while (i < n && p[i] != '\n') i++;
  } else if (p[0] == '\n') {
    while (i < n && (is_blank(p[i]) || p[i] == '\n')) i++;
  } else if (p[0] >= 0x80) {
    while (i < n && (p[i] & 0xC0) == 0x80) i++;
  } else if (n > 1 && (p[1] == '>' || p[1] == '=')) {
    i = 2;
  }
  while (i < n && is_blank(p[i])) i++;
  return i;
}

static void pieces_read(Pieces *t, const uint8_t *text, size_t n) {
  t->text = text;
  t->n = 0;
  for (size_t at = 0; at < n && t->n < TOKENS; t->n++) {
    t->token[t->n] = (Piece){at, piece_length(text + at, n - at)};
    at += t->token[t->n].n;
  }
}

typedef struct {
  uint8_t text[INPUT_LIMIT];
  size_t n, most;
} Out;

static void put(Out *o, const Pieces *t, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to && i < t->n; i++) {
    Piece k = t->token[i];
    if (o->n + k.n > o->most) return;
    memcpy(o->text + o->n, t->text + k.at, k.n);
    o->n += k.n;
  }
}

static uint32_t roll(unsigned *seed) { // xorshift
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed;
}

static uint32_t below(unsigned *seed, uint32_t n) { return n ? roll(seed) % n : 0; }

// A run of tokens, mostly short; every third time whole lines.
static void pick(const Pieces *t, unsigned *seed, uint32_t *from, uint32_t *to) {
  *from = below(seed, t->n);
  uint32_t n = 1 + below(seed, 1u << below(seed, 7));
  *to = *from + n < t->n ? *from + n : t->n;
  if (below(seed, 3)) return;
  while (*from && t->text[t->token[*from - 1].at] != '\n') --*from;
  while (*to < t->n && t->text[t->token[*to - 1].at] != '\n') ++*to;
}

static void number_into(Out *o, unsigned *seed) {
  static const char *const numbers[] = {"0 ",
                                        "1 ",
                                        "2 ",
                                        "3 ",
                                        "7 ",
                                        "64 ",
                                        "0.5 ",
                                        "1e9 ",
                                        "1099511627776 ",
                                        "9223372036854775807 ",
                                        "1e400 ",
                                        "4294967296 "};
  const char *text = numbers[below(seed, sizeof numbers / sizeof numbers[0])];
  if (o->n + strlen(text) > o->most) return;
  memcpy(o->text + o->n, text, strlen(text));
  o->n += strlen(text);
}

size_t LLVMFuzzerCustomMutator(uint8_t *text, size_t n, size_t most, unsigned seed) {
  static Pieces t;
  static Out o;
  seed |= 1;
  if (below(&seed, 5) == 0 || n > INPUT_LIMIT) return LLVMFuzzerMutate(text, n, most);
  o.n = 0;
  o.most = most < INPUT_LIMIT ? most : INPUT_LIMIT;
  for (uint32_t rounds = 1 + below(&seed, 3); rounds; rounds--) {
    uint32_t a, b, c, d;
    pieces_read(&t, text, n);
    if (!t.n) return LLVMFuzzerMutate(text, n, most);
    pick(&t, &seed, &a, &b);
    pick(&t, &seed, &c, &d);
    o.n = 0;
    switch (below(&seed, 6)) {
    case 0: put(&o, &t, 0, a), put(&o, &t, b, t.n); break; // without it
    case 1: put(&o, &t, 0, b), put(&o, &t, a, t.n); break; // twice
    case 2:
      put(&o, &t, 0, a), put(&o, &t, c, d), put(&o, &t, a, t.n);
      break; // another one before it
    case 3: put(&o, &t, 0, a), put(&o, &t, c, d), put(&o, &t, b, t.n); break; // another one instead
    case 4:
      put(&o, &t, 0, a), put(&o, &t, a + 1, a + 2), put(&o, &t, a, a + 1), put(&o, &t, a + 2, t.n);
      break;
    default: put(&o, &t, 0, a), number_into(&o, &seed), put(&o, &t, a + 1, t.n); break;
    }
    memcpy(text, o.text, o.n);
    n = o.n;
  }
  return n;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *left, size_t nleft, const uint8_t *right,
                                 size_t nright, uint8_t *out, size_t most, unsigned seed) {
  static Pieces l, r;
  static Out o;
  uint32_t a, b, c, d;
  seed |= 1;
  pieces_read(&l, left, nleft);
  pieces_read(&r, right, nright);
  if (!l.n || !r.n) return 0;
  pick(&l, &seed, &a, &b);
  pick(&r, &seed, &c, &d);
  o.n = 0;
  o.most = most < INPUT_LIMIT ? most : INPUT_LIMIT;
  put(&o, &l, 0, a);
  put(&o, &r, c, d);
  put(&o, &l, below(&seed, 2) ? b : a, l.n);
  memcpy(out, o.text, o.n);
  return o.n;
}

#endif
