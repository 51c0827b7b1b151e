// A run from beginning to end: options, data and a run folder; then each `train` statement of the
// program as a phase with its own diagrams, engines and states; then the last checkpoint. Weights
// are passed from phase to phase by name, optimiser states start anew. All resources are released
// in one place, close_all.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/number.h"
#include "base/source.h"
#include "base/table.h"
#include "run/train/train_own.h"

#include <math.h>

enum { BATCH = 64, ROWS = 1000, REPORTS = 200, REPORTS_OF_STEPS = 20 };

bool train_refuse(Trainer *t, Outcome status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(t->w->diags, (Span){0}, format, args);
  va_end(args);
  t->status = status;
  return false;
}

// -- what is asked for ----------------------------------------------------------------------------
static bool read_every(Trainer *t) {
  const char *end;
  if (!t->o->every) return true;
  double x = number_read(t->o->every, &end);
  bool seconds = strcmp(end, "s") == 0;
  if (end == t->o->every || (*end && !seconds) || !(x > 0) || (!seconds && x != floor(x)))
    return train_refuse(t, OUTCOME_USAGE,
                        "--every wants a number of steps (100) or of seconds (30s), not %s",
                        t->o->every);
  if (seconds)
    t->every_seconds = x;
  else
    t->every_steps = (int64_t)x;
  return true;
}

static bool read_options(Trainer *t) {
  const LimnTrain *o = t->o;
  precision_from_option(o->precision, &t->precision);
  t->precision_open = o->precision == LIMN_PRECISION_AUTO;
  if (o->in_memory && (o->out || o->resume))
    return train_refuse(t, OUTCOME_USAGE,
                        "training in memory has no folder: not out, and not resume");
  const char *why;
  t->device_open = !o->device || !strcmp(o->device, "auto");
  if (!engine_device(t->w, o->device, &t->device, &why))
    return train_refuse(t, OUTCOME_SYSTEM, "%s", why);
  if (o->out && o->resume)
    return train_refuse(
        t, OUTCOME_USAGE,
        "a resumed run stays in its folder: --out cannot be combined with --resume");
  if (o->epochs > 0 && o->steps > 0)
    return train_refuse(t, OUTCOME_USAGE, "say --epochs or --steps, not both");
  if (o->steps != floor(o->steps))
    return train_refuse(t, OUTCOME_USAGE, "--steps wants a whole number, not %g", o->steps);
  if (!t->p->train.n) {
    train_refuse(t, OUTCOME_WRONG, "there is no `train` in this program");
    return diag_help(t->w->diags, t->w->diags->list.n - 1, "as in `train 10 epochs, adam(0.001)`");
  }
  t->epochs_asked = o->epochs;
  t->steps_asked = o->steps;
  t->batch_asked = o->batch;
  return read_every(t);
}

// -- a phase --------------------------------------------------------------------------------------
// Each phase has its own seed for noise and shuffles.
static uint64_t phase_seed(const Trainer *t) {
  return t->phase ? site_step(t->seed, t->phase) : t->seed;
}

static void tell_note(void *trainer, const char *text) { tell(trainer, "%s", text); }

Target target_of(Trainer *t) {
  return (Target){.threads = t->o->threads,
                  .device = t->device,
                  .cpu_fallback = true,
                  .reference = t->o->reference,
                  .no_compiler = t->prebuilt,
                  .seed = t->seed,
                  .say = tell_note,
                  .say_to = t,
                  .stop = t->o->stop};
}

static const DataOverride drawn = {0}; // training data, shuffled

static bool new_store(Trainer *t) {
  t->store = store_new(t->precision);
  if (!t->store) return train_refuse(t, OUTCOME_SYSTEM, "out of memory");
  store_set_threads(t->store, t->o->threads);
  return true;
}

static bool fill_store(Trainer *t) {
  for (uint32_t i = 0; i < t->regime.flat.n; i++)
    if (!store_find(t->store, t->regime.flat.at[i].path) &&
        !store_add_flat(t->w, t->store, &t->regime.flat.at[i], t->seed))
      return false;
  for (uint32_t i = 0; i < t->regime.step.n; i++)
    if (!store_add_params(t->w, t->store, t->regime.step.at[i].diagram, t->seed)) return false;
  return store_add_used(t->w, t->store, t->p, t->seed);
}

// The paths of the previous phase's model, which keep their values.
static void add_carried_paths(Trainer *t, Table *known) {
  for (uint32_t i = 0; t->before && i < store_count(t->before); i++) {
    const char *path = store_at(t->before, i)->path;
    if (table_get(t->model, path, strlen(path))) table_put(known, path, strlen(path), 1);
  }
}

// Sets initial values that do not come from the program: from files, from memory, of stale copies,
// and from the previous phase.
static bool initialise_weights(Trainer *t) {
  const Arrays *set = t->phase ? NULL : t->set;
  Table *known = table_new(t->arena);
  paths_add(known, set);
  add_carried_paths(t, known);
  if (!store_load_sources(t->in, t->p, t->store, known)) return false;
  if (set && !store_set_arrays(t->w, t->store, set, "memory")) return false;
  for (uint32_t i = 0; i < t->regime.start.n; i++) {
    const StaleStart *s = &t->regime.start.at[i];
    if (!table_get(known, s->path, strlen(s->path)) &&
        !store_start_as(t->w, t->store, s->path, s->as))
      return false;
  }
  return !t->before || store_copy_paths(t->w, t->store, t->before, t->model);
}

static Engine *engine_for(Trainer *t, uint32_t k, int64_t batch) {
  const Step *s = &t->regime.step.at[k];
  Target how = target_of(t);
  how.seed = phase_seed(t);
  how.steps = t->planned;
  return engine_new(t->w, s->diagram, t->store, has_sample_axis(t->w, s->diagram) ? batch : 0,
                    &how);
}

// If the device has not enough memory for a step: finds the first half, quarter … of the batch that
// fits.
static void suggest_batch(Trainer *t, uint32_t k) {
  Diags *diags = t->w->diags;
  Engine *smaller = NULL;
  Id said = diags->list.n - 1;
  int64_t batch = has_sample_axis(t->w, t->regime.step.at[k].diagram) ? t->batch : 0;
  if (!t->device || !diags->list.n || !t->w->device_full) return;
  diags->muted++;
  while (!smaller && batch > 1) smaller = engine_for(t, k, batch /= 2);
  diags->muted--;
  if (smaller)
    diag_help(diags, said, "--batch %lld fits in its memory; or use --device cpu",
              (long long)batch);
  else
    diag_help(diags, said, "no smaller batch fits in its memory either; --device cpu may work");
  engine_free(smaller);
}

static bool open_engine(Trainer *t, uint32_t k) {
  Step *s = &t->regime.step.at[k];
  t->engine[k] = engine_for(t, k, t->batch);
  bool trial = t->device_open && t->device;
  if (!t->engine[k] && !trial) suggest_batch(t, k);
  if (t->engine[k] && engine_prebuilt(t->engine[k]) && !t->prebuilt) {
    t->prebuilt = true; // for the whole run
    if (t->was_compiled)
      tell_wrong(t, "the run began with compiled code: without it, the last digits may differ");
  }
  return t->engine[k] &&
         feed_add(t->data, &t->feed, &s->fields, t->engine[k], &drawn, &t->inlet[k]);
}

static bool reads_length(const Trainer *t) {
  for (uint32_t i = 0; i < t->regime.step.n; i++) {
    const Diagram *d = t->regime.step.at[i].diagram;
    for (uint32_t k = 0; k < d->param.n; k++)
      if (d->param.at[k].role == ROLE_CLOCK && text_ends(d->param.at[k].path, "steps")) return true;
  }
  return false;
}

// The number of steps, and the steps after which there are rows and reports.
static bool find_length(Trainer *t) {
  double epochs = t->epochs_asked > 0  ? t->epochs_asked
                  : t->steps_asked > 0 ? 0
                                       : t->regime.training.epochs;
  double steps = t->steps_asked > 0 ? t->steps_asked : t->regime.training.steps;
  double each = t->feed.unknown ? 1 : (double)t->epoch_steps;
  bool beyond = t->o->beyond && t->phase + 1 == t->p->train.n;
  if (epochs > 0 && !(each > 0) && beyond && !reads_length(t)) epochs = 0, steps = ENDLESS_STEPS;
  if (epochs > 0 && !(each > 0))
    return train_refuse(
        t, OUTCOME_WRONG,
        "without a finite set of data there are no epochs: give a number of `steps`");
  double total = epochs > 0 ? ceil(epochs * each - 1e-9) : steps;
  if (!(total >= 1)) return train_refuse(t, OUTCOME_WRONG, "training wants at least one step");
  if (!(total < 1e15))
    return train_refuse(t, OUTCOME_WRONG,
                        "this is too long: training has at most 1e15 steps, and this would be %g",
                        total);
  if (!schedules_hold(t->in, t->p, &t->regime.training, total)) return false;
  t->planned = total;
  t->total = (uint64_t)(beyond ? ENDLESS_STEPS : total);
  if (t->o->beyond)
    epochs = 0, total = ENDLESS_STEPS; // a caller's own loop asks for measures itself
  t->row_every = (uint64_t)ceil(total / ROWS);
  double apart = t->regime.training.patience ? 1 : ceil(epochs / REPORTS);
  t->report_every = (uint64_t)(epochs > 0 ? each * apart : ceil(total / REPORTS_OF_STEPS));
  return true;
}

static void find_turns(Trainer *t) {
  const Regime *r = &t->regime;
  t->turns = 0;
  for (uint32_t i = 0; i < r->turn.n; i++) t->turns += r->turn.at[i].times;
  if (!t->turns) t->turns = r->step.n;
  t->turn = NEW_ARRAY(t->arena, uint32_t, t->turns);
  for (uint32_t i = 0; i < t->turns && !r->turn.n; i++) t->turn[i] = i;
  for (uint32_t i = 0, at = 0; i < r->turn.n; i++)
    for (uint32_t k = 0; k < r->turn.at[i].times; k++) t->turn[at++] = r->turn.at[i].step;
  t->uses = NEW_ARRAY(t->arena, uint32_t, r->step.n + 1);
  for (uint32_t i = 0; i < t->turns; i++) t->uses[t->turn[i]]++;
}

static Mean mean_new(const Trainer *t) {
  double *sum = arena_alloc(t->arena, mean_bytes(t->p->goal.n) + 1);
  return (Mean){sum, sum + t->p->goal.n};
}

// A pass reads samples one by one, epochs read them in batches.
static int64_t usual_batch(const Trainer *t) {
  const char *unit = name_text(t->w->names, t->regime.node->name);
  return strncmp(unit, "pass", 4) == 0 ? 1 : BATCH;
}

// Warns if the batch size is not what the data give. A batch size that was asked for is not
// questioned.
static void warn_of_batch(const Trainer *t) {
  int64_t samples = t->feed.samples;
  bool asked = t->batch_asked || t->regime.training.batch;
  if (!asked || !samples || t->batch <= samples) return;
  diag_warning(t->w->diags, t->batch_asked ? (Span){0} : t->regime.node->span,
               "a batch of %lld is wanted, but an epoch has %lld sample%s: a batch has no more",
               (long long)t->batch, (long long)samples, samples == 1 ? "" : "s");
}

// The number of samples in an epoch is needed before engines are made: schedules depend on the
// number of steps.
static bool find_epoch(Trainer *t) {
  bool samples = false;
  for (uint32_t i = 0; i < t->regime.step.n; i++) {
    Step *s = &t->regime.step.at[i];
    s->diagram = compose_noise(t->in, t->p, s->diagram, &s->fields);
    if (!s->diagram) return false;
    if (!feed_draws(t->data, &t->feed, &s->fields, &drawn)) return false;
    samples |= has_sample_axis(t->w, s->diagram);
  }
  t->batch = t->batch_asked             ? t->batch_asked
             : t->regime.training.batch ? t->regime.training.batch
                                        : usual_batch(t);
  if (!samples) t->batch = 0;
  if (t->data->dry_run && !t->feed.unknown) warn_of_batch(t);
  t->epoch_runs = t->feed.samples ? (t->feed.samples + t->batch - 1) / t->batch : 0;
  t->epoch_steps = (t->epoch_runs + t->turns - 1) / t->turns;
  return true;
}

static bool open_steps(Trainer *t) {
  uint32_t n = t->regime.step.n;
  t->engine = NEW_ARRAY(t->arena, Engine *, n + 1);
  t->inlet = NEW_ARRAY(t->arena, Inlets, n + 1);
  if (t->o->tell.redraw && !t->o->quiet) t->o->tell.redraw(t->o->tell.context, "compiling");
  for (uint32_t i = 0; i < n; i++)
    if (!open_engine(t, i)) return false;
  return true;
}

static void close_engines(Trainer *t) {
  feed_stop(&t->feed);
  for (uint32_t i = 0; t->engine && i < t->regime.step.n; i++) engine_free(t->engine[i]);
  t->engine = NULL;
  gauges_close(&t->gauge);
  traces_close(t);
}

// The diagrams of a phase, before its engines and data are opened.
static bool plan_phase(Trainer *t) {
  t->regime = (Regime){0};
  t->feed = (Feed){0};
  t->data->draw_seed = phase_seed(t);
  Changes now = changes_applied(t);
  if (now.n > t->changes_built) now.n = t->changes_built;
  if (!learn_changed(t->in, t->p, t->p->train.at[t->phase], &now, &t->regime)) return false;
  find_turns(t);
  if (!find_epoch(t) || !find_length(t)) return false;
  if (t->lengths && !t->feed.unknown) t->lengths[t->phase] = t->total;
  return true;
}

static bool plan_all(Trainer *t) {
  bool good = true;
  for (t->phase = 0; good && t->phase < t->p->train.n; t->phase++) good = plan_phase(t);
  t->phase = 0;
  return good;
}

// Builds the steps of the program, then those after each change that already applies, one by one:
// each version may have states that others lack, and a resumed run has the states of all.
static bool plan_changes(Trainer *t) {
  uint32_t all = changes_applied(t).n;
  for (t->changes_built = 0;; t->changes_built++) {
    if (!plan_phase(t) || !fill_store(t)) return false;
    if (t->changes_built == all) return true;
  }
}

static const char *first_error_since(const Trainer *t, DiagMark mark) {
  const Diags *d = t->w->diags;
  return d->list.n > mark.said ? arena_format(t->arena, "%s", d->list.at[mark.said].text)
                               : "the GPU cannot";
}

// A GPU that was chosen by default is only tried: if it fails, the CPU is used.
static bool open_on_device(Trainer *t) {
  bool trial = t->device_open && t->device, failed = t->w->diags->machine_failed;
  DiagMark mark = diags_mark(t->w->diags);
  bool good = open_steps(t);
  if (good || !trial) return good;
  const char *why = first_error_since(t, mark);
  diags_rewind(t->w->diags, mark);
  t->w->diags->machine_failed = failed;
  for (uint32_t i = 0; i < t->regime.step.n; i++) engine_free(t->engine[i]);
  t->device = NULL;
  t->device_open = false;
  t->gauge.target = target_of(t);
  choose_precision(t);
  tell_wrong(t, "the CPU computes: %s", why);
  return open_steps(t);
}

static bool make_phase(Trainer *t) {
  t->gauge = (Gauges){.data = t->data,
                      .store = t->store,
                      .target = target_of(t),
                      .batch = t->batch,
                      .goals = t->regime.training.goals,
                      .may_continue = loop_measures,
                      .context = t};
  if (t->o->plan) return open_on_device(t);
  return open_on_device(t) && gauges_open(&t->gauge) && gauges_run_one_batch(&t->gauge) &&
         traces_open(t);
}

// Opens a phase. A resumed run has all values in its checkpoint.
static bool open_phase(Trainer *t, bool resumed) {
  if (!new_store(t) || !plan_changes(t) || (!resumed && !initialise_weights(t))) return false;
  store_free(t->before);
  t->before = NULL;
  choose_device(t, resumed);
  choose_precision(t);
  if (!make_phase(t)) return false;
  if (resumed) tell_moved(t);
  if (t->precision_says) tell(t, "%s", t->precision_says);
  const char *there = t->o->reference ? NULL : engine_precision_note(t->device, t->precision);
  if (there && !t->phase) tell(t, "%s", there);
  t->precision_says = NULL;
  t->precision_open = false; // the precision is fixed for the whole run
  return true;
}

static bool start_feed(Trainer *t) {
  int64_t each = t->epoch_runs ? t->epoch_runs : 1, run = (int64_t)t->step * t->turns;
  return feed_start(t->data, &t->feed, t->batch, run / each, run % each);
}

static bool begin_phase(Trainer *t, const Arrays *state, bool first) {
  t->last = mean_new(t), t->row = mean_new(t), t->report = mean_new(t), t->shown = mean_new(t);
  if (state && !resume_position(t, state)) return false;
  if (first && !record_open(t, state)) return false;
  return start_feed(t);
}

// -- the run --------------------------------------------------------------------------------------
// Writes run.json. NULL, or a sentence and *end.
static const char *write_note(Trainer *t, const char *how, Outcome *end) {
  if (!t->folder.dir) return NULL;
  Buf settings = buf_new(t->arena);
  elab_settings(t->in, &settings);
  RunNote note = {.program = t->path,
                  .set = settings.at,
                  .state = how,
                  .seed = (double)t->seed,
                  .threads = t->o->threads,
                  .steps = (double)(t->base + t->step),
                  .seconds = trainer_seconds(t),
                  .batch = (double)t->batch,
                  .has_best = t->has_best,
                  .best = t->best,
                  .best_step = (double)t->best_step,
                  .precision = precision_text(t->precision),
                  .device = engine_device_name(t->arena, t->device),
                  .device_is = engine_device_model(t->device),
                  .engine = t->regime.step.n ? engine_description(t->engine[0]) : ""};
  Changes now = changes_applied(t);
  Settings settings_now = learn_settings(t->in, t->p, &now);
  for (uint32_t i = 0; i < settings_now.n; i++) {
    const Setting *s = &settings_now.at[i];
    vec_push(t->arena, &note.setting, (NoteSetting){s->name, s->value, s->known});
  }
  for (uint32_t i = 0; i < now.n; i++)
    vec_push(t->arena, &note.change,
             (NoteChange){(double)now.at[i].step, now.at[i].value, now.at[i].what});
  if (strcmp(how, "running") != 0 && engine_device_alive(t->device)) note.hash = hash_text(t);
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    const Gauge *g = &t->gauge.at[i];
    vec_push(t->arena, &note.measure,
             (NoteMeasure){g->label, g->where, g->better > 0, g->better != 0});
  }
  return note_write(t->arena, t->folder.dir, &note, end);
}

// Reports which files could not be written: as a warning during the run, as an error at its end.
static bool all_written(Trainer *t, const char *how, bool saved) {
  const char *dir = t->folder.dir;
  Outcome noted = OUTCOME_GOOD, worst = t->status;
  const char *gone = dir ? folder_is_gone(&t->folder) : NULL;
  const char *note = gone ? NULL : write_note(t, how, &noted);
  if (!saved)
    train_refuse(t, worst = OUTCOME_SYSTEM,
                 gone ? "the run could not be saved: %s"
                      : "the run could not be saved in %s; what was saved before is still there",
                 gone ? gone : dir);
  if (t->record.failed)
    train_refuse(t, worst = OUTCOME_SYSTEM, "the last rows of %s could not be written",
                 folder_path(&t->folder, t->record.failed));
  if (t->lost) train_refuse(t, t->lost, "some shown values could not be written to %s", dir);
  if (note) train_refuse(t, noted, "%s", note);
  worst = worst > t->lost ? worst : t->lost;
  t->status = worst > noted ? worst : noted;
  return saved && !t->record.failed && !t->lost && !note;
}

static bool finish(Trainer *t, LoopEnd how) {
  static const char *const word[] = {"finished", "stopped", "finished", "not finite", "failed"};
  bool good = how == LOOP_DONE || how == LOOP_STOPPED || how == LOOP_PATIENT;
  if (good && !save_begin(t)) how = LOOP_NOT_FINITE, good = false;
  if (how == LOOP_NOT_FINITE) save_after_failure(t);
  bool saved = save_end(t);
  if (t->status == OUTCOME_GOOD && !good) t->status = OUTCOME_WRONG;
  if (!all_written(t, word[how], saved || !good)) return false;
  if (how == LOOP_PATIENT)
    tell(t, "nothing better in %lld reports: stopped", (long long)t->regime.training.patience);
  if (good || how == LOOP_FAILED) tell_end(t, word[how]);
  return good;
}

static bool open_folder(Trainer *t) {
  const char *why = "", *out = t->o->out;
  const char *instead =
      arena_format(t->arena, "go on with --resume %s, or name another folder", out ? out : "");
  Outcome end;
  program_copy_names(t->w, t->p, &t->folder.writes);
  bool found = t->o->resume ? folder_resume(&t->folder, t->o->resume, &why, &end)
                            : folder_new(&t->folder, out, t->path, instead, &why, &end);
  bool free = found && (t->o->plan || folder_lock(&t->folder, &why, &end)); // --plan writes nothing
  return free || train_refuse(t, end, "%s", why);
}

// The folder of a new run is made last, when program and data are known to be good.
static bool new_folder(Trainer *t) {
  if (!t->o->resume && !open_folder(t)) return false;
  Outcome end;
  const char *why = program_copy(t->w, t->p, t->folder.dir, &end);
  if (why) return train_refuse(t, end, "%s", why);
  return changes_copy(t);
}

// Only the first phase can be resumed.
static bool start_phase(Trainer *t, const Arrays *state, bool first) {
  if (!open_phase(t, state != NULL) || (!state && !save_can_begin(t))) return false;
  bool folder = first && !state && !t->o->in_memory;
  if ((folder && !new_folder(t)) || !begin_phase(t, state, first)) return false;
  if (first && t->o->pause) t->pause_at = t->base + t->step + t->o->pause;
  Outcome end;
  const char *omitted = first ? write_note(t, "running", &end) : NULL;
  if (omitted) tell_wrong(t, "%s", omitted);
  if (first && !state) save_initial(t);
  tell_start(t);
  loop_start(t);
  return true;
}

static bool next_phase(Trainer *t) {
  close_engines(t);
  t->before = t->store;
  t->store = NULL;
  t->base += t->step;
  t->step = t->idle_reports = 0;
  t->best_here = NAN;
  t->phase++;
  return start_phase(t, NULL, false);
}

// Continues the phase with steps that a change has modified, on the present states.
static bool change_phase(Trainer *t) {
  close_engines(t);
  for (uint32_t all = changes_applied(t).n; t->changes_built < all;) {
    t->changes_built++;
    if (!plan_phase(t) || !fill_store(t)) return false;
  }
  if (!make_phase(t) || !start_feed(t)) return false;
  Outcome end;
  const char *omitted = write_note(t, "running", &end);
  if (omitted) tell_wrong(t, "%s", omitted);
  return true;
}

// Runs steps up to `until`, or to the end of the last phase.
static bool run_phases(Trainer *t) {
  for (;;) {
    LoopEnd how = loop_run(t);
    if (how == LOOP_PART) return true;
    if (how == LOOP_CHANGED) {
      if (!change_phase(t)) return false;
      continue;
    }
    bool done = how == LOOP_DONE || how == LOOP_PATIENT;
    if (!done || t->phase + 1 == t->p->train.n) {
      t->ended = true;
      return finish(t, how);
    }
    if (!next_phase(t)) return false;
  }
}

static bool show_plan(Trainer *t, bool resumed) {
  if (!open_phase(t, resumed)) return false;
  Buf b = buf_new(t->arena);
  for (uint32_t i = 0; i < t->regime.step.n; i++) engine_plan(t->engine[i], &b);
  tell_plan(t, b.at);
  return true;
}

static bool open_data(Trainer *t) {
  t->data->exact = t->precision == PRECISION_64;
  return data_open_all(t->data);
}

static bool begin(Trainer *t) {
  Arrays state = {0};
  bool old = false;
  t->judged = "", t->best_here = NAN;
  if (!read_options(t)) return false;
  t->program = program_hash(t->w, t->p);
  if (t->o->resume) {
    if (!open_folder(t) || !resume_read(t, t->arena, &state, &old)) return false;
    if (old && !resume_options(t, &state)) return false;
    if (!old) tell_wrong(t, "there is no checkpoint in %s: the run begins anew", t->folder.dir);
    if (!data_read_words(t->data, &state, folder_path(&t->folder, "state.safetensors")))
      return false;
  }
  if (!changes_open(t) || (old && !changes_read_requests(t, true))) return false;
  if (!old) t->seed = t->o->has_seed ? t->o->seed : program_seed(t->in, t->p);
  if (!open_data(t) || (!old && !plan_all(t))) return false;
  return t->o->plan ? show_plan(t, old) : start_phase(t, old ? &state : NULL, true);
}

static void close_all(Trainer *t) {
  if (t->saver) save_close(t);
  close_engines(t);
  record_close(t);
  store_free(t->store);
  store_free(t->before);
  folder_unlock(&t->folder);
  arena_free(t->arena);
}

static void trainer_start(Trainer *t) {
  t->arena = t->folder.arena = arena_child(t->w->arena);
  t->started = clock_seconds();
  t->path = t->w->sources->file.at[t->p->tree->span.file].path;
  t->data = data_new(t->in, t->p, t->arena);
  save_open(t);
  t->model = model_paths(t->w, t->arena, t->p);
}

// Runs work that may run out of memory. After that, or after an error, the trainer is ended.
static bool trainer_work(Trainer *t, bool (*work)(Trainer *)) {
  if (!GUARDED(t->w->arena, &t->guard)) {
    t->status = OUTCOME_SYSTEM;
    t->ended = true;
    return false;
  }
  bool good = work(t);
  guard_leave(&t->guard);
  if (!good && t->status == OUTCOME_GOOD) t->status = OUTCOME_WRONG;
  if (!good) t->ended = true;
  return good;
}

static bool start_and_begin(Trainer *t) {
  trainer_start(t);
  bool good = begin(t);
  t->begun = good && !t->o->plan; // with --plan there is nothing to step
  return good;
}

static Trainer *trainer_new(Elab *in, Program *p, const LimnTrain *o, const Arrays *set) {
  World *w = elab_world(in);
  Trainer *t = NEW(w->arena, Trainer);
  *t = (Trainer){
      .in = in, .w = w, .p = p, .o = o, .set = set, .folder = {.lock = -1}, .record = {.fd = -1}};
  return t;
}

Trainer *train_open(Elab *in, Program *p, const LimnTrain *o, const Arrays *set) {
  Trainer *t = trainer_new(in, p, o, set);
  trainer_work(t, start_and_begin);
  return t;
}

// Checks a run before it starts, where its data sets need not be installed: finds all that would be
// refused before the first step, without making engines.
static bool check_ahead(Trainer *t) {
  trainer_start(t);
  t->data->dry_run = true;
  if (t->p->train.n && !read_options(t)) return false;
  if (!open_data(t) || !plan_all(t) || !sources_fit(t->in, t->p)) return false;
  t->gauge = (Gauges){.data = t->data, .batch = t->batch, .goals = t->regime.training.goals};
  return gauges_open(&t->gauge);
}

Outcome train_ahead(Elab *in, Program *p, const LimnTrain *o) {
  Trainer *t = trainer_new(in, p, o, NULL);
  trainer_work(t, check_ahead);
  close_all(t);
  return t->status;
}

static bool find_lengths(Trainer *t) {
  trainer_start(t);
  t->data->dry_run = true;
  return read_options(t) && data_open_all(t->data) && plan_all(t);
}

void train_lengths(Elab *in, Program *p, uint64_t *rounds) {
  LimnTrain how = {.size = sizeof(LimnTrain), .in_memory = true, .quiet = true};
  Trainer *t = trainer_new(in, p, &how, NULL);
  t->lengths = rounds;
  t->w->diags->muted++;
  trainer_work(t, find_lengths);
  t->w->diags->muted--;
  close_all(t);
}

static bool begin_steps(Trainer *t) {
  trainer_start(t);
  t->data->dry_run = true;
  if (!read_options(t)) return false;
  if (t->p->train.n > 1)
    return train_refuse(t, OUTCOME_WRONG,
                        "this program trains in %u phases, each with steps of its own: one `train` "
                        "can be exported",
                        t->p->train.n);
  t->seed = t->o->has_seed ? t->o->seed : program_seed(t->in, t->p);
  if (!open_data(t) || !plan_all(t) || !plan_phase(t)) return false;
  return new_store(t) && fill_store(t) && initialise_weights(t);
}

Outcome train_steps(Elab *in, Program *p, const LimnTrain *o, const Arrays *set,
                    bool (*use)(void *context, const TrainSteps *), void *context) {
  Trainer *t = trainer_new(in, p, o, set);
  if (trainer_work(t, begin_steps)) {
    TrainSteps steps = {.regime = &t->regime,
                        .store = t->store,
                        .seed = t->seed,
                        .rounds = t->total,
                        .endless = t->feed.unknown,
                        .batch = t->batch,
                        .turns = t->turns,
                        .turn = t->turn};
    if (!use(context, &steps)) t->status = OUTCOME_WRONG;
  }
  close_all(t);
  return t->status;
}

Outcome train_go(Trainer *t, uint64_t steps) {
  uint64_t now = t->base + t->step;
  if (!t->begun || t->ended) return t->status;
  t->until = steps < UINT64_MAX - now ? now + steps : UINT64_MAX;
  trainer_work(t, run_phases);
  return t->status;
}

bool train_lives(const Trainer *t) { return engine_device_alive(t->device); }

bool train_ended(const Trainer *t) { return t->ended || !t->begun; }

void train_metrics(const Trainer *t, Arena *a, LimnMetrics *m) {
  metrics_make(t, a, &t->last, m);
  m->reported = t->step && t->step % t->report_every == 0;
}

Store *train_store(Trainer *t, const Table **model) {
  *model = t->model;
  return t->store;
}

int64_t train_labels(const Trainer *t, const char *state) {
  for (uint32_t k = 0; k < t->regime.step.n; k++) {
    const Diagram *d = t->regime.step.at[k].diagram;
    for (uint32_t i = 0; i < d->param.n; i++) {
      const Type *type = &d->wire.at[d->param.at[i].wire].type;
      int64_t count;
      if (type->base == BASE_LABEL && strcmp(d->param.at[i].path, state) == 0 &&
          size_value(t->w, type->count, &count))
        return count;
    }
  }
  return 0;
}

static bool stop_here(Trainer *t) {
  t->ended = true;
  return finish(t, LOOP_STOPPED);
}

Outcome train_close(Trainer *t, const char **dir) {
  if (t->begun && !t->ended) trainer_work(t, stop_here);
  if (dir) *dir = NULL;
  if (dir && t->folder.dir && t->status != OUTCOME_SYSTEM)
    *dir = arena_format(t->w->arena, "%s", t->folder.dir);
  close_all(t);
  return t->status;
}

Outcome train_run(Elab *in, Program *p, const LimnTrain *o, const Arrays *set, const char **dir) {
  Trainer *t = train_open(in, p, o, set);
  train_go(t, UINT64_MAX);
  return train_close(t, dir);
}
