// Labels and bits over time: a band per channel, divided where the value changes.
//
// A set bit is a bar, a cleared one a thin line, as on a logic analyser. A label is a bar in its
// own colour, with its name inside if it fits; names that fit nowhere are in a legend. A value
// holds until the next moment; the last one of a run by ticks holds for one tick.
#include "show/report/plot_own.h"

#include <math.h>

enum { BAND = 18, BAND_GAP = 8, BANDS_MOST = 32, NAME_MOST = 120, FOOT = 34 };

typedef struct {
  const char *name;
  uint32_t array;
  const double *value; // one in `stride`
  int64_t stride;
} TimeBand;
typedef VEC(TimeBand) Bands;

static void find_bands(Plot *p, Bands *out) {
  uint32_t all = 0;
  for (uint32_t i = 0; i < p->s->value.array.n; i++) {
    const Array *x = &p->s->value.array.at[i];
    int64_t of = x->count / x->shape[0];
    for (int64_t k = 0; k < of; k++) {
      if (out->n < BANDS_MOST)
        vec_push(p->arena, out, (TimeBand){line_name(p, i, k, of), i, x->data + k, of});
      all++;
    }
  }
  if (all > out->n) plot_note(p, "%u of %u rows", out->n, all);
}

// The last consecutive moment with the value of moment i.
static uint32_t piece_end(const TimeBand *b, uint32_t i, uint32_t moments) {
  double x = b->value[(int64_t)i * b->stride];
  while (i + 1 < moments && b->value[(int64_t)(i + 1) * b->stride] == x) i++;
  return i;
}

typedef struct { // a label that occurs
  const char *name;
  Ink ink;
  bool named; // its name fits at least once
} BandLabel;
typedef VEC(BandLabel) BandLabels;

static void label_seen(Plot *p, BandLabels *all, const char *name, Ink ink, bool named) {
  uint32_t i = 0;
  while (i < all->n && (all->at[i].ink != ink || strcmp(all->at[i].name, name) != 0)) i++;
  if (i == all->n) vec_push(p->arena, all, ((BandLabel){.name = name, .ink = ink}));
  all->at[i].named |= named;
}

static void paint_label(Canvas *c, Ink ink) {
  canvas_paint(c, &(Paint){.fill = ink, .opacity = 0.28});
}

static void draw_piece(Plot *p, Canvas *c, const TimeBand *b, double value, PlotArea at,
                       BandLabels *seen) {
  bool label = labels_known(p, b->array);
  const char *name = label && is_label(value) ? label_text(p, b->array, (int64_t)value)
                                              : number_text(p->arena, value);
  if (!label && value == 0) {
    line_draw(c, at.x, at.y + at.h - 0.5, at.x + at.w, at.y + at.h - 0.5, INK_SOFT, 1);
    return;
  }
  Ink ink = label && is_seen(value) && value >= 0 ? series_ink((uint32_t)value) : INK_SERIES1;
  path_rect(c, at.x, at.y, at.w, at.h, 0);
  if (!label) {
    canvas_paint(c, &(Paint){.fill = ink, .opacity = 0.75});
    return;
  }
  bool fits = small_width(name) + 10 <= at.w;
  paint_label(c, ink);
  label_seen(p, seen, name, ink, fits);
  if (fits)
    canvas_text(c, at.x + at.w / 2, at.y + at.h / 2 + 4,
                &(Text){.size = LABEL_SIZE, .anchor = ANCHOR_MIDDLE}, name);
}

static double piece_x(const Plot *p, const Scale *x, uint32_t moment) {
  const Shown *s = p->s;
  return scale_at(x, moment < s->moments ? s->moment[moment] : x->high);
}

static void draw_band(Plot *p, Canvas *c, const TimeBand *b, const Scale *x, double y,
                      BandLabels *seen) {
  canvas_open(c, "", "band", b->name);
  canvas_text(c, x->from - 10, y + BAND / 2.0 + 4,
              &(Text){.size = LABEL_SIZE, .anchor = ANCHOR_END},
              text_cut(p->arena, FACE_SANS, LABEL_SIZE, b->name, NAME_MOST));
  for (uint32_t i = 0; i < p->s->moments;) {
    uint32_t end = piece_end(b, i, p->s->moments);
    double left = piece_x(p, x, i), right = piece_x(p, x, end + 1);
    if (right > left)
      draw_piece(p, c, b, b->value[(int64_t)i * b->stride], (PlotArea){left, y, right - left, BAND},
                 seen);
    i = end + 1;
  }
  canvas_close(c);
}

// The legend of names that fit nowhere; returns its bottom
static double draw_legend(Plot *p, Canvas *c, const BandLabels *seen, const Scale *x, double y) {
  enum { SWATCH = 12, AFTER = 18 };
  double at = x->from;
  for (uint32_t i = 0; i < seen->n; i++) {
    const BandLabel *l = &seen->at[i];
    if (l->named) continue;
    const char *name = text_cut(p->arena, FACE_SANS, LABEL_SIZE, l->name, NAME_MOST);
    double wide = SWATCH + 5 + small_width(name);
    if (at > x->from && at + wide > x->to) at = x->from, y += LINE_STEP;
    canvas_open(c, "", "legend", l->name);
    path_rect(c, at, y, SWATCH, SWATCH, 0);
    paint_label(c, l->ink);
    canvas_text(c, at + SWATCH + 5, y + SWATCH - 2, &(Text){.size = LABEL_SIZE}, name);
    canvas_close(c);
    at += wide + AFTER;
  }
  return at > x->from ? y + LINE_STEP + 4 : y;
}

Canvas *plot_bands(Plot *p) {
  const Shown *s = p->s;
  Bands bands = {0};
  BandLabels seen = {0};
  double room = 0, y = 2;
  if (!s->over) {
    plot_wrong(p, &s->value.array.at[0], "values over time");
    return NULL;
  }
  find_bands(p, &bands);
  for (uint32_t i = 0; i < bands.n; i++)
    room = fmax(room, fmin(NAME_MOST, small_width(bands.at[i].name)));
  Scale x = {.low = s->moment[0], .high = s->moment[s->moments - 1] + (s->whole ? 1 : 0)};
  if (!(x.high > x.low)) x.high = x.low + 1;
  x.from = room + 14, x.to = PLOT_WIDTH - 14;
  Canvas *c = plot_canvas(p, "Bands");
  for (uint32_t i = 0; i < bands.n; i++, y += BAND + BAND_GAP)
    draw_band(p, c, &bands.at[i], &x, y, &seen);
  axis_draw(p, c, &x, &(AxisWish){y, {0, y, PLOT_WIDTH, FOOT}, s->over, s->whole, true});
  time_along(p, &x, 0, y);
  return plot_end(p, c, PLOT_WIDTH, draw_legend(p, c, &seen, &x, y + FOOT + 2));
}
