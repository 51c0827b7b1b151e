// Ranges, scales, round ticks, and the frame of a plot.
//
// Ticks are at 1, 2 or 5 times a power of ten, or at powers of ten on logarithmic scales. Their
// number is limited by the width of their texts: coarser steps are tried until none overlap.
#include "show/report/plot_own.h"

#include <math.h>

enum { TICK_GAP = 14, TICK_DROP = 16, X_TICKS = 9 };

bool is_seen(double x) { return isfinite(x) && fabs(x) < 1e100; }
bool is_label(double x) { return is_seen(x) && x >= 0 && x == floor(x); }

void range_add(PlotRange *r, double x) {
  if (!is_seen(x)) return;
  if (!r->any || x < r->low) r->low = x;
  if (!r->any || x > r->high) r->high = x;
  r->any = true;
}

PlotRange array_range(const Array *x, int64_t *gaps) {
  PlotRange r = {0};
  *gaps = 0;
  for (int64_t i = 0; i < x->count; i++) {
    range_add(&r, x->data[i]);
    *gaps += !is_seen(x->data[i]);
  }
  return r;
}

bool frame_add(FrameWish *w, double x, double y) {
  bool seen = is_seen(x) && is_seen(y);
  if (seen) range_add(&w->x, x), range_add(&w->y, y);
  return seen;
}

bool wants_log(PlotRange r, double ratio) { return r.any && r.low > 0 && r.high / r.low > ratio; }

double scale_at(const Scale *s, double x) {
  double low = s->log ? log10(s->low) : s->low, high = s->log ? log10(s->high) : s->high;
  return s->from + ((s->log ? log10(x) : x) - low) / (high - low) * (s->to - s->from);
}

// -- numbers for people ---------------------------------------------------------------------------
// Writes 1e-06 as 1e−6 with a proper minus sign.
static const char *tidy(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (const char *at = text; *at; at++) {
    bool exponent = at - text > 1 && at[-2] == 'e';
    if (*at == '-')
      buf_text(&b, "−");
    else if (*at != '+' && !(exponent && *at == '0'))
      buf_char(&b, *at);
  }
  return b.at;
}

const char *number_text(Arena *a, double x) {
  if (isnan(x)) return "nan";
  if (isinf(x)) return x > 0 ? "inf" : "−inf";
  if (x == floor(x) && fabs(x) < 1e7) return tidy(a, arena_format(a, "%.0f", x + 0.0));
  return tidy(a, arena_format(a, "%.4g", x));
}

const char *number_fixed(Arena *a, double x, int decimals) {
  const char *text = arena_format(a, "%.*f", decimals, x);
  bool zero = strspn(text, "-0.") == strlen(text);
  return tidy(a, zero && *text == '-' ? text + 1 : text);
}

// -- ticks ----------------------------------------------------------------------------------------
static double round_step(double rough) {
  double unit = pow(10, floor(log10(rough))), part = rough / unit;
  return unit * (part <= 1.0001 ? 1 : part <= 2.0001 ? 2 : part <= 5.0001 ? 5 : 10);
}

static const char *tick_text(Arena *a, double x, double step, double largest) {
  if (largest >= 1e6 || largest < 1e-4) return number_text(a, fabs(x) < step / 2 ? 0 : x);
  int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
  return number_fixed(a, x, decimals);
}

static Ticks linear_ticks(Arena *a, const Scale *s, uint32_t most, bool whole) {
  Ticks t = {0};
  double step = round_step((s->high - s->low) / most);
  if (whole && step < 1) step = 1;
  double largest = fmax(fabs(s->low), fabs(s->high)), first = ceil(s->low / step - 1e-9);
  for (double k = first; k * step <= s->high + 1e-9 * step && t.n < TICK_LIMIT; k++) {
    t.at[t.n] = k * step;
    t.text[t.n++] = tick_text(a, k * step, step, largest);
    if (k + 1 == k) break; // steps below the precision of the numbers
  }
  return t;
}

static void log_tick(Arena *a, const Scale *s, Ticks *t, int power, int digit) {
  double x = digit * pow(10, power);
  bool inside = x >= s->low * (1 - 1e-9) && x <= s->high * (1 + 1e-9);
  if (!inside || t->n == TICK_LIMIT) return;
  t->at[t->n] = x;
  t->text[t->n++] = power >= -3 && power <= 5 ? number_text(a, x)
                                              : tidy(a, arena_format(a, "%de%d", digit, power));
}

// Powers of ten; with only one or two of them, also 2 and 5 times these.
static Ticks log_ticks(Arena *a, const Scale *s, uint32_t most) {
  Ticks t = {0};
  int low = (int)floor(log10(s->low)), high = (int)floor(log10(s->high) + 1e-9);
  int step = 1, inside = high - (int)ceil(log10(s->low) - 1e-9) + 1;
  while ((high - low) / step + 1 > (int)most && step < 1000) step++;
  for (int k = low; k <= high; k++) {
    if (k % step) continue;
    log_tick(a, s, &t, k, 1);
    if (inside < 3) log_tick(a, s, &t, k, 2), log_tick(a, s, &t, k, 5);
  }
  return t;
}

Ticks scale_ticks(Arena *a, const Scale *s, uint32_t most, bool whole) {
  if (most > TICK_LIMIT - 2) most = TICK_LIMIT - 2;
  return s->log ? log_ticks(a, s, most) : linear_ticks(a, s, most, whole);
}

static double tick_width(const Ticks *t) {
  double w = 0;
  for (uint32_t i = 0; i < t->n; i++) w = fmax(w, small_width(t->text[i]));
  return w;
}

static bool ticks_clear(const Scale *s, const Ticks *t) {
  for (uint32_t i = 1; i < t->n; i++) {
    double half = small_width(t->text[i]) / 2 + small_width(t->text[i - 1]) / 2;
    if (scale_at(s, t->at[i]) - scale_at(s, t->at[i - 1]) < half + TICK_GAP) return false;
  }
  return true;
}

// Nothing to measure, nothing to mark.
static Ticks ticks_up(Arena *a, const Scale *s, PlotRange r, uint32_t most) {
  return r.any ? scale_ticks(a, s, most, false) : (Ticks){0};
}

// Texts at the ends must stay inside the plot.
static Ticks ticks_inside(const Scale *s, const Ticks *t, PlotArea outer) {
  Ticks in = {0};
  for (uint32_t i = 0; i < t->n; i++) {
    double half = small_width(t->text[i]) / 2, x = scale_at(s, t->at[i]);
    if (x - half < outer.x || x + half > outer.x + outer.w) continue;
    in.at[in.n] = t->at[i];
    in.text[in.n++] = t->text[i];
  }
  return in;
}

static Ticks ticks_across(Arena *a, const Scale *s, bool whole) {
  Ticks t = {0};
  for (uint32_t most = X_TICKS; most; most--) {
    t = scale_ticks(a, s, most, whole);
    if (ticks_clear(s, &t)) return t;
  }
  t.n = t.n ? 1 : 0;
  return t;
}

// -- the frame ------------------------------------------------------------------------------------
static Scale scale_of(PlotRange r, bool log, double room, bool fixed) {
  if (!r.any) return (Scale){.low = 0, .high = 1};
  double low = log ? log10(r.low) : r.low, high = log ? log10(r.high) : r.high;
  // a smaller spread than the eighth digit is drawn as constant: ticks could not show it
  double spread = high - low, size = fmax(fabs(low), fabs(high));
  if (spread <= size * 1e-7 || spread < 1e-100) {
    double pad = log ? 0.5 : size > 1e-100 ? size / 10 : 1;
    low -= pad, high += pad;
  } else if (!fixed) {
    low -= spread * room, high += spread * room;
  }
  if (log) return (Scale){.low = pow(10, low), .high = pow(10, high), .log = true};
  return (Scale){.low = low, .high = high};
}

// Extends the range of the scale with the larger unit.
static void make_equal(PlotFrame *f) {
  double ux = f->area.w / (f->x.high - f->x.low), uy = f->area.h / (f->y.high - f->y.low);
  Scale *s = ux > uy ? &f->x : &f->y;
  double wider = (ux > uy ? ux / uy : uy / ux) * (s->high - s->low), mid = (s->low + s->high) / 2;
  s->low = mid - wider / 2;
  s->high = mid + wider / 2;
}

static void place_scales(PlotFrame *f) {
  f->x.from = f->area.x, f->x.to = f->area.x + f->area.w;
  f->y.from = f->area.y + f->area.h, f->y.to = f->area.y;
}

static void draw_y(Canvas *c, const PlotFrame *f, const Ticks *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    double y = scale_at(&f->y, t->at[i]);
    path_move(c, f->area.x, y);
    path_line(c, f->area.x + f->area.w, y);
    soft_text(c, f->area.x - 8, y + 4, ANCHOR_END, t->text[i]);
  }
  if (t->n) canvas_paint(c, &(Paint){.stroke = INK_GRID, .width = 1});
}

void axis_draw(Plot *p, Canvas *c, const Scale *x, const AxisWish *w) {
  Ticks t = w->marked ? ticks_across(p->arena, x, w->whole) : (Ticks){0};
  t = ticks_inside(x, &t, w->outer);
  path_move(c, x->from, w->y);
  path_line(c, x->to, w->y);
  for (uint32_t i = 0; i < t.n; i++) {
    double at = scale_at(x, t.at[i]);
    path_move(c, at, w->y);
    path_line(c, at, w->y + 4);
    soft_text(c, at, w->y + TICK_DROP, ANCHOR_MIDDLE, t.text[i]);
  }
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 1});
  if (w->title)
    soft_text(c, x->to, w->y + TICK_DROP + LINE_STEP, ANCHOR_END,
              text_cut(p->arena, FACE_SANS, LABEL_SIZE, w->title, x->to - x->from));
}

// Ticks and space depend on each other: first heights, then the ticks of y, then the remaining
// width for x.
PlotFrame frame_draw(Plot *p, Canvas *c, const FrameWish *w) {
  Arena *a = p->arena;
  PlotFrame f = {.x = scale_of(w->x, false, 0.03, w->tight_x),
                 .y = scale_of(w->y, w->log_y, 0.06, w->fixed_y)};
  double top = w->y_title ? 22 : 8, bottom = TICK_DROP + (w->x_title ? LINE_STEP : 0) + 6;
  f.area = (PlotArea){w->outer.x, w->outer.y + top, w->outer.w, w->outer.h - top - bottom};
  uint32_t most = f.area.h < 90 ? 2 : (uint32_t)(f.area.h / 36);
  Ticks ty = ticks_up(a, &f.y, w->y, most);
  double left = tick_width(&ty) + 12;
  for (int again = 0; again < 2; again++) { // equal scales change the ticks of y
    f.area.x = w->outer.x + left;
    f.area.w = w->outer.w - left - fmax(w->right, 16);
    if (w->equal) make_equal(&f);
    place_scales(&f);
    ty = ticks_up(a, &f.y, w->y, most);
    left = fmax(left, tick_width(&ty) + 12);
  }
  draw_y(c, &f, &ty);
  axis_draw(p, c, &f.x,
            &(AxisWish){f.area.y + f.area.h, w->outer, w->x_title, w->whole_x, w->x.any});
  if (w->y_title)
    soft_text(c, w->outer.x, w->outer.y + 10, ANCHOR_START,
              text_cut(a, FACE_SANS, LABEL_SIZE, w->y_title, w->outer.w));
  return f;
}

void time_along(Plot *p, const Scale *x, double y, double h) {
  if (!p->cursor || x->log) return;
  *p->cursor = (PlotCursor){
      .x = x->from, .y = y, .w = x->to - x->from, .h = h, .from = x->low, .to = x->high};
}
