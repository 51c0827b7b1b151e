// Commands that show a program: check, --who, cost, and pictures at every level. Other tests check
// the content of pictures; this one checks that they are complete and made in bounded time and
// memory.
#include "whole_laws.h"

// -- check ----------------------------------------------------------------------------------------
bool law_check(Case *c) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = asked(c, l, "check", NULL, limn_check(l) == LIMN_GOOD);
  if (good && c->p->goal.n)
    good = asked(c, l, "who", NULL, limn_who(l, false) && limn_who(l, true));
  for (uint32_t i = 0; good && i < c->p->decl.n; i++)
    if (whole_is_quiet(c->p->decl.at[i])) {
      const char *name = whole_name(c->p, c->p->decl.at[i]->name, false);
      good = asked(c, l, "cost", name, limn_cost(l, name, true) != NULL);
    }
  limn_free(l);
  return good;
}

// -- pictures -------------------------------------------------------------------------------------
static bool is_picture(Case *c, Limn *l, const char *name, LimnDraw how) {
  const char *bytes = NULL, *end = "</svg>";
  size_t n = 0;
  how.out = "picture.svg";
  if (!asked(c, l,
             arena_format(c->arena, "draw %s",
                          how.level  ? how.level
                          : how.grad ? "gradient"
                          : how.lens ? "lens"
                                     : "goals"),
             name, limn_draw_bytes(l, name, &how, &bytes, &n) == LIMN_GOOD))
    return false;
  bool whole = n > 20 && strstr(arena_text(c->arena, bytes + n - 20, 20), end);
  return whole || case_says(c, "draw: no whole picture of %s", name ? name : "all");
}

// One level of each, others for other programs: pictures take longer than all the rest.
static bool drawn(Case *c, Limn *l, const char *name, uint32_t k) {
  static const char *const level[] = {"learner", "model", "layer"};
  LimnDraw how = {.size = sizeof how, .level = level[(c->p->seed + k) % COUNT(level)]};
  if (!name) how.level = NULL; // a picture of goals has none
  return is_picture(c, l, name, how);
}

static bool has_no_slopes(Limn *l) {
  return strstr(limn_messages(l, false), "has a derivative") != NULL;
}

static bool gradient_drawn(Case *c, Limn *l, const char *name) {
  if (is_picture(c, l, name, (LimnDraw){.size = sizeof(LimnDraw), .grad = true})) return true;
  if (!has_no_slopes(l)) return false;
  c->said.n = 0;
  limn_forget(l);
  return true;
}

bool law_draw(Case *c) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = !c->p->goal.n || drawn(c, l, NULL, 0);
  if (good && c->p->goal.n)
    good = is_picture(c, l, NULL, (LimnDraw){.size = sizeof(LimnDraw), .lens = true});
  for (uint32_t i = 0; good && i < c->p->decl.n; i++) {
    const WholeDecl *d = c->p->decl.at[i];
    if (!whole_is_quiet(d)) continue;
    good = drawn(c, l, whole_name(c->p, d->name, false), i);
    if (good && whole_is_real(d) && (c->p->seed + i) % 6 == 0)
      good = gradient_drawn(c, l, whole_name(c->p, d->name, false));
  }
  limn_free(l);
  return good;
}
