// Flattens paths to lines, and computes the areas of strokes.
//
// Curves are flattened within TOLERANCE. A stroke is a union of convex polygons with the same
// orientation: a rectangle for each line, a wedge for each join, a half disc for each round cap.
// They overlap; under the nonzero winding rule they form one area. Dashes split the lines first.
//
// Only + − × ÷ and square roots are used, so the numbers are equal on every machine.
#include "show/canvas/marks.h"
#include <math.h>

static const double TOLERANCE = 0.03; // error of flattened curves
static const double MITRE_LIMIT = 4;  // beyond this ratio a corner is bevelled, as in SVG

static Point point_map(const Transform *m, double x, double y) {
  if (!m) return (Point){x, y};
  return (Point){m->a * x + m->c * y + m->e, m->b * x + m->d * y + m->f};
}

static double turn_between(Point a, Point b, Point c) {
  double x = a.x - 2 * b.x + c.x, y = a.y - 2 * b.y + c.y;
  return sqrt(x * x + y * y);
}

static void flatten_cubic(Arena *arena, Lines *l, Point p, Point a, Point b, Point q) {
  double most = fmax(turn_between(p, a, b), turn_between(a, b, q));
  int n = (int)fmin(1 + sqrt(0.75 * most / TOLERANCE), 400);
  for (int i = 1; i <= n; i++) {
    double t = (double)i / n, s = 1 - t;
    double w0 = s * s * s, w1 = 3 * s * s * t, w2 = 3 * s * t * t, w3 = t * t * t;
    Point at = {w0 * p.x + w1 * a.x + w2 * b.x + w3 * q.x,
                w0 * p.y + w1 * a.y + w2 * b.y + w3 * q.y};
    vec_push(arena, &l->point, i < n ? at : q);
  }
}

void path_flatten(Arena *arena, const PathStep *step, uint32_t n, const Transform *m, Lines *l) {
  l->point.n = l->piece.n = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PathStep *s = &step[i];
    Point to = point_map(m, s->x, s->y);
    if (s->kind == STEP_MOVE) vec_push(arena, &l->piece, (PathPiece){.first = l->point.n});
    PathPiece *piece = &l->piece.at[l->piece.n - 1];
    if (s->kind == STEP_CLOSE)
      piece->closed = true;
    else if (s->kind == STEP_CUBIC)
      flatten_cubic(arena, l, l->point.at[l->point.n - 1], point_map(m, s->ax, s->ay),
                    point_map(m, s->bx, s->by), to);
    else
      vec_push(arena, &l->point, to);
    piece->n = l->point.n - piece->first;
  }
}

static void add_polygon(const Point *p, uint32_t n, SideAdd *add, void *to) {
  for (uint32_t i = 0; i < n; i++) add(to, p[i], p[i + 1 < n ? i + 1 : 0]);
}

void lines_fill(const Lines *l, SideAdd *add, void *to) {
  for (uint32_t i = 0; i < l->piece.n; i++)
    add_polygon(l->point.at + l->piece.at[i].first, l->piece.at[i].n, add, to);
}

typedef struct {
  double half; // half of the stroke width
  bool round;
  SideAdd *add;
  void *to;
} StrokePen;

static Point add_points(Point a, Point b) { return (Point){a.x + b.x, a.y + b.y}; }
static Point scale_point(Point a, double s) { return (Point){a.x * s, a.y * s}; }
static double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
static double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
static Point left_of(Point d) { return (Point){-d.y, d.x}; }

// Adds an arc from p + a to p + b: the angle is bisected until chords are within 0.02.
static void add_arc(const StrokePen *pen, Point p, Point a, Point b) {
  Point middle = add_points(a, b), apart = {a.x - b.x, a.y - b.y};
  double chord = dot(apart, apart), size = sqrt(dot(middle, middle));
  if (chord < pen->half * 0.15 || chord < 1e-6 || size < pen->half * 0.1) {
    pen->add(pen->to, add_points(p, a), add_points(p, b));
    return;
  }
  middle = scale_point(middle, pen->half / size);
  add_arc(pen, p, a, middle);
  add_arc(pen, p, middle, b);
}

// A round cap at p in direction d, of length 1
static void add_end(const StrokePen *pen, Point p, Point d) {
  Point side = scale_point(left_of(d), pen->half), front = scale_point(d, pen->half),
        back = scale_point(side, -1);
  add_arc(pen, p, side, front);
  add_arc(pen, p, front, back);
  pen->add(pen->to, add_points(p, back), add_points(p, side));
}

static void add_box(const StrokePen *pen, Point p, Point q, Point d) {
  Point n = scale_point(left_of(d), pen->half), m = scale_point(n, -1);
  Point corner[4] = {add_points(p, n), add_points(q, n), add_points(q, m), add_points(p, m)};
  add_polygon(corner, 4, pen->add, pen->to);
}

// The join at p where direction d changes to e, on its outer side
static void add_corner(const StrokePen *pen, Point p, Point d, Point e) {
  double turn = cross(d, e), along = 1 + dot(d, e); // along: 2 straight on, 0 reverse
  if (along < 1e-9) {
    if (pen->round) add_end(pen, p, d);
    return;
  }
  Point a = scale_point(left_of(d), turn > 0 ? -pen->half : pen->half);
  Point b = scale_point(left_of(e), turn > 0 ? -pen->half : pen->half);
  if (turn > 0) {
    Point swap = a;
    a = b, b = swap;
  }
  pen->add(pen->to, p, add_points(p, a));
  if (pen->round) {
    add_arc(pen, p, a, b);
  } else if (along * MITRE_LIMIT * MITRE_LIMIT >= 2) {
    Point tip = add_points(p, scale_point(add_points(a, b), 1 / along));
    pen->add(pen->to, add_points(p, a), tip);
    pen->add(pen->to, tip, add_points(p, b));
  } else {
    pen->add(pen->to, add_points(p, a), add_points(p, b));
  }
  pen->add(pen->to, add_points(p, b), p);
}

// The direction from p to q. False: they coincide.
static bool unit_direction(Point p, Point q, Point *d) {
  double x = q.x - p.x, y = q.y - p.y, length = sqrt(x * x + y * y);
  if (length < 1e-7) return false;
  *d = (Point){x / length, y / length};
  return true;
}

// A line of length 0 with round caps is a disc.
static void add_dot(const StrokePen *pen, Point p) {
  if (!pen->round) return;
  add_end(pen, p, (Point){1, 0});
  add_end(pen, p, (Point){-1, 0});
}

static void stroke_piece(const StrokePen *pen, const Point *p, uint32_t n, bool closed) {
  Point first = {0}, last = {0}, start = p[0], at = p[0], d;
  bool any = false;
  for (uint32_t i = 1; i < n + closed; i++) {
    Point next = p[i < n ? i : 0];
    if (!unit_direction(at, next, &d)) continue;
    add_box(pen, at, next, d);
    if (any)
      add_corner(pen, at, last, d);
    else
      first = d;
    any = true, last = d, at = next;
  }
  if (!any) {
    if (n + closed > 1) add_dot(pen, start);
  } else if (closed) {
    add_corner(pen, start, last, first);
  } else if (pen->round) {
    add_end(pen, start, scale_point(first, -1));
    add_end(pen, at, last);
  }
}

// Strokes the dashes of a polyline.
static void stroke_dashes(Arena *arena, const StrokePen *pen, const Point *p, uint32_t n,
                          bool closed, const double dash[2]) {
  VEC(Point) run = {0};
  bool on = true;
  double left = dash[0];
  vec_push(arena, &run, p[0]);
  for (uint32_t i = 1; i < n + closed; i++) {
    Point at = p[i - 1], next = p[i < n ? i : 0], d;
    if (!unit_direction(at, next, &d)) continue;
    double length = sqrt((next.x - at.x) * (next.x - at.x) + (next.y - at.y) * (next.y - at.y));
    while (length > left) {
      at = add_points(at, scale_point(d, left));
      length -= left;
      vec_push(arena, &run, at);
      if (on) {
        if (dash[0] > 0)
          stroke_piece(pen, run.at, run.n, false);
        else
          add_dot(pen, at);
      }
      run.n = 0;
      vec_push(arena, &run, at);
      on = !on;
      left = dash[on ? 0 : 1];
    }
    left -= length;
    vec_push(arena, &run, next);
  }
  if (on && dash[0] > 0) stroke_piece(pen, run.at, run.n, false);
}

void lines_stroke(Arena *arena, const Lines *l, const Paint *paint, double scale, SideAdd *add,
                  void *to) {
  StrokePen pen = {paint->width * scale / 2, paint->round, add, to};
  double dash[2] = {paint->dash[0] * scale, paint->dash[1] * scale};
  for (uint32_t i = 0; i < l->piece.n; i++) {
    const PathPiece *piece = &l->piece.at[i];
    const Point *p = l->point.at + piece->first;
    if (dash[1] > 0)
      stroke_dashes(arena, &pen, p, piece->n, piece->closed, dash);
    else
      stroke_piece(&pen, p, piece->n, piece->closed);
  }
}
