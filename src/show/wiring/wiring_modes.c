// A machine with modes as a graph: a box for each mode with its lines, an arrow for each jump with its
// condition, a dot that leads to the mode in which it starts. A mode with modes in it is a panel;
// jumps out of it go through its edge. What holds in all modes stands in a box of its own.
#include "show/wiring/wiring_own.h"

typedef struct {
  const Syntax *node; // N_MODE; NULL: the machine itself
  Nodes line;
  uint32_t around; // a mode; of the machine itself: itself
  bool first;      // of those beside it
  bool holds;      // there are modes in it
  uint32_t unit;   // in the panel of what it is in
} ModeNode;

typedef struct {
  uint32_t from, to; // modes
  const char *text;
} ModeJump;

typedef struct {
  World *w;
  Arena *arena;
  const System *s;
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

// Beside it, or beside what it is in; 0: there is none
static uint32_t mode_meant(const ModeGraph *g, uint32_t from, Name name) {
  for (uint32_t at = g->mode.at[from].around;; at = g->mode.at[at].around) {
    for (uint32_t i = 1; i < g->mode.n; i++)
      if (g->mode.at[i].around == at && g->mode.at[i].node->name == name) return i;
    if (!at) return 0;
  }
}

// Those to modes that come later stand above those that go back, which run below everything.
static void find_jumps(ModeGraph *g, bool back) {
  for (uint32_t m = 0; m < g->mode.n; m++)
    for (uint32_t i = 0; i < g->mode.at[m].line.n; i++) {
      const Syntax *n = g->mode.at[m].line.at[i];
      uint32_t to = n->kind == N_JUMP ? mode_meant(g, m, n->name) : 0;
      if (to && (to <= m) == back)
        vec_push(g->arena, &g->jump,
                 ((ModeJump){m, to, node_text(g->w, g->arena, g->s, jump_cond(n))}));
    }
}

static bool within(const ModeGraph *g, uint32_t mode, uint32_t outer) {
  for (; mode && mode != outer; mode = g->mode.at[mode].around) {
  }
  return mode == outer;
}

// It goes through the edge of this mode.
static bool leaves(const ModeGraph *g, const ModeJump *j, uint32_t mode) {
  return within(g, j->from, mode) && (!within(g, j->to, mode) || j->to == mode);
}

// -- units ----------------------------------------------------------------------------------------
static uint32_t add_unit(const ModeGraph *g, Panel *p, Unit u) {
  u.owner = u.owner ? u.owner - 1 : p->unit.n;
  vec_push(g->arena, &p->unit, u);
  return p->unit.n - 1;
}

static uint32_t add_cable(const ModeGraph *g, Panel *p, const char *words, uint32_t to) {
  const char *label = name_text(g->w->names, g->mode.at[to].node->name);
  vec_push(g->arena, &p->cable,
           ((Cable){.words = words, .label = arena_format(g->arena, "to %s", label)}));
  return p->cable.n - 1;
}

// Lines of a mode, without its modes and its jumps
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
    if (g->jump.at[i].to == mode) vec_push(g->arena, in, (Pin){0});
    if (leaves(g, &g->jump.at[i], mode)) vec_push(g->arena, out, (Pin){0});
  }
}

static const char *mode_words(const ModeGraph *g, uint32_t mode) {
  const ModeNode *m = &g->mode.at[mode];
  Buf b = buf_new(g->arena);
  buf_printf(&b, "mode %.60s%s%s", name_text(g->w->names, m->node->name),
             m->first ? ", starts here" : "", mode_stops(m->node) ? ", stops" : "");
  for (uint32_t i = 0; i < g->jump.n; i++)
    if (g->jump.at[i].from == mode)
      buf_printf(&b, "; jumps to %.60s when %.120s",
                 name_text(g->w->names, g->mode.at[g->jump.at[i].to].node->name),
                 g->jump.at[i].text);
  return b.at;
}

static Panel *mode_panel(ModeGraph *g, uint32_t mode, uint32_t depth);

static void add_mode(ModeGraph *g, Panel *p, uint32_t mode) {
  ModeNode *m = &g->mode.at[mode];
  Unit u = {.kind = m->holds ? UNIT_PANEL : UNIT_BOX, .graph = true, .stops = mode_stops(m->node)};
  u.name = name_text(g->w->names, m->node->name);
  u.of = text_cut(g->arena, FACE_SANS, KIND_SIZE, u.name, 150);
  u.unnamed = true;
  u.words = mode_words(g, mode);
  add_pins(g, mode, &u.in, &u.out);
  if (m->holds)
    u.inner = mode_panel(g, mode, p->depth + 1);
  else
    add_lines(g, mode, &u);
  g->mode.at[mode].unit = add_unit(g, p, u);
}

// What holds in all of its modes; jumps of the machine itself leave it. 0: there is nothing
static uint32_t add_always(const ModeGraph *g, Panel *p, uint32_t mode) {
  Unit u = {.kind = UNIT_BOX, .of = "always", .words = "always", .graph = true, .dashed = true};
  add_lines(g, mode, &u);
  for (uint32_t i = 0; !mode && i < g->jump.n; i++)
    if (!g->jump.at[i].from) vec_push(g->arena, &u.out, (Pin){0});
  return u.line.n || u.out.n ? add_unit(g, p, u) + 1 : 0;
}

// -- arrows ---------------------------------------------------------------------------------------
static uint32_t pin_of_arrival(const ModeGraph *g, uint32_t jump) {
  uint32_t to = g->jump.at[jump].to, pin = g->mode.at[to].first;
  for (uint32_t i = 0; i < jump; i++) pin += g->jump.at[i].to == to;
  return pin;
}

static uint32_t pin_of_exit(const ModeGraph *g, uint32_t jump, uint32_t mode) {
  uint32_t pin = 0;
  for (uint32_t i = 0; i < jump; i++)
    pin += mode ? leaves(g, &g->jump.at[i], mode) : !g->jump.at[i].from;
  return pin;
}

// Of the modes of a panel, the one that this is in
static uint32_t child_around(const ModeGraph *g, uint32_t mode, uint32_t panel) {
  while (mode && g->mode.at[mode].around != panel) mode = g->mode.at[mode].around;
  return mode;
}

// A jump as far as it is seen in this panel. exits: the unit of the first port at its right edge
static void add_jump(const ModeGraph *g, Panel *p, uint32_t mode, uint32_t jump, uint32_t always,
                     uint32_t exits) {
  const ModeJump *j = &g->jump.at[jump];
  bool here = g->mode.at[j->to].around == mode;
  if (!within(g, j->from, mode) || (j->from == mode && mode)) return;
  if (!here && !leaves(g, j, mode)) return; // further inside
  uint32_t child = child_around(g, j->from, mode);
  if (j->from && !child) return;
  if (child && !leaves(g, j, child)) return;
  uint32_t from = add_cable(g, p, j->text, j->to);
  panel_tie(p, from, child ? g->mode.at[child].unit : always - 1, pin_of_exit(g, jump, child),
            true);
  if (!here) {
    panel_tie(p, from, exits + pin_of_exit(g, jump, mode), 0, false);
    return;
  }
  uint32_t target = g->mode.at[j->to].unit, to = add_cable(g, p, j->text, j->to);
  Unit label = {.kind = UNIT_GUARD, .owner = target + 1, .words = j->text};
  label.text = text_cut(g->arena, FACE_SANS, PORT_SIZE, j->text, 260);
  vec_push(g->arena, &label.in, (Pin){0});
  vec_push(g->arena, &label.out, (Pin){0});
  uint32_t unit = add_unit(g, p, label);
  panel_tie(p, from, unit, 0, false);
  panel_tie(p, to, unit, 0, true);
  panel_tie(p, to, target, pin_of_arrival(g, jump), false);
}

static void add_start(const ModeGraph *g, Panel *p, uint32_t mode) {
  Unit u = {.kind = UNIT_START, .words = "it starts here"};
  vec_push(g->arena, &u.out, (Pin){0});
  uint32_t dot = add_unit(g, p, u), cable = add_cable(g, p, u.words, mode);
  panel_tie(p, cable, dot, 0, true);
  panel_tie(p, cable, g->mode.at[mode].unit, 0, false);
}

// -- panels ---------------------------------------------------------------------------------------
static void add_edge(const ModeGraph *g, Panel *p, bool right, Pin pin) {
  Unit u = {.kind = right ? UNIT_OUT : UNIT_IN};
  vec_push(g->arena, right ? &u.in : &u.out, pin);
  add_unit(g, p, u);
}

static void add_ports(const ModeGraph *g, Panel *p) {
  const System *s = g->s;
  for (uint32_t i = 0; i < s->in.n - s->quiet + s->out.n; i++) {
    bool right = i >= s->in.n - s->quiet;
    const Port *port = right ? &s->out.at[i - (s->in.n - s->quiet)] : &s->in.at[i];
    const char *name = name_text(g->w->names, port->name);
    if (right && !strcmp(name, "mode")) continue; // the picture is of nothing else
    Pin pin = {.name = text_cut(g->arena, FACE_ITALIC, PORT_SIZE, name, 150), .words = name};
    if (port->type.rank)
      pin.type = text_cut(g->arena, FACE_SANS, TYPE_SIZE, type_text(g->w, &port->type), 150);
    add_edge(g, p, right, pin);
  }
}

static Panel *mode_panel(ModeGraph *g, uint32_t mode, uint32_t depth) {
  Panel *p = NEW(g->arena, Panel);
  Pins in = {0}, out = {0};
  p->graph = true, p->depth = depth, p->name = "";
  p->of = mode ? name_text(g->w->names, g->mode.at[mode].node->name)
               : system_title(g->w, g->arena, g->s);
  p->of = text_cut(g->arena, FACE_SANS, KIND_SIZE, p->of, 260);
  p->words = mode ? mode_words(g, mode) : p->of;
  if (mode)
    add_pins(g, mode, &in, &out);
  else
    add_ports(g, p);
  for (uint32_t i = 0; i < in.n; i++) add_edge(g, p, false, in.at[i]);
  uint32_t exits = p->unit.n;
  for (uint32_t i = 0; i < out.n; i++) add_edge(g, p, true, out.at[i]);
  uint32_t always = add_always(g, p, mode);
  for (uint32_t i = 1; i < g->mode.n; i++)
    if (g->mode.at[i].around == mode) add_mode(g, p, i);
  for (uint32_t i = 1; i < g->mode.n; i++)
    if (g->mode.at[i].around == mode && g->mode.at[i].first) add_start(g, p, i);
  for (uint32_t i = 0; i < g->jump.n; i++) add_jump(g, p, mode, i, always, exits);
  panel_finish(g->arena, p);
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

Panel *modes_panel(World *w, Arena *a, const System *s, const char **about) {
  ModeGraph g = {.w = w, .arena = a, .s = s};
  Nodes line = system_statements(s);
  vec_push(a, &g.mode, ((ModeNode){.line = line}));
  find_modes(&g, 0);
  if (g.mode.n < 2) return NULL;
  find_jumps(&g, false);
  find_jumps(&g, true);
  *about = graph_about(&g);
  return mode_panel(&g, 0, 0);
}
