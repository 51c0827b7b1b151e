// A text as a set: each character is a row, with its index among the sorted distinct characters as
// label.
//
// If all characters are single bytes, the text is used in place, with a table from bytes to labels;
// otherwise labels are computed when the set is opened. The first 90 % are for training, 5 % for
// validation, 5 % for testing. With `pieces`, rows are pieces of a byte-pair encoding (bpe.c).
#include "io/data/set_own.h"

enum { CHARACTERS = 0x110000 };

static uint32_t decode(const char *p, size_t n) {
  const uint8_t *u = (const uint8_t *)p;
  uint32_t c = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));
  for (size_t i = 1; i < n; i++) c = c << 6 | (u[i] & 0x3f);
  return c;
}

// Marks the characters that occur in `seen` and counts all characters. False: *wrong is the
// position of invalid UTF-8.
static bool find_characters(View v, uint8_t *seen, int64_t *count, size_t *wrong) {
  *count = 0;
  for (size_t at = 0, n; at < v.n; at += n, ++*count) {
    n = v.at[at] < 0x80 ? 1 : character_length((const char *)v.at + at, v.n - at);
    *wrong = at;
    if (!n) return false;
    seen[decode((const char *)v.at + at, n)] = 1;
  }
  return true;
}

static int64_t name_labels(Arena *a, const uint8_t *seen, int32_t *label, const char ***names) {
  int64_t n = 0, at = 0;
  for (uint32_t c = 0; c < CHARACTERS; c++) n += seen[c];
  *names = NEW_ARRAY(a, const char *, n);
  for (uint32_t c = 0; c < CHARACTERS; c++) {
    char text[4];
    if (!seen[c]) continue;
    (*names)[at] = arena_text(a, text, character_write(c, text));
    label[c] = (int32_t)at++;
  }
  return n;
}

static Column label_bytes(Set *s, View v, const int32_t *label) {
  uint8_t *of = arena_alloc(s->arena, 256);
  for (uint32_t c = 0; c < 128; c++) of[c] = (uint8_t)label[c];
  Column c = column_new(v.at, 1, EL_U8);
  c.label_of = of;
  return c;
}

static Column label_characters(Set *s, View v, const int32_t *label, int64_t count) {
  int32_t *to = NEW_ARRAY(s->arena, int32_t, count);
  for (size_t at = 0, i = 0, n; at < v.n; at += n, i++) {
    n = character_length((const char *)v.at + at, v.n - at);
    to[i] = label[decode((const char *)v.at + at, n)];
  }
  return column_new(to, 1, EL_I32);
}

// Rows are pieces of the given vocabulary, otherwise of one learned from the whole text.
static bool open_pieces(Set *s, const char *path, View v, const char *const *names, int64_t n,
                        const char **why) {
  const Words *known = words_for(&s->options, "text");
  PiecesWanted wanted = {s->options.pieces, n, names, true};
  TextPieces found = {0};
  if (known) wanted = (PiecesWanted){known->n, known->n, known->word, false};
  if (wanted.nfirst > wanted.n)
    return file_error(s->arena, why,
                      "%s: the text has %lld different characters, which are the first pieces: "
                      "%lld pieces are too few",
                      path, (long long)n, (long long)wanted.n);
  if (!text_in_pieces(s->arena, v, &wanted, &found)) {
    size_t at = (size_t)(found.wrong - (const char *)v.at);
    return file_error(s->arena, why, "%s: byte %zu, `%s`, is none of the pieces of the text", path,
                      at,
                      text_shown(s->arena, found.wrong, character_length(found.wrong, v.n - at)));
  }
  Column c = column_new(found.label, 1, EL_I32);
  set_add_one(
      s,
      &(Field){
          .name = "text", .kind = FIELD_LABEL, .labels = found.words.n, .label = found.words.word},
      c);
  set_cut_shares(s, found.n, 0.9, 0.05);
  s->summary = arena_format(s->arena, "a text of %lld pieces, %lld different ones, cut 90 : 5 : 5",
                            (long long)found.n, (long long)found.different);
  return true;
}

bool open_text(Set *s, const char *path, View v, const char **why) {
  Arena *scratch = arena_child(s->arena);
  uint8_t *seen = arena_alloc(scratch, CHARACTERS);
  int32_t *label = NEW_ARRAY(scratch, int32_t, CHARACTERS);
  int64_t count;
  size_t wrong;
  const char **names;
  // The byte order mark is not part of the text.
  size_t mark = v.n >= 3 && !memcmp(v.at, "\xEF\xBB\xBF", 3) ? 3 : 0;
  v = (View){v.at + mark, v.n - mark};
  if (!find_characters(v, seen, &count, &wrong))
    return file_error(s->arena, why, "%s: byte %zu is not UTF-8 text", path, mark + wrong);
  if (!count) return file_error(s->arena, why, "%s: the text is empty", path);
  int64_t n = name_labels(s->arena, seen, label, &names);
  if (s->options.pieces) return arena_free(scratch), open_pieces(s, path, v, names, n, why);
  bool bytes = (size_t)count == v.n;
  Column c = bytes ? label_bytes(s, v, label) : label_characters(s, v, label, count);
  arena_free(scratch);
  set_add_one(s, &(Field){.name = "text", .kind = FIELD_LABEL, .labels = n, .label = names}, c);
  set_cut_shares(s, count, 0.9, 0.05);
  s->summary =
      arena_format(s->arena, "a text of %lld characters, %lld different ones, cut 90 : 5 : 5",
                   (long long)count, (long long)n);
  return true;
}
