// A law of pictures: every change of a random program changes the pictures that show the changed
// thing.
#include "picture_changes.h"
#include "whole_laws.h"

enum { CHANGES = 10 };

// Random programs train once, and plainly: some train again.
static const char *text_of(const Case *c) {
  static const char *const more[] = {"train 3 steps, batch 4, gd(0.05)\n",
                                     "train 3 steps, batch 4, adam(0.01), clip 1\n",
                                     "train 3 steps, batch 4, gd(0.05), decay 0.1, accumulate 2\n"};
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  uint64_t seed = c->p->seed;
  if (!c->p->trains || seed % 2) return text;
  return arena_format(c->arena, "%s%s", text, more[seed / 2 % COUNT(more)]);
}

bool law_pictures(Case *c) {
  const char *text = text_of(c);
  Limn *l = case_load(c, text); // writes the files beside it
  if (!l) return false;
  limn_free(l);
  PictureChanges *p = picture_changes(c->arena, ".", text);
  if (!p) return true; // it would not run: that is another law
  TextChanges all = text_changes(c->arena, text, ~0u);
  bool good = true;
  for (uint32_t i = 0; good && all.n && i < CHANGES; i++) {
    const TextChange *x = &all.at[(c->p->seed * 7 + i * 131) % all.n];
    const char *level = "";
    if (picture_change_try(p, x, &level) == HIDDEN)
      good = case_says(c, "not shown by a %s: at %s, line %s", text_change_names[x->kind], level,
                       text_change_said(c->arena, text, x));
  }
  picture_changes_free(p);
  return good;
}
