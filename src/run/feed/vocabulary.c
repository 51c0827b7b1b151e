// Vocabularies: words of labels, saved with the weights that were trained on their numbers.
//
//   "words": [["insects.csv", "kind", ["ant", "bee", "cat"]]]       in the metadata of safetensors
//
// The words of a field come from the program if its type names them, `{ant, bee, cat}`; otherwise
// from the run whose weights are used, whatever file is read; otherwise from its file. Sets that
// are opened later are matched by name, so that a label has one number for the life of a run.
#include "base/diag.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "run/feed/feed.h"

#include <stdlib.h>

// -- of a program and a run -----------------------------------------------------------------------
bool type_words(World *w, const Type *t, const char *field, Words *out) {
  if (t->base != BASE_LABEL || !t->names) return false;
  const Ids *names = &w->label_names.at[t->names];
  const char **word = NEW_ARRAY(w->arena, const char *, names->n);
  for (uint32_t i = 0; i < names->n; i++) word[i] = name_text(w->names, names->at[i]);
  *out = (Words){field, names->n, word};
  return true;
}

static bool same_source(const Data *d, const Given *a, const Given *b) {
  return !a->noise && !b->noise &&
         strcmp(given_source_key(d->w, a), given_source_key(d->w, b)) == 0;
}

// The path of the file from the folder of the program.
static const char *path_from_program(const Data *d, const Given *g) {
  const char *main = d->w->sources->file.at[d->p->tree->span.file].path,
             *slash = strrchr(main, '/'), *path = data_file(d->w->arena, g->beside, g->path);
  size_t n = slash ? (size_t)(slash - main) + 1 : 0;
  return strncmp(path, main, n) == 0 ? path + n : path;
}

// Files in different folders may be named by one text. Then their paths tell them apart.
const char *given_name(const Data *d, const Given *g) {
  if (!g->path) return name_text(d->w->names, g->set);
  for (uint32_t k = 0; k < d->p->given.n; k++) {
    const Given *other = &d->p->given.at[k];
    if (other->path && strcmp(other->path, g->path) == 0 && !same_source(d, g, other))
      return path_from_program(d, g);
  }
  return g->path;
}

static void read_source_words(Data *d);

// The words that the program gives a field, in this `given` or in another one of the source.
static bool words_written(Data *d, const Given *g, uint32_t i, Words *out) {
  const char *field = name_text(d->w->names, g->column.at[i]);
  if (type_words(d->w, &g->type.at[i], field, out)) return true;
  for (uint32_t k = 0; k < d->p->given.n; k++) {
    const Given *other = &d->p->given.at[k];
    for (uint32_t j = 0; j < other->column.n && same_source(d, g, other); j++)
      if (other->column.at[j] == g->column.at[i] &&
          type_words(d->w, &other->type.at[j], field, out))
        return true;
  }
  return false;
}

// How close a file of saved words is to this one: the same path, the same name in another folder,
// or any other file.
enum { NEAR_PATH, NEAR_NAME, NEAR_ANY, NEARS };

static bool is_near(const char *kept, const char *set, int how) {
  const char *a = strrchr(kept, '/'), *b = strrchr(set, '/');
  return how == NEAR_ANY || (how == NEAR_PATH && !strcmp(kept, set)) ||
         (how == NEAR_NAME && !strcmp(a ? a + 1 : kept, b ? b + 1 : set));
}

// The words that the run gives a field. A field of this name in any file has these words. Words of
// the closest file win; if several files are equally close and their words differ, *several is set.
static const Words *words_kept(const Data *d, const char *set, const char *field, bool *several) {
  const Words *found = NULL;
  *several = false;
  for (int how = 0; how < NEARS && !found; how++)
    for (uint32_t i = 0; i < d->kept.n; i++) {
      const Words *w = &d->kept.at[i].words;
      if (strcmp(w->field, field) != 0 || !is_near(d->kept.at[i].set, set, how)) continue;
      *several |= found && !words_equal(found, w);
      if (!found) found = w;
    }
  return *several ? NULL : found;
}

// Labels of episodes are renumbered in each episode, and have no words.
static const Words *given_kept(const Data *d, const Given *g, uint32_t i, bool *several) {
  *several = false;
  if (g->noise || g->episodes.way) return NULL;
  return words_kept(d, given_name(d, g), name_text(d->w->names, g->column.at[i]), several);
}

static bool refuse_ambiguous_words(Data *d, const Given *g, const char *field) {
  return diag_refuse(d->w->diags, g->node->span,
                     "the weights were trained with several files whose `%s` has other words, and "
                     "%s is none of them: nothing says which labels are meant",
                     field, given_name(d, g));
}

static bool refuse_other_words(Data *d, Span span, const Words *now, const Words *then) {
  return diag_refuse(d->w->diags, span,
                     "the labels of `%s` are %s here, but the weights were trained with %s",
                     now->field, words_text(d->arena, now), words_text(d->arena, then));
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool same_but_for_order(Arena *a, const Words *x, const Words *y) {
  const Words *both[2] = {x, y};
  Words sorted[2];
  for (uint32_t i = 0; i < 2; i++) {
    const char **word = NEW_ARRAY(a, const char *, both[i]->n + 1);
    memcpy(word, both[i]->word, (size_t)both[i]->n * sizeof *word);
    qsort(word, (size_t)both[i]->n, sizeof *word, by_text);
    sorted[i] = (Words){"", both[i]->n, word};
  }
  return words_equal(&sorted[0], &sorted[1]);
}

// Does a type with named labels agree with the run? The run may have the same words, or the same
// set of words in another order, or a field of this name with other words.
bool data_words_agree(Data *d, const Type *t, const char *field) {
  Words own;
  const Words *other = NULL;
  read_source_words(d);
  if (!type_words(d->w, t, field, &own)) return true;
  for (uint32_t i = 0; i < d->kept.n; i++) {
    const Words *kept = &d->kept.at[i].words;
    if (words_equal(&own, kept)) return true;
    if (!strcmp(kept->field, field) || same_but_for_order(d->arena, &own, kept)) other = kept;
  }
  if (other) own.field = other->field;
  return !other || refuse_other_words(d, (Span){0}, &own, other);
}

static bool has_words(const WordsList *all, const char *field) {
  for (uint32_t i = 0; i < all->n; i++)
    if (strcmp(all->at[i].field, field) == 0) return true;
  return false;
}

static bool add_words(Data *d, const Given *g, WordsList *out) {
  for (uint32_t i = 0; i < g->column.n; i++) {
    Words written;
    const char *field = name_text(d->w->names, g->column.at[i]);
    if (has_words(out, field)) continue;
    bool several, named = words_written(d, g, i, &written);
    const Words *kept = given_kept(d, g, i, &several);
    if (several) return refuse_ambiguous_words(d, g, field);
    if (named && kept && !words_equal(&written, kept))
      return refuse_other_words(d, g->node->span, &written, kept);
    if (named || kept) vec_push(d->arena, out, named ? written : *kept);
  }
  return true;
}

// Includes all fields that the program reads of the source, so that all givens share one set.
bool given_words(Data *d, const Given *g, WordsList *out) {
  read_source_words(d);
  if (!add_words(d, g, out)) return false;
  for (uint32_t k = 0; k < d->p->given.n; k++)
    if (same_source(d, g, &d->p->given.at[k]) && !add_words(d, &d->p->given.at[k], out))
      return false;
  return true;
}

// -- saved with weights ---------------------------------------------------------------------------
// A text that is not UTF-8 (a file in another encoding) is written as its bytes.
static void put_word(JsonOut *j, const char *text) {
  if (text_is_utf8(text, strlen(text))) {
    json_text(j, NULL, text);
    return;
  }
  json_list(j, NULL);
  for (; *text; text++) json_print(j, NULL, "%u", (unsigned)(unsigned char)*text);
  json_end(j);
}

static const char *read_word(Arena *a, const Json *x) {
  if (x->kind == JSON_TEXT) return x->text;
  if (x->kind != JSON_LIST) return "";
  Buf b = buf_new(a);
  const Json *byte = json_first(x);
  for (uint32_t i = 0; i < x->n; i++, byte = json_next(byte))
    if (byte->kind == JSON_NUMBER && byte->number < 256) buf_char(&b, (char)(int)byte->number);
  return b.at;
}

// ["insects.csv", "kind", ["ant", "bee", "cat"]]
static bool read_field_words(Data *d, const Json *x) {
  if (x->kind != JSON_LIST || x->n != 3) return false;
  const Json *set = json_first(x), *field = json_next(set), *list = json_next(field);
  if (field->kind != JSON_TEXT || list->kind != JSON_LIST || !list->n) return false;
  const char **word = NEW_ARRAY(d->arena, const char *, list->n);
  const Json *item = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, item = json_next(item))
    word[i] = read_word(d->arena, item);
  KeptWords kept = {read_word(d->arena, set), {field->text, list->n, word}};
  vec_push(d->arena, &d->kept, kept);
  return true;
}

bool data_read_words(Data *d, const Arrays *weights, const char *file) {
  const char *text = arrays_metadata(weights, "words"), *why;
  if (!text) return true;
  d->knows_words = true;
  const Json *all = json_read(d->arena, text, strlen(text), &why);
  bool good = all && all->kind == JSON_LIST;
  const Json *one = good ? json_first(all) : NULL;
  for (uint32_t i = 0; good && i < all->n; i++, one = json_next(one))
    good = read_field_words(d, one);
  return good ||
         diag_refuse(d->w->diags, (Span){0}, "%s: the words of its labels cannot be read", file);
}

// Does the diagram have an input or output with so many labels, or so many scores?
static bool has_labels(World *w, const Diagram *d, int64_t labels) {
  const Ids *side[2] = {&d->in, &d->out};
  int64_t n;
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < side[k]->n; i++) {
      const Type *t = &d->wire.at[side[k]->at[i]].type;
      bool label = t->base == BASE_LABEL && size_value(w, t->count, &n) && n == labels;
      if (label || (t->rank && size_value(w, t->axis[t->rank - 1].size, &n) && n == labels))
        return true;
    }
  return false;
}

// Adds the words of the run that a learner comes from, if its diagram has such labels. The words of
// a run that is used as a whole take precedence.
static void add_source_words(Data *d, const Def *learner) {
  const char *file = source_file(d->in, learner), *why;
  Arrays all = {0};
  Data theirs = {.in = d->in, .w = d->w, .arena = d->arena};
  if (!file || !learner->made || !safetensors_read(d->arena, file, &all, &why)) return;
  d->w->diags->muted++; // errors in the file are reported where its weights are read
  data_read_words(&theirs, &all, file);
  d->w->diags->muted--;
  for (uint32_t i = 0; i < theirs.kept.n; i++) {
    const Words *words = &theirs.kept.at[i].words;
    bool known = false;
    for (uint32_t k = 0; k < d->kept.n && !known; k++)
      known = strcmp(d->kept.at[k].words.field, words->field) == 0 &&
              (k < d->own_words || words_equal(&d->kept.at[k].words, words));
    if (!known && has_labels(d->w, learner->made, words->n))
      vec_push(d->arena, &d->kept, theirs.kept.at[i]);
  }
}

static void read_source_words(Data *d) {
  if (d->has_source_words) return;
  d->has_source_words = true;
  d->own_words = d->kept.n;
  for (uint32_t i = 0; i < d->p->learner.n; i++) add_source_words(d, d->p->learner.at[i]);
}

static bool is_listed(const Data *d, uint32_t given, uint32_t i) {
  const Given *g = &d->p->given.at[given];
  for (uint32_t k = 0; k <= given; k++) {
    const Given *other = &d->p->given.at[k];
    for (uint32_t j = 0; j < other->column.n && same_source(d, g, other); j++)
      if (other->column.at[j] == g->column.at[i]) return k < given || j < i;
  }
  return false;
}

// All words of the program's fields: of open sets, otherwise saved ones.
static void data_list_words(Data *d, Arena *a, KeptWordsList *out) {
  for (uint32_t k = 0; k < d->p->given.n; k++) {
    const Given *g = &d->p->given.at[k];
    for (uint32_t i = 0; i < g->column.n && !g->noise && !g->episodes.way; i++) {
      const char *field = name_text(d->w->names, g->column.at[i]);
      const Words *words = d->set[k] ? set_words(d->set[k], field) : NULL;
      bool several;
      if (!words) words = given_kept(d, g, i, &several);
      if (words && !is_listed(d, k, i)) vec_push(a, out, (KeptWords){given_name(d, g), *words});
    }
  }
}

const char *data_words_text(Data *d, Arena *a) {
  KeptWordsList all = {0};
  Buf b = buf_new(a);
  JsonOut j = json_out(&b);
  data_list_words(d, a, &all);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < all.n; i++) {
    const Words *w = &all.at[i].words;
    json_list(&j, NULL);
    put_word(&j, all.at[i].set);
    json_text(&j, NULL, w->field);
    json_list(&j, NULL);
    for (int64_t k = 0; k < w->n; k++) put_word(&j, w->word[k]);
    json_end(&j);
    json_end(&j);
  }
  json_end(&j);
  return b.at;
}

// -- by the number of labels ----------------------------------------------------------------------
// Opens the sets with so many labels, unless their words were saved.
static bool open_labels(Data *d, int64_t want) {
  for (uint32_t g = 0; g < d->p->given.n; g++) {
    const Given *given = &d->p->given.at[g];
    for (uint32_t i = 0; i < given->type.n; i++) {
      Ids fields = {0};
      int64_t n;
      bool several;
      if (given->type.at[i].base != BASE_LABEL || !given->field.at[i] || given->noise ||
          !size_value(d->w, given->type.at[i].count, &n) || n != want ||
          given_kept(d, given, i, &several))
        continue;
      vec_push(d->arena, &fields, given->field.at[i]->id);
      if (!data_need(d, &fields)) return false;
    }
  }
  return true;
}

static const Words *labels_among(const KeptWordsList *all, int64_t count, const char *field,
                                 bool *several) {
  const Words *found = NULL;
  *several = false;
  for (uint32_t i = 0; i < all->n; i++) {
    const Words *w = &all->at[i].words;
    if (w->n != count || (field && strcmp(w->field, field) != 0)) continue;
    if (found && !words_equal(found, w)) *several = true;
    if (!found) found = w;
  }
  return *several ? NULL : found;
}

// Words of the program's fields; otherwise of the run's field of this name.
static const Words *find_labels(Data *d, int64_t count, const char *field, bool *several) {
  KeptWordsList all = {0};
  data_list_words(d, d->arena, &all);
  const Words *found = labels_among(&all, count, field, several);
  return found || *several || !field ? found : labels_among(&d->kept, count, field, several);
}

const Words *data_labels(Data *d, int64_t count, const char *field, bool *several) {
  read_source_words(d);
  const Words *found = find_labels(d, count, field, several);
  if (found || *several || !open_labels(d, count)) return found;
  return find_labels(d, count, field, several);
}

bool data_has_words(Data *d, int64_t count, const char *field) {
  bool several;
  read_source_words(d);
  if (find_labels(d, count, field, &several) || several) return true;
  if (d->knows_words) return false;
  d->w->diags->muted++; // a set that is not installed is no error
  const Words *found = data_labels(d, count, field, &several);
  d->w->diags->muted--;
  return found || several;
}
