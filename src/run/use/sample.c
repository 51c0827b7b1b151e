// `limn sample FILE [NAME] --from DIR`: generated samples. A learner or box with real inputs gets
// noise; one without inputs has noise inside and runs once for each sample; a text model generates
// text. Without a name, the first `show` of the program is sampled.
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "run/use/use_own.h"

#include <math.h>

enum { SAMPLES = 64, LENGTH = 500 };

static int64_t how_many(const Use *u, int64_t otherwise) {
  return u->how->n > 0 ? u->how->n : otherwise;
}

// -- numbers --------------------------------------------------------------------------------------
// A box without inputs is called once for each sample.
static bool sample_repeatedly(Use *u, Callable *f, int64_t n) {
  Arrays all = {0};
  for (int64_t k = 0; k < n; k++) {
    Arena *a = arena_child(u->arena);
    Arrays one = {0};
    if (!callable_arrays(f, &(ArraysCall){.step = (uint64_t)k, .keep = a}, &one)) return false;
    for (uint32_t i = 0; i < one.array.n; i++) {
      const Array *x = &one.array.at[i];
      int64_t shape[ARRAY_RANK_LIMIT + 1] = {n};
      for (uint32_t r = 0; r < x->rank; r++) shape[r + 1] = x->shape[r];
      Tensor whole = k ? (Tensor){0} : tensor_new(u->arena, x->rank + 1, shape);
      if (!k) {
        vec_push(u->arena, &all.array, tensor_array(&whole, ""));
        all.array.at[i].name = arena_text(u->arena, x->name, strlen(x->name));
        all.array.at[i].kind = x->kind;
      }
      memcpy(all.array.at[i].data + k * x->count, x->data, (size_t)x->count * sizeof(double));
    }
    arena_free(a);
  }
  u->many = true;
  return arrays_put(u, &all);
}

static Array noise_array(Use *u, const Type *t, const char *name, int64_t n) {
  int64_t shape[ARRAY_RANK_LIMIT + 1] = {n};
  engine_shape(u->w, t, 0, shape + 1);
  Tensor x = tensor_new(u->arena, t->rank + 1, shape);
  for (int64_t i = 0; i < x.count; i++)
    x.data[i] = noise_normal(u->seed, 0, site_hash(0, name), (uint64_t)i);
  return tensor_array(&x, name);
}

// Do inputs and outputs of n samples fit memory, as far as their sizes are known?
static bool fits_memory(Use *u, const char *name, const Diagram *formal, int64_t n) {
  const double most = 1 << 30;
  double count = 0;
  for (uint32_t i = 0; i < formal->in.n + formal->out.n; i++) {
    bool in = i < formal->in.n;
    uint32_t wire = in ? formal->in.at[i] : formal->out.at[i - formal->in.n];
    int64_t each = 1;
    if (type_count(u->w, &formal->wire.at[wire].type, &each)) count += (double)n * (double)each;
  }
  return count <= most ||
         use_wrong(u, OUTCOME_WRONG,
                   "%lld samples of `%s` have %g numbers, and %g are the most at once",
                   (long long)n, name, count, most);
}

static bool sample_from_noise(Use *u, Callable *f) {
  const Diagram *formal = callable_diagram(f);
  int64_t n = how_many(u, SAMPLES), count;
  const char *name = name_text(u->w->names, formal->name);
  Arrays out = {0};
  if (!fits_memory(u, name, formal, n)) return false;
  Array *x = NEW_ARRAY(u->arena, Array, formal->in.n + 1);
  for (uint32_t i = 0; i < formal->in.n; i++) {
    const Wire *wire = &formal->wire.at[formal->in.at[i]];
    if (wire->type.base != BASE_R || !type_count(u->w, &wire->type, &count))
      return use_wrong(u, OUTCOME_WRONG,
                       "`%s` cannot be fed with noise: it wants %s; `limn predict` gives it arrays",
                       name, type_text(u->w, &wire->type));
    x[i] = noise_array(u, &wire->type, name_text(u->w->names, wire->name), n);
  }
  if (!formal->in.n) return sample_repeatedly(u, f, n);
  return callable_arrays(f, &(ArraysCall){.in = x, .keep = u->arena}, &out) && arrays_put(u, &out);
}

// -- text -----------------------------------------------------------------------------------------
typedef struct {
  const Type *type; // of the input
  const char *const *label;
  int64_t labels, window;
  bool named; // by the type: {a, b, c}
} TextLabels;

// {v}[t] -> R[t v]
static bool is_text_model(World *w, const Diagram *d, TextLabels *l) {
  int64_t t, v;
  if (d->in.n != 1 || d->out.n != 1) return false;
  const Type *in = &d->wire.at[d->in.at[0]].type, *out = &d->wire.at[d->out.at[0]].type;
  l->type = in;
  if (in->base != BASE_LABEL || in->rank != 1 || out->base != BASE_R || out->rank != 2)
    return false;
  return size_value(w, in->axis[0].size, &l->window) && size_value(w, in->count, &l->labels) &&
         size_value(w, out->axis[0].size, &t) && size_value(w, out->axis[1].size, &v) &&
         t == l->window && v == l->labels;
}

static bool find_words(Use *u, TextLabels *l) {
  Words own;
  l->named = type_words(u->w, l->type, "", &own);
  if (l->named) return l->label = own.word, true;
  Data *data = use_data(u);
  bool several = false;
  if (data) data->dry_run = u->dry_run;
  const Words *words = data ? data_labels(data, l->labels, NULL, &several) : NULL;
  if (words) l->label = words->word;
  if (words || !data) return words != NULL;
  if (data->missing) return true; // dry run: the words are unknown
  return use_wrong(u, OUTCOME_WRONG,
                   several ? "several things in this program have %lld labels, called differently"
                           : "nothing in this program says what its %lld labels are called",
                   (long long)l->labels);
}

// The longest label that is a prefix of the text; -1: none.
static int64_t longest_label(const TextLabels *l, const char *text, size_t *n) {
  int64_t best = -1;
  *n = 0;
  for (int64_t i = 0; i < l->labels; i++) {
    size_t m = strlen(l->label[i]);
    if (m > *n && strncmp(l->label[i], text, m) == 0) best = i, *n = m;
  }
  return best;
}

static int64_t sample_label(const double *logit, int64_t n, double temperature, double uniform) {
  double top = logit[0], sum = 0, at = 0;
  int64_t last = 0;
  for (int64_t i = 1; i < n; i++) top = fmax(top, logit[i]);
  for (int64_t i = 0; i < n; i++) sum += exp((logit[i] - top) / temperature);
  for (int64_t i = 0; i < n; i++) {
    double p = exp((logit[i] - top) / temperature) / sum;
    if (p > 0) last = i;
    at += p;
    if (uniform < at) return i;
  }
  return last;
}

typedef VEC(double) LabelList; // numbers of labels

// Appends one label to each of n texts of equal length.
static bool append_label(Use *u, const TextLabels *l, LabelList *text, int64_t n) {
  int64_t length = text[0].n, seen = length < l->window ? length : l->window,
          shape[2] = {n, l->window};
  Arena *a = arena_child(u->arena);
  Tensor in = tensor_new(a, 2, shape);
  Array x = tensor_array(&in, "");
  Arrays out = {0};
  for (int64_t k = 0; k < n; k++)
    memcpy(in.data + k * l->window, text[k].at + length - seen, (size_t)seen * sizeof(double));
  bool good = callable_arrays(u->callable, &(ArraysCall){.in = &x, .keep = a}, &out);
  double temperature = u->how->temperature > 0 ? u->how->temperature : 1;
  for (int64_t k = 0; good && k < n; k++) {
    const double *logit = out.array.at[0].data + (k * l->window + seen - 1) * l->labels;
    double uniform = noise_uniform(u->seed, (uint64_t)length, site_hash(0, "sample"), (uint64_t)k);
    vec_push(u->arena, &text[k], (double)sample_label(logit, l->labels, temperature, uniform));
  }
  arena_free(a);
  return good;
}

// Labels that are pieces: the prompt is split like the training text.
static bool read_pieces(Use *u, const Words *words, const char *prompt, LabelList *out,
                        const char **wrong) {
  PiecesWanted wanted = {words->n, words->n, words->word, false};
  TextPieces found = {0};
  View text = {(const uint8_t *)prompt, strlen(prompt)};
  *wrong = prompt;
  if (!text_is_utf8(prompt, text.n)) return false;
  bool good = text_in_pieces(u->arena, text, &wanted, &found);
  for (int64_t i = 0; good && i < found.n; i++) vec_push(u->arena, out, (double)found.label[i]);
  if (!good) *wrong = found.wrong;
  return good;
}

// Labels that are words: longest prefix first.
static bool read_words(Use *u, const TextLabels *l, const char *prompt, LabelList *out,
                       const char **wrong) {
  size_t n;
  for (const char *p = prompt; *p; p += n) {
    int64_t letter = longest_label(l, p, &n);
    *wrong = p;
    if (letter < 0) return false;
    vec_push(u->arena, out, (double)letter);
  }
  return true;
}

static bool read_prompt(Use *u, const TextLabels *l, const char *prompt, LabelList *out) {
  Words words = {"text", l->labels, l->label};
  const char *wrong;
  bool pieces = !l->named && words_are_pieces(u->arena, &words);
  if (!(pieces ? read_pieces(u, &words, prompt, out, &wrong)
               : read_words(u, l, prompt, out, &wrong)))
    return use_wrong(u, OUTCOME_WRONG,
                     "the prompt has letters that the model does not know: at \"%s\"",
                     text_shown(u->arena, wrong, strlen(wrong)));
  if (!out->n) vec_push(u->arena, out, 0);
  return true;
}

bool labels_of_text(Use *u, const Diagram *d, uint32_t input, const char *text, Array *out) {
  const Type *t = &d->wire.at[d->in.at[input]].type;
  TextLabels l = {.type = t};
  LabelList letters = {0};
  if (t->base != BASE_LABEL || t->rank != 1 || !size_value(u->w, t->count, &l.labels))
    return use_wrong(u, OUTCOME_WRONG,
                     "a text is given to an input of labels with one axis, but this is %s",
                     type_text(u->w, t));
  if (!find_words(u, &l)) return false;
  if (!l.label)
    return use_wrong(u, OUTCOME_WRONG, "its letters are those of its data, which are not here");
  if (!read_prompt(u, &l, text, &letters)) return false;
  if (!*text) letters.n = 0;
  if (size_value(u->w, t->axis[0].size, &l.window) && l.window != letters.n)
    return use_wrong(u, OUTCOME_WRONG, "this text has %u labels, but the input is %s", letters.n,
                     type_text(u->w, t));
  int64_t *shape = NEW_ARRAY(u->arena, int64_t, 1);
  *shape = letters.n;
  *out = (Array){.name = "", .rank = 1, .shape = shape, .count = letters.n, .data = letters.at};
  return true;
}

// As an array of label numbers; all texts have the same length.
static bool return_texts(Use *u, const LabelList *text, int64_t n) {
  int64_t length = n ? text[0].n : 0;
  Tensor all = tensor_new(u->arena, 2, (int64_t[]){n, length});
  for (int64_t k = 0; k < n; k++)
    memcpy(all.data + k * length, text[k].at, (size_t)length * sizeof(double));
  Array a = tensor_array(&all, "text");
  arrays_keep(u->call->keep, u->call->out, &a);
  return true;
}

static bool print_texts(Use *u, const TextLabels *l, const LabelList *text, int64_t n) {
  Buf *out = u->call->text;
  if (u->call->out) return return_texts(u, text, n);
  Buf b = buf_new(u->arena);
  JsonOut j = json_out(&b);
  bool json = u->how->json && !u->how->out;
  if (json) json_list(&j, NULL);
  for (int64_t k = 0; k < n; k++) {
    Buf one = buf_new(u->arena);
    for (uint32_t i = 0; i < text[k].n; i++) buf_text(&one, l->label[(int64_t)text[k].at[i]]);
    if (json)
      json_text(&j, NULL, one.at);
    else
      buf_printf(&b, "%s%s\n", k ? "\n" : "", one.at);
  }
  if (json) json_end(&j);
  if (!u->how->out) return buf_add(out, b.at, b.n), true;
  const char *why = file_write(u->arena, u->how->out, b.at, b.n);
  if (u->how->json) buf_text(out, "[]");
  return !why || use_wrong(u, OUTCOME_SYSTEM, "cannot write %s: %s", u->how->out, why);
}

typedef struct {
  const char *prompt; // NULL: none was given
  int64_t length, n;  // n texts, with so many labels after the prompt
} TextRequest;

// What a text without a prompt begins with: the end of a line, or the first letter of the model.
static double first_label(const TextLabels *l) {
  for (int64_t i = 0; i < l->labels; i++)
    if (strcmp(l->label[i], "\n") == 0) return (double)i;
  return 0;
}

// Dry run: the model is elaborated for n texts, and not computed.
static bool elaborate_for_texts(Use *u, const TextLabels *l, int64_t n) {
  Array x = {.rank = 2, .shape = (int64_t[]){n, l->window}, .count = n * l->window};
  return callable_takes(u->callable, &x);
}

static bool write_texts(Use *u, const TextRequest *o, TextLabels *l, LabelList *text) {
  int64_t n = o->n;
  if (!find_words(u, l)) return false;
  if (!l->label) return true;
  bool empty = o->prompt && !*o->prompt;
  if (empty || !o->prompt)
    vec_push(u->arena, &text[0], first_label(l));
  else if (!read_prompt(u, l, o->prompt, &text[0]))
    return false;
  for (int64_t k = 1; k < n; k++)
    for (uint32_t i = 0; i < text[0].n; i++) vec_push(u->arena, &text[k], text[0].at[i]);
  if (u->dry_run) return elaborate_for_texts(u, l, n);
  for (int64_t i = 0; i < o->length; i++)
    if (!append_label(u, l, text, n)) return false;
  for (int64_t k = 0; empty && k < n;
       k++) // what an empty prompt begins with is no part of the text
    memmove(text[k].at, text[k].at + 1, --text[k].n * sizeof(double));
  return true;
}

// -- kinds of samples -----------------------------------------------------------------------------
// Options of text generation are refused for other models.
static bool refuse_text_options(Use *u) {
  const char *option = u->how->prompt ? "--prompt" : u->how->length ? "--length" : NULL;
  if (!option && u->how->temperature > 0) option = "--temperature";
  return !option ||
         use_wrong(u, OUTCOME_USAGE, "%s is for models of text, and this is none", option);
}

static bool sample_named(Use *u, const char *name, const char *prompt, int64_t length) {
  if (is_stateful_machine(u->in, u->p, name))
    return use_wrong(u, OUTCOME_WRONG,
                     "`%s` is a machine, and no sample of anything: `run` and `limn run` follow it "
                     "through time",
                     name);
  Callable *f = callable_of(u, name);
  const Diagram *formal = callable_diagram(f);
  TextLabels l = {0};
  if (!formal) return false;
  if (!is_text_model(u->w, formal, &l)) return refuse_text_options(u) && sample_from_noise(u, f);
  int64_t n = how_many(u, 1);
  LabelList *text = NEW_ARRAY(u->arena, LabelList, n);
  if (u->how->prompt) prompt = u->how->prompt;
  if (u->how->length > 0) length = u->how->length;
  TextRequest order = {prompt, length, n};
  return write_texts(u, &order, &l, text) && print_texts(u, &l, text, n);
}

// generate[model, length: 500]("\n")
static bool is_generate(Use *u, const Syntax *n, const char **model, const char **prompt,
                        int64_t *length) {
  const Syntax *at = use_callee(n);
  if (at->kind != N_AT || at_base(at)->kind != N_NAME ||
      strcmp(name_text(u->w->names, at_base(at)->name), "generate") != 0)
    return false;
  if (n->kind == N_CALL && call_args(n).n && call_args(n).at[0]->kind == N_STR)
    *prompt = call_args(n).at[0]->text;
  Nodes slot = brackets_slots(at_brackets(at));
  for (uint32_t i = 0; i < slot.n; i++) {
    const Syntax *item = items_in(slot.at[i]).at[0];
    if (item->kind == N_NAME) *model = name_text(u->w->names, item->name);
    if (item->kind == N_SIZED && sized_value(item)->kind == N_NUM)
      *length = (int64_t)sized_value(item)->num;
  }
  return *model != NULL;
}

bool sample_text(Use *u, const Syntax *expr, Shown *out) {
  const char *name = NULL, *prompt = NULL;
  int64_t length = LENGTH;
  TextLabels l = {0};
  LabelList text = {0};
  if (!is_generate(u, expr, &name, &prompt, &length))
    return use_wrong(u, OUTCOME_WRONG, "`generate` wants a model of text: `generate[f]`");
  const Diagram *formal = callable_diagram(callable_of(u, name));
  if (!formal) return false;
  if (!is_text_model(u->w, formal, &l))
    return use_wrong(u, OUTCOME_WRONG, "`%s` is not a model of text, {v}[t] -> R[t v]", name);
  TextRequest order = {prompt, u->one_batch ? 1 : length, 1};
  if (!write_texts(u, &order, &l, &text)) return false;
  if (!l.label) return true;
  int64_t *shape = arena_copy(u->arena, (int64_t[]){1, text.n}, 2 * sizeof(int64_t));
  Array a = {.name = name, .rank = 2, .shape = shape, .count = text.n, .data = text.at};
  vec_push(u->arena, &out->value.array, a);
  out->name = arena_copy(u->arena, &l.label, sizeof l.label);
  out->samples = true;
  return true;
}

// Samples the first `show`.
static bool sample_shown(Use *u, const Show *show) {
  Data *data = use_data(u);
  Shown shown = {0};
  if (!data || !show->diagram || !show_values(u, data, show, how_many(u, SAMPLES), &shown))
    return false;
  u->many = shown.samples;
  return arrays_put(u, &shown.value);
}

static bool sample(Use *u, void *context) {
  const char *name = context;
  const char *prompt = NULL;
  int64_t length = LENGTH;
  const int64_t most = 1000000000;
  if (u->how->n < 0 || u->how->n > most || u->how->length < 0 || u->how->length > most)
    return use_wrong(u, OUTCOME_USAGE,
                     "how many and how long are whole numbers up to %lld, and 0 says nothing",
                     (long long)most);
  if (name) return sample_named(u, name, prompt, length);
  if (!u->p->show.n)
    return use_wrong(u, OUTCOME_WRONG, "sample what? Name a learner or box, or write a `show`");
  const Show *show = &u->p->show.at[0];
  if (is_generate(u, show_what(show->node), &name, &prompt, &length))
    return sample_named(u, name, prompt, length);
  return refuse_text_options(u) && sample_shown(u, show);
}

Outcome use_sample(Elab *in, Program *p, const char *name, const UseCall *call) {
  return use_guarded(in, p, call, sample, (void *)(uintptr_t)name);
}
