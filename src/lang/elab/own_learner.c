// Learners of which a machine owns a copy, trained during its run.
//
// Inside such a machine and every box it calls, the learner's weights are params of the machine's
// diagram, not of the program's learner. An array of parts is elaborated once for all members; its
// weights have the axes of the array in front.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/body.h"
#include "lang/elab/builtin.h"

enum { FIRST_MEMBER = PASS_SAMPLE + 1 };

bool is_member_axis(const Elab *in, uint32_t pass) {
  return in->machine && pass >= FIRST_MEMBER && pass < FIRST_MEMBER + in->machine->members;
}

const MachineText *machine_seen(const Elab *in) {
  const MachineText *m = in->machine;
  return m && (m->members || m->learner.n) ? m : NULL;
}

void pass_members(Body *b) {
  const MachineText *m = b->in->machine;
  for (uint32_t i = 0; m && i < m->members; i++) body_pass(b, FIRST_MEMBER + i, m->member[i]);
}

static bool owns(const MachineText *m, const Def *d, const char *family) {
  for (uint32_t i = 0; m && i < m->learner.n; i++) {
    const OwnLearner *o = &m->learner.at[i];
    if (o->name == d->name && (!o->member || (family && !strcmp(o->member, family)))) return true;
  }
  return false;
}

// Declared in a file, not in a body.
static bool is_of_file(const Def *d) { return scope_find(d->scope, d->name) == d; }

Env *home_env(Body *home, const Def *d) { return is_of_file(d) ? NULL : home->env; }

bool find_own(Body *b, BoxUse *use) {
  const MachineText *m = b->in->machine;
  World *w = b->w;
  if (!m || !m->learner.n || !is_learner(use->def) || use->home) return true;
  if (use->def->kind == DEF_STALE && use->def->of && owns(m, use->def->of, use->def->member)) {
    Id e = diag_error(w->diags, use->span, "`%s` follows what `train` does to `%s`, not a machine",
                      name_text(w->names, use->def->name), name_text(w->names, use->def->of->name));
    return diag_help(w->diags, e, "a `state` can follow a weight that is written out");
  }
  if (use->def->kind == DEF_LEARNER && owns(m, use->def, use->family)) use->home = m->home;
  return true;
}

LearnerMode learner_begin(Elab *in, const BoxUse *use) {
  LearnerMode before = {in->training, in->owned};
  if (!in->machine || !in->machine->learner.n || !is_learner(use->def)) return before;
  in->owned = use->home == in->machine->home && owns(in->machine, use->def, use->family);
  in->training = in->owned;
  return before;
}

void learner_end(Elab *in, LearnerMode before) {
  in->training = before.training;
  in->owned = before.owned;
}

// The member axes, as batch axes.
static uint32_t member_axes(const Elab *in, Axis *axis) {
  for (uint32_t i = 0; i < in->machine->members; i++) {
    axis[i] = in->machine->member[i];
    axis[i].pass = FIRST_MEMBER + i;
  }
  return in->machine->members;
}

Type for_each_member(Body *b, Type t, Init *init) {
  Axis axis[RANK_LIMIT * 2];
  uint32_t n = member_axes(b->in, axis);
  if (t.rank) memcpy(axis + n, t.axis, t.rank * sizeof(Axis));
  init->members = n;
  return type_like(b->w, &t, n + t.rank, axis);
}

Val along_members(Body *b, Val v, Span span) {
  Axis want[RANK_LIMIT * 2];
  if (!b->in->owned || !b->in->machine->members) return v;
  uint32_t n = member_axes(b->in, want);
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (!is_member_axis(b->in, v.type.axis[i].pass)) want[n++] = v.type.axis[i];
  return arrange_axes(b, v, want, n, span);
}

const char *own_origin(const Elab *in, const BoxUse *use, const char *path) {
  bool own = in->machine && use->home == in->machine->home && is_of_file(use->def);
  return own ? path : NULL;
}
