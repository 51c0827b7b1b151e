// Draws which goal trains which learner, as a table: a row per goal, a column per learner, a dot if
// the goal trains the learner, a ring if it only uses it. The data is that of learn_who_table.
#include "run/step/step.h"
#include "show/circuit/goals.h"

#include <math.h>

enum { TEXT_SIZE = 13, ROW = 28, LEAST = 34, EDGE = 12, PAD = 12, TURNED = 64 };

typedef struct {
  Arena *arena;
  const Program *p;
  WhoTable t;
  Canvas *c;
  double left, top, pitch; // of the first column and row
  bool turned;             // names of learners are rotated
} Who;

static void draw_text_at(Who *k, double x, double y, Anchor anchor, Ink ink, const char *text) {
  Text how = {.face = FACE_SANS, .size = TEXT_SIZE, .anchor = anchor, .ink = ink};
  words_draw(k->c, "label", x, y, &how, text);
}

static double widest(const char *const *text, uint32_t n) {
  double w = 0;
  for (uint32_t i = 0; i < n; i++) w = fmax(w, text_width(FACE_SANS, TEXT_SIZE, text[i]));
  return w;
}

static double column(const Who *k, uint32_t i) { return k->left + (i + 0.5) * k->pitch; }
static double row_centre(const Who *k, uint32_t g) { return k->top + (g + 0.5) * ROW; }

// Learners that are never trained are grey.
static Ink name_ink(const Def *d) {
  return d->frozen || d->kind == DEF_STALE ? INK_SOFT : INK_TEXT;
}

static void heads(Who *k) {
  for (uint32_t i = 0; i < k->t.learners; i++) {
    double x = column(k, i), y = k->top - 8;
    if (!k->turned) {
      draw_text_at(k, x, y, ANCHOR_MIDDLE, name_ink(k->t.def[i]), k->t.learner[i]);
      continue;
    }
    Text how = {.size = TEXT_SIZE, .ink = name_ink(k->t.def[i]), .angle = -TURNED};
    canvas_open(k->c, "", "head", k->t.learner[i]);
    canvas_of(k->c, group_at(k->arena, k->t.def[i]->span, NULL));
    canvas_text(k->c, x + 4, y, &how, k->t.learner[i]);
    canvas_close(k->c);
  }
}

static void lines(Who *k) {
  double right = k->left + k->pitch * k->t.learners, bottom = k->top + ROW * k->t.goals;
  for (uint32_t g = 0; g <= k->t.goals; g++)
    path_move(k->c, k->left, k->top + ROW * g), path_line(k->c, right, k->top + ROW * g);
  for (uint32_t i = 0; i <= k->t.learners; i++)
    path_move(k->c, k->left + k->pitch * i, k->top),
        path_line(k->c, k->left + k->pitch * i, bottom);
  canvas_paint(k->c, &(Paint){.stroke = INK_GRID, .width = 1});
}

static void draw_mark(Canvas *c, double x, double y, Effect e, const char *words,
                      const GroupOf *of) {
  canvas_open(c, "", "glyph", words);
  canvas_of(c, of);
  if (e == WHO_STOPPED) { // a bar, as for `stop` on a wire
    path_move(c, x, y - 5), path_line(c, x, y + 5);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 2});
  } else {
    path_circle(c, x, y, 5);
    canvas_paint(c, e == WHO_MOVES ? &(Paint){.fill = INK_LINE}
                                   : &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1.5});
  }
  canvas_close(c);
}

// The factor of a goal; "": all are equal
static const char *factor_text(const Who *k, uint32_t g) {
  Buf b = buf_new(k->arena);
  if (k->p->goal.at[g].weight == 1) return "";
  buf_text(&b, "×");
  buf_number(&b, k->p->goal.at[g].weight);
  return b.at;
}

static void draw_goal_rows(Who *k) {
  static const char *const does[] = {"", "is stopped before", "goes through", "moves"};
  double right = k->left + k->pitch * k->t.learners;
  for (uint32_t g = 0; g < k->t.goals; g++) {
    draw_text_at(k, k->left - 10, row_centre(k, g) + 4.5, ANCHOR_END, INK_TEXT, k->t.goal[g]);
    for (uint32_t i = 0; i < k->t.learners; i++) {
      Effect e = k->t.effect[g * k->t.learners + i];
      if (e != WHO_ABSENT)
        draw_mark(k->c, column(k, i), row_centre(k, g), e,
                  arena_format(k->arena, "%s %s %s", k->t.goal[g], does[e], k->t.learner[i]),
                  group_at(k->arena, k->p->goal.at[g].node->span, NULL));
    }
    if (*factor_text(k, g))
      draw_text_at(k, right + 8, row_centre(k, g) + 4.5, ANCHOR_START, INK_SOFT, factor_text(k, g));
  }
}

static double factors(const Who *k) {
  double w = 0;
  for (uint32_t g = 0; g < k->t.goals; g++) {
    const char *text = factor_text(k, g);
    if (*text) w = fmax(w, text_width(FACE_SANS, TEXT_SIZE, text) + 8);
  }
  return w;
}

// Explains the marks; returns the bottom. The bar is explained only if it occurs.
static double legend(Who *k, double y, bool paint) {
  static const struct {
    Effect e;
    const char *mark, *words;
  } rows[] = {{WHO_MOVES, "a dot", "moves"},
              {WHO_THROUGH, "a ring", "is used, stays"},
              {WHO_STOPPED, "a bar", "no slope reaches it"}};
  double x = EDGE + 5, end = x;
  for (uint32_t i = 0; i < COUNT(rows); i++) {
    bool there = rows[i].e != WHO_STOPPED;
    for (uint32_t e = 0; e < k->t.goals * k->t.learners; e++) there |= k->t.effect[e] == rows[i].e;
    if (!there) continue;
    if (paint) {
      draw_mark(k->c, x, y, rows[i].e, rows[i].mark, NULL);
      draw_text_at(k, x + 10, y + 4.5, ANCHOR_START, INK_SOFT, rows[i].words);
    }
    end = x + 10 + text_width(FACE_SANS, TEXT_SIZE, rows[i].words);
    x = end + 20;
  }
  return end;
}

Canvas *who_draw(Elab *in, Arena *a, Program *p) {
  Who k = {.arena = a, .p = p, .t = learn_who_table(in, p)};
  if (!k.t.goals || !k.t.learners) return NULL;
  double head = widest(k.t.learner, k.t.learners), name = widest(k.t.goal, k.t.goals);
  k.turned = head + PAD > 2 * LEAST;
  k.pitch = k.turned ? LEAST : fmax(LEAST, head + PAD);
  k.left = EDGE + name + 10;
  k.top = EDGE + 12 + (k.turned ? head * 0.9 + 8 : TEXT_SIZE);
  double slant = k.turned ? head * 0.44 : 0;
  double width = k.left + k.pitch * k.t.learners + fmax(factors(&k), slant) + EDGE;
  width = fmax(width, 200);
  width = fmax(width, legend(&k, 0, false) + EDGE);
  double bottom = k.top + ROW * k.t.goals;
  k.c = canvas_new(a, width, bottom + 36, "Who trains whom",
                   "Goals in rows, learners in columns: a dot where the goal moves the learner");
  lines(&k), heads(&k), draw_goal_rows(&k), legend(&k, bottom + 20, true);
  return k.c;
}
