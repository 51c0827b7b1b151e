// Interprets the program of a kernel (strip.h). Instructions at outer loop levels run as strips of one
// element; their results are broadcast over a register for use in the strip. The caller passes all working
// memory: registers, loop variables, guards, totals, and lists of offsets.
#include "run/engine/prebuilt/strip.h"

enum { RUN = 8 }; // contiguous cells that are worth a loop of their own

typedef union {
  double f64;
  float f32;
  int32_t i32;
} Total;

// Elements [low, high) of a strip whose mask, if there is one, is not 0.
typedef struct {
  int64_t low, high;
  const int32_t *mask;
} StripInside;

typedef struct {
  const Strip *s;
  const KernelContext *c;
  char **table, *scratch;
  char **memory;       // [slot]
  void **reg;          // [register]
  int64_t *at;         // [loop variable]
  StripInside *inside; // [guard]
  Total *total;
  int64_t *place; // [STRIP] offsets
  int32_t *won;   // [STRIP]
  int64_t low, high;
  int64_t first;     // of the strip's loop, at the strip's first element
  int64_t broadcast; // cells that DO_BROADCAST fills
} StripFrame;

// -- working memory -------------------------------------------------------------------------------
static size_t reserve(size_t *end, size_t bytes) {
  size_t at = *end;
  *end = (at + bytes + 63) / 64 * 64;
  return at;
}

void strip_lay_out(Strip *s, size_t registers) {
  size_t end = 0;
  reserve(&end, registers); // first: offsets of registers are offsets in working memory
  s->reg_at = reserve(&end, s->nregister * sizeof(void *));
  s->var_at = reserve(&end, s->nvar * sizeof(int64_t));
  s->inside_at = reserve(&end, s->guard.n * sizeof(StripInside));
  s->total_at = reserve(&end, s->ntotal * sizeof(Total));
  s->memory_at = reserve(&end, s->slot->n * sizeof(char *));
  s->place_at = reserve(&end, STRIP * sizeof(int64_t));
  s->won_at = reserve(&end, STRIP * sizeof(int32_t));
  s->bytes = end;
}

size_t strip_bytes(const Strip *s) { return s->bytes; }

static int64_t length_of(const StripFrame *f, Extent e) {
  const Kernel *k = f->s->k;
  if (!e.part) return e.c + e.per * f->c->n;
  return f->at[k->np - 1] < k->blocked_loop.c / k->block ? k->block : k->blocked_loop.c % k->block;
}

// -- addresses ------------------------------------------------------------------------------------
static bool is_irregular(const StripAddress *r) { return r->line || r->ninner; }

static int64_t address_start(const StripFrame *f, const StripAddress *r) {
  int64_t at = r->start + r->step * f->first;
  for (uint32_t i = 0; i < r->nloop; i++) at += r->loop[i].step * f->at[r->loop[i].of];
  for (uint32_t i = 0; i < r->nouter; i++)
    at += r->outer[i].step * *(const int32_t *)f->reg[r->outer[i].of];
  return at;
}

static const int64_t *address_offsets(StripFrame *f, const StripAddress *r, int64_t n) {
  const StripLoops *loops = f->s->real;
  loops->places(f->place, address_start(f, r), r->step, r->line, n);
  for (uint32_t i = 0; i < r->ninner; i++)
    loops->shift(f->place, f->reg[r->inner[i].of], r->inner[i].step, n);
  return f->place;
}

static char *cell_of(const StripFrame *f, const StripMemory *m, int64_t cell) {
  return f->memory[m->slot] + cell * m->size;
}

// -- guards ---------------------------------------------------------------------------------------
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); } // b > 0

// Intersects the span with the elements i for which 0 ≤ c + step·i < size.
static void clip_span(StripInside *in, int64_t c, int64_t step, int64_t size) {
  int64_t low = 0, high = INT64_MAX;
  if (step == 0) {
    if (c < 0 || c >= size) high = 0;
  } else if (step > 0) {
    low = -floor_div(c, step);
    high = -floor_div(c - size, step);
  } else {
    low = floor_div(c - size, -step) + 1;
    high = floor_div(c, -step) + 1;
  }
  if (low > in->low) in->low = low;
  if (high < in->high) in->high = high;
}

static void and_mask(int32_t *mask, const int32_t *other, int64_t n) {
  for (int64_t i = 0; i < n; i++) mask[i] &= other[i];
}

static void do_guard(StripFrame *f, uint32_t number, int64_t n) {
  const StripGuard *g = f->s->guard.at[number];
  StripInside in = {.high = INT64_MAX};
  int32_t *mask = g->mask == PLAN_NONE ? NULL : f->reg[g->mask];
  for (int64_t i = 0; mask && i < n; i++) mask[i] = 1;
  for (uint32_t i = 0; i < g->n; i++) {
    int64_t size = length_of(f, g->size[i]);
    if (is_irregular(&g->at[i]))
      f->s->real->inside(mask, address_offsets(f, &g->at[i], n), size, n);
    else
      clip_span(&in, address_start(f, &g->at[i]), g->at[i].step, size);
  }
  for (uint32_t i = 0; i < g->nof; i++) {
    const StripInside *other = &f->inside[g->of[i]];
    if (other->low > in.low) in.low = other->low;
    if (other->high < in.high) in.high = other->high;
    if (other->mask) and_mask(mask, other->mask, n);
  }
  in.mask = mask;
  f->inside[number] = in;
}

// The value of a guard, clipped to a strip of n elements. Without a guard: all elements.
static StripInside inside_of(const StripFrame *f, uint32_t guard, int64_t n) {
  StripInside in = {.high = n};
  if (guard != PLAN_NONE) in = f->inside[guard];
  if (in.high > n) in.high = n;
  if (in.low >= in.high) in.low = in.high = 0;
  return in;
}

// -- registers ------------------------------------------------------------------------------------
static void fill_cells(const StripFrame *f, bool eight_bytes, char *cells, const void *value,
                       int64_t n) {
  if (n <= 0) return;
  memcpy(cells, value, eight_bytes ? 8 : 4);
  f->s->real->broadcast[eight_bytes](cells, n);
}

static void fill_outside(const StripFrame *f, const StripInstr *s, StripInside in, int64_t n) {
  char *out = f->reg[s->out];
  int64_t size = s->eight_bytes ? 8 : 4;
  fill_cells(f, s->eight_bytes, out, s->other, in.low);
  fill_cells(f, s->eight_bytes, out + in.high * size, s->other, n - in.high);
}

// Loads contiguous runs, whose offsets are listed.
static void load_runs(const StripFrame *f, const StripMemory *m, char *out, int64_t size,
                      int64_t n) {
  int64_t start = address_start(f, &m->at), run = m->at.run;
  for (int64_t i = 0; i < n; i += run)
    m->cells->load(out + i * size, cell_of(f, m, start + m->at.line[i]), 1, run);
}

static void do_load(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripMemory *m = s->memory;
  StripInside in = inside_of(f, s->guard, n);
  int64_t size = s->eight_bytes ? 8 : 4, count = in.high - in.low;
  char *out = (char *)f->reg[s->out] + in.low * size;
  if (m->at.run >= RUN && !m->at.ninner && !in.mask && count == n) {
    load_runs(f, m, out, size, n);
  } else if (is_irregular(&m->at) || in.mask) {
    const int64_t *at = address_offsets(f, &m->at, n);
    m->cells->gather(out, f->memory[m->slot], at + in.low, in.mask ? in.mask + in.low : NULL,
                     s->other, count);
  } else {
    int64_t start = address_start(f, &m->at) + in.low * m->at.step;
    m->cells->load(out, cell_of(f, m, count ? start : 0), m->at.step, count);
  }
  if (s->guard != PLAN_NONE) fill_outside(f, s, in, n);
}

static void do_select(StripFrame *f, const StripInstr *s, int64_t n) {
  StripInside in = inside_of(f, s->guard, n);
  int64_t size = s->eight_bytes ? 8 : 4, count = in.high - in.low;
  char *out = (char *)f->reg[s->out] + in.low * size;
  const char *v = (const char *)f->reg[s->a] + in.low * size;
  if (in.mask)
    f->s->real->select[s->eight_bytes](out, v, in.mask + in.low, s->other, count);
  else
    memmove(out, v, (size_t)(count * size));
  fill_outside(f, s, in, n);
}

// An element's noise is keyed by its linear index, computed with the lengths of axes in this run.
static void do_noise(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripNoise *x = s->noise;
  const PlanWire *w = &f->s->p->wire.at[x->x->out.wire];
  uint64_t site = x->x->noise->site, first = 0, stride = 0, size = 1;
  bool ticks = f->s->p->ticks && x->x->depth;
  for (uint32_t d = 0; d < x->x->depth; d++)
    site = site_step(site, (uint64_t)f->c->at[d] + (ticks && !d ? f->c->step : 0));
  for (uint32_t i = x->rank; i-- > 0;) {
    if (!x->in_strip[i])
      first += (uint64_t)f->at[x->var[i]] * size;
    else if (!stride)
      stride = size;
    size *= (uint64_t)length_of(f, w->shape[i]);
  }
  f->s->real->noise(x->x->noise->noise == NOISE_NORMAL, f->c->seed, ticks ? 0 : f->c->step, site,
                    first + stride * (uint64_t)f->first, stride ? stride : 1, n, f->reg[s->out]);
}

// -- results --------------------------------------------------------------------------------------
static void do_store(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripMemory *m = s->memory;
  if (is_irregular(&m->at))
    m->cells->scatter(f->memory[m->slot], address_offsets(f, &m->at, n), f->reg[s->a], n);
  else
    m->cells->store(cell_of(f, m, address_start(f, &m->at)), m->at.step, f->reg[s->a], n);
}

static Total load_total(const StripMemory *m, const char *cell) {
  Total t = {0};
  switch (m->number) {
  case NUMBER_F32: t.f32 = *(const float *)cell; break;
  case NUMBER_F64: t.f64 = *(const double *)cell; break;
  case NUMBER_I32: t.i32 = *(const int32_t *)cell; break;
  case NUMBER_U8: t.i32 = *(const uint8_t *)cell; break;
  case NUMBER_BF16: break;
  }
  return t;
}

static void store_total(const StripMemory *m, char *cell, Total t) {
  switch (m->number) {
  case NUMBER_F32: *(float *)cell = t.f32; break;
  case NUMBER_F64: *(double *)cell = t.f64; break;
  case NUMBER_I32: *(int32_t *)cell = t.i32; break;
  case NUMBER_U8: *(uint8_t *)cell = (uint8_t)t.i32; break;
  case NUMBER_BF16: break;
  }
}

// Adds each run of the strip to the same contiguous cells.
static void combine_rows(const StripFrame *f, const StripInstr *s, const char *v, int64_t n) {
  const StripAddress *r = &s->memory->at;
  int64_t row = r->run * (s->eight_bytes ? 8 : 4);
  char *to = cell_of(f, s->memory, address_start(f, r));
  for (int64_t i = 0; i < n; i += r->run, v += row) s->op(to, v, to, NULL, r->run);
}

static void do_combine(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripMemory *m = s->memory;
  StripInside in = inside_of(f, s->guard, n);
  const char *v = (const char *)f->reg[s->a] + in.low * (s->eight_bytes ? 8 : 4);
  int64_t count = in.high - in.low;
  if (!count) return;
  if (s->op && m->at.repeats && !in.mask && count == n) {
    combine_rows(f, s, v, n);
    return;
  }
  if (is_irregular(&m->at) || in.mask) {
    const int64_t *at = address_offsets(f, &m->at, n);
    const int32_t *mask = in.mask ? in.mask + in.low : NULL;
    m->cells->combine(s->combine, f->memory[m->slot], at + in.low, mask, v, count);
    return;
  }
  char *to = cell_of(f, m, address_start(f, &m->at) + in.low * m->at.step);
  if (m->at.step == 0) { // a reduction into one cell
    Total t = load_total(m, to);
    m->cells->reduce(s->combine, &t, v, count);
    store_total(m, to, t);
  } else if (s->op) { // contiguous cells: an operation of two strips
    s->op(to, v, to, NULL, count);
  } else {
    m->cells->combine_strided(s->combine, to, m->at.step, v, count);
  }
}

// The offsets of an access from element `low` on, relative to *to. NULL: the cells are contiguous.
static const int64_t *offsets_from(StripFrame *f, const StripMemory *m, int64_t low, int64_t n,
                                   bool masked, char **to) {
  bool plain = !masked && !is_irregular(&m->at) && m->at.step == 1;
  *to = plain ? cell_of(f, m, address_start(f, &m->at) + low) : f->memory[m->slot];
  return plain ? NULL : address_offsets(f, &m->at, n) + low;
}

static void do_combine_winners(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripSum *sum = s->sum;
  StripInside in = inside_of(f, s->guard, n);
  const char *v = (const char *)f->reg[s->a] + in.low * (s->eight_bytes ? 8 : 4);
  const int32_t *mask = in.mask ? in.mask + in.low : NULL;
  int64_t count = in.high - in.low;
  char *to;
  if (!count) return;
  const int64_t *at = offsets_from(f, &sum->to, in.low, n, mask, &to);
  sum->to.cells->best(sum->combine, to, at, mask, v, count, f->won);
  for (uint32_t k = 0; k < sum->nwinner; k++) {
    const StripWinner *w = &sum->winner[k];
    bool own = w->var == PLAN_NONE;
    at = offsets_from(f, &w->to, in.low, n, mask, &to);
    f->s->real->store_winners((int32_t *)to, at, f->won, own ? f->first + in.low : f->at[w->var],
                              own, count);
  }
}

static void do_reduce_winner(StripFrame *f, const StripInstr *s, int64_t n) {
  const StripSum *sum = s->sum;
  int64_t i = sum->to.cells->reduce_winner(sum->combine, &f->total[sum->total], f->reg[s->a], n);
  for (uint32_t k = 0; i >= 0 && k < sum->nwinner; k++) {
    uint32_t var = sum->winner[k].var;
    f->total[sum->total + 1 + k].i32 = (int32_t)(var == PLAN_NONE ? f->first + i : f->at[var]);
  }
}

static void open_sums(StripFrame *f, const StripNest *s, uint32_t level) {
  for (uint32_t i = 0; i < s->sum.n; i++) {
    const StripSum *sum = s->sum.at[i];
    Total *t = &f->total[sum->total];
    if (sum->level != level) continue;
    if (sum->to.number == NUMBER_F32)
      t->f32 = (float)sum->identity;
    else if (sum->to.number == NUMBER_F64)
      t->f64 = sum->identity;
    else
      t->i32 = (int32_t)sum->identity;
    for (uint32_t k = 0; k < sum->nwinner; k++) t[1 + k].i32 = 0;
  }
}

static void close_sums(StripFrame *f, const StripNest *s, uint32_t level) {
  for (uint32_t i = 0; i < s->sum.n; i++) {
    const StripSum *sum = s->sum.at[i];
    if (sum->level != level) continue;
    store_total(&sum->to, cell_of(f, &sum->to, address_start(f, &sum->to.at)),
                f->total[sum->total]);
    for (uint32_t k = 0; k < sum->nwinner; k++) {
      const StripMemory *to = &sum->winner[k].to;
      store_total(to, cell_of(f, to, address_start(f, &to->at)), f->total[sum->total + 1 + k]);
    }
  }
}

// -- loops ----------------------------------------------------------------------------------------
static void run_code(StripFrame *f, const StripCode *code, int64_t n) {
  void **reg = f->reg;
  if (!code->n) return;
  for (const StripInstr *s = code->at, *end = s + code->n; s < end; s++) switch (s->what) {
    case DO_OP: s->op(reg[s->out], reg[s->a], reg[s->b], reg[s->c], n); break;
    case DO_GUARD: do_guard(f, s->guard, n); break;
    case DO_LOAD: do_load(f, s, n); break;
    case DO_ALIAS: reg[s->out] = cell_of(f, s->memory, address_start(f, &s->memory->at)); break;
    case DO_COUNT: s->count(reg[s->out], s->a == PLAN_NONE ? f->first : f->at[s->a], n); break;
    case DO_SIZE: s->count(reg[s->out], length_of(f, s->size), n); break;
    case DO_NARROW: s->memory->cells->load(reg[s->out], reg[s->a], 1, n); break;
    case DO_BROADCAST: f->s->real->broadcast[s->eight_bytes](reg[s->out], f->broadcast); break;
    case DO_NOISE: do_noise(f, s, n); break;
    case DO_SELECT: do_select(f, s, n); break;
    case DO_STORE: do_store(f, s, n); break;
    case DO_COMBINE: do_combine(f, s, n); break;
    case DO_COMBINE_WINNERS: do_combine_winners(f, s, n); break;
    case DO_REDUCE:
      s->sum->to.cells->reduce(s->combine, &f->total[s->sum->total], reg[s->a], n);
      break;
    case DO_REDUCE_WINNER: do_reduce_winner(f, s, n); break;
    }
}

static void run_fill(StripFrame *f, const StripFill *s, uint32_t d, int64_t cell) {
  if (d + 1 < s->ndim) {
    for (int64_t i = 0, n = length_of(f, s->dim[d]); i < n; i++)
      run_fill(f, s, d + 1, cell + i * s->stride[d]);
    return;
  }
  int64_t n = s->ndim ? length_of(f, s->dim[d]) : 1;
  s->to.cells->fill(cell_of(f, &s->to, cell), s->ndim ? s->stride[d] : 1, s->value, n);
}

// Runs level d: its instructions, then loop d.
static void run_level(StripFrame *f, const StripNest *s, uint32_t d) {
  open_sums(f, s, d);
  run_code(f, &s->code[d], 1);
  if (d < s->nloop) {
    int64_t n = length_of(f, s->loop[d]);
    for (int64_t i = 0; i < n; i++) {
      f->at[s->var[d]] = i;
      run_level(f, s, d + 1);
    }
  } else if (s->rows) {
    int64_t n = length_of(f, s->length);
    for (int64_t i = 0; i < n; i += s->rows) {
      f->at[s->var[d]] = i;
      run_code(f, &s->code[d + 1], (n - i < s->rows ? n - i : s->rows) * s->row);
    }
  } else if (s->has_strip) {
    int64_t low = s->unit * f->low, high = s->unit * f->high;
    if (!s->unit) high = length_of(f, s->length);
    for (int64_t i = low; i < high; i += STRIP) {
      f->first = i;
      run_code(f, &s->code[d + 1], high - i < STRIP ? high - i : STRIP);
    }
    f->first = 0;
  }
  close_sums(f, s, d);
}

static void run_nest(StripFrame *f, const StripNest *s) {
  int64_t length = s->unit ? s->unit * (f->high - f->low) : length_of(f, s->length);
  f->broadcast = length < STRIP && !s->rows ? length : STRIP;
  for (uint32_t i = 0; i < s->fill.n; i++)
    run_fill(f, &s->fill.at[i], 0, address_start(f, &s->fill.at[i].to.at));
  run_level(f, s, 0);
}

// The points of the index group m, n or k (which: 0, 1, 2) of a product.
static int64_t group_length(const StripFrame *f, const PlanNode *x, int which) {
  const Product *q = x->product;
  const uint32_t *group[] = {q->m, q->n, q->k}, n[] = {q->nm, q->nn, q->nk};
  int64_t length = 1;
  for (uint32_t i = 0; i < n[which]; i++) length *= length_of(f, x->index[group[which][i]]);
  return length;
}

// Runs a small product once for each point of its batch indices that are no parallel loops.
static void run_product(StripFrame *f, const StripNest *s, uint32_t d) {
  if (d < s->nloop) {
    int64_t n = length_of(f, s->loop[d]);
    for (int64_t i = 0; i < n; i++) {
      f->at[s->var[d]] = i;
      run_product(f, s, d + 1);
    }
    return;
  }
  char *at[3];
  for (int i = 0; i < 3; i++) at[i] = cell_of(f, &s->to[i], address_start(f, &s->to[i].at));
  int64_t size[3];
  for (int i = 0; i < 3; i++) size[i] = group_length(f, s->product, i);
  const Kernel *k = f->s->k;
  bool add = k->ordered && s->product->reduced[s->product->blocked_index] && f->at[k->np - 1] > 0;
  f->c->small(f->table[s->slot], at[0], at[1], at[2], f->scratch + k->tile_bytes, size[0], size[1],
              size[2], add);
}

// Runs the parallel loops from d on, with all nests inside.
static void run_parallel(StripFrame *f, uint32_t d) {
  const Strip *s = f->s;
  if (d < s->np) {
    int64_t n = length_of(f, s->k->p[d]);
    for (f->at[d] = 0; f->at[d] < n; f->at[d]++) run_parallel(f, d + 1);
    return;
  }
  for (uint32_t i = 0; i < s->nest.n; i++)
    if (s->nest.at[i].product)
      run_product(f, &s->nest.at[i], 0);
    else
      run_nest(f, &s->nest.at[i]);
}

static void run_divided(StripFrame *f) {
  const Strip *s = f->s;
  for (int64_t q = f->low; q < f->high; q++) {
    int64_t rest = q;
    for (uint32_t d = s->split; d-- > 0;) {
      int64_t n = length_of(f, s->k->p[d]);
      f->at[d] = d ? rest % n : rest;
      rest /= n;
    }
    run_parallel(f, s->split);
  }
}

// -- order ----------------------------------------------------------------------------------------
static void run_order(StripFrame *f, const PlanNode *x, uint32_t axis, int64_t cell) {
  const Plan *p = f->s->p;
  const PlanWire *in = &p->wire.at[x->in[0].wire], *out = &p->wire.at[x->out.wire];
  if (axis == x->axis) axis++;
  if (axis < in->rank) {
    int64_t n = length_of(f, in->shape[axis]);
    for (int64_t i = 0; i < n; i++) run_order(f, x, axis + 1, cell + i * in->stride[axis]);
    return;
  }
  StripMemory from = f->s->nest.at[0].to[0], to = f->s->nest.at[0].to[1];
  int64_t n = length_of(f, in->shape[x->axis]), most = extent_most(p, in->shape[x->axis]);
  int64_t step = in->stride[x->axis];
  int32_t *order = (int32_t *)f->scratch, *at = (int32_t *)cell_of(f, &to, cell);
  f->s->real->order(cell_of(f, &from, cell), step, n, order, order + most);
  for (int64_t i = 0; i < n; i++) at[i * out->stride[x->axis]] = order[i];
}

// -- a run ----------------------------------------------------------------------------------------
// The address of a wire at the current scan positions.
static char *wire_memory(const StripFrame *f, char *at, uint32_t wire) {
  const Plan *p = f->s->p;
  int64_t size = (int64_t)number_bytes(p->wire.at[wire].number);
  for (; p->wire.at[wire].alias_of != PLAN_NONE; wire = p->wire.at[wire].alias_of)
    if (p->wire.at[wire].scan_moves)
      at += p->wire.at[wire].scan_stride * f->c->at[p->wire.at[wire].depth] * size;
  return at;
}

void strip_run(const Strip *s, const KernelContext *c, char **table, int64_t low, int64_t high,
               char *scratch, char *work) {
  StripFrame f = {.s = s,
                  .c = c,
                  .table = table,
                  .scratch = scratch,
                  .memory = (char **)(work + s->memory_at),
                  .reg = (void **)(work + s->reg_at),
                  .at = (int64_t *)(work + s->var_at),
                  .inside = (StripInside *)(work + s->inside_at),
                  .total = (Total *)(work + s->total_at),
                  .place = (int64_t *)(work + s->place_at),
                  .won = (int32_t *)(work + s->won_at),
                  .low = low,
                  .high = high};
  for (uint32_t i = 0; i < s->slot->n && s->slot->at[i] < s->p->wire.n; i++) {
    const PlanWire *w = &s->p->wire.at[s->slot->at[i]];
    f.memory[i] = w->place == AT_TILE ? scratch + w->at : wire_memory(&f, table[i], s->slot->at[i]);
  }
  for (uint32_t i = 0; i < s->nregister; i++) {
    const void *constant = s->reg[i].constant;
    if (constant)
      memcpy(&f.reg[i], &constant, sizeof constant); // drops const: no instruction writes to it
    else
      f.reg[i] = work + s->reg[i].at;
  }
  if (s->k->kind == KERNEL_ORDER)
    run_order(&f, &s->p->node.at[s->k->node.at[0]], 0, 0);
  else if (s->split)
    run_divided(&f);
  else
    run_parallel(&f, 0);
}
