// The saved state of a run in discrete time: the number of ticks, and the values that watchers of
// periods have seen.
#include "base/diag.h"
#include "base/names.h"
#include "run/sim/discrete_own.h"

bool ticks_save(const DiscreteRun *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  if (!how->save) return true;
  Arena *a = arena_child(t->m->arena);
  Arrays all = {0};
  sum_begin(a, &all);
  vec_push(a, &all.metadata,
           (Metadata){"tick", arena_format(a, "%llu", (unsigned long long)t->done)});
  vec_push(a, &all.metadata,
           (Metadata){"begun", arena_format(a, "%llu", (unsigned long long)t->begun)});
  vec_push(a, &all.metadata, (Metadata){"inputs", t->inputs});
  vec_push(a, &all.metadata, (Metadata){"halted", t->f->record.halted ? "1" : "0"});
  saved_states(a, &all, t->m);
  Watchers watchers = t->watchers;
  for (uint32_t i = 0; i < watchers.n; i++)
    saved_row(a, &all, arena_format(a, "run:history.%u", i), t->history[i].at, t->history[i].n);
  saved_seen(a, &all, &t->f->record, &watchers);
  bool good = how->save(how->context, number, &all);
  arena_free(a);
  return good;
}

// -- restoring ------------------------------------------------------------------------------------
static bool is_by_ticks(const DiscreteRun *t, const SavedRun *from) {
  if (arrays_metadata(from->arrays, "tick")) return true;
  return diag_refuse(t->m->w->diags, t->m->run->span,
                     "%s is of a run that flows, and `%s` goes by ticks", from->file,
                     name_text(t->m->w->names, t->m->s->name));
}

bool ticks_begin(DiscreteRun *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  SavedRun from = {0};
  t->ticks = (uint64_t)t->m->run->end;
  if (!how->before) return true;
  if (!how->before(how->context, number, &from)) return false;
  if (!from.arrays) return true;
  if (!is_by_ticks(t, &from) || saved_has_ended(t->m, &from)) return false;
  t->done = t->begun = saved_number(&from, "tick");
  t->ticks += t->begun;
  saved_starts(t->m, &from);
  return saved_states_read(t->m, &from, "");
}

bool ticks_go_on(DiscreteRun *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  SavedRun from = {0};
  if (!how->saved) return true;
  if (!how->saved(how->context, number, &from)) return false;
  if (!from.arrays) return true;
  const char *inputs = arrays_metadata(from.arrays, "inputs");
  if (inputs && strcmp(inputs, t->inputs)) return saved_refuse_inputs(t->m, &from);
  t->done = saved_number(&from, "tick");
  t->begun = saved_number(&from, "begun");
  t->ticks = t->begun + (uint64_t)t->m->run->end;
  t->f->record.halted = saved_number(&from, "halted");
  if (t->f->record.halted) t->ticks = t->done;
  if (t->done > t->ticks) return saved_refuse_other(t->m, &from);
  if (!saved_states_read(t->m, &from, "") ||
      !saved_seen_read(t->m, &from, &t->f->record, &t->watchers))
    return false;
  bool good = true;
  for (uint32_t i = 0; good && i < t->watchers.n; i++)
    good = saved_row_read(t->m->arena, &from, arena_format(t->m->arena, "run:history.%u", i),
                          &t->history[i]);
  return good || saved_refuse_other(t->m, &from);
}
