// Shows during training. `as paths` adds columns p[0], p[1] … to metrics.csv with the values at
// each row; `every 100` writes the values at these steps to files in the run folder.
#include "base/diag.h"
#include "base/files.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "run/train/train_own.h"

static bool is_traced(const Show *s) { return s->diagram && (is_path(s) || s->every); }

bool traces_open(Trainer *t) {
  Target how = target_of(t);
  for (uint32_t i = 0; i < t->p->show.n; i++) {
    const Show *s = &t->p->show.at[i];
    if (!is_traced(s)) continue;
    vec_push(t->arena, &t->trace, (ShowLog){.show = i});
    ShowLog *trace = &t->trace.at[t->trace.n - 1];
    if (!probe_open(t->data, t->store, s, 0, &how, &trace->probe)) return false;
    if (!is_path(s) || !(trace->probe.samples || trace->probe.repeated)) continue;
    return diag_refuse(t->w->diags, s->node->span, "a path shows learned values, not samples");
  }
  return true;
}

void traces_close(Trainer *t) {
  for (uint32_t i = 0; i < t->trace.n; i++) probe_close(&t->trace.at[i].probe);
  t->trace.n = 0;
}

// The values of a show, in memory of the arena.
static Tensor *values(Trainer *t, ShowLog *trace, Arena *a) {
  Data data = *t->data;
  Tensor *out = NEW_ARRAY(a, Tensor, trace->probe.d->out.n + 1);
  data.arena = a;
  return probe_evaluate(&data, &trace->probe, out) ? out : NULL;
}

// -- paths ----------------------------------------------------------------------------------------
// Columns with equal names are written once.
static bool path_cells(Trainer *t, ShowLog *trace, Arena *a, const TraceCells *c, Table *seen) {
  const Diagram *d = trace->probe.d;
  const Tensor *value = c->values ? values(t, trace, a) : NULL;
  if (c->values && !value) return false;
  for (uint32_t i = 0; i < d->out.n; i++) {
    const char *name = shown_name(t->w, a, &t->p->show.at[trace->show], i, d->out.n);
    int64_t count = 0;
    if (table_get(seen, name, strlen(name))) continue;
    table_put(seen, name, strlen(name), 1);
    type_count(t->w, &d->wire.at[d->out.at[i]].type, &count);
    for (int64_t k = 0; k < count; k++)
      c->cell(t, arena_format(a, "%s[%lld]", name, (long long)k), value ? value[i].data[k] : 0);
  }
  return true;
}

bool traces_cells(Trainer *t, const TraceCells *c) {
  Arena *a = arena_child(t->arena);
  Table *seen = table_new(a);
  bool good = true;
  for (uint32_t i = 0; good && i < t->trace.n; i++)
    if (is_path(&t->p->show.at[t->trace.at[i].show]))
      good = path_cells(t, &t->trace.at[i], a, c, seen);
  arena_free(a);
  return good;
}

// -- frames ---------------------------------------------------------------------------------------
static uint64_t every_of(const Trainer *t, const ShowLog *trace) {
  const Show *s = &t->p->show.at[trace->show];
  return is_path(s) ? 0 : s->every;
}

uint64_t traces_due(const Trainer *t) {
  uint64_t due = UINT64_MAX, now = t->base + t->step;
  for (uint32_t i = 0; i < t->trace.n; i++) {
    uint64_t every = every_of(t, &t->trace.at[i]);
    if (every && (now / every + 1) * every < due) due = (now / every + 1) * every;
  }
  return due == UINT64_MAX ? due : due - t->base;
}

static const char *write_frame(Trainer *t, ShowLog *trace, Arena *a, Outcome *end) {
  const Diagram *d = trace->probe.d;
  const Tensor *value = values(t, trace, a);
  const char *error = NULL, *name = frame_name(a, trace->show, t->base + t->step);
  Bytes bytes;
  Arrays all = {0};
  *end = OUTCOME_WRONG;
  if (!value) return "the values could not be computed";
  for (uint32_t i = 0; i < d->out.n; i++) {
    const char *text = shown_name(t->w, a, &t->p->show.at[trace->show], i, d->out.n);
    vec_push(a, &all.array, tensor_array(&value[i], text));
  }
  const char *why = folder_make_in(a, t->folder.dir, "shown");
  if (why) return *end = folder_outcome(a, t->folder.dir, "shown/"), why;
  if (!safetensors_bytes(a, &all, &bytes, &error)) return error;
  if (file_put_in(a, t->folder.dir, name, &bytes, &error)) return NULL;
  return *end = folder_outcome(a, t->folder.dir, name), error;
}

void traces_frames(Trainer *t) {
  if (!t->folder.dir) return;
  for (uint32_t i = 0; i < t->trace.n; i++) {
    uint64_t every = every_of(t, &t->trace.at[i]);
    if (!every || (t->base + t->step) % every) continue;
    Arena *a = arena_child(t->arena);
    Outcome end;
    const char *why = write_frame(t, &t->trace.at[i], a, &end);
    if (why && end > t->lost) t->lost = end;
    if (why)
      tell_wrong(t, "what is shown after %llu steps is not saved: %s",
                 (unsigned long long)(t->base + t->step), why);
    arena_free(a);
  }
}
