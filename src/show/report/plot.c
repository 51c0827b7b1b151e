// Draws the result of a `show`: selects the kind of plot, and shared functions.
//
// Input: arrays and the name of a view; output: a canvas, or an error with the shape that was found
// and the shape that was wanted. Without a name, the shape decides. Non-finite numbers are left out
// and reported in the caption.
#include "base/diag.h"
#include "show/report/plot_own.h"

#include <math.h>

// -- the caption ----------------------------------------------------------------------------------
void plot_note(Plot *p, const char *format, ...) {
  va_list list;
  Buf b = buf_new(p->arena);
  va_start(list, format);
  buf_vprintf(&b, format, list);
  va_end(list);
  vec_push(p->arena, &p->note, b.at);
}

void plot_note_gaps(Plot *p, int64_t count, const char *of) {
  if (count == 1) plot_note(p, "1 value of %s is not finite and left out", of);
  if (count > 1)
    plot_note(p, "%lld values of %s are not finite and left out", (long long)count, of);
}

double small_width(const char *text) { return text_width(FACE_SANS, LABEL_SIZE, text); }

void soft_text(Canvas *c, double x, double y, Anchor anchor, const char *text) {
  canvas_text(c, x, y, &(Text){.size = LABEL_SIZE, .ink = INK_SOFT, .anchor = anchor}, text);
}

Canvas *plot_end(Plot *p, Canvas *c, double width, double y) {
  canvas_resize(c, width, PLOT_HEIGHT);
  double room = canvas_width(c) - 8;
  if (p->note.n) y += 4;
  for (uint32_t i = 0; i < p->note.n; i++)
    for (const char *at = p->note.at[i]; *at; at += strspn(at, " ")) {
      size_t n = text_line(p->arena, FACE_SANS, LABEL_SIZE, at, room);
      y += LINE_STEP;
      soft_text(c, 0, y - 4, ANCHOR_START, arena_text(p->arena, at, n));
      at += n;
    }
  canvas_resize(c, canvas_width(c), y);
  return c;
}

// -- shapes and names -----------------------------------------------------------------------------
// Leaves out the axis of moments, which is not at fault.
static const char *shape_over(Plot *p, const Array *x) {
  const char *text = shape_text(p->arena, x);
  if (!p->s->over || p->s->samples || !x->rank || x->shape[0] != p->s->moments) return text;
  return arena_format(p->arena, "[t%s", text + strcspn(text, " ]"));
}

const char *shape_text(Arena *a, const Array *x) {
  Buf b = buf_new(a);
  buf_char(&b, '[');
  for (uint32_t i = 0; i < x->rank; i++)
    buf_printf(&b, "%s%lld", i ? " " : "", (long long)x->shape[i]);
  buf_char(&b, ']');
  return b.at;
}

bool plot_wrong(Plot *p, const Array *x, const char *wanted) {
  return file_error(p->arena, p->error, "`%s` cannot be shown as %s: found values %s, wanted %s",
                    *x->name ? x->name : p->s->text, p->s->view ? p->s->view : "a picture",
                    shape_over(p, x), wanted);
}

bool labels_known(const Plot *p, uint32_t array) { return p->s->name && p->s->name[array]; }

const char *label_text(Plot *p, uint32_t array, int64_t label) {
  if (labels_known(p, array) && p->s->name[array][label]) return p->s->name[array][label];
  return arena_format(p->arena, "%lld", (long long)label);
}

const char *line_name(Plot *p, uint32_t array, int64_t k, int64_t of) {
  const char *name = p->s->value.array.at[array].name;
  if (!*name) name = p->s->text;
  return of == 1 ? name : arena_format(p->arena, "%s[%lld]", name, (long long)k);
}

const char *with_unit(Plot *p, uint32_t array, const char *name) {
  const char *unit = p->s->unit ? p->s->unit[array] : NULL;
  return unit ? arena_format(p->arena, "%s (%s)", name, unit) : name;
}

bool plot_option(Plot *p, uint32_t i, int64_t otherwise, int64_t most, int64_t *out) {
  *out = otherwise;
  if (i >= p->s->options) return true;
  double x = p->s->option[i];
  if (x >= 1 && x <= (double)most && x == floor(x)) {
    *out = (int64_t)x;
    return true;
  }
  return file_error(p->arena, p->error,
                    "`%s` as %s: found %g in the brackets, wanted a whole number from 1 to %lld",
                    p->s->text, p->s->view, x, (long long)most);
}

Canvas *plot_canvas(Plot *p, const char *kind) {
  Buf about = buf_new(p->arena);
  buf_printf(&about, "%s of", kind);
  for (uint32_t i = 0; i < p->s->value.array.n; i++) {
    const Array *x = &p->s->value.array.at[i];
    buf_printf(&about, "%s %s, values %s", i ? ";" : "", *x->name ? x->name : p->s->text,
               shape_text(p->arena, x));
  }
  return canvas_new(p->arena, PLOT_WIDTH, PLOT_HEIGHT, p->s->text, about.at);
}

// -- views ----------------------------------------------------------------------------------------
static const struct {
  const char *name;
  Canvas *(*plot)(Plot *);
} views[] = {
    {"images", plot_images}, {"strip", plot_strip},         {"scatter", plot_scatter},
    {"latent", plot_latent}, {"curves", plot_curves},       {"matrix", plot_matrix},
    {"paths", plot_paths},   {"table", plot_table},         {"text", plot_text},
    {"phase", plot_phase},   {"spacetime", plot_spacetime}, {"bands", plot_bands},
};

static const char *view_for(const Shown *s) {
  const Array *x = &s->value.array.at[0];
  if (s->step) return all_simplex(x) ? "paths" : "curves";
  if (looks_like_images(s)) return s->over ? "strip" : "images";
  if (x->rank == 2 && x->shape[0] == x->shape[1] && !s->samples) return "matrix";
  if (x->rank == 2 && x->shape[1] == 2 && !s->over) return "scatter";
  return "table";
}

static Canvas *unknown_view(Plot *p) {
  Nearest near = nearest_to(p->s->view);
  Buf all = buf_new(p->arena);
  for (uint32_t i = 0; i < COUNT(views); i++) {
    nearest_try(&near, views[i].name);
    buf_printf(&all, "%s%s", i ? ", " : "", views[i].name);
  }
  if (near.best)
    file_error(p->arena, p->error, "`%s` cannot be shown as %s: did you mean %s?", p->s->text,
               p->s->view, near.best);
  else
    file_error(p->arena, p->error, "`%s` cannot be shown as %s: wanted one of %s", p->s->text,
               p->s->view, all.at);
  return NULL;
}

// Are all arrays complete and nonempty?
static bool all_whole(Plot *p) {
  const Shown *s = p->s;
  for (uint32_t i = 0; i < s->value.array.n; i++) {
    const Array *x = &s->value.array.at[i];
    int64_t count;
    if (!array_count(x->rank, x->shape, &count) || count != x->count || !count)
      return plot_wrong(p, x, "at least one value");
    uint32_t at = s->samples ? 1 : 0;
    if (s->over && (x->rank <= at || x->shape[at] != s->moments))
      return plot_wrong(p, x,
                        arena_format(p->arena, "an axis of %u values of %s %s", s->moments, s->over,
                                     s->samples ? "behind the samples" : "in front"));
  }
  if (s->value.array.n) return true;
  return file_error(p->arena, p->error, "`%s`: there is nothing to show", s->text);
}

static Canvas *plot_as(Arena *a, const Shown *s, const char *view, PlotCursor *cursor,
                       const char **error) {
  Shown shown = *s;
  Plot p = {.arena = a, .s = &shown, .error = error, .cursor = cursor};
  shown.view = view;
  if (!all_whole(&p)) return NULL;
  for (uint32_t i = 0; i < COUNT(views); i++)
    if (strcmp(views[i].name, view) == 0) return views[i].plot(&p);
  return unknown_view(&p);
}

// If the view chosen by the first value does not fit the others, falls back to a table.
Canvas *plot_shown_timed(Arena *a, const Shown *s, PlotCursor *cursor, const char **error) {
  if (s->view) return plot_as(a, s, s->view, cursor, error);
  const char *view = s->value.array.n ? view_for(s) : "table";
  Canvas *c = plot_as(a, s, view, cursor, error);
  return c || !strcmp(view, "table") ? c : plot_as(a, s, "table", cursor, error);
}

Canvas *plot_shown(Arena *a, const Shown *s, const char **error) {
  return plot_shown_timed(a, s, NULL, error);
}
