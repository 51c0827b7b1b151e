// A machine with modes as a graph: a box for each mode with its lines, an arrow for each jump with
// its condition, a dot that leads to the initial mode. A mode with nested modes is a panel, whose
// border jumps cross. Lines that hold in all modes have a box of their own.
#include "base/names.h"
#include "show/circuit/circuit.h"
#include "show/wiring/wiring_own.h"

typedef struct {
  const Syntax *node; // N_MODE; NULL: the machine itself
  Nodes line;
  uint32_t around; // index of the enclosing mode; of the machine: itself
  bool first;      // the initial one among its siblings
  bool holds;      // it contains modes
  uint32_t unit;   // in the panel of the enclosing mode
} ModeNode;

typedef struct {
  uint32_t from, to; // modes
  const char *text;
  const GroupOf *said;
} ModeJump;

typedef struct {
  World *w;
  Arena *arena;
  const System *s;
  // Of a wiring: pins left and right, for its ports outside. NULL: of a machine.
  const uint32_t *ports;
  double width; // wider panels are broken into rows; 0: never
  VEC(ModeNode) mode;
  VEC(ModeJump) jump;
} ModeGraph;

// -- modes and jumps ------------------------------------------------------------------------------
static Nodes lines_in(const Syntax *block) {
  return block && block->kind == N_BLOCK ? block_statements(block) : (Nodes){0, NULL};
}

static void find_modes(ModeGraph *g, uint32_t around) {
  Nodes line = g->mode.at[around].line;
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind != N_MODE) continue;
    ModeNode mode = {.node = line.at[i], .line = lines_in(mode_block(line.at[i]))};
    mode.around = around, mode.first = !g->mode.at[around].holds;
    g->mode.at[around].holds = true;
    vec_push(g->arena, &g->mode, mode);
    find_modes(g, g->mode.n - 1);
  }
}

static uint32_t mode_in(const ModeGraph *g, uint32_t around, Name name) {
  for (uint32_t i = 1; i < g->mode.n; i++)
    if (g->mode.at[i].around == around && g->mode.at[i].node->name == name) return i;
  return 0;
}

// Resolves a name from a mode outwards; `on.hot` leads inwards. 0: unknown
static uint32_t mode_meant(const ModeGraph *g, uint32_t from, Name name) {
  const char *text = name_text(g->w->names, name);
  size_t n = strcspn(text, ".");
  uint32_t mode = mode_in(g, from, name_of(g->w->names, text, n));
  for (uint32_t at = from; at && !mode; at = g->mode.at[at].around)
    mode = mode_in(g, g->mode.at[at].around, name_of(g->w->names, text, n));
  for (text += n; mode && *text == '.'; text += n) {
    n = strcspn(++text, ".");
    mode = mode_in(g, mode, name_of(g->w->names, text, n));
  }
  return mode;
}

// Forward jumps are above backward ones, which run below everything.
static void find_jumps(ModeGraph *g, bool back) {
  for (uint32_t m = 0; m < g->mode.n; m++)
    for (uint32_t i = 0; i < g->mode.at[m].line.n; i++) {
      const Syntax *n = g->mode.at[m].line.at[i];
      uint32_t to = n->kind == N_JUMP ? mode_meant(g, m, n->name) : 0;
      if (to && (to <= m) == back)
        vec_push(g->arena, &g->jump,
                 ((ModeJump){m, to, node_text(g->w, g->arena, g->s, jump_cond(n)),
                             group_at(g->arena, n->span, NULL)}));
    }
}

static bool is_within(const ModeGraph *g, uint32_t mode, uint32_t outer) {
  for (; mode && mode != outer; mode = g->mode.at[mode].around) {
  }
  return mode == outer;
}

// Does the jump cross the border of this mode outwards?
static bool leaves_mode(const ModeGraph *g, const ModeJump *j, uint32_t mode) {
  return is_within(g, j->from, mode) && (!is_within(g, j->to, mode) || j->to == mode);
}

// Does it cross the border inwards?
static bool enters_mode(const ModeGraph *g, const ModeJump *j, uint32_t mode) {
  return mode && j->to != mode && is_within(g, j->to, mode) && !is_within(g, j->from, mode);
}

static bool arrives(const ModeGraph *g, const ModeJump *j, uint32_t mode) {
  return j->to == mode || enters_mode(g, j, mode);
}

// Does it hold in all modes inside this one and lead to one of them?
static bool is_inside(const ModeGraph *g, const ModeJump *j, uint32_t mode) {
  return j->from == mode && j->to != mode && is_within(g, j->to, mode);
}

// -- units ----------------------------------------------------------------------------------------
static const char *mode_name(const ModeGraph *g, uint32_t mode) {
  return name_text(g->w->names, g->mode.at[mode].node->name);
}

static uint32_t add_cable(const ModeGraph *g, Panel *p, const char *words, uint32_t to,
                          const GroupOf *said) {
  const char *label = arena_format(g->arena, "to %s", mode_name(g, to));
  return panel_cable(p, (Cable){.words = words, .label = label, .said = said});
}

// The lines of a mode, without nested modes and jumps
static void add_lines(const ModeGraph *g, uint32_t mode, Unit *u) {
  enum { LONGEST_LINE = 420 };
  for (uint32_t i = 0; i < g->mode.at[mode].line.n; i++) {
    const Syntax *n = g->mode.at[mode].line.at[i];
    if (n->kind == N_MODE || (n->kind == N_JUMP && mode_meant(g, mode, n->name))) continue;
    const char *text = node_text(g->w, g->arena, g->s, n);
    vec_push(g->arena, &u->line, text_cut(g->arena, FACE_SANS, PORT_SIZE, text, LONGEST_LINE));
  }
}

static void add_pins(const ModeGraph *g, uint32_t mode, Pins *in, Pins *out) {
  if (g->mode.at[mode].first) vec_push(g->arena, in, (Pin){0});
  for (uint32_t i = 0; i < g->jump.n; i++) {
    if (arrives(g, &g->jump.at[i], mode))
      vec_push(g->arena, in, (Pin){.goes_on = g->jump.at[i].to != mode});
    if (leaves_mode(g, &g->jump.at[i], mode))
      vec_push(g->arena, out, (Pin){.goes_on = g->jump.at[i].from != mode});
  }
}

static const char *mode_words(const ModeGraph *g, uint32_t mode) {
  const ModeNode *m = &g->mode.at[mode];
  Buf b = buf_new(g->arena);
  buf_printf(&b, "mode %.60s%s%s", mode_name(g, mode), m->first ? ", starts here" : "",
             mode_stops(m->node) ? ", stops" : "");
  for (uint32_t i = 0; i < g->jump.n; i++)
    if (g->jump.at[i].from == mode)
      buf_printf(&b, "; jumps to %.60s when %.120s", mode_name(g, g->jump.at[i].to),
                 g->jump.at[i].text);
  return b.at;
}

static Panel *mode_panel(ModeGraph *g, uint32_t mode, uint32_t depth);

static void add_mode(ModeGraph *g, Panel *p, uint32_t mode) {
  ModeNode *m = &g->mode.at[mode];
  Unit u = {.kind = m->holds ? UNIT_PANEL : UNIT_BOX, .graph = true, .stops = mode_stops(m->node)};
  u.name = mode_name(g, mode);
  u.of = text_cut(g->arena, FACE_SANS, KIND_SIZE, u.name, 150);
  u.unnamed = true;
  u.said = group_at(g->arena, m->node->span, u.name);
  u.words = mode_words(g, mode);
  add_pins(g, mode, &u.in, &u.out);
  if (m->holds)
    u.inner = mode_panel(g, mode, p->depth + 1), u.inner->said = u.said;
  else
    add_lines(g, mode, &u);
  g->mode.at[mode].unit = panel_add(p, u);
}

// The unit of what holds in all nested modes, with its jumps to one of them. 0: none
static uint32_t add_always(const ModeGraph *g, Panel *p, uint32_t mode) {
  Unit u = {.kind = UNIT_BOX, .of = "always", .words = "always", .graph = true, .dashed = true};
  if (mode || !g->ports) add_lines(g, mode, &u);
  for (uint32_t i = 0; i < g->jump.n; i++)
    if (is_inside(g, &g->jump.at[i], mode)) vec_push(g->arena, &u.out, (Pin){0});
  return u.line.n || u.out.n ? panel_add(p, u) + 1 : 0;
}

// -- arrows ---------------------------------------------------------------------------------------
static uint32_t pin_of_arrival(const ModeGraph *g, uint32_t jump, uint32_t mode) {
  uint32_t pin = g->mode.at[mode].first;
  for (uint32_t i = 0; i < jump; i++) pin += arrives(g, &g->jump.at[i], mode);
  return pin;
}

static uint32_t pin_of_exit(const ModeGraph *g, uint32_t jump, uint32_t mode) {
  uint32_t pin = 0;
  for (uint32_t i = 0; i < jump; i++) pin += leaves_mode(g, &g->jump.at[i], mode);
  return pin;
}

static uint32_t pin_of_always(const ModeGraph *g, uint32_t jump, uint32_t mode) {
  uint32_t pin = 0;
  for (uint32_t i = 0; i < jump; i++) pin += is_inside(g, &g->jump.at[i], mode);
  return pin;
}

// The mode of a panel that contains a mode
static uint32_t child_around(const ModeGraph *g, uint32_t mode, uint32_t panel) {
  while (mode && g->mode.at[mode].around != panel) mode = g->mode.at[mode].around;
  return mode;
}

typedef struct {
  Panel *p;
  uint32_t mode;
  uint32_t always;  // the always-unit + 1
  uint32_t entries; // the first port on the left border,
  uint32_t exits;   // and on the right
} ModePanel;

// The source of a jump in this panel: a mode, the always-unit, or the left border. False: the jump
// is not visible here.
static bool jump_begins(const ModeGraph *g, const ModePanel *p, uint32_t jump, uint32_t *unit,
                        uint32_t *pin) {
  const ModeJump *j = &g->jump.at[jump];
  uint32_t child = is_within(g, j->from, p->mode) ? child_around(g, j->from, p->mode) : 0;
  if (enters_mode(g, j, p->mode)) {
    *unit = p->entries + pin_of_arrival(g, jump, p->mode), *pin = 0;
  } else if (is_inside(g, j, p->mode)) {
    *unit = p->always - 1, *pin = pin_of_always(g, jump, p->mode);
  } else if (child && leaves_mode(g, j, child)) {
    *unit = g->mode.at[child].unit, *pin = pin_of_exit(g, jump, child);
  } else {
    return false;
  }
  return true;
}

// The label is in the panel in which the jump leaves its source for its target.
static uint32_t label_jump(const ModeGraph *g, Panel *p, const ModeJump *j, uint32_t from,
                           uint32_t target) {
  uint32_t to = add_cable(g, p, j->text, j->to, j->said);
  Unit label = {.kind = UNIT_GUARD, .owner = target + 1, .words = j->text};
  bool back = j->to <= j->from; // backward in the text: preferred when a cycle is broken
  label.text = text_cut(g->arena, FACE_SANS, PORT_SIZE, j->text, 260);
  label.said = j->said;
  vec_push(g->arena, &label.in, (Pin){.weak = back});
  uint32_t unit = panel_add(p, label);
  panel_tie(p, from, unit, 0, false);
  panel_plug(p, to, unit, true);
  return to;
}

// Draws the part of a jump that is visible in this panel.
static void add_jump(const ModeGraph *g, const ModePanel *p, uint32_t jump) {
  const ModeJump *j = &g->jump.at[jump];
  uint32_t unit, pin;
  if (!jump_begins(g, p, jump, &unit, &pin)) return;
  uint32_t cable = add_cable(g, p->p, j->text, j->to, j->said);
  panel_tie(p->p, cable, unit, pin, true);
  bool here = j->to != p->mode && is_within(g, j->to, p->mode);
  if (!here) {
    panel_tie(p->p, cable, p->exits + pin_of_exit(g, jump, p->mode), 0, false);
    return;
  }
  uint32_t child = child_around(g, j->to, p->mode), target = g->mode.at[child].unit;
  if (!enters_mode(g, j, p->mode)) cable = label_jump(g, p->p, j, cable, target);
  panel_tie(p->p, cable, target, pin_of_arrival(g, jump, child), false);
}

static void add_start(const ModeGraph *g, Panel *p, uint32_t mode) {
  Unit u = {.kind = UNIT_START, .words = "it starts here"};
  u.owner = g->mode.at[mode].unit + 1;
  const GroupOf *said = group_at(g->arena, g->mode.at[mode].node->span, NULL);
  uint32_t dot = panel_add(p, u), cable = add_cable(g, p, u.words, mode, said);
  panel_plug(p, cable, dot, true);
  panel_tie(p, cable, g->mode.at[mode].unit, 0, false);
}

// -- panels ---------------------------------------------------------------------------------------
static void add_edge(const ModeGraph *g, Panel *p, bool right, Pin pin) {
  Unit u = {.kind = right ? UNIT_OUT : UNIT_IN};
  vec_push(g->arena, right ? &u.in : &u.out, pin);
  panel_add(p, u);
}

static void add_outer_ports(const ModeGraph *g, Panel *p) {
  const System *s = g->s;
  for (uint32_t i = 0; i < s->in.n - s->quiet + s->out.n; i++) {
    bool right = i >= s->in.n - s->quiet;
    const Port *port = right ? &s->out.at[i - (s->in.n - s->quiet)] : &s->in.at[i];
    const char *name = name_text(g->w->names, port->name);
    if (right && !strcmp(name, "mode")) continue; // its value is what the picture shows
    Pin pin = {.name = text_cut(g->arena, FACE_ITALIC, PORT_SIZE, name, 150), .words = name};
    pin.said = group_at(g->arena, port->span, NULL);
    if (port->type.rank)
      pin.type = text_cut(g->arena, FACE_SANS, TYPE_SIZE, type_text(g->w, &port->type), 150);
    add_edge(g, p, right, pin);
  }
}

static Panel *mode_panel(ModeGraph *g, uint32_t mode, uint32_t depth) {
  Panel *p = NEW(g->arena, Panel);
  Pins in = {0}, out = {0};
  p->arena = g->arena, p->kind = &modes_kind;
  p->graph = true, p->depth = depth, p->name = "";
  p->of = mode ? mode_name(g, mode) : g->ports ? "modes" : system_title(g->w, g->arena, g->s);
  p->of = text_cut(g->arena, FACE_SANS, KIND_SIZE, p->of, 260);
  p->words = mode ? mode_words(g, mode) : p->of;
  for (uint32_t i = 0; !mode && g->ports && i < g->ports[0]; i++) vec_push(g->arena, &in, (Pin){0});
  for (uint32_t i = 0; !mode && g->ports && i < g->ports[1]; i++)
    vec_push(g->arena, &out, (Pin){0});
  if (mode) add_pins(g, mode, &in, &out);
  if (!mode && !g->ports) add_outer_ports(g, p);
  ModePanel inside = {.p = p, .mode = mode, .entries = p->unit.n};
  for (uint32_t i = 0; i < in.n; i++) add_edge(g, p, false, in.at[i]);
  inside.exits = p->unit.n;
  for (uint32_t i = 0; i < out.n; i++) add_edge(g, p, true, out.at[i]);
  inside.always = add_always(g, p, mode);
  for (uint32_t i = 1; i < g->mode.n; i++)
    if (g->mode.at[i].around == mode) add_mode(g, p, i);
  for (uint32_t i = 1; i < g->mode.n; i++)
    if (g->mode.at[i].around == mode && g->mode.at[i].first) add_start(g, p, i);
  for (uint32_t i = 0; i < g->jump.n; i++) add_jump(g, &inside, i);
  panel_finish(p);
  if (mode && g->width > 0) panel_rows(p, g->width - MODE_INSET * depth);
  return p;
}

static const char *graph_about(const ModeGraph *g) {
  Buf b = buf_new(g->arena);
  buf_printf(&b, "%.80s has modes", system_title(g->w, g->arena, g->s));
  for (uint32_t i = 1; i < g->mode.n && b.n < 2000; i++)
    buf_printf(&b, "%s %s", i > 1 ? "." : ":", mode_words(g, i));
  buf_char(&b, '.');
  return b.at;
}

static bool read_modes(ModeGraph *g) {
  vec_push(g->arena, &g->mode, ((ModeNode){.line = system_statements(g->s)}));
  find_modes(g, 0);
  find_jumps(g, false);
  find_jumps(g, true);
  return g->mode.n > 1;
}

Panel *modes_panel(World *w, Arena *a, const System *s, double width, const char **about) {
  ModeGraph g = {.w = w, .arena = a, .s = s, .width = width};
  if (!read_modes(&g)) return NULL;
  *about = graph_about(&g);
  return mode_panel(&g, 0, 0);
}

Panel *modes_inside(World *w, Arena *a, const System *s, uint32_t depth, const uint32_t ports[2]) {
  ModeGraph g = {.w = w, .arena = a, .s = s, .ports = ports};
  return read_modes(&g) ? mode_panel(&g, 0, depth) : NULL;
}
