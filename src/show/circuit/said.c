// Source positions of boxes and wires, from their origins.
//
// An origin is a span; enclosing origins are the calls that it was inlined from. The source of an
// opened box is elsewhere, so the opened call is recorded too.
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/ops.h"
#include "show/circuit/circuit.h"

#include "lang/value/value.h"

enum { AROUND = 64 }; // nesting depth of calls

const SaidAt *text_place(World *w, Arena *a, Id origin, const SaidAt *around) {
  Span at[AROUND];
  uint32_t n = 0;
  for (; origin && n < AROUND; origin = w->origin.at[origin].parent) {
    Span s = w->origin.at[origin].span;
    if (s.file && (!n || memcmp(&s, &at[n - 1], sizeof s) != 0)) at[n++] = s;
  }
  while (n-- > 0) {
    SaidAt *p = NEW(a, SaidAt);
    *p = (SaidAt){at[n], around};
    around = p;
  }
  return around;
}

// Optimiser weights and cotangents have names that occur in no text. In long texts a name is only
// searched near its position, to avoid scanning everything.
static bool is_in_file(World *w, const SaidAt *p, const char *name) {
  enum { AROUND_PLACE = 16 << 10 };
  if (!p) return false;
  const Source *file = &w->sources->file.at[p->at.file];
  size_t from = p->at.at > AROUND_PLACE ? p->at.at - AROUND_PLACE : 0, m = strlen(name);
  size_t n = file->n - from < 2 * AROUND_PLACE ? file->n - from : 2 * AROUND_PLACE;
  for (const char *at = file->text + from, *end = at + n;
       (at = memchr(at, *name, (size_t)(end - at))); at++)
    if ((size_t)(end - at) >= m && memcmp(at, name, m) == 0) return true;
  return false;
}

const GroupOf *group_at(Arena *a, Span at, const char *box) {
  if (!at.file) return NULL;
  GroupOf *of = NEW(a, GroupOf);
  SaidAt *p = NEW(a, SaidAt);
  *p = (SaidAt){.at = at};
  *of = (GroupOf){.place = p, .box = box};
  return of;
}

const GroupOf *place_group(Arena *a, const GroupOf *of) {
  GroupOf *plain = NEW(a, GroupOf);
  if (of) plain->place = of->place;
  return plain;
}

// Without an origin, a wire has that of its box, or of the whole.
static Id wire_origin(const Diagram *d, const Wire *x) {
  Id origin = x->origin ? x->origin : d->box.at[x->box].origin;
  return origin ? origin : d->origin;
}

const GroupOf *wire_group(World *w, Arena *a, const Diagram *d, Id wire, const SaidAt *around) {
  const Wire *x = &d->wire.at[wire];
  GroupOf *of = NEW(a, GroupOf);
  of->place = text_place(w, a, wire_origin(d, x), around);
  const char *name = name_text(w->names, x->name);
  if (*name && is_in_file(w, of->place, name)) of->wire = name;
  if (x->type.base) of->type = own_text(w, &x->type);
  return of;
}

// The last function of a loop.
static const char *loop_box(const Loop *l) {
  const Scalar *last = l->nscalar ? &l->scalar[l->nscalar - 1] : NULL;
  return last && last->fn > FN_SIZE ? fn_rows[last->fn].name : NULL;
}

static const char *box_name(World *w, const Box *box) {
  switch (box->op) {
  case OP_call: return name_text(w->names, box->callee->name);
  case OP_loop: return loop_box(box->loop);
  case OP_scan: return "scan";
  case OP_order: return "order";
  default: return NULL;
  }
}

const GroupOf *box_group(World *w, Arena *a, const Diagram *d, const Box *box, const SaidAt *around,
                         bool opens) {
  GroupOf *of = NEW(a, GroupOf);
  of->place = text_place(w, a, box->origin ? box->origin : d->origin, around);
  const char *name = box_name(w, box);
  if (opens && box->op == OP_call && box->callee->box.n > 1) of->open = name;
  of->box = name;
  return of;
}

// -- reads of wires -------------------------------------------------------------------------------
static const Syntax *tree_of(const Elab *in, uint32_t file) {
  for (uint32_t i = 0; i < in->scope.n; i++)
    if (in->scope.at[i]->file == file) return in->scope.at[i]->tree;
  return in->library && in->library->file == file ? in->library->tree : NULL;
}

static const Syntax *node_said(const Syntax *n, Span s) {
  for (bool down = n != NULL; down;) {
    Nodes parts = syntax_parts(n);
    down = false;
    for (uint32_t i = 0; i < parts.n && !down; i++) {
      const Syntax *k = parts.at[i];
      if (!k || !k->span.n || k->span.at > s.at || k->span.at + k->span.n < s.at + s.n) continue;
      n = k, down = true;
    }
  }
  return n && n->span.at == s.at && n->span.n == s.n ? n : NULL;
}

typedef struct {
  const Names *names;
  const char *name;
  uint32_t depth; // nesting depth of calls, and of those found
  VEC(Span) at;
} WireReads;

// A read in fewer nested calls is by the box itself.
static void find_reads(Arena *a, WireReads *r, const Syntax *n, uint32_t depth) {
  if (n->kind == N_NAME && strcmp(name_text(r->names, n->name), r->name) == 0 &&
      depth <= r->depth) {
    if (depth < r->depth) r->at.n = 0;
    r->depth = depth;
    vec_push(a, &r->at, n->span);
  }
  Nodes parts = syntax_parts(n);
  for (uint32_t i = n->kind == N_CALL; i < parts.n; i++)
    if (parts.at[i] && parts.at[i]->kind < N_BRACKETS && parts.at[i]->kind != N_PIPE)
      find_reads(a, r, parts.at[i], depth + (parts.at[i]->kind == N_CALL));
}

const GroupOf *use_group(Elab *in, Arena *a, const GroupOf *box, const GroupOf *wire, uint32_t k) {
  const SaidAt *at = box ? box->place : NULL;
  if (!at || !wire || !wire->place || !wire->wire || at->at.file != wire->place->at.file)
    return wire;
  const Syntax *n = node_said(tree_of(in, at->at.file), at->at);
  if (n && n->kind == N_EQUATION) n = equation_value(n);
  WireReads r = {in->w->names, wire->wire, UINT32_MAX, {0}};
  if (n) find_reads(a, &r, n, 0);
  if (k >= r.at.n) return wire;
  GroupOf *of = NEW(a, GroupOf);
  SaidAt *place = NEW(a, SaidAt);
  *of = *wire;
  *place = (SaidAt){{at->at.file, r.at.at[k].at, r.at.at[k].n}, at->around};
  of->place = place;
  return of;
}
