// Registers, addresses and guards of a strip program.
//
// An address is affine in the loops around the strip and in labels. Along the strip it is affine, too, or
// a table of offsets if the strip collapses several loops and the access is not affine in the result.
#include "run/engine/prebuilt/strip_own.h"

#include <math.h>

// -- registers ------------------------------------------------------------------------------------
bool reg_is_8_bytes(const StripBuild *b, RegKind kind) {
  return kind == REG_WIDE || (kind == REG_REAL && b->p->wide);
}

uint32_t reg_new(StripBuild *b, RegKind kind, uint32_t level) {
  Reg r = {.kind = kind, .level = level};
  vec_push(b->arena, &b->reg, r);
  return b->reg.n - 1;
}

// One cell of a register.
static void set_cell(const StripBuild *b, RegKind kind, double value, void *cell) {
  float narrow = (float)real_constant(b->p, value);
  int32_t whole = fabs(value) < 0x1p31 ? (int32_t)value : 0;
  if (kind == REG_INT)
    memcpy(cell, &whole, sizeof whole);
  else if (reg_is_8_bytes(b, kind))
    memcpy(cell, &value, sizeof value);
  else
    memcpy(cell, &narrow, sizeof narrow);
}

const void *reg_cell(const StripBuild *b, RegKind kind, double value) {
  void *cell = arena_alloc(b->arena, 8);
  set_cell(b, kind, value, cell);
  return cell;
}

uint32_t reg_constant(StripBuild *b, RegKind kind, double value) {
  size_t size = reg_is_8_bytes(b, kind) ? 8 : 4;
  const void *cell = reg_cell(b, kind, value);
  for (uint32_t i = 0; i < b->reg.n; i++)
    if (b->reg.at[i].uniform && b->reg.at[i].kind == kind &&
        !memcmp(b->reg.at[i].constant, cell, size))
      return i;
  uint32_t r = reg_new(b, kind, 0);
  char *cells = arena_alloc(b->arena, STRIP * size);
  for (uint32_t i = 0; i < STRIP; i++) memcpy(cells + i * size, cell, size);
  b->reg.at[r].constant = cells;
  b->reg.at[r].uniform = b->reg.at[r].broadcast = b->reg.at[r].in_memory = true;
  return r;
}

static int64_t strip_dim(const StripBuild *b, uint32_t i) {
  return b->rows && !i ? b->rows : b->dim[b->first + i].c;
}

static int64_t strip_points(const StripBuild *b, uint32_t from) {
  int64_t n = 1;
  for (uint32_t i = from; i < b->dims; i++) n *= strip_dim(b, i);
  return n;
}

uint32_t reg_positions(StripBuild *b, RegKind kind, uint32_t var) {
  uint32_t d = var - b->k->np - b->first, reg = reg_new(b, kind, 0);
  int64_t n = strip_points(b, 0), size = reg_is_8_bytes(b, kind) ? 8 : 4;
  char *cells = arena_alloc(b->arena, (size_t)(n * size));
  for (int64_t i = 0; i < n; i++)
    set_cell(b, kind, (double)(i / strip_points(b, d + 1) % strip_dim(b, d)), cells + i * size);
  b->reg.at[reg].constant = cells;
  b->reg.at[reg].broadcast = b->reg.at[reg].in_memory = true;
  return reg;
}

RegKind reg_kind(const StripBuild *b, Base base, bool same) {
  return base != BASE_R ? REG_INT : same && !b->p->wide ? REG_WIDE : REG_REAL;
}

// -- steps ----------------------------------------------------------------------------------------
StripInstr *instr_push(StripBuild *b, uint32_t level, StripOpcode what, uint32_t out) {
  StripCode *code = &b->nest->code[level];
  StripInstr s = {.what = what, .out = out, .a = PLAN_NONE, .b = PLAN_NONE, .c = PLAN_NONE};
  s.guard = PLAN_NONE;
  if (out != PLAN_NONE) s.eight_bytes = reg_is_8_bytes(b, b->reg.at[out].kind);
  vec_push(b->arena, code, s);
  return &code->at[code->n - 1];
}

uint32_t reg_use(StripBuild *b, uint32_t reg, uint32_t level) {
  Reg *r = &b->reg.at[reg];
  if (level == b->inner && r->level < b->inner && !r->broadcast) {
    instr_push(b, r->level, DO_BROADCAST, reg);
    r->broadcast = true;
  }
  return reg;
}

uint32_t strip_level(const StripBuild *b, uint32_t level) {
  return level < b->inner ? level : b->inner;
}

// -- addresses ------------------------------------------------------------------------------------
static uint32_t slot_of(const StripBuild *b, uint32_t wire) {
  uint32_t i = 0;
  while (b->s->slot->at[i] != wire) i++;
  return i;
}

bool strip_has(const StripBuild *b, uint32_t var) { return b->dims && var >= b->k->np + b->first; }

bool strip_takes_rows(const StripBuild *b, uint32_t var) {
  return b->rows && var == b->k->np + b->first;
}

void address_term(StripBuild *b, AddressTerm **list, uint32_t *n, uint32_t of, int64_t step) {
  AddressTerm *more = NEW_ARRAY(b->arena, AddressTerm, *n + 1);
  for (uint32_t i = 0; i < *n; i++) more[i] = (*list)[i];
  more[*n] = (AddressTerm){of, step};
  *list = more;
  (*n)++;
}

// Adds scale · coordinate to an address; along[i] collects the strides of the strip's loops.
static void address_add(StripBuild *b, const StripNode *m, StripAddress *r, int64_t *along,
                        const PlanCoord *c, int64_t scale) {
  r->start += scale * c->c;
  for (uint32_t i = 0; i < c->n; i++) {
    const PlanTerm *t = &c->term[i];
    int64_t step = scale * t->coef;
    if (!step) continue;
    if (t->operand) {
      uint32_t reg = m->operand[t->var];
      b->reg.at[reg].pinned = true;
      if (b->reg.at[reg].level == b->inner)
        address_term(b, &r->inner, &r->ninner, reg, step);
      else
        address_term(b, &r->outer, &r->nouter, reg, step);
      continue;
    }
    uint32_t var = m->w->x->var[t->var];
    if (strip_has(b, var)) along[var - b->k->np - b->first] += step;
    if (!strip_has(b, var) || strip_takes_rows(b, var))
      address_term(b, &r->loop, &r->nloop, var, step);
  }
}

// Completes an address from the strides of the strip's loops: one stride, or a table of offsets, which
// may consist of equal contiguous runs.
static void address_end(StripBuild *b, StripAddress *r, const int64_t *along) {
  uint32_t straight = b->dims; // the loops from this one on are affine together
  while (straight > 0 &&
         (straight == b->dims || along[straight - 1] == along[straight] * strip_dim(b, straight)))
    straight--;
  if (!straight) {
    r->step = b->dims ? along[b->dims - 1] : 0;
    return;
  }
  int64_t n = strip_points(b, 0), *line = NEW_ARRAY(b->arena, int64_t, n);
  for (int64_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < b->dims; i++)
      line[k] += along[i] * (k / strip_points(b, i + 1) % strip_dim(b, i));
  r->line = line;
  if (along[b->dims - 1] == 1) r->run = strip_points(b, straight);
  r->repeats = r->run;
  for (uint32_t i = 0; i < straight; i++) r->repeats &= !along[i];
}

static StripAddress address_of(StripBuild *b, const StripNode *m, const Operand *o) {
  const PlanWire *w = &b->p->wire.at[o->wire];
  int64_t along[64] = {0};
  StripAddress r = {0};
  for (uint32_t i = 0; i < w->rank; i++) address_add(b, m, &r, along, &o->coord[i], w->stride[i]);
  address_end(b, &r, along);
  return r;
}

const StripLoops *reg_loops(const StripBuild *b, RegKind kind) {
  return kind == REG_WIDE ? b->s->wide : b->s->real;
}

StripMemory memory_without_address(const StripBuild *b, uint32_t wire) {
  Number number = b->p->wire.at[wire].number;
  return (StripMemory){.slot = slot_of(b, wire),
                       .number = number,
                       .size = (int64_t)number_bytes(number),
                       .cells = b->s->real->cells[number]};
}

StripMemory *memory_of(StripBuild *b, const StripNode *m, const Operand *o, RegKind kind) {
  StripMemory *x = NEW(b->arena, StripMemory);
  *x = memory_without_address(b, o->wire);
  x->cells = reg_loops(b, kind)->cells[x->number];
  x->at = address_of(b, m, o);
  return x;
}

static bool memory_fits(const StripBuild *b, const StripMemory *x, RegKind kind) {
  return x->number == (kind == REG_INT           ? NUMBER_I32
                       : reg_is_8_bytes(b, kind) ? NUMBER_F64
                                                 : NUMBER_F32);
}

bool memory_is_register(const StripBuild *b, const StripMemory *x, RegKind kind) {
  return memory_fits(b, x, kind) && !x->at.line && !x->at.ninner && (x->at.step == 1 || !b->dims);
}

bool memory_has_strips(const StripBuild *b, const StripMemory *x, RegKind kind) {
  return memory_fits(b, x, kind) && !x->at.ninner &&
         (x->at.repeats || (!x->at.line && x->at.step == 1));
}

// -- guards ---------------------------------------------------------------------------------------
static uint32_t new_guard(StripBuild *b) {
  StripGuard *g = NEW(b->arena, StripGuard);
  g->mask = PLAN_NONE;
  vec_push(b->arena, &b->s->guard, g);
  return b->s->guard.n - 1;
}

static void guard_mask(StripBuild *b, StripGuard *g) {
  if (g->mask != PLAN_NONE) return;
  g->mask = reg_new(b, REG_INT, b->inner);
  b->reg.at[g->mask].pinned = true;
}

static void guard_bounds(StripBuild *b, const StripNode *m, StripGuard *g, const Operand *o) {
  const PlanWire *w = &b->p->wire.at[o->wire];
  g->at = NEW_ARRAY(b->arena, StripAddress, w->rank);
  g->size = NEW_ARRAY(b->arena, Extent, w->rank);
  for (uint32_t i = 0; i < w->rank; i++) {
    int64_t along[64] = {0};
    StripAddress *r = &g->at[g->n];
    if (!o->coord[i].check) continue;
    address_add(b, m, r, along, &o->coord[i], 1);
    address_end(b, r, along);
    if (r->line || r->ninner) guard_mask(b, g);
    g->size[g->n++] = w->shape[i];
  }
}

uint32_t guard_operand(StripBuild *b, const StripNode *m, const Operand *o, uint32_t level) {
  uint32_t number = new_guard(b);
  guard_bounds(b, m, b->s->guard.at[number], o);
  instr_push(b, level, DO_GUARD, PLAN_NONE)->guard = number;
  return number;
}

// Checks the output and the operands without padding.
uint32_t guard_node(StripBuild *b, const StripNode *m) {
  const PlanNode *x = m->w->x;
  uint32_t number = new_guard(b);
  StripGuard *g = b->s->guard.at[number];
  g->of = NEW_ARRAY(b->arena, uint32_t, x->nin + 1);
  guard_bounds(b, m, g, &x->out);
  for (uint32_t i = 0; i < x->nin; i++) {
    if (m->guard[i] == PLAN_NONE || x->in[i].padded) continue;
    g->of[g->nof++] = m->guard[i];
    if (b->s->guard.at[m->guard[i]]->mask != PLAN_NONE) guard_mask(b, g);
  }
  instr_push(b, b->inner, DO_GUARD, PLAN_NONE)->guard = number;
  return number;
}
