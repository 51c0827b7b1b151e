// Draws learning diagrams: spaces, maps and the pairs of paths that are goals, as listed by `limn
// check --paths`.
//
// Spaces are cards and maps are cables of a panel, in an order fixed by their names; each pair adds
// a band to every map on its two routes, and a row to the key. A space is one layer to the right of
// its last predecessor. A glued diagram is shown as an equation: its parts, stacked, with each space
// in its layer of the whole, so that identified spaces are in one column, joined by dashed lines;
// then the whole.
//
// Everything can be told apart without colour. An index is a stack of sheets, a space with a
// distance has a double outline, other spaces a single one. A learned map is a thick line, a frozen
// one is dashed with a snowflake, other maps are thin. The bands of a pair run below the lines of
// its two routes, one solid and one dashed.
//
// Of a program with errors, what could be parsed is drawn. Spaces and maps on lines with errors are
// red, and messages are on plates connected to them.
#include "show/wiring/graph.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "show/layout/sketch.h"
#include "show/panel/panel.h"

#include "lang/learning/learning.h"
#include "show/circuit/circuit.h"

#include <math.h>
#include <stdlib.h>

enum { EDGE = 16, TITLE = 13, ROW = 20, LONGEST = 110, PAREN = 14, LABEL_TOP = 18 };
enum { MAP_LETTERS = 60, EDGES_LIMIT = 2000, BANDS = 8 };
#define LINK UINT32_MAX // a cable that joins identified spaces

// Labels are only at ends of maps, so other lines can be close. The sheets of an index extend
// below it.
enum { LAY_SPACE = 1, LAY_INDEX };
static const LayerRules graph_rules = {
    .apart = {{17, 10, 10}, {10, 26, 26}, {16, 32, 32}},
    .pull = {{96, 24, 24}, {24, 12, 12}, {24, 12, 12}},
    .near = 14,
    .nearer = 10,
    .jog = 19,
    .margin = 16,
    .blocks = 34,
    .pad = 16,
    .pitch = 22,
    .growth = 6,
};
static const PanelKind graph_kind = {.rules = &graph_rules, .corner = 7, .layered = true};

typedef struct {
  Elab *in;
  World *w;
  Arena *arena;
  const Program *p;
} Teller;

// -- messages -------------------------------------------------------------------------------------
static uint32_t line_of(const Teller *s, Span span) {
  uint32_t line = 0, column;
  if (span.file) source_place(s->w->sources, span, &line, &column);
  return line;
}

static bool is_about(const Teller *s, const Diag *d, Span declared) {
  return d->kind == DIAG_ERROR && d->span.file && d->span.file == declared.file &&
         line_of(s, d->span) == line_of(s, declared);
}

static bool is_wrong(const Teller *s, Span declared) {
  const Diags *d = s->w->diags;
  for (uint32_t i = 1; d->errors && i < d->list.n; i++)
    if (is_about(s, &d->list.at[i], declared)) return true;
  return false;
}

// The map or space that a message refers to.
static bool find_target(const Teller *s, const Learning *g, const Panel *whole, const Diag *d,
                        Message *out) {
  for (uint32_t i = 0; i < whole->cable.n; i++) {
    const Cable *k = &whole->cable.at[i];
    if (k->own == LINK || !is_about(s, d, g->edge.at[k->own].span)) continue;
    out->x = k->tag.x, out->y0 = k->tag.y - LABEL_TOP, out->y1 = k->tag.y + 2;
    return true;
  }
  for (uint32_t i = 0; i < whole->unit.n; i++) {
    const Unit *u = &whole->unit.at[i];
    if (!is_about(s, d, g->space.at[u->own].span)) continue;
    out->x = u->x + u->width / 2, out->y0 = u->y, out->y1 = u->y + u->height;
    return true;
  }
  return false;
}

static bool lies_in_another(const Teller *s, const Learning *g, Span span) {
  for (uint32_t i = 0; i < s->p->learning.n; i++) {
    Span whole = s->p->learning.at[i]->node->span;
    if (s->p->learning.at[i] != g && span.file == whole.file && span.at >= whole.at &&
        span.at < whole.at + whole.n)
      return true;
  }
  return false;
}

// The errors of this diagram, with positions on the canvas, where the whole starts at x and y.
static Messages messages(const Teller *s, const Learning *g, const Panel *whole, double x,
                         double y) {
  Messages all = {0};
  const Diags *d = s->w->diags;
  for (uint32_t i = 1; d->errors && i < d->list.n; i++) {
    if (d->list.at[i].kind != DIAG_ERROR || lies_in_another(s, g, d->list.at[i].span)) continue;
    Message m = message_plate(s->w, s->arena, d->list.at[i].span, d->list.at[i].text);
    m.tied = find_target(s, g, whole, &d->list.at[i], &m);
    m.x += x, m.y0 += y, m.y1 += y;
    vec_push(s->arena, &all, m);
  }
  for (uint32_t i = 0; all.n > 1 && i < all.n; i++) all.at[i].number = i + 1;
  return all;
}

// -- words ----------------------------------------------------------------------------------------
static const char *source_text(const Teller *s, Span span) {
  const char *text = source_words(s->arena, s->w->sources, span);
  return *text ? text : NULL;
}

static const char *kind_text(const Teller *s, const GraphSpace *g) {
  const Syntax *n = g->source ? g->source : g->def ? space_types(g->def->node) : NULL;
  const char *text = n ? source_text(s, n->span) : NULL;
  return text ? text_letters(s->arena, text, 28) : NULL;
}

static CardLine card_line(const char *text, Face face, double size, double drop) {
  return (CardLine){text, {.face = face, .size = size, .ink = INK_TEXT}, drop};
}

static Unit space_of(const Teller *s, const Learning *g, uint32_t v) {
  const Vertex *x = &g->graph->vertex.at[v];
  const GraphSpace *space = &g->space.at[v];
  const char *type = kind_text(s, space), *by = NULL;
  Card *k = NEW(s->arena, Card);
  uint32_t n = 1;
  if (x->distance && space->def)
    by = text_letters(s->arena,
                      arena_format(s->arena, "by %s", learning_distance(s->in, space->def)), 28);
  *k = (Card){.least = 44, .side = 12, .below = 5, .math = true};
  k->line[0] = card_line(x->name, FACE_ITALIC, 16, 15);
  if (type) k->line[n++] = card_line(type, FACE_SANS, 11, 15);
  if (by) k->line[n++] = card_line(by, FACE_SANS, 11, 14);
  k->corner = x->index ? 0 : 9, k->sheets = x->index ? 2 : 0;
  k->inner = by && !x->index ? 6.5 : 0;
  Ink fill = x->index ? INK_FUNCTION : by ? INK_LEARNED : INK_PLATE;
  k->outline = (Paint){.fill = fill, .stroke = INK_LINE, .width = 1};
  Unit u = {.kind = UNIT_CARD, .card = k, .name = x->name, .own = v};
  u.rule = x->index ? LAY_INDEX : LAY_SPACE;
  u.words = arena_format(s->arena, "%s %s%s%s%s%s", x->index ? "index" : "space", x->name,
                         type ? " = " : "", type ? type : "", by ? " " : "", by ? by : "");
  return u;
}

// The learners of a map: at most two are named.
static bool name_learners(const Teller *s, const Learning *g, uint32_t e, CableLabel *w) {
  Ids all = {0};
  uint32_t n = 0;
  Buf b = buf_new(s->arena);
  edge_learners(s->in, &g->edge.at[e], &all);
  w->frozen = all.n > 0;
  for (uint32_t i = 0; i < all.n; i++) {
    bool seen = false;
    for (uint32_t k = 0; k < i; k++) seen |= all.at[k] == all.at[i];
    w->frozen &= learning_freezes(s->in, g, all.at[i]);
    if (!seen && n < 3)
      buf_printf(&b, "%s%s", n ? ", " : "",
                 n == 2 ? "…" : name_text(s->w->names, def_of(s->in, all.at[i])->name));
    n += !seen;
  }
  if (!n) return false;
  w->inner = b.at;
  const char *tail = strrchr(b.at, '.'); // a learner declared in the diagram: distill.h
  const char *own = strrchr(w->name, '.');
  if (n == 1 && strcmp(tail ? tail + 1 : b.at, own ? own + 1 : w->name) == 0)
    w->inner = w->name, w->name = NULL;
  return true;
}

static bool is_word(const char *text) {
  while (char_is_word(*text) || *text == '_' || *text == '.') text++;
  return !*text;
}

// The source of a map; NULL: its own name or that of its learner is enough.
static const char *map_text(const Teller *s, const GraphEdge *e, const CableLabel *w,
                            bool learned) {
  const char *text =
      e->node && e->node->kind == N_BOX && e->body ? source_text(s, e->body->span) : NULL;
  const char *own = w->name ? strrchr(w->name, '.') : NULL;
  own = own ? own + 1 : w->name;
  if (!text || (learned && is_word(text))) return NULL;
  const char *field = is_word(text) ? strrchr(text, '.') : NULL;
  return own && strcmp(field ? field + 1 : text, own) == 0
             ? NULL
             : text_letters(s->arena, text, MAP_LETTERS);
}

static Cable map_of(const Teller *s, const Learning *g, uint32_t e) {
  const Edge *x = &g->graph->edge.at[e];
  Cable k = {.tag = {.name = x->name}, .own = e, .less = 1};
  CableLabel *w = &k.tag;
  bool learned = name_learners(s, g, e, w), alarm = is_wrong(s, g->edge.at[e].span);
  k.words = arena_format(
      s->arena, "%s: %s -> %s%s%s%s", x->name, g->graph->vertex.at[x->from].name,
      g->graph->vertex.at[x->to].name, learned ? ", learned" : "",
      learned && strcmp(w->inner, x->name) != 0 ? arena_format(s->arena, " (%s)", w->inner) : "",
      w->frozen ? ", frozen" : "");
  const char *map = map_text(s, &g->edge.at[e], w, learned);
  if (map) w->name = x->name, w->inner = map;
  w->ink = alarm ? INK_ALARM : w->frozen ? INK_SOFT : INK_TEXT;
  k.paint = alarm       ? (Paint){.stroke = INK_ALARM, .width = 2.4, .dash = {5, 3}}
            : w->frozen ? (Paint){.stroke = INK_SOFT, .width = 2.2, .dash = {7, 4}}
                        : (Paint){.stroke = INK_LINE, .width = learned ? 2.4 : 1.1};
  return k;
}

// -- layers ---------------------------------------------------------------------------------------
// Indices sorted by name, index spaces first, independent of the order of declaration.
static uint32_t *spaces_by_name(Arena *a, const Graph *g) {
  uint32_t *at = NEW_ARRAY(a, uint32_t, g->vertex.n + 1), n = 0;
  const uint32_t *all = vertices_by_name(a, g);
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < g->vertex.n; i++)
      if (g->vertex.at[all[i]].index == !round) at[n++] = all[i];
  return at;
}

// Minimises the total length of arrows, with index spaces as far left as possible.
static void find_layers(Arena *a, const Graph *g, uint32_t *layer) {
  const uint32_t *spaces = spaces_by_name(a, g), *edges = edges_by_name(a, g);
  uint32_t *number = NEW_ARRAY(a, uint32_t, g->vertex.n + 1);
  Layers l = {.arena = a};
  for (uint32_t i = 0; i < g->vertex.n; i++)
    number[spaces[i]] = layers_unit(&l, (LayerUnit){.early = g->vertex.at[spaces[i]].index});
  for (uint32_t i = 0; i < g->edge.n; i++)
    layers_wire(&l, number[g->edge.at[edges[i]].from], number[g->edge.at[edges[i]].to]);
  layers_rank(&l);
  for (uint32_t i = 0; i < g->vertex.n; i++) layer[spaces[i]] = l.unit.at[i].layer;
}

// -- a diagram as a panel -------------------------------------------------------------------------
static bool runs_along(const Route *r, uint32_t e) {
  for (uint32_t i = 0; i < r->n; i++)
    if (r->at[i] == e) return true;
  return false;
}

static Paint band_paint(uint32_t pair, bool dashed) {
  Paint p = {.stroke = (Ink)(INK_SERIES1 + pair % BANDS), .width = 2};
  if (dashed) p.dash[0] = 5, p.dash[1] = 3;
  return p;
}

static void add_bands(const Teller *s, const Learning *g, uint32_t e, Cable *to) {
  for (uint32_t k = 0; k < g->pairs.n && k < BANDS; k++)
    for (int side = 0; side < 2; side++)
      if (runs_along(side ? &g->pairs.at[k].right : &g->pairs.at[k].left, e))
        vec_push(s->arena, &to->band, band_paint(k, side == 1));
}

// Adds a diagram as a block. number: [vertex] its unit.
static void add_block(const Teller *s, Panel *to, const Learning *g, uint32_t block,
                      const uint32_t *layer, bool bands, uint32_t *number) {
  const uint32_t *spaces = spaces_by_name(s->arena, g->graph);
  const uint32_t *maps = edges_by_name(s->arena, g->graph);
  for (uint32_t i = 0; i < g->graph->vertex.n; i++) {
    Unit u = space_of(s, g, spaces[i]);
    u.layer = layer[spaces[i]], u.block = block;
    u.card->alarm = is_wrong(s, g->space.at[spaces[i]].span);
    u.said = group_at(s->arena, g->space.at[spaces[i]].span, u.name);
    number[spaces[i]] = panel_add(to, u);
  }
  for (uint32_t i = 0; i < g->graph->edge.n; i++) {
    Cable k = map_of(s, g, maps[i]);
    const Edge *e = &g->graph->edge.at[maps[i]];
    const GraphEdge *said = &g->edge.at[maps[i]];
    k.head = number[e->to] + 1;
    k.said = group_at(s->arena, said->node ? said->node->span : said->span, e->name);
    if (bands) add_bands(s, g, maps[i], &k);
    panel_join(to, number[e->from], number[e->to], k);
  }
}

static Panel graph_panel(const Teller *s) {
  return (Panel){.arena = s->arena, .kind = &graph_kind, .bare = true};
}

static void mark_joined(Unit *u) { u->card->outline.fill = INK_KEPT; }

// Marks spaces that belong to several parts, if parts are shown.
static void whole_panel(const Teller *s, const Learning *g, const uint32_t *layer, bool parts,
                        Panel *out) {
  uint32_t *number = NEW_ARRAY(s->arena, uint32_t, g->graph->vertex.n + 1);
  uint32_t *times = NEW_ARRAY(s->arena, uint32_t, g->graph->vertex.n + 1);
  *out = graph_panel(s);
  add_block(s, out, g, 0, layer, true, number);
  for (uint32_t i = 0; parts && i < g->part.n; i++)
    for (uint32_t v = 0; v < g->part.at[i].of->graph->vertex.n; v++)
      times[g->part.at[i].in.vertex[v]]++;
  for (uint32_t v = 0; v < g->graph->vertex.n; v++)
    if (times[v] > 1) mark_joined(&out->unit.at[number[v]]);
  panel_finish(out);
}

// -- parts ----------------------------------------------------------------------------------------
// Does the whole still contain the parts as they were when glued?
static bool has_parts(const Learning *g) {
  for (uint32_t i = 0; i < g->part.n; i++) {
    const Graph *part = g->part.at[i].of->graph;
    const Inclusion *in = &g->part.at[i].in;
    if (!in->vertex || !in->edge) return false;
    for (uint32_t v = 0; v < part->vertex.n; v++)
      if (in->vertex[v] >= g->graph->vertex.n) return false;
    for (uint32_t e = 0; e < part->edge.n; e++) {
      if (in->edge[e] >= g->graph->edge.n) return false;
      const Edge *whole = &g->graph->edge.at[in->edge[e]];
      if (whole->from != in->vertex[part->edge.at[e].from] ||
          whole->to != in->vertex[part->edge.at[e].to])
        return false;
    }
  }
  return g->part.n > 0;
}

// Joins a space of a part with the same space in an earlier part.
static void add_links(const Teller *s, Panel *to, const Learning *g, uint32_t part,
                      const uint32_t *number, uint32_t *last) {
  const GraphPart *p = &g->part.at[part];
  const uint32_t *order = spaces_by_name(s->arena, p->of->graph);
  for (uint32_t i = 0; i < p->of->graph->vertex.n; i++) {
    uint32_t *before = &last[p->in.vertex[order[i]]], own = number[order[i]];
    if (*before) {
      Unit *first = &to->unit.at[*before - 1], *second = &to->unit.at[own];
      mark_joined(first), mark_joined(second);
      Cable link = {.own = LINK, .paint = {.stroke = INK_SOFT, .width = 1, .dash = {2, 3}}};
      link.words = arena_format(s->arena, "made one: %s and %s", first->name, second->name);
      panel_join(to, *before - 1, own, link);
    }
    *before = own + 1;
  }
}

static void parts_panel(const Teller *s, const Learning *g, const uint32_t *layer, Panel *out) {
  uint32_t *last = NEW_ARRAY(s->arena, uint32_t, g->graph->vertex.n + 1);
  *out = graph_panel(s);
  for (uint32_t i = 0; i < g->part.n; i++) {
    const Learning *of = g->part.at[i].of;
    uint32_t *own = NEW_ARRAY(s->arena, uint32_t, of->graph->vertex.n + 1);
    uint32_t *number = NEW_ARRAY(s->arena, uint32_t, of->graph->vertex.n + 1);
    for (uint32_t v = 0; v < of->graph->vertex.n; v++) own[v] = layer[g->part.at[i].in.vertex[v]];
    add_block(s, out, of, i, own, false, number);
    add_links(s, out, g, i, number, last);
  }
  panel_finish(out);
}

// -- the page -------------------------------------------------------------------------------------
static const char *pair_text(const Teller *s, const Learning *g, uint32_t i) {
  const Pair *pair = &g->pairs.at[i];
  const char *name = learning_goal(s->in, s->p, g, i);
  Buf b = buf_new(s->arena);
  if (name) buf_printf(&b, "%s: ", name);
  buf_printf(&b, "%s ~ ", route_text(s->arena, g->graph, &pair->left));
  buf_printf(&b, "%s, %s ×", route_text(s->arena, g->graph, &pair->right),
             learning_distance(s->in, g->space.at[pair->to].def));
  buf_number(&b, pair->times);
  const OrderTargets *trains = pair_trains(g, pair);
  for (uint32_t k = 0; trains && k < trains->n; k++)
    buf_printf(&b, "%s%s", k ? ", " : ", trains ", source_text(s, trains->at[k].node->span));
  return b.at;
}

static const char *describe_diagram(const Teller *s, const Learning *g) {
  const uint32_t *spaces = spaces_by_name(s->arena, g->graph);
  const uint32_t *maps = edges_by_name(s->arena, g->graph);
  Buf b = buf_new(s->arena);
  for (uint32_t i = 0; i < g->graph->vertex.n; i++)
    buf_printf(&b, "%s%s", i ? ", " : "Spaces: ", space_of(s, g, spaces[i]).words);
  for (uint32_t i = 0; i < g->graph->edge.n; i++)
    buf_printf(&b, "%s%s", i ? "; " : ". Maps: ", map_of(s, g, maps[i]).words);
  for (uint32_t i = 0; i < g->pairs.n; i++)
    buf_printf(&b, "%s%s", i ? "; " : ". Pairs: ", pair_text(s, g, i));
  buf_char(&b, '.');
  return b.at;
}

static const char *title_of(const Teller *s, const Learning *g) {
  const char *name = name_text(s->w->names, g->name);
  const Syntax *parts = diagram_parts(g->node), *along = diagram_along(g->node);
  if (!g->part.n || !parts) return name;
  Buf b = buf_new(s->arena);
  buf_printf(&b, "%s = ", name);
  for (uint32_t i = 0; i < names_in(parts).n; i++)
    buf_printf(&b, "%s%s", i ? " + " : "", source_text(s, names_in(parts).at[i]->span));
  for (uint32_t i = 0; along && i < names_in(along).n; i++)
    buf_printf(&b, "%s%s", i ? ", " : " along ", source_text(s, names_in(along).at[i]->span));
  return b.at;
}

static void band_key(Canvas *c, uint32_t pair, double x, double y) {
  canvas_open(c, "", "touch", "");
  for (int k = 0; k < 2; k++) {
    Paint paint = band_paint(pair, k);
    path_move(c, x, y + (k ? 3.5 : -1)), path_line(c, x + 34, y + (k ? 3.5 : -1));
    canvas_paint(c, &paint);
  }
  canvas_close(c);
}

// Draws a row for each pair with a colour. Returns the width; c = NULL: only measures.
static double key_rows(const Teller *s, const Learning *g, Canvas *c, double y) {
  Text how = {.face = FACE_SANS, .size = 12, .ink = INK_TEXT};
  uint32_t shown = g->pairs.n < BANDS ? g->pairs.n : BANDS;
  double width = 0;
  for (uint32_t i = 0; i <= shown; i++, y += ROW) {
    const char *text = i < shown ? text_letters(s->arena, pair_text(s, g, i), LONGEST)
                       : g->pairs.n == shown
                           ? NULL
                           : arena_format(s->arena, "and %u more pairs", g->pairs.n - shown);
    if (!text) continue;
    width = fmax(width, text_width(how.face, how.size, text) + 44);
    if (c && i < shown) band_key(c, i, EDGE, y - 5);
    if (c) words_draw(c, "label", EDGE + 44, y, &how, text);
  }
  return width;
}

static double key_height(const Learning *g) {
  uint32_t n = g->pairs.n > BANDS ? BANDS + 1 : g->pairs.n;
  return n ? 14 + ROW * n : 0;
}

static void parenthesis(Canvas *c, double x, double y, double h, double bow) {
  canvas_open(c, "", "parenthesis", "");
  path_move(c, x, y);
  path_cubic(c, x + bow, y + h * 0.3, x + bow, y + h * 0.7, x, y + h);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.3});
  canvas_close(c);
}

// The names of parts, centred below their blocks. Returns their width.
static double part_names(const Teller *s, const Learning *g, const Panel *parts, Canvas *c,
                         double x, double y) {
  Text how = {.face = FACE_SANS_BOLD, .size = 12, .ink = INK_SOFT};
  double width = 0;
  for (uint32_t i = 0; i < g->part.n; i++) {
    const char *name = text_letters(s->arena, name_text(s->w->names, g->part.at[i].name), 24);
    double low = INFINITY, high = 0;
    for (uint32_t k = 0; k < parts->unit.n; k++) {
      const Unit *u = &parts->unit.at[k];
      if (u->block != i) continue;
      low = fmin(low, u->y), high = fmax(high, u->y + u->height);
    }
    width = fmax(width, text_width(how.face, how.size, name));
    if (c && low < high) words_draw(c, "label", x, y + (low + high) / 2 + 4, &how, name);
  }
  return width;
}

// Draws colim ( parts ) =, from x on. Returns where the whole begins; c = NULL: only measures.
static double draw_equation(const Teller *s, const Learning *g, const Panel *parts, Canvas *c,
                            double x, double y) {
  Text word = {.face = FACE_SERIF, .size = 18, .ink = INK_TEXT};
  double middle = y + parts->height / 2;
  if (c) words_draw(c, "label", x, middle + 6, &word, "colim");
  x += text_width(word.face, word.size, "colim") + 8 + PAREN;
  if (c) parenthesis(c, x, y - 8, parts->height + 22, -PAREN);
  x += 4 + part_names(s, g, parts, c, x + 4, y) + 20;
  if (c) panel_paint(c, parts, x, y, "");
  x += parts->width + 14;
  if (c) parenthesis(c, x, y - 8, parts->height + 22, PAREN);
  x += PAREN + 12;
  if (c) words_draw(c, "label", x, middle + 6, &word, "=");
  return x + text_width(word.face, word.size, "=") + 22;
}

typedef struct { // a picture without messages
  const Learning *g;
  Panel whole, parts;
  bool glued;
  const char *title;
  double top, x, width, height; // position of the whole, and total size
} GraphSheet;

static void sheet_paint(const Teller *s, const GraphSheet *t, Canvas *c) {
  double from = EDGE + 6, height = fmax(t->whole.height, t->parts.height), top = t->top;
  words_draw(c, "title", EDGE, EDGE + TITLE, &(Text){.face = FACE_SANS_BOLD, .size = TITLE},
             t->title);
  if (t->glued) draw_equation(s, t->g, &t->parts, c, from, top + (height - t->parts.height) / 2);
  panel_paint(c, &t->whole, t->x, top + (height - t->whole.height) / 2, "");
  key_rows(s, t->g, c, top + height + 14 + 22);
}

static void sheet_of(const Teller *s, const Learning *g, bool with_parts, GraphSheet *t) {
  uint32_t *layer = NEW_ARRAY(s->arena, uint32_t, g->graph->vertex.n + 1);
  *t = (GraphSheet){.g = g, .title = title_of(s, g), .top = EDGE + TITLE + 18};
  find_layers(s->arena, g->graph, layer);
  t->glued = with_parts && has_parts(g);
  if (t->glued) parts_panel(s, g, layer, &t->parts);
  whole_panel(s, g, layer, t->glued, &t->whole);
  t->x = t->glued ? draw_equation(s, g, &t->parts, NULL, EDGE + 6, 0) : EDGE + 6;
  double title = text_width(FACE_SANS_BOLD, TITLE, t->title), key = key_rows(s, g, NULL, 0);
  t->width = fmax(t->x + t->whole.width, EDGE + fmax(title, key)) + EDGE + 4;
  t->height = t->top + fmax(t->whole.height, t->parts.height) + 14 + key_height(g) + EDGE;
}

Canvas *learning_draw(Elab *in, Arena *a, const Program *p, const Learning *g, bool with_parts) {
  Teller s = {.in = in, .w = elab_world(in), .arena = a, .p = p};
  if (g->edge.n > EDGES_LIMIT) {
    diag_error(s.w->diags, (Span){0}, "this picture would have %u edges, and %d are the most",
               g->edge.n, EDGES_LIMIT);
    return NULL;
  }
  GraphSheet t;
  sheet_of(&s, g, with_parts, &t);
  double y = t.top + (fmax(t.whole.height, t.parts.height) - t.whole.height) / 2;
  Messages said = messages(&s, g, &t.whole, t.x, y);
  const char *words = describe_diagram(&s, g);
  Canvas *c = canvas_new(a, t.width, t.height, t.title, words);
  sheet_paint(&s, &t, c);
  if (!said.n) return c;
  return plates_around(a, c, &said, arena_format(a, "%s %s", words, plates_about(a, &said)));
}
