// The machine that `limn draw` draws, with the options of its first run, which make sizes known.
// Without a name: the system of the last run, with its source.
#include "base/names.h"
#include "lang/program/claim.h"
#include "show/wiring/wiring.h"

// Machine[3] in the first run of this machine; NULL: it is never run.
static const Syntax *first_use(const Program *p, World *w, const char *name) {
  for (uint32_t i = 0; i < p->ran->run.n; i++) {
    const Syntax *call = simulate_what(p->ran->run.at[i].node);
    const Syntax *use = use_callee(call);
    const Syntax *of = use_base(use);
    if (of->kind == N_NAME && strcmp(name_text(w->names, of->name), name) == 0) return use;
  }
  return NULL;
}

// The name of the system in a run; NULL: it is no machine.
static const char *use_name(World *w, const Syntax *use) {
  const Syntax *of = use_base(use);
  return of->kind == N_NAME ? name_text(w->names, of->name) : NULL;
}

static const Run *last_run(const Program *p) {
  uint32_t n = p->ran ? p->ran->run.n : 0;
  return n ? &p->ran->run.at[n - 1] : NULL;
}

bool machine_known(Elab *in, const Program *p, const char *name) {
  return has_machine(in, p, name);
}

const char *machine_last(World *w, const Program *p) {
  const char *machine = NULL, *wiring = NULL;
  const Run *run = last_run(p);
  if (run) return use_name(w, use_callee(simulate_what(run->node)));
  for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
    const Syntax *n = program_declarations(p->tree).at[i];
    if (n->kind != N_MACHINE) continue;
    machine = name_text(w->names, n->name);
    if (machine_form(n) == SIGN_WIRING) wiring = machine;
  }
  return wiring ? wiring : machine;
}

// NULL: the source is a table, a data set, or missing.
static const System *stands_on(Elab *in, Program *p, const Run *run) {
  Nodes clause = simulate_clauses(run->node);
  for (uint32_t i = 0; i < clause.n; i++)
    if (clause.at[i]->kind == N_ON && on_source(clause.at[i])->kind != N_STR && !run->set) {
      const char *name = use_name(elab_world(in), on_source(clause.at[i]));
      return name ? elab_system(in, p, name, on_source(clause.at[i])) : NULL;
    }
  return NULL;
}

// The system of the last run, wired to its source.
static const System *system_run(Elab *in, Arena *a, Program *p, const char *name) {
  World *w = elab_world(in);
  const Run *run = last_run(p);
  const System *s = elab_system(in, p, name, use_callee(simulate_what(run->node)));
  const System *on = s ? stands_on(in, p, run) : NULL;
  const System *both = on ? system_driven(w, a, s, on) : NULL;
  return both ? both : s;
}

Canvas *machine_draw(Elab *in, Arena *a, Program *p, const char *name, const WiringOptions *how) {
  World *w = elab_world(in);
  const System *s = how->runs && last_run(p) && !how->unfold
                        ? system_run(in, a, p, name)
                        : elab_system(in, p, name, first_use(p, w, name));
  if (s && how->unfold) return wiring_unfold_draw(w, a, s);
  return s ? wiring_draw(w, a, s, how) : NULL;
}
