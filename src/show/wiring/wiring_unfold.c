// A network from left to right, and the same with nesting.
//
// The input is a wiring whose parts pass values forward and changes back: a port dy is the backward
// counterpart of y. A part that reads another one and answers it is its manager. This gives parts
// layers. In the nested picture, each part is a box around the parts that it reads: its value
// leaves on the right, its change enters on the left and is passed to the boxes inside. Parts of
// one layer that read each other without answer are peers: their wires are inside their common
// manager.
//
// A part with several managers is opened inside the first; the others show it closed with a dashed
// outline. Colours are the same in both pictures.
#include "base/names.h"
#include "show/circuit/circuit.h"
#include "show/layout/sketch.h"
#include "show/wiring/wiring_own.h"

#include <math.h>

enum { COLUMN = 96, ROW = 50, RADIUS = 15, EDGE = 16 };
enum { MIDDLE = 96, APART = 3 }; // between the pictures; between the strokes of a double line
// Larger arrays are one neuron; larger networks are not drawn.
enum { EXPANDED = 12, NEURONS = 400 };

typedef struct { // a part, or an element of an array of parts
  const char *name;
  Ids source, input, peer; // neurons it reads, inputs, peers it reads
  const char *out;         // the output that shows its value; NULL: none
  bool opened;
  const GroupOf *said; // where the program says it
} Neuron;

typedef struct {
  const char *name;
  bool heard; // otherwise it is left out
  const GroupOf *said;
} Input;

typedef struct {
  uint32_t from, to; // parts
} UnfoldArc;
typedef VEC(UnfoldArc) UnfoldArcs;

typedef struct {
  World *w;
  Arena *arena;
  const System *s;
  VEC(Neuron) neuron;
  VEC(Input) input;
  UnfoldArcs forth, back;
  uint32_t *first, *count;             // [part] its neurons
  uint32_t *first_input, *input_count; // [port]
  uint32_t layers;
  const char *y, *dy; // the outputs of the whole, and their changes; dy = NULL: none
  double shown;       // distance from a neuron's centre to the name of its output
  Layers net;         // units: inputs, neurons, then dummies
} UnfoldNet;

// -- ways forth and back --------------------------------------------------------------------------
// dy if the other side has y
static bool is_way_back(const UnfoldNet *n, const System *s, const Port *p, bool out) {
  const char *name = name_text(n->w->names, p->name);
  if (name[0] != 'd' || !name[1]) return false;
  for (uint32_t i = 0; i < (out ? s->in.n : s->out.n); i++)
    if (!strcmp(name_text(n->w->names, (out ? s->in.at : s->out.at)[i].name), name + 1))
      return true;
  return false;
}

static bool end_is_back(const UnfoldNet *n, const PortEnd *e, bool source) {
  const System *s = e->part ? n->s->part.at[e->part - 1].of : n->s;
  bool out = (e->part != 0) == source;
  if (e->port >= (out ? s->out.n : s->in.n)) return true;
  return is_way_back(n, s, &(out ? s->out.at : s->in.at)[e->port], out);
}

static bool has_arc(const UnfoldArcs *arcs, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < arcs->n; i++)
    if (arcs->at[i].from == from && arcs->at[i].to == to) return true;
  return false;
}

static void find_arcs(UnfoldNet *n) {
  for (uint32_t i = 0; i < n->s->route.n; i++) {
    WireRoute all = route_through(n->arena, n->s, &n->s->route.at[i]), *r = &all;
    bool back = end_is_back(n, &r->to, false);
    if (back && r->to.part) n->dy = "";
    for (uint32_t k = 0; r->to.part && k < r->from.n; k++) {
      const PortEnd *e = &r->from.at[k];
      if (!e->part || e->part == r->to.part || end_is_back(n, e, true) != back) continue;
      UnfoldArcs *arcs = back ? &n->back : &n->forth;
      if (has_arc(arcs, e->part - 1, r->to.part - 1)) continue;
      vec_push(n->arena, arcs, (UnfoldArc){e->part - 1, r->to.part - 1});
    }
  }
}

// The arc is answered; or any arc, if there are no answers at all
static bool is_managed(const UnfoldNet *n, const UnfoldArc *a) {
  return !n->back.n || has_arc(&n->back, a->to, a->from);
}

// -- neurons --------------------------------------------------------------------------------------
static uint32_t count_of(const UnfoldNet *n, Size size) {
  int64_t k;
  return size && size_value(n->w, size, &k) && k > 0 && k <= EXPANDED ? (uint32_t)k : 1;
}

static const char *numbered(const UnfoldNet *n, const char *name, uint32_t i, uint32_t count) {
  const char *short_name = text_cut(n->arena, FACE_ITALIC, KIND_SIZE, name, 40);
  return count > 1 ? arena_format(n->arena, "%s%u", short_name, i + 1) : short_name;
}

static void add_neurons(UnfoldNet *n) {
  n->first = NEW_ARRAY(n->arena, uint32_t, n->s->part.n + 1);
  n->count = NEW_ARRAY(n->arena, uint32_t, n->s->part.n + 1);
  for (uint32_t p = 0; p < n->s->part.n; p++) {
    const Part *part = &n->s->part.at[p];
    Name name = part->name ? part->name : part->of->name;
    n->first[p] = n->neuron.n;
    n->count[p] = 1;
    for (uint32_t i = 0; i < part->axes; i++) n->count[p] *= count_of(n, part->axis[i].size);
    for (uint32_t i = 0; i < n->count[p]; i++) {
      Neuron u = {.name = numbered(n, name_text(n->w->names, name), i, n->count[p])};
      u.said = group_at(n->arena, part->span, name_text(n->w->names, part->of->name));
      vec_push(n->arena, &n->neuron, u);
    }
  }
}

static void add_inputs(UnfoldNet *n) {
  n->first_input = NEW_ARRAY(n->arena, uint32_t, n->s->in.n + 1);
  n->input_count = NEW_ARRAY(n->arena, uint32_t, n->s->in.n + 1);
  for (uint32_t p = 0; p < n->s->in.n; p++) {
    const Port *port = &n->s->in.at[p];
    n->first_input[p] = n->input.n;
    if (is_way_back(n, n->s, port, false)) continue;
    n->input_count[p] = port->type.rank == 1 ? count_of(n, port->type.axis[0].size) : 1;
    for (uint32_t i = 0; i < n->input_count[p]; i++) {
      const char *name = name_text(n->w->names, port->name);
      Input u = {.name = numbered(n, name, i, n->input_count[p])};
      u.said = group_at(n->arena, port->span, NULL);
      vec_push(n->arena, &n->input, u);
    }
  }
}

static bool ids_contain(const Ids *ids, uint32_t id) { return ids_find(ids, id) < ids->n; }

static void add_once(const UnfoldNet *n, Ids *ids, uint32_t id) {
  if (!ids_contain(ids, id)) vec_push(n->arena, ids, id);
}

// Connects every neuron of one part with every neuron of the other.
static void tie_parts(UnfoldNet *n, const UnfoldArc *a) {
  bool managed = is_managed(n, a);
  for (uint32_t i = 0; i < n->count[a->to]; i++)
    for (uint32_t k = 0; k < n->count[a->from]; k++) {
      Neuron *to = &n->neuron.at[n->first[a->to] + i];
      add_once(n, managed ? &to->source : &to->peer, n->first[a->from] + k);
    }
}

static void tie_input(UnfoldNet *n, const WireRoute *r, const PortEnd *e) {
  uint32_t part = r->to.part - 1, inputs = n->input_count[e->port];
  bool each = r->each && n->count[part] == inputs;
  for (uint32_t i = 0; i < n->count[part]; i++)
    for (uint32_t j = 0; j < inputs; j++) {
      if (each && i != j) continue;
      add_once(n, &n->neuron.at[n->first[part] + i].input, n->first_input[e->port] + j);
      n->input.at[n->first_input[e->port] + j].heard = true;
    }
}

// The first output with the value shows it.
static void tie_output(UnfoldNet *n, const WireRoute *r, const PortEnd *e) {
  const char *name = name_text(n->w->names, n->s->out.at[r->to.port].name);
  if (!n->y) n->y = name;
  for (uint32_t i = 0; i < n->count[e->part - 1]; i++) {
    Neuron *u = &n->neuron.at[n->first[e->part - 1] + i];
    if (!u->out) u->out = text_cut(n->arena, FACE_ITALIC, KIND_SIZE, name, 60);
  }
}

static void tie_route(UnfoldNet *n, const WireRoute *direct) {
  WireRoute all = route_through(n->arena, n->s, direct), *r = &all;
  for (uint32_t k = 0; k < r->from.n; k++) {
    const PortEnd *e = &r->from.at[k];
    if (end_is_back(n, e, true) || end_is_back(n, &r->to, false)) continue;
    if (!e->part && r->to.part) tie_input(n, r, e);
    if (e->part && !r->to.part) tie_output(n, r, e);
    if (e->part && e->part == r->to.part) // an array whose elements read each other
      for (uint32_t i = 0; i < n->count[e->part - 1]; i++)
        for (uint32_t j = 0; j < n->count[e->part - 1]; j++)
          if (i != j)
            add_once(n, &n->neuron.at[n->first[e->part - 1] + i].peer, n->first[e->part - 1] + j);
  }
}

// Inputs, then neurons by longest path. False: there is a cycle.
static bool find_layers(UnfoldNet *n) {
  Layers *l = &n->net;
  *l = (Layers){.arena = n->arena, .framed = true};
  for (uint32_t i = 0; i < n->input.n; i++)
    layers_unit(l, (LayerUnit){.kind = 1, .edge = EDGE_FIRST});
  for (uint32_t i = 0; i < n->neuron.n; i++) layers_unit(l, (LayerUnit){.kind = 1, .early = true});
  for (uint32_t i = 0; i < n->neuron.n; i++) {
    const Neuron *u = &n->neuron.at[i];
    for (uint32_t k = 0; k < u->input.n; k++) layers_wire(l, u->input.at[k], n->input.n + i);
    for (uint32_t k = 0; k < u->source.n; k++)
      layers_wire(l, n->input.n + u->source.at[k], n->input.n + i);
  }
  bool good = layers_rank(l);
  n->layers = l->layers - 2;
  return good;
}

static Ink fill_of(uint32_t neuron) { return (Ink)(INK_FRAME1 + (neuron * 3 + 3) % 8); }
static Ink edge_of(uint32_t neuron) { return (Ink)(INK_SERIES1 + neuron % 7); }

// -- from inside to outside -----------------------------------------------------------------------
typedef struct { // the number of peers read inside a manager, and whether some peer reads this one
  uint32_t hears;
  bool says;
} Talk;

static Talk talk_of(const UnfoldNet *n, const Ids *siblings, uint32_t id) {
  Talk t = {0};
  for (uint32_t i = 0; i < siblings->n; i++) {
    t.hears += ids_contain(&n->neuron.at[id].peer, siblings->at[i]);
    t.says |= ids_contain(&n->neuron.at[siblings->at[i]].peer, id);
  }
  return t;
}

// The change, if any, is above inputs from peers.
static void add_box(UnfoldNet *n, Panel *p, Unit u, Talk talk) {
  u.name = "";
  for (uint32_t i = 0; i < talk.hears + (n->dy != NULL); i++) vec_push(n->arena, &u.in, (Pin){0});
  for (uint32_t i = 0; i <= talk.says; i++) vec_push(n->arena, &u.out, (Pin){0});
  panel_add(p, u);
}

static uint32_t add_port(UnfoldNet *n, Panel *p, const char *name, bool right) {
  Unit u = {.kind = right ? UNIT_OUT : UNIT_IN};
  Pin pin = {.name = p->depth ? NULL : name, .words = name};
  if (!right) pin.ink = INK_SERIES2;
  vec_push(n->arena, right ? &u.in : &u.out, pin);
  return panel_add(p, u);
}

// A port connected to one side of all units
static void add_side(UnfoldNet *n, Panel *p, const char *name, bool right, uint32_t units) {
  uint32_t port = add_port(n, p, name, right);
  uint32_t cable = panel_cable(p, (Cable){.words = name, .ink = right ? INK_NONE : INK_SERIES2});
  panel_tie(p, cable, port, 0, !right);
  for (uint32_t i = 0; i < units; i++) panel_tie(p, cable, i, 0, right);
}

// Peers are stacked in a panel: the output of each goes to its readers.
static void add_peers(UnfoldNet *n, Panel *p, const Ids *ids) {
  uint32_t *next = NEW_ARRAY(n->arena, uint32_t, ids->n + 1);
  for (uint32_t i = 0; i < ids->n; i++) next[i] = n->dy != NULL;
  for (uint32_t i = 0; i < ids->n; i++) {
    const char *name = n->neuron.at[ids->at[i]].name;
    if (!talk_of(n, ids, ids->at[i]).says) continue;
    Cable cable = {.words = arena_format(n->arena, "what %s says to its peers", name)};
    cable.ink = INK_SERIES3, cable.peer = true;
    panel_tie(p, panel_cable(p, cable), i, 1, true);
    for (uint32_t k = 0; k < ids->n; k++)
      if (ids_contain(&n->neuron.at[ids->at[k]].peer, ids->at[i]))
        panel_tie(p, p->cable.n - 1, k, next[k]++, false);
  }
}

static Panel *managed_panel(UnfoldNet *n, const char *name, const Ids *neurons, const Ids *inputs,
                            Talk talk, uint32_t depth);

static void add_neuron(UnfoldNet *n, Panel *p, const Ids *siblings, uint32_t id) {
  Neuron *v = &n->neuron.at[id];
  Talk talk = talk_of(n, siblings, id);
  Unit u = {.kind = UNIT_BOX, .of = v->name, .words = v->name, .ink = fill_of(id)};
  u.said = v->said;
  if (v->opened) {
    u.dashed = true;
    u.words = arena_format(n->arena, "%s, which is opened elsewhere", v->name);
  } else if (v->source.n || v->input.n) {
    v->opened = true;
    u.kind = UNIT_PANEL;
    u.inner = managed_panel(n, v->name, &v->source, &v->input, talk, p->depth + 1);
    u.inner->ink = fill_of(id), u.inner->edge = edge_of(id), u.inner->said = v->said;
  }
  add_box(n, p, u, talk);
}

static Panel *managed_panel(UnfoldNet *n, const char *name, const Ids *neurons, const Ids *inputs,
                            Talk talk, uint32_t depth) {
  Panel *p = NEW(n->arena, Panel);
  p->arena = n->arena, p->kind = &wiring_kind, p->depth = depth;
  p->name = name, p->of = "", p->words = arena_format(n->arena, "%s, a manager", name);
  for (uint32_t i = 0; i < neurons->n; i++) add_neuron(n, p, neurons, neurons->at[i]);
  for (uint32_t i = 0; i < inputs->n; i++) {
    const char *own = n->input.at[inputs->at[i]].name;
    Unit input = {.of = own, .words = own, .ink = INK_PAPER};
    input.said = n->input.at[inputs->at[i]].said;
    add_box(n, p, input, (Talk){0});
  }
  uint32_t units = p->unit.n;
  add_peers(n, p, neurons);
  add_side(n, p, n->y, true, units);
  if (talk.says) add_port(n, p, "say", true);
  if (n->dy) add_side(n, p, n->dy, false, units);
  for (uint32_t i = 0; i < talk.hears; i++) add_port(n, p, "hear", false);
  panel_finish(p);
  return p;
}

static Panel *nested_panel(UnfoldNet *n) {
  Ids out = {0};
  for (uint32_t i = 0; i < n->neuron.n; i++)
    if (n->neuron.at[i].out) vec_push(n->arena, &out, i);
  if (out.n != 1)
    return managed_panel(n, name_text(n->w->names, n->s->name), &out, &(Ids){0}, (Talk){0}, 0);
  Neuron *top = &n->neuron.at[out.at[0]];
  top->opened = true;
  Panel *p = managed_panel(n, top->name, &top->source, &top->input, (Talk){0}, 0);
  p->ink = fill_of(out.at[0]), p->edge = edge_of(out.at[0]);
  return p;
}

// -- from left to right ---------------------------------------------------------------------------
static double half_width(const Neuron *u) {
  return fmax(RADIUS, text_width(FACE_ITALIC, KIND_SIZE, u->name) / 2 + 5);
}

static double bow_of(double height) { return 14 + fabs(height) * 0.22; }

// The order in layers is that of the layered layout; heights are not optimised: rows are evenly
// spaced and columns are centred, as is usual for networks.
static void place_neurons(UnfoldNet *n, double *width, double *height) {
  Layers *l = &n->net;
  double wide = 0, most = 1;
  for (uint32_t i = 0; i < n->input.n; i++)
    wide = fmax(wide, text_width(FACE_ITALIC, KIND_SIZE, n->input.at[i].name));
  layers_order(l);
  for (uint32_t i = 0; i < l->layers; i++) most = fmax(most, l->layer[i].n);
  for (uint32_t i = 0; i < l->unit.n; i++) {
    LayerUnit *u = &l->unit.at[i];
    u->x = 2 * wide + 22 + COLUMN * u->layer;
    u->y = (most - l->layer[u->layer].n + 2 * u->rank + 1) * ROW / 2;
  }
  n->shown = RADIUS + 41;
  for (uint32_t i = 0; i < n->neuron.n; i++) // leaves space for lines between peers
    for (uint32_t k = 0; n->neuron.at[i].out && k < n->neuron.at[i].peer.n; k++) {
      uint32_t peer = n->input.n + n->neuron.at[i].peer.at[k];
      double bow = bow_of(l->unit.at[peer].y - l->unit.at[n->input.n + i].y);
      n->shown = fmax(n->shown, half_width(&n->neuron.at[i]) + 0.75 * bow + 6);
    }
  *width = 2 * wide + 22 + COLUMN * n->layers + n->shown + 21, *height = most * ROW;
}

static Knee spot_of(const UnfoldNet *n, uint32_t unit, double x, double y) {
  return (Knee){n->net.unit.at[unit].x + x, n->net.unit.at[unit].y + y};
}

// The forward line above the backward one; `less`: distances from both ends
static void double_line(Canvas *c, const UnfoldNet *n, Knee a, Knee b, double less_a, double less_b,
                        const char *words) {
  double far = hypot(b.x - a.x, b.y - a.y), dx = (b.x - a.x) / far, dy = (b.y - a.y) / far;
  canvas_open(c, "", "touch", words);
  for (int back = 0; back < (n->dy ? 2 : 1); back++) {
    double off = !n->dy ? 0 : back ? APART : -APART;
    double x0 = a.x + dx * less_a - dy * off, y0 = a.y + dy * less_a + dx * off;
    double x1 = b.x - dx * less_b - dy * off, y1 = b.y - dy * less_b + dx * off;
    double at = back ? 0.28 : 0.72, sign = back ? -1 : 1;
    Ink ink = back ? INK_SERIES2 : INK_LINE;
    line_draw(c, x0, y0, x1, y1, ink, 1);
    small_head(c, x0 + (x1 - x0) * at, y0 + (y1 - y0) * at, sign * dx, sign * dy, ink);
  }
  canvas_close(c);
}

static void pair_label(Canvas *c, const UnfoldNet *n, double x, double y, const char *name,
                       bool left) {
  Text how = {.face = FACE_ITALIC, .size = KIND_SIZE, .anchor = left ? ANCHOR_END : ANCHOR_START};
  canvas_open(c, "", "label", "");
  canvas_text(c, x, y - (n->dy ? 3 : -4), &how, name);
  how.ink = INK_SERIES2;
  if (n->dy) canvas_text(c, x, y + 12, &how, arena_format(n->arena, "Δ%s", name));
  canvas_close(c);
}

static void peer_line(Canvas *c, const UnfoldNet *n, uint32_t from, uint32_t to, double x,
                      double y) {
  const Neuron *u = n->neuron.at;
  Knee a = spot_of(n, n->input.n + from, x, y), b = spot_of(n, n->input.n + to, x, y);
  double bow = bow_of(b.y - a.y), sign = b.y > a.y ? 1 : -1;
  double x0 = a.x + sign * (half_width(&u[from]) - RADIUS * 0.3), y0 = a.y + sign * RADIUS * 0.72;
  double x1 = b.x + sign * (half_width(&u[to]) - RADIUS * 0.3), y1 = b.y - sign * RADIUS * 0.72;
  canvas_open(c, "", "touch", "peers");
  path_move(c, x0, y0);
  path_cubic(c, x0 + sign * bow, y0 + (y1 - y0) * 0.3, x1 + sign * bow, y1 - (y1 - y0) * 0.3, x1,
             y1);
  canvas_paint(c, &(Paint){.stroke = INK_SERIES3, .width = 1.2});
  double far = hypot(bow, 0.3 * (y1 - y0));
  small_head(c, x1 + sign * bow / far * 4, y1 - (y1 - y0) * 0.3 / far * 4, -sign * bow / far,
             0.3 * (y1 - y0) / far, INK_SERIES3);
  canvas_close(c);
}

static void neuron_paint(Canvas *c, const Neuron *u, uint32_t id, Knee at) {
  double half = half_width(u);
  canvas_open(c, u->name, "glyph", u->name);
  canvas_of(c, u->said);
  path_rect(c, at.x - half, at.y - RADIUS, 2 * half, 2 * RADIUS, RADIUS);
  canvas_paint(c, &(Paint){.fill = fill_of(id), .stroke = edge_of(id), .width = 1.6});
  canvas_text(c, at.x, at.y + 4,
              &(Text){.face = FACE_ITALIC, .size = KIND_SIZE, .anchor = ANCHOR_MIDDLE}, u->name);
  canvas_close(c);
}

static void input_paint(Canvas *c, const UnfoldNet *n, const Input *in, Knee at) {
  canvas_open(c, in->name, "glyph", in->name);
  canvas_of(c, in->said);
  path_circle(c, at.x, at.y, 4.5);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1.1});
  canvas_close(c);
  pair_label(c, n, at.x - 10, at.y, in->name, true);
}

// From its source past dummies to its target: dummies come after these two, from the left
static void cable_paint(Canvas *c, const UnfoldNet *n, const Ids *pin, double x, double y) {
  uint32_t first = n->net.pin.at[pin->at[0]].unit, last = n->net.pin.at[pin->at[1]].unit;
  Knee at = spot_of(n, first, x, y);
  double less = first < n->input.n ? 6 : RADIUS + 1;
  for (uint32_t i = 2; i < pin->n; i += 2, less = 0) {
    Knee pass = spot_of(n, n->net.pin.at[pin->at[i]].unit, x, y);
    double_line(c, n, at, pass, less, 0, "");
    at = pass;
  }
  double_line(c, n, at, spot_of(n, last, x, y), less, RADIUS + 1, "");
}

static void network_paint(Canvas *c, const UnfoldNet *n, double x, double y) {
  for (uint32_t i = 0; i < n->net.cable.n; i++) cable_paint(c, n, &n->net.cable.at[i].pin, x, y);
  for (uint32_t i = 0; i < n->neuron.n; i++) {
    const Neuron *u = &n->neuron.at[i];
    Knee at = spot_of(n, n->input.n + i, x, y);
    for (uint32_t k = 0; k < u->peer.n; k++) peer_line(c, n, u->peer.at[k], i, x, y);
    if (u->out) double_line(c, n, at, (Knee){at.x + n->shown - 5, at.y}, RADIUS + 1, 0, "");
    if (u->out) pair_label(c, n, at.x + n->shown, at.y, u->out, false);
  }
  for (uint32_t i = 0; i < n->input.n; i++) input_paint(c, n, &n->input.at[i], spot_of(n, i, x, y));
  for (uint32_t i = 0; i < n->neuron.n; i++)
    neuron_paint(c, &n->neuron.at[i], i, spot_of(n, n->input.n + i, x, y));
}

// -- both -----------------------------------------------------------------------------------------
static void unfolds_to(Canvas *c, double x, double y) {
  canvas_open(c, "", "touch", "unfolds to");
  line_draw(c, x - 26, y, x + 20, y, INK_SOFT, 3);
  shape_draw(c, (Knee[]){{x + 28, y}, {x + 14, y - 8}, {x + 18, y}, {x + 14, y + 8}}, 4,
             &(Paint){.fill = INK_SOFT});
  canvas_close(c);
  words_draw(c, "label", x, y - 14,
             &(Text){.size = KIND_SIZE, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT}, "unfold");
}

static const char *describe_net(const UnfoldNet *n) {
  Buf b = buf_new(n->arena);
  buf_printf(&b, "The network %.80s, twice: its %u neuron%s in %u layer%s from left to right, and ",
             name_text(n->w->names, n->s->name), n->neuron.n, n->neuron.n == 1 ? "" : "s",
             n->layers, n->layers == 1 ? "" : "s");
  buf_text(&b, "each as a box around those that it hears from.");
  return b.at;
}

// Removes inputs that only pass changes.
static void drop_unheard(UnfoldNet *n) {
  uint32_t kept = 0, *at = NEW_ARRAY(n->arena, uint32_t, n->input.n + 1);
  for (uint32_t i = 0; i < n->input.n; i++)
    if (n->input.at[i].heard) at[i] = kept, n->input.at[kept++] = n->input.at[i];
  n->input.n = kept;
  for (uint32_t i = 0; i < n->neuron.n; i++) {
    Ids *ids = &n->neuron.at[i].input;
    for (uint32_t k = 0; k < ids->n; k++) ids->at[k] = at[ids->at[k]];
  }
}

// Outputs must come from the last layer only: values inside others cannot leave the nested boxes.
static bool ends_well(const UnfoldNet *n) {
  bool any = false, inside = false;
  for (uint32_t i = 0; i < n->neuron.n; i++) {
    const Neuron *u = &n->neuron.at[i];
    any |= u->out != NULL;
    inside |= u->out && n->net.unit.at[n->input.n + i].layer < n->layers;
  }
  return any && !inside;
}

static bool read_network(UnfoldNet *n) {
  for (uint32_t i = 0; i < n->s->part.n; i++)
    if (n->s->part.at[i].of->shares) return false;
  for (uint32_t i = 0; i < n->s->in.n; i++)
    if (is_way_back(n, n->s, &n->s->in.at[i], false)) n->dy = "";
  find_arcs(n);
  add_neurons(n);
  add_inputs(n);
  if (!n->neuron.n || n->neuron.n > NEURONS) return false;
  for (uint32_t i = 0; i < n->forth.n; i++) tie_parts(n, &n->forth.at[i]);
  for (uint32_t i = 0; i < n->s->route.n; i++) tie_route(n, &n->s->route.at[i]);
  if (!n->y) return false;
  if (n->back.n || n->dy) n->dy = arena_format(n->arena, "Δ%.60s", n->y);
  drop_unheard(n);
  return find_layers(n) && ends_well(n);
}

Canvas *wiring_unfold_draw(World *w, Arena *a, const System *s) {
  UnfoldNet n = {.w = w, .arena = a, .s = s};
  double width, height;
  if (!s->wiring || s->shares || !read_network(&n)) return NULL;
  place_neurons(&n, &width, &height);
  Panel *p = nested_panel(&n);
  double high = fmax(height, p->height), left = EDGE + width + MIDDLE + panel_left(p);
  Canvas *c = canvas_new(a, left + p->width + panel_right(p) + EDGE, high + 2 * EDGE,
                         name_text(w->names, s->name), describe_net(&n));
  network_paint(c, &n, EDGE, EDGE + floor((high - height) / 2));
  unfolds_to(c, EDGE + width + MIDDLE / 2.0, EDGE + floor(high / 2));
  double top = EDGE + floor((high - p->height) / 2);
  panel_paint(c, p, left, top, "nested");
  panel_stubs(c, p, left, top);
  return c;
}
