// Counter-based pseudo-random numbers, and initial values of params.
//
// Philox 4x32-10 (Salmon et al., 2011) maps a counter and a key to four words. The counter is made
// of the element's number, the step and the site; the key is the seed. A number therefore depends
// on where it is used, not on how many were drawn before: any part of a tensor can be generated
// alone, in any order, on any machine. Four neighbouring elements share one block. A uniform number
// is the midpoint of one of 2^32 equal intervals, never 0 and never 1; normal numbers come in pairs
// by Box–Muller. A site is a hash of a path of names; inside a scan the position is mixed in, so
// the reverse scan, which recomputes the same box at the same position, draws the same numbers.
#include "base/hash.h"
#include "core/diagram/diagram.h"
#include "core/diagram/interpret.h"

#include <math.h>

typedef struct {
  uint32_t word[4];
} PhiloxBlock;

static PhiloxBlock philox(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint64_t key) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t p = (uint64_t)0xD2511F53u * c0, q = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)q;
    c3 = (uint32_t)p;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return (PhiloxBlock){{c0, c1, c2, c3}};
}

// The bits of step, site and element that the first two words of the counter cannot hold.
static uint64_t rest_of(uint64_t step, uint64_t site, uint64_t element) {
  return site ^ (step >> 32) << 16 ^ (element >> 34) << 40;
}

static PhiloxBlock block_of(uint64_t seed, uint64_t step, uint64_t site, uint64_t element) {
  uint64_t rest = rest_of(step, site, element);
  return philox((uint32_t)(element >> 2), (uint32_t)step, (uint32_t)rest, (uint32_t)(rest >> 32),
                seed);
}

static double unit(uint32_t word) { return ((double)word + 0.5) / 4294967296.0; }

double noise_uniform(uint64_t seed, uint64_t step, uint64_t site, uint64_t element) {
  return unit(block_of(seed, step, site, element).word[element & 3]);
}

double noise_normal(uint64_t seed, uint64_t step, uint64_t site, uint64_t element) {
  PhiloxBlock b = block_of(seed, step, site, element);
  uint64_t pair = element & 2;
  double radius = sqrt(-2 * log(unit(b.word[pair]))),
         angle = 6.283185307179586 * unit(b.word[pair + 1]);
  return radius * (element & 1 ? sin(angle) : cos(angle));
}

// -- vectorised generation of the same numbers ----------------------------------------------------
enum { LANES = 8, STRETCH = 4 * LANES };

// The words of STRETCH elements from `element` (a multiple of 4) on. The lanes are independent, so
// the compiler vectorises the rounds.
static void words_from(uint64_t seed, uint64_t step, uint64_t site, uint64_t element,
                       uint32_t *word) {
  uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (uint32_t i = 0; i < LANES; i++) {
    uint64_t own = element + 4 * i, rest = rest_of(step, site, own);
    c0[i] = (uint32_t)(own >> 2), c1[i] = (uint32_t)step;
    c2[i] = (uint32_t)rest, c3[i] = (uint32_t)(rest >> 32);
  }
  for (int round = 0; round < 10; round++) {
    for (uint32_t i = 0; i < LANES; i++) {
      uint64_t p = (uint64_t)0xD2511F53u * c0[i], q = (uint64_t)0xCD9E8D57u * c2[i];
      c0[i] = (uint32_t)(q >> 32) ^ c1[i] ^ k0;
      c2[i] = (uint32_t)(p >> 32) ^ c3[i] ^ k1;
      c1[i] = (uint32_t)q;
      c3[i] = (uint32_t)p;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (uint32_t i = 0; i < LANES; i++)
    word[4 * i] = c0[i], word[4 * i + 1] = c1[i], word[4 * i + 2] = c2[i], word[4 * i + 3] = c3[i];
}

// Writes the elements skip … end - 1 of one stretch.
static void put_uniforms(const uint32_t *word, int64_t skip, int64_t end, double *to) {
  for (int64_t i = skip; i < end; i++) to[i - skip] = unit(word[i]);
}

// Box–Muller: each pair of elements has one radius and one angle.
static void put_normals(const uint32_t *word, int64_t skip, int64_t end, double *to) {
  double x[STRETCH];
  for (int64_t i = skip & ~(int64_t)1; i < end; i += 2) {
    double radius = sqrt(-2 * log(unit(word[i]))), angle = 6.283185307179586 * unit(word[i + 1]);
    x[i] = radius * cos(angle), x[i + 1] = radius * sin(angle);
  }
  memcpy(to, x + skip, (size_t)(end - skip) * sizeof(double));
}

void noise_stretch(Noise noise, const NoisePlace *at, int64_t first, int64_t n, double *to) {
  uint32_t word[STRETCH];
  for (int64_t i = 0, end; i < n; i = end) {
    int64_t skip = (first + i) & 3, start = first + i - skip;
    end = start + STRETCH - first < n ? start + STRETCH - first : n;
    words_from(at->seed, at->step, at->site, (uint64_t)start, word);
    (noise == NOISE_NORMAL ? put_normals : put_uniforms)(word, skip, skip + end - i, to + i);
  }
}

static uint64_t scramble(uint64_t x) { // the finisher of splitmix64
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint64_t site_hash(uint64_t parent, const char *name) {
  uint64_t h = hash_bytes(scramble(parent + 0x9E3779B97F4A7C15u), name, strlen(name));
  return scramble(h) & ~(uint64_t)1; // an even low half: m is odd, so site_join is invertible
}

// A path is an affine map x -> m x + c over 32-bit numbers, with m - 1 in the low half and c in the
// high half. Composition of affine maps is associative and keeps the order of the names, so noise
// does not depend on when a call is inlined.
uint64_t site_join(uint64_t outer, uint64_t inner) {
  uint32_t m = (uint32_t)outer + 1, c = (uint32_t)(outer >> 32), n = (uint32_t)inner + 1,
           d = (uint32_t)(inner >> 32);
  return (uint64_t)(m * d + c) << 32 | (uint32_t)(m * n - 1);
}

uint64_t site_step(uint64_t site, uint64_t position) {
  return scramble(site ^ scramble(position + 0x9E3779B97F4A7C15u));
}

// -- initial values -------------------------------------------------------------------------------
static void fill_normal(Tensor *t, uint64_t seed, uint64_t site, double scale) {
  noise_stretch(NOISE_NORMAL, &(NoisePlace){seed, 0, site}, 0, t->count, t->data);
  for (int64_t i = 0; i < t->count; i++) t->data[i] = scale * t->data[i];
}

static void fill_uniform(Tensor *t, uint64_t seed, uint64_t site, double low, double high) {
  noise_stretch(NOISE_UNIFORM, &(NoisePlace){seed, 0, site}, 0, t->count, t->data);
  for (int64_t i = 0; i < t->count; i++) t->data[i] = low + (high - low) * t->data[i];
}

static void round_to_bits(Tensor *t) {
  for (int64_t i = 0; i < t->count; i++) t->data[i] = t->data[i] > 0.5;
}

// Gram–Schmidt over the rows (or the columns, if there are fewer columns). Each vector is
// orthogonalised twice, which is enough for full precision (Kahan).
static void make_orthonormal(Tensor *t) {
  int64_t columns = t->rank ? t->shape[t->rank - 1] : 1, rows = columns ? t->count / columns : 0;
  int64_t n = rows < columns ? rows : columns, length = rows < columns ? columns : rows;
  int64_t next = rows < columns ? columns : 1, along = rows < columns ? 1 : columns;
  for (int64_t i = 0; i < n; i++) {
    double *v = t->data + i * next;
    for (int64_t k = 0; k < 2 * i; k++) {
      const double *u = t->data + (k % i) * next;
      double dot = 0;
      for (int64_t j = 0; j < length; j++) dot += u[j * along] * v[j * along];
      for (int64_t j = 0; j < length; j++) v[j * along] -= dot * u[j * along];
    }
    double square = 0;
    for (int64_t j = 0; j < length; j++) square += v[j * along] * v[j * along];
    for (int64_t j = 0; j < length; j++) v[j * along] /= sqrt(square);
  }
}

// An initialiser that is a diagram: constants of the program are its params, each with an initial
// value of its own.
static bool init_diagram(World *w, Arena *a, const Init *init, uint64_t seed, uint64_t site,
                         Tensor *out) {
  const Diagram *d = init->diagram;
  Tensor *param = NEW_ARRAY(a, Tensor, d->param.n + 1);
  if (d->in.n || d->out.n != 1) return false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    if (p->role != ROLE_CONST || !init_eval(w, a, &p->init, &d->wire.at[p->wire].type, seed,
                                            site_hash(0, p->path), &param[i]))
      return false;
  }
  Eval e = {.arena = a, .seed = seed ^ site, .param = param, .out = out};
  return diagram_eval(w, d, &e);
}

const char *init_fault(World *w, const Type *type) {
  int64_t count;
  for (uint32_t i = 0; i < type->rank; i++)
    if (!size_value(w, type->axis[i].size, &count)) return "its sizes are not known";
  if (!type_count(w, type, &count)) return "it has more than 2^63 numbers";
  if (count <= INT32_MAX) return "its sizes are not known"; // the sizes fan_in and fan_out
  return arena_format(w->arena, "it has %lld numbers, and %d is the most", (long long)count,
                      INT32_MAX);
}

// Initialises each member of a family independently, at a site of its own.
static bool init_members(World *w, Arena *a, const Init *init, const Type *type, uint64_t seed,
                         uint64_t site, Tensor *out) {
  Init one = *init;
  Type inner = *type;
  int64_t shape[64], members = 1, count;
  one.members = 0;
  if (type->rank > 64 || !type_count(w, type, &count) || count > INT32_MAX) return false;
  for (uint32_t i = 0; i < type->rank; i++)
    if (!size_value(w, type->axis[i].size, &shape[i])) return false;
  for (uint32_t i = 0; i < init->members; i++) members *= shape[i];
  inner.rank -= init->members;
  inner.axis += init->members;
  *out = tensor_new(a, type->rank, shape);
  for (int64_t i = 0; i < members; i++) {
    Tensor part = {0};
    uint64_t own = site_hash(site, arena_format(a, "%lld", (long long)i));
    if (!init_eval(w, a, &one, &inner, seed, own, &part) || part.count * members != count)
      return false;
    memcpy(out->data + i * part.count, part.data, (size_t)part.count * sizeof(double));
  }
  return true;
}

InitKind init_word(const char *text) {
  static const struct {
    const char *word;
    InitKind kind;
  } words[] = {{"zero", INIT_CONST},           {"one", INIT_CONST},     {"normal", INIT_NORMAL},
               {"uniform", INIT_UNIFORM},      {"glorot", INIT_GLOROT}, {"he", INIT_HE},
               {"orthogonal", INIT_ORTHOGONAL}};
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (strcmp(text, words[i].word) == 0) return words[i].kind;
  return INIT_NONE;
}

bool init_eval(World *w, Arena *a, const Init *init, const Type *type, uint64_t seed, uint64_t site,
               Tensor *out) {
  if (init->members) return init_members(w, a, init, type, seed, site, out);
  double fan_in = 1, fan_out = 1;
  if (init->as) site = site_hash(0, init->as);
  int64_t count, *shape = NEW_ARRAY(a, int64_t, type->rank);
  if (init->kind == INIT_DIAGRAM) return init_diagram(w, a, init, seed, site, out);
  if (!type_count(w, type, &count) || count > INT32_MAX) return false;
  for (uint32_t i = 0; i < type->rank; i++)
    if (!size_value(w, type->axis[i].size, &shape[i])) return false;
  if (init->kind == INIT_GLOROT || init->kind == INIT_HE)
    if (!size_number(w, init->fan_in, &fan_in) ||
        (init->kind == INIT_GLOROT && !size_number(w, init->fan_out, &fan_out)))
      return false;
  *out = tensor_new(a, type->rank, shape);
  switch (init->kind) {
  case INIT_NONE:
  case INIT_DIAGRAM: break;
  case INIT_DATA:
    if (count) memcpy(out->data, init->data, (size_t)count * sizeof(double));
    return true;
  case INIT_CONST:
    for (int64_t i = 0; i < count; i++) out->data[i] = init->k;
    break;
  case INIT_NORMAL: fill_normal(out, seed, site, 1); break;
  case INIT_UNIFORM: fill_uniform(out, seed, site, 0, 1); break;
  case INIT_GLOROT:
    fill_uniform(out, seed, site, -sqrt(6 / (fan_in + fan_out)), sqrt(6 / (fan_in + fan_out)));
    break;
  case INIT_HE: fill_normal(out, seed, site, sqrt(2 / fan_in)); break;
  case INIT_ORTHOGONAL:
    fill_normal(out, seed, site, 1);
    make_orthonormal(out);
    break;
  }
  if (type->base == BASE_BIT) round_to_bits(out);
  return true;
}
