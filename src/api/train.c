// Training, as a whole or step by step; the report page of a run; machines.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/json_write.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>

// -- the page of a run ----------------------------------------------------------------------------
static LimnStatus failed(Limn *l, LimnStatus status, const char *why) {
  diag_error(l->diags, (Span){0}, "%s", why);
  return status;
}

// The page could not be written: a file of another origin is in the way, or the disk failed.
static LimnStatus report_unwritten_page(Limn *l, const char *dir, const char *error) {
  bool foreign =
      file_is_foreign(l->world, dir, "report.html") || file_is_foreign(l->world, dir, "shown/");
  return failed(l, foreign ? LIMN_WRONG : LIMN_SYSTEM, error);
}

// Reports shows that failed; the page is written nevertheless.
static LimnStatus report_unshown(Limn *l, const Results *r, LimnStatus status) {
  for (uint32_t i = 0; i < r->unshown.n; i++) {
    LimnStatus wrong = failed(l, LIMN_WRONG, r->unshown.at[i]);
    if (!status) status = wrong;
  }
  return status;
}

// The page of a run of machines, from the files in its folder.
static LimnStatus machines_report(Limn *l, const char *dir) {
  Results r;
  const char *error = "";
  if (!results_read(l->in, l->program, dir, &r, &error)) return failed(l, LIMN_WRONG, error);
  return machines_page(&r, &error) ? report_unshown(l, &r, LIMN_GOOD)
                                   : report_unwritten_page(l, dir, error);
}

// Refuses to replace the page of another program's run.
static LimnStatus same_program(Limn *l, const char *dir) {
  const char *page = arena_format(l->world, "%s/report.html", dir);
  const char *what =
      path_exists(page) ? program_difference_but_shows(elab_world(l->in), l->program, dir) : NULL;
  if (!what) return LIMN_GOOD;
  Id e = diag_error(l->diags, (Span){0}, "%s is the run of another program: %s", dir, what);
  diag_help(l->diags, e, "its page stays as it is; without %s there would be one of this program",
            page);
  return LIMN_WRONG;
}

// A show that failed is reported, and the page is written without it.
static LimnStatus training_report(Limn *l, const LimnUse *how, bool *written) {
  Shows shown = {0};
  Buf who = buf_new(l->world);
  const char *error = "";
  LimnStatus other = same_program(l, how->from);
  if (other) return other;
  LimnStatus status = status_of(use_shows(l->in, l->program, how, &shown));
  if (status && !shown.n) return status;
  learn_who(l->in, l->program, &who);
  Report r = {.dir = how->from,
              .shown = &shown,
              .goals = goals_draw(l->in, l->world, l->program, false),
              .who = l->program->goal.n ? who.at : NULL};
  *written = report_write(l->world, &r, &error);
  return *written ? status : report_unwritten_page(l, how->from, error);
}

static LimnStatus write_report(Limn *l, const LimnUse *how, Arena *to, const char **text) {
  RunNote note;
  const char *error;
  bool noted = note_read(l->world, how->from, &note, &error), machines = noted && note.machine;
  const char *json = arena_format(l->world, "%s/run.json", how->from);
  if (!noted && path_exists(json)) return failed(l, LIMN_WRONG, error);
  bool written = false;
  if (machines && (how->device || how->precision || how->reference))
    return call_misuse(
        l->call,
        "%s is a run of machines: its page is made of their numbers, and nothing is computed: "
        "without --device, --precision and --reference",
        how->from);
  LimnStatus status = machines ? machines_report(l, how->from) : training_report(l, how, &written);
  if (!status || written) *text = arena_format(to, "%s/report.html", how->from);
  return status;
}

LimnStatus limn_report(Limn *l, const LimnUse *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_REPORT, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnUse own;
  if (!text) return call_end(c, call_misuse(c, "limn_report wants a place for its text"));
  if (!copy_use_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  if (!own.from)
    return call_end(c, call_misuse(c, "`report` needs --from DIR, the folder of a run"));
  CallFiles files = files_of(c);
  files_write(&files, arena_format(c->scratch, "%s/report.html", own.from));
  if (!files_apart(c, &files)) return call_end(c, LIMN_USAGE);
  const char *error = folder_names(c->scratch, own.from, &(FolderNames){0});
  if (error)
    return call_end(
        c, failed(l, LIMN_WRONG,
                  arena_format(c->scratch, "cannot read the folder %s: %s", own.from, error)));
  return call_end(c, write_report(l, &own, c->answer, text));
}

// -- training -------------------------------------------------------------------------------------
static void tell_page(Limn *l, const LimnTrain *how, const char *path) {
  if (how->quiet || !how->tell.line) return;
  Buf b = buf_new(l->world);
  JsonOut j = json_out(&b);
  if (!how->json) {
    buf_printf(&b, "report %s", path);
  } else {
    json_object(&j, NULL);
    json_text(&j, "event", "page");
    json_text(&j, "path", path);
    json_end(&j);
  }
  how->tell.line(how->tell.context, b.at);
}

// Tries every show on one batch before training; `ahead`: only its shapes, in a dry run.
static LimnStatus try_shows(Limn *l, const LimnTrain *how, bool ahead) {
  ShowsTried tried = {.dry_run = ahead};
  LimnUse use = {.threads = how->threads,
                 .device = how->device,
                 .reference = how->reference,
                 .say = how->quiet || how->json ? NULL : how->tell.line,
                 .say_to = how->tell.context,
                 .stop = how->stop};
  if (!l->program->show.n) return LIMN_GOOD;
  LimnStatus status = status_of(use_try_shows(l->in, l->program, &use, &tried));
  for (uint32_t i = 0; i < tried.shown.n; i++) {
    const char *why;
    if (report_can_show(l->world, &tried.shown.at[i], &why)) continue;
    diag_error(l->diags, tried.span.at[i], "this cannot be shown: %s", why);
    if (!status) status = LIMN_WRONG;
  }
  return status;
}

// Reports errors of training without making a step.
static LimnStatus check_before_training(Limn *l, const LimnTrain *how) {
  // programs with open spaces are to be refined before they run
  if (has_open_space(l->program)) return LIMN_GOOD;
  LimnStatus status = status_of(train_ahead(l->in, l->program, how));
  return status ? status : try_shows(l, how, true);
}

LimnStatus limn_check(Limn *l) {
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnTrain how = {.plain = true, .quiet = true};
  l->diags->since = 1; // do not repeat the messages of the load
  LimnStatus status = check_before_training(l, &how);
  bool runs = simulate_ahead(l->in, l->program), shown = machines_can_show(l->in, l->program);
  return call_end(c, status || (runs && shown) ? status : LIMN_WRONG);
}

LimnStatus limn_train(Limn *l, const LimnTrain *how) {
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnTrain own;
  const char *dir = NULL, *path = NULL;
  if (!copy_train_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  if (own.beyond) return call_end(c, call_misuse(c, "`beyond` is for a trainer: a run has an end"));
  Arrays set = weights_overridden(c);
  bool show = !own.plan && !own.plain && l->program->train.n;
  LimnStatus tried = own.resume ? LIMN_GOOD : status_of(train_ahead(l->in, l->program, &own));
  if (!tried && show) tried = try_shows(l, &own, false);
  if (tried) return call_end(c, tried);
  LimnStatus status = status_of(train_run(l->in, l->program, &own, &set, &dir));
  if (status || !dir || own.plan || own.plain) return call_end(c, status);
  LimnUse use = {.from = dir,
                 .threads = own.threads,
                 .reference = own.reference,
                 .say = own.quiet || own.json ? NULL : own.tell.line,
                 .say_to = own.tell.context};
  status = write_report(l, &use, l->world, &path);
  if (path) tell_page(l, &own, path);
  return call_end(c, status);
}

// -- a step at a time -----------------------------------------------------------------------------
// A trainer has its own handle with the same program: calls on the owner restore the owner's world,
// and the trainer's state must persist.
struct LimnTrainer {
  Limn *owner, *own;
  LimnTrain how;
  Trainer *trainer; // NULL: not opened yet
  bool given;       // the caller owns it
  Arrays set;
  LimnTrainer *next; // in the owner's list
};

// Moves messages of a trainer's handle to its owner.
void move_messages(Limn *to, Limn *from) {
  Guard g;
  if (GUARDED(from->own, &g)) {
    diags_settle(from->diags);
    guard_leave(&g);
  } else {
    drop_spans(from->diags);
  }
  diags_append(to->diags, from->diags);
  to->diags->machine_failed |= from->diags->machine_failed;
  limn_forget(from);
}

static const char *copy_text(Arena *a, const char *text) {
  return text ? arena_text(a, text, strlen(text)) : NULL;
}

static void copy_trainer_options(LimnTrainer *t, const LimnTrain *how) {
  Arena *a = t->own->own;
  t->how = *how;
  t->how.out = copy_text(a, how->out);
  t->how.resume = copy_text(a, how->resume);
  t->how.device = copy_text(a, how->device);
  t->how.every = copy_text(a, how->every);
}

static LimnStatus open_trainer(LimnTrainer *t, const LimnTrain *how) {
  Limn *own = t->own;
  LimnStatus status = load_again(own, t->owner);
  Guard g;
  if (status) return status;
  if (!GUARDED(own->own, &g)) return LIMN_SYSTEM;
  forget_messages(own); // the owner has reported the warnings
  copy_trainer_options(t, how);
  for (uint32_t i = 0; i < t->owner->weight.n; i++)
    if (t->owner->weight.at[i].set) arrays_keep(own->own, &t->set, &t->owner->weight.at[i].array);
  t->trainer = train_open(own->in, own->program, &t->how, &t->set);
  Outcome end = train_go(t->trainer, 0);
  guard_leave(&g);
  return status_of(end);
}

static void forget_trainer(LimnTrainer *t) {
  LimnTrainer **at = &t->owner->trainer;
  while (*at && *at != t) at = &(*at)->next;
  if (*at) *at = t->next;
  limn_free(t->own);
  free(t);
}

static LimnTrainer *new_trainer(Limn *l) {
  LimnTrainer *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->owner = l;
  t->own = limn_new();
  t->next = l->trainer;
  if (t->own) return l->trainer = t;
  free(t);
  return NULL;
}

// Frees trainers that were never returned to a caller.
static LimnStatus drop_trainers(Limn *l) {
  while (l->trainer && !l->trainer->given) {
    if (l->trainer->trainer) train_close(l->trainer->trainer, NULL);
    forget_trainer(l->trainer);
  }
  return LIMN_SYSTEM;
}

LimnStatus limn_trainer_open(Limn *l, const LimnTrain *how, LimnTrainer **out) {
  if (out) *out = NULL;
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE, drop_trainers(l));
  LimnTrain own;
  if (!out) return call_end(c, call_misuse(c, "limn_trainer_open wants a place for the trainer"));
  if (!copy_train_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  if (own.plan) return call_end(c, call_misuse(c, "a trainer makes steps: not `plan`"));
  if (own.beyond && !own.in_memory)
    return call_end(c, call_misuse(c, "`beyond` is for a trainer in memory: a run has an end"));
  LimnTrainer *t = new_trainer(l);
  if (!t) return call_end(c, LIMN_SYSTEM);
  LimnStatus status = open_trainer(t, &own);
  move_messages(l, t->own);
  if (status) {
    drop_trainers(l);
    return call_end(c, status);
  }
  t->given = true;
  *out = t;
  return call_end(c, LIMN_GOOD);
}

LimnStatus limn_trainer_step(LimnTrainer *t, uint64_t steps, bool *done) {
  if (done) *done = true; // so that a loop `while (!done)` ends if a step is refused
  if (!t) return LIMN_USAGE;
  ENTER(c, t->owner, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnStatus status = status_of(train_go(t->trainer, steps));
  move_messages(t->owner, t->own);
  if (done) *done = train_ended(t->trainer);
  return call_end(c, status);
}

LimnStatus limn_trainer_step_on(LimnTrainer *t, const LimnInput *in, uint32_t n, bool *done) {
  if (done) *done = true;
  if (!t) return LIMN_USAGE;
  ENTER(c, t->owner, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!copy_call_inputs(c, &in, n)) return call_end(c, LIMN_USAGE);
  LimnStatus status = status_of(train_step_on(t->trainer, in, n, c->scratch));
  move_messages(t->owner, t->own);
  if (done) *done = train_ended(t->trainer);
  return call_end(c, status);
}

// Results of trainers are allocated in the owner's call, in the slot of weights.
LimnStatus limn_trainer_metrics(LimnTrainer *t, LimnMetrics *out) {
  if (!t || !out || out->size < sizeof out->size) return LIMN_USAGE;
  ENTER(c, t->own, ANSWER_COST, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnMetrics m;
  size_t size = out->size;
  train_metrics(t->trainer, c->answer, &m);
  m.size = size;
  memcpy(out, &m, size < sizeof m ? size : sizeof m);
  return call_end(c, LIMN_GOOD);
}

static void copy_states_out(ApiCall *c, LimnTrainer *t, LimnArrays *out) {
  const Table *model;
  Store *store = train_store(t->trainer, &model);
  LimnNamedArray *at = NEW_ARRAY(c->answer, LimnNamedArray, table_count(model) + 1);
  *out = (LimnArrays){.at = at};
  for (uint32_t i = 0; store && i < table_count(model); i++) {
    const State *s = store_find(store, table_key(model, i, NULL));
    if (s)
      at[out->n++] = (LimnNamedArray){s->path,
                                      {.type = number_type(s->number),
                                       .rank = s->rank,
                                       .shape = s->shape,
                                       .data = state_data(s)}};
  }
}

LimnStatus limn_trainer_weights(LimnTrainer *t, LimnArrays *out) {
  if (out) *out = (LimnArrays){0};
  if (!t || !out) return LIMN_USAGE;
  ENTER(c, t->own, ANSWER_WEIGHTS, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  copy_states_out(c, t, out);
  if (train_lives(t->trainer)) return call_end(c, LIMN_GOOD);
  *out = (LimnArrays){0}; // the weights were on a GPU that failed
  return call_end(c, LIMN_SYSTEM);
}

// Engines check labels before their first run only; weights may be set after it.
static bool are_labels(ApiCall *c, const char *weight, const Array *x, int64_t count) {
  for (int64_t i = 0; count && i < x->count; i++) {
    double v = x->data[i];
    if (v >= 0 && v < (double)count && v == floor(v)) continue;
    return diag_refuse(c->l->diags, (Span){0}, "%s holds %g, which is not one of its %lld values",
                       weight, v, (long long)count);
  }
  return true;
}

static LimnStatus set_state(ApiCall *c, LimnTrainer *t, const char *weight, const LimnArray *from) {
  const Table *model;
  Store *store = train_store(t->trainer, &model);
  State *s = store && table_get(model, weight, strlen(weight)) ? store_find(store, weight) : NULL;
  const char *error;
  Array x;
  if (!s) return call_fail(c, LIMN_WRONG, "there is no weight `%s` in this run", weight);
  if (!array_from_memory(c->scratch, from, &x, &error)) return call_misuse(c, "%s", error);
  bool fits = x.rank == s->rank;
  for (uint32_t i = 0; fits && i < s->rank; i++) fits = x.shape[i] == s->shape[i];
  if (fits && !are_labels(c, weight, &x, train_labels(t->trainer, weight))) return LIMN_WRONG;
  if (fits) numbers_set(s->number, state_writable_data(s), x.data, x.count);
  if (!fits)
    diag_error(c->l->diags, (Span){0}, "weight %s has another shape than %s", weight,
               array_type(c->scratch, &x));
  return fits ? LIMN_GOOD : LIMN_WRONG;
}

LimnStatus limn_trainer_weight_set(LimnTrainer *t, const char *weight, const LimnArray *from) {
  if (!t) return LIMN_USAGE;
  ENTER(c, t->owner, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!weight || !from)
    return call_end(c, call_misuse(c, "limn_trainer_weight_set wants a name and an array"));
  return call_end(c, set_state(c, t, weight, from));
}

// The error was reported by the step in which the run failed.
static LimnStatus close_trainer(LimnTrainer *t) {
  bool over = train_ended(t->trainer);
  LimnStatus status = status_of(train_close(t->trainer, NULL));
  if (over) status = LIMN_GOOD;
  t->trainer = NULL;
  move_messages(t->owner, t->own);
  return status;
}

LimnStatus limn_trainer_close(LimnTrainer *t) {
  if (!t) return LIMN_USAGE;
  Limn *l = t->owner;
  Guard g;
  LimnStatus status = LIMN_SYSTEM;
  if (l->call) return LIMN_USAGE; // called by a callback
  guard_enter(l->own, &g);
  if (setjmp(g.place) == 0) {
    LimnStatus closed = t->trainer ? close_trainer(t) : LIMN_GOOD;
    guard_leave(&g);
    forget_trainer(t);
    return closed;
  }
  forget_trainer(t);
  return status;
}

// -- machines -------------------------------------------------------------------------------------
static LimnStatus run_machines(Limn *l, LimnRun *how, Buf *json) {
  Results r;
  const char *error = "";
  how->quiet |= how->json;
  if (!machines_can_show(l->in, l->program)) return LIMN_WRONG;
  SimHelpers helpers = helpers_of(l, l->world);
  LimnStatus status = status_of(simulate_run(l->in, l->program, how, &helpers, &r));
  bool ended = strcmp(r.note.state, "running") != 0, page = ended && r.dir && status != LIMN_SYSTEM;
  if (page && !machines_page(&r, &error)) return report_unwritten_page(l, r.dir, error);
  if (page) status = report_unshown(l, &r, status);
  if (page && !how->quiet)
    tell_line(&how->tell, arena_format(l->world, "report %s/report.html", r.dir));
  if (how->json && how->numbers && ended) {
    buf_text(json, "{\"run\": ");
    note_print(results_note(&r), json);
    buf_text(json, ", \"series\": ");
    numbers_json(&r, json);
    buf_char(json, '}');
  } else if (how->json && ended)
    note_print(results_note(&r), json);
  return status;
}

LimnStatus limn_run(Limn *l, const LimnRun *how, const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_RUN, NEEDS_PROGRAM, LIMN_USAGE, LIMN_SYSTEM);
  LimnRun own;
  if (!text) return call_end(c, call_misuse(c, "limn_run wants a place for its text"));
  if (!copy_run_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  Buf b = buf_new(c->answer);
  LimnStatus status = run_machines(l, &own, &b);
  *text = b.n ? b.at : NULL;
  return call_end(c, status);
}
