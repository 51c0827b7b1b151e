// `limn run`: simulates all runs of a program and evaluates all checks, in program order.
//
// Each prints a line. Values and results go to a run folder, which is made before the first run, so
// that problems with writing are found early. Whatever happens, the folder records how the run
// ended, and all results so far.
#include "base/diag.h"
#include "base/files.h"
#include "base/stop.h"
#include "base/table.h"

#include "run/runs/weights.h"
#include "run/sim/simulate_own.h"

#include "run/feed/feed.h"

#include <math.h>

enum { DRAWS_A_SECOND = 10 };

static void print_line(const Simulation *r, const char *text) {
  if (!r->how->quiet) tell_line(&r->how->tell, text);
}

// If the result is printed as JSON, lines go elsewhere, and this is the only output.
static void report_progress_text(void *context, const char *text) {
  const Simulation *r = context;
  if (!r->how->quiet || r->how->json) tell_line(&r->how->tell, text);
}

static bool wrong(Simulation *r, const char *why) {
  return diag_refuse(r->w->diags, (Span){0}, "%s", why);
}

static bool draws_now(Simulation *r, double now) {
  if (!r->how->tell.redraw || r->how->quiet || now - r->drawn < 1.0 / DRAWS_A_SECOND) return false;
  r->drawn = now;
  return true;
}

// Progress, at most ten times a second and not in the first tenth. The progress of helpers is
// included.
void simulation_redraw(Simulation *r, double part) {
  const LimnTell *to = &r->how->tell;
  double now = clock_seconds(), took = now - r->begun, all = part;
  char text[160];
  if (!draws_now(r, now)) return;
  uint32_t done = 0, n = helpers_progress(r->helpers, &all, &done);
  if (n) part = all, took = now - r->first;
  int length =
      n ? snprintf(text, sizeof text, "run    %u of %u runs, %3.0f %%", done, n, 100 * part)
        : snprintf(text, sizeof text, "run    %.60s %3.0f %%", r->results->run.at[r->running].name,
                   fmin(part, 1) * 100);
  if (took > 1 && part > 0 && length > 0)
    snprintf(text + length, sizeof text - (size_t)length, ", %.0f s left",
             took * (1 - part) / part);
  to->redraw(to->context, text);
}

bool simulation_stops(const Simulation *r) {
  bool late = r->how->seconds > 0 && r->first > 0 && clock_seconds() - r->first > r->how->seconds;
  return late || stop_asked(r->how->stop);
}

static void progress(void *context, double part) {
  Simulation *r = context;
  if (simulation_stops(r)) helpers_quit(r->helpers);
  helpers_start(r);
  helpers_note_progress(r->helpers, r->running, part);
  simulation_redraw(r, part);
}

// -- saved state of runs --------------------------------------------------------------------------
static const char *state_name(const Simulation *r, uint32_t run) {
  return arena_format(r->w->arena, "%s.state.safetensors", r->results->run.at[run].file);
}

static bool save_run(void *context, uint32_t run, const Arrays *all) {
  Simulation *r = context;
  Arena *a = arena_child(r->w->arena);
  Arrays state = *all;
  Bytes bytes;
  const char *error = "";
  vec_push(a, &state.metadata,
           (Metadata){"program", arena_format(a, "%016llx", (unsigned long long)r->program)});
  vec_push(a, &state.metadata,
           (Metadata){"seed", arena_format(a, "%llu", (unsigned long long)r->time.seed)});
  vec_push(a, &state.metadata, (Metadata){"from", r->how->from ? r->how->from : ""});
  vec_push(a, &state.metadata, (Metadata){"set", r->results->note.set});
  sum_end(a, &state);
  bool good = safetensors_bytes(a, &state, &bytes, &error);
  if (good) sum_put(&bytes);
  good = good && file_put_in(a, r->results->dir, state_name(r, run), &bytes, &error);
  if (!good) {
    r->end = OUTCOME_SYSTEM;
    wrong(r, error);
  }
  arena_free(a);
  return good;
}

static bool read_run(Simulation *r, const char *dir, uint32_t run, SavedRun *out) {
  Arrays *all = NEW(r->w->arena, Arrays);
  const char *error;
  out->file = arena_format(r->w->arena, "%s/%s", dir, state_name(r, run));
  if (!path_exists(out->file)) return true;
  out->arrays = all;
  return folder_read(r->w->arena, out->file, all, &error) || wrong(r, error);
}

// Was the run started with the same value of this option? `--from`, `--set`
static bool same_option(Simulation *r, const Arrays *all, const char *key, const char *now) {
  const char *then = arrays_metadata(all, key);
  if (!then || !strcmp(then, now)) return true;
  return wrong(
      r, arena_format(r->w->arena, "cannot resume %s: it was begun with --%s %s, and now it is %s",
                      r->results->dir, key, *then ? then : "nothing", *now ? now : "nothing"));
}

static bool run_saved(void *context, uint32_t run, SavedRun *out) {
  Simulation *r = context;
  if (!read_run(r, r->results->dir, run, out)) return false;
  if (!out->arrays) return true;
  const char *program = arrays_metadata(out->arrays, "program");
  const char *now = arena_format(r->w->arena, "%016llx", (unsigned long long)r->program);
  if (!same_option(r, out->arrays, "from", r->how->from ? r->how->from : "") ||
      !same_option(r, out->arrays, "set", r->results->note.set))
    return false;
  if (program && !strcmp(program, now)) return true;
  return wrong(r, arena_format(r->w->arena, "cannot resume %s: the program has changed: %s",
                               r->results->dir, program_difference(r->w, r->p, r->results->dir)));
}

static bool run_before(void *context, uint32_t run, SavedRun *out) {
  Simulation *r = context;
  if (!read_run(r, r->before, run, out)) return false;
  return out->arrays || wrong(r, arena_format(r->w->arena, "%s has no run `%s` to go on with",
                                              r->before, r->results->run.at[run].name));
}

// -- weights of runs of training ------------------------------------------------------------------
static bool put_sources(void *context, Store *s) {
  const Simulation *r = context;
  Table *known = table_new(r->w->arena);
  paths_add(known, &r->weights);
  return store_load_sources(r->in, r->p, s, known);
}

static bool put_weights(void *context, Store *s) {
  const Simulation *r = context;
  return store_load_all(r->in, r->p, s, &r->weights, r->file);
}

static bool is_machine_run(Arena *a, const char *dir) {
  return path_exists(arena_format(a, "%s/run.json", dir)) && !path_exists(folder_weights(a, dir));
}

static bool read_weights(Simulation *r) {
  const char *error;
  r->time.begin = put_sources;
  if (!r->how->from) return true;
  if (is_machine_run(r->w->arena, r->how->from)) {
    r->before = r->how->from;
    r->time.before = run_before;
    return true;
  }
  r->file = folder_weights(r->w->arena, r->how->from);
  if (!folder_read_weights(r->w->arena, r->how->from, &r->weights, &error)) return wrong(r, error);
  r->time.fill = put_weights;
  return true;
}

// -- lines ----------------------------------------------------------------------------------------
static bool write_numbers(Simulation *r, const SimResult *to) {
  const char *error = "";
  if (numbers_write(r->results, to, &error)) return true;
  r->end = OUTCOME_SYSTEM;
  return wrong(r, error);
}

// How far it got.
static const char *progress_reached(const Simulation *r, const SimRecord *record, const char *how,
                                    double at) {
  if (!record->time.n) return ", stopped before its first moment";
  return arena_format(r->w->arena, ", %s %s%.10g", how, record->flows ? "t = " : "tick ", at);
}

static double last_kept(const SimRecord *record) {
  return record->time.n ? record->time.at[record->time.n - 1] : 0;
}

// Each run reports its own errors, even if another has reported one at the same place.
void diags_separate(Diags *d, uint32_t *since) {
  enum { MESSAGES = 20 };
  *since = d->since;
  if (d->list.n < d->since + MESSAGES) d->since = d->list.n;
}

// Rounded as in run.json, so a report made from run.json is the same.
static double seconds_since(double begun) { return round((clock_seconds() - begun) * 1e3) / 1e3; }

bool simulation_run(Simulation *r, uint32_t i, Followed *to, double *seconds) {
  uint32_t since;
  r->running = i;
  r->begun = r->drawn = clock_seconds();
  diags_separate(r->w->diags, &since);
  bool good = follow_run(r->in, r->p, i, &r->time, to);
  r->w->diags->since = since;
  *seconds = seconds_since(r->begun);
  return good;
}

static bool simulate_one(Simulation *r, uint32_t i) {
  SimResult *to = &r->results->run.at[i];
  to->failed = !helpers_run(r, i, &r->followed[i], &to->seconds);
  to->record = r->followed[i].record;
  to->done = !to->failed || to->record.time.n > 0;
  to->stopped = r->followed[i].stopped;
  if (to->failed) {
    print_line(r, arena_format(r->w->arena, "fails  %s %s%s", to->name, to->words,
                               to->done ? progress_reached(r, &to->record, "known up to",
                                                           last_kept(&to->record))
                                        : ", it does not begin"));
    if (r->results->dir && to->done) write_numbers(r, to);
    return false;
  }
  // A log does not need the time of short runs.
  bool long_one = to->seconds >= 1 && r->how->tell.redraw;
  const char *took = long_one ? arena_format(r->w->arena, ", %.1f s", to->seconds) : "";
  const SimRecord *record = &to->record;
  const char *end = !record->halted ? ""
                                    : progress_reached(r, record, "it stops at", last_kept(record)),
             *stopped =
                 !to->stopped ? "" : progress_reached(r, record, "stopped at", record->reached);
  print_line(r, arena_format(r->w->arena, "run    %s %s: %llu %s%s%s%s", to->name, to->words,
                             (unsigned long long)record->steps, record->flows ? "steps" : "ticks",
                             end, took, stopped));
  return !r->results->dir || write_numbers(r, to);
}

static bool evaluate_check(Simulation *r, uint32_t i) {
  RunCheck *to = &r->results->note.check.at[i];
  Verdict v = {0};
  uint32_t run = r->p->ran->check.at[i].run;
  if (run && r->results->run.at[run - 1].failed) return true; // not evaluated
  if (!verify_check(r->in, r->p, i, r->followed, &r->time, &v)) return false;
  to->done = true;
  to->holds = v.holds;
  to->figure = v.figure;
  print_line(r, arena_format(r->w->arena, "%s  %s%s%s   %s", v.holds ? "holds" : "FAILS", to->of,
                             *to->of ? " : " : "", claim_text(r->w->arena, to), v.figure));
  return true;
}

// A check comes after its run in the text, and is evaluated in that order. After a failure, what
// does not depend on it continues, unless nothing can be written.
static bool run_in_order(Simulation *r) {
  uint32_t run = 0, check = 0;
  bool good = true;
  const Machines *all = r->p->ran;
  while (run < all->run.n || check < all->check.n) {
    bool now = check == all->check.n ||
               (run < all->run.n && all->run.at[run].order < all->check.at[check].order);
    bool asked = !r->how->only || (now && run + 1 == r->how->only);
    if (asked) good &= now ? simulate_one(r, run) : evaluate_check(r, check);
    now ? run++ : check++;
    if (r->end == OUTCOME_SYSTEM || simulation_stops(r)) break;
  }
  return good;
}

static const char *all_messages(World *w) {
  Buf b = buf_new(w->arena);
  diags_sort(w->diags);
  diags_print(w->diags, &b);
  return b.n ? b.at : NULL;
}

static void print_claims(const Simulation *r) {
  uint32_t held = results_count(r->results, true), failed = results_count(r->results, false);
  uint32_t left = r->results->note.check.n - held - failed;
  const char *rest =
      !left ? ""
            : arena_format(r->w->arena, ", %u %s not looked at", left, left == 1 ? "is" : "are");
  if (held + failed + left)
    print_line(r, arena_format(r->w->arena, "%u %s, %u %s%s", held,
                               held == 1 ? "claim holds" : "claims hold", failed,
                               failed == 1 ? "fails" : "fail", rest));
}

// -- the folder -----------------------------------------------------------------------------------
// Do all saved runs in the folder belong to this program? Checked before the first file is written.
static bool all_can_resume(Simulation *r, const char *dir) {
  bool good = true;
  r->results->dir = dir;
  for (uint32_t i = 0; good && i < r->results->run.n; i++) good = run_saved(r, i, &(SavedRun){0});
  r->results->dir = NULL;
  return good;
}

static bool resume_folder(Simulation *r) {
  Results *to = r->results;
  RunNote note;
  const char *dir = r->how->resume, *error = "";
  r->end = OUTCOME_WRONG;
  if (r->how->plain || r->how->out) return wrong(r, "a run that is resumed stays in its folder");
  if (!is_machine_run(to->arena, dir))
    return wrong(r, arena_format(to->arena, "%s holds no run of machines", dir));
  if (!note_read(to->arena, dir, &note, &error)) return wrong(r, error);
  if (r->how->seed && (double)r->how->seed != note.seed)
    return wrong(r, arena_format(to->arena, "cannot resume %s: its seed is %.0f", dir, note.seed));
  if (!all_can_resume(r, dir)) return false;
  for (uint32_t i = 0; i < to->run.n; i++)
    if (i >= note.run.n || strcmp(note.run.at[i].name, to->run.at[i].name) != 0)
      return wrong(r, arena_format(to->arena,
                                   "%s was made by another program: it has no run %u called `%s`",
                                   dir, i + 1, to->run.at[i].name));
  r->folder->dir = dir;
  if (!folder_lock(r->folder, &error, &r->end)) return wrong(r, error);
  to->dir = dir;
  to->note.seed = note.seed;
  r->time.seed = (uint64_t)note.seed;
  r->time.save = save_run;
  r->time.saved = run_saved;
  error = note_write(to->arena, dir, results_note(to), &r->end);
  return !error || wrong(r, error);
}

static void drop_lock(void *folder) { folder_unlock(folder); }

static bool folder_begin(Simulation *r) {
  Results *to = r->results;
  RunFolder *folder = r->folder = NEW(to->arena, RunFolder);
  const char *why = "";
  *folder = (RunFolder){.arena = to->arena, .lock = -1};
  arena_on_free(to->arena, drop_lock, folder); // also if memory runs out
  if (r->how->resume) return resume_folder(r);
  if (r->how->plain) return true;
  r->time.save = save_run;
  program_copy_names(r->w, to->p, &folder->writes);
  results_file_names(to, &folder->writes);
  if (!folder_new(folder, r->how->out, to->note.program, "name another folder", &why, &r->end))
    return wrong(r, why);
  if (!folder_lock(folder, &why, &r->end)) return wrong(r, why);
  to->dir = folder->dir;
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

// After an interruption: prints the command that resumes.
static void print_resume_command(const Simulation *r) {
  Buf b = buf_new(r->w->arena);
  buf_text(&b, "stopped; ");
  if (r->results->dir) {
    buf_text(&b, "to go on: ");
    folder_resume_command(r->folder, "run", r->results->note.program, r->results->note.set, &b);
    if (r->how->from) buf_printf(&b, " --from %s", r->how->from);
  } else {
    buf_text(&b, "without a folder nothing was saved, and it begins anew");
  }
  report_progress_text((void *)r, b.at);
}

static Outcome follow_all(Simulation *r) {
  Results *to = r->results;
  double begun = clock_seconds();
  if (!read_weights(r)) return OUTCOME_WRONG;
  if (!folder_begin(r)) return r->end;
  r->time.initial_seed = r->time.seed ? r->time.seed : weights_seed(r->in, r->p, &r->weights);
  r->end = OUTCOME_WRONG;
  r->first = clock_seconds();
  bool good = run_in_order(r);
  helpers_end(r->helpers);
  to->note.seconds = seconds_since(begun);
  to->note.state = !good ? "failed" : all_done(to) ? "finished" : "stopped";
  print_claims(r);
  if (simulation_stops(r) && !all_done(to)) print_resume_command(r);
  if (!good) to->note.message = all_messages(r->w);
  Outcome noted = OUTCOME_WRONG;
  const char *why = to->dir ? note_write(to->arena, to->dir, results_note(to), &noted) : NULL;
  if (why) return wrong(r, why), noted > r->end ? noted : r->end;
  return good && !results_count(to, false) ? OUTCOME_GOOD : r->end;
}

bool simulate_ahead(Elab *in, Program *p) {
  bool good = true;
  for (uint32_t i = 0; p->ran && i < p->ran->run.n; i++) good &= run_has_table(in, p, i);
  return good;
}

// A GPU is used for discrete time; continuous time would need a round trip for every evaluation of
// the rates.
static void print_device(Simulation *r) {
  Buf flows = buf_new(r->w->arena);
  bool ticks = false;
  for (uint32_t i = 0; i < r->results->run.n; i++) {
    ticks |= !r->results->run.at[i].system->flows;
    if (r->results->run.at[i].system->flows)
      buf_printf(&flows, "%s%s", flows.n ? ", " : "", r->results->run.at[i].name);
  }
  if (ticks)
    print_line(r, arena_format(r->w->arena, "machines with ticks run on %s",
                               engine_device_model(r->time.device)));
  if (flows.n)
    print_line(r, arena_format(r->w->arena, "machines with rates run on the CPU: %s", flows.at));
}

// A resumed run stays on its device, unless another is given.
static void keep_device(Simulation *r, const RunNote *was) {
  const char *why = "";
  if (r->how->device || r->how->reference ||
      engine_device_ready(r->w, was->device, &r->time.device, &why))
    return;
  report_progress_text(
      r, arena_format(
             r->w->arena,
             "the run was on %s, and continues on the CPU, since %s: the last digits may differ",
             was->device_is ? was->device_is : was->device, why));
}

static bool open_device(Simulation *r) {
  const char *why;
  RunNote was, *note = &r->results->note;
  if (!engine_device_ready(r->w, r->how->device, &r->time.device, &why)) return wrong(r, why);
  if (r->how->resume && note_read(r->w->arena, r->how->resume, &was, &why) && was.device)
    keep_device(r, &was);
  note->device = engine_device_name(r->w->arena, r->time.device);
  note->device_is = engine_device_model(r->time.device);
  return true;
}

Outcome simulate_run(Elab *in, Program *p, const LimnRun *how, const SimHelpers *helpers,
                     Results *results) {
  World *w = elab_world(in);
  Simulation r = {.in = in, .p = p, .w = w, .how = how, .results = results};
  r.time = (SimOptions){.seed = how->seed,
                        .threads = how->threads,
                        .reference = how->reference,
                        .context = &r,
                        .progress = progress,
                        .say = report_progress_text,
                        .stop = how->stop};
  results_begin(results, in, p);
  if (!p->ran->run.n && !p->ran->check.n) {
    wrong(&r, "this program has nothing to run: `run Machine to 10`, `check …`");
    return OUTCOME_WRONG;
  }
  if (how->only > p->ran->run.n) {
    wrong(&r, arena_format(w->arena, "there is no run %u: this program has %u", how->only,
                           p->ran->run.n));
    return OUTCOME_WRONG;
  }
  results->note.seed = (double)how->seed;
  results->note.threads = how->threads;
  if (!open_device(&r)) return OUTCOME_SYSTEM;
  r.program = program_hash(w, p);
  r.followed = NEW_ARRAY(w->arena, Followed, p->ran->run.n + 1);
  if (r.time.device) print_device(&r);
  r.helpers = helpers_new(&r, r.time.device ? NULL : helpers); // a device has one user
  if (how->seconds > 0) r.time.stop = helpers_stop(r.helpers);
  Outcome end = follow_all(&r);
  if (r.folder) folder_unlock(r.folder);
  return end;
}
