// Sparsity of the Jacobian of a diagram, from its wiring.
//
// In: a flat diagram with known sizes, and some of its inputs. Out: a pattern with a row for each
// output cell and a column for each input cell. Every wire gets, for each of its cells, the set of
// columns that it depends on differentiably. Loops are walked point by point: a cell that is
// written depends on the cells read at that point, if the body is differentiable in them. Selects
// and products that are decided by the point alone, or by constants, are resolved. If a label
// indexes an axis, all of the axis may be read. So the pattern may be too large, never too small.
// Beyond a limit of work the answer is unknown.
#include "core/diagram/ops.h"
#include "run/sim/rates_own.h"

#include <stdlib.h>

enum { LINKS_LIMIT = 1 << 23 };
#define WORK_LIMIT 3e7

typedef struct {
  uint32_t count;  // number of cells
  uint32_t *start; // [count + 1] NULL: depends on nothing
  uint32_t *item;
} Reads;

typedef struct {
  uint32_t to, operand, offset;
} ReadLink;

typedef struct {
  World *w;
  Arena *keep, *scratch;
  const Diagram *d;
  Reads *wire;          // [wire]
  const double **known; // [wire] its values if they are constant; or NULL
  uint32_t *mark, stamp;
  VEC(ReadLink) link;
  double work;
  bool lost;
} Finder;

static int64_t size_or_lost(Finder *f, Size s) {
  int64_t n = 0;
  if (s && !size_value(f->w, s, &n)) f->lost = true;
  return n;
}

static uint32_t count_of(Finder *f, const Type *t) {
  int64_t n = 0;
  if (!type_count(f->w, t, &n) || n > INT32_MAX) f->lost = true;
  return (uint32_t)n;
}

static bool does_work(Finder *f, double n) {
  f->work += n;
  if (f->work > WORK_LIMIT) f->lost = true;
  return !f->lost;
}

// -- sets -----------------------------------------------------------------------------------------
typedef VEC(uint32_t) Columns;

static void add_set(Finder *f, Columns *to, const Reads *r, uint32_t at) {
  if (!r->start || !does_work(f, r->start[at + 1] - r->start[at])) return;
  for (uint32_t k = r->start[at]; k < r->start[at + 1]; k++)
    if (f->mark[r->item[k]] != f->stamp) {
      f->mark[r->item[k]] = f->stamp;
      vec_push(f->keep, to, r->item[k]);
    }
}

// The sets of a wire, from links sorted by target.
static Reads joined_sets(Finder *f, const Box *b, uint32_t count, const ReadLink *link,
                         uint32_t n) {
  Reads r = {count, NEW_ARRAY(f->keep, uint32_t, (size_t)count + 1), NULL};
  Columns all = {0};
  for (uint32_t i = 0, k = 0; i < count && !f->lost; i++) {
    f->stamp++;
    for (; k < n && link[k].to == i; k++)
      add_set(f, &all, &f->wire[b->in[link[k].operand]], link[k].offset);
    r.start[i + 1] = all.n;
  }
  r.item = all.at;
  return r;
}

// Every output cell depends on every input cell.
static Reads all_of(Finder *f, const Box *b, uint32_t count) {
  Columns all = {0}, one = {0};
  f->stamp++;
  for (uint32_t i = 0; i < b->nin; i++)
    for (uint32_t k = 0; k < f->wire[b->in[i]].count && f->wire[b->in[i]].start; k++)
      add_set(f, &one, &f->wire[b->in[i]], k);
  if (!one.n || !does_work(f, (double)count * one.n)) return (Reads){.count = count};
  Reads r = {count, NEW_ARRAY(f->keep, uint32_t, (size_t)count + 1), NULL};
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t k = 0; k < one.n; k++) vec_push(f->keep, &all, one.at[k]);
    r.start[i + 1] = all.n;
  }
  r.item = all.at;
  return r;
}

// -- loops ----------------------------------------------------------------------------------------
typedef struct {
  int64_t c, length;
  int64_t *index;   // [index] coefficients
  int64_t *operand; // [operand] coefficients; NULL: none
} ReadLine;

typedef struct {
  uint32_t rank;
  ReadLine *line;
  bool padded;
  double pad;
  VEC(uint32_t) at; // offsets at this point; several if a label indexes
} ReadAccess;

typedef struct {
  Finder *f;
  const Box *b;
  const Loop *loop;
  ReadAccess *access; // [nin + 1] the last one is the output
  int64_t *length, *at;
  double *value; // [nin + nscalar] known values of operands, then of the body
  bool *fixed;   // [nin + nscalar] is the value known?
  bool *matters; // [nscalar] does the output depend on it?
  bool choosy;   // may `matters` depend on the point?
} ReadWalk;

static ReadAccess access_of(ReadWalk *k, const Access *a, const Type *t) {
  Finder *f = k->f;
  ReadAccess r = {.rank = a->rank, .padded = a->padded, .pad = a->pad};
  r.line = NEW_ARRAY(f->scratch, ReadLine, a->rank + 1);
  for (uint32_t i = 0; i < a->rank; i++) {
    ReadLine *line = &r.line[i];
    line->c = size_or_lost(f, a->coord[i].c);
    line->length = size_or_lost(f, t->axis[i].size);
    line->index = NEW_ARRAY(f->scratch, int64_t, k->loop->nindex + 1);
    for (uint32_t j = 0; j < a->coord[i].n; j++) {
      const Term *term = &a->coord[i].term[j];
      if (term->operand && !line->operand)
        line->operand = NEW_ARRAY(f->scratch, int64_t, k->loop->nin + 1);
      (term->operand ? line->operand : line->index)[term->var] += size_or_lost(f, term->coef);
    }
  }
  return r;
}

// The position on one axis; false: unknown.
static bool position(const ReadWalk *k, const ReadLine *line, int64_t *at) {
  *at = line->c;
  for (uint32_t j = 0; j < k->loop->nindex; j++) *at += line->index[j] * k->at[j];
  for (uint32_t j = 0; line->operand && j < k->loop->nin; j++) {
    if (!line->operand[j]) continue;
    if (!k->fixed[j]) return false;
    *at += line->operand[j] * (int64_t)k->value[j];
  }
  return true;
}

// The offsets of an access at this point; none: out of bounds.
static void find_places(const ReadWalk *k, ReadAccess *a) {
  a->at.n = 0;
  vec_push(k->f->scratch, &a->at, 0);
  for (uint32_t i = 0; i < a->rank; i++) {
    const ReadLine *line = &a->line[i];
    int64_t at;
    uint32_t n = a->at.n;
    bool one = position(k, line, &at);
    if (one && (at < 0 || at >= line->length)) {
      a->at.n = 0;
      return;
    }
    if (!one && !does_work(k->f, (double)n * (double)line->length)) return;
    for (uint32_t j = 0; j < n; j++) a->at.at[j] = (uint32_t)(a->at.at[j] * line->length);
    for (uint32_t j = 0; one && j < n; j++) a->at.at[j] += (uint32_t)at;
    for (int64_t p = 1; !one && p < line->length; p++)
      for (uint32_t j = 0; j < n; j++) vec_push(k->f->scratch, &a->at, a->at.at[j] + (uint32_t)p);
  }
}

// Reads known operands at this point; false: one of them is out of bounds.
static bool read_operands(ReadWalk *k) {
  for (uint32_t i = 0; i < k->loop->nin; i++) {
    ReadAccess *a = &k->access[i];
    const double *known = k->f->known[k->b->in[i]];
    find_places(k, a);
    if (!a->at.n && !a->padded) return false;
    k->fixed[i] = a->at.n ? known && a->at.n == 1 : true;
    if (k->fixed[i]) k->value[i] = a->at.n ? known[a->at.at[0]] : a->pad;
  }
  return true;
}

// Evaluates the part of the body that is known at this point.
static void read_body(ReadWalk *k) {
  const Loop *loop = k->loop;
  bool *fixed = k->fixed + loop->nin;
  double *value = k->value + loop->nin;
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    const FnRow *row = &fn_rows[s->fn];
    int64_t n = 0;
    fixed[i] = true;
    switch (s->fn) {
    case FN_CONST: value[i] = s->k; break;
    case FN_AT: value[i] = (double)k->at[s->ref]; break;
    case FN_SIZE:
      fixed[i] = size_value(k->f->w, s->ref, &n);
      value[i] = (double)n;
      break;
    case FN_ARG:
      fixed[i] = k->fixed[s->ref];
      value[i] = k->value[s->ref];
      break;
    default: {
      double x[3] = {0};
      for (uint32_t j = 0; j < row->arity; j++)
        fixed[i] &= fixed[s->arg[j]], x[j] = value[s->arg[j]];
      if (fixed[i]) value[i] = row->value(x[0], x[1], x[2]);
    }
    }
  }
}

static bool hands_on(const ReadWalk *k, const Scalar *s, uint32_t j) {
  const char *slope = fn_rows[s->fn].d[j];
  const bool *fixed = k->fixed + k->loop->nin;
  const double *value = k->value + k->loop->nin;
  if (!slope || !strcmp(slope, "0") || fixed[s->arg[j]]) return false;
  if (s->fn == FN_select && fixed[s->arg[0]]) return j == (value[s->arg[0]] != 0 ? 1 : 2);
  if (s->fn == FN_mul && fixed[s->arg[1 - j]]) return value[s->arg[1 - j]] != 0;
  return true;
}

static void find_matters(ReadWalk *k) {
  const Loop *loop = k->loop;
  memset(k->matters, 0, loop->nscalar * sizeof *k->matters);
  if (loop->nscalar) k->matters[loop->nscalar - 1] = true;
  for (uint32_t i = loop->nscalar; i-- > 0;) {
    const Scalar *s = &loop->scalar[i];
    if (!k->matters[i] || s->fn == FN_CONST || s->fn == FN_ARG || s->fn == FN_AT ||
        s->fn == FN_SIZE)
      continue;
    for (uint32_t j = 0; j < fn_rows[s->fn].arity; j++)
      if (hands_on(k, s, j)) k->matters[s->arg[j]] = true;
  }
}

static void link_point(ReadWalk *k) {
  Finder *f = k->f;
  const Loop *loop = k->loop;
  ReadAccess *out = &k->access[loop->nin];
  find_places(k, out);
  for (uint32_t i = 0; i < loop->nscalar && !f->lost; i++) {
    const Scalar *s = &loop->scalar[i];
    if (!k->matters[i] || s->fn != FN_ARG) continue;
    const Reads *r = &f->wire[k->b->in[s->ref]];
    const ReadAccess *a = &k->access[s->ref];
    for (uint32_t p = 0; r->start && p < a->at.n; p++) {
      if (r->start[a->at.at[p]] == r->start[a->at.at[p] + 1]) continue;
      for (uint32_t o = 0; o < out->at.n; o++)
        vec_push(f->scratch, &f->link, (ReadLink){out->at.at[o], s->ref, a->at.at[p]});
      if (f->link.n > LINKS_LIMIT) f->lost = true;
    }
  }
}

static bool next_point(ReadWalk *k) {
  for (uint32_t i = k->loop->nindex; i-- > 0;) {
    if (++k->at[i] < k->length[i]) return true;
    k->at[i] = 0;
  }
  return false;
}

static void walk_points(ReadWalk *k) {
  const Loop *loop = k->loop;
  double points = 1;
  for (uint32_t i = 0; i < loop->nindex; i++) points *= (double)k->length[i];
  if (!(points > 0) || !does_work(k->f, points * (loop->nin + (k->choosy ? loop->nscalar : 0))))
    return;
  bool first = true;
  do {
    if (!read_operands(k)) continue;
    if (first || k->choosy) read_body(k), find_matters(k);
    first = false;
    link_point(k);
  } while (!k->f->lost && next_point(k));
}

// Can `matters` depend on the point: by its index, by padding, or by known values?
static bool is_choosy(const ReadWalk *k) {
  bool decides = false;
  for (uint32_t i = 0; i < k->loop->nscalar; i++)
    decides |= k->loop->scalar[i].fn == FN_select || k->loop->scalar[i].fn == FN_mul;
  for (uint32_t i = 0; i < k->loop->nin; i++)
    decides |= k->loop->in[i].padded || k->f->known[k->b->in[i]];
  return decides;
}

static int by_target(const void *a, const void *b) {
  const ReadLink *x = a, *y = b;
  return x->to < y->to ? -1 : x->to > y->to;
}

static Reads loop_reads(Finder *f, const Box *b, uint32_t count) {
  const Loop *loop = b->loop;
  ReadWalk k = {.f = f, .b = b, .loop = loop};
  f->scratch = arena_child(f->keep);
  f->link.at = NULL, f->link.n = f->link.cap = 0;
  k.length = NEW_ARRAY(f->scratch, int64_t, loop->nindex + 1);
  k.at = NEW_ARRAY(f->scratch, int64_t, loop->nindex + 1);
  k.access = NEW_ARRAY(f->scratch, ReadAccess, loop->nin + 1);
  k.value = NEW_ARRAY(f->scratch, double, loop->nin + loop->nscalar + 1);
  k.fixed = NEW_ARRAY(f->scratch, bool, loop->nin + loop->nscalar + 1);
  k.matters = NEW_ARRAY(f->scratch, bool, loop->nscalar + 1);
  for (uint32_t i = 0; i < loop->nindex; i++) k.length[i] = size_or_lost(f, loop->index[i].size);
  for (uint32_t i = 0; i < loop->nin; i++)
    k.access[i] = access_of(&k, &loop->in[i], &f->d->wire.at[b->in[i]].type);
  k.access[loop->nin] = access_of(&k, &loop->out, &f->d->wire.at[b->out[0]].type);
  k.choosy = is_choosy(&k);
  if (!f->lost) walk_points(&k);
  bool rising = true;
  for (uint32_t i = 1; i < f->link.n; i++) rising &= f->link.at[i - 1].to <= f->link.at[i].to;
  if (!rising) qsort(f->link.at, f->link.n, sizeof *f->link.at, by_target);
  Reads r = {.count = count};
  if (!f->lost && f->link.n) r = joined_sets(f, b, count, f->link.at, f->link.n);
  arena_free(f->scratch);
  return r;
}

// -- other boxes ----------------------------------------------------------------------------------
// A concatenation along one axis.
static Reads join_reads(Finder *f, const Box *b, uint32_t count) {
  const Type *t = &f->d->wire.at[b->out[0]].type;
  uint32_t inner = 1, *place = NEW_ARRAY(f->keep, uint32_t, b->nin + 1);
  for (uint32_t i = b->axis + 1; i < t->rank; i++)
    inner *= (uint32_t)size_or_lost(f, t->axis[i].size);
  Reads r = {count, NEW_ARRAY(f->keep, uint32_t, (size_t)count + 1), NULL};
  Columns all = {0};
  for (uint32_t at = 0; at < count && !f->lost;)
    for (uint32_t i = 0; i < b->nin && !f->lost; i++) {
      int64_t run = size_or_lost(f, f->d->wire.at[b->in[i]].type.axis[b->axis].size);
      for (uint32_t k = 0; k < run * inner && at < count; k++) {
        f->stamp++;
        add_set(f, &all, &f->wire[b->in[i]], place[i]++);
        r.start[++at] = all.n;
      }
    }
  r.item = all.at;
  return r;
}

static void box_reads(Finder *f, const Box *b) {
  for (uint32_t i = 0; i < b->nout && !f->lost; i++) {
    const Type *t = &f->d->wire.at[b->out[i]].type;
    uint32_t count = count_of(f, t);
    Reads r = {.count = count};
    if (f->lost) return;
    bool any = false;
    for (uint32_t k = 0; k < b->nin; k++) any |= f->wire[b->in[k]].start != NULL;
    if (t->base != BASE_R || !any)
      ; // labels, bits and noise have no derivative
    else if (b->op == OP_loop)
      r = loop_reads(f, b, count);
    else if (b->op == OP_join)
      r = join_reads(f, b, count);
    else
      r = all_of(f, b, count);
    f->wire[b->out[i]] = r;
  }
}

// -- the diagram ----------------------------------------------------------------------------------
static uint32_t begin_columns(Finder *f, uint32_t first, uint32_t n) {
  uint32_t columns = 0;
  for (uint32_t i = 0; i < n; i++) {
    Id wire = f->d->in.at[first + i];
    uint32_t count = count_of(f, &f->d->wire.at[wire].type);
    if (f->lost) return 0;
    Reads r = {count, NEW_ARRAY(f->keep, uint32_t, (size_t)count + 1),
               NEW_ARRAY(f->keep, uint32_t, (size_t)count + 1)};
    for (uint32_t k = 0; k < count; k++) r.start[k + 1] = k + 1, r.item[k] = columns + k;
    f->wire[wire] = r;
    columns += count;
  }
  return columns;
}

// The pattern of all outputs, transposed to columns.
static Pattern *as_pattern(const Finder *f, Arena *a, uint32_t columns) {
  Pattern *p = NEW(a, Pattern);
  uint32_t *start = NEW_ARRAY(a, uint32_t, (size_t)columns + 2), row = 0;
  for (uint32_t i = 0; i < f->d->out.n; i++) {
    const Reads *r = &f->wire[f->d->out.at[i]];
    for (uint32_t k = 0; r->start && k < r->start[r->count]; k++) start[r->item[k] + 2]++;
  }
  for (uint32_t c = 0; c < columns; c++) start[c + 2] += start[c + 1];
  uint32_t *at = NEW_ARRAY(a, uint32_t, (size_t)start[columns + 1] + 1);
  for (uint32_t i = 0; i < f->d->out.n; i++) {
    const Reads *r = &f->wire[f->d->out.at[i]];
    for (uint32_t x = 0; x < r->count; x++, row++)
      for (uint32_t k = r->start ? r->start[x] : 0; r->start && k < r->start[x + 1]; k++)
        at[start[r->item[k] + 1]++] = row;
  }
  *p = (Pattern){columns, start, at};
  return p;
}

const Pattern *structure_find(World *w, Arena *a, const Diagram *d, uint32_t first, uint32_t n) {
  Arena *own = arena_child(a);
  Finder f = {.w = w, .keep = own, .d = d};
  Pattern *p = NULL;
  f.wire = NEW_ARRAY(own, Reads, d->wire.n + 1);
  f.known = NEW_ARRAY(own, const double *, d->wire.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CONST && d->param.at[i].init.kind == INIT_DATA)
      f.known[d->param.at[i].wire] = d->param.at[i].init.data;
  uint32_t columns = begin_columns(&f, first, n);
  f.mark = NEW_ARRAY(own, uint32_t, (size_t)columns + 1);
  for (uint32_t i = 1; i < d->box.n && !f.lost; i++) box_reads(&f, &d->box.at[i]);
  for (uint32_t i = 0; i < d->out.n && !f.lost; i++)
    f.wire[d->out.at[i]].count = count_of(&f, &d->wire.at[d->out.at[i]].type);
  if (!f.lost) p = as_pattern(&f, a, columns);
  arena_free(own);
  return p;
}

// -- sums and products ----------------------------------------------------------------------------
static bool is_step(Fn fn) {
  return fn == FN_select || fn == FN_bit || fn == FN_lt || fn == FN_le || fn == FN_floor ||
         fn == FN_sign || fn == FN_mod || fn == FN_and || fn == FN_or || fn == FN_not;
}

static bool is_sum(const Loop *l, bool steps) {
  if (l->combine != SUM) return false;
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *s = &l->scalar[i];
    bool whole = s->fn <= FN_SIZE || s->fn == FN_number;
    bool adds = s->fn == FN_add || s->fn == FN_sub || s->fn == FN_neg || s->fn == FN_mul;
    bool part = s->fn == FN_div && l->scalar[s->arg[1]].fn == FN_CONST;
    if (!whole && !adds && !part && !(steps && is_step((Fn)s->fn))) return false;
  }
  return true;
}

// Does it compare, round or take signs of numbers? Modes are labels, and do not count.
static bool compares(const Loop *l) {
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *s = &l->scalar[i];
    bool order = s->fn == FN_lt || s->fn == FN_le || s->fn == FN_eq || s->fn == FN_ne;
    if (order && l->scalar[s->arg[0]].base == BASE_R) return true;
    if (s->fn == FN_floor || s->fn == FN_mod || s->fn == FN_sign || s->fn == FN_bit) return true;
  }
  return false;
}

static bool box_jumps(const Box *b) {
  switch (b->op) {
  case OP_loop: return compares(b->loop);
  case OP_scan: return structure_jumps(b->scan->body);
  default: return b->op == OP_order;
  }
}

bool structure_jumps(const Diagram *d) {
  for (uint32_t i = 1; i < d->box.n; i++)
    if (box_jumps(&d->box.at[i])) return true;
  return false;
}

bool structure_adds(const Diagram *d, bool steps) {
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op != OP_join && !(b->op == OP_loop && is_sum(b->loop, steps))) return false;
  }
  return true;
}
