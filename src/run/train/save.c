// Checkpoints. The state of a run is copied in memory between two steps, and a thread writes the
// copy while training continues.
//
//     state.safetensors   all states of the store and the position of the run: what resuming needs
//     model.safetensors   weights and buffers of the learners, by name, for other uses
//     best.safetensors    the same, as they were at the best measure so far
//
// Each file is replaced atomically. The state is written last, so all that it refers to (rows of
// metrics.csv, the best weights) is on disk before it. Each file has a checksum. If saving fails,
// the old files stay, training continues, and the next checkpoint tries again. Weights that are not
// finite are never saved.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "base/number.h"
#include "base/table.h"
#include "base/version.h"
#include "run/train/train_own.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct {
  const char *name; // in the run folder
  Bytes bytes;
} SavePiece;

struct Saver {
  Arena *arena;       // holds the copy that is being written
  Arena *best;        // holds the best weights until they are written
  Bytes best_bytes;   // n = 0: none
  int fd;             // of metrics.csv, which must be on disk before the state
  const char *events; // the event file, likewise
  const RunFolder *folder;
  SavePiece piece[3];
  uint32_t pieces;
  pthread_t thread;
  bool busy, failed;
  uint64_t step, kept; // of the copy that is being written; of the checkpoint on disk
  bool first;          // only the initial state has been saved so far
  _Atomic bool done;
  char why[512]; // "": no error
  double began;
};

// -- what is saved --------------------------------------------------------------------------------
static ElementKind element_of(Number n) {
  static const ElementKind kind[] = {
      [NUMBER_F32] = EL_F32, [NUMBER_F64] = EL_F64, [NUMBER_I32] = EL_I32, [NUMBER_U8] = EL_U8};
  return kind[n];
}

static void add_state(Arena *a, Arrays *all, const State *s) {
  vec_push(a, &all->array,
           (Array){.name = s->path,
                   .rank = s->rank,
                   .shape = s->shape,
                   .count = s->count,
                   .kind = element_of(s->number)});
}

static uint8_t *put_bytes(uint8_t *to, const void *from, size_t n) {
  memcpy(to, from, n);
  return to + n;
}

static uint8_t *put_state(uint8_t *to, const State *s) {
  return put_bytes(to, state_data(s), (size_t)s->count * number_bytes(s->number));
}

__attribute__((format(printf, 4, 5))) static void note(Arena *a, Arrays *all, const char *key,
                                                       const char *format, ...) {
  va_list args;
  va_start(args, format);
  vec_push(a, &all->metadata, (Metadata){key, arena_vformat(a, format, args)});
  va_end(args);
}

static void note_real(Arena *a, Arrays *all, const char *key, double x) {
  char text[NUMBER_ROOM];
  note(a, all, key, "%.*s", (int)number_print(text, x), text);
}

static void note_words(Trainer *t, Arena *a, Arrays *all) {
  note(a, all, "words", "%s", data_words_text(t->data, a));
}

static void note_run(Trainer *t, Arena *a, Arrays *all) {
  Buf settings = buf_new(a);
  elab_settings(t->in, &settings);
  note(a, all, "limn", "%s", LIMN_VERSION);
  note(a, all, "build", "%s", build_id);
  note(a, all, "program", "%016llx", (unsigned long long)t->program);
  note(a, all, "set", "%s", settings.at);
  note(a, all, "seed", "%llu", (unsigned long long)t->seed);
  note(a, all, "batch", "%lld", (long long)t->batch_asked);
  note(a, all, "precision", "%d", (int)t->precision);
  note(a, all, "device", "%s", engine_device_name(a, t->device));
  note(a, all, "device_is", "%s", engine_device_model(t->device));
  note(a, all, "kernels", "%s", t->prebuilt ? "prebuilt" : "compiled");
  note_real(a, all, "epochs", t->epochs_asked);
  note_real(a, all, "steps", t->steps_asked);
  note_words(t, a, all);
  note(a, all, "data", "%s", data_sums_text(t->data, a));
}

static void note_position(Trainer *t, Arena *a, Arrays *all) {
  const char *slash = strrchr(t->record.events_path, '/');
  note(a, all, "phase", "%u", t->phase);
  note(a, all, "step", "%llu", (unsigned long long)t->step);
  note(a, all, "steps_before", "%llu", (unsigned long long)t->base);
  note(a, all, "samples", "%lld", (long long)t->feed.samples);
  note(a, all, "has_best", "%d", t->has_best);
  note_real(a, all, "best", t->best);
  note(a, all, "best_step", "%llu", (unsigned long long)t->best_step);
  note(a, all, "judged_by", "%s", t->judged);
  note_real(a, all, "best_here", t->best_here);
  note(a, all, "waited", "%u", t->idle_reports);
  note(a, all, "owes", "%d", t->owes_report);
  note_real(a, all, "seconds", trainer_seconds(t));
  note(a, all, "metrics_bytes", "%lld", (long long)t->record.bytes);
  note(a, all, "events", "%s", slash ? slash + 1 : t->record.events_path);
  note(a, all, "events_bytes", "%lld", (long long)record_events_bytes(t));
}

static void add_mean(Trainer *t, Arena *a, Arrays *all, const char *name) {
  int64_t *shape = NEW_ARRAY(a, int64_t, 2);
  shape[0] = 2, shape[1] = t->p->goal.n;
  vec_push(a, &all->array,
           (Array){.name = name, .rank = 2, .shape = shape, .count = 2 * shape[1], .kind = EL_F64});
}

static bool state_bytes(Trainer *t, Arena *a, Bytes *out, const char **error) {
  Arrays all = {0};
  uint8_t *to;
  sum_begin(a, &all);
  note_run(t, a, &all);
  note_position(t, a, &all);
  sum_end(a, &all);
  add_mean(t, a, &all, "train/row");
  add_mean(t, a, &all, "train/report");
  for (uint32_t i = 0; i < store_count(t->store); i++)
    if (store_at(t->store, i)->whole == i) add_state(a, &all, store_at(t->store, i));
  if (!safetensors_frame(a, &all, out, &to, error)) return false;
  to = put_bytes(to, t->row.sum, mean_bytes(t->p->goal.n));
  to = put_bytes(to, t->report.sum, mean_bytes(t->p->goal.n));
  for (uint32_t i = 0; i < store_count(t->store); i++)
    if (store_at(t->store, i)->whole == i) to = put_state(to, store_at(t->store, i));
  return true;
}

static bool model_bytes(Trainer *t, Arena *a, Bytes *out, const char **error) {
  Arrays all = {0};
  uint8_t *to;
  sum_begin(a, &all);
  note(a, &all, "limn", "%s", LIMN_VERSION);
  note(a, &all, "seed", "%llu", (unsigned long long)t->seed);
  note(a, &all, "precision", "%s", precision_text(t->precision));
  note(a, &all, "step", "%llu", (unsigned long long)(t->base + t->step));
  note_words(t, a, &all);
  sum_end(a, &all);
  for (uint32_t i = 0; i < table_count(t->model); i++) {
    const State *s = store_find(t->store, table_key(t->model, i, NULL));
    if (s) add_state(a, &all, s);
  }
  if (!safetensors_frame(a, &all, out, &to, error)) return false;
  for (uint32_t i = 0; i < all.array.n; i++)
    to = put_state(to, store_find(t->store, all.array.at[i].name));
  return true;
}

static bool is_finite(const State *s) {
  double bad = 0; // 0 * x is NaN if x is not finite
  const void *data = state_data(s);
  if (s->number == NUMBER_F32)
    for (int64_t i = 0; i < s->count; i++) bad += 0 * (double)((const float *)data)[i];
  if (s->number == NUMBER_F64)
    for (int64_t i = 0; i < s->count; i++) bad += 0 * ((const double *)data)[i];
  return bad == 0;
}

// The first weight that is not finite, or NULL.
static const char *not_finite_weight(const Trainer *t) {
  for (uint32_t i = 0; i < table_count(t->model); i++) {
    const State *s = store_find(t->store, table_key(t->model, i, NULL));
    if (s && table_value(t->model, i) == 1 && !is_finite(s)) return s->path;
  }
  return NULL;
}

static bool model_is_finite(Trainer *t) {
  const char *bad = not_finite_weight(t);
  return !bad || diag_refuse(t->w->diags, (Span){0},
                             "weight %s is not finite any more: the last steps are not saved", bad);
}

bool save_can_begin(Trainer *t) {
  const char *bad = not_finite_weight(t);
  return !bad ||
         diag_refuse(t->w->diags, (Span){0},
                     "weight %s is not finite as it begins: nothing can be learned from it", bad);
}

// -- writing --------------------------------------------------------------------------------------
static bool sync_path(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool good = fsync(fd) == 0;
  int why = errno;
  close(fd);
  errno = why;
  return good;
}

static void write_pieces(Saver *s) {
  s->why[0] = 0;
  if (fsync(s->fd) != 0)
    snprintf(s->why, sizeof s->why, "cannot write metrics.csv: %s", os_error(s->arena, errno));
  if (!s->why[0] && !sync_path(s->events))
    snprintf(s->why, sizeof s->why, "cannot write %s: %s", s->events, os_error(s->arena, errno));
  for (uint32_t i = 0; i < s->pieces && !s->why[0]; i++) {
    SavePiece *p = &s->piece[i];
    sum_put(&p->bytes);
    const char *why = folder_write(s->folder, s->arena, p->name, p->bytes.at, p->bytes.n);
    if (why)
      snprintf(s->why, sizeof s->why, "cannot write %s/%s: %s", s->folder->dir, p->name, why);
  }
}

static void *writer(void *what) {
  Saver *s = what;
  Guard g;
  if (GUARDED(s->arena, &g)) {
    write_pieces(s);
    guard_leave(&g);
  } else {
    snprintf(s->why, sizeof s->why, "out of memory");
  }
  atomic_store(&s->done, true);
  return NULL;
}

static void free_arena(Arena **a) {
  arena_free(*a);
  *a = NULL;
}

static void end_save(Trainer *t) {
  Saver *s = t->saver;
  if (s->busy) pthread_join(s->thread, NULL);
  s->busy = false;
  s->failed = s->why[0] != 0;
  t->save_took = clock_seconds() - s->began;
  free_arena(&s->arena);
  if (!s->failed) free_arena(&s->best), s->best_bytes.n = 0, s->kept = s->step;
  if (s->failed)
    tell_wrong(t, "not saved: %s;%s the next one tries again", s->why,
               folder_is_gone(&t->folder) ? "" : " the last checkpoint is still there, and");
}

static bool collect_pieces(Trainer *t) {
  Saver *s = t->saver;
  const char *error = "";
  s->pieces = 0;
  if (s->best_bytes.n) s->piece[s->pieces++] = (SavePiece){"best.safetensors", s->best_bytes};
  SavePiece *model = &s->piece[s->pieces++], *state = &s->piece[s->pieces++];
  model->name = "model.safetensors";
  state->name = "state.safetensors";
  s->folder = &t->folder;
  s->events = arena_format(s->arena, "%s", t->record.events_path);
  if (model_bytes(t, s->arena, &model->bytes, &error) &&
      state_bytes(t, s->arena, &state->bytes, &error))
    return true;
  snprintf(s->why, sizeof s->why, "%s", error);
  return false;
}

static bool snapshot(Trainer *t) {
  Saver *s = t->saver;
  s->arena = arena_new();
  Guard g;
  if (s->arena && GUARDED(s->arena, &g)) {
    bool good = collect_pieces(t);
    guard_leave(&g);
    return good;
  }
  snprintf(s->why, sizeof s->why, "out of memory");
  return false;
}

// A copy from a device is invalid if the device was lost meanwhile.
static bool snapshot_is_valid(Trainer *t) {
  const char *gone = folder_is_gone(&t->folder);
  if (gone) snprintf(t->saver->why, sizeof t->saver->why, "%s", gone);
  if (gone) return false;
  if (engine_device_alive(t->device)) return true;
  snprintf(t->saver->why, sizeof t->saver->why, "%s is lost", engine_device_model(t->device));
  return false;
}

bool save_begin(Trainer *t) {
  Saver *s = t->saver;
  if (s->busy) end_save(t);
  s->first = false;
  if (!model_is_finite(t)) return false;
  if (!t->folder.dir) return true;
  record_flush(t);
  s->began = clock_seconds();
  t->saved = s->began;
  s->fd = t->record.fd;
  s->step = t->base + t->step;
  bool whole = snapshot(t) && snapshot_is_valid(t);
  atomic_store(&s->done, false);
  s->busy = whole && pthread_create(&s->thread, NULL, writer, s) == 0;
  if (s->busy) return true;
  if (whole) writer(s); // no thread could be made: write here
  end_save(t);
  return true;
}

uint64_t save_step_on_disk(const Trainer *t) { return t->saver->kept; }

void save_initial(Trainer *t) { t->saver->first = save_begin(t); }

void save_await_initial(Trainer *t) {
  if (t->saver->first) save_end(t);
}

bool save_busy(Trainer *t) {
  if (t->saver->busy && atomic_load(&t->saver->done)) end_save(t);
  return t->saver->busy;
}

bool save_end(Trainer *t) {
  if (t->saver->busy) end_save(t);
  return !t->saver->failed;
}

// The copy is held until a better one replaces it, since a failed save is retried.
void save_best(Trainer *t) {
  Saver *s = t->saver;
  const char *error;
  if (!t->folder.dir) return;
  if (s->busy) end_save(t);
  free_arena(&s->best);
  s->best_bytes = (Bytes){0};
  s->best = arena_new();
  Guard g;
  if (s->best && GUARDED(s->best, &g)) {
    bool good = model_bytes(t, s->best, &s->best_bytes, &error);
    guard_leave(&g);
    if (good && engine_device_alive(t->device)) return;
  }
  s->best_bytes = (Bytes){0};
  t->has_best = false; // the best weights on disk are outdated: start again with the next good ones
  if (engine_device_alive(t->device))
    tell_wrong(t, "the best weights so far are not kept: memory is exhausted");
}

// After a failed step: the step changed nothing, so the states are those before it. They are saved
// only if there is no earlier checkpoint but the initial one, because an earlier checkpoint is
// farther from what went wrong.
void save_after_failure(Trainer *t) {
  if (!t->folder.dir) return;
  Saver *s = t->saver;
  const char *state = folder_path(&t->folder, "state.safetensors"), *best = "best.safetensors";
  if (s->busy) end_save(t);
  t->w->diags->muted++;
  if ((s->first || !path_exists(state)) && !t->at_turn) save_begin(t);
  t->w->diags->muted--;
  if (s->busy) end_save(t);
  if (!s->best_bytes.n) return;
  sum_put(&s->best_bytes);
  const char *why = folder_write(&t->folder, t->arena, best, s->best_bytes.at, s->best_bytes.n);
  if (why) tell_wrong(t, "cannot write %s: %s", folder_path(&t->folder, best), why);
}

void save_open(Trainer *t) { t->saver = NEW(t->arena, Saver); }

void save_close(Trainer *t) {
  Saver *s = t->saver;
  if (s->busy) pthread_join(s->thread, NULL);
  free_arena(&s->arena);
  free_arena(&s->best);
}
