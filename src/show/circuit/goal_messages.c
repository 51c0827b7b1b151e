// Messages beside the picture of goals: each is below its goal, connected to the box, the end or
// the sign that it is about; other messages are below all goals. Errors are red, warnings grey.
#include "base/diag.h"
#include "show/circuit/goals_own.h"

bool said_wrong(Goals *g, const Goal *goal, Said *out) {
  out->goal = goal;
  if (!g->w->diags->errors) return false;
  BrokenGoal k = elab_broken_goal(g->in, g->p, goal);
  if (goal->diagram && !k.slip.n) return false;
  if (!broken_is_small(k.left) || (k.right && !broken_is_small(k.right))) return false;
  out->wrong = k;
  return true;
}

static bool is_said(const Messages *p, const Message *x) {
  for (uint32_t i = 0; i < p->n; i++)
    if (strcmp(p->at[i].text, x->text) == 0 && strcmp(p->at[i].head, x->head) == 0) return true;
  return false;
}

// Warnings are unnumbered and sorted by text: declarations are not visible in the picture.
static void add_message(Goals *g, Messages *to, Message m) {
  if (m.mild) m.head = "warning";
  vec_push(g->arena, to, m);
  for (uint32_t i = to->n - 1; i && m.mild && to->at[i - 1].mild; i--) {
    if (strcmp(to->at[i - 1].text, m.text) <= 0) return;
    to->at[i] = to->at[i - 1], to->at[i - 1] = m;
  }
}

static bool lies_in(Span s, Span whole) {
  return s.file == whole.file && s.at >= whole.at && s.at + s.n <= whole.at + whole.n;
}

static void add_tied(Goals *g, Messages *to, const GoalPlace *sign, Span span, const char *text,
                     bool mild) {
  Message p = message_plate(g->w, g->arena, span, text);
  p.mild = mild, p.tied = true;
  p.x = sign->x, p.y0 = sign->y0, p.y1 = sign->y1;
  add_message(g, to, p);
}

// Positions are known once the sides are laid out; before, only the texts.
static void find_plates(Goals *g, Said *s, const Layout *left, const Layout *right,
                        const GoalPlace *sign) {
  const BrokenGoal *k = &s->wrong;
  const Diags *d = g->w->diags;
  Messages all = {0};
  if (k->left) broken_plates(g->w, g->arena, k->left, left, &all);
  if (k->right) broken_plates(g->w, g->arena, k->right, right, &all);
  for (uint32_t i = 0; i < k->slip.n; i++)
    add_tied(g, &all, sign, k->slip.at[i].span, k->slip.at[i].text, false);
  for (uint32_t i = 1; i < d->list.n; i++)
    if (d->list.at[i].kind == DIAG_WARNING && lies_in(d->list.at[i].span, s->goal->span))
      add_tied(g, &all, sign, d->list.at[i].span, d->list.at[i].text, true);
  s->plate = (Messages){0};
  for (uint32_t i = 0; i < all.n; i++)
    if (!is_said(&s->plate, &all.at[i])) add_message(g, &s->plate, all.at[i]);
}

void said_measure(Goals *g, Said *s, const Layout *left, const Layout *right) {
  find_plates(g, s, left, right, &(GoalPlace){0});
  plates_size(g->arena, &s->plate, &s->wide, &s->high);
}

void said_paint(Canvas *c, Goals *g, Said *s, const Layout *left, const Layout *right,
                const GoalPlace *sign, PlateRoom room) {
  if (!s->plate.n) return;
  Messages numbered = s->plate;
  find_plates(g, s, left, right, sign);
  for (uint32_t i = 0; i < numbered.n; i++) s->plate.at[i].number = numbered.at[i].number;
  Plating plan = plates_plan(g->arena, c, &s->plate, room);
  plates_paint(c, &plan, room.height);
}

void said_others(Goals *g, Said *const *all, uint32_t n, Said *out) {
  const Diags *d = g->w->diags;
  for (uint32_t i = 1; i < d->list.n; i++) {
    Message p = message_plate(g->w, g->arena, d->list.at[i].span, d->list.at[i].text);
    bool said = false;
    p.mild = d->list.at[i].kind == DIAG_WARNING;
    if (p.mild) p.head = "warning";
    for (uint32_t k = 0; k < n; k++) said |= is_said(&all[k]->plate, &p);
    if (!said) add_message(g, &out->plate, p);
  }
  plates_size(g->arena, &out->plate, &out->wide, &out->high);
}

const char *said_about(Goals *g, Said *const *all, uint32_t n) {
  Messages said = {0};
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < all[k]->plate.n; i++) vec_push(g->arena, &said, all[k]->plate.at[i]);
  for (uint32_t k = 0, number = 0; k < n && said.n > 1; k++)
    for (uint32_t i = 0; i < all[k]->plate.n; i++) all[k]->plate.at[i].number = ++number;
  return said.n ? plates_about(g->arena, &said) : NULL;
}
