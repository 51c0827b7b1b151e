// Private to report: a page under construction, and text as HTML.
#ifndef LIMN_SHOW_REPORT_REPORT_OWN_H
#define LIMN_SHOW_REPORT_REPORT_OWN_H

#include "base/json_write.h"
#include "show/report/plot.h"
#include "show/report/report.h"
#include "show/wiring/wiring.h"

// report_page.c
typedef struct {
  Arena *arena;
  const char *dir; // the run folder
  const char **error;
  RunNote note; // run.json
  Buf out;
  VEC(const char *) alarm; // errors shown in red
} HtmlPage;
bool page_open(HtmlPage *);                          // reads run.json; false: *error
const char *page_path(HtmlPage *, const char *name); // in the folder
void page_put(HtmlPage *, const char *html);
void page_text(HtmlPage *, const char *text); // escaped
void page_between(HtmlPage *, const char *before, const char *text, const char *after);
void page_head(HtmlPage *);                       // up to the title; the header stays open
void page_section(HtmlPage *, const char *title); // stays open
void page_fact(HtmlPage *, const char *class, const char *text);
void page_caption(HtmlPage *, const char *text, const char *view); // view may be NULL
void page_alarm(HtmlPage *, const char *why);
void page_picture(HtmlPage *, Canvas *, const char *label);
void page_figure(HtmlPage *, Canvas *, const char *label); // a picture without caption
void page_svg(HtmlPage *, const Buf *svg, double width, const char *label);
// A picture as files, DIR/shown/NUMBER-TEXT.svg and .png; false: *error
bool page_save(HtmlPage *, Canvas *, uint32_t number, const char *text);
bool page_save_svg(HtmlPage *, const Buf *svg, uint32_t number, const char *text);
// A figure and its files. `about`: writes attributes, given the time axis; or NULL
typedef const char *FigureAbout(void *context, const Shown *, const PlotCursor *);
bool page_shown(HtmlPage *, uint32_t number, const Shown *, FigureAbout *about, void *context);
void page_program(HtmlPage *);
void page_facts(HtmlPage *);
bool page_write(HtmlPage *); // DIR/report.html

// report_text.c
// style.css, style_runs.css and script.js, embedded: of every page, of runs of machines, of sliders
extern const char report_style[], report_style_runs[], report_script[];
extern const size_t report_style_size, report_style_runs_size, report_script_size;
void html_program(Buf *, const char *text, size_t n);
void html_who(Buf *, const char *text); // the table of goals and learners
const char *time_text(Arena *, double seconds);

// scrub.c: a time slider for all pictures of a run
typedef struct {
  HtmlPage *g;
  World *w;
  const SimRecord *record;
  Ids moment;             // of the record: the stops of the slider
  const SimChannel *live; // the matrix being written; or NULL
  Buf data;
  JsonOut json; // of it
  uint32_t figures;
} Scrub;

// machines_shown.c: the shows of a run as arrays for plots
typedef struct {
  Shown shown;
  const WiringTimes *strip, *moving; // a wiring over time, instead of a plot; or NULL
  const double *moving_time;         // [moments of it]
  const SimChannel *live;            // of a matrix: all of its moments; or NULL
  const char *why;                   // why it cannot be shown; or NULL
} RanShown;
typedef VEC(RanShown) RanShows;
// Handles one `show`; first: its first channel.
void ran_show(const Results *, uint32_t run, const RunShow *, uint32_t first, RanShows *);
void ran_shows(const Results *, uint32_t run, RanShows *);
void scrub_begin(Scrub *, HtmlPage *, const Results *, uint32_t run, const RanShows *);
void scrub_end(Scrub *);
FigureAbout scrub_about; // context: a Scrub
const char *scrub_wiring(Scrub *, const RanShown *);
const char *scrub_family(Scrub *, const ShownFamily *, const PlotCursor *);
bool is_drawn_together(const RanShown *); // several runs share a picture

#endif
