// Random systems. A system is a row of kinds: machines first, then wirings of earlier kinds, the
// last one around all. What a port or state gets is an expression over inputs, own states and what
// parts show, each read at constant places or along the indices of what is defined.
//
// Nothing needs itself: a port of a part may read what earlier parts show, and of later ones (and
// of itself) only what they show from their states alone.
//
// The trace follows the definition to the letter: a value is asked for, its expression asks for
// what it reads, through the boundaries of the nesting; all reads first, then all updates.
#include "random_machine.h"

#include <math.h>
#include <string.h>

enum { PORTS = 4, STATES = 3, PARTS = 4, KINDS = 12, MODES = 2 };
enum { AT_I = -1, AT_J = -2 }; // places in reads: an index, or a constant

const double random_step = 0.1;

typedef enum { X_NUMBER, X_IN, X_STATE, X_PART, X_ADD, X_SUB, X_MUL, X_TANH } Op;
typedef struct Expr Expr;
struct Expr {
  Op op;
  double number;
  uint32_t at, port; // which input, state, or part and its port
  int place[2];
  Expr *a, *b;
};

typedef struct {
  Expr *value, *other; // other: while the part `guard` is in its second mode
  uint32_t guard;      // its number + 1; 0: none
} Given_;

typedef struct {
  bool wide;    // with an axis
  bool at_once; // it depends on an input at the same moment
} Port_;

typedef struct {
  uint32_t kind;
  bool array;
  Given_ in[PORTS];
} Part_;

typedef struct {
  uint32_t level, nin, nout, nstate, nmode, nparts;
  Port_ in[PORTS], out[PORTS];
  bool wide[STATES];
  double start[STATES];
  Expr *show[MODES][PORTS], *next[MODES][STATES];
  double border[MODES]; // a mode is left when its first state is above
  Part_ part[PARTS];
} Kind;

struct Made {
  Arena *arena;
  uint32_t nkinds;
  Kind kind[KINDS];
};

// -- chance ---------------------------------------------------------------------------------------
uint64_t chance_draw(Chance *d) {
  uint64_t x = d->state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
uint32_t chance_below(Chance *d, uint32_t n) { return (uint32_t)(chance_draw(d) % n); }
double chance_number(Chance *d) { return (1 + chance_below(d, 99)) / 100.0; }
void chance_shuffle(Chance *d, const char **at, uint32_t n) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = chance_below(d, i);
    const char *text = at[k];
    at[k] = at[i - 1];
    at[i - 1] = text;
  }
}

// -- expressions ----------------------------------------------------------------------------------
typedef struct {
  Made *r;
  Chance chance;
  Kind *k;
  uint32_t before; // parts whose ports may all be read
  uint32_t rank;   // of what is defined: the indices that may be used
  bool inputs;     // may be read
} Maker_;

static Expr *expr_new(Maker_ *m, Op op) {
  Expr *e = NEW(m->r->arena, Expr);
  e->op = op;
  return e;
}

static int some_place(Maker_ *m) {
  if (m->rank && chance_below(&m->chance, 4))
    return m->rank > 1 && chance_below(&m->chance, 2) ? AT_J : AT_I;
  return (int)chance_below(&m->chance, MEMBERS);
}

static Expr *read_part(Maker_ *m) {
  for (uint32_t turn = 0; turn < 20 && m->k->nparts; turn++) {
    uint32_t p = chance_below(&m->chance, m->k->nparts);
    const Kind *of = &m->r->kind[m->k->part[p].kind];
    uint32_t port = chance_below(&m->chance, of->nout);
    if (p >= m->before && of->out[port].at_once) continue;
    Expr *e = expr_new(m, X_PART);
    e->at = p;
    e->port = port;
    e->place[0] = some_place(m);
    e->place[1] = some_place(m);
    return e;
  }
  return NULL;
}

static Expr *some_read(Maker_ *m) {
  Expr *e = NULL;
  uint32_t kind = chance_below(&m->chance, 4);
  if (kind == 0 && m->k->nstate) {
    e = expr_new(m, X_STATE);
    e->at = chance_below(&m->chance, m->k->nstate);
    e->place[0] = some_place(m);
  } else if (kind == 1 && m->inputs && m->k->nin) {
    e = expr_new(m, X_IN);
    e->at = chance_below(&m->chance, m->k->nin);
    e->place[0] = some_place(m);
  } else if (kind > 1) {
    e = read_part(m);
  }
  return e;
}

// `factor`: it stands in a product, or where a product may read it. A product of products is one
// product to the language, so that it would be associated anew where a boundary is left out.
static Expr *some_expr(Maker_ *m, uint32_t depth, bool factor) {
  static const Op op[] = {X_ADD, X_SUB, X_TANH, X_MUL};
  uint32_t kind = depth ? chance_below(&m->chance, factor ? 4 : 5) : 0;
  if (!kind) {
    for (uint32_t turn = 0; turn < 8; turn++) {
      Expr *e = some_read(m);
      if (e) return e;
    }
    Expr *e = expr_new(m, X_NUMBER);
    e->number = chance_number(&m->chance);
    return e;
  }
  Expr *e = expr_new(m, op[kind - 1]);
  e->a = some_expr(m, depth - 1, e->op == X_MUL);
  if (e->op != X_TANH) e->b = some_expr(m, depth - 1, e->op == X_MUL);
  return e;
}

// What stays between -1 and 1 for ever.
static Expr *bounded(Maker_ *m, uint32_t depth) {
  Expr *e = expr_new(m, X_TANH);
  e->a = some_expr(m, depth, false);
  return e;
}

static bool reads_at_once(const Made *r, const Kind *k, const Expr *e) {
  if (!e) return false;
  if (e->op == X_IN) return true;
  if (e->op == X_PART) {
    const Part_ *p = &k->part[e->at];
    const Kind *of = &r->kind[p->kind];
    if (!of->out[e->port].at_once) return false;
    for (uint32_t i = 0; i < of->nin; i++)
      if (reads_at_once(r, k, p->in[i].value) || reads_at_once(r, k, p->in[i].other)) return true;
    return false;
  }
  return reads_at_once(r, k, e->a) || reads_at_once(r, k, e->b);
}

// -- kinds ----------------------------------------------------------------------------------------
static void add_states(Maker_ *m, uint32_t n, bool wide) {
  m->k->nstate = n;
  for (uint32_t i = 0; i < n; i++) {
    m->k->wide[i] = wide && i && chance_below(&m->chance, 3) == 0;
    m->k->start[i] = chance_number(&m->chance);
  }
}

static void add_shown(Maker_ *m, bool outermost) {
  Kind *k = m->k;
  for (uint32_t i = 0; i < k->nout; i++) {
    m->rank = k->out[i].wide;
    m->inputs = outermost || chance_below(&m->chance, 2);
    for (uint32_t mode = 0; mode < k->nmode; mode++) {
      k->show[mode][i] = some_expr(m, 2, true);
      k->out[i].at_once |= reads_at_once(m->r, k, k->show[mode][i]);
    }
  }
  m->inputs = true;
  for (uint32_t i = 0; i < k->nstate; i++) {
    m->rank = k->wide[i];
    for (uint32_t mode = 0; mode < k->nmode; mode++) k->next[mode][i] = bounded(m, 3);
  }
}

static void make_machine(Maker_ *m, const RandomHow *how) {
  Kind *k = m->k;
  k->nmode = how->modes && chance_below(&m->chance, 2) ? MODES : 1;
  k->nin = 1 + chance_below(&m->chance, 3);
  k->nout = 1 + chance_below(&m->chance, 3);
  add_states(m, chance_below(&m->chance, STATES + 1), how->arrays);
  if (k->nmode > 1 && !k->nstate) add_states(m, 1, false);
  for (uint32_t i = 0; i < MODES; i++) k->border[i] = chance_number(&m->chance) / 2;
  for (uint32_t i = 0; i < k->nin; i++) k->in[i].wide = how->arrays && !chance_below(&m->chance, 4);
  for (uint32_t i = 0; i < k->nout; i++)
    k->out[i].wide = how->arrays && !chance_below(&m->chance, 4);
  add_shown(m, false);
}

static void add_wires(Maker_ *m, uint32_t p) {
  Part_ *part = &m->k->part[p];
  const Kind *of = &m->r->kind[part->kind];
  m->before = p;
  m->inputs = true;
  for (uint32_t i = 0; i < of->nin; i++) {
    m->rank = (uint32_t)part->array + of->in[i].wide;
    part->in[i].value = some_expr(m, chance_below(&m->chance, 3), true);
    uint32_t g = chance_below(&m->chance, m->k->nparts);
    if (m->k->part[g].array || m->r->kind[m->k->part[g].kind].nmode < 2) continue;
    part->in[i].guard = g + 1;
    part->in[i].other = some_expr(m, chance_below(&m->chance, 3), true);
  }
}

static void make_wiring(Maker_ *m, const RandomHow *how, uint32_t level, bool outermost) {
  Kind *k = m->k;
  uint32_t kinds = (uint32_t)(k - m->r->kind);
  k->level = level;
  k->nmode = 1;
  k->nin = 1 + chance_below(&m->chance, 3);
  k->nout = 1 + chance_below(&m->chance, 3);
  if (how->own) add_states(m, chance_below(&m->chance, STATES), how->arrays);
  for (uint32_t i = 0; i < k->nin && !outermost; i++)
    k->in[i].wide = how->arrays && !chance_below(&m->chance, 4);
  for (uint32_t i = 0; i < k->nout && !outermost; i++)
    k->out[i].wide = how->arrays && !chance_below(&m->chance, 4);
  k->nparts = 1 + chance_below(&m->chance, PARTS);
  for (uint32_t p = 0; p < k->nparts; p++) {
    do k->part[p].kind = chance_below(&m->chance, kinds);
    while (m->r->kind[k->part[p].kind].level >= level ||
           (!p && m->r->kind[k->part[p].kind].level + 1 != level));
    k->part[p].array = how->arrays && !chance_below(&m->chance, 4);
  }
  for (uint32_t p = 0; p < k->nparts; p++) add_wires(m, p);
  m->before = k->nparts;
  add_shown(m, outermost);
}

Made *random_system(Arena *a, uint64_t seed, const RandomHow *how) {
  Made *r = NEW(a, Made);
  r->arena = a;
  Maker_ m = {.r = r, .chance = {seed}};
  for (uint32_t i = 0; i < 3; i++) {
    m.k = &r->kind[r->nkinds++];
    make_machine(&m, how);
  }
  for (uint32_t level = 1; level <= how->levels; level++) {
    bool last = level == how->levels;
    for (uint32_t i = 0; i < (last ? 1u : 2u); i++) {
      m.k = &r->kind[r->nkinds++];
      make_wiring(&m, how, level, last);
    }
  }
  return r;
}

static const Kind *outermost(const Made *r) { return &r->kind[r->nkinds - 1]; }
uint32_t random_inputs(const Made *r) { return outermost(r)->nin; }
uint32_t random_outputs(const Made *r) { return outermost(r)->nout; }

static double start_input(Chance *d) { return chance_number(d); }
const char *random_starts(Arena *a, const Made *r, uint64_t seed) {
  Buf b = buf_new(a);
  Chance d = {seed};
  for (uint32_t i = 0; i < random_inputs(r); i++)
    buf_printf(&b, "%sx%u: %g", i ? ", " : "(", i, start_input(&d));
  buf_text(&b, ")");
  return b.at;
}

// -- as a program ---------------------------------------------------------------------------------
static void write_places(const int *place, uint32_t n, Buf *b) {
  if (!n) return;
  buf_text(b, "[");
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_text(b, " ");
    if (place[i] < 0)
      buf_text(b, place[i] == AT_I ? "i" : "j");
    else
      buf_printf(b, "%d", place[i]);
  }
  buf_text(b, "]");
}

typedef struct {
  Arena *a;
  const Made *r;
  const Written *how;
  Chance *order; // NULL: as they were made
} Writer;

static void write_state_read(const Writer *w, const Kind *k, const Expr *e, Buf *b) {
  if (k->level && w->how->numbers) {
    buf_printf(b, "%g", k->start[e->at]);
    return;
  }
  bool scaled = !k->level && w->how->scaled;
  buf_printf(b, "%ss%u", scaled ? "(0.25 * " : "", e->at);
  write_places(e->place, k->wide[e->at], b);
  if (scaled) buf_text(b, ")");
}

static void write_expr(const Writer *w, const Kind *k, const Expr *e, Buf *b) {
  switch (e->op) {
  case X_NUMBER: buf_printf(b, "%g", e->number); break;
  case X_IN:
    buf_printf(b, "x%u", e->at);
    write_places(e->place, k->in[e->at].wide, b);
    break;
  case X_STATE: write_state_read(w, k, e, b); break;
  case X_PART:
    buf_printf(b, "p%u", e->at);
    write_places(e->place, k->part[e->at].array, b);
    buf_printf(b, ".y%u", e->port);
    write_places(e->place + 1, w->r->kind[k->part[e->at].kind].out[e->port].wide, b);
    break;
  case X_TANH:
    buf_text(b, "tanh(");
    write_expr(w, k, e->a, b);
    buf_text(b, ")");
    break;
  default:
    buf_text(b, "(");
    write_expr(w, k, e->a, b);
    buf_text(b, e->op == X_ADD ? " + " : e->op == X_SUB ? " - " : " * ");
    write_expr(w, k, e->b, b);
    buf_text(b, ")");
  }
}

static const char *wide_text(bool wide) { return wide ? "[3]" : "[]"; }

static void write_header(const Kind *k, const char *word, const char *name, Buf *b) {
  buf_printf(b, "%s %s(", word, name);
  for (uint32_t i = 0; i < k->nin; i++)
    buf_printf(b, "%sx%u: R%s", i ? ", " : "", i, wide_text(k->in[i].wide));
  buf_text(b, ") -> (");
  for (uint32_t i = 0; i < k->nout; i++)
    buf_printf(b, "%sy%u: R%s", i ? ", " : "", i, wide_text(k->out[i].wide));
  buf_text(b, ") {\n");
}

static void write_state(Arena *a, const char *name, bool wide, double start, Lines *out) {
  vec_push(a, out, arena_format(a, "state %s : R%s = %g", name, wide_text(wide), start));
}

static void write_next(Arena *a, const char *name, bool wide, Stepping how, const char *value,
                       Lines *out) {
  const char *i = wide ? "[i]" : "";
  const char *line = how == BY_TICKS   ? arena_format(a, "next %s%s = %s", name, i, value)
                     : how == BY_RATES ? arena_format(a, "%s'%s = %s", name, i, value)
                                       : arena_format(a, "next %s%s = %s%s + %g * %s", name, i,
                                                      name, i, random_step, value);
  vec_push(a, out, line);
}

static const char *text_of(const Writer *w, const Kind *k, const Expr *e) {
  Buf b = buf_new(w->a);
  write_expr(w, k, e, &b);
  return b.at;
}

// What it shows and becomes, in one mode.
static void write_lines(const Writer *w, const Kind *k, uint32_t mode, Lines *out) {
  Arena *a = w->a;
  for (uint32_t i = 0; i < k->nout; i++)
    vec_push(a, out,
             arena_format(a, "y%u%s = %s", i, k->out[i].wide ? "[i]" : "",
                          text_of(w, k, k->show[mode][i])));
  for (uint32_t i = 0; i < k->nstate && !(k->level && w->how->frozen); i++) {
    const char *value = text_of(w, k, k->next[mode][i]);
    if (!k->level && w->how->scaled) value = arena_format(a, "4 * %s", value);
    write_next(a, arena_format(a, "s%u", i), k->wide[i], w->how->step, value, out);
  }
}

static void write_states(const Writer *w, const Kind *k, Lines *out) {
  bool scaled = !k->level && w->how->scaled;
  for (uint32_t i = 0; i < k->nstate && !(k->level && w->how->numbers); i++)
    write_state(w->a, arena_format(w->a, "s%u", i), k->wide[i], k->start[i] * (scaled ? 4 : 1),
                out);
  if (scaled) {
    write_state(w->a, "more", false, 1, out);
    vec_push(w->a, out, "next more = 0.5 * more + 1");
  }
}

static void write_block(Chance *order, Lines *lines, Buf *b) {
  if (order) chance_shuffle(order, lines->at, lines->n);
  for (uint32_t i = 0; i < lines->n; i++) buf_printf(b, "  %s\n", lines->at[i]);
}

static void write_machine(const Writer *w, const Kind *k, Buf *b) {
  Lines lines = {0};
  Arena *a = w->a;
  write_header(k, "machine", arena_format(a, "M%u", (uint32_t)(k - w->r->kind)), b);
  write_states(w, k, &lines);
  if (k->nmode == 1) write_lines(w, k, 0, &lines);
  write_block(w->order, &lines, b);
  for (uint32_t mode = 0; k->nmode > 1 && mode < k->nmode; mode++) {
    Lines own = {0};
    write_lines(w, k, mode, &own);
    vec_push(a, &own,
             arena_format(a, "jump m%u when %ss0 > %g", 1 - mode, w->how->scaled ? "0.25 * " : "",
                          k->border[mode]));
    buf_printf(b, "  mode m%u {\n", mode);
    write_block(w->order, &own, b);
    buf_text(b, "  }\n");
  }
  buf_text(b, "}\n");
}

static void write_wires(const Writer *w, const Kind *k, uint32_t p, Lines *out) {
  Arena *a = w->a;
  const Part_ *part = &k->part[p];
  const Kind *of = &w->r->kind[part->kind];
  for (uint32_t i = 0; i < of->nin; i++) {
    const Given_ *g = &part->in[i];
    const char *to = arena_format(a, "p%u%s.x%u%s", p, part->array ? "[i]" : "", i,
                                  !of->in[i].wide ? ""
                                  : part->array   ? "[j]"
                                                  : "[i]");
    const char *when = g->guard ? arena_format(a, " when p%u.mode = m", g->guard - 1) : NULL;
    vec_push(a, out,
             arena_format(a, "%s -> %s%s%s", text_of(w, k, g->value), to, when ? when : "",
                          when ? "0" : ""));
    if (when) vec_push(a, out, arena_format(a, "%s -> %s%s1", text_of(w, k, g->other), to, when));
  }
}

static void write_wiring(const Writer *w, const Kind *k, Buf *b) {
  Lines lines = {0};
  Arena *a = w->a;
  uint32_t number = (uint32_t)(k - w->r->kind);
  write_header(k, "wiring", k == outermost(w->r) ? "Whole" : arena_format(a, "M%u", number), b);
  write_states(w, k, &lines);
  for (uint32_t p = 0; p < k->nparts; p++) {
    vec_push(a, &lines,
             arena_format(a, "p%u%s : M%u", p, k->part[p].array ? "[3]" : "", k->part[p].kind));
    write_wires(w, k, p, &lines);
  }
  write_lines(w, k, 0, &lines);
  write_block(w->order, &lines, b);
  buf_text(b, "}\n");
}

const char *random_nested(Arena *a, const Made *r, const Written *how) {
  Lines all = {0};
  Chance d = {how->order};
  Writer w = {a, r, how, how->order ? &d : NULL};
  for (uint32_t i = 0; i < r->nkinds; i++) {
    Buf b = buf_new(a);
    if (r->kind[i].level)
      write_wiring(&w, &r->kind[i], &b);
    else
      write_machine(&w, &r->kind[i], &b);
    vec_push(a, &all, b.at);
  }
  if (how->order) chance_shuffle(&d, all.at, all.n);
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < all.n; i++) buf_text(&b, all.at[i]);
  return b.at;
}

// -- instances ------------------------------------------------------------------------------------
typedef struct Inst Inst;
struct Inst {
  const Kind *k;
  Inst *around;
  uint32_t part, member;
  const char *name, *path; // p0_1_p2; p0.p2.
  uint32_t cell, cells;    // among the members of the arrays on the way here
  Inst *inner[PARTS][MEMBERS];
  double state[STATES][MEMBERS], next[STATES][MEMBERS];
  uint32_t mode, after;
  double shown[PORTS][MEMBERS];
  bool known[PORTS][MEMBERS];
};

static Inst *inst_new(Arena *a, const Made *r, const Kind *k, Inst *around, uint32_t part,
                      uint32_t member) {
  Inst *x = NEW(a, Inst);
  *x = (Inst){.k = k, .around = around, .part = part, .member = member, .cells = 1};
  x->name = x->path = "";
  if (around) {
    bool array = around->k->part[part].array;
    const char *own =
        array ? arena_format(a, "p%u_%u", part, member) : arena_format(a, "p%u", part);
    x->name = arena_format(a, "%s%s%s", around->name, *around->name ? "_" : "", own);
    x->path = arena_format(a, "%sp%u.", around->path, part);
    x->cells = around->cells * (array ? MEMBERS : 1);
    x->cell = around->cell * (array ? MEMBERS : 1) + member;
  }
  for (uint32_t i = 0; i < k->nstate; i++)
    for (uint32_t e = 0; e < MEMBERS; e++) x->state[i][e] = k->start[i];
  for (uint32_t p = 0; p < k->nparts; p++)
    for (uint32_t e = 0; e < (k->part[p].array ? MEMBERS : 1u); e++)
      x->inner[p][e] = inst_new(a, r, &r->kind[k->part[p].kind], x, p, e);
  return x;
}

static uint32_t place_at(int place, const uint32_t *index) {
  return place == AT_I ? index[0] : place == AT_J ? index[1] : (uint32_t)place;
}

// The part that an expression reads, and which of its port's numbers.
static Inst *read_inst(const Inst *x, const Expr *e, const uint32_t *index, uint32_t *element,
                       const Made *r) {
  const Part_ *p = &x->k->part[e->at];
  bool wide = r->kind[p->kind].out[e->port].wide;
  *element = wide ? place_at(e->place[1], index) : 0;
  return x->inner[e->at][p->array ? place_at(e->place[0], index) : 0];
}

// Where the value of an input comes from: an expression of the wiring around, and its indices.
static const Given_ *source_of(const Inst *x, uint32_t port, uint32_t element, uint32_t *index) {
  uint32_t n = 0;
  index[0] = index[1] = 0;
  if (x->around->k->part[x->part].array) index[n++] = x->member;
  if (x->k->in[port].wide) index[n++] = element;
  return &x->around->k->part[x->part].in[port];
}

// -- flat -----------------------------------------------------------------------------------------
static void flat_expr(const Made *r, const Inst *x, const Expr *e, const uint32_t *index, Buf *b);

static void flat_given(const Made *r, const Inst *x, uint32_t port, uint32_t element, Buf *b) {
  uint32_t index[2];
  const Given_ *g = source_of(x, port, element, index);
  if (!g->guard) {
    flat_expr(r, x->around, g->value, index, b);
    return;
  }
  buf_text(b, "(");
  flat_expr(r, x->around, g->value, index, b);
  buf_printf(b, " when %s.mode = m0 else ", x->around->inner[g->guard - 1][0]->name);
  flat_expr(r, x->around, g->other, index, b);
  buf_text(b, ")");
}

static void flat_expr(const Made *r, const Inst *x, const Expr *e, const uint32_t *index, Buf *b) {
  uint32_t element;
  const Inst *p;
  switch (e->op) {
  case X_NUMBER: buf_printf(b, "%g", e->number); break;
  case X_IN:
    if (x->around)
      flat_given(r, x, e->at, x->k->in[e->at].wide ? place_at(e->place[0], index) : 0, b);
    else
      buf_printf(b, "x%u", e->at);
    break;
  case X_STATE:
    buf_printf(b, "o%s_s%u_%u", x->name, e->at,
               x->k->wide[e->at] ? place_at(e->place[0], index) : 0);
    break;
  case X_PART:
    p = read_inst(x, e, index, &element, r);
    if (p->k->level)
      flat_expr(r, p, p->k->show[0][e->port], (uint32_t[2]){element, 0}, b);
    else if (p->k->out[e->port].wide)
      buf_printf(b, "%s.y%u[%u]", p->name, e->port, element);
    else
      buf_printf(b, "%s.y%u", p->name, e->port);
    break;
  case X_TANH:
    buf_text(b, "tanh(");
    flat_expr(r, x, e->a, index, b);
    buf_text(b, ")");
    break;
  default:
    buf_text(b, "(");
    flat_expr(r, x, e->a, index, b);
    buf_text(b, e->op == X_ADD ? " + " : e->op == X_SUB ? " - " : " * ");
    flat_expr(r, x, e->b, index, b);
    buf_text(b, ")");
  }
}

static void flat_leaf(Arena *a, const Made *r, const Inst *x, Buf *b) {
  buf_printf(b, "  %s : M%u\n", x->name, (uint32_t)(x->k - r->kind));
  for (uint32_t i = 0; i < x->k->nin; i++)
    for (uint32_t e = 0; e < (x->k->in[i].wide ? MEMBERS : 1u); e++) {
      Buf value = buf_new(a);
      flat_given(r, x, i, e, &value);
      const char *place = x->k->in[i].wide ? arena_format(a, "[%u]", e) : "";
      buf_printf(b, "  %s -> %s.x%u%s\n", value.at, x->name, i, place);
    }
}

static void flat_states(Arena *a, const Made *r, const Inst *x, Stepping how, Lines *out) {
  for (uint32_t i = 0; i < x->k->nstate; i++)
    for (uint32_t e = 0; e < (x->k->wide[i] ? MEMBERS : 1u); e++) {
      const char *name = arena_format(a, "o%s_s%u_%u", x->name, i, e);
      Buf value = buf_new(a);
      flat_expr(r, x, x->k->next[0][i], (uint32_t[2]){e, 0}, &value);
      write_state(a, name, false, x->k->start[i], out);
      write_next(a, name, false, how, value.at, out);
    }
}

static void flat_parts(Arena *a, const Made *r, const Inst *x, Stepping how, Buf *b) {
  Lines lines = {0};
  if (!x->k->level) {
    flat_leaf(a, r, x, b);
    return;
  }
  flat_states(a, r, x, how, &lines);
  write_block(NULL, &lines, b);
  for (uint32_t p = 0; p < x->k->nparts; p++)
    for (uint32_t e = 0; e < MEMBERS; e++)
      if (x->inner[p][e]) flat_parts(a, r, x->inner[p][e], how, b);
}

const char *random_flat(Arena *a, const Made *r, Stepping how) {
  Buf b = buf_new(a);
  Inst *whole = inst_new(a, r, outermost(r), NULL, 0, 0);
  Writer w = {a, r, &(Written){.step = how}, NULL};
  for (uint32_t i = 0; i < r->nkinds; i++)
    if (!r->kind[i].level) write_machine(&w, &r->kind[i], &b);
  write_header(whole->k, "wiring", "Flat", &b);
  flat_parts(a, r, whole, how, &b);
  for (uint32_t i = 0; i < whole->k->nout; i++) {
    buf_printf(&b, "  y%u = ", i);
    flat_expr(r, whole, whole->k->show[0][i], (uint32_t[2]){0, 0}, &b);
    buf_text(&b, "\n");
  }
  buf_text(&b, "}\n");
  return b.at;
}

// -- by the definition ----------------------------------------------------------------------------
typedef struct {
  const Made *r;
  double input[PORTS];
} Follower;

static double ask(const Follower *f, Inst *x, const Expr *e, const uint32_t *index);

static double ask_out(const Follower *f, Inst *x, uint32_t port, uint32_t element) {
  if (!x->known[port][element])
    x->shown[port][element] = ask(f, x, x->k->show[x->mode][port], (uint32_t[2]){element, 0});
  x->known[port][element] = true;
  return x->shown[port][element];
}

static double ask_in(const Follower *f, Inst *x, uint32_t port, uint32_t element) {
  if (!x->around) return f->input[port];
  uint32_t index[2];
  const Given_ *g = source_of(x, port, element, index);
  bool first = !g->guard || !x->around->inner[g->guard - 1][0]->mode;
  return ask(f, x->around, first ? g->value : g->other, index);
}

static double ask(const Follower *f, Inst *x, const Expr *e, const uint32_t *index) {
  uint32_t element, at = place_at(e->place[0], index);
  Inst *p;
  switch (e->op) {
  case X_NUMBER: return e->number;
  case X_IN: return ask_in(f, x, e->at, x->k->in[e->at].wide ? at : 0);
  case X_STATE: return x->state[e->at][x->k->wide[e->at] ? at : 0];
  case X_PART: p = read_inst(x, e, index, &element, f->r); return ask_out(f, p, e->port, element);
  case X_ADD: return ask(f, x, e->a, index) + ask(f, x, e->b, index);
  case X_SUB: return ask(f, x, e->a, index) - ask(f, x, e->b, index);
  case X_MUL: return ask(f, x, e->a, index) * ask(f, x, e->b, index);
  default: return tanh(ask(f, x, e->a, index));
  }
}

static void find_next(const Follower *f, Inst *x, Stepping how) {
  for (uint32_t i = 0; i < x->k->nstate; i++)
    for (uint32_t e = 0; e < (x->k->wide[i] ? MEMBERS : 1u); e++) {
      double value = ask(f, x, x->k->next[x->mode][i], (uint32_t[2]){e, 0});
      x->next[i][e] = how == BY_TICKS ? value : x->state[i][e] + random_step * value;
    }
  x->after = x->mode;
  if (x->k->nmode > 1 && x->state[0][0] > x->k->border[x->mode]) x->after = 1 - x->mode;
  for (uint32_t p = 0; p < x->k->nparts; p++)
    for (uint32_t e = 0; e < MEMBERS; e++)
      if (x->inner[p][e]) find_next(f, x->inner[p][e], how);
}

static void take_next(Inst *x) {
  memcpy(x->state, x->next, sizeof x->state);
  memset(x->known, 0, sizeof x->known);
  x->mode = x->after;
  for (uint32_t p = 0; p < x->k->nparts; p++)
    for (uint32_t e = 0; e < MEMBERS; e++)
      if (x->inner[p][e]) take_next(x->inner[p][e]);
}

// Each number's names, the first time; its value, each time.
static void note_states(Arena *a, const Inst *x, Traces *t, uint32_t *at, bool first) {
  for (uint32_t i = 0; i < x->k->nstate; i++)
    for (uint32_t e = 0, n = x->k->wide[i] ? MEMBERS : 1; e < n; e++, ++*at) {
      Traced trace = {.nested = arena_format(a, "%ss%u", x->path, i),
                      .cell = x->cell * n + e,
                      .cells = x->cells * n};
      trace.flat = x->k->level ? arena_format(a, "o%s_s%u_%u", x->name, i, e)
                               : arena_format(a, "%s.s%u", x->name, i);
      trace.flat_cell = x->k->level ? 0 : e;
      if (first) vec_push(a, t, trace);
      vec_push(a, &t->at[*at].value, x->state[i][e]);
    }
  for (uint32_t p = 0; p < x->k->nparts; p++)
    for (uint32_t e = 0; e < MEMBERS; e++)
      if (x->inner[p][e]) note_states(a, x->inner[p][e], t, at, first);
}

void random_trace(Arena *a, const Made *r, Stepping how, uint64_t seed, uint32_t ticks,
                  Traces *out) {
  Follower f = {.r = r};
  Chance d = {seed};
  for (uint32_t i = 0; i < random_inputs(r); i++) f.input[i] = start_input(&d);
  Inst *whole = inst_new(a, r, outermost(r), NULL, 0, 0);
  for (uint32_t tick = 0; tick < ticks; tick++) {
    uint32_t at = random_outputs(r);
    for (uint32_t i = 0; i < random_outputs(r); i++) {
      const char *name = arena_format(a, "y%u", i);
      if (!tick) vec_push(a, out, ((Traced){.nested = name, .flat = name, .cells = 1}));
      vec_push(a, &out->at[i].value, ask_out(&f, whole, i, 0));
    }
    note_states(a, whole, out, &at, !tick);
    find_next(&f, whole, how);
    take_next(whole);
  }
}
