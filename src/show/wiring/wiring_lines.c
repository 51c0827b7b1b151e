// The text of a machine: title with options, lines, initial values and updates of states.
#include "base/names.h"
#include "show/circuit/circuit.h"
#include "show/wiring/wiring_own.h"

const char *short_numbers(Arena *a, const char *text) {
  enum { MANY = 6 };
  Buf b = buf_new(a);
  while (*text) {
    size_t other = strcspn(text, "0123456789"), digits = strspn(text + other, "0123456789"), n = 0;
    buf_add(&b, text, other);
    text += other;
    while (n + 1 < digits && text[digits - 1 - n] == '0') n++;
    buf_add(&b, text, n >= MANY ? digits - n : digits);
    if (n >= MANY) buf_printf(&b, "e%zu", n);
    text += digits;
  }
  return b.at ? b.at : "";
}

const char *system_title(World *w, Arena *a, const System *s) {
  Diagram like = {.name = s->name};
  if (s->d) like.option = s->d->option;
  return short_numbers(a, box_title(w, a, &like));
}

static const Syntax *body_of(const System *s) {
  bool known = s->def && s->def->node && s->def->node->kind == N_MACHINE;
  return known ? machine_body(s->def->node) : NULL;
}

static Nodes statements_of(const Syntax *body) {
  return body && body->kind == N_BLOCK ? block_statements(body) : (Nodes){0, NULL};
}

Nodes system_statements(const System *s) { return statements_of(body_of(s)); }

// -- lines ----------------------------------------------------------------------------------------
static void add_lines(World *w, Arena *a, const System *s, Nodes all, TextLines *out, int depth) {
  for (uint32_t i = 0; i < all.n; i++) {
    const Syntax *n = all.at[i];
    bool mode = n->kind == N_MODE;
    const char *text = mode ? name_text(w->names, n->name) : node_text(w, a, s, n);
    vec_push(a, out,
             arena_format(a, "%*s%s%s", 3 * depth, "", text,
                          !mode           ? ""
                          : mode_stops(n) ? ": stop"
                                          : ":"));
    if (mode) add_lines(w, a, s, statements_of(mode_block(n)), out, depth + 1);
  }
}

void system_lines(World *w, Arena *a, const System *s, TextLines *out) {
  const Syntax *body = body_of(s);
  if (!body) return;
  if (body->kind == N_BLOCK)
    add_lines(w, a, s, statements_of(body), out, 0);
  else
    vec_push(a, out, arena_format(a, "= %s", node_text(w, a, s, body)));
}

// -- states of a wiring ---------------------------------------------------------------------------
static void put_start(World *w, Arena *a, const System *s, const Syntax *states, Name name,
                      Buf *b) {
  for (uint32_t i = 0; i < states_in(states).n; i++) {
    const Syntax *n = states_in(states).at[i];
    if (n->name == name && typed_value(n))
      buf_printf(b, "= %s", node_text(w, a, s, typed_value(n)));
  }
}

static const char *unroll_text(World *w, Arena *a, const System *s, const Syntax *n) {
  const Syntax *ticks = stepby_unroll(n);
  return ticks ? arena_format(a, " unroll %s", node_text(w, a, s, ticks)) : "";
}

static void put_step(World *w, Arena *a, const System *s, const Syntax *n, bool whole, Buf *b) {
  const char *text = node_text(w, a, s, n), *by = strstr(text, " by ");
  if (n->kind == N_STEPBY && !(whole && by))
    text = arena_format(a, "by %s%s", node_text(w, a, s, stepby_optimiser(n)),
                        unroll_text(w, a, s, n));
  else if (n->kind == N_STEPBY)
    text = by + 1;
  if (whole || n->kind == N_STEPBY) buf_printf(b, "%s%s", b->n ? ", " : "", text);
}

static bool learns(const Syntax *by, Name name) {
  for (uint32_t i = 0; i < lhss_in(stepby_lhss(by)).n; i++)
    if (lhss_in(stepby_lhss(by)).at[i]->name == name) return true;
  return false;
}

const char *state_text(World *w, Arena *a, const System *s, Name name, bool whole) {
  Nodes all = statements_of(body_of(s));
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < all.n; i++) {
    const Syntax *n = all.at[i];
    if (n->kind == N_STATES) put_start(w, a, s, n, name, &b);
    if (n->kind == N_STEP ? n->name == name : n->kind == N_STEPBY && learns(n, name))
      put_step(w, a, s, n, whole, &b);
  }
  return b.n ? b.at : NULL;
}

const char *unrolls_text(World *w, Arena *a, const System *s) {
  Nodes all = system_statements(s);
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->kind == N_STEPBY && stepby_unroll(all.at[i]))
      return unroll_text(w, a, s, all.at[i]) + 1;
  return NULL;
}
