// `limn run`: every run of a program is followed, every check looked at, in the order of the text.
//
// Each gives a line. Numbers, words and pictures go to a run folder, which is made before the first
// run begins, so that what cannot be written is known before the work. Whatever happens, the folder
// says how it ended; what was followed until then is in it.
#include "show/report/machines_own.h"

#include <math.h>

enum { DRAWS_A_SECOND = 10 };

typedef struct {
  Results results;
  World *w;
  const LimnRun *how;
  SimOptions time;
  Followed *followed; // [run]
  uint32_t running;   // its number
  double begun, drawn;
  Arrays weights;
  const char *file;
} Ran;

static void tell(const Ran *r, const char *text) {
  const LimnTell *to = &r->how->tell;
  if (!to->line || r->how->json || r->how->quiet) return;
  if (to->redraw) to->redraw(to->context, "");
  to->line(to->context, text);
}

static bool wrong(Ran *r, const char *why) {
  diag_error(r->w->diags, (Span){0}, "%s", why);
  return false;
}

// At most ten times a second, and not in the first tenth.
static void progress(void *context, double part) {
  Ran *r = context;
  const LimnTell *to = &r->how->tell;
  double now = clock_seconds(), took = now - r->begun;
  char text[160];
  if (!to->redraw || r->how->json || r->how->quiet || now - r->drawn < 1.0 / DRAWS_A_SECOND) return;
  r->drawn = now;
  int n = snprintf(text, sizeof text, "run    %.60s %3.0f %%", r->results.run.at[r->running].name,
                   fmin(part, 1) * 100);
  if (took > 1 && part > 0 && n > 0)
    snprintf(text + n, sizeof text - (size_t)n, ", %.0f s left", took * (1 - part) / part);
  to->redraw(to->context, text);
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

// -- what there is to do --------------------------------------------------------------------------
static const char *run_words(Arena *a, const Run *run) {
  return run->system->flows ? arena_format(a, "to %g", run->end)
                            : arena_format(a, "for %.0f ticks", run->end);
}

// Machine[3](x: 1): the machine as it is written. It was made before, so it has no errors.
static const System *system_named(Results *r, const Syntax *use) {
  const Syntax *name = use->kind == N_AT ? use->kid[0] : use;
  return elab_system(r->in, r->p, name_text(r->w->names, name->name), use);
}

static void find_systems(Results *r, const Run *run, RanRun *to) {
  const Syntax *n = run->node, *call = n->kid[0];
  to->system = system_named(r, call->kind == N_CALL ? call->kid[0] : call);
  for (uint32_t i = 1; i < n->nkid; i++)
    if (n->kid[i]->kind == N_ON && n->kid[i]->kid[0]->kind != N_STR && !run->set)
      to->on = system_named(r, n->kid[i]->kid[0]);
}

static const char *run_file(Results *r, const char *name) {
  uint32_t same = 1;
  for (uint32_t i = 0; i < r->run.n; i++) same += strcmp(r->run.at[i].name, name) == 0;
  return same == 1 ? name : arena_format(r->arena, "%s.%u", name, same);
}

void results_begin(Results *r, Elab *in, Program *p) {
  World *w = elab_world(in);
  *r = (Results){.in = in, .p = p, .w = w, .arena = w->arena, .state = "running"};
  r->path = w->sources->file.at[p->tree->span.file].path;
  for (uint32_t i = 0; i < p->ran->run.n; i++) {
    const Run *run = &p->ran->run.at[i];
    const char *name = name_text(w->names, run->name);
    RanRun one = {.name = name, .file = run_file(r, name), .words = run_words(r->arena, run)};
    find_systems(r, run, &one);
    vec_push(r->arena, &r->run, one);
  }
  for (uint32_t i = 0; i < p->ran->check.n; i++) {
    const Check *c = &p->ran->check.at[i];
    RanCheck one = {.of = c->of, .text = one_line(r->arena, c->text)};
    one.figure = "";
    vec_push(r->arena, &r->check, one);
  }
}

uint32_t results_count(const Results *r, bool holds) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->check.n; i++)
    n += r->check.at[i].done && r->check.at[i].holds == holds;
  return n;
}

// -- lines ----------------------------------------------------------------------------------------
static bool do_run(Ran *r, uint32_t i) {
  RanRun *to = &r->results.run.at[i];
  r->running = i;
  r->begun = r->drawn = clock_seconds();
  to->failed = !follow_run(r->results.in, r->results.p, i, &r->time, &r->followed[i]);
  to->seconds = clock_seconds() - r->begun;
  to->record = r->followed[i].record;
  to->done = !to->failed || to->record.time.n > 0;
  to->stopped = r->followed[i].stopped;
  const char *error = "";
  if (to->failed) {
    if (r->results.dir && to->done && !numbers_write(&r->results, to, &error)) wrong(r, error);
    return false;
  }
  bool long_one = to->seconds >= 1 && r->how->tell.redraw; // a log need not know
  const char *took = long_one ? arena_format(r->w->arena, ", %.1f s", to->seconds) : "";
  tell(r, arena_format(r->w->arena, "run    %s %s: %llu %s%s%s", to->name, to->words,
                       (unsigned long long)to->record.steps, to->record.flows ? "steps" : "ticks",
                       took, to->stopped ? ", stopped" : ""));
  return !r->results.dir || numbers_write(&r->results, to, &error) || wrong(r, error);
}

static bool do_check(Ran *r, uint32_t i) {
  RanCheck *to = &r->results.check.at[i];
  Verdict v = {0};
  if (!verify_check(r->results.in, r->results.p, i, r->followed, &r->time, &v)) return false;
  to->done = true;
  to->holds = v.holds;
  to->figure = v.figure;
  tell(r, arena_format(r->w->arena, "%s  %s : %s   %s", v.holds ? "holds" : "FAILS", to->of,
                       to->text, v.figure));
  return true;
}

// A check stands behind its run in the text; so do all things here.
static bool in_order(Ran *r) {
  uint32_t run = 0, check = 0;
  const Machines *all = r->results.p->ran;
  while (run < all->run.n || check < all->check.n) {
    bool now = check == all->check.n ||
               (run < all->run.n && all->run.at[run].span.at < all->check.at[check].span.at);
    if (now ? !do_run(r, run++) : !do_check(r, check++)) return false;
    if (r->how->stop && *r->how->stop) return true;
  }
  return true;
}

static const char *all_messages(World *w) {
  Buf b = buf_new(w->arena);
  diags_sort(w->diags);
  diags_print(w->diags, &b);
  return b.n ? b.at : NULL;
}

static void tell_claims(const Ran *r) {
  uint32_t held = results_count(&r->results, true), failed = results_count(&r->results, false);
  if (held + failed)
    tell(r,
         arena_format(r->w->arena, "%u %s, %u %s", held, held == 1 ? "claim holds" : "claims hold",
                      failed, failed == 1 ? "fails" : "fail"));
}

// -- the folder -----------------------------------------------------------------------------------
static bool folder_begin(Ran *r) {
  Results *to = &r->results;
  const char *why, *error = "";
  if (r->how->plain) return true;
  if (r->how->out) {
    to->dir = r->how->out;
    why = folder_make(to->arena, to->dir);
    if (!why && folder_taken(to->arena, to->dir)) {
      to->dir = NULL;
      return wrong(
          r, arena_format(to->arena, "%s holds a run already: name another folder", r->how->out));
    }
  } else {
    why = folder_next(to->arena, to->path, &to->dir);
  }
  if (why) why = arena_format(to->arena, "cannot make the folder %s: %s", to->dir, why);
  if (!why) {
    why = program_copy(r->w, to->p, to->dir);
    if (why) why = arena_format(to->arena, "cannot copy the program into %s: %s", to->dir, why);
  }
  if (!why && note_write(to, &error)) return true;
  to->dir = NULL;
  return wrong(r, why ? why : error);
}

static bool folder_end(Ran *r) {
  const char *error = "";
  if (!r->results.dir) return true;
  if (!note_write(&r->results, &error) || !ran_page(&r->results, &error)) return wrong(r, error);
  tell(r, arena_format(r->w->arena, "report %s/report.html", r->results.dir));
  return true;
}

static bool all_done(const Results *r) {
  for (uint32_t i = 0; i < r->check.n; i++)
    if (!r->check.at[i].done) return false;
  for (uint32_t i = 0; i < r->run.n; i++)
    if (!r->run.at[i].done || r->run.at[i].stopped) return false;
  return true;
}

LimnStatus machines_run(Elab *in, Program *p, const LimnRun *how, Buf *json) {
  World *w = elab_world(in);
  Ran r = {.w = w, .how = how};
  r.time = (SimOptions){.seed = how->seed,
                        .threads = how->threads,
                        .reference = how->reference,
                        .context = &r,
                        .progress = progress,
                        .stop = how->stop};
  if (!p->ran->run.n && !p->ran->check.n) {
    diag_error(w->diags, (Span){0},
               "this program has nothing to run: `run Machine to 10`, `check …`");
    return LIMN_WRONG;
  }
  results_begin(&r.results, in, p);
  r.results.seed = (double)how->seed;
  r.results.threads = how->threads;
  r.followed = NEW_ARRAY(w->arena, Followed, p->ran->run.n + 1);
  double begun = clock_seconds();
  if (!read_weights(&r)) return LIMN_WRONG;
  if (!folder_begin(&r)) return LIMN_SYSTEM;
  bool good = in_order(&r);
  r.results.seconds = clock_seconds() - begun;
  r.results.state = !good ? "failed" : all_done(&r.results) ? "finished" : "stopped";
  if (good)
    tell_claims(&r);
  else
    r.results.why = all_messages(w);
  bool kept = folder_end(&r);
  if (how->json) note_text(&r.results, json);
  if (!kept) return LIMN_SYSTEM;
  return good && !results_count(&r.results, false) ? LIMN_GOOD : LIMN_WRONG;
}

// -- a folder that is there -----------------------------------------------------------------------
bool machines_ran(Arena *a, const char *dir) {
  const char *path = arena_format(a, "%s/run.json", dir), *why;
  FileText file = file_read(a, path, NOTE_MOST);
  const Json *j = file.text ? json_read(a, file.text, file.n, &why) : NULL;
  const Json *kind = j && j->kind == JSON_OBJECT ? json_get(j, "kind") : NULL;
  return kind && kind->kind == JSON_TEXT && strcmp(kind->text, "machine") == 0;
}

LimnStatus machines_report(Elab *in, Program *p, const char *dir) {
  Results r;
  const char *error = "";
  results_begin(&r, in, p);
  r.dir = dir;
  bool good = note_read(&r, &error);
  for (uint32_t i = 0; good && i < r.run.n; i++) good = numbers_read(&r, i, &error);
  bool disk = good && !ran_page(&r, &error);
  if (good && !disk) return LIMN_GOOD;
  diag_error(elab_world(in)->diags, (Span){0}, "%s", error);
  return disk ? LIMN_SYSTEM : LIMN_WRONG;
}
