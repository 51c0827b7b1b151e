// Parts of every report page: header, sections, pictures with captions, the program, facts of
// run.json. A page is a growing text. Pictures are also written as files to DIR/shown. A failed
// picture is replaced by its reason.
#include "base/files.h"
#include "show/report/report_own.h"

#include <math.h>

enum { TEXT_MOST = 1 << 24, NAME_MOST = 40, FACT_MOST = 2000 };

void page_put(HtmlPage *g, const char *html) { buf_text(&g->out, html); }
void page_text(HtmlPage *g, const char *text) { html_text(&g->out, text, strlen(text)); }

void page_between(HtmlPage *g, const char *before, const char *text, const char *after) {
  page_put(g, before);
  page_text(g, text);
  page_put(g, after);
}

const char *page_path(HtmlPage *g, const char *name) {
  return arena_format(g->arena, "%s/%s", g->dir, name);
}

void page_section(HtmlPage *g, const char *title) {
  buf_printf(&g->out, "<section>\n<h2>%s</h2>\n", title);
}

// -- head -----------------------------------------------------------------------------------------
bool page_open(HtmlPage *g) {
  if (note_read(g->arena, g->dir, &g->note, g->error)) return true;
  if (path_exists(page_path(g, "run.json"))) return false;
  return file_error(g->arena, g->error, "%s is not a run folder: %s", g->dir, *g->error);
}

// gan for examples/gan.limn
static const char *page_name(HtmlPage *g) {
  const char *path = *g->note.program ? g->note.program : g->dir;
  const char *slash = strrchr(path, '/'), *base = slash && slash[1] ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  return dot && dot > base ? arena_text(g->arena, base, (size_t)(dot - base)) : base;
}

void page_fact(HtmlPage *g, const char *class, const char *text) {
  buf_printf(&g->out, "<span%s>", class);
  page_text(g, text);
  page_put(g, "</span>");
}

void html_head(Buf *b, const char *title, const char *style) {
  buf_text(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<link rel=\"icon\" href=\"data:,\">\n<title>");
  html_text(b, title, strlen(title));
  buf_printf(b, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

void page_head(HtmlPage *g) {
  const char *name = page_name(g);
  html_head(&g->out, name, arena_format(g->arena, "\n%s%s", report_style, report_style_runs));
  page_between(g, "<main>\n<header>\n<h1>", name, "</h1>\n");
}

// On small screens pictures shrink to a minimal text size, then scroll.
void page_svg(HtmlPage *g, const Buf *svg, double width, const char *label) {
  page_between(g, "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"", label,
               "\">\n<svg style=\"");
  buf_printf(&g->out, "width:100%%;max-width:%.0fpx;min-width:%.0fpx\"", ceil(width),
             floor(width <= 520 ? fmin(width, 340) : 0.75 * width));
  page_put(g, svg->at + strlen("<svg"));
  page_put(g, "</div>\n");
}

void page_picture(HtmlPage *g, Canvas *c, const char *label) {
  Buf svg = buf_new(g->arena);
  canvas_svg(c, &(Look){0}, &svg);
  page_svg(g, &svg, canvas_width(c), label);
}

void page_figure(HtmlPage *g, Canvas *c, const char *label) {
  page_put(g, "<figure>\n");
  page_picture(g, c, label);
  page_put(g, "</figure>\n");
}

static const char *slug(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text && b.n < NAME_MOST; text++) {
    bool word = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                (*text >= '0' && *text <= '9') || *text == '_';
    if (word)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != '-')
      buf_char(&b, '-');
  }
  while (b.n && b.at[b.n - 1] == '-') b.at[--b.n] = 0;
  return b.n ? b.at : "picture";
}

static const char *picture_base(HtmlPage *g, uint32_t number, const char *text) {
  return arena_format(g->arena, "shown/%02u-%s", number, slug(g->arena, text));
}

static bool make_shown(HtmlPage *g) {
  const char *why = folder_make_in(g->arena, g->dir, "shown");
  return !why || file_error(g->arena, g->error, "cannot make the folder %s: %s",
                            page_path(g, "shown"), why);
}

static bool page_file(HtmlPage *g, const char *name, const Buf *b) {
  return file_put_in(g->arena, g->dir, name, &(Bytes){(uint8_t *)b->at, b->n}, g->error);
}

bool page_save(HtmlPage *g, Canvas *c, uint32_t number, const char *text) {
  const char *png = arena_format(g->arena, "%s.png", picture_base(g, number, text));
  Buf svg = buf_new(g->arena);
  Picture p;
  Bytes bytes;
  canvas_svg(c, &(Look){0}, &svg);
  if (!page_save_svg(g, &svg, number, text)) return false;
  canvas_raster(c, &(Look){0}, &p);
  return png_bytes(g->arena, &p, &bytes, g->error) &&
         file_put_in(g->arena, g->dir, png, &bytes, g->error);
}

bool page_save_svg(HtmlPage *g, const Buf *svg, uint32_t number, const char *text) {
  if (!make_shown(g)) return false;
  return page_file(g, arena_format(g->arena, "%s.svg", picture_base(g, number, text)), svg);
}

void page_caption(HtmlPage *g, const char *text, const char *view) {
  page_between(g, "<figcaption><code>", text, "</code>");
  if (view) {
    page_put(g, " as ");
    page_text(g, view);
  }
  page_put(g, "</figcaption>\n");
}

void page_alarm(HtmlPage *g, const char *why) {
  vec_push(g->arena, &g->alarm, why);
  page_between(g, "<p class=\"alarm\">", why, "</p>\n");
}

bool report_can_show(Arena *a, const Shown *s, const char **why) {
  return plot_shown(a, s, why) != NULL;
}

bool page_shown(HtmlPage *g, uint32_t number, const Shown *s, FigureAbout *about, void *context) {
  const char *why = s->wrong;
  PlotCursor cursor = {0};
  Canvas *c = why ? NULL : plot_shown_timed(g->arena, s, &cursor, &why);
  page_put(g, "<figure");
  if (c && about) page_put(g, about(context, s, &cursor));
  page_put(g, ">\n");
  page_caption(g, s->text, s->view);
  if (c && !page_save(g, c, number, s->text)) return false;
  const char *words = c ? plot_words(g->arena, s) : NULL;
  if (words)
    page_between(g, "<pre class=\"words\">", words, "</pre>\n");
  else if (c)
    page_picture(g, c, s->text);
  else
    page_alarm(g, why);
  page_put(g, "</figure>\n");
  return true;
}

// -- program and facts ----------------------------------------------------------------------------
void page_program(HtmlPage *g) {
  FileText file = {0};
  if (!file_check_in(g->arena, g->dir, "program.limn"))
    file = file_read(g->arena, page_path(g, "program.limn"), TEXT_MOST);
  if (!file.text) return;
  page_section(g, "Program");
  page_put(g, "<pre tabindex=\"0\"><code>");
  html_program(&g->out, file.text, file.n);
  page_put(g, "</code></pre>\n</section>\n");
}

static void put_value(HtmlPage *g, const Json *j) {
  switch (j->kind) {
  case JSON_TEXT: html_text(&g->out, j->text, j->n < FACT_MOST ? j->n : FACT_MOST); break;
  case JSON_NUMBER: buf_number(&g->out, j->number); break;
  case JSON_TRUE: page_put(g, "yes"); break;
  case JSON_FALSE: page_put(g, "no"); break;
  default: break;
  }
}

// Skips lists, empty and multi-line texts.
void page_facts(HtmlPage *g) {
  const Json *run = g->note.json, *key = json_first(run);
  page_section(g, "Run");
  page_put(g, "<dl>\n");
  for (uint32_t i = 0; i < run->n; i++, key = json_next(key + 1)) {
    const Json *value = key + 1;
    bool nothing = value->kind == JSON_NULL || value->kind >= JSON_LIST ||
                   (value->kind == JSON_TEXT && (!value->n || memchr(value->text, '\n', value->n)));
    if (nothing) continue;
    page_put(g, "<dt>");
    html_text(&g->out, key->text, key->n);
    page_put(g, "</dt><dd>");
    put_value(g, value);
    page_put(g, "</dd>\n");
  }
  page_put(g, "</dl>\n</section>\n");
}

bool page_write(HtmlPage *g) {
  page_put(g, "<footer>Made by limn.</footer>\n</main>\n</body>\n</html>\n");
  return page_file(g, "report.html", &g->out);
}
