// Images in a grid or in rows, each pixel a sharp square.
//
// An array is a list of frames: leading axes, then h w, h w 3, 3 h w, or p for a square of side √p.
// Values from 0 to 1 are used directly; others are scaled to the range of the whole array, so that
// images are comparable. Non-finite pixels are holes.
#include "show/report/plot_own.h"

#include <math.h>

enum {
  GAP = 2,
  GRID_WIDTH = 620,
  CELL_LEAST = 28,
  CELL_MOST = 168,
  GRID_USUAL = 64,
  GRID_MOST = 4096
};

typedef struct {
  const Array *array;
  int64_t n; // frames
  uint32_t h, w, channels;
  bool planes; // channels first
  PlotRange range;
  int64_t gaps;         // number of non-finite values
  double width, height; // of a drawn frame
} ImageFrames;

// -- which shape ----------------------------------------------------------------------------------
static int64_t square_side(int64_t p) {
  int64_t side = (int64_t)floor(sqrt((double)p) + 0.5);
  return side * side == p ? side : 0;
}

static bool is_channels(int64_t n) { return n == 1 || n == 3; }

static bool frames_shape(ImageFrames *f, uint32_t lead) {
  const int64_t *s = f->array->shape + lead;
  int64_t h = 0, w = 0, c = 1;
  uint32_t rank = f->array->rank - lead;
  if (rank == 1) h = w = square_side(s[0]);
  if (rank == 2) h = s[0], w = s[1];
  if (rank == 3 && is_channels(s[2]))
    h = s[0], w = s[1], c = s[2];
  else if (rank == 3 && is_channels(s[0]))
    h = s[1], w = s[2], c = s[0], f->planes = true;
  if (h < 1 || w < 1 || h > 1 << 14 || w > 1 << 14) return false;
  f->h = (uint32_t)h, f->w = (uint32_t)w, f->channels = (uint32_t)c;
  f->n = f->array->count / (h * w * c);
  return true;
}

// Without samples, [10 784] is ten images, but [16 16] and [20 30] are one.
static uint32_t lead_of(const Shown *s, const Array *x) {
  if (s->samples) return 1;
  if (x->rank == 2) return x->shape[0] != x->shape[1] && square_side(x->shape[1]) >= 8;
  if (x->rank == 3) return !is_channels(x->shape[2]);
  return x->rank == 4;
}

static bool frames_find(Plot *p, uint32_t array, uint32_t lead, ImageFrames *f) {
  const Array *x = &p->s->value.array.at[array];
  *f = (ImageFrames){.array = x};
  if (x->rank <= lead || !frames_shape(f, lead))
    return plot_wrong(p, x,
                      p->s->over ? "[n t h w], [n t h w 3], or [n t p] with p a square"
                                 : "[n h w], [n h w 3], or [n p] with p a square");
  f->range = array_range(x, &f->gaps);
  return true;
}

bool looks_like_images(const Shown *s) {
  ImageFrames f = {.array = &s->value.array.at[0]};
  uint32_t axes = s->over ? 2 : 1;
  if (f.array->rank != axes + 2 && f.array->rank != axes + 3) return false;
  return s->samples && frames_shape(&f, axes) && f.h >= 8 && f.w >= 8;
}

// -- pixels ---------------------------------------------------------------------------------------
static bool is_scaled(const ImageFrames *f) {
  return f->range.any && (f->range.low < -1e-6 || f->range.high > 1 + 1e-6);
}

static double pixel_value(const ImageFrames *f, int64_t frame, uint32_t y, uint32_t x, uint32_t k) {
  int64_t size = (int64_t)f->h * f->w, at = (int64_t)y * f->w + x;
  return f->array
      ->data[frame * size * f->channels + (f->planes ? k * size + at : at * f->channels + k)];
}

static uint8_t pixel_byte(const ImageFrames *f, double v) {
  if (is_scaled(f)) v = (v - f->range.low) / fmax(f->range.high - f->range.low, 1e-300);
  return v > 0 ? (uint8_t)(fmin(v, 1) * 255 + 0.5) : 0;
}

static bool is_hole(const ImageFrames *f, int64_t frame, uint32_t y, uint32_t x) {
  for (uint32_t k = 0; k < f->channels; k++)
    if (!is_seen(pixel_value(f, frame, y, x, k))) return true;
  return false;
}

static Picture *frame_picture(Arena *a, const ImageFrames *f, int64_t frame) {
  Picture *q = NEW(a, Picture);
  *q = (Picture){f->h, f->w, f->channels, NULL};
  q->at = NEW_ARRAY(a, uint8_t, (size_t)f->h * f->w * f->channels);
  uint8_t *to = q->at;
  for (uint32_t y = 0; y < f->h; y++)
    for (uint32_t x = 0; x < f->w; x++)
      for (uint32_t k = 0; k < f->channels; k++) {
        double v = pixel_value(f, frame, y, x, k);
        *to++ = is_seen(v) ? pixel_byte(f, v) : 0;
      }
  return q;
}

// Runs of non-finite pixels, as plates over the image.
static void draw_holes(Canvas *c, const ImageFrames *f, int64_t frame, PlotArea at) {
  double ux = at.w / f->w, uy = at.h / f->h;
  bool any = false;
  for (uint32_t y = 0; y < f->h; y++)
    for (uint32_t x = 0; x < f->w; x++) {
      uint32_t from = x;
      while (x < f->w && is_hole(f, frame, y, x)) x++;
      if (x == from) continue;
      path_rect(c, at.x + from * ux, at.y + y * uy, (x - from) * ux, uy, 0);
      any = true;
    }
  if (any) canvas_paint(c, &(Paint){.fill = INK_PLATE});
}

static void draw_frame(Plot *p, Canvas *c, const ImageFrames *f, int64_t frame, double x,
                       double y) {
  PlotArea at = {x, y, f->width, f->height};
  canvas_image(c, at.x, at.y, at.w, at.h, frame_picture(p->arena, f, frame));
  if (f->gaps) draw_holes(c, f, frame, at);
}

// Pixels are squares of integral size, unless the image is wider than `room`.
static void frames_size(ImageFrames *f, double room) {
  double most = fmin(fmax(room, CELL_LEAST), CELL_MOST);
  double side = fmax(f->w, f->h), factor = floor(most / side);
  if (factor < 1) factor = side > GRID_WIDTH ? GRID_WIDTH / side : 1;
  while (factor * side < CELL_LEAST) factor++;
  f->width = f->w * factor;
  f->height = f->h * factor;
}

static void note_frames(Plot *p, const ImageFrames *f, const char *name) {
  if (is_scaled(f))
    plot_note(p, "%s: black is %s, white is %s", name, number_text(p->arena, f->range.low),
              number_text(p->arena, f->range.high));
  plot_note_gaps(p, f->gaps, name);
}

// -- images ---------------------------------------------------------------------------------------
typedef struct {
  int64_t rows, columns, shown;
} ImageGrid;

static int64_t near_square(int64_t n) { return (int64_t)ceil(sqrt((double)n) - 1e-9); }

static bool find_grid(Plot *p, int64_t n, ImageGrid *g) {
  int64_t one, two;
  if (!plot_option(p, 0, n < GRID_USUAL ? n : GRID_USUAL, GRID_MOST, &one) ||
      !plot_option(p, 1, 1, GRID_MOST, &two))
    return false;
  bool both = p->s->options >= 2;
  g->shown = both ? one * two : one;
  if (g->shown > GRID_MOST)
    return file_error(p->arena, p->error, "`%s` as images[%lld, %lld]: at most %d are shown",
                      p->s->text, (long long)one, (long long)two, GRID_MOST);
  if (g->shown > n) g->shown = n;
  g->columns = both ? two : near_square(g->shown);
  g->rows = both ? one : (g->shown + g->columns - 1) / g->columns;
  return true;
}

static void draw_grid(Plot *p, Canvas *c, const ImageFrames *f, const ImageGrid *g, double x,
                      double y) {
  for (int64_t i = 0; i < g->shown; i++)
    draw_frame(p, c, f, i, x + (double)(i % g->columns) * (f->width + GAP),
               y + (double)(i / g->columns) * (f->height + GAP));
}

Canvas *plot_images(Plot *p) {
  uint32_t n = p->s->value.array.n;
  Canvas *c = plot_canvas(p, "Pictures");
  double x = 0, y = 0, right = 0, row = 0;
  for (uint32_t i = 0; i < n; i++) {
    const Array *array = &p->s->value.array.at[i];
    ImageFrames f;
    ImageGrid g = {0};
    double head = n > 1 ? 20 : 0;
    if (!frames_find(p, i, lead_of(p->s, array), &f) || !find_grid(p, f.n, &g)) return NULL;
    frames_size(&f, (double)GRID_WIDTH / (double)g.columns / (n > 1 ? 2 : 1) - GAP);
    double width = (double)g.columns * (f.width + GAP) - GAP;
    double height = (double)g.rows * (f.height + GAP) - GAP;
    if (x > 0 && x + width > GRID_WIDTH) x = 0, y += row + 24, row = 0;
    if (n > 1)
      canvas_text(c, x, y + 12, &(Text){.size = HEAD_SIZE},
                  text_cut(p->arena, FACE_SANS, HEAD_SIZE, line_name(p, i, 0, 1), width));
    draw_grid(p, c, &f, &g, x, y + head);
    note_frames(p, &f, line_name(p, i, 0, 1));
    if (g.shown < f.n && !p->s->options)
      plot_note(p, "%lld of %lld pictures", (long long)g.shown, (long long)f.n);
    right = fmax(right, x + width);
    row = fmax(row, head + height);
    x += width + 24;
  }
  return plot_end(p, c, fmax(right, p->note.n ? 360 : 0), y + row);
}

// -- strip ----------------------------------------------------------------------------------------
enum { STRIP_USUAL = 8, STRIP_MOST = 256, STRIP_COLUMNS = 64, GROUP_GAP = 14 };

typedef struct {
  ImageFrames *frames; // [n]
  uint32_t n;
  int64_t rows, columns; // columns of one group: values of t, or one
  double w, h, top;      // of a cell; top: of the first row
} ImageStrip;

static bool find_strip(Plot *p, ImageStrip *s) {
  const Shown *shown = p->s;
  int64_t samples = 1;
  s->n = shown->value.array.n;
  s->frames = NEW_ARRAY(p->arena, ImageFrames, s->n);
  s->columns = shown->over ? shown->moments : 1;
  for (uint32_t i = 0; i < s->n; i++) {
    const Array *x = &shown->value.array.at[i];
    bool front = shown->samples || (!shown->over && lead_of(shown, x));
    if (!frames_find(p, i, (uint32_t)front + (shown->over ? 1 : 0), &s->frames[i])) return false;
    int64_t rows = s->frames[i].n / s->columns;
    if (i && rows != samples)
      return plot_wrong(
          p, x, arena_format(p->arena, "%lld samples, as the first has", (long long)samples));
    samples = rows;
  }
  if (!plot_option(p, 0, STRIP_USUAL, STRIP_MOST, &s->rows)) return false;
  if (s->rows > samples) s->rows = samples;
  if (s->columns * s->n <= STRIP_COLUMNS) return true;
  return file_error(p->arena, p->error, "`%s` as strip: found %lld columns, wanted at most %d",
                    shown->text, (long long)s->columns * s->n, STRIP_COLUMNS);
}

static double column_x(const ImageStrip *s, uint32_t group, int64_t column) {
  double group_width = (double)s->columns * (s->w + GAP) + (s->columns > 1 ? GROUP_GAP : 4);
  return group * group_width + (double)column * (s->w + GAP);
}

// "t = 0.25" if it fits, else "0.25", else nothing.
static void moment_names(Plot *p, const ImageStrip *s, const char **name) {
  bool fits[2] = {true, true};
  for (int64_t i = 0; i < s->columns; i++) {
    const char *value = number_text(p->arena, p->s->moment[i]);
    name[i] = arena_format(p->arena, "%s = %s", p->s->over, value);
    fits[0] &= small_width(name[i]) <= s->w;
    fits[1] &= small_width(value) <= s->w - 4;
  }
  for (int64_t i = 0; !fits[0] && i < s->columns; i++)
    name[i] = fits[1] ? number_text(p->arena, p->s->moment[i]) : "";
  if (!fits[0])
    plot_note(p, "Columns: %s from %s to %s", p->s->over, number_text(p->arena, p->s->moment[0]),
              number_text(p->arena, p->s->moment[s->columns - 1]));
}

static double draw_heads(Plot *p, Canvas *c, const ImageStrip *s) {
  double y = 0;
  if (s->n > 1) {
    y += LINE_STEP;
    for (uint32_t i = 0; i < s->n; i++)
      canvas_text(c, column_x(s, i, 0), y - 4, &(Text){.size = LABEL_SIZE},
                  text_cut(p->arena, FACE_SANS, LABEL_SIZE, line_name(p, i, 0, 1),
                           (double)s->columns * (s->w + GAP) - GAP));
  }
  if (!p->s->over) return y > 0 ? y + 2 : 0;
  const char **name = NEW_ARRAY(p->arena, const char *, s->columns);
  moment_names(p, s, name);
  y += LINE_STEP;
  for (uint32_t i = 0; i < s->n; i++)
    for (int64_t k = 0; k < s->columns; k++)
      if (*name[k]) soft_text(c, column_x(s, i, k) + s->w / 2, y - 4, ANCHOR_MIDDLE, name[k]);
  return y + 2;
}

static void draw_strip(Plot *p, Canvas *c, const ImageStrip *s) {
  for (uint32_t i = 0; i < s->n; i++)
    for (int64_t r = 0; r < s->rows; r++)
      for (int64_t k = 0; k < s->columns; k++)
        draw_frame(p, c, &s->frames[i], r * s->columns + k, column_x(s, i, k),
                   s->top + (double)r * (s->h + GAP));
}

Canvas *plot_strip(Plot *p) {
  ImageStrip s = {0};
  if (!find_strip(p, &s)) return NULL;
  Canvas *c = plot_canvas(p, "Rows of pictures");
  for (uint32_t i = 0; i < s.n; i++) { // cells fit the largest frame
    frames_size(&s.frames[i], fmin(GRID_WIDTH / (double)(s.columns * s.n), 96) - GAP);
    s.w = fmax(s.w, s.frames[i].width), s.h = fmax(s.h, s.frames[i].height);
    note_frames(p, &s.frames[i], line_name(p, i, 0, 1));
  }
  s.top = draw_heads(p, c, &s);
  draw_strip(p, c, &s);
  double right = column_x(&s, s.n - 1, s.columns - 1) + s.w;
  return plot_end(p, c, fmax(right, p->note.n ? 360 : 0),
                  s.top + (double)s.rows * (s.h + GAP) - GAP);
}
