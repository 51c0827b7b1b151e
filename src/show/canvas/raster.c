// Rasterises a picture.
//
// Scan conversion: each pixel row is sampled by ROWS scan lines; along a scan line, coverage is
// exact, under the nonzero winding rule. Spans are added to an array of coverage differences, whose
// running sum is the coverage, up to FULL. Colours are blended in integers, in sRGB values, over
// the theme's paper colour.
//
// Points are rounded to 1/GRID pixel and crossings computed in fixed point, 1/FINE of that, so the
// result is the same on every machine.
#include "show/canvas/marks.h"
#include <math.h>

enum { ROWS = 16, GRID = 256, FULL = ROWS * GRID, GAP = GRID / ROWS };
enum { FINE = 1 << 24, PIXELS_LIMIT = 1 << 26, NONE = -1 };
enum { STRIDE = 4, MANY = 48 };

typedef struct {
  int64_t x, step; // position on the line and increment per line, in pixels / GRID / FINE
  int32_t end;     // the line after the last one it crosses
  int32_t wind;    // +1 downwards, −1 upwards
} ScanCrossing;

typedef struct {
  ScanCrossing at; // on its first line
  int32_t first;
  int32_t next; // the next edge that starts on the same line
} AreaSide;

typedef struct {
  Arena *arena; // scratch
  Picture *out;
  Transform view;
  Theme theme;
  int32_t lines; // scan lines, ROWS per pixel
  VEC(AreaSide) side;
  VEC(ScanCrossing) active, fresh;
  int32_t *starts; // [lines] the first edge that starts there, or NONE
  int32_t top, bottom;
  int64_t crossings; // the number of edge crossings
  int32_t stride;    // step between lines
  int32_t *change;   // [width + 2] differences of coverage
  int32_t dirty[2];  // its nonzero part
  Lines shape;
} Raster;

// The first scan line at or below y: lines are at (k + 1/2) / ROWS of a pixel.
static int32_t line_at(const Raster *r, double y) {
  double k = ceil((y - GAP / 2) / GAP);
  return (int32_t)fmin(fmax(k, 0), r->lines);
}

// Clamps far points so that fixed point fits 64 bits.
static double on_grid(double x) {
  const double far = (double)((int64_t)1 << 34);
  x = nearbyint(x * GRID);
  return x < -far ? -far : x > far ? far : x;
}

static void side_add(void *to, Point p, Point q) {
  Raster *r = to;
  bool down = p.y < q.y;
  double px = on_grid(p.x), py = on_grid(p.y), qx = on_grid(q.x), qy = on_grid(q.y);
  double right = (double)r->out->width * GRID;
  if (py == qy || (px >= right && qx >= right)) return; // right of the picture it has no effect
  int32_t first = line_at(r, down ? py : qy), end = line_at(r, down ? qy : py);
  if (first >= end) return;
  double slope = (qx - px) / (qy - py), x = px + (first * GAP + GAP / 2 - py) * slope;
  ScanCrossing c = {.x = (int64_t)nearbyint(x * FINE), .end = end, .wind = down ? 1 : -1};
  if (end - first > 1) c.step = (int64_t)nearbyint(slope * GAP * FINE);
  vec_push(r->arena, &r->side, (AreaSide){c, first, r->starts[first]});
  r->starts[first] = (int32_t)r->side.n - 1;
  r->crossings += end - first;
  if (first < r->top) r->top = first;
  if (end > r->bottom) r->bottom = end;
}

// Shell sort: fast also on nearly sorted input.
static void crossings_sort(ScanCrossing *at, uint32_t n) {
  for (uint32_t gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
    for (uint32_t i = gap, k; i < n; i++) {
      ScanCrossing c = at[i];
      for (k = i; k >= gap && at[k - gap].x > c.x; k -= gap) at[k] = at[k - gap];
      at[k] = c;
    }
}

// Inserts the edges that start on this line into the sorted list.
static void line_enter(Raster *r, int32_t line) {
  uint32_t old = r->active.n;
  r->fresh.n = 0;
  for (int32_t i = r->starts[line]; i != NONE; i = r->side.at[i].next) {
    vec_push(r->arena, &r->fresh, r->side.at[i].at);
    vec_push(r->arena, &r->active, r->side.at[i].at);
  }
  r->starts[line] = NONE;
  crossings_sort(r->fresh.at, r->fresh.n);
  for (uint32_t n = r->fresh.n; n; n--) { // insert from the end
    ScanCrossing c = r->fresh.at[n - 1];
    for (; old && r->active.at[old - 1].x > c.x; old--)
      r->active.at[old + n - 1] = r->active.at[old - 1];
    r->active.at[old + n - 1] = c;
  }
}

// Removes edges that end, advances the others to the next line, and restores their order.
static void line_leave(Raster *r, int32_t next) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->active.n; i++) {
    ScanCrossing c = r->active.at[i];
    if (c.end <= next) continue;
    c.x += c.step;
    uint32_t k = n++;
    for (; k && r->active.at[k - 1].x > c.x; k--) r->active.at[k] = r->active.at[k - 1];
    r->active.at[k] = c;
  }
  r->active.n = n;
}

static void change_at(Raster *r, int32_t x, int32_t weight) {
  int32_t pixel = x / GRID, part = x % GRID;
  r->change[pixel] += weight * (GRID - part);
  r->change[pixel + 1] += weight * part;
}

static void span_add(Raster *r, int32_t from, int32_t until) {
  if (from >= until) return;
  change_at(r, from, r->stride);
  change_at(r, until, -r->stride);
  if (from / GRID < r->dirty[0]) r->dirty[0] = from / GRID;
  if (until / GRID + 2 > r->dirty[1]) r->dirty[1] = until / GRID + 2;
}

static int32_t on_sheet(const Raster *r, int64_t x) {
  int64_t right = (int64_t)r->out->width * GRID;
  x = x < 0 ? 0 : x / FINE;
  return (int32_t)(x > right ? right : x);
}

static void line_add(Raster *r) {
  int32_t wind = 0;
  int64_t from = 0;
  for (uint32_t i = 0; i < r->active.n; i++) {
    const ScanCrossing *c = &r->active.at[i];
    if (!wind) from = c->x;
    wind += c->wind;
    if (!wind) span_add(r, on_sheet(r, from), on_sheet(r, c->x));
  }
  if (wind)
    span_add(r, on_sheet(r, from), (int32_t)r->out->width * GRID); // closed at the right border
}

static void mix(uint8_t *pixel, uint32_t rgb, uint32_t part, uint32_t whole) {
  for (int i = 0; i < 3; i++) {
    uint32_t ink = rgb >> (16 - 8 * i) & 255;
    pixel[i] = (uint8_t)((pixel[i] * (whole - part) + ink * part + whole / 2) / whole);
  }
}

static void row_paint(Raster *r, int32_t y, uint32_t rgb, uint32_t opacity) {
  int32_t cover = 0, width = (int32_t)r->out->width;
  uint8_t *row = r->out->at + (size_t)y * r->out->width * 3;
  for (int32_t x = r->dirty[0]; x < r->dirty[1]; x++) {
    cover += r->change[x];
    r->change[x] = 0;
    if (cover && x < width) mix(row + 3 * x, rgb, (uint32_t)cover * opacity, FULL * GRID);
  }
  r->dirty[0] = width, r->dirty[1] = 0;
}

// Keeps every STRIDE-th scan line.
static void lines_thin(Raster *r) {
  for (int32_t i = r->top; i < r->bottom; i++) r->starts[i] = NONE;
  for (uint32_t i = 0; i < r->side.n; i++) {
    AreaSide *s = &r->side.at[i];
    int32_t line = (s->first + STRIDE / 2 - 1) / STRIDE * STRIDE + STRIDE / 2;
    if (line >= s->at.end) continue;
    s->at.x += (line - s->first) * s->at.step;
    s->at.step *= STRIDE;
    s->next = r->starts[line];
    r->starts[line] = (int32_t)i;
  }
  r->stride = STRIDE;
  r->top = r->top / STRIDE * STRIDE + STRIDE / 2;
}

// Paints the area of the added edges, and clears them. With very many crossings, fewer scan lines
// are used.
static void area_paint(Raster *r, Ink ink, double opacity) {
  uint32_t rgb = ink_rgb(ink, r->theme), part = (uint32_t)(opacity * GRID + 0.5);
  r->active.n = 0;
  r->stride = 1;
  if (r->crossings > (int64_t)MANY * (r->bottom - r->top)) lines_thin(r);
  for (int32_t line = r->top, next; line < r->bottom; line = next) {
    next = line + r->stride;
    line_enter(r, line);
    line_add(r);
    line_leave(r, next);
    if (next / ROWS != line / ROWS || next >= r->bottom) row_paint(r, line / ROWS, rgb, part);
  }
  r->side.n = 0;
  r->crossings = 0;
  r->top = r->lines, r->bottom = 0;
}

static void path_draw(Raster *r, const Canvas *c, const Mark *m) {
  const Paint *p = &m->path.paint;
  path_flatten(r->arena, c->path.at + m->path.first, m->path.n, &r->view, &r->shape);
  if (p->fill) {
    lines_fill(&r->shape, side_add, r);
    area_paint(r, p->fill, p->opacity);
  }
  if (p->stroke) {
    lines_stroke(r->arena, &r->shape, p, r->view.a, side_add, r);
    area_paint(r, p->stroke, p->opacity);
  }
}

static void text_draw(Raster *r, const Mark *m) {
  double c, s, scale = r->view.a, k = m->text.how.size / EM * scale;
  Path glyph = {0};
  angle_parts(m->text.how.angle, &c, &s);
  for (GlyphRun run = {.face = m->text.how.face, .rest = m->text.words}; run_next(&run);) {
    double along = m->text.start * scale + (double)run.x * k;
    Transform place = {.a = k * c, .b = k * s, .c = k * s, .d = -k * c};
    place.e = m->text.x * scale + c * along, place.f = m->text.y * scale + s * along;
    glyph_path(r->arena, run.found.glyph, &glyph);
    path_flatten(r->arena, glyph.at, glyph.n, &place, &r->shape);
    lines_fill(&r->shape, side_add, r);
    area_paint(r, m->text.how.ink, 1);
  }
}

// One axis of an image: it covers pixels `first` to `end`, starting at `from`, with `ratio` image
// pixels per output pixel.
typedef struct {
  double from, ratio, size;
  int32_t first, end;
} PixelExtent;

static PixelExtent extent(double from, double length, uint32_t size, uint32_t pixels) {
  PixelExtent e = {from, size / length, size, 0, 0};
  e.first = (int32_t)fmin(fmax(floor(from), 0), pixels);
  e.end = (int32_t)fmin(fmax(ceil(from + length), 0), pixels);
  return e;
}

// The interval of the image that covers a pixel
static void extent_at(const PixelExtent *e, int32_t pixel, double *low, double *high) {
  *low = fmin(fmax((pixel - e->from) * e->ratio, 0), e->size);
  *high = fmin(fmax((pixel + 1 - e->from) * e->ratio, 0), e->size);
}

static double part_of(double low, double high, uint32_t i) {
  return fmin(high, i + 1.0) - fmax(low, i);
}

// The mean colour of a rectangle of the image, as 0xRRGGBB
static uint32_t image_mean(const Picture *p, double x0, double x1, double y0, double y1) {
  double total[3] = {0}, area = (x1 - x0) * (y1 - y0);
  for (uint32_t y = (uint32_t)y0; y < y1; y++)
    for (uint32_t x = (uint32_t)x0; x < x1; x++) {
      double weight = part_of(x0, x1, x) * part_of(y0, y1, y);
      const uint8_t *from = p->at + ((size_t)y * p->width + x) * p->channels;
      for (uint32_t i = 0; i < 3; i++) total[i] += weight * from[p->channels == 3 ? i : 0];
    }
  uint32_t rgb = 0;
  for (int i = 0; i < 3; i++) rgb = rgb << 8 | (uint32_t)fmin(total[i] / area + 0.5, 255);
  return rgb;
}

// Box filter: each pixel is the mean of the image over its area, so enlarged pixels stay sharp.
static void image_draw(Raster *r, const Mark *m) {
  const Picture *p = &m->image.picture;
  double k = r->view.a, x0, x1, y0, y1;
  PixelExtent across = extent(m->image.x * k, m->image.w * k, p->width, r->out->width);
  PixelExtent down = extent(m->image.y * k, m->image.h * k, p->height, r->out->height);
  for (int32_t y = down.first; y < down.end; y++) {
    extent_at(&down, y, &y0, &y1);
    for (int32_t x = across.first; x < across.end; x++) {
      extent_at(&across, x, &x0, &x1);
      double cover = (x1 - x0) / across.ratio * ((y1 - y0) / down.ratio);
      if (x1 <= x0 || y1 <= y0) continue;
      mix(r->out->at + ((size_t)y * r->out->width + (size_t)x) * 3, image_mean(p, x0, x1, y0, y1),
          (uint32_t)(fmin(cover, 1) * FULL + 0.5), FULL);
    }
  }
}

static void paper(Picture *p, uint32_t rgb) {
  size_t n = (size_t)p->width * p->height;
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) p->at[3 * i + (size_t)k] = (uint8_t)(rgb >> (16 - 8 * k));
}

// Pixels per unit, limited by the total number of pixels
static double scale_of(const Canvas *c, const Look *look) {
  double scale = look->scale > 0 && isfinite(look->scale) ? fmin(look->scale, 100) : 2;
  double most = sqrt(PIXELS_LIMIT / (c->width * c->height));
  return fmax(fmin(scale, most), 1e-3);
}

static uint32_t pixels(double units, double scale) {
  return (uint32_t)fmax(ceil(units * scale - 1e-6), 1);
}

static Raster raster_new(Arena *scratch, Picture *out, double scale, Theme theme) {
  Raster r = {.arena = scratch, .out = out, .theme = theme};
  r.view.a = r.view.d = scale;
  r.lines = (int32_t)out->height * ROWS;
  r.starts = NEW_ARRAY(scratch, int32_t, r.lines + 1);
  for (int32_t i = 0; i <= r.lines; i++) r.starts[i] = NONE;
  r.change = NEW_ARRAY(scratch, int32_t, out->width + 2);
  r.dirty[0] = (int32_t)out->width;
  r.top = r.lines;
  return r;
}

void canvas_raster(Canvas *c, const Look *look, Picture *out) {
  double scale = scale_of(c, look);
  *out = (Picture){pixels(c->height, scale), pixels(c->width, scale), 3, NULL};
  out->at = arena_alloc(c->arena, (size_t)out->width * out->height * 3);
  paper(out, ink_rgb(INK_PAPER, look->theme));
  Arena *scratch = arena_child(c->arena);
  Raster r = raster_new(scratch, out, scale, look->theme);
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_PATH)
      path_draw(&r, c, m);
    else if (m->kind == MARK_TEXT)
      text_draw(&r, m);
    else if (m->kind == MARK_IMAGE)
      image_draw(&r, m);
  }
  arena_free(scratch);
}
