// The training loop. After each step, one comparison decides whether anything is due: a row of
// metrics.csv, a report, a checkpoint, or reading the clock. The number of steps between two
// readings of the clock adapts to their speed, so a step of one microsecond pays nothing for it.
//
// Rows, reports and all that a checkpoint records are due at steps that depend on the program
// alone: an interrupted run makes the same ones. Only if these are far apart, rows, reports and
// checkpoints are also made by time, about once a minute, so that a run of several days can be
// observed and resumed.
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/stop.h"
#include "run/train/train_own.h"

#include <math.h>

#define CLOCK_SECONDS 0.02 // between two readings of the clock
#define POLL_SECONDS 0.05  // between two checks for requested changes
#define SAVE_SECONDS 60.0  // between two checkpoints, if epochs are long
#define LOG_SECONDS 60.0   // longest time between two rows, and between two reports
#define OVERHEAD_SHARE 0.1 // largest share of the time spent on checkpoints, if epochs are short

static void mean_clear(const Trainer *t, Mean *m) { memset(m->sum, 0, mean_bytes(t->p->goal.n)); }

// -- one step -------------------------------------------------------------------------------------
static void add_losses(Trainer *t, const Engine *e, const Step *s, double weight) {
  for (uint32_t i = 0; i < s->goals.n; i++) {
    double x = *(const double *)engine_out(e, i) * weight;
    uint32_t g = s->goals.at[i];
    Mean *to[] = {&t->row, &t->report, &t->last};
    for (uint32_t k = 0; k < COUNT(to); k++) to[k]->sum[g] += x, to[k]->weight[g] += weight;
  }
}

static LoopEnd not_finite(Trainer *t, Engine *e, const Step *s, int64_t n, uint64_t run) {
  Span span;
  const char *why = engine_trace_nonfinite(e, n, run, &span);
  Buf goals = buf_new(t->arena);
  for (uint32_t i = 0; i < s->goals.n; i++) {
    double x = *(const double *)engine_out(e, i);
    if (!isfinite(x))
      buf_printf(&goals, "%s%s", goals.n ? ", " : "",
                 name_text(t->w->names, t->p->goal.at[s->goals.at[i]].name));
  }
  Id d = diag_error(t->w->diags, span, "goal %s is not finite in step %llu: %s", goals.at,
                    (unsigned long long)(t->base + t->step + 1), why);
  const char *way = strstr(why, "`flow[") ? "another start may help too"
                                          : "a smaller rate, `clip 1`, or another start may help";
  diag_help(t->w->diags, d, "%s%s%s", way, t->folder.dir ? "; the last good checkpoint is in " : "",
            t->folder.dir ? t->folder.dir : "");
  return LOOP_NOT_FINITE;
}

static LoopEnd failed(Trainer *t, const char *why) {
  diag_error(t->w->diags, (Span){0}, "step %llu failed: %s",
             (unsigned long long)(t->base + t->step + 1), why);
  return LOOP_FAILED;
}

// Starts one run of an engine on the next batch; end_turn collects its result.
static LoopEnd begin_turn(Trainer *t, uint32_t k, uint64_t run) {
  const char *why = NULL;
  int64_t n = t->caller_batch   ? t->caller_batch->samples
              : t->feed.samples ? feed_next(&t->feed, &t->inlet[k], &why)
                                : t->batch;
  if (n < 0) return failed(t, why);
  if (t->caller_batch) caller_batch_write(t, k);
  if (!engine_queue(t->engine[k], n, run)) return failed(t, engine_error(t->engine[k]));
  vec_push(t->arena, &t->waiting, (BegunRun){k, n, run});
  return LOOP_DONE;
}

static LoopEnd end_turn(Trainer *t, BegunRun turn) {
  Engine *e = t->engine[turn.engine];
  const Step *s = &t->regime.step.at[turn.engine];
  RunStatus status = engine_next(e);
  if (status == RUN_NOT_FINITE) return not_finite(t, e, s, turn.n, turn.run);
  if (status == RUN_FAILED) return failed(t, engine_error(e));
  add_losses(t, e, s, turn.n ? (double)turn.n : 1);
  return LOOP_DONE;
}

// -- rows -----------------------------------------------------------------------------------------
static void end_row(Trainer *t, bool reported) {
  tell_metrics(t, reported);
  record_row(t);
  t->rowed = clock_seconds();
  mean_clear(t, &t->row);
  if (!reported) return;
  memcpy(t->shown.sum, t->report.sum, mean_bytes(t->p->goal.n));
  mean_clear(t, &t->report);
}

// A row of losses alone can be written while later steps are under way. A callback for metrics, or
// a show in the row, may read the weights, so then no later step may have started.
static bool rows_hold_losses_only(const Trainer *t) { return !t->o->tell.metrics && !t->trace.n; }

// At step `due` the row is written with everything else that is due.
static void step_done(Trainer *t, uint64_t due) {
  t->step++;
  if (t->step < due && t->step % t->row_every == 0 && rows_hold_losses_only(t)) end_row(t, false);
}

// -- steps ----------------------------------------------------------------------------------------
static LoopEnd run_one_step(Trainer *t, uint64_t due) {
  LoopEnd how = LOOP_DONE;
  mean_clear(t, &t->last);
  for (t->at_turn = 0; t->at_turn < t->turns; t->at_turn++) {
    t->waiting.n = 0;
    how = begin_turn(t, t->turn[t->at_turn], t->step * t->turns + t->at_turn);
    if (how == LOOP_DONE) how = end_turn(t, t->waiting.at[0]);
    if (how != LOOP_DONE) return how;
  }
  t->at_turn = 0;
  step_done(t, due);
  return LOOP_DONE;
}

// The number of steps that may be queued on the device; 1: each step is collected before the next
// starts.
static uint64_t steps_at_once(const Trainer *t) {
  uint64_t most = UINT64_MAX;
  if (t->caller_batch) return 1;
  for (uint32_t i = 0; i < t->regime.step.n; i++) {
    uint64_t room = t->uses[i] ? engine_queue_limit(t->engine[i]) / t->uses[i] : most;
    if (room < most) most = room;
  }
  return most < 1 ? 1 : most;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

enum {
  QUEUES_PER_LOOK = 16
}; // steps between two readings of the clock, in multiples of the queue length

// Starts up to `most` steps before the result of the first is collected, so that the device is
// never idle. Results are collected in order, as by run_one_step.
static LoopEnd run_queued_steps(Trainer *t, uint64_t due, uint64_t most) {
  uint64_t steps = least(due - t->step, QUEUES_PER_LOOK * most), all = steps * t->turns,
           first = t->step * t->turns, begun = 0, ended = 0;
  t->waiting.n = 0;
  while (ended < all) {
    if (begun < all && begun - ended < most * t->turns) {
      LoopEnd how = begin_turn(t, t->turn[begun % t->turns], first + begun);
      if (how != LOOP_DONE) return how;
      begun++;
      continue;
    }
    t->at_turn = (uint32_t)(ended % t->turns);
    if (!t->at_turn) mean_clear(t, &t->last);
    LoopEnd how = end_turn(t, t->waiting.at[ended++]);
    if (how != LOOP_DONE) return how;
    if (t->at_turn + 1 == t->turns) step_done(t, due);
  }
  t->at_turn = 0;
  return LOOP_DONE;
}

// -- what is due ----------------------------------------------------------------------------------
static double score(const Trainer *t, bool *up) {
  const Gauge *judge = gauge_for_best(&t->gauge);
  *up = judge && judge->better > 0;
  if (judge) return judge->value;
  double sum = 0;
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    if (t->report.weight[i] > 0)
      sum +=
          t->p->goal.at[i].sign * t->p->goal.at[i].weight * t->report.sum[i] / t->report.weight[i];
  return sum;
}

const char *judged_by(const Trainer *t) {
  const Gauge *judge = gauge_for_best(&t->gauge);
  if (judge) return judge->label;
  const Ids *goals = &t->regime.training.goals;
  Buf b = buf_new(t->arena);
  buf_text(&b, "the loss of");
  for (uint32_t i = 0; i < goals->n; i++)
    buf_printf(&b, "%s%s", i ? ", " : " ",
               name_text(t->w->names, t->p->goal.at[goals->at[i]].name));
  return b.at;
}

// The best value so far is forgotten if it belongs to another measure, or to other goals.
static void update_judge(Trainer *t) {
  const char *now = judged_by(t);
  if (strcmp(t->judged, now) != 0) t->has_best = false, t->best_here = NAN;
  t->judged = now;
}

static bool is_better(double x, double than, bool up) {
  return isnan(than) ? isfinite(x) : up ? x > than : x < than;
}

static void update_best(Trainer *t) {
  bool up;
  double x = score(t, &up);
  bool better = is_better(x, t->best_here, up);
  t->idle_reports = better ? 0 : t->idle_reports + 1;
  if (better) t->best_here = x;
  if (!is_better(x, t->has_best ? t->best : NAN, up)) return;
  t->has_best = true;
  t->best = x;
  t->best_step = t->base + t->step;
  save_best(t);
}

bool loop_measures(void *trainer, const Gauge *g, double part) {
  Trainer *t = trainer;
  t->measuring = g->label, t->measured = part;
  tell_progress(t, clock_seconds());
  t->measuring = NULL;
  return !stop_asked(t->o->stop);
}

// Reports. A measure that fails is reported; training and other measures continue. False: measuring
// was stopped, and the report is still due.
static bool report(Trainer *t) {
  bool good = gauges_run(&t->gauge);
  t->owes_report = t->gauge.stopped || (!good && !engine_device_alive(t->device));
  if (t->owes_report) return false;
  if (!good) tell_wrong(t, "%s", t->w->diags->list.at[t->w->diags->list.n - 1].text);
  update_judge(t);
  update_best(t);
  save_await_initial(t);
  tell_report(t);
  return true;
}

static bool is_impatient(const Trainer *t) {
  return t->regime.training.patience > 0 &&
         t->idle_reports >= (uint64_t)t->regime.training.patience;
}

static bool save_due(Trainer *t, double now, bool reported) {
  if (t->every_steps) return t->step % (uint64_t)t->every_steps == 0;
  if (t->every_seconds > 0) return now - t->saved >= t->every_seconds && !save_busy(t);
  double pause = fmax(1, t->save_took / OVERHEAD_SHARE);
  return now - t->saved >= (reported ? pause : fmax(SAVE_SECONDS, pause)) && !save_busy(t);
}

static void update_rate(Trainer *t, double now) {
  double took = now - t->looked;
  uint64_t steps = t->step - t->looked_step;
  if (took > 0 && steps) {
    double rate = (double)steps / took, keep = exp(-took / 2);
    t->rate = t->rate > 0 ? keep * t->rate + (1 - keep) * rate : rate;
    double wanted = fmin((double)steps / took * CLOCK_SECONDS, 4 * (double)t->look_every);
    t->look_every = wanted < 1 ? 1 : (uint64_t)wanted;
  }
  t->looked = now;
  t->looked_step = t->step;
}

static uint64_t next_of(uint64_t step, uint64_t every) { return (step / every + 1) * every; }

// The next step after which something is due.
static uint64_t next_due(const Trainer *t) {
  uint64_t due = least(t->total, t->step + t->look_every);
  if (!rows_hold_losses_only(t)) due = least(due, next_of(t->step, t->row_every));
  due = least(due, next_of(t->step, t->report_every));
  if (t->every_steps) due = least(due, next_of(t->step, (uint64_t)t->every_steps));
  due = least(due, least(traces_due(t), changes_next_step(t)));
  if (t->pause_at > t->base + t->step) due = least(due, t->pause_at - t->base);
  if (t->until > t->base + t->step) due = least(due, t->until - t->base);
  return due;
}

// Requests are in a file, and polling it costs a system call, so it is polled rarely.
static bool poll_requests(Trainer *t, double now) {
  if (now - t->polled < POLL_SECONDS) return true;
  t->polled = now;
  return changes_read_requests(t, false);
}

// Reports by time are limited to a share of the time. With `patience`, which counts reports, there
// are none.
static bool report_due(const Trainer *t, double now) {
  if (t->step % t->report_every == 0 || t->step == t->total || t->owes_report) return true;
  double pause = fmax(LOG_SECONDS, t->report_took / OVERHEAD_SHARE);
  return !t->regime.training.patience && now - t->reported >= pause;
}

static bool report_timed(Trainer *t) {
  double began = clock_seconds();
  bool good = report(t);
  t->reported = clock_seconds();
  t->report_took = t->reported - began;
  return good;
}

static LoopEnd do_what_is_due(Trainer *t, bool *end) {
  double now = clock_seconds();
  bool reported = report_due(t, now), quiet = now - t->rowed >= LOG_SECONDS;
  update_rate(t, now);
  *end = t->step == t->total;
  if (reported && !report_timed(t)) return t->gauge.stopped ? LOOP_STOPPED : LOOP_FAILED;
  if (reported || quiet || t->step % t->row_every == 0) end_row(t, reported);
  traces_frames(t);
  if (is_impatient(t)) return LOOP_PATIENT;
  if (t->pause_at == t->base + t->step && !(*end && t->phase + 1 == t->p->train.n))
    return LOOP_STOPPED;
  if (*end) return LOOP_DONE;
  if (save_due(t, now, reported) && !save_begin(t)) return LOOP_NOT_FINITE;
  tell_progress(t, now);
  if (reported) t->looked = clock_seconds(); // time spent on measures does not count as training
  if (!poll_requests(t, now)) return LOOP_FAILED;
  return changes_applied(t).n > t->changes_built ? LOOP_CHANGED : LOOP_DONE;
}

void loop_start(Trainer *t) {
  // reserve the queue: a step allocates nothing
  for (uint64_t i = 0, most = t->turns * steps_at_once(t); i < most; i++)
    vec_push(t->arena, &t->waiting, (BegunRun){0});
  t->waiting.n = 0;
  t->saved = t->said = t->rowed = t->reported = clock_seconds();
  t->look_every = 1;
}

LoopEnd loop_run(Trainer *t) {
  const volatile sig_atomic_t *stop = t->o->stop;
  bool end = t->step >= t->total;
  if (is_impatient(t)) return LOOP_PATIENT;
  t->looked_step = t->step; // time between two calls does not count as training
  t->looked = clock_seconds();
  LoopEnd how = t->owes_report ? do_what_is_due(t, &end) : LOOP_DONE;
  for (uint64_t due = next_due(t); !end && how == LOOP_DONE;) {
    if (t->base + t->step >= t->until) return LOOP_PART;
    if (stop_asked(stop)) return LOOP_STOPPED;
    uint64_t most = steps_at_once(t);
    how = most == 1 ? run_one_step(t, due) : run_queued_steps(t, due, most);
    if (how != LOOP_DONE || t->step < due) continue;
    how = do_what_is_due(t, &end);
    due = next_due(t);
  }
  return how;
}
