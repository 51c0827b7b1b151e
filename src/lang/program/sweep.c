// Reads `run`, `check` and `show` in textual order, and loops around them.
//
// A loop body is read once for each value, which is substituted for the loop variable; so anything
// can be swept: options, initial values, lengths, methods, machines.
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/machine/units.h"
#include "lang/program/claim_own.h"

#include <math.h>

enum { TURNS_MOST = 1000 };

typedef struct {
  Elab *in;
  World *w;
  Program *p;
  uint32_t statements; // statements read so far
} Sweep;

static bool is_about_runs(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_SIMULATE || n->kind == N_CHECK || n->kind == N_SHOW;
}

bool loop_has_runs(const Syntax *n) { return syntax_any(for_body(n), is_about_runs, NULL); }

bool turn_is_in(const SweepTurn *t, const SweepTurn *outer) {
  while (t && t != outer) t = t->outer;
  return t == outer;
}

const char *turn_text(Arena *a, World *w, const SweepTurn *t) {
  const char *own = arena_format(a, "%s = %s", name_text(w->names, t->name), t->text);
  return t->outer ? arena_format(a, "%s, %s", turn_text(a, w, t->outer), own) : own;
}

// -- substitution ---------------------------------------------------------------------------------
// Messages quote statements by their spans, so the whole value gets the span of the name.
typedef struct {
  Arena *arena;
  Span span;
} Standing;

static Syntax *stands_at(void *standing, const Syntax *n) {
  const Standing *at = standing;
  Syntax *copy = syntax_map(at->arena, n, stands_at, standing);
  if (copy == n) copy = syntax_copy(at->arena, n);
  copy->span = at->span;
  return copy;
}

static Syntax *with_values(void *sweep, const Syntax *n) {
  const Sweep *s = sweep;
  for (const SweepTurn *t = s->p->ran->turn; t && n->kind == N_NAME; t = t->outer)
    if (t->name == n->name) return stands_at(&(Standing){s->w->arena, n->span}, t->value);
  return syntax_map(s->w->arena, n, with_values, sweep);
}

static bool has_name(void *name, const Syntax *n) {
  return n->kind == N_NAME && n->name == *(const Name *)name;
}

// A port of the loop variable's name would be shadowed.
static bool name_is_free(const Sweep *s, const Syntax *n) {
  const Machines *ran = s->p->ran;
  const Run *run = ran->run.n ? &ran->run.at[ran->run.n - 1] : NULL;
  for (const SweepTurn *t = ran->turn; t && run && run->system; t = t->outer) {
    Name name = t->name;
    Looker l = looker_new(s->in, s->p, run->system);
    if (!table_get(l.named, &name, sizeof name) || !syntax_any(n, has_name, &name)) continue;
    return diag_refuse(s->w->diags, t->loop->name_span,
                       "`%s` is a port or state of `%s` too: the loop wants another name",
                       name_text(s->w->names, name), name_text(s->w->names, run->base));
  }
  return true;
}

static void read_statement(Sweep *s, const Syntax *said) {
  s->statements++;
  if (is_about_runs(NULL, said) && said->kind != N_SIMULATE && !name_is_free(s, said)) return;
  const Syntax *n = s->p->ran->turn ? with_values(s, said) : said;
  if (n->kind == N_SIMULATE) read_run(s->in, s->p, n, said);
  if (n->kind == N_CHECK) read_check(s->in, s->p, n);
  if (n->kind == N_SHOW && !read_run_show(s->in, s->p, n)) do_show(s->in, s->p, n);
}

// -- loops ----------------------------------------------------------------------------------------
static void read_loop(Sweep *, const Syntax *);

static void read_turn(Sweep *s, const Syntax *loop, SweepTurn turn) {
  SweepTurn *kept = NEW(s->w->arena, SweepTurn);
  Nodes line = program_declarations(for_body(loop));
  turn.outer = s->p->ran->turn;
  turn.loop = loop;
  turn.name = loop->name;
  *kept = turn;
  s->p->ran->turn = kept;
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    if (n->kind == N_FOR)
      read_loop(s, n);
    else if (is_about_runs(NULL, n))
      read_statement(s, n);
    else if (n->kind != N_ERROR)
      diag_error(s->w->diags, n->span,
                 "a loop around runs holds `run`, `check`, `show` and loops, and nothing else");
  }
  s->p->ran->turn = kept->outer;
}

static Syntax *number_node(const Sweep *s, double k, Span span) {
  Syntax *n = syntax_num(s->w->arena, fabs(k), span);
  n->text = arena_format(s->w->arena, "%.17g", fabs(k));
  return k < 0 ? node_neg(s->w->arena, span, (NegParts){n}) : n;
}

// All digits, since runs are found again by name.
static SweepTurn number_turn(const Sweep *s, double k, Span span) {
  char text[NUMBER_ROOM];
  size_t n = number_print(text, k);
  return (SweepTurn){.value = number_node(s, k, span), .text = arena_text(s->w->arena, text, n)};
}

static const char *entry_text(const Sweep *s, const Syntax *n) {
  return arena_text(s->w->arena, s->w->sources->file.at[n->span.file].text + n->span.at, n->span.n);
}

// A number, or any other expression.
static bool entry_turn(Sweep *s, Syntax *n, SweepTurn *turn) {
  double k;
  uint32_t errors = s->w->diags->met;
  Syntax *value = with_values(s, n);
  if (scope_number(s->in, s->p->scope, value, &k)) {
    *turn = number_turn(s, k, n->span);
    return isfinite(k) || diag_refuse(s->w->diags, n->span, "a number is wanted here");
  }
  if (s->w->diags->met > errors) return false;
  *turn = (SweepTurn){.value = value, .text = entry_text(s, n)};
  return true;
}

static bool too_many(const Sweep *s, const Syntax *range, double n) {
  if (n <= TURNS_MOST && s->p->ran->run.n <= TURNS_MOST) return false;
  return !diag_refuse(s->w->diags, range->span, "a program has at most %d runs in loops",
                      TURNS_MOST);
}

static void read_range(Sweep *s, const Syntax *loop) {
  const Syntax *range = for_range(loop);
  double low, high;
  bool known = scope_number(s->in, s->p->scope, with_values(s, range_low(range)), &low) &&
               scope_number(s->in, s->p->scope, with_values(s, range_high(range)), &high) &&
               low == floor(low) && high == floor(high);
  if (!known && uses_broken(scope_env(s->p->scope), range)) return; // reported already
  if (!known) {
    diag_error(s->w->diags, range->span, "the ends of this range must be whole numbers");
    return;
  }
  if (too_many(s, range, high - low + 1)) return;
  uint32_t errors = s->w->diags->met;
  for (double k = 0; k <= high - low && s->w->diags->met == errors; k++)
    read_turn(s, loop, number_turn(s, for_is_down(loop) ? high - k : low + k, range->span));
}

// Refuses an unused loop variable: a constant of that name would not change.
static bool is_read_in(const Sweep *s, const Syntax *loop) {
  Name name = loop->name;
  const char *text = name_text(s->w->names, name);
  if (syntax_any(for_body(loop), has_name, &name)) return true;
  Id e = diag_error(s->w->diags, loop->name_span,
                    "nothing in this loop reads `%s`: its turns are all the same", text);
  const Def *d = scope_find(s->p->scope, name);
  if (d) {
    diag_note(s->w->diags, e, d->span, "this `%s` is another one, and stays as it is", text);
    diag_help(s->w->diags, e, "make it an input of the machine, `run M(%s: %s)`", text, text);
  }
  return false;
}

// Stops after the first iteration with errors.
static void read_loop(Sweep *s, const Syntax *loop) {
  const Syntax *range = for_range(loop);
  if (!is_read_in(s, loop)) return;
  if (range->kind == N_RANGE) {
    read_range(s, loop);
    return;
  }
  if (range->kind != N_LIST) return;
  Nodes entry = list_entries(range);
  uint32_t errors = s->w->diags->met;
  if (too_many(s, range, entry.n)) return;
  for (uint32_t i = 0; i < entry.n && s->w->diags->met == errors; i++) {
    SweepTurn turn;
    Syntax *n = entry.at[for_is_down(loop) ? entry.n - 1 - i : i];
    if (entry_turn(s, n, &turn)) read_turn(s, loop, turn);
  }
}

// An inner loop may be empty sometimes, but not the whole.
static void read_loops(Sweep *s, const Syntax *loop) {
  uint32_t before = s->statements, errors = s->w->diags->met;
  if (time_is_free(s->w, loop)) read_loop(s, loop);
  bool told = uses_broken(scope_env(s->p->scope), for_range(loop));
  if (s->statements == before && s->w->diags->met == errors && !told)
    diag_error(s->w->diags, for_range(loop)->span, "this loop has no turn: it runs nothing");
}

// A check or show refers to the run before it.
void do_machines(Elab *in, Program *p) {
  Sweep s = {.in = in, .w = in->w, .p = p};
  p->ran = NEW(in->w->arena, Machines);
  for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
    const Syntax *n = program_declarations(p->tree).at[i];
    if (n->kind == N_FOR && loop_has_runs(n))
      read_loops(&s, n);
    else
      read_statement(&s, n);
  }
  if (!in->w->diags->errors) note_still(in, p);
}
