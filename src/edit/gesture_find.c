// Finds the node of the syntax tree for a position in a picture, and its context: whether a value
// or a box is expected there, and whether parentheses are needed.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "edit/gesture.h"

uint32_t span_end(const Syntax *n) { return n->span.at + n->span.n; }

// -- places ---------------------------------------------------------------------------------------
// "L:C-L:C" in UTF-16 units, as pictures write them, whatever units the question uses.
static bool read_numbers(const char *text, unsigned v[4]) {
  int n = 0;
  return sscanf(text, "%u:%u-%u:%u%n", &v[0], &v[1], &v[2], &v[3], &n) == 4 && !text[n];
}

bool is_place(const char *text) { return read_numbers(text, (unsigned[4]){0}); }

bool read_place(Gesture *g, const char *text, Span *out) {
  unsigned v[4];
  EditQuestion q = *g->q;
  q.utf8 = false;
  if (!read_numbers(text, v)) return false;
  uint32_t from = position_offset(&q, (EditPosition){v[0], v[1]}),
           to = position_offset(&q, (EditPosition){v[2], v[3]});
  *out = (Span){g->q->index->file, from, to - from};
  return from < to;
}

static bool contains_span(const Syntax *n, Span s) {
  return n->span.at <= s.at && n->span.at + n->span.n >= s.at + s.n;
}

static bool same_place(Span a, Span b) { return a.at == b.at && a.n == b.n; }

// Descends to the innermost node that contains the span. A span that is only a declaration's name
// gives the declaration.
static void descend(Found *f, Span s) {
  const Syntax *at = f->path[f->depth];
  bool down = true;
  while (down && f->depth + 1 < TREE_DEPTH) {
    Nodes parts = syntax_parts(at);
    down = false;
    for (uint32_t i = 0; i < parts.n && !down; i++)
      if (parts.at[i] && parts.at[i]->span.n && contains_span(parts.at[i], s))
        f->path[++f->depth] = at = parts.at[i], down = true;
  }
  f->node = at;
}

static bool is_whole_node(Found *f, Span s) {
  if (same_place(f->node->span, s)) return true;
  f->name = f->node->name && same_place(f->node->name_span, s);
  return f->name;
}

// "FILE:L:C-L:C", as in `data-in`: the path of another file. NULL: the position is in this text.
static const char *other_text(const Gesture *g, const char *place) {
  for (const char *at = place; (at = strchr(at, ':'));)
    if (is_place(++at)) return arena_text(g->arena, place, (size_t)(at - place) - 1);
  return NULL;
}

bool find_at(Gesture *g, const char *key, Found *out) {
  const char *text = gesture_wants(g, key), *other = text ? other_text(g, text) : NULL;
  Span s;
  if (!text) return false;
  if (other)
    return refuse_gesture(g,
                          "this is inside of a box that %s says, and is changed there: here its "
                          "box can go, or another come in its place",
                          other);
  if (!read_place(g, text, &s))
    return refuse_gesture(g, "`%s` is no place in this text: %s", key, text);
  g->where = s;
  *out = (Found){.path = {g->tree}};
  descend(out, s);
  if (is_whole_node(out, s)) return true;
  return refuse_gesture(g, "`%s` is only a part of `%s`, and cannot be changed by itself",
                        source_text(g, s), source_text(g, out->node->span));
}

// The value that a statement defines: e for y[i] = e, for e -> p.x and for return e.
static const Syntax *line_value(const Syntax *n) {
  switch (n->kind) {
  case N_EQUATION: return equation_value(n);
  case N_ROUTE: return route_value(n);
  case N_STEP: return step_value(n);
  case N_RETURN: return return_what(n);
  default: return NULL;
  }
}

bool find_wire(Gesture *g, const char *key, Found *out) {
  if (!find_at(g, key, out)) return false;
  for (const Syntax *value;
       !out->name && (value = line_value(out->node)) != NULL && out->depth + 1 < TREE_DEPTH;)
    out->path[++out->depth] = out->node = value;
  return true;
}

// -- uses of an input -----------------------------------------------------------------------------
const Syntax *found_whole(const Found *f, const Syntax **body) {
  for (uint32_t i = f->depth + 1; i-- > 0;) {
    const Syntax *n = f->path[i];
    if (n->kind == N_REFINE) return *body = refine_body(n), n;
    if (n->kind != N_BOX && n->kind != N_LEARNER && n->kind != N_MACHINE) continue;
    *body = declared_body(n);
    return n;
  }
  *body = NULL;
  return NULL;
}

static bool count_use(void *context, const Syntax *n) {
  InputUses *u = context;
  if (n->kind == N_NAME && n->name == u->name) u->uses++, u->last = n;
  if (n->kind == N_AT && at_base(n)->kind == N_NAME && at_base(n)->name == u->name) u->indexed++;
  return false;
}

InputUses input_uses(const Found *f) {
  InputUses u = {.name = f->node->name};
  found_whole(f, &u.body);
  syntax_any(u.body, count_use, &u);
  return u;
}

void find_use(const Gesture *g, Found *f) {
  if (f->node->kind != N_PARAM) return;
  InputUses u = input_uses(f);
  if (u.uses == 1) find_node(g, u.last, f);
}

void find_node(const Gesture *g, const Syntax *n, Found *f) {
  *f = (Found){.path = {g->tree}};
  descend(f, n->span);
}

const Syntax *found_parent(const Found *f, uint32_t up) {
  return up <= f->depth ? f->path[f->depth - up] : NULL;
}

const Syntax *found_around(const Found *f, SyntaxKind kind) {
  for (uint32_t i = f->depth; i-- > 0;)
    if (f->path[i]->kind == kind) return f->path[i];
  return NULL;
}

const Syntax *found_statement(const Found *f) {
  for (uint32_t i = f->depth; i-- > 0;)
    if (f->path[i]->kind == N_BLOCK || f->path[i]->kind == N_PROGRAM) return f->path[i + 1];
  return NULL;
}

// -- syntactic contexts ---------------------------------------------------------------------------
static bool declares_box(const Syntax *n) {
  const Syntax *result = n->kind == N_REFINE ? NULL : declared_result(n);
  const Syntax *params = n->kind == N_REFINE ? refine_params(n) : declared_params(n);
  return !params && (n->kind == N_REFINE || (result && result->kind == N_SIG));
}

const Syntax *body_of(const Syntax *n) {
  if (!n) return NULL;
  if (n->kind == N_REFINE) return refine_body(n);
  return n->kind == N_BOX || n->kind == N_LEARNER ? declared_body(n) : NULL;
}

bool is_box_place(const Found *f, uint32_t depth) {
  for (; depth; depth--) {
    const Syntax *n = f->path[depth], *around = f->path[depth - 1];
    switch (around->kind) {
    case N_PIPE:
    case N_FAN:
    case N_ITEMS: return true;
    case N_CALL: return call_callee(around) == n;
    case N_BOX:
    case N_LEARNER:
    case N_REFINE: return body_of(around) == n && declares_box(around);
    case N_PAREN:
    case N_TUPLE:
    case N_OVER: break;
    case N_POW:
      if (pow_base(around) != n) return false;
      break;
    case N_WHEN:
      if (when_cond(around) == n) return false;
      break;
    default: return false;
    }
  }
  return false;
}

bool is_primary(const Syntax *n) {
  switch (n->kind) {
  case N_NUM:
  case N_STR:
  case N_NAME:
  case N_NEXT:
  case N_LIST:
  case N_PAREN:
  case N_TUPLE:
  case N_CALL:
  case N_AT:
  case N_DOT: return true;
  default: return false;
  }
}

// True where only commas, brackets or the ends of a statement surround it.
bool is_alone(const Found *f, uint32_t depth) {
  const Syntax *n = f->path[depth], *around = depth ? f->path[depth - 1] : NULL;
  switch (around ? around->kind : N_KINDS) {
  case N_CALL: return call_callee(around) != n;
  case N_PAREN:
  case N_TUPLE:
  case N_LIST:
  case N_ARG:
  case N_EQUATION:
  case N_RETURN:
  case N_BOX:
  case N_LEARNER:
  case N_REFINE:
  case N_TYPED:
  case N_EQUAL:
  case N_MAXIMISE:
  case N_MINIMISE:
  case N_STEP:
  case N_ROUTE:
  case N_SHOW:
  case N_MEASURE: return true;
  default: return false;
  }
}

const Syntax *plain_lhs(const Syntax *equation) {
  if (equation->kind != N_EQUATION || equation_cond(equation) || equation_pad(equation))
    return NULL;
  const Syntax *only = nodes_only(lhss_in(equation_lhss(equation)));
  return only && !lhs_brackets(only) && !lhs_is_rate(only) ? only : NULL;
}

const Syntax *lhs_meant(Gesture *g, const Syntax *equation) {
  return name_meant(g, lhss_in(equation_lhss(equation)));
}

const Syntax *name_meant(Gesture *g, Nodes all) {
  const char *wire = gesture_text(g, "wire");
  for (uint32_t i = 0; wire && all.n > 1 && i < all.n; i++)
    if (strcmp(name_of_node(g, all.at[i]), wire) == 0) return all.at[i];
  return nodes_only(all);
}

// -- parsing a box --------------------------------------------------------------------------------
static bool is_box(SyntaxKind kind) {
  return kind == N_NAME || kind == N_AT || kind == N_DOT || kind == N_PIPE || kind == N_FAN ||
         kind == N_PAREN || kind == N_POW || kind == N_OVER || kind == N_TUPLE;
}

bool read_box(Gesture *g, const char *text, SyntaxKind *kind) {
  Sources *sources = sources_new(g->arena);
  Front front = {g->arena, names_new(g->arena), diags_new(g->arena, sources), sources};
  const char *program = arena_format(g->arena, "box b : R[] -> R[] = %s\n", text);
  const Syntax *tree = parse(&front, source_add(sources, "", program, strlen(program)));
  Nodes all = program_declarations(tree);
  bool one = !front.diags->errors && all.n == 1 && all.at[0]->kind == N_BOX;
  const Syntax *body = one ? box_body(all.at[0]) : NULL;
  if (!body || !is_box((SyntaxKind)body->kind) || box_reverse(all.at[0]) || box_better(all.at[0]))
    return refuse_gesture(g, "`%s` is no box: wanted a name, with options as in `dense[8]`", text);
  *kind = (SyntaxKind)body->kind;
  return true;
}
