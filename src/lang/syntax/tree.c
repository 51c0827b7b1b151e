// Syntax trees: printing for tests, equality, synthesised nodes, accessors shared by several kinds.
//
// Printed, a node is (kind name text op kid …), with what it has: `x[i] + 1` is
// (sum "+" (at (name x) (brackets (items (name i)))) (num 1)). An absent kid is _.
#include "base/names.h"
#include "lang/syntax/syntax.h"

#include <assert.h>

static const char *const kind_names[] = {
#define NODE(KIND, Kind, kind) #kind,
#define LEAF(KIND, kind) #kind,
#include "lang/syntax/nodes.def"
};

const char *node_kind_name(SyntaxKind kind) { return kind < N_KINDS ? kind_names[kind] : "?"; }

void tree_print(const Names *names, const Syntax *node, Buf *out) {
  if (!node) {
    buf_char(out, '_');
    return;
  }
  buf_printf(out, "(%s", node_kind_name((SyntaxKind)node->kind));
  if (node->name) buf_printf(out, " %s", name_text(names, node->name));
  if (node->text && node->kind == N_NUM)
    buf_printf(out, " %s", node->text);
  else if (node->text) {
    buf_char(out, ' ');
    buf_json(out, node->text, strlen(node->text));
  }
  if (node->signs) buf_printf(out, " \"%s\"", node->signs);
  for (uint32_t i = 0; i < node->nkid; i++) {
    buf_char(out, ' ');
    tree_print(names, node->kid[i], out);
  }
  buf_char(out, ')');
}

static bool text_equal(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

bool tree_equal(const Syntax *a, const Syntax *b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->nkid != b->nkid || a->name != b->name) return false;
  if (!text_equal(a->text, b->text) || !text_equal(a->signs, b->signs)) return false;
  for (uint32_t i = 0; i < a->nkid; i++)
    if (!tree_equal(a->kid[i], b->kid[i])) return false;
  return true;
}

// -- synthesised nodes ----------------------------------------------------------------------------
Syntax *syntax_new(Arena *a, SyntaxKind kind, Span span, Nodes parts, Nodes rest) {
  Syntax *n = NEW(a, Syntax);
  *n = (Syntax){.kind = (uint8_t)kind, .span = span, .nkid = parts.n + rest.n};
  n->kid = NEW_ARRAY(a, Syntax *, n->nkid + 1);
  for (uint32_t i = 0; i < parts.n; i++) n->kid[i] = parts.at[i];
  for (uint32_t i = 0; i < rest.n; i++) n->kid[parts.n + i] = rest.at[i];
  return n;
}

Syntax *syntax_name(Arena *a, Name name, Span span) {
  Syntax *n = NEW(a, Syntax);
  *n = (Syntax){.kind = N_NAME, .span = span, .name = name, .name_span = span};
  return n;
}

Syntax *syntax_num(Arena *a, double num, Span span) {
  Syntax *n = NEW(a, Syntax);
  *n = (Syntax){.kind = N_NUM, .span = span, .num = num};
  return n;
}

Syntax *syntax_number(Arena *a, double k, Span span) {
  Syntax *n = syntax_num(a, k, span);
  n->text = arena_format(a, "%.17g", k);
  return n;
}

Syntax *syntax_signed(Arena *a, Syntax *n, SyntaxSign sign) {
  char text = (char)sign;
  n->signs = arena_text(a, &text, 1);
  return n;
}

Syntax *syntax_named(Syntax *n, Name name, Span span) {
  n->name = name;
  n->name_span = span;
  return n;
}

Syntax *syntax_copy(Arena *a, const Syntax *n) {
  Syntax *copy = arena_copy(a, n, sizeof *n);
  copy->kid = n->nkid ? arena_copy(a, n->kid, n->nkid * sizeof(Syntax *)) : NULL;
  return copy;
}

void syntax_become_name(Syntax *n, Name name) {
  n->kind = N_NAME;
  n->name = name;
  n->name_span = n->span;
  n->nkid = 0;
}

Nodes nodes_join(Arena *a, Nodes first, Nodes second) {
  Nodes all = {first.n + second.n, NEW_ARRAY(a, Syntax *, first.n + second.n + 1)};
  for (uint32_t i = 0; i < first.n; i++) all.at[i] = first.at[i];
  for (uint32_t i = 0; i < second.n; i++) all.at[first.n + i] = second.at[i];
  return all;
}

Syntax *brackets_of(Arena *a, Span span, Nodes items) {
  Syntax *slot = node_items(a, span, (ItemsParts){.in = items});
  return node_brackets(a, span, (BracketsParts){.slots = NODES(slot)});
}

Nodes lines_of_block(const Syntax *n) {
  return n && n->kind == N_BLOCK ? block_statements(n) : (Nodes){0, NULL};
}

Nodes brackets_items(const Syntax *n) {
  const Syntax *slot = n ? nodes_only(brackets_slots(n)) : NULL;
  return slot && slot->kind == N_ITEMS ? items_in(slot) : (Nodes){0, NULL};
}

Syntax *brackets_first(const Syntax *n) {
  return n && brackets_slots(n).n ? brackets_slots(n).at[0] : NULL;
}

Syntax *slot_item(const Syntax *n) {
  return n->kind == N_ITEMS && items_in(n).n == 1 ? items_in(n).at[0] : (Syntax *)n;
}

// -- for every kind -------------------------------------------------------------------------------
Nodes syntax_parts(const Syntax *n) { return (Nodes){n->nkid, n->kid}; }

void syntax_put(Syntax *n, uint32_t i, Syntax *part) { n->kid[i] = part; }

const char *syntax_signs(const Syntax *n) { return n->signs ? n->signs : ""; }

bool syntax_any(const Syntax *n, SyntaxTest *test, void *context) {
  if (!n) return false;
  if (test(context, n)) return true;
  for (uint32_t i = 0; i < n->nkid; i++)
    if (syntax_any(n->kid[i], test, context)) return true;
  return false;
}

Syntax *syntax_map(Arena *a, const Syntax *n, SyntaxMap *map, void *context) {
  Syntax *copy = (Syntax *)n;
  for (uint32_t i = 0; i < n->nkid; i++) {
    Syntax *part = n->kid[i] ? map(context, n->kid[i]) : NULL;
    if (part == n->kid[i]) continue;
    if (copy == n) copy = syntax_copy(a, n);
    copy->kid[i] = part;
  }
  return copy;
}

// -- accessors for several kinds ------------------------------------------------------------------
static bool is_chain(const Syntax *n) {
  switch (n->kind) {
  case N_PIPE:
  case N_FAN:
  case N_SUM:
  case N_PROD:
  case N_RUN:
  case N_AND:
  case N_OR:
  case N_TUPLE: return true;
  default: return false;
  }
}

Nodes chain_terms(const Syntax *n) {
  assert(is_chain(n));
  return syntax_parts(n);
}

SyntaxSign chain_sign(const Syntax *n, uint32_t i) {
  return n->kind == N_SUM ? sum_sign(n, i) : prod_sign(n, i);
}

// For kinds whose wanted part is the first kid.
static Syntax *first_part(const Syntax *n) { return n->kid[0]; }

Syntax *inner_of(const Syntax *n) {
  assert(n->kind == N_PAREN || n->kind == N_NEG || n->kind == N_NOT);
  return first_part(n);
}

Syntax *first_box(const Syntax *n) {
  assert(n->kind == N_PAREN || n->kind == N_POW || n->kind == N_OVER || n->kind == N_WHEN ||
         is_chain(n));
  return first_part(n);
}

Syntax *claim_left(const Syntax *claim) {
  bool stated = claim->kind == N_EQUAL || claim->kind == N_MAXIMISE || claim->kind == N_MINIMISE;
  return stated ? first_part(claim) : (Syntax *)claim;
}

Syntax *clause(const Syntax *n, SyntaxKind kind) {
  assert(n->kind == N_GOAL || n->kind == N_MEASURE || n->kind == N_SHOW || n->kind == N_SIMULATE);
  for (uint32_t i = 1; i < n->nkid; i++) // kid 0 is the claim
    if (n->kid[i]->kind == kind) return n->kid[i];
  return NULL;
}

Syntax *clause_value(const Syntax *n) {
  assert(n->kind == N_BY || n->kind == N_TIMES || n->kind == N_EVERY || n->kind == N_LASTS ||
         n->kind == N_TO || n->kind == N_ON);
  return first_part(n);
}

// A learner has these parts one index later than boxes and machines.
static Syntax **declared_part(const Syntax *n, uint32_t of_box) {
  assert(n->kind == N_LEARNER || n->kind == N_MACHINE || n->kind == N_BOX);
  return &n->kid[of_box + (n->kind == N_LEARNER)];
}
_Static_assert((int)syntax_machine_params == (int)syntax_box_params &&
                   (int)syntax_learner_params == (int)syntax_box_params + 1,
               "see declared_part");

Syntax *declared_params(const Syntax *n) { return *declared_part(n, syntax_box_params); }
Syntax *declared_result(const Syntax *n) { return *declared_part(n, syntax_box_result); }
Syntax *declared_body(const Syntax *n) { return *declared_part(n, syntax_box_body); }
void declared_set_result(Syntax *n, Syntax *to) { *declared_part(n, syntax_box_result) = to; }
void declared_set_body(Syntax *n, Syntax *to) { *declared_part(n, syntax_box_body) = to; }

Syntax *path_base(const Syntax *n) {
  assert(n->kind == N_DOT || n->kind == N_AT);
  return first_part(n);
}

Syntax *path_root(const Syntax *n) {
  while (n->kind == N_DOT || n->kind == N_AT) n = path_base(n);
  return (Syntax *)n;
}

Syntax *use_base(const Syntax *n) { return n->kind == N_AT ? at_base(n) : (Syntax *)n; }

Syntax *use_brackets(const Syntax *n) { return n->kind == N_AT ? at_brackets(n) : NULL; }

Syntax *use_callee(const Syntax *n) { return n->kind == N_CALL ? call_callee(n) : (Syntax *)n; }

Syntax *arg_given(const Syntax *n) { return n->kind == N_ARG ? arg_value(n) : (Syntax *)n; }
