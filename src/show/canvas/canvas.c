// Builds a canvas: adds marks.
//
// Callers may pass any numbers and texts; marks are always clean (see marks.h). A non-finite point
// is dropped and leaves a gap in its line; large numbers are clamped; control characters are
// removed from texts, and invalid UTF-8 becomes U+FFFD. So no back end can produce a broken file.
#include "show/canvas/marks.h"
#include <math.h>

static const struct {
  const char *name;
  uint32_t light, dark, mono;
} inks[INK_COUNT] = {
    {"none", 0, 0, 0},
#define INK(name, light, dark, mono) {#name, light, dark, mono},
#include "show/canvas/inks.def"
#undef INK
};

uint32_t ink_rgb(Ink ink, Theme theme) {
  return theme == THEME_DARK   ? inks[ink].dark
         : theme == THEME_MONO ? inks[ink].mono
                               : inks[ink].light;
}

const char *ink_name(Ink ink) { return inks[ink].name; }

static Ink ink_known(Ink ink) { return (unsigned)ink < INK_COUNT ? ink : INK_NONE; }

static double clamp_to(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

static double at_limit(double x) { return clamp_to(x, -COORDINATE_LIMIT, COORDINATE_LIMIT); }

// Is the point finite? Dropped points are counted.
static bool is_point(Canvas *c, double x, double y) {
  c->lost += !(fabs(x) <= COORDINATE_LIMIT && fabs(y) <= COORDINATE_LIMIT);
  return isfinite(x) && isfinite(y);
}

static const char *clean_text(Arena *a, const char *text) {
  Buf b = buf_new(a);
  const char *at = text ? text : "";
  for (uint32_t rune; (rune = rune_next(&at));) rune_put(&b, rune);
  return arena_text(a, b.n ? b.at : "", b.n);
}

Canvas *canvas_new(Arena *a, double width, double height, const char *title, const char *about) {
  Canvas *c = NEW(a, Canvas);
  c->arena = a;
  c->title = clean_text(a, title);
  c->about = clean_text(a, about);
  canvas_resize(c, width, height);
  return c;
}

void canvas_resize(Canvas *c, double width, double height) {
  c->width = isfinite(width) ? clamp_to(width, 1, SIZE_LIMIT) : 1;
  c->height = isfinite(height) ? clamp_to(height, 1, SIZE_LIMIT) : 1;
  c->cut = width > SIZE_LIMIT || height > SIZE_LIMIT;
}

bool canvas_is_cut(const Canvas *c) { return c->cut; }

static void mark_scale(Mark *m, double by) {
  if (m->kind == MARK_PATH) {
    m->path.paint.width *= by;
    for (uint32_t i = 0; i < COUNT(m->path.paint.dash); i++) m->path.paint.dash[i] *= by;
  } else if (m->kind == MARK_TEXT) {
    m->text.x *= by, m->text.y *= by, m->text.start *= by, m->text.how.size *= by;
  } else if (m->kind == MARK_IMAGE) {
    m->image.x *= by, m->image.y *= by, m->image.w *= by, m->image.h *= by;
  }
}

void canvas_fit(Canvas *c, double width) {
  double by = width / c->width;
  if (by >= 1) return;
  c->width = width, c->height *= by;
  for (uint32_t i = 0; i < c->path.n; i++) {
    PathStep *p = &c->path.at[i];
    p->x *= by, p->y *= by, p->ax *= by, p->ay *= by, p->bx *= by, p->by *= by;
  }
  for (uint32_t i = 0; i < c->mark.n; i++) mark_scale(&c->mark.at[i], by);
}

const char *canvas_title(const Canvas *c) { return c->title; }
double canvas_width(const Canvas *c) { return c->width; }
double canvas_height(const Canvas *c) { return c->height; }

void canvas_shift(Canvas *c, double x, double y) {
  if (isfinite(x) && isfinite(y)) c->shift[0] += x, c->shift[1] += y;
}

static void step_push(Canvas *c, PathStep s) {
  const double *by = c->shift;
  s.x = at_limit(s.x + by[0]), s.y = at_limit(s.y + by[1]);
  s.ax = at_limit(s.ax + by[0]), s.ay = at_limit(s.ay + by[1]);
  s.bx = at_limit(s.bx + by[0]), s.by = at_limit(s.by + by[1]);
  vec_push(c->arena, &c->path, s);
}

void path_move(Canvas *c, double x, double y) {
  c->gap = !is_point(c, x, y);
  c->drawing = !c->gap;
  if (c->gap) return;
  c->from[0] = x, c->from[1] = y;
  step_push(c, (PathStep){.kind = STEP_MOVE, .x = x, .y = y});
}

// Can a step start here? After path_close the subpath continues at its first point.
static bool step_begins(Canvas *c, double x, double y) {
  if (!is_point(c, x, y)) {
    c->gap = true;
    return false;
  }
  if (c->gap || c->path.n == c->painted) {
    path_move(c, x, y);
    return false;
  }
  if (!c->drawing) path_move(c, c->from[0], c->from[1]);
  return true;
}

void path_line(Canvas *c, double x, double y) {
  if (step_begins(c, x, y)) step_push(c, (PathStep){.kind = STEP_LINE, .x = x, .y = y});
}

void path_cubic(Canvas *c, double ax, double ay, double bx, double by, double x, double y) {
  if (!(is_point(c, ax, ay) && is_point(c, bx, by))) {
    path_move(c, x, y);
    return;
  }
  if (!step_begins(c, x, y)) return;
  step_push(c, (PathStep){STEP_CUBIC, x, y, ax, ay, bx, by});
}

void path_close(Canvas *c) {
  if (!c->drawing || c->gap) return;
  step_push(c, (PathStep){.kind = STEP_CLOSE, .x = c->from[0], .y = c->from[1]});
  c->drawing = false;
}

// The handle length of the cubic Bézier curve that best approximates a quarter of the unit circle
static const double QUARTER = 0.5522847498307936;

// Adds a quarter of an ellipse that starts at (x, y) in direction (dx, dy) and turns right.
static void path_quarter(Canvas *c, double x, double y, double dx, double dy) {
  double k = QUARTER, ex = x + dx - dy, ey = y + dy + dx;
  path_cubic(c, x + k * dx, y + k * dy, ex + k * dy, ey - k * dx, ex, ey);
}

void path_rect(Canvas *c, double x, double y, double w, double h, double radius) {
  double most = fmin(fabs(w), fabs(h)) / 2, r = radius > 0 ? fmin(radius, most) : 0;
  if (!is_point(c, w, h)) return;
  if (w < 0) x += w, w = -w;
  if (h < 0) y += h, h = -h;
  path_move(c, x + r, y);
  path_line(c, x + w - r, y);
  if (r > 0) path_quarter(c, x + w - r, y, r, 0);
  path_line(c, x + w, y + h - r);
  if (r > 0) path_quarter(c, x + w, y + h - r, 0, r);
  path_line(c, x + r, y + h);
  if (r > 0) path_quarter(c, x + r, y + h, -r, 0);
  if (r > 0) path_line(c, x, y + r), path_quarter(c, x, y + r, 0, -r);
  path_close(c);
}

void path_circle(Canvas *c, double x, double y, double r) {
  if (!is_point(c, r, r)) return;
  path_move(c, x + r, y);
  path_quarter(c, x + r, y, 0, r);
  path_quarter(c, x, y + r, -r, 0);
  path_quarter(c, x - r, y, 0, -r);
  path_quarter(c, x, y - r, r, 0);
  path_close(c);
}

static double or_else(double x, double otherwise, double most) {
  return isfinite(x) && x > 0 ? fmin(x, most) : otherwise;
}

static Paint paint_clean(const Paint *p) {
  Paint q = {.fill = ink_known(p->fill), .stroke = ink_known(p->stroke), .round = p->round};
  q.width = or_else(p->width, 1, SIZE_LIMIT);
  q.opacity = or_else(p->opacity, 1, 1);
  bool dashed = isfinite(p->dash[0]) && isfinite(p->dash[1]) && p->dash[0] >= 0 && p->dash[1] > 0;
  if (dashed && p->dash[0] + p->dash[1] >= 0.5) {
    q.dash[0] = fmin(p->dash[0], SIZE_LIMIT);
    q.dash[1] = fmin(p->dash[1], SIZE_LIMIT);
  }
  return q;
}

void canvas_paint(Canvas *c, const Paint *p) {
  Mark m = {.kind = MARK_PATH};
  m.path.first = c->painted;
  m.path.n = c->path.n - c->painted;
  m.path.paint = paint_clean(p);
  c->drawing = c->gap = false;
  if (!m.path.n || (!m.path.paint.fill && !m.path.paint.stroke)) {
    c->path.n = c->painted;
    return;
  }
  c->painted = c->path.n;
  vec_push(c->arena, &c->mark, m);
}

void canvas_text(Canvas *c, double x, double y, const Text *how, const char *utf8) {
  if (!is_point(c, x, y)) return;
  Mark m = {.kind = MARK_TEXT};
  m.text.x = at_limit(x + c->shift[0]), m.text.y = at_limit(y + c->shift[1]);
  m.text.words = clean_text(c->arena, utf8);
  m.text.how.face = (unsigned)how->face < FACE_COUNT ? how->face : FACE_SANS;
  m.text.how.size = or_else(how->size, 12, SIZE_LIMIT);
  m.text.how.ink = ink_known(how->ink) ? how->ink : INK_TEXT;
  m.text.how.anchor = how->anchor;
  m.text.how.angle = isfinite(how->angle) ? fmod(how->angle, 360) : 0;
  double width = text_width(m.text.how.face, m.text.how.size, m.text.words);
  m.text.start = how->anchor == ANCHOR_MIDDLE ? -width / 2 : how->anchor == ANCHOR_END ? -width : 0;
  if (m.text.words[0]) vec_push(c->arena, &c->mark, m);
}

void canvas_image(Canvas *c, double x, double y, double w, double h, const Picture *p) {
  bool finite = is_point(c, x, y) && is_point(c, w, h);
  if (!finite || w <= 0 || h <= 0 || !p->at || !p->width || !p->height) return;
  if (p->channels != 1 && p->channels != 3) return;
  Mark m = {.kind = MARK_IMAGE};
  m.image.x = at_limit(x + c->shift[0]), m.image.y = at_limit(y + c->shift[1]);
  m.image.w = fmin(w, SIZE_LIMIT), m.image.h = fmin(h, SIZE_LIMIT);
  m.image.picture = *p;
  vec_push(c->arena, &c->mark, m);
}

void canvas_open(Canvas *c, const char *id, const char *class, const char *words) {
  Mark m = {.kind = MARK_OPEN};
  m.group.id = clean_text(c->arena, id);
  m.group.class = clean_text(c->arena, class);
  m.group.words = clean_text(c->arena, words);
  vec_push(c->arena, &c->mark, m);
  c->open++;
}

void canvas_of(Canvas *c, const GroupOf *of) {
  Mark *last = c->mark.n ? &c->mark.at[c->mark.n - 1] : NULL;
  if (last && last->kind == MARK_OPEN) last->group.of = of;
}

void canvas_close(Canvas *c) {
  if (!c->open) return;
  vec_push(c->arena, &c->mark, (Mark){.kind = MARK_CLOSE});
  c->open--;
}

// The marks of the other canvas are clean already.
void canvas_append(Canvas *to, const Canvas *from, double x, double y) {
  uint32_t first = to->path.n;
  canvas_shift(to, x, y);
  for (uint32_t i = 0; i < from->path.n; i++) step_push(to, from->path.at[i]);
  for (uint32_t i = 0; i < from->mark.n; i++) {
    Mark m = from->mark.at[i];
    if (m.kind == MARK_PATH) m.path.first += first;
    if (m.kind == MARK_TEXT) m.text.x += to->shift[0], m.text.y += to->shift[1];
    if (m.kind == MARK_IMAGE) m.image.x += to->shift[0], m.image.y += to->shift[1];
    vec_push(to->arena, &to->mark, m);
  }
  to->painted = to->path.n, to->lost += from->lost;
  canvas_shift(to, -x, -y);
}

void angle_parts(double degrees, double *c, double *s) {
  static const double quarter[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  double d = degrees < 0 ? degrees + 360 : degrees;
  if (fmod(d, 90) == 0) {
    const double *q = quarter[(int)(d / 90) % 4];
    *c = q[0], *s = q[1];
    return;
  }
  double radians = d * (3.14159265358979323846 / 180);
  *c = cos(radians), *s = sin(radians);
}

bool canvas_file(Canvas *c, const char *path, const Look *look, Buf *out) {
  static const struct {
    const char *kind;
    void (*write)(Canvas *, const Look *, Buf *);
  } rows[] = {
      {".svg", canvas_svg}, {".pdf", canvas_pdf}, {".tex", canvas_tikz}, {".txt", canvas_art}};
  for (uint32_t i = 0; i < COUNT(rows); i++) {
    if (!text_ends(path, rows[i].kind)) continue;
    rows[i].write(c, look, out);
    return true;
  }
  return false;
}

bool canvas_write(Canvas *c, const char *path, const Look *look, const char **error) {
  if (text_ends(path, ".png")) {
    Picture p;
    canvas_raster(c, look, &p);
    return png_write(c->arena, path, &p, error);
  }
  Buf b = buf_new(c->arena);
  if (canvas_file(c, path, look, &b)) return file_put(c->arena, path, b.at, b.n, error);
  return file_error(c->arena, error,
                    "%s: a picture is a file that ends in .svg, .pdf, .png, .tex or .txt", path);
}
