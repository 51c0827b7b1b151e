// Finds faults of a picture from its marks alone. Input: a finished canvas; output: a list of
// faults with positions and names.
//
// This file checks areas: labels and titles overlap nothing, glyphs do not overlap, wires pass no
// glyph, frames contain things completely, everything is on the page. lint_wires.c checks lines.
// Candidates are found by a grid, so the time grows linearly with the number of marks.
#include "show/canvas/lint_own.h"

#include <math.h>

#define TOUCH 0.5   // tolerated overlap
#define NEAR_END 2  // distance at which a wire counts as ending there
#define LETTERS 8.0 // 6 points, in units of 1/96 inch

static const char *const fault_words[FAULT_KINDS] = {
#define FAULT(name, words) words,
#include "show/canvas/faults.def"
#undef FAULT
};

void add_fault(Scene *s, FaultKind kind, double x, double y, const char *format, ...) {
  Buf b = buf_new(s->arena);
  va_list args;
  buf_printf(&b, "%s at %.0f, %.0f: ", fault_words[kind], x, y);
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  vec_push(s->arena, s->out, (Fault){kind, x, y, b.at});
}

void faults_print(const Faults *f, Buf *b) {
  uint32_t count[FAULT_KINDS] = {0};
  for (uint32_t i = 0; i < f->n; i++) {
    count[f->at[i].kind]++;
    buf_printf(b, "%s\n", f->at[i].text);
  }
  if (!f->n) return;
  buf_printf(b, "%u fault%s:", f->n, f->n > 1 ? "s" : "");
  for (uint32_t k = 0, n = 0; k < FAULT_KINDS; k++)
    if (count[k]) buf_printf(b, "%s %s %u", n++ ? "," : "", fault_words[k], count[k]);
  buf_char(b, '\n');
}

static const char *kind_words(ThingKind kind) {
  static const char *const words[] = {
      [THING_WIRE] = "a wire",   [THING_CUP] = "a cup",   [THING_DIVIDER] = "a divider",
      [THING_STROKE] = "a line", [THING_LABEL] = "label", [THING_TITLE] = "title",
      [THING_GLYPH] = "glyph",   [THING_DOT] = "a dot",   [THING_FRAME] = "the edge of frame",
  };
  return words[kind];
}

// "label y", "a wire h": kind and name.
static const char *thing_name(Scene *s, const Thing *t) {
  return arena_format(s->arena, "%s%s%.60s", kind_words(t->kind), t->words[0] ? " " : "", t->words);
}

// -- letters --------------------------------------------------------------------------------------
static bool is_letters(const Thing *t) { return t->kind == THING_LABEL || t->kind == THING_TITLE; }

// Labels and titles against areas, each pair once.
static void letters_and_things(Scene *s, uint32_t i) {
  const Thing *t = &s->thing.at[i];
  Area own = area_grown(t->area, -TOUCH);
  for (Near n = near_things(s, t->area); near_next(&n);) {
    const Thing *o = n.thing;
    bool letters = is_letters(o);
    if (n.index == i || o->kind == THING_FRAME || !areas_meet(&own, &o->area)) continue;
    if (letters && n.index < i) continue;
    bool title = t->kind == THING_TITLE || o->kind == THING_TITLE;
    add_fault(s,
              title     ? FAULT_TITLE
              : letters ? FAULT_LABELS
                        : FAULT_COVERED,
              t->area.x0, t->area.y1, "%s and %s", thing_name(s, t), thing_name(s, o));
  }
}

// Against lines, each line once.
static void letters_and_lines(Scene *s, uint32_t i) {
  const Thing *t = &s->thing.at[i];
  uint32_t last = UINT32_MAX;
  for (Near n = near_lines(s, area_grown(t->area, 4)); near_next(&n);) {
    if (n.index == i || n.index == last) continue;
    if (n.thing->kind > THING_STROKE && n.thing->kind != THING_FRAME) continue;
    Area own = area_grown(t->area, n.line->half - TOUCH);
    if (!segment_enters(n.line, &own)) continue;
    last = n.index;
    add_fault(s, t->kind == THING_TITLE ? FAULT_TITLE : FAULT_COVERED, t->area.x0, t->area.y1,
              "%s and %s", thing_name(s, t), thing_name(s, n.thing));
  }
}

static void check_letters(Scene *s) {
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    if (t->least < LETTERS - 0.01)
      add_fault(s, FAULT_SMALL, t->area.x0, t->area.y1, "%s has letters of %.1f points",
                thing_name(s, t), t->least * 0.75);
    if (!is_letters(t) || t->area.x0 > t->area.x1) continue;
    letters_and_things(s, i);
    letters_and_lines(s, i);
  }
}

// -- glyphs ---------------------------------------------------------------------------------------
bool is_solid(const Thing *t) { return t->kind == THING_GLYPH || t->kind == THING_DOT; }

static void check_glyph_pairs(Scene *s, uint32_t i) {
  const Thing *t = &s->thing.at[i];
  Area own = area_grown(t->area, -TOUCH);
  for (Near n = near_things(s, t->area); near_next(&n);) {
    const Thing *o = n.thing;
    if (!is_solid(o) || n.index == i || !areas_meet(&own, &o->area)) continue;
    if (t->kind == o->kind && n.index < i) continue;
    // Dots may coincide; dots against glyphs are checked by glyphs.
    if (t->kind == THING_DOT) continue;
    add_fault(s, FAULT_GLYPHS, t->area.x0, t->area.y0, "%s and %s", thing_name(s, t),
              thing_name(s, o));
  }
}

// Does a wire begin or end at this area?
static bool is_attached(const Scene *s, const Thing *wire, const Area *to) {
  Area a = area_grown(*to, NEAR_END);
  for (uint32_t i = wire->first; i < wire->first + wire->n; i++) {
    const Segment *k = &s->segment.at[i];
    bool ends = i + 1 == wire->first + wire->n || s->segment.at[i + 1].begins;
    if (k->begins && area_holds(&a, k->x0, k->y0)) return true;
    if (ends && area_holds(&a, k->x1, k->y1)) return true;
  }
  return false;
}

static void check_wires_through(Scene *s, uint32_t i) {
  const Thing *t = &s->thing.at[i];
  uint32_t last = UINT32_MAX;
  Area own = area_grown(t->area, -TOUCH);
  for (Near n = near_lines(s, t->area); near_next(&n);) {
    const Thing *o = n.thing;
    if (n.index == last || o->kind > THING_DIVIDER || !segment_enters(n.line, &own)) continue;
    if (!thing_touches(s, t, n.line) || is_attached(s, o, &t->area)) continue;
    last = n.index;
    add_fault(s, FAULT_THROUGH, t->area.x0, n.line->y0, "%s and %s", thing_name(s, o),
              thing_name(s, t));
  }
}

// A wire at a dot passes its centre; a tandem line passes on both sides.
static void check_wires_at_dot(Scene *s, uint32_t i) {
  const Thing *t = &s->thing.at[i];
  double x = (t->area.x0 + t->area.x1) / 2, y = (t->area.y0 + t->area.y1) / 2;
  const Thing *wire = NULL; // segments of a wire are contiguous
  double nearest = INFINITY;
  Near n = near_lines(s, t->area);
  for (bool more = true; more;) {
    more = near_next(&n);
    if (more && n.thing->kind != THING_WIRE) continue;
    if (wire && (!more || n.thing != wire) && nearest > 2 &&
        nearest < (t->area.x1 - t->area.x0) / 2)
      add_fault(s, FAULT_DOT, x, y, "%s", thing_name(s, wire));
    if (n.thing != wire) nearest = INFINITY;
    wire = n.thing;
    if (more) nearest = fmin(nearest, segment_distance(n.line, x, y));
  }
}

static void check_glyphs(Scene *s) {
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    if (!is_solid(t) || t->area.x0 > t->area.x1) continue;
    check_glyph_pairs(s, i);
    if (t->kind == THING_GLYPH)
      check_wires_through(s, i);
    else
      check_wires_at_dot(s, i);
  }
}

// -- frames and the page --------------------------------------------------------------------------
static bool contains_area(const Area *a, const Area *b) {
  return area_holds(a, b->x0, b->y0) && area_holds(a, b->x1, b->y1);
}

// Things that touch a frame are inside it, or contain it.
static void check_frames(Scene *s) {
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    if (t->kind != THING_FRAME || t->area.x0 > t->area.x1) continue;
    for (Near n = near_things(s, t->area); near_next(&n);) {
      const Thing *o = n.thing;
      Area own = area_grown(o->area, -TOUCH);
      if (o->kind != THING_FRAME && !is_solid(o)) continue;
      if (n.index == i || (o->kind == THING_FRAME && n.index < i)) continue;
      if (!areas_meet(&t->area, &own) || contains_area(&t->area, &own)) continue;
      if (o->kind == THING_FRAME && contains_area(&own, &t->area)) continue;
      add_fault(s, FAULT_FRAME, o->area.x0, o->area.y0, "frame %s and %s", t->words,
                thing_name(s, o));
    }
  }
}

static void check_page(Scene *s) {
  Area page = area_grown((Area){0, 0, s->canvas->width, s->canvas->height}, 0.01);
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    if (t->area.x0 <= t->area.x1 && !contains_area(&page, &t->area))
      add_fault(s, FAULT_OUTSIDE, t->area.x0, t->area.y0, "%s", thing_name(s, t));
  }
  if (s->canvas->lost)
    add_fault(s, FAULT_LOST, 0, 0, "%u coordinates are not numbers or too large", s->canvas->lost);
}

void canvas_check(Arena *a, const Canvas *c, Faults *out) {
  Scene s = {.arena = a, .canvas = c, .out = out};
  scene_of(&s);
  check_letters(&s);
  check_glyphs(&s);
  check_frames(&s);
  check_dividers(&s);
  check_crossings(&s);
  check_bends(&s);
  check_page(&s);
}

void beginnings_check(Arena *a, const Canvas *c, Faults *out) {
  Scene s = {.arena = a, .canvas = c, .out = out};
  scene_of(&s);
  check_beginnings(&s, false);
}
