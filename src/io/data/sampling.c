// The rows of each batch.
//
// A draw is an endless sequence of samples: pass 0, pass 1, … Each pass contains every row once, in
// an order that is a function of seed, stream and pass. Batch k of epoch e consists of the samples
// from e·E + k·B on, with E samples per epoch and B per batch, so a short set next to a long one
// repeats, reshuffled in each pass.
//
// A shuffle of few rows is a table (Fisher–Yates). A shuffle of many rows is computed on demand by
// a Feistel network: position i < n is written as l·b + r in a rectangle of a × b >= n cells, with
// a and b near √n; four rounds alternately add a hash of r to l (mod a) and a hash of l to r (mod
// b). Each round is invertible, so this is a permutation of the rectangle. A result >= n is
// permuted again until it is below n (cycle walking): fewer cells than a row are outside, and a
// cycle that starts inside returns inside.
#include "io/data/set_own.h"

#include <assert.h>
#include <math.h>

enum { BLOCK = 16, ROUNDS = 4 };

typedef struct {
  int64_t n;
  uint32_t a, b;
  uint32_t key[ROUNDS];
} Shuffle;

uint64_t mix_bits(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static Shuffle shuffle_new(uint64_t key, int64_t n) {
  assert(n > 0 && n < (int64_t)1 << 62);
  Shuffle s = {.n = n, .a = (uint32_t)sqrt((double)n)};
  while ((int64_t)s.a * s.a < n) s.a++;
  s.b = (uint32_t)((n + s.a - 1) / s.a);
  for (uint32_t i = 0; i < ROUNDS; i += 2) {
    uint64_t bits = mix_bits(key + 0x9e3779b97f4a7c15u * (i + 1));
    s.key[i] = (uint32_t)bits;
    s.key[i + 1] = (uint32_t)(bits >> 32);
  }
  return s;
}

// A hash of v below `size`, of 32 by 32 bit products, which are vectorised on every machine.
static inline uint32_t hash_below(uint32_t v, uint32_t key, uint32_t size) {
  uint64_t h = (uint64_t)(v ^ key) * 0x9e3779b1u;
  h = (uint64_t)(uint32_t)(h ^ h >> 32) * 0x85ebca77u;
  return (uint32_t)((uint64_t)(uint32_t)(h ^ h >> 32) * size >> 32);
}

// (x + y) mod size, for x, y < size.
static inline uint32_t add_round(uint32_t x, uint32_t y, uint32_t size) {
  uint32_t sum = x + y;
  return sum - (size & -(uint32_t)(sum >= size)); // branch-free: the condition is unpredictable
}

// Permutes BLOCK cells (l, r).
static void shuffle_cells(const Shuffle *s, uint32_t *restrict l, uint32_t *restrict r) {
  for (uint32_t i = 0; i < ROUNDS; i += 2) {
    uint32_t even = s->key[i], odd = s->key[i + 1], a = s->a, b = s->b;
    for (uint32_t k = 0; k < BLOCK; k++) l[k] = add_round(l[k], hash_below(r[k], even, a), a);
    for (uint32_t k = 0; k < BLOCK; k++) r[k] = add_round(r[k], hash_below(l[k], odd, b), b);
  }
}

static int64_t cell_place(const Shuffle *s, uint32_t l, uint32_t r) {
  int64_t place = (int64_t)l * s->b + r;
  while (place >= s->n) { // cycle walking, rare
    uint32_t left[BLOCK] = {(uint32_t)(place / s->b)}, right[BLOCK] = {(uint32_t)(place % s->b)};
    shuffle_cells(s, left, right);
    place = (int64_t)left[0] * s->b + right[0];
  }
  return place;
}

// The images of positions first, first + 1, …
static void shuffle_many(uint64_t key, int64_t n, int64_t first, int64_t count, int64_t *out) {
  Shuffle s = shuffle_new(key, n);
  uint32_t row = (uint32_t)(first / s.b), column = (uint32_t)(first % s.b);
  for (int64_t at = 0; at < count; at += BLOCK) {
    uint32_t l[BLOCK], r[BLOCK];
    for (uint32_t k = 0; k < BLOCK; k++) {
      bool end = column == s.b - 1;
      l[k] = row;
      r[k] = column;
      row = end ? (row + 1 == s.a ? 0 : row + 1) : row; // cells after the last are ignored
      column = end ? 0 : column + 1;
    }
    shuffle_cells(&s, l, r);
    for (int64_t k = 0; k < BLOCK && at + k < count; k++) out[at + k] = cell_place(&s, l[k], r[k]);
  }
}

// Inside-out Fisher–Yates shuffle.
static void shuffle_table(uint64_t key, int64_t n, int16_t *table) {
  assert(n <= SHUFFLE_FEW);
  for (int64_t i = 0; i < n; i++) {
    uint64_t h = mix_bits(key + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1)) >> 32;
    int64_t j = (int64_t)(h * (uint64_t)(i + 1) >> 32);
    table[i] = table[j];
    table[j] = (int16_t)i;
  }
}

static void shuffle_places(uint64_t key, int64_t n, int64_t first, int64_t count, int64_t *out) {
  if (n > SHUFFLE_FEW) {
    shuffle_many(key, n, first, count, out);
    return;
  }
  int16_t table[SHUFFLE_FEW] = {0};
  shuffle_table(key, n, table);
  for (int64_t i = 0; i < count; i++) out[i] = table[first + i];
}

int64_t shuffle_place(uint64_t key, int64_t n, int64_t i) {
  int64_t out;
  shuffle_places(key, n, i, 1, &out);
  return out;
}

// With a stride and a shuffle, passes start at different rows, and have as many samples as fit for
// every start. Without a shuffle, a pass starts at row 0 and includes the last rows.
int64_t draw_samples(const Draw *d) {
  if (d->rows <= 0 || d->stride <= 1) return d->rows > 0 ? d->rows : 0;
  int64_t fit = d->shuffle ? d->rows / d->stride : (d->rows - 1) / d->stride + 1;
  return fit ? fit : 1;
}

static int64_t epoch_samples(const Draw *d) { return d->epoch ? d->epoch : draw_samples(d); }

int64_t draw_batches(const Draw *d) {
  return d->batch > 0 ? (epoch_samples(d) + d->batch - 1) / d->batch : 0;
}

static uint64_t draw_key(const Draw *d, int64_t pass) {
  return mix_bits(mix_bits(mix_bits(d->seed) + d->stream) + (uint64_t)pass);
}

static void pass_rows(const Draw *d, DrawTable *t, int64_t pass, int64_t first, int64_t n,
                      int64_t *row) {
  int64_t samples = draw_samples(d), start = 0;
  uint64_t key = draw_key(d, pass);
  if (!d->shuffle) {
    for (int64_t i = 0; i < n; i++) row[i] = first + i;
  } else if (t && samples <= SHUFFLE_FEW) {
    if (t->pass != pass) shuffle_table(key, samples, t->place);
    t->pass = pass;
    for (int64_t i = 0; i < n; i++) row[i] = t->place[first + i];
  } else {
    shuffle_places(key, samples, first, n, row);
  }
  if (d->stride <= 1) return;
  if (d->shuffle && d->rows > d->stride) start = (int64_t)(mix_bits(~key) % (uint64_t)d->stride);
  for (int64_t i = 0; i < n; i++) row[i] = start + row[i] * d->stride;
}

int64_t draw_rows_with(const Draw *d, DrawTable *t, int64_t epoch, int64_t batch, int64_t *row) {
  int64_t samples = draw_samples(d), all = epoch_samples(d), from = batch * d->batch;
  int64_t n = all - from < d->batch ? all - from : d->batch;
  if (n <= 0 || !samples) return 0;
  int64_t at = epoch * all + from, pass = at / samples, first = at % samples;
  for (int64_t done = 0; done < n; pass++, first = 0) {
    int64_t here = samples - first < n - done ? samples - first : n - done;
    pass_rows(d, t, pass, first, here, row + done);
    done += here;
  }
  return n;
}

int64_t draw_rows(const Draw *d, int64_t epoch, int64_t batch, int64_t *row) {
  return draw_rows_with(d, NULL, epoch, batch, row);
}
