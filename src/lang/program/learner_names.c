// Names of learners in all files of a program.
//
// Weights are stored by the name of their learner: in runs, in `from`, in exported files. A file
// may hide names of the files it uses, but two learners with one name would share their weights.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/program/program_own.h"

static void refuse_equal_names(Elab *in, const Def *one, const Def *other) {
  const char *what = one->kind != other->kind ? "a learner and a stale copy"
                     : one->kind == DEF_STALE ? "two stale copies"
                                              : "two learners";
  Id e = diag_error(in->w->diags, one->span, "%s are called `%s`, in different files", what,
                    name_text(in->w->names, one->name));
  diag_note(in->w->diags, e, other->span, "the other one");
  diag_help(in->w->diags, e, "weights have the name of their learner: rename one of the two");
}

// The program's own file is named first, since it can be changed most easily.
void check_learner_names(Elab *in, uint32_t first) {
  Table *known = table_new(in->w->arena);
  for (uint32_t i = first; i < in->scope.n; i++) {
    const Scope *s = in->scope.at[i];
    for (uint32_t k = 0; k < table_count(s->names); k++) {
      const Def *d = in->def.at[table_value(s->names, k)];
      if (!is_learner(d)) continue;
      Id id = table_get(known, &d->name, sizeof d->name);
      const Def *old = id ? in->def.at[id] : NULL;
      if (!old) table_put(known, &d->name, sizeof d->name, d->id);
      if (!old || old == d || old->span.file == d->span.file) continue;
      bool own = old->scope == in->scope.at[first];
      refuse_equal_names(in, own ? old : d, own ? d : old);
    }
  }
}
