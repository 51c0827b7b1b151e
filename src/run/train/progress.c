// Progress messages. On a terminal: one line that is redrawn at most ten times a second, and
// shortened to the width by leaving out the least important pieces. In a pipe: a line for each
// report, and one every ten seconds. With --json: one object in a line. Losses are means since the
// last report, so that they are steady. Nothing is printed here: the caller's callback does.
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/table.h"
#include "run/train/train_own.h"

enum { DRAWS_A_SECOND = 10, LOG_SECONDS = 10, PIECES_LIMIT = 64 };

static const char *goal_name(const Trainer *t, uint32_t i) {
  return name_text(t->w->names, t->p->goal.at[i].name);
}

// -- pieces ---------------------------------------------------------------------------------------
static void put_time(Buf *b, double seconds) {
  long long s = seconds < 0 ? 0 : seconds > 1e9 ? 1000000000 : (long long)(seconds + 0.5);
  if (s >= 3600)
    buf_printf(b, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  else
    buf_printf(b, "%lld:%02lld", s / 60, s % 60);
}

static void put_rate(Buf *b, double rate) {
  if (rate >= 1e6)
    buf_printf(b, "%.1fM step/s", rate / 1e6);
  else if (rate >= 1e4)
    buf_printf(b, "%.0fk step/s", rate / 1e3);
  else
    buf_printf(b, rate >= 100 ? "%.0f step/s" : "%.2g step/s", rate);
}

static double waiting(const Trainer *t) {
  return t->feed.loader ? loader_waited(t->feed.loader) : 0;
}

static bool by_epochs(const Trainer *t) {
  return t->epoch_steps && t->total >= (uint64_t)t->epoch_steps;
}

static void put_epoch(const Trainer *t, Buf *b) {
  uint64_t each = (uint64_t)t->epoch_steps, at = t->step ? (t->step - 1) / each + 1 : 1;
  buf_printf(b, "epoch %llu/%llu", (unsigned long long)at,
             (unsigned long long)((t->total + each - 1) / each));
}

static void put_step(const Trainer *t, Buf *b) {
  buf_printf(b, "step %llu/%llu", (unsigned long long)t->step, (unsigned long long)t->total);
}

static bool mean_of(const Mean *a, const Mean *b, uint32_t goal, double *out) {
  double weight = a->weight[goal] + (b ? b->weight[goal] : 0);
  *out = (a->sum[goal] + (b ? b->sum[goal] : 0)) / weight;
  return weight > 0;
}

static void put_goals(const Trainer *t, Buf *b, const Mean *also, const char *between) {
  double x;
  const char *before = "";
  for (uint32_t i = 0; i < t->p->goal.n; i++) {
    if (!mean_of(&t->report, also, i, &x)) continue;
    buf_printf(b, "%s%s %.4g", before, goal_name(t, i), x);
    before = between;
  }
}

static void put_gauges(const Trainer *t, Buf *b, const char *before, const char *between) {
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    const Gauge *g = &t->gauge.at[i];
    if (!g->known) continue;
    buf_printf(b, "%s%s %.4g", before, g->label, g->value);
    before = between;
  }
}

static void put_measuring(const Trainer *t, Buf *b) {
  buf_printf(b, "measuring %s, %.0f %%", t->measuring, 100 * t->measured);
}

static void put_left(const Trainer *t, Buf *b) {
  put_time(b, (double)(t->total - t->step) / t->rate);
  buf_text(b, " left");
}

// -- the line on a terminal -----------------------------------------------------------------------
typedef struct {
  Buf text;
  uint32_t rank; // pieces of high rank are left out first
} LinePiece;
enum { PIECES = 7 };

static uint32_t columns(const Buf *b) { // of UTF-8
  uint32_t n = 0;
  for (size_t i = 0; i < b->n; i++) n += ((unsigned char)b->at[i] & 0xC0) != 0x80;
  return n;
}

static void make_pieces(const Trainer *t, Arena *a, LinePiece *piece) {
  static const uint32_t rank[PIECES] = {3, 2, 6, 4, 0, 1, 5};
  for (uint32_t i = 0; i < PIECES; i++) piece[i] = (LinePiece){buf_new(a), rank[i]};
  if (by_epochs(t)) put_epoch(t, &piece[0].text);
  put_step(t, &piece[1].text);
  if (t->rate > 0) {
    put_rate(&piece[2].text, t->rate);
    put_left(t, &piece[3].text);
  }
  put_goals(t, &piece[4].text, &t->shown, "  ");
  put_gauges(t, &piece[5].text, "", "  ");
  if (t->measuring) {
    put_measuring(t, &piece[6].text);
    piece[6].rank = 0;
  } else if (waiting(t) > 0.01) {
    buf_printf(&piece[6].text, "%.0f %% waiting for data", 100 * waiting(t));
  }
}

static void leave_out(LinePiece *piece, uint32_t width) {
  for (;;) {
    uint32_t used = 0, worst = PIECES;
    for (uint32_t i = 0; i < PIECES; i++) {
      if (!piece[i].text.n) continue;
      used += columns(&piece[i].text) + (used ? 2 : 0);
      if (worst == PIECES || piece[i].rank > piece[worst].rank) worst = i;
    }
    if (used <= width || worst == PIECES) return;
    piece[worst].text.n = 0;
  }
}

static void draw(Trainer *t) {
  const LimnTell *to = &t->o->tell;
  Arena *a = arena_child(t->arena);
  LinePiece piece[PIECES];
  Buf line = buf_new(a);
  uint32_t width = to->width ? to->width(to->context) : 80;
  make_pieces(t, a, piece);
  leave_out(piece, width > 1 ? width - 1 : 1);
  for (uint32_t i = 0; i < PIECES; i++) {
    if (!piece[i].text.n) continue;
    if (line.n) buf_text(&line, "  ");
    buf_add(&line, piece[i].text.at, piece[i].text.n);
  }
  to->redraw(to->context, line.at);
  arena_free(a);
}

// -- lines ----------------------------------------------------------------------------------------
static void json_state(const Trainer *t, JsonOut *j, const char *event) {
  double x;
  json_object(j, NULL);
  json_text(j, "event", event);
  json_number(j, "step", (double)(t->base + t->step));
  json_number(j, "steps", (double)(t->base + t->total));
  json_number(j, "epoch", t->epoch_steps ? (double)t->step / (double)t->epoch_steps : 0);
  json_number(j, "seconds", trainer_seconds(t));
  json_number(j, "step_rate", t->rate);
  json_number(j, "waiting", waiting(t));
  if (t->measuring)
    json_text(j, "measuring", t->measuring), json_number(j, "measured", t->measured);
  json_object(j, "goals");
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    if (mean_of(&t->report, NULL, i, &x)) json_number(j, goal_name(t, i), x);
  json_end(j);
  json_object(j, "measures");
  for (uint32_t i = 0; i < t->gauge.n; i++)
    if (t->gauge.at[i].known) json_number(j, t->gauge.at[i].label, t->gauge.at[i].value);
  json_end(j);
}

static void plain_state(const Trainer *t, Buf *b) {
  if (by_epochs(t)) put_epoch(t, b), buf_text(b, ", ");
  put_step(t, b);
  buf_text(b, ", ");
  put_time(b, trainer_seconds(t));
  buf_text(b, ": ");
  put_goals(t, b, NULL, ", ");
}

static void put_report(const Trainer *t, Buf *b) {
  plain_state(t, b);
  put_gauges(t, b, "; ", ", ");
  if (t->rate > 0) buf_text(b, "; "), put_rate(b, t->rate);
  if (waiting(t) > 0.01) buf_printf(b, ", %.0f %% of it waiting for data", 100 * waiting(t));
}

static void put_progress(const Trainer *t, Buf *b) {
  plain_state(t, b);
  if (t->measuring) buf_text(b, "; "), put_measuring(t, b);
  if (t->rate <= 0) return;
  buf_text(b, "; ");
  put_rate(b, t->rate);
  buf_text(b, ", ");
  put_left(t, b);
}

// One line: as text, or as an object with the members that `more` adds.
typedef struct {
  const char *event;
  void (*words)(const Trainer *, Buf *);
  void (*more)(const Trainer *, JsonOut *); // or NULL
} ProgressLine;

static void say_line(Trainer *t, const ProgressLine *x) {
  Arena *a = arena_child(t->arena);
  Buf b = buf_new(a);
  JsonOut j = json_out(&b);
  if (t->o->json) {
    json_state(t, &j, x->event);
    if (x->more) x->more(t, &j);
    json_end(&j);
  } else {
    x->words(t, &b);
  }
  tell_line(&t->o->tell, b.at);
  arena_free(a);
}

void tell_progress(Trainer *t, double now) {
  if (t->o->quiet) return;
  if (t->o->tell.redraw && !t->o->json) {
    if (now - t->drawn < 1.0 / DRAWS_A_SECOND) return;
    t->drawn = now;
    draw(t);
  } else if (now - t->said >= LOG_SECONDS) {
    t->said = now;
    say_line(t, &(ProgressLine){"progress", put_progress, NULL});
  }
}

// On a terminal the redrawn line shows the report, too.
void tell_report(Trainer *t) {
  bool drawn = t->o->tell.redraw && !t->o->json && t->step < t->total;
  if (t->o->quiet || (drawn && clock_seconds() - t->said < 1)) return;
  t->said = clock_seconds();
  say_line(t, &(ProgressLine){"report", put_report, NULL});
}

static void say_text(Trainer *t, const char *event, const char *format, va_list args) {
  Arena *a = arena_child(t->arena);
  Buf text = buf_new(a), line = buf_new(a);
  JsonOut j = json_out(&line);
  buf_vprintf(&text, format, args);
  if (t->o->json) {
    json_object(&j, NULL);
    json_text(&j, "event", event);
    json_text(&j, "text", text.at);
    json_end(&j);
  }
  tell_line(&t->o->tell, t->o->json ? line.at : text.at);
  arena_free(a);
}

void tell(Trainer *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!t->o->quiet) say_text(t, "note", format, args);
  va_end(args);
}

void tell_wrong(Trainer *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_text(t, "warning", format, args);
  va_end(args);
}

// -- numbers --------------------------------------------------------------------------------------
// Goals by the means in `from`, then measures.
void metrics_make(const Trainer *t, Arena *a, const Mean *from, LimnMetrics *m) {
  const char **name = NEW_ARRAY(a, const char *, t->p->goal.n + t->gauge.n + 1);
  double *value = NEW_ARRAY(a, double, t->p->goal.n + t->gauge.n + 1), x;
  *m = (LimnMetrics){.size = sizeof *m,
                     .step = t->base + t->step,
                     .steps = t->base + t->total,
                     .epoch = t->epoch_steps ? (double)t->step / (double)t->epoch_steps : 0,
                     .seconds = trainer_seconds(t),
                     .name = name,
                     .value = value};
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    if (mean_of(from, NULL, i, &x)) name[m->n] = goal_name(t, i), value[m->n++] = x;
  for (uint32_t i = 0; i < t->gauge.n; i++)
    if (t->gauge.at[i].known)
      name[m->n] = t->gauge.at[i].label, value[m->n++] = t->gauge.at[i].value;
}

void tell_metrics(Trainer *t, bool reported) {
  LimnMetrics m;
  if (!t->o->tell.metrics) return;
  Arena *a = arena_child(t->arena);
  metrics_make(t, a, &t->row, &m);
  m.reported = reported;
  t->o->tell.metrics(t->o->tell.context, &m);
  arena_free(a);
}

// -- beginning and end ----------------------------------------------------------------------------
static int64_t weights_of(const Trainer *t) {
  int64_t n = 0;
  for (uint32_t i = 0; i < table_count(t->model); i++) {
    const State *s = store_find(t->store, table_key(t->model, i, NULL));
    if (s && table_value(t->model, i) == 1) n += s->count;
  }
  return n;
}

static void tell_sets(Trainer *t) {
  Set **set = t->data->set;
  for (uint32_t i = 0; i < t->p->given.n; i++) {
    bool said = !set[i];
    for (uint32_t k = 0; k < i; k++) said |= set[k] == set[i];
    if (!said) tell(t, "%s", set_summary(set[i]));
  }
}

// The measure that selects the best weights, and whether it may stop the run.
static void put_judge(const Trainer *t, Buf *b) {
  const Gauge *judge = gauge_for_best(&t->gauge);
  buf_printf(b, ", best by the %s %s", judge && judge->better > 0 ? "highest" : "lowest",
             judge ? judge->label : "loss");
  if (t->regime.training.patience)
    buf_printf(b, ", patience %lld", (long long)t->regime.training.patience);
}

// A measure without a direction (better: up or down) selects nothing.
static void tell_unjudged(Trainer *t) {
  bool any = false, others = false;
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    any |= t->gauge.at[i].moved;
    others |= t->gauge.at[i].better != 0;
  }
  if (any && !gauge_for_best(&t->gauge))
    tell(t,
         "no measure%s says which way is better, `maximise` or `minimise`: the best is by the loss",
         others ? " of what is trained" : "");
}

// Device and precision; the interpreter describes both itself.
static void put_device(const Trainer *t, Buf *b) {
  buf_text(b, engine_device_model(t->device));
  if (!t->o->reference) buf_printf(b, ", %s", precision_label(t->precision));
}

static void json_device(const Trainer *t, JsonOut *j) {
  json_text(j, "device", engine_device_name(t->arena, t->device));
  json_text(j, "device_is", engine_device_model(t->device));
  json_text(j, "precision", t->o->reference ? "64" : precision_text(t->precision));
}

void tell_plan(Trainer *t, const char *kernels) {
  Buf b = buf_new(t->arena);
  JsonOut j = json_out(&b);
  if (t->o->json) {
    json_object(&j, NULL);
    json_text(&j, "event", "plan");
    json_device(t, &j);
    json_number(&j, "batch", (double)t->batch);
    json_text(&j, "text", kernels);
    json_end(&j);
  } else {
    buf_text(&b, "on ");
    put_device(t, &b);
    if (t->batch) buf_printf(&b, ", batch %lld", (long long)t->batch);
    buf_printf(&b, "\n%s", kernels);
  }
  tell_line(&t->o->tell, b.at);
}

void tell_start(Trainer *t) {
  if (!t->base) tell_sets(t);
  for (uint32_t i = 0; !t->base && i < t->p->learner.n; i++)
    if (t->p->learner.at[i]->fallback)
      tell(t, "%s has no body; in its place: %s", name_text(t->w->names, t->p->learner.at[i]->name),
           t->p->learner.at[i]->fallback);
  for (uint32_t i = 0; i < t->gauge.n; i++)
    if (strcmp(t->gauge.at[i].where, "training data") == 0)
      tell(t, "%s is measured on the training data: say `on` to measure elsewhere",
           t->gauge.at[i].label);
  tell_unjudged(t);
  Arena *a = arena_child(t->arena);
  Buf b = buf_new(a);
  buf_printf(&b, "%lld weight%s, %llu step%s", (long long)weights_of(t),
             weights_of(t) == 1 ? "" : "s", (unsigned long long)t->total, t->total == 1 ? "" : "s");
  if (t->epoch_steps) buf_printf(&b, ", %lld in an epoch", (long long)t->epoch_steps);
  if (t->batch) buf_printf(&b, ", batch %lld", (long long)t->batch);
  buf_printf(&b, ", seed %llu", (unsigned long long)t->seed);
  put_judge(t, &b);
  buf_text(&b, "; on ");
  put_device(t, &b);
  if (!t->device) buf_printf(&b, "; %s", engine_description(t->engine[0]));
  buf_printf(&b, "; %s", t->folder.dir ? t->folder.dir : "in memory");
  if (t->was_on || t->base + t->step)
    buf_printf(&b, "; going on after step %llu", (unsigned long long)(t->base + t->step));
  tell(t, "%s", b.at);
  for (const char *line = t->regime.says; line && *line; line += strspn(line, "\n")) {
    int n = (int)strcspn(line, "\n");
    tell(t, "%.*s", n, line);
    line += n;
  }
  arena_free(a);
}

static void put_command(const Trainer *t, Buf *b) {
  Buf settings = buf_new(b->arena);
  elab_settings(t->in, &settings);
  folder_resume_command(&t->folder, "train", t->path, settings.at, b);
}

const char *hash_text(const Trainer *t) {
  return arena_format(t->arena, "%016llx", (unsigned long long)store_hash(t->store));
}

static bool failed(const Trainer *t) { return strcmp(t->how, "failed") == 0; }

static void json_last(const Trainer *t, JsonOut *j) {
  json_text(j, "how", t->how);
  json_text_or_null(j, "folder", t->folder.dir);
  if (t->has_best) json_number(j, "best", t->best);
  if (t->has_best) json_number(j, "best_step", (double)t->best_step);
  if (failed(t))
    json_number(j, "kept", (double)save_step_on_disk(t));
  else
    json_text(j, "hash", hash_text(t));
}

static void plain_end(const Trainer *t, Buf *b) {
  bool stopped = strcmp(t->how, "stopped") == 0 || failed(t);
  uint64_t steps = t->base + t->step;
  buf_printf(b, "%s after %llu step%s, ", t->how, (unsigned long long)steps, steps == 1 ? "" : "s");
  put_time(b, trainer_seconds(t));
  if (!stopped) put_gauges(t, b, ": ", ", ");
  if (t->has_best && t->gauge.n && t->best_step != t->base + t->step && !failed(t))
    buf_printf(b, "; the best was %s %.4g after %llu", t->judged, t->best,
               (unsigned long long)t->best_step);
  if (!t->folder.dir) return;
  if (failed(t))
    buf_printf(b, "; kept as it was after step %llu", (unsigned long long)save_step_on_disk(t));
  if (stopped) {
    buf_text(b, "; to go on: ");
    put_command(t, b);
  } else {
    buf_printf(b, "; the model is in %s", t->folder.dir);
  }
}

void tell_end(Trainer *t, const char *how) {
  t->how = how;
  if (!t->o->quiet) say_line(t, &(ProgressLine){"end", plain_end, json_last});
}
