// Initial values whose elements are independent: any range of them can be generated alone, by any
// thread. init_draw writes in blocks what init_eval writes as a whole, with the same bits.
//
// A diagram such as 0.02 * normal[n m] consists of noise and element-wise loops. It is translated
// to a straight-line program of rows: noise, a number, or a function of earlier rows (constant
// folded if these are numbers). For any other diagram (a sum, a list, an index value) the result is
// NULL, and the interpreter computes the value.
#include "core/diagram/diagram.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"

#include <math.h>

enum { ROW_LIMIT = 32, BLOCK = 128 };

typedef enum { ROW_NUMBER, ROW_NOISE, ROW_FN } RowKind;
typedef struct {
  RowKind kind;
  double k;                                      // ROW_NUMBER
  Noise noise;                                   // ROW_NOISE
  NoisePlace place;                              //
  double (*value)(double a, double b, double c); // ROW_FN
  uint32_t arg[3];
} CellRow;

struct InitCells {
  InitKind kind;
  int64_t count;
  const double *data;
  NoisePlace place;
  double from, scale; // noise x becomes from + scale·x
  bool bits;
  uint32_t nrow;
  CellRow *row; // [nrow]; the last row is the value
};

// -- rows of a diagram ----------------------------------------------------------------------------
typedef struct {
  World *w;
  const Diagram *d;
  const Type *type;  // of the weight
  const double *var; // all NAN: there are no arguments to bind sizes
  uint64_t seed;
  uint32_t *row; // [wire] row + 1
  InitCells *c;
} CellBuilder;

static uint32_t row_add(CellBuilder *r, CellRow row) {
  InitCells *c = r->c;
  if (c->nrow == ROW_LIMIT) return 0;
  c->row[c->nrow++] = row;
  return c->nrow;
}

// True for a scalar, and for a tensor of the weight's shape.
static bool has_weight_shape(const CellBuilder *r, const Type *t) {
  int64_t a, b;
  if (!t->rank) return true;
  if (t->rank != r->type->rank) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(r->w, t->axis[i].size, &a) || !size_value(r->w, r->type->axis[i].size, &b) ||
        a != b)
      return false;
  return true;
}

static bool is_plain_access(const CellBuilder *r, const Loop *loop, const Access *a) {
  uint32_t index;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!coord_is_plain(r->w, &a->coord[i], &index) || index != i) return false;
  return a->rank == loop->nindex;
}

// True if the loop is element-wise: every operand is a scalar or has the output's plain access.
static bool is_cellwise(const CellBuilder *r, const Box *b) {
  const Loop *loop = b->loop;
  int64_t n, length;
  const Type *t = &r->d->wire.at[b->out[0]].type;
  if (b->nout != 1 || !has_weight_shape(r, t) || !is_plain_access(r, loop, &loop->out))
    return false;
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (!size_value(r->w, loop->index[i].size, &n) || !size_value(r->w, t->axis[i].size, &length) ||
        n != length)
      return false;
  for (uint32_t i = 0; i < loop->nin; i++)
    if (loop->in[i].rank && !is_plain_access(r, loop, &loop->in[i])) return false;
  return true;
}

// Constant folding: a function of numbers is a number.
static uint32_t row_of_fn(CellBuilder *r, const Scalar *s, const uint32_t *of) {
  const CellRow *row = r->c->row;
  CellRow made = {.kind = ROW_FN, .value = fn_rows[s->fn].value};
  double x[3] = {0};
  bool known = true;
  for (uint32_t i = 0; i < 3; i++) {
    // Unused arguments alias the first.
    made.arg[i] = of[s->arg[i < fn_rows[s->fn].arity ? i : 0]] - 1;
    known = known && row[made.arg[i]].kind == ROW_NUMBER;
    x[i] = row[made.arg[i]].k;
  }
  if (known) made = (CellRow){.kind = ROW_NUMBER, .k = made.value(x[0], x[1], x[2])};
  return row_add(r, made);
}

static uint32_t row_of_scalar(CellBuilder *r, const Box *b, const Scalar *s, const uint32_t *of) {
  double k;
  switch (s->fn) {
  case FN_AT: return 0;
  case FN_CONST: return row_add(r, (CellRow){.kind = ROW_NUMBER, .k = s->k});
  case FN_ARG: return r->row[b->in[s->ref]];
  case FN_SIZE:
    return size_at(r->w, s->ref, r->var, &k) ? row_add(r, (CellRow){.kind = ROW_NUMBER, .k = k})
                                             : 0;
  default: return row_of_fn(r, s, of);
  }
}

static uint32_t row_of_loop(CellBuilder *r, const Box *b) {
  uint32_t of[ROW_LIMIT], n = b->loop->nscalar;
  if (!n || n > ROW_LIMIT || !is_cellwise(r, b)) return 0;
  for (uint32_t i = 0; i < b->nin; i++)
    if (!r->row[b->in[i]]) return 0;
  for (uint32_t i = 0; i < n; i++)
    if (!(of[i] = row_of_scalar(r, b, &b->loop->scalar[i], of))) return 0;
  return of[n - 1];
}

static uint32_t row_of_noise(CellBuilder *r, const Box *b) {
  const Type *t = &r->d->wire.at[b->out[0]].type;
  CellRow row = {
      .kind = ROW_NOISE, .noise = b->random->noise, .place = {r->seed, 0, b->random->site}};
  if (!has_weight_shape(r, t)) return 0;
  if (!t->rank) {
    row.kind = ROW_NUMBER;
    noise_stretch(row.noise, &row.place, 0, 1, &row.k);
  }
  return row_add(r, row);
}

static bool rows_of_diagram(World *w, Arena *a, const Diagram *d, const Type *type, uint64_t seed,
                            InitCells *c) {
  uint32_t vars = size_var_count(w), last = 0;
  double *var = NEW_ARRAY(a, double, vars + 1);
  for (uint32_t i = 0; i < vars; i++) var[i] = NAN;
  c->row = NEW_ARRAY(a, CellRow, ROW_LIMIT);
  CellBuilder r = {w, d, type, var, seed, NEW_ARRAY(a, uint32_t, d->wire.n + 1), c};
  if (d->in.n || d->param.n || d->out.n != 1 ||
      !has_weight_shape(&r, &d->wire.at[d->out.at[0]].type) ||
      d->wire.at[d->out.at[0]].type.rank != type->rank)
    return false;
  for (uint32_t i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op != OP_loop && b->op != OP_random) return false;
    last = r.row[b->out[0]] = b->op == OP_loop ? row_of_loop(&r, b) : row_of_noise(&r, b);
    if (!last) return false;
  }
  last = r.row[d->out.at[0]];
  if (last) c->nrow = last; // rows after the result are not used
  return last != 0;
}

// -- reading --------------------------------------------------------------------------------------
static bool read_init(World *w, Arena *a, const Init *init, const Type *type, InitCells *c) {
  double fan_in = 1, fan_out = 1, reach;
  switch (init->kind) {
  case INIT_CONST: return c->from = init->k, true;
  case INIT_DATA: return c->data = init->data, true;
  case INIT_NORMAL:
  case INIT_UNIFORM: return c->scale = 1, true;
  case INIT_HE:
    if (!size_number(w, init->fan_in, &fan_in)) return false;
    return c->scale = sqrt(2 / fan_in), true;
  case INIT_GLOROT:
    if (!size_number(w, init->fan_in, &fan_in) || !size_number(w, init->fan_out, &fan_out))
      return false;
    reach = sqrt(6 / (fan_in + fan_out));
    return c->from = -reach, c->scale = reach - -reach, true;
  case INIT_DIAGRAM:
    return rows_of_diagram(w, a, init->diagram, type, c->place.seed ^ c->place.site, c);
  case INIT_NONE:
  case INIT_ORTHOGONAL: return false;
  }
  return false;
}

const InitCells *init_cells(World *w, Arena *a, const Init *init, const Type *type, uint64_t seed,
                            uint64_t site) {
  int64_t count;
  if (init->members || !type_count(w, type, &count) || count > INT32_MAX) return NULL;
  if (init->as) site = site_hash(0, init->as);
  InitCells *c = NEW(a, InitCells);
  *c = (InitCells){.kind = init->kind, .count = count, .place = {seed, 0, site}};
  c->bits = type->base == BASE_BIT && init->kind != INIT_DIAGRAM && init->kind != INIT_DATA;
  return read_init(w, a, init, type, c) ? c : NULL;
}

int64_t init_cells_count(const InitCells *c) { return c->count; }

bool init_cells_zero(const InitCells *c) {
  return c->kind == INIT_CONST && c->from == 0 && !signbit(c->from);
}

// -- drawing --------------------------------------------------------------------------------------
static void fill(double *to, int64_t n, double k) {
  for (int64_t i = 0; i < n; i++) to[i] = k;
}

typedef struct {
  const double *at;
  int64_t step; // 0: a scalar, broadcast
} RowRead;

static void apply(const CellRow *row, const RowRead *arg, int64_t n, double *to) {
  RowRead a = arg[0], b = arg[1], c = arg[2];
  for (int64_t i = 0; i < n; i++)
    to[i] = row->value(a.at[i * a.step], b.at[i * b.step], c.at[i * c.step]);
}

static void draw_rows(const InitCells *c, int64_t first, int64_t n, double *to) {
  double made[ROW_LIMIT][BLOCK];
  for (uint32_t k = 0; k < c->nrow; k++) {
    const CellRow *row = &c->row[k];
    RowRead arg[3];
    if (row->kind == ROW_NOISE) noise_stretch(row->noise, &row->place, first, n, made[k]);
    if (row->kind != ROW_FN) continue;
    for (uint32_t i = 0; i < 3; i++) {
      const CellRow *of = &c->row[row->arg[i]];
      arg[i] = of->kind == ROW_NUMBER ? (RowRead){&of->k, 0} : (RowRead){made[row->arg[i]], 1};
    }
    apply(row, arg, n, made[k]);
  }
  const CellRow *last = &c->row[c->nrow - 1];
  if (last->kind == ROW_NUMBER)
    fill(to, n, last->k);
  else
    memcpy(to, made[c->nrow - 1], (size_t)n * sizeof(double));
}

static void draw_noise(const InitCells *c, int64_t first, int64_t n, double *to) {
  bool normal = c->kind == INIT_NORMAL || c->kind == INIT_HE;
  noise_stretch(normal ? NOISE_NORMAL : NOISE_UNIFORM, &c->place, first, n, to);
  for (int64_t i = 0; i < n; i++) to[i] = c->scale * to[i];
  for (int64_t i = 0; !normal && i < n; i++) to[i] = c->from + to[i];
}

static void draw_block(const InitCells *c, int64_t first, int64_t n, double *to) {
  if (c->kind == INIT_CONST)
    fill(to, n, c->from);
  else if (c->kind == INIT_DATA)
    memcpy(to, c->data + first, (size_t)n * sizeof(double));
  else if (c->kind == INIT_DIAGRAM)
    draw_rows(c, first, n, to);
  else
    draw_noise(c, first, n, to);
  for (int64_t i = 0; c->bits && i < n; i++) to[i] = to[i] > 0.5;
}

void init_draw(const InitCells *c, int64_t first, int64_t n, double *to) {
  for (int64_t i = 0; i < n; i += BLOCK)
    draw_block(c, first + i, n - i < BLOCK ? n - i : BLOCK, to + i);
}
