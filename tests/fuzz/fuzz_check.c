// Any text: checked as a program, with messages in both forms; if it has no errors, its first box
// or learner is printed after inlining and after the reverse derivative, its cost is counted, and
// the gradient of its loss is taken, and the steps of its first `train` are made. If it has some,
// what can be shown of its goals and of its first box that is not well is drawn. Machines are
// printed, and their short runs followed by the interpreter. No crash, no leak, no hang. The
// library is read once: every input begins with the memory as it was then.
#include "core/pass/pass.h"
#include "diagram_help.h"
#include "lang/program/program.h"
#include "run/sim/sim.h"
#include "run/step/step.h"
#include "show/circuit/circuit.h"
#include "show/goals/goals.h"
#include "show/graph/graph.h"
#include "show/lint/lint.h"
#include "show/wiring/wiring.h"

#include "tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static Arena *arena;
static World *world;
static Elab *infer;

// The word after the first `box` or `learn` at the start of a line.
static bool first_name(const char *text, size_t n, char *name, size_t room) {
  for (size_t at = 0; at < n;) {
    size_t skip = n - at > 4 && !memcmp(text + at, "box ", 4)     ? 4
                  : n - at > 6 && !memcmp(text + at, "learn ", 6) ? 6
                                                                  : 0,
           k = 0;
    for (size_t i = at + skip; skip && i < n && k + 1 < room && is_word((uint8_t)text[i]); i++)
      name[k++] = text[i];
    name[k] = 0;
    if (k) return true;
    while (at < n && text[at] != '\n') at++;
    at++;
  }
  return false;
}

static bool is_small(const Diagram *d) { return d && diagram_boxes(world, d) < 2000; }

static void show(const Diagram *d, Buf *out) {
  Buf why = buf_new(arena);
  if (!diagram_valid(world, d, &why)) {
    fputs(why.at, stderr);
    abort();
  }
  diagram_print(world, d, out, true);
}

static void passes(const Diagram *d, Buf *out) {
  show(d, out);
  Diagram *flat = diagram_simplify(world, diagram_inline(world, d));
  show(flat, out);
  diagram_cost(world, flat);
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base == BASE_LABEL) return;
  Diagram *back = diagram_simplify(world, diagram_reverse(world, d, &(Wanted){0}));
  show(back, out);
  diagram_cost(world, back);
}

static void look_at(Canvas *c, Buf *out) {
  Faults faults = {0};
  if (!c) return;
  canvas_check(arena, c, &faults);
  canvas_art(c, &(Look){0}, out);
}

static void pictures(Program *p, Buf *out) {
  const char *name = elab_first_broken(infer, p);
  PartialDiagram *k = name ? elab_broken(infer, p, name) : NULL;
  if (k && diagram_boxes(world, k->diagram) < 60)
    look_at(broken_draw(world, arena, k, &(CircuitOptions){0}), out);
  if (p->goal.n < 5) look_at(goals_draw(infer, arena, p), out);
}

static bool is_short(const Run *r) {
  int64_t cells = 0, n;
  const Diagram *d = r->system ? r->system->d : NULL;
  if (!is_small(d) || r->end > (r->system->flows ? 1 : 8) || r->path || r->step || r->every)
    return false;
  for (Id i = 1; i < d->wire.n && cells < 1000; i++)
    if (!type_count(world, &d->wire.at[i].type, &n) || (cells += n) > 1000) return false;
  return cells < 1000;
}

static void runs(Program *p, Buf *out) {
  SimOptions how = {.threads = 1, .reference = true};
  for (uint32_t i = 0; i < p->ran->run.n && i < 4; i++) {
    const Run *r = &p->ran->run.at[i];
    Followed f;
    if (is_small(r->system ? r->system->d : NULL)) show(r->system->d, out);
    if (is_short(r)) follow_run(infer, p, i, &how, &f);
  }
}

static void work(const char *text, size_t n) {
  char name[64];
  Buf out = buf_new(arena);
  Program *p = elab_program(infer, "fuzz.limn", text, n);
  diags_sort(world->diags);
  if (!world->diags->errors) {
    learn_who(infer, p, &out);
    Diagram *d = first_name(text, n, name, sizeof name) ? elab_diagram(infer, p, name, NULL) : NULL;
    if (is_small(d)) passes(d, &out);
    Loss loss = learn_loss(infer, p);
    if (is_small(loss.diagram))
      show(diagram_simplify(world, diagram_gradient(world, loss.diagram, loss.mask)), &out);
    Regime r;
    if (is_small(loss.diagram) && p->train.n && learn_regime(infer, p, p->train.at[0], &r))
      for (uint32_t i = 0; i < r.step.n && i < 4; i++) show(r.step.at[i].diagram, &out);
    if (p->ran) runs(p, &out);
  } else {
    pictures(p, &out);
  }
  diags_print(world->diags, &out);
  diags_json(world->diags, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static ArenaCopy *begin;
  if (n > INPUT_LIMIT) return 0;
  if (!begin) {
    arena = arena_new();
    world = world_new(arena);
    infer = elab_new(world);
    begin = arena_save(arena);
  }
  Guard g;
  if (GUARDED(arena, &g)) {
    work((const char *)data, n);
    guard_leave(&g);
  }
  arena_restore(arena, begin);
  return 0;
}
