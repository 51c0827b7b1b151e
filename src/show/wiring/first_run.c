// Which machine `limn draw` draws, and with which options: those of its first run, so that sizes
// have numbers.
#include "lang/claim/claim.h"
#include "show/wiring/wiring.h"

// Machine[3] of the first run of this machine; NULL: it is never run.
static const Syntax *first_use(const Program *p, World *w, const char *name) {
  for (uint32_t i = 0; i < p->ran->run.n; i++) {
    const Syntax *call = simulate_what(p->ran->run.at[i].node);
    const Syntax *use = use_callee(call);
    const Syntax *of = use_base(use);
    if (of->kind == N_NAME && strcmp(name_text(w->names, of->name), name) == 0) return use;
  }
  return NULL;
}

bool machine_known(Elab *in, const Program *p, const char *name) {
  return has_machine(in, p, name);
}

const char *machine_last(World *w, const Program *p) {
  const char *machine = NULL, *wiring = NULL;
  for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
    const Syntax *n = program_declarations(p->tree).at[i];
    if (n->kind != N_MACHINE) continue;
    machine = name_text(w->names, n->name);
    if (machine_form(n) == SIGN_WIRING) wiring = machine;
  }
  return wiring ? wiring : machine;
}

Canvas *machine_draw(Elab *in, Arena *a, Program *p, const char *name, const WiringOptions *how) {
  World *w = elab_world(in);
  const System *s = elab_system(in, p, name, first_use(p, w, name));
  if (s && how->unfold) return wiring_unfold_draw(w, a, s);
  return s ? wiring_draw(w, a, s, how) : NULL;
}
