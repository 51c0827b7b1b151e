// The tree of a random program, and how it is printed: with other names, in another order, with
// named subexpressions. This file does not depend on the meaning of constructs, only on the names
// that they use.
#include "whole_program.h"

#include <stdlib.h>

// -- names ----------------------------------------------------------------------------------------
// Names for the renaming are, on purpose, those that the library uses inside its boxes: there they
// must not be seen. Names of the first text do not end in `_`.
static const char *const inner[] = {
    "x", "s", "m", "e", "d", "g", "b",  "n", "a",  "k",  "o",  "h", "p",  "q", "t",
    "i", "j", "c", "v", "u", "y", "w",  "r", "z",  "Y",  "X",  "W", "S",  "K", "Q",
    "V", "M", "H", "A", "E", "P", "mb", "D", "va", "mu", "in", "f", "T2", "G", "o_0"};

static bool is_taken(const Whole *p, const char *text, uint32_t scope) {
  for (uint32_t i = 1; i < p->name.n; i++) {
    const WholeName *n = &p->name.at[i];
    if ((!scope || !n->scope || n->scope == scope) && n->other && !strcmp(n->other, text))
      return true;
  }
  return false;
}

Id whole_name_add(Whole *p, WholeNameKind kind, uint32_t scope, const char *text) {
  if (!p->name.n) vec_push(p->arena, &p->name, (WholeName){.text = ""});
  Id id = p->name.n;
  WholeName n = {.text = text, .kind = kind, .scope = scope};
  if (kind == NAME_FIELD) n.other = text;
  bool letters = (kind == NAME_WIRE && scope) || kind == NAME_INDEX || kind == NAME_AXIS;
  for (uint32_t i = 0; letters && !n.other && i < COUNT(inner); i++) {
    const char *t = inner[(i + id * 7) % COUNT(inner)];
    if (strcmp(t, "in") && !is_taken(p, t, scope)) n.other = t;
  }
  if (!n.other) n.other = arena_format(p->arena, "%s_", text);
  vec_push(p->arena, &p->name, n);
  return id;
}

const char *whole_name(const Whole *p, Id id, bool renamed) {
  return renamed ? p->name.at[id].other : p->name.at[id].text;
}

static const char *component(Arena *a, const Whole *p, const char *text, size_t n) {
  size_t stem = strcspn(text, "./");
  if (stem > n) stem = n;
  for (uint32_t i = 1; i < p->name.n; i++) {
    const WholeName *w = &p->name.at[i];
    bool weight = w->kind == NAME_WEIGHT || w->kind == NAME_LEARNER || w->kind == NAME_BOX;
    if (weight && strlen(w->text) == stem && !strncmp(w->text, text, stem))
      return arena_format(a, "%s%.*s", w->other, (int)(n - stem), text + stem);
  }
  return arena_text(a, text, n);
}

const char *whole_weight(Arena *a, const Whole *p, const char *path) {
  Buf b = buf_new(a);
  for (const char *at = path; *at;) {
    size_t n = strcspn(at, "/");
    buf_text(&b, component(a, p, at, n));
    at += n;
    if (*at) buf_char(&b, *at++);
  }
  return b.at;
}

const WholeDecl *whole_decl(const Whole *p, Id name) {
  for (uint32_t i = 0; i < p->decl.n; i++)
    if (p->decl.at[i]->name == name) return p->decl.at[i];
  return NULL;
}

// -- nodes ----------------------------------------------------------------------------------------
static void put_axis(Buf *b, const Whole *p, const WholeAxis *a, bool renamed) {
  if (a->variable)
    buf_text(b, whole_name(p, a->variable, renamed));
  else if (a->axis)
    buf_text(b, whole_name(p, a->axis, renamed));
  else if (a->label)
    buf_printf(b, "%s:%u", whole_name(p, a->label, renamed), a->n);
  else
    buf_printf(b, "%u", a->n);
}

void whole_type(Buf *b, const Whole *p, const WholeType *t, bool renamed) {
  if (t->labels) {
    WholeAxis range = t->range;
    range.label = 0;
    buf_char(b, '{');
    put_axis(b, p, &range, renamed);
    buf_char(b, '}');
    if (!t->rank) return;
  }
  buf_text(b, t->labels ? "[" : "R[");
  for (uint32_t i = 0; i < t->rank; i++) {
    if (i) buf_char(b, ' ');
    put_axis(b, p, &t->axis[i], renamed);
  }
  buf_char(b, ']');
}

// The names in a type, as pieces: a renaming must reach them.
static void add_axis(Whole *p, WholeNode *n, const WholeAxis *a) {
  Id name = a->variable ? a->variable : a->axis ? a->axis : a->label;
  if (name) vec_push(p->arena, &n->piece, (WholePiece){.name = name});
  if (a->variable || a->axis) return;
  const char *size = arena_format(p->arena, name ? ":%u" : "%u", a->n);
  vec_push(p->arena, &n->piece, (WholePiece){.text = size});
}

static void add_type(Whole *p, WholeNode *n, const WholeType *t) {
  WholeAxis range = t->range;
  range.label = 0;
  if (t->labels) {
    vec_push(p->arena, &n->piece, (WholePiece){.text = "{"});
    add_axis(p, n, &range);
    vec_push(p->arena, &n->piece, (WholePiece){.text = "}"});
    if (!t->rank) return;
  }
  vec_push(p->arena, &n->piece, (WholePiece){.text = t->labels ? "[" : "R["});
  for (uint32_t i = 0; i < t->rank; i++) {
    if (i) vec_push(p->arena, &n->piece, (WholePiece){.text = " "});
    add_axis(p, n, &t->axis[i]);
  }
  vec_push(p->arena, &n->piece, (WholePiece){.text = "]"});
}

// A call or a name: no space outside brackets, and nothing behind the last one. `f(x) + g(y)` also
// begins with letters and ends with a bracket, and is a sum.
static bool is_atom(const char *format) {
  int depth = 0;
  if (!strchr(format, ' ')) return true;
  for (const char *at = format; *at; at++) {
    if (*at == ' ' && !depth) return false;
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
  }
  return format[strlen(format) - 1] == ')';
}

WholeNode *whole_node(Whole *p, const WholeType *type, const char *format, ...) {
  WholeNode *n = NEW(p->arena, WholeNode);
  va_list list;
  va_start(list, format);
  for (const char *at = format; *at;) {
    size_t k = strcspn(at, "%");
    if (k) vec_push(p->arena, &n->piece, (WholePiece){.text = arena_text(p->arena, at, k)});
    if (!at[k]) break;
    char what = at[k + 1];
    WholePiece piece = {0};
    if (what == 'n') piece.name = va_arg(list, Id);
    if (what == 'e' || what == 'E') piece.node = va_arg(list, WholeNode *);
    if (what == 's') piece.text = va_arg(list, const char *);
    if (what == 'd') piece.text = arena_format(p->arena, "%d", va_arg(list, int));
    piece.bare = what == 'E';
    if (what == 't')
      add_type(p, n, va_arg(list, const WholeType *));
    else
      vec_push(p->arena, &n->piece, piece);
    at += k + 2;
  }
  va_end(list);
  if (type) n->type = *type, n->value = true;
  n->atom = is_atom(format);
  return n;
}

uint32_t whole_uses(const WholeNode *n, Id name) {
  uint32_t uses = 0;
  for (uint32_t i = 0; i < n->piece.n; i++) {
    uses += n->piece.at[i].name == name;
    if (n->piece.at[i].node) uses += whole_uses(n->piece.at[i].node, name);
  }
  return uses;
}

// -- copies ---------------------------------------------------------------------------------------
static WholeNode *node_copy(Arena *a, const WholeNode *n) {
  if (!n) return NULL;
  WholeNode *c = arena_copy(a, n, sizeof *n);
  c->piece.at = arena_copy(a, n->piece.at, n->piece.n * sizeof *n->piece.at);
  c->piece.cap = n->piece.n;
  for (uint32_t i = 0; i < c->piece.n; i++) c->piece.at[i].node = node_copy(a, n->piece.at[i].node);
  return c;
}

#define COPY_VEC(a, v)                                                                             \
  ((v).at = arena_copy(a, (v).at, (v).n * sizeof *(v).at), (v).cap = (v).n, (void)0)

static WholeDecl *decl_copy(Arena *a, const WholeDecl *d) {
  WholeDecl *c = arena_copy(a, d, sizeof *d);
  COPY_VEC(a, c->option);
  COPY_VEC(a, c->in);
  COPY_VEC(a, c->out);
  COPY_VEC(a, c->line);
  for (uint32_t i = 0; i < c->line.n; i++) c->line.at[i].line = node_copy(a, c->line.at[i].line);
  c->text = node_copy(a, d->text);
  return c;
}

Whole *whole_copy(Arena *a, const Whole *p) {
  Whole *c = arena_copy(a, p, sizeof *p);
  c->arena = a;
  COPY_VEC(a, c->name);
  COPY_VEC(a, c->decl);
  COPY_VEC(a, c->file);
  COPY_VEC(a, c->goal);
  for (uint32_t i = 0; i < c->decl.n; i++) c->decl.at[i] = decl_copy(a, p->decl.at[i]);
  return c;
}

// -- naming ---------------------------------------------------------------------------------------
typedef struct {
  Whole *p;
  uint64_t state;
} Chance;

static uint32_t chance(Chance *c, uint32_t n) {
  c->state = c->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((c->state >> 33) % n);
}

// A value inside a line, chosen by chance, and where it stands.
static WholePiece *part_of(Chance *c, WholeNode *n, uint32_t *seen) {
  WholePiece *found = NULL;
  for (uint32_t i = 0; i < n->piece.n; i++) {
    WholePiece *at = &n->piece.at[i];
    if (!at->node) continue;
    if (at->node->value && (at->node->piece.n > 1 || at->node->piece.at[0].text) &&
        chance(c, ++*seen) == 0)
      found = at;
    WholePiece *deeper = part_of(c, at->node, seen);
    if (deeper) found = deeper;
  }
  return found;
}

static void name_a_part(Chance *c, WholeDecl *d) {
  uint32_t k = chance(c, d->line.n), seen = 0;
  if (d->line.at[k].weighted) return;
  WholeNode *line = d->line.at[k].line;
  WholePiece *part = part_of(c, line, &seen);
  if (!part) return;
  Arena *a = c->p->arena;
  Id name = whole_name_add(c->p, NAME_WIRE, d->scope, arena_format(a, "part%u", c->p->name.n));
  WholeLine made = {.line = whole_node(c->p, NULL, "%n = %E", name, part->node), .let = true};
  vec_push(a, &made.makes, name);
  part->node = whole_node(c->p, &part->node->type, "%n", name);
  vec_push(a, &d->line, made);
  for (uint32_t i = d->line.n - 1; i > k; i--) d->line.at[i] = d->line.at[i - 1];
  d->line.at[k] = made;
}

static WholePiece *ref_to(WholeNode *n, Id name) {
  for (uint32_t i = 0; i < n->piece.n; i++) {
    WholeNode *in = n->piece.at[i].node;
    if (!in) continue;
    if (in->value && in->piece.n == 1 && in->piece.at[0].name == name) return &n->piece.at[i];
    WholePiece *deeper = ref_to(in, name);
    if (deeper) return deeper;
  }
  return NULL;
}

static void unname_a_wire(Chance *c, WholeDecl *d) {
  uint32_t k = chance(c, d->line.n), uses = 0;
  WholeLine *l = &d->line.at[k];
  if (!l->let || l->weighted || l->makes.n != 1) return;
  WholePiece *at = NULL;
  for (uint32_t i = 0; i < d->line.n; i++) {
    if (i == k) continue;
    uses += whole_uses(d->line.at[i].line, l->makes.at[0]);
    if (!at) at = ref_to(d->line.at[i].line, l->makes.at[0]);
  }
  if (!at || uses != 1) return;
  at->node = l->line->piece.at[2].node;
  for (uint32_t i = k; i + 1 < d->line.n; i++) d->line.at[i] = d->line.at[i + 1];
  d->line.n--;
}

static void change_naming(Whole *p, uint64_t seed) {
  Chance c = {p, seed};
  for (uint32_t turn = 0; turn < 4 * p->decl.n; turn++) {
    WholeDecl *d = p->decl.at[chance(&c, p->decl.n)];
    if (!d->line.n) continue;
    if (chance(&c, 2))
      name_a_part(&c, d);
    else
      unname_a_wire(&c, d);
  }
}

// -- order ----------------------------------------------------------------------------------------
static bool touches(const WholeLine *a, const WholeLine *b) {
  for (uint32_t i = 0; i < a->makes.n; i++)
    if (whole_uses(b->line, a->makes.at[i])) return true;
  return false;
}

static bool commute(const WholeLine *a, const WholeLine *b) {
  return !a->last && !b->last && !(a->weighted && b->weighted) && !touches(a, b) && !touches(b, a);
}

static void change_order(Whole *p, uint64_t seed) {
  Chance c = {p, seed};
  for (uint32_t i = 0; i < p->decl.n; i++) {
    WholeDecl *d = p->decl.at[i];
    for (uint32_t turn = 0; d->line.n > 1 && turn < 20; turn++) {
      uint32_t k = chance(&c, d->line.n - 1);
      if (!commute(&d->line.at[k], &d->line.at[k + 1])) continue;
      WholeLine l = d->line.at[k];
      d->line.at[k] = d->line.at[k + 1], d->line.at[k + 1] = l;
    }
  }
  for (uint32_t i = p->decl.n; i > 1; i--) {
    uint32_t k = chance(&c, i);
    if (p->decl.at[i - 1]->kind == DECL_LAST || p->decl.at[k]->kind == DECL_LAST) continue;
    WholeDecl *d = p->decl.at[i - 1];
    p->decl.at[i - 1] = p->decl.at[k], p->decl.at[k] = d;
  }
}

// -- text -----------------------------------------------------------------------------------------
static void put_node(Buf *b, const Whole *p, const WholeNode *n, bool renamed) {
  for (uint32_t i = 0; i < n->piece.n; i++) {
    const WholePiece *at = &n->piece.at[i];
    if (at->text) buf_text(b, at->text);
    if (at->name) buf_text(b, whole_name(p, at->name, renamed));
    if (!at->node) continue;
    bool closed = !at->bare && !at->node->atom;
    if (closed) buf_char(b, '(');
    put_node(b, p, at->node, renamed);
    if (closed) buf_char(b, ')');
  }
}

static void put_head(Buf *b, const Whole *p, const WholeDecl *d, bool renamed) {
  buf_printf(b, "%s %s", d->kind == DECL_LEARNER ? "learn" : "box",
             whole_name(p, d->name, renamed));
  for (uint32_t i = 0; i < d->option.n; i++) {
    const WholeOption *o = &d->option.at[i];
    buf_printf(b, "%s%s", i ? ", " : "[", whole_name(p, o->name, renamed));
    if (o->start) buf_printf(b, ": %s", o->start);
  }
  buf_text(b, d->option.n ? "](" : "(");
  for (uint32_t i = 0; i < d->in.n; i++) {
    buf_printf(b, "%s%s: ", i ? ", " : "", whole_name(p, d->in.at[i].name, renamed));
    whole_type(b, p, &d->in.at[i].type, renamed);
  }
  buf_text(b, ") -> ");
  for (uint32_t i = 0; i < d->out.n; i++) {
    if (i) buf_text(b, ", ");
    whole_type(b, p, &d->out.at[i], renamed);
  }
}

static void put_decl(Buf *b, const Whole *p, const WholeDecl *d, bool renamed) {
  if (d->elsewhere) return;
  if (d->text) {
    put_node(b, p, d->text, renamed);
    buf_char(b, '\n');
    return;
  }
  put_head(b, p, d, renamed);
  buf_text(b, " {\n");
  for (uint32_t i = 0; i < d->line.n; i++) {
    buf_text(b, "  ");
    put_node(b, p, d->line.at[i].line, renamed);
    buf_char(b, '\n');
  }
  buf_text(b, "}\n");
}

const char *whole_text(Arena *a, const Whole *given, const Printed *how) {
  Buf b = buf_new(a);
  Whole *p = whole_copy(a, given);
  if (how->naming) change_naming(p, how->naming);
  if (how->order) change_order(p, how->order);
  for (uint32_t i = 0; i < p->decl.n; i++) put_decl(&b, p, p->decl.at[i], how->renamed);
  if (how->more) buf_text(&b, how->more);
  return b.at;
}
