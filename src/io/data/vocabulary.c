// Vocabularies: the words of a field's labels.
//
// Without a given vocabulary, a set numbers its words in sorted order (of words, sub-folders or
// characters). With one, words are looked up, and an unknown word is an error that names it. So
// labels are equal in all files, whatever words a file lacks and however its rows are ordered.
#include "base/table.h"
#include "io/data/set_own.h"

enum { WORDS_SAID = 12 };

const Words *words_for(const SetOptions *o, const char *field) {
  for (uint32_t i = 0; i < o->nwords; i++)
    if (strcmp(o->words[i].field, field) == 0) return &o->words[i];
  return NULL;
}

bool words_equal(const Words *a, const Words *b) {
  if (a->n != b->n) return false;
  for (int64_t i = 0; i < a->n; i++)
    if (strcmp(a->word[i], b->word[i]) != 0) return false;
  return true;
}

const char *words_text(Arena *a, const Words *w) {
  Buf b = buf_new(a);
  for (int64_t i = 0; i < w->n && i < WORDS_SAID; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", text_shown(a, w->word[i], strlen(w->word[i])));
  if (w->n > WORDS_SAID) buf_printf(&b, ", … (%lld of them)", (long long)w->n);
  return b.at;
}

// Maps each word to its label + 1.
static Table *words_table(Arena *a, const Words *w) {
  Table *t = table_new(a);
  for (int64_t i = 0; i < w->n; i++)
    table_put(t, w->word[i], strlen(w->word[i]), (Id)(i + 1)); // among equal words the last wins
  return t;
}

// Maps one vocabulary to another. Returns the index of the first unknown word, or own->n.
static int64_t words_map(Arena *a, const Words *own, const Words *known, int32_t *to) {
  const Table *t = words_table(a, known);
  for (int64_t i = 0; i < own->n; i++) {
    Id id = table_get(t, own->word[i], strlen(own->word[i]));
    if (!id) return i;
    to[i] = (int32_t)id - 1;
  }
  return own->n;
}

const char *column_labels(Arena *a, const View *text, const Csv *t, uint32_t column,
                          const Words *known, uint32_t *label) {
  const CsvColumn *x = &t->column[column];
  Words own = {x->name, x->labels, x->words};
  int32_t *to = NEW_ARRAY(a, int32_t, own.n + 1);
  int64_t bad = words_map(a, &own, known, to), row = 0;
  if (bad == own.n) {
    for (; row < t->rows; row++) label[row] = (uint32_t)to[x->label[row]];
    return NULL;
  }
  while (x->label[row] != bad) row++;
  return arena_format(a, "line %lld: `%s` is none of the words that `%s` has: %s",
                      (long long)csv_line_of(a, (const char *)text->at, text->n, t, row),
                      text_shown(a, own.word[bad], strlen(own.word[bad])), x->name,
                      words_text(a, known));
}

// -- opened sets ----------------------------------------------------------------------------------
static int64_t block_rows(const Set *s, uint32_t block) {
  int64_t rows = 0;
  for (Split split = 0; split < SPLITS; split++)
    if (s->part[split].block == block) rows += s->part[split].rows;
  return rows;
}

// Renumbers a column of labels.
static Column renumber(Set *s, uint32_t block, uint32_t field, const int32_t *to) {
  Column c = s->column[block].at[field];
  int64_t rows = block_rows(s, block), each = c.count;
  int32_t *at = NEW_ARRAY(s->arena, int32_t, rows * each);
  for (int64_t r = 0; r < rows; r++) {
    if (c.drawn) column_draw(s, &c, &r, 1);
    column_read(&c, &r, 1, each, NUMBER_I32, at + r * each);
    for (int64_t k = 0; k < each; k++) at[r * each + k] = to[at[r * each + k]];
  }
  return column_new(at, each, EL_I32);
}

static bool match_field(Set *s, uint32_t field, const Words *known, const char **why) {
  Field *f = &s->field.at[field];
  Words own = {.field = f->name, .n = f->labels, .word = f->label};
  if (words_equal(&own, known)) return true;
  Arena *scratch = arena_child(s->arena);
  int32_t *to = NEW_ARRAY(scratch, int32_t, own.n + 1);
  int64_t good = words_map(scratch, &own, known, to);
  if (good < own.n)
    file_error(s->arena, why, "%s: `%s` is none of the words that `%s` has: %s", s->name,
               text_shown(s->arena, own.word[good], strlen(own.word[good])), f->name,
               words_text(s->arena, known));
  bool same = true;
  for (int64_t i = 0; i < own.n; i++) same &= to[i] == i;
  for (uint32_t b = 0; good == own.n && !same && b < SPLITS; b++)
    if (block_rows(s, b)) s->column[b].at[field] = renumber(s, b, field, to);
  arena_free(scratch);
  f->labels = known->n;
  f->label = known->word;
  return good == own.n;
}

// Vocabularies are recorded, because labels may become bits later.
bool set_match_words(Set *s, const char **why) {
  for (uint32_t i = 0; i < s->field.n; i++) {
    const Field *f = &s->field.at[i];
    const Words *known = words_for(&s->options, f->name);
    if (f->kind != FIELD_LABEL || !f->label) continue;
    if (known && !match_field(s, i, known, why)) return false;
    vec_push(s->arena, &s->words, (Words){f->name, f->labels, f->label});
  }
  return true;
}

const Words *set_words(const Set *s, const char *field) {
  for (uint32_t i = 0; i < s->words.n; i++)
    if (strcmp(s->words.at[i].field, field) == 0) return &s->words.at[i];
  return NULL;
}
