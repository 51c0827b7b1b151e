// Documentation of what has no source: keywords, boxes built into the compiler, and the table of
// functions.
#include "core/diagram/ops.h"
#include "edit/edit_own.h"

static const KnownWord words[] = {
#define WORD(name, form, doc) {name, form, doc},
#include "edit/known.def"
};
static const KnownWord boxes[] = {
#define BOX(name, form, doc) {name, form, doc},
#define VALUE(name, doc) {name, name, doc},
#include "edit/known.def"
};

const KnownWord *known_word(const char *name) {
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (strcmp(words[i].name, name) == 0) return &words[i];
  return NULL;
}

const char *known_word_name(uint32_t k) { return k < COUNT(words) ? words[k].name : NULL; }

// tanh(a), max(a, b)
static const char *function_form(Arena *a, Fn fn) {
  Buf b = buf_new(a);
  const char *bases = fn_rows[fn].sig;
  buf_printf(&b, "%s(", fn_rows[fn].name);
  for (uint32_t i = 0; bases[i] && bases[i] != '>'; i++)
    buf_printf(&b, "%s%c", i ? ", " : "", (char)('a' + i));
  buf_char(&b, ')');
  return b.at;
}

const KnownWord *known_box(Arena *a, const char *name) {
  for (uint32_t i = 0; i < COUNT(boxes); i++)
    if (strcmp(boxes[i].name, name) == 0) return &boxes[i];
  Fn fn = fn_find(name);
  if (fn == FN_COUNT) return NULL;
  KnownWord *w = NEW(a, KnownWord);
  *w = (KnownWord){fn_rows[fn].name, function_form(a, fn), fn_rows[fn].doc};
  return w;
}

const char *known_box_name(uint32_t k) {
  if (k < COUNT(boxes)) return boxes[k].name;
  k -= COUNT(boxes);
  uint32_t fn = FN_SIZE + 1 + k;
  return fn < FN_COUNT ? fn_rows[fn].name : NULL;
}
