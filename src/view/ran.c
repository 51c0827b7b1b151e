// `limn run`: every run of a program is followed, every check looked at, in the order of the text.
// Each gives a line; what is shown becomes a page.
#include "time/time.h"
#include "view/view.h"

#include <math.h>

typedef struct {
  Infer *in;
  Program *p;
  World *w;
  const LimnRun *how;
  TimeHow time;
  Followed *followed; // [run]
  Buf *out;
  uint32_t held, failed;
  Arrays weights;
  const char *file;
} Ran;

static void tell(const Ran *r, const char *text) {
  if (r->how->tell.line && !r->how->json && !r->how->quiet) r->how->tell.line(r->how->tell.context, text);
}

static void progress(void *context, double part) {
  const Ran *r = context;
  if (r->how->tell.redraw && !r->how->quiet)
    r->how->tell.redraw(r->how->tell.context, arena_format(r->w->arena, "  %3.0f %%", part * 100));
}

// -- weights of a run of training -----------------------------------------------------------------
static bool put_weights(void *context, Store *s) {
  Ran *r = context;
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *state = store_at(s, i);
    const Array *a = arrays_find(&r->weights, state->path);
    bool same = a && a->rank == state->rank;
    for (uint32_t k = 0; same && k < state->rank; k++) same = a->shape[k] == state->shape[k];
    if (same) state_set(state, a->data);
    if (a && !same) {
      diag_error(r->w->diags, (Span){0}, "%s has another shape in %s", state->path, r->file);
      return false;
    }
  }
  return true;
}

static bool read_weights(Ran *r) {
  const char *error;
  if (!r->how->from) return true;
  r->file = train_weights(r->w->arena, r->how->from);
  if (!safetensors_read(r->w->arena, r->file, &r->weights, &error)) {
    diag_error(r->w->diags, (Span){0}, "%s", error);
    return false;
  }
  r->time.fill = put_weights;
  return true;
}

// -- lines ----------------------------------------------------------------------------------------
static const char *run_words(const Ran *r, const Run *run) {
  return run->system->flows ? arena_format(r->w->arena, "to %g", run->end)
                            : arena_format(r->w->arena, "for %.0f ticks", run->end);
}

static void run_json(Ran *r, const Run *run, const Record *record, double seconds) {
  buf_text(r->out, "{\"run\": ");
  const char *name = name_text(r->w->names, run->name);
  buf_json(r->out, name, strlen(name));
  buf_printf(r->out, ", \"end\": %.17g, \"steps\": %llu, \"seconds\": %.3g}", run->end,
             (unsigned long long)record->steps, seconds);
}

static bool do_run(Ran *r, uint32_t i) {
  const Run *run = &r->p->ran->run.at[i];
  double begun = clock_seconds();
  if (!follow_run(r->in, r->p, i, &r->time, &r->followed[i])) return false;
  double seconds = clock_seconds() - begun;
  const Record *record = &r->followed[i].record;
  if (r->how->json) {
    run_json(r, run, record, seconds);
    return true;
  }
  const char *took = seconds < 1 ? "" : arena_format(r->w->arena, ", %.1f s", seconds);
  tell(r, arena_format(r->w->arena, "run    %s %s: %llu %s%s%s", name_text(r->w->names, run->name),
                       run_words(r, run), (unsigned long long)record->steps,
                       record->flows ? "steps" : "ticks", took,
                       r->followed[i].stopped ? ", stopped" : ""));
  return true;
}

static bool do_check(Ran *r, uint32_t i) {
  const Check *c = &r->p->ran->check.at[i];
  Verdict v = {0};
  if (!verify_check(r->in, r->p, i, r->followed, &r->time, &v)) return false;
  r->held += v.holds;
  r->failed += !v.holds;
  const char *name = name_text(r->w->names, c->run ? r->p->ran->run.at[c->run - 1].name : c->system->name);
  if (r->how->json) {
    buf_text(r->out, "{\"check\": ");
    buf_json(r->out, c->text, strlen(c->text));
    buf_printf(r->out, ", \"of\": \"%s\", \"holds\": %s, \"figure\": ", name, v.holds ? "true" : "false");
    buf_json(r->out, v.figure, strlen(v.figure));
    buf_char(r->out, '}');
    return true;
  }
  tell(r, arena_format(r->w->arena, "%s  %s : %s   %s", v.holds ? "holds" : "FAILS", name, c->text, v.figure));
  return true;
}

// A check stands behind its run in the text; so do all things here.
static bool in_order(Ran *r) {
  uint32_t run = 0, check = 0;
  const Machines *all = r->p->ran;
  bool first = true;
  while (run < all->run.n || check < all->check.n) {
    bool now = check == all->check.n ||
               (run < all->run.n && all->run.at[run].span.at < all->check.at[check].span.at);
    if (r->how->json && !first) buf_text(r->out, ", ");
    first = false;
    if (now ? !do_run(r, run++) : !do_check(r, check++)) return false;
    if (r->how->stop && *r->how->stop) return true;
  }
  return true;
}

LimnStatus machines_run(Infer *in, Program *p, const LimnRun *how, Buf *out) {
  World *w = infer_world(in);
  Ran r = {.in = in, .p = p, .w = w, .how = how, .out = out};
  r.time = (TimeHow){.seed = how->seed, .threads = how->threads, .reference = how->reference,
                     .context = &r, .progress = progress, .stop = how->stop};
  if (!p->ran->run.n && !p->ran->check.n) {
    diag_error(w->diags, (Span){0}, "this program has nothing to run: `run Machine to 10`, `check …`");
    return LIMN_WRONG;
  }
  r.followed = NEW_ARRAY(w->arena, Followed, p->ran->run.n + 1);
  if (how->json) buf_char(out, '[');
  bool good = read_weights(&r) && in_order(&r);
  if (how->json) buf_char(out, ']');
  if (!good) return LIMN_WRONG;
  if (r.held + r.failed)
    tell(&r, arena_format(w->arena, "%u %s, %u %s", r.held, r.held == 1 ? "claim holds" : "claims hold",
                          r.failed, r.failed == 1 ? "fails" : "fail"));
  return r.failed ? LIMN_WRONG : LIMN_GOOD;
}
