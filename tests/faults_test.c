// Faults of pictures: each kind is made by hand on a canvas without faults, and must be found with
// its kind and place, once.
#include "base/names.h"
#include "show/canvas/lint.h"

#include <math.h>
#include <setjmp.h>
#include <time.h>

#include <cmocka.h>

// -- a canvas by hand -----------------------------------------------------------------------------
static void wire(Canvas *c, const char *name, const double *xy, uint32_t n) {
  canvas_open(c, "", "wire", name);
  path_move(c, xy[0], xy[1]);
  for (uint32_t i = 1; i < n; i++) path_line(c, xy[2 * i], xy[2 * i + 1]);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}
#define WIRE(c, name, ...)                                                                         \
  wire(c, name, (const double[]){__VA_ARGS__}, COUNT(((const double[]){__VA_ARGS__})) / 2)

// A wire that is level at both ends, with a curve between.
static void bent(Canvas *c, const char *name, double x0, double y0, double x1, double y1) {
  double middle = (x0 + x1) / 2;
  canvas_open(c, "", "wire", name);
  path_move(c, x0 - 50, y0), path_line(c, x0, y0);
  path_cubic(c, middle, y0, middle, y1, x1, y1), path_line(c, x1 + 50, y1);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}

static void text(Canvas *c, const char *class, double x, double y, const char *words) {
  canvas_open(c, "", class, "");
  canvas_text(c, x, y, &(Text){.size = 14}, words);
  canvas_close(c);
}

static void box(Canvas *c, const char *class, const char *name, double x, double y, double w,
                double h) {
  canvas_open(c, "", class, name);
  path_rect(c, x, y, w, h, 0);
  canvas_paint(c, &(Paint){.fill = INK_FUNCTION});
  canvas_close(c);
}

static void dot(Canvas *c, double x, double y) {
  canvas_open(c, "", "dot", "");
  path_circle(c, x, y, 3.35);
  canvas_paint(c, &(Paint){.fill = INK_LINE});
  canvas_close(c);
}

static void line(Canvas *c, const char *class, double x0, double y0, double x1, double y1) {
  canvas_open(c, "", class, "");
  path_move(c, x0, y0), path_line(c, x1, y1);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}

// -- faults ---------------------------------------------------------------------------------------
// Each is drawn twice: as it should be, and with something wrong.
static void labels_meet(Canvas *c, bool wrong) {
  text(c, "label", 100, 100, "aaa");
  text(c, "label", wrong ? 110 : 150, 100, "bbb");
}
static void label_on_wire(Canvas *c, bool wrong) {
  text(c, "label", 100, 100, "a");
  WIRE(c, "a", 50, wrong ? 97 : 104, 300, wrong ? 97 : 104);
}
static void label_with_tail(Canvas *c, bool wrong) { // what hangs below the line counts
  text(c, "label", 100, 100, wrong ? "y" : "x");
  WIRE(c, "y", 50, 102, 300, 102);
}
static void label_on_glyph(Canvas *c, bool wrong) {
  text(c, "label", 100, 100, "a");
  box(c, "glyph", "f", wrong ? 104 : 130, 80, 30, 40);
}
static void label_on_divider(Canvas *c, bool wrong) {
  text(c, "label", 100, 100, "a");
  dot(c, 60, 95), dot(c, 240, 95);
  line(c, "divider", wrong ? 60 : 120, 95, 240, 95);
  if (!wrong) dot(c, 120, 95);
}
static void label_on_frame_edge(Canvas *c, bool wrong) {
  box(c, "frame", "f", 50, wrong ? 95 : 60, 200, 100);
  text(c, "label", 100, 100, "a");
}
static void label_on_parenthesis(Canvas *c, bool wrong) {
  text(c, "label", 100, 100, "a");
  line(c, "parenthesis", wrong ? 103 : 120, 50, wrong ? 103 : 120, 150);
}
static void loose_words(Canvas *c, bool wrong) { // outside of all groups, letters are a label
  canvas_text(c, 100, 100, &(Text){.size = 14}, "tag");
  WIRE(c, "a", 50, wrong ? 97 : 106, 300, wrong ? 97 : 106);
}
static void title_on_wire(Canvas *c, bool wrong) {
  text(c, "title", 100, 100, "softmax");
  WIRE(c, "a", 50, wrong ? 97 : 108, 300, wrong ? 97 : 108);
}
static void title_on_label(Canvas *c, bool wrong) {
  text(c, "title", 100, 100, "softmax");
  text(c, "label", 100, wrong ? 105 : 130, "softmax");
}
static void glyphs_meet(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 100, 100, 40, 40);
  box(c, "glyph", "g", wrong ? 130 : 150, 100, 40, 40);
}
static void through_glyph(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 100, 80, 40, 40);
  WIRE(c, "a", 50, 100, 100, 100);
  WIRE(c, "b", 50, wrong ? 110 : 130, 300, wrong ? 110 : 130);
}
static void beside_triangle(Canvas *c, bool wrong) { // the shape counts, not the area around it
  canvas_open(c, "", "glyph", "start");
  path_move(c, 100, 100), path_line(c, 140, 70), path_line(c, 140, 130), path_close(c);
  canvas_paint(c, &(Paint){.fill = INK_PAPER});
  canvas_close(c);
  WIRE(c, "a", 60, 50, 80, 50, wrong ? 145 : 125, wrong ? 100 : 60);
}
static void divider_behind_glyph(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 100, 80, 40, 40);
  dot(c, 60, 100), dot(c, 200, 100);
  line(c, "divider", 60, 100, wrong ? 200 : 100, 100);
}
static void beside_dot(Canvas *c, bool wrong) {
  dot(c, 100, 100);
  WIRE(c, "a", 50, wrong ? 102.6 : 100, 300, wrong ? 102.6 : 100);
}
static void frame_cuts_glyph(Canvas *c, bool wrong) {
  box(c, "frame", "f", 50, 50, 100, 100);
  box(c, "glyph", "g", wrong ? 140 : 160, 80, 20, 20);
}
static void frame_cuts_frame(Canvas *c, bool wrong) {
  box(c, "frame", "f", 50, 50, 100, 100);
  box(c, "frame", "g", wrong ? 140 : 60, 60, 50, 50);
}
static void away_and_back(Canvas *c, bool wrong) {
  box(c, "glyph", "e", 30, 90, 20, 20), dot(c, 300, 100);
  WIRE(c, "a", 50, 100, 100, 100, 120, 140, 200, 140, 220, 100, 300, 100);
  if (!wrong) box(c, "glyph", "f", 130, 80, 60, 40); // there is a reason
}
static void bend_at_the_end(Canvas *c, bool wrong) {
  bent(c, "a", 100, 100, 150, 140);
  if (!wrong) box(c, "glyph", "f", 200, 130, 40, 20); // it is held
  box(c, "glyph", "e", 30, 90, 20, 20);
}
static void bend_of_a_chain(Canvas *c, bool wrong) { // of wires that go on, one after the other
  box(c, "glyph", "f", 10, 90, 40, 20), box(c, "glyph", "g", 300, 90, 40, 20);
  WIRE(c, "a", 50, 100, 100, 100, 120, 120, 150, 120);
  WIRE(c, "a", 150, 120, 200, 120, 220, 100, 300, 100);
  if (!wrong) WIRE(c, "b", 60, 92, 290, 92);
}
static void dot_without_wire(Canvas *c, bool wrong) {
  WIRE(c, "a", 20, wrong ? 140 : 100, 200, wrong ? 140 : 100);
  dot(c, 200, 100);
  WIRE(c, "b", 200, 100, 300, 100);
}
static void axis_begins(Canvas *c,
                        bool wrong) { // a wire may have more axes than what it is made of
  static const double y[] = {100, 130};
  WIRE(c, "a", 20, 100, 200, 100);
  for (uint32_t i = 0; i < 2; i++) {
    canvas_open(c, i && wrong ? "f/x" : "f/y", "wire", "y");
    if (i) dot(c, 196, y[i]);
    path_move(c, i ? 196 : 200, y[i]), path_line(c, 300, y[i]);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
    canvas_close(c);
  }
}
static void divider_begins(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 300, 80, 40, 40);
  if (!wrong) WIRE(c, "a", 98, 90, 280, 90);
  line(c, "divider", 100, 100, 298, 100);
}
static void divider_ends(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 60, 80, 40, 40);
  line(c, "divider", 100, 100, 250, 100);
  if (!wrong) box(c, "glyph", "g", 255, 80, 40, 40);
}
static void divider_far(Canvas *c, bool wrong) { // the nearest wire counts, and no other
  box(c, "glyph", "f", 300, 80, 40, 40);
  WIRE(c, "a", 98, 20, 280, 20);
  if (wrong) WIRE(c, "b", 20, 60, 280, 60);
  line(c, "divider", 100, 100, 298, 100);
}
static void divider_of_product(Canvas *c, bool wrong) {
  box(c, "glyph", "f", 60, 80, 40, 40);
  canvas_open(c, "", "divider", wrong ? "" : "outer product");
  path_move(c, 100, 100), path_line(c, 250, 100);
  canvas_paint(c, &(Paint){.stroke = INK_LINE});
  canvas_close(c);
}
static void flat_crossing(Canvas *c, bool wrong) {
  box(c, "glyph", "e", 30, 90, 20, 20), dot(c, 300, 100);
  box(c, "glyph", "f", 80, wrong ? 80 : 10, 20, 20), dot(c, 260, wrong ? 110 : 180);
  WIRE(c, "a", 50, 100, 300, 100);
  WIRE(c, "b", 100, wrong ? 90 : 20, 260, wrong ? 110 : 180);
}
static void crossing_of_three(Canvas *c, bool wrong) {
  WIRE(c, "a", 50, 100, 300, 100);
  WIRE(c, "b", 100, 20, 260, 180);
  WIRE(c, "d", 100, wrong ? 180 : 190, 260, wrong ? 20 : 30);
}
static void wires_coincide(Canvas *c, bool wrong) {
  WIRE(c, "a", 50, 100, 200, 100);
  WIRE(c, "b", wrong ? 150 : 220, 100, 300, 100);
}
static void small_letters(Canvas *c, bool wrong) {
  canvas_open(c, "", "label", "");
  canvas_text(c, 100, 100, &(Text){.size = wrong ? 7 : 8}, "a");
  canvas_close(c);
}
static void outside(Canvas *c, bool wrong) { box(c, "glyph", "f", wrong ? 380 : 350, 10, 30, 30); }
static void below_the_page(Canvas *c, bool wrong) { text(c, "label", 10, wrong ? 305 : 290, "g"); }
static void no_number(Canvas *c, bool wrong) {
  WIRE(c, "a", 50, 100, wrong ? NAN : 100, 100, 200, 100);
}
static void far_away(Canvas *c, bool wrong) {
  WIRE(c, "a", 50, 100, 300, 100);
  if (wrong) canvas_text(c, INFINITY, 20, &(Text){0}, "gone");
}

static const struct {
  const char *name;
  FaultKind kind;
  void (*draw)(Canvas *, bool wrong);
} cases[] = {
#define CASE(kind, name)                                                                           \
  { #name, FAULT_##kind, name }
    CASE(LABELS, labels_meet),
    CASE(COVERED, label_on_wire),
    CASE(COVERED, label_with_tail),
    CASE(COVERED, label_on_glyph),
    CASE(COVERED, label_on_divider),
    CASE(COVERED, label_on_frame_edge),
    CASE(COVERED, label_on_parenthesis),
    CASE(COVERED, loose_words),
    CASE(TITLE, title_on_wire),
    CASE(TITLE, title_on_label),
    CASE(GLYPHS, glyphs_meet),
    CASE(THROUGH, through_glyph),
    CASE(THROUGH, beside_triangle),
    CASE(THROUGH, divider_behind_glyph),
    CASE(DOT, beside_dot),
    CASE(FRAME, frame_cuts_glyph),
    CASE(FRAME, frame_cuts_frame),
    CASE(BEND, away_and_back),
    CASE(BEND, bend_at_the_end),
    CASE(BEND, bend_of_a_chain),
    CASE(NOWHERE, dot_without_wire),
    CASE(NOWHERE, axis_begins),
    CASE(DIVIDER, divider_begins),
    CASE(DIVIDER, divider_ends),
    CASE(DIVIDER, divider_far),
    CASE(DIVIDER, divider_of_product),
    CASE(FLAT, flat_crossing),
    CASE(TRIPLE, crossing_of_three),
    CASE(SAME, wires_coincide),
    CASE(SMALL, small_letters),
    CASE(OUTSIDE, outside),
    CASE(OUTSIDE, below_the_page),
    CASE(LOST, no_number),
    CASE(LOST, far_away),
#undef CASE
};

static void every_fault_is_found(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT(cases); i++)
    for (int wrong = 0; wrong < 2; wrong++) {
      Arena *a = arena_new();
      Canvas *c = canvas_new(a, 400, 300, "t", "");
      Faults faults = {0};
      cases[i].draw(c, wrong);
      canvas_check(a, c, &faults);
      beginnings_check(a, c, &faults);
      bool good = wrong ? faults.n >= 1 : !faults.n;
      for (uint32_t k = 0; k < faults.n; k++) good &= faults.at[k].kind == cases[i].kind;
      if (!good) {
        Buf b = buf_new(a);
        faults_print(&faults, &b);
        fail_msg("%s, %s: %s", cases[i].name, wrong ? "wrong" : "right", b.n ? b.at : "no fault");
      }
      arena_free(a);
    }
}

static void every_kind_has_a_case(void **state) {
  (void)state;
  bool seen[FAULT_KINDS] = {[FAULT_AXES] = true}; // see wires_are_axes
  for (uint32_t i = 0; i < COUNT(cases); i++) seen[cases[i].kind] = true;
  for (uint32_t k = 0; k < FAULT_KINDS; k++) assert_true(seen[k]);
}

// A diagram f with one input x of two axes, and its picture with one, two, three and four lines;
// two lines in tandem are one thing.
static uint32_t faults_of_axes(uint32_t lines, bool tandem, bool strings, bool cut) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Diagram *d = diagram_new(w, name_from(w->names, "f"));
  Axis axes[] = {{.size = size_of(w, 3)}, {.size = size_of(w, 4)}};
  Id x = diagram_input(w, d, type_make(w, BASE_R, 2, axes), name_from(w->names, "x"), 0);
  diagram_output(w, d, x);
  Canvas *c = canvas_new(a, 400, 300, "f", "");
  Faults faults = {0};
  if (cut) // the picture begins with as many lines as it should; more or less of them go on
    for (uint32_t i = 0; i < 2; i++) WIRE(c, "x", 50, 100 + 40 * i, 90, 100 + 40 * i);
  for (uint32_t i = 0; i < lines; i++) {
    if (!tandem || i == 0) canvas_open(c, "f/x", "wire", tandem ? "a and b" : "a");
    path_move(c, cut ? 100 : 50, 100 + 20 * i), path_line(c, 300, 100 + 20 * i);
    canvas_paint(c, &(Paint){.stroke = INK_LINE});
    if (!tandem || i + 1 == lines) canvas_close(c);
  }
  text(c, "label", 150, 92, "a");
  circuit_check(w, a, d, strings, c, &faults);
  for (uint32_t i = 0; i < faults.n; i++) assert_int_equal(faults.at[i].kind, FAULT_AXES);
  uint32_t n = faults.n;
  arena_free(a);
  return n;
}

static void wires_are_axes(void **state) {
  (void)state;
  assert_int_equal(faults_of_axes(2, false, false, false), 0);
  assert_true(faults_of_axes(1, false, false, false) > 0);
  assert_true(faults_of_axes(3, false, false, false) > 0);
  assert_int_equal(faults_of_axes(1, false, true, false), 0);
  assert_true(faults_of_axes(2, false, true, false) > 0);
  assert_int_equal(faults_of_axes(2, true, false, false), 0);
  assert_int_equal(faults_of_axes(4, false, false, true), 0); // a copy
  assert_int_equal(faults_of_axes(3, false, false, true), 1);
  assert_int_equal(faults_of_axes(1, false, false, true), 1);
}

// In a circuit, only inputs begin in the air.
static void wires_come_from_somewhere(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 2; wrong++) {
    Arena *a = arena_new();
    World *w = world_new(a);
    Diagram *d = diagram_new(w, name_from(w->names, "f"));
    Axis axis = {.size = size_of(w, 3)};
    Id x = diagram_input(w, d, type_make(w, BASE_R, 1, &axis), name_from(w->names, "x"), 0);
    diagram_output(w, d, x);
    Canvas *c = canvas_new(a, 400, 300, "f", "");
    Faults faults = {0};
    WIRE(c, "x", 20, 140, 300, 140);
    if (!wrong) box(c, "glyph", "g", 160, 90, 40, 20);
    WIRE(c, "y", 200, 100, 300, 100);
    circuit_check(w, a, d, false, c, &faults);
    assert_int_equal(faults.n, wrong);
    if (wrong) assert_int_equal(faults.at[0].kind, FAULT_NOWHERE);
    arena_free(a);
  }
}

// A line says what, where and which; the last one counts.
static void faults_are_said(void **state) {
  (void)state;
  Arena *a = arena_new();
  Canvas *c = canvas_new(a, 400, 300, "t", "");
  Faults faults = {0};
  Buf b = buf_new(a);
  through_glyph(c, true);
  canvas_check(a, c, &faults);
  faults_print(&faults, &b);
  assert_string_equal(b.at, "wire through a glyph at 100, 110: a wire b and glyph f\n"
                            "1 fault: wire through a glyph 1\n");
  arena_free(a);
}

// Ten thousand boxes in a row and in columns, each with wires and labels: in seconds.
static void many_are_quick(void **state) {
  (void)state;
  Arena *a = arena_new();
  Canvas *c = canvas_new(a, 10100, 10100, "many", "");
  Faults faults = {0};
  for (int i = 0; i < 100; i++)
    for (int k = 0; k < 100; k++) {
      double x = 20 + 100 * i, y = 20 + 100 * k;
      box(c, "glyph", "f", x, y, 40, 30);
      bent(c, "a", x + 40 + 50 - 20, y + 15 - 10, x + 90, y + 25);
      text(c, "label", x + 45, y + 45, "a");
    }
  clock_t before = clock();
  canvas_check(a, c, &faults);
  double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
  if (seconds > 5) fail_msg("%.1f seconds", seconds);
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_is_found), cmocka_unit_test(every_kind_has_a_case),
      cmocka_unit_test(wires_are_axes),       cmocka_unit_test(wires_come_from_somewhere),
      cmocka_unit_test(faults_are_said),      cmocka_unit_test(many_are_quick),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
