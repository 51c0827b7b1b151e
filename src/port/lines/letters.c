// Renames index letters: an axis gets the letter of its position in the result, i first. Later
// lines refer to axes by letter, and two values that are added elementwise must not have one letter
// at two positions; a common naming ensures this.
#include "port/lines/lines.h"

enum { LETTER_NONE = IMP_LETTERS };

typedef struct {
  Importer *m;
  uint32_t to[IMP_LETTERS]; // LETTER_NONE: not seen yet
  bool given[IMP_LETTERS];
} Letters;

static uint32_t letter_of(const char *word, size_t n) {
  for (uint32_t i = 0; i < IMP_LETTERS; i++)
    if (strlen(imp_letter[i]) == n && !memcmp(imp_letter[i], word, n)) return i;
  return LETTER_NONE;
}

static size_t word_length(const char *at) {
  size_t n = 0;
  while (char_is_word(at[n]) || at[n] == '_') n++;
  return n;
}

// Letters alone on the left get the letter of their position; others follow in order.
static void assign_left_letters(Letters *l, const char *left) {
  size_t n;
  uint32_t place = 0;
  for (const char *at = left; at && (at = next_index(at, &n)); at += n, place++) {
    uint32_t letter = letter_of(at, n);
    if (letter == LETTER_NONE || l->to[letter] != LETTER_NONE) continue;
    l->to[letter] = place;
    l->given[place] = true;
  }
}

static void assign_other_letters(Letters *l, const char *text, uint32_t from) {
  for (const char *at = text; at && *at;) {
    size_t n = word_length(at);
    uint32_t letter = letter_of(at, n), free = from;
    if (letter != LETTER_NONE && l->to[letter] == LETTER_NONE) {
      // There are as many letters as can occur.
      while (l->given[free]) free = (free + 1) % IMP_LETTERS;
      l->to[letter] = free;
      l->given[free] = true;
    }
    at += n ? n : 1;
  }
}

static const char *renamed(const Letters *l, const char *text) {
  Buf b = buf_new(l->m->arena);
  if (!text) return NULL;
  for (const char *at = text; *at;) {
    size_t n = word_length(at);
    uint32_t letter = letter_of(at, n);
    if (letter == LETTER_NONE)
      buf_add(&b, at, n ? n : 1);
    else
      buf_text(&b, imp_letter[l->to[letter]]);
    at += n ? n : 1;
  }
  return b.n ? b.at : "";
}

static void line_settle(Importer *m, ImpLine *line) {
  Letters l = {.m = m};
  const char *left = line->form.left, *first = line->read.n ? line->read.at[0].index : NULL;
  if (!left && !first) return;
  uint32_t rank = value_at(m, left ? line->out.at[0] : line->read.at[0].value)->shape.rank;
  for (uint32_t i = 0; i < IMP_LETTERS; i++) l.to[i] = LETTER_NONE;
  assign_left_letters(&l, left ? left : first); // `x[i 0..2 k]` has the axes of x
  assign_other_letters(&l, left, rank);
  for (uint32_t i = 0; i < line->read.n; i++)
    assign_other_letters(&l, line->read.at[i].index, rank);
  assign_other_letters(&l, line->form.right, rank);
  line->form.left = renamed(&l, line->form.left);
  line->form.right = renamed(&l, line->form.right);
  for (uint32_t i = 0; i < line->read.n; i++)
    line->read.at[i].index = renamed(&l, line->read.at[i].index);
}

// A scan runs along a letter, so its operands keep their letters.
void index_letters_assign(Importer *m, const bool *live) {
  bool *kept = NEW_ARRAY(m->arena, bool, m->value.n);
  for (uint32_t i = 0; i < m->line.n; i++) {
    const ImpLine *l = &m->line.at[i];
    bool scan = live[i] && !strncmp(l->form.right, "scan[", 5);
    for (uint32_t k = 0; scan && k < l->read.n; k++) kept[l->read.at[k].value] = true;
  }
  for (uint32_t i = 0; i < m->line.n; i++) {
    ImpLine *l = &m->line.at[i];
    if (live[i] && !l->part.n && !kept[l->out.at[0]]) line_settle(m, l);
  }
}
