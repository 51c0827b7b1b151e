// Topological order of a machine's lines. All lines hold at once, so their textual order has no
// meaning; a line is elaborated after those that define the names it reads. A state is read with
// its old value, so only `next x` is a dependency. Depth-first search with an explicit stack, since
// chains may be as long as the text.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

typedef struct {
  MachineBuilder *m;
  const LineNodes *node;
  Table *made;       // Name to index of its line + 1
  uint8_t *state;    // [line] 0 new, 1 on the stack, 2 done
  Ids *needs;        // [line] the lines it depends on
  VEC(uint32_t) way; // the stack of lines
  uint32_t *next;    // [line] the next dependency to visit
  LineNodes *out;
  bool wrong;
} LineOrder;

static Name next_name(World *w, Name name) {
  return name_from(w->names, arena_format(w->arena, "next %s", name_text(w->names, name)));
}

// A name has one definition.
static void report_twice(LineOrder *o, const Syntax *lhs, Id other) {
  World *w = o->m->w;
  Id e =
      diag_error(w->diags, lhs->name_span, "`%s` is defined twice", name_text(w->names, lhs->name));
  diag_note(w->diags, e, o->node->at[other - 1]->span, "the other one");
  o->wrong = true;
}

// An equation may not define a state.
static void report_state(LineOrder *o, const Syntax *lhs) {
  World *w = o->m->w;
  const char *name = name_text(w->names, lhs->name);
  Id e =
      diag_error(w->diags, lhs->name_span, "`%s` is a state, which no equation can define", name);
  diag_help(w->diags, e, "`next %s = …` says what it becomes, and `%s' = …` how fast it changes",
            name, name);
  o->wrong = true;
}

// A name may not be both a part and a value.
static void report_part(LineOrder *o, const Syntax *lhs, Id part) {
  World *w = o->m->w;
  Id e = diag_error(w->diags, lhs->name_span, "there are two things called `%s` here",
                    name_text(w->names, lhs->name));
  if (part <= o->m->s->part.n)
    diag_note(w->diags, e, o->m->s->part.at[part - 1].span, "the other one");
  o->wrong = true;
}

static void note_made(LineOrder *o, uint32_t line) {
  World *w = o->m->w;
  const Syntax *n = o->node->at[line];
  if (n->kind == N_STEP) {
    Name name = next_name(w, n->name);
    table_put(o->made, &name, sizeof name, line + 1);
  }
  for (uint32_t i = 0; n->kind == N_STEPBY && i < lhss_in(stepby_lhss(n)).n; i++) {
    Name name = next_name(w, lhss_in(stepby_lhss(n)).at[i]->name);
    table_put(o->made, &name, sizeof name, line + 1);
  }
  if (n->kind != N_EQUATION) return;
  for (uint32_t i = 0; i < lhss_in(equation_lhss(n)).n; i++) {
    const Syntax *lhs = lhss_in(equation_lhss(n)).at[i];
    if (lhs_is_rate(lhs)) continue;
    if (own_state(o->m, lhs->name) >= 0) {
      report_state(o, lhs);
      continue;
    }
    Id part = o->m->parts ? table_get(o->m->parts, &lhs->name, sizeof lhs->name) : 0;
    if (part) report_part(o, lhs, part);
    Id other = table_get(o->made, &lhs->name, sizeof lhs->name);
    if (other) report_twice(o, lhs, other);
    table_put(o->made, &lhs->name, sizeof lhs->name, line + 1);
  }
}

static void report_cycle(LineOrder *o, uint32_t line) {
  World *w = o->m->w;
  Buf names = buf_new(w->arena);
  uint32_t first = o->way.n;
  while (first && o->way.at[first - 1] != line) first--;
  for (uint32_t i = first ? first - 1 : 0; i < o->way.n; i++) {
    const Syntax *n = o->node->at[o->way.at[i]];
    const Syntax *lhs = n->kind == N_EQUATION ? lhss_in(equation_lhss(n)).at[0] : n;
    buf_printf(&names, "%s`%s`", i + 1 > first && names.n ? " → " : "",
               name_text(w->names, lhs->name));
  }
  Id e = diag_error(w->diags, o->node->at[line]->span, "this needs itself at the same moment: %s",
                    names.at);
  diag_help(w->diags, e, "a `state` between them holds the value for one tick");
  o->wrong = true;
}

static void find_needs(LineOrder *o, const Syntax *n, Ids *out) {
  if (!n) return;
  Name name = n->kind == N_NAME ? n->name : n->kind == N_NEXT ? next_name(o->m->w, n->name) : 0;
  Id line = name ? table_get(o->made, &name, sizeof name) : 0;
  if (line) vec_push(o->m->w->arena, out, line - 1);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_needs(o, syntax_parts(n).at[i], out);
}

static void begin_line(LineOrder *o, uint32_t line) {
  const Syntax *n = o->node->at[line];
  if (o->state[line] == 1) report_cycle(o, line);
  if (o->state[line]) return;
  o->state[line] = 1;
  vec_push(o->m->w->arena, &o->way, line);
  for (uint32_t i = n->kind == N_EQUATION; i < syntax_parts(n).n; i++)
    find_needs(o, syntax_parts(n).at[i], &o->needs[line]);
}

static void do_line(LineOrder *o, uint32_t line) {
  if (o->wrong) return;
  uint32_t *next = o->next;
  begin_line(o, line);
  while (o->way.n && !o->wrong) {
    uint32_t top = o->way.at[o->way.n - 1];
    if (next[top] < o->needs[top].n) {
      begin_line(o, o->needs[top].at[next[top]++]);
      continue;
    }
    o->way.n--;
    o->state[top] = 2;
    vec_push(o->m->w->arena, o->out, o->node->at[top]);
  }
}

bool order_statements(MachineBuilder *m, const LineNodes *nodes, LineNodes *out) {
  LineOrder o = {.m = m, .node = nodes, .made = table_new(m->w->arena), .out = out};
  o.state = NEW_ARRAY(m->w->arena, uint8_t, nodes->n + 1);
  o.next = NEW_ARRAY(m->w->arena, uint32_t, nodes->n + 1);
  o.needs = NEW_ARRAY(m->w->arena, Ids, nodes->n + 1);
  for (uint32_t i = 0; i < nodes->n; i++) note_made(&o, i);
  for (uint32_t i = 0; i < nodes->n; i++) do_line(&o, i);
  return !o.wrong;
}
