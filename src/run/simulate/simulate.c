// `limn run`: every run of a program is followed, every check looked at, in the order of the text.
//
// Each gives a line. Numbers and words go to a run folder, which is made before the first
// run begins, so that what cannot be written is known before the work. Whatever happens, the folder
// says how it ended; what was followed until then is in it.
#include "run/simulate/simulate.h"

#include "run/feed/feed.h"

#include <math.h>

enum { DRAWS_A_SECOND = 10 };

typedef struct {
  Results *results;
  World *w;
  const LimnRun *how;
  SimOptions time;
  Followed *followed; // [run]
  uint32_t running;   // its number
  double begun, drawn;
  Arrays weights;
  const char *file;
  Outcome end; // where it is not the program that is wrong
} Ran;

static void tell(const Ran *r, const char *text) {
  if (!r->how->quiet) tell_line(&r->how->tell, text);
}

// Where the result is JSON, lines go elsewhere, and this is the only one.
static void say(void *context, const char *text) {
  const Ran *r = context;
  if (!r->how->quiet || r->how->json) tell_line(&r->how->tell, text);
}

static bool wrong(Ran *r, const char *why) {
  return diag_refuse(r->w->diags, (Span){0}, "%s", why);
}

// At most ten times a second, and not in the first tenth.
static void progress(void *context, double part) {
  Ran *r = context;
  const LimnTell *to = &r->how->tell;
  double now = clock_seconds(), took = now - r->begun;
  char text[160];
  if (!to->redraw || r->how->quiet || now - r->drawn < 1.0 / DRAWS_A_SECOND) return;
  r->drawn = now;
  int n = snprintf(text, sizeof text, "run    %.60s %3.0f %%", r->results->run.at[r->running].name,
                   fmin(part, 1) * 100);
  if (took > 1 && part > 0 && n > 0)
    snprintf(text + n, sizeof text - (size_t)n, ", %.0f s left", took * (1 - part) / part);
  to->redraw(to->context, text);
}

// -- weights of runs of training -----------------------------------------------------------------
static bool put_sources(void *context, Store *s) {
  const Ran *r = context;
  Table *known = table_new(r->w->arena);
  paths_add(known, &r->weights);
  return store_add_sources(r->results->in, r->results->p, s, known);
}

static bool put_weights(void *context, Store *s) {
  const Ran *r = context;
  return store_put_all(r->results->in, r->results->p, s, &r->weights, r->file);
}

static bool read_weights(Ran *r) {
  const char *error;
  r->time.begin = put_sources;
  if (!r->how->from) return true;
  r->file = folder_weights(r->w->arena, r->how->from);
  if (!safetensors_read(r->w->arena, r->file, &r->weights, &error)) return wrong(r, error);
  r->time.fill = put_weights;
  return true;
}

// -- lines ----------------------------------------------------------------------------------------
static bool write_numbers(Ran *r, const SimResult *to) {
  const char *error = "";
  if (numbers_write(r->results, to, &error)) return true;
  r->end = OUTCOME_SYSTEM;
  return wrong(r, error);
}

static bool do_run(Ran *r, uint32_t i) {
  SimResult *to = &r->results->run.at[i];
  r->running = i;
  r->begun = r->drawn = clock_seconds();
  to->failed = !follow_run(r->results->in, r->results->p, i, &r->time, &r->followed[i]);
  to->seconds = clock_seconds() - r->begun;
  to->record = r->followed[i].record;
  to->done = !to->failed || to->record.time.n > 0;
  to->stopped = r->followed[i].stopped;
  if (to->failed) {
    if (r->results->dir && to->done) write_numbers(r, to);
    return false;
  }
  bool long_one = to->seconds >= 1 && r->how->tell.redraw; // a log need not know
  const char *took = long_one ? arena_format(r->w->arena, ", %.1f s", to->seconds) : "";
  const SimRecord *record = &to->record;
  const char *end =
      !record->halted || !record->time.n
          ? ""
          : arena_format(r->w->arena, ", it stops at %s%.10g", record->flows ? "t = " : "tick ",
                         record->time.at[record->time.n - 1]);
  tell(r, arena_format(r->w->arena, "run    %s %s: %llu %s%s%s%s", to->name, to->words,
                       (unsigned long long)record->steps, record->flows ? "steps" : "ticks", end,
                       took, to->stopped ? ", stopped" : ""));
  return !r->results->dir || write_numbers(r, to);
}

static bool do_check(Ran *r, uint32_t i) {
  RunCheck *to = &r->results->note.check.at[i];
  Verdict v = {0};
  if (!verify_check(r->results->in, r->results->p, i, r->followed, &r->time, &v)) return false;
  to->done = true;
  to->holds = v.holds;
  to->figure = v.figure;
  tell(r, arena_format(r->w->arena, "%s  %s%s%s   %s", v.holds ? "holds" : "FAILS", to->of,
                       *to->of ? " : " : "", to->text, v.figure));
  return true;
}

// A check stands behind its run in the text; so do all things here.
static bool in_order(Ran *r) {
  uint32_t run = 0, check = 0;
  const Machines *all = r->results->p->ran;
  while (run < all->run.n || check < all->check.n) {
    bool now = check == all->check.n ||
               (run < all->run.n && all->run.at[run].order < all->check.at[check].order);
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
  uint32_t held = results_count(r->results, true), failed = results_count(r->results, false);
  if (held + failed)
    tell(r,
         arena_format(r->w->arena, "%u %s, %u %s", held, held == 1 ? "claim holds" : "claims hold",
                      failed, failed == 1 ? "fails" : "fail"));
}

// -- the folder -----------------------------------------------------------------------------------
static bool folder_begin(Ran *r) {
  Results *to = r->results;
  RunFolder folder = {.arena = to->arena, .lock = -1};
  const char *why = "";
  if (r->how->plain) return true;
  if (!folder_new(&folder, r->how->out, to->note.program, "name another folder", &why, &r->end))
    return wrong(r, why);
  to->dir = folder.dir;
  why = program_copy(r->w, to->p, to->dir, &r->end);
  if (!why) why = note_write(to->arena, to->dir, results_note(to), &r->end);
  if (!why) return true;
  to->dir = NULL;
  return wrong(r, why);
}

static bool all_done(const Results *r) {
  for (uint32_t i = 0; i < r->note.check.n; i++)
    if (!r->note.check.at[i].done) return false;
  for (uint32_t i = 0; i < r->run.n; i++)
    if (!r->run.at[i].done || r->run.at[i].stopped) return false;
  return true;
}

static Outcome follow_all(Ran *r) {
  Results *to = r->results;
  double begun = clock_seconds();
  if (!read_weights(r)) return OUTCOME_WRONG;
  if (!folder_begin(r)) return r->end;
  r->end = OUTCOME_WRONG;
  bool good = in_order(r);
  to->note.seconds = clock_seconds() - begun;
  to->note.state = !good ? "failed" : all_done(to) ? "finished" : "stopped";
  if (good)
    tell_claims(r);
  else
    to->note.message = all_messages(r->w);
  Outcome noted = OUTCOME_WRONG;
  const char *why = to->dir ? note_write(to->arena, to->dir, results_note(to), &noted) : NULL;
  if (why) return wrong(r, why), noted > r->end ? noted : r->end;
  return good && !results_count(to, false) ? OUTCOME_GOOD : r->end;
}

Outcome simulate_run(Elab *in, Program *p, const LimnRun *how, Results *results) {
  World *w = elab_world(in);
  Ran r = {.w = w, .how = how, .results = results};
  r.time = (SimOptions){.seed = how->seed,
                        .threads = how->threads,
                        .reference = how->reference,
                        .context = &r,
                        .progress = progress,
                        .say = say,
                        .stop = how->stop};
  results_begin(results, in, p);
  if (!p->ran->run.n && !p->ran->check.n) {
    wrong(&r, "this program has nothing to run: `run Machine to 10`, `check …`");
    return OUTCOME_WRONG;
  }
  results->note.seed = (double)how->seed;
  results->note.threads = how->threads;
  r.followed = NEW_ARRAY(w->arena, Followed, p->ran->run.n + 1);
  return follow_all(&r);
}
