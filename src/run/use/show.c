// The values of every `show`, with the weights of a run. Values recorded during training are read
// from the run folder: paths are columns of metrics.csv, and what is shown `every` so many steps is
// in files of its own, shown/2.000300.safetensors.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "run/use/use_own.h"

#include "run/runs/weights.h"

#include <math.h>
#include <stdlib.h>

enum { FRAMES = 12 }; // at most, of those recorded during training

// -- files of the run folder ----------------------------------------------------------------------
static const char *run_file(const Use *u, const char *name) {
  return arena_format(u->arena, "%s/%s", u->how->from, name);
}

// The columns NAME[0], NAME[1], … of metrics.csv.
static bool read_path(Use *u, const MetricRows *m, const char *name, int64_t n, Tensor *out) {
  *out = tensor_new(u->arena, 2, (int64_t[]){m->rows, n});
  for (int64_t k = 0; k < n; k++) {
    const char *wanted = arena_format(u->arena, "%s[%lld]", name, (long long)k);
    uint32_t c;
    if (!rows_find(m, wanted, &c))
      return use_wrong(u, OUTCOME_WRONG, "%s has no column %s: the run was made by another program",
                       run_file(u, "metrics.csv"), wanted);
    for (int64_t row = 0; row < m->rows; row++)
      out->data[row * n + k] = m->value.at[row * m->name.n + c];
  }
  return true;
}

// Dry run: two rows of zeros.
static void blank_paths(Use *u, const Show *show, Shown *s) {
  static const int64_t step[] = {1, 2};
  const Diagram *d = show->diagram;
  s->step = step;
  s->samples = true;
  for (uint32_t i = 0; i < d->out.n; i++) {
    int64_t count;
    if (!type_count(u->w, &d->wire.at[d->out.at[i]].type, &count)) continue;
    Tensor t = tensor_new(u->arena, 2, (int64_t[]){2, count});
    memset(t.data, 0, (size_t)t.count * sizeof *t.data);
    vec_push(u->arena, &s->value.array,
             tensor_array(&t, shown_name(u->w, u->arena, show, i, d->out.n)));
  }
}

static bool read_paths(Use *u, const Show *show, Shown *s) {
  const char *error = "";
  MetricRows m;
  if (u->dry_run) return blank_paths(u, show, s), true;
  if (!rows_read(u->arena, run_file(u, "metrics.csv"), &m, &error))
    return use_wrong(u, OUTCOME_WRONG, "%s", error);
  int64_t *step = NEW_ARRAY(u->arena, int64_t, m.rows + 1);
  for (int64_t i = 0; i < m.rows; i++) step[i] = (int64_t)m.value.at[i * m.name.n];
  s->step = step;
  s->samples = true;
  const Diagram *d = show->diagram;
  for (uint32_t i = 0; i < d->out.n; i++) {
    const char *name = shown_name(u->w, u->arena, show, i, d->out.n);
    int64_t count;
    Tensor t;
    if (!type_count(u->w, &d->wire.at[d->out.at[i]].type, &count)) continue;
    if (!read_path(u, &m, name, count, &t)) return false;
    vec_push(u->arena, &s->value.array, tensor_array(&t, name));
  }
  return true;
}

// -- values ---------------------------------------------------------------------------------------
static double predicted_label(const Tensor *t, int64_t row, int64_t n) {
  if (t->rank == 1) return t->data[row];
  const double *score = t->data + row * n;
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++)
    if (score[i] > score[best]) best = i;
  return (double)best;
}

// Confusion matrix: a row for each true label, a column for each predicted one.
static bool count_confusions(Use *u, const Diagram *d, Tensor *out) {
  int64_t n, rows = out[1].count;
  if (!size_value(u->w, d->wire.at[d->out.at[1]].type.count, &n) || n < 1 ||
      (out[0].rank > 1 && out[0].count != rows * n))
    return use_wrong(u, OUTCOME_WRONG, "`confusion` wants as many scores as there are labels");
  Tensor m = tensor_new(u->arena, 2, (int64_t[]){n, n});
  memset(m.data, 0, (size_t)m.count * sizeof(double));
  for (int64_t i = 0; i < rows; i++) {
    int64_t said = (int64_t)predicted_label(&out[0], i, n), truth = (int64_t)out[1].data[i];
    if (said >= 0 && said < n && truth >= 0 && truth < n) m.data[truth * n + said]++;
  }
  out[0] = m;
  return true;
}

// Words of the labels of a type; NULL: unknown or ambiguous.
static const char *const *words_of(Use *u, Data *data, const Type *t) {
  int64_t count;
  bool several;
  Words own;
  if (type_words(u->w, t, "", &own)) return own.word;
  if (t->base != BASE_LABEL || !size_value(u->w, t->count, &count)) return NULL;
  const Words *words = data_labels(data, count, NULL, &several);
  return words ? words->word : NULL;
}

static void put_values(Use *u, Data *data, const Probe *probe, const Tensor *out, Shown *s) {
  Arena *a = u->arena;
  bool pairs = probe->show->kind == SHOW_CONFUSION;
  uint32_t n = pairs ? 1 : probe->d->out.n;
  const char *const **name = NEW_ARRAY(a, const char *const *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const Type *t = &probe->d->wire.at[probe->d->out.at[pairs ? 1 : i]].type;
    name[i] = words_of(u, data, t);
    vec_push(a, &s->value.array, tensor_array(&out[i], shown_name(u->w, a, probe->show, i, n)));
  }
  s->name = name;
  s->samples = !pairs && (probe->samples || probe->repeated);
}

bool show_values(Use *u, Data *data, const Show *show, int64_t n, Shown *s) {
  Target how = use_target(u);
  Tensor *out = NEW_ARRAY(u->arena, Tensor, show->diagram->out.n + 1);
  Probe *probe = u->probe = NEW(u->arena, Probe);
  bool good = (u->dry_run || use_new_store(u)) && probe_open(data, u->store, show, n, &how, probe);
  good = good && (u->dry_run || use_load_states(u, u->store, weight_paths(u->arena, probe->d))) &&
         probe_evaluate_some(data, probe, u->one_batch, out) &&
         (show->kind != SHOW_CONFUSION || count_confusions(u, probe->d, out));
  if (good) put_values(u, data, probe, out, s);
  probe_close(probe);
  store_free(u->store);
  u->probe = NULL;
  u->store = NULL;
  return good;
}

// -- recorded during training ---------------------------------------------------------------------
static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

typedef VEC(uint64_t) ShownFrames;

static void find_frames(Use *u, uint32_t show, ShownFrames *out) {
  FolderNames names = {0};
  folder_names(u->arena, run_file(u, "shown"), &names); // the folder may be missing
  for (uint32_t i = 0; i < names.n; i++) {
    char *end;
    uint64_t which = strtoull(names.at[i], &end, 10);
    if (which != show + 1 || *end != '.') continue;
    uint64_t step = strtoull(end + 1, &end, 10);
    if (strcmp(end, ".safetensors") == 0) vec_push(u->arena, out, step);
  }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_number);
}

// Adds some frames at equal distances. The last frame is the final value, which is shown anyway.
static bool add_frames(Use *u, uint32_t show, const Shown *last, Shows *out) {
  ShownFrames frames = {0};
  find_frames(u, show, &frames);
  uint32_t n = frames.n > FRAMES ? FRAMES : frames.n;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t step = frames.at[(uint64_t)i * frames.n / n];
    const char *error;
    Shown s = *last;
    s.value = (Arrays){0};
    s.text = arena_format(u->arena, "%s, after %llu step%s", last->text, (unsigned long long)step,
                          step == 1 ? "" : "s");
    if (!folder_read(u->arena, run_file(u, frame_name(u->arena, show, step)), &s.value, &error))
      return use_wrong(u, OUTCOME_WRONG, "%s", error);
    vec_push(u->arena, out, s);
  }
  return true;
}

// -- all shows ------------------------------------------------------------------------------------
static void close_text_model(Use *u) {
  if (u->callable) callable_close(u->callable);
  u->callable = NULL;
}

static bool compute_show(Use *u, Data *data, const Show *show, Shown *s) {
  if (show->kind == SHOW_TEXT) return sample_text(u, show_what(show->node), s);
  if (!show->diagram) return true; // the reason was reported
  return is_path(show) ? read_paths(u, show, s) : show_values(u, data, show, 0, s);
}

static bool show_one(Use *u, Data *data, uint32_t k, Shows *out) {
  const Show *show = &u->p->show.at[k];
  Shown s = {.text = show_text(u->w, u->arena, show),
             .over = show->over ? name_text(u->w->names, show->over) : NULL,
             .moments = show->moments,
             .moment = show->moment,
             .view = show->kind == SHOW_CONFUSION ? "matrix"
                     : show->kind == SHOW_TEXT    ? "text"
                                                  : NULL};
  bool good = compute_show(u, data, show, &s);
  if (show->kind == SHOW_TEXT) close_text_model(u);
  if (!good || !s.value.array.n) return good;
  for (uint32_t i = 0; i < show->views || !i; i++) {
    const ShowAs *v = &show->view[i];
    if (show->views) s.view = v->name, s.options = v->options;
    memcpy(s.option, v->option, sizeof s.option);
    if (show->every && !is_path(show) && !u->one_batch && !add_frames(u, k, &s, out)) return false;
    vec_push(u->arena, out, s);
  }
  return true;
}

// A show that fails is replaced by its reason.
static bool show_all(Use *u, void *context) {
  u->arena = u->w->arena; // values outlive the Use
  Data *data = use_data(u);
  Shows *out = context;
  bool good = data != NULL;
  for (uint32_t k = 0; data && k < u->p->show.n; k++) {
    uint32_t errors = u->w->diags->met, n = out->n;
    if (show_one(u, data, k, out)) continue;
    if (u->status == OUTCOME_SYSTEM) return false;
    const Diags *said = u->w->diags;
    const char *why =
        said->errors > errors ? said->list.at[said->list.n - 1].text : "it cannot be shown";
    out->n = n;
    vec_push(u->arena, out,
             (Shown){.text = show_text(u->w, u->arena, &u->p->show.at[k]), .wrong = why});
    good = false;
  }
  return good;
}

// -- before training ------------------------------------------------------------------------------
// Computes one batch of a show with initial weights. Numbers that are not finite become 0.
static bool try_one(Use *u, Data *data, uint32_t k, Shows *out) {
  const Show *show = &u->p->show.at[k];
  uint32_t n = out->n;
  if ((is_path(show) && !u->dry_run) || (!show->diagram && show->kind != SHOW_TEXT)) return true;
  u->one_batch = true;
  if (!show_one(u, data, k, out)) return false;
  for (uint32_t i = n; i < out->n; i++)
    for (uint32_t j = 0; j < out->at[i].value.array.n; j++) {
      Array *x = &out->at[i].value.array.at[j];
      for (int64_t c = 0; c < x->count; c++)
        if (!isfinite(x->data[c])) x->data[c] = 0;
    }
  return true;
}

static bool try_all(Use *u, void *context) {
  ShowsTried *to = context;
  u->arena = u->w->arena;
  u->begins = true;
  u->dry_run = to->dry_run;
  Data *data = data_new(u->in, u->p, u->arena);
  data->dry_run = to->dry_run;
  data->exact = u->precision == PRECISION_64;
  for (uint32_t k = 0; k < u->p->show.n; k++) {
    if (!try_one(u, data, k, &to->shown)) return false;
    while (to->span.n < to->shown.n) vec_push(u->arena, &to->span, u->p->show.at[k].node->span);
  }
  return true;
}

Outcome use_try_shows(Elab *in, Program *p, const LimnUse *how, ShowsTried *out) {
  return use_guarded(in, p, &(UseCall){.how = how}, try_all, out);
}

Outcome use_shows(Elab *in, Program *p, const LimnUse *how, Shows *out) {
  return use_guarded(in, p, &(UseCall){.how = how}, show_all, out);
}
