// Draws a machine or wiring.
//
// A wiring becomes a panel: a unit for each part, one for each port of its own, and cables. A value
// read by several ports is one cable. A computed value is a unit of its own, a plate; so is a
// guard, a label on the wire, and the choice where guarded wires of one port join. Parts that are
// wirings become nested panels up to a depth; each is laid out before its container.
//
// Shared variables are units too. They have no direction: parts and variables are assigned levels
// by their distance from one end of the wiring, and lines connect neighbouring levels.
#include "base/names.h"
#include "base/table.h"
#include "lang/value/value.h"
#include "show/layout/sketch.h"
#include "show/wiring/wiring_own.h"

#include <math.h>

enum {
  WIDE = 1000,
  READABLE = 60,
  LONGEST = 150,
  LONG_FORMULA = 260,
  LONGEST_LINE = 420,
  DEEPEST = 16
};

typedef struct {
  World *w;
  Arena *arena;
  const System *s;
  Panel *p;
  uint32_t levels; // levels to open, including this one
  // Wider panels are broken into rows, nested ones at `inset`; not positive: never.
  double width, inset;
  uint32_t part;        // index of the first part's unit
  uint32_t *source;     // [part + 1] where its sources begin in `cable`
  uint32_t *cable;      // [source] its cable + 1
  uint32_t said;        // index of the first line's unit
  uint32_t *held;       // [own, learner] the unit of the state + 1; 0: none
  const SaidAt *around; // the enclosing part; NULL: the whole
} PanelBuilder;

static GroupOf *said_at(const PanelBuilder *b, Span at) {
  GroupOf *of = NEW(b->arena, GroupOf);
  SaidAt *p = NEW(b->arena, SaidAt);
  *p = (SaidAt){at, b->around};
  if (at.file) of->place = p;
  return of;
}

static const GroupOf *said_node(const PanelBuilder *b, const Syntax *n) {
  return n ? said_at(b, n->span) : NULL;
}

static const GroupOf *said_wire(const PanelBuilder *b, Span at, Name name, const Type *t) {
  GroupOf *of = said_at(b, at);
  const char *text = name_text(b->w->names, name);
  if (!strchr(text, ' ')) of->wire = text; // "born x" is no name
  if (t->base != BASE_NONE) of->type = own_text(b->w, t);
  return of;
}

static const char *cut_text(const PanelBuilder *b, Face face, double size, const char *text) {
  return text_cut(b->arena, face, size, text, LONGEST);
}

static const char *name_cut(const PanelBuilder *b, Name name) {
  return cut_text(b, FACE_SANS, KIND_SIZE, name_text(b->w->names, name));
}

// -- pins -----------------------------------------------------------------------------------------
// The type is written unless it is a plain number; in boxes only if it has axes.
static const char *shown_type(const PanelBuilder *b, const Type *t, bool outer) {
  bool plain = t->base == BASE_NONE || (t->base == BASE_R && !t->rank);
  if (plain || (!outer && !t->rank)) return NULL;
  return cut_text(b, FACE_SANS, TYPE_SIZE, type_text(b->w, t));
}

// Inputs without wires are not drawn.
static uint32_t inputs_of(const System *s) { return s->in.n - s->quiet; }

static bool is_partly_open(const System *s, const Port *p) {
  uint64_t all = s->mode.n >= 64 ? UINT64_MAX : ((uint64_t)1 << s->mode.n) - 1;
  return s->mode.n && (p->modes & all) != all;
}

static const char *port_words(const PanelBuilder *b, const System *s, const Port *p) {
  Buf out = buf_new(b->arena);
  buf_printf(&out, "%.80s", name_text(b->w->names, p->name));
  if (p->type.base != BASE_NONE) buf_printf(&out, ": %.80s", type_text(b->w, &p->type));
  for (uint32_t i = 0, n = 0; is_partly_open(s, p) && i < s->mode.n && i < 64; i++)
    if (p->modes >> i & 1)
      buf_printf(&out, "%s%.40s", n++ ? ", " : ", open in ", name_text(b->w->names, s->mode.at[i]));
  return out.at;
}

static Pin pin_of(const PanelBuilder *b, const System *s, const Port *p, bool outer) {
  return (Pin){.name = cut_text(b, FACE_ITALIC, PORT_SIZE, name_text(b->w->names, p->name)),
               .type = shown_type(b, &p->type, outer),
               .words = port_words(b, s, p),
               .said = said_wire(b, p->span, p->name, &p->type),
               .ring = is_partly_open(s, p)};
}

// -- units and cables -----------------------------------------------------------------------------
static uint32_t cable_from(PanelBuilder *b, uint32_t unit, uint32_t pin, const char *words) {
  const Unit *u = &b->p->unit.at[unit];
  const GroupOf *said = u->out.at[pin].said ? u->out.at[pin].said : u->said;
  uint32_t cable = panel_cable(b->p, (Cable){.words = words, .said = said});
  panel_tie(b->p, cable, unit, pin, true);
  return cable;
}

static uint32_t source_cable(PanelBuilder *b, const PortEnd *e) {
  uint32_t *cable = &b->cable[b->source[e->part] + e->port];
  if (*cable) return *cable - 1;
  uint32_t unit = e->part ? b->part + e->part - 1 : e->port, pin = e->part ? e->port : 0;
  *cable = cable_from(b, unit, pin, b->p->unit.at[unit].out.at[pin].words) + 1;
  const Unit *u = &b->p->unit.at[unit];
  const char *port = u->out.at[pin].name;
  b->p->cable.at[*cable - 1].label =
      e->part && u->name && u->name[0] ? arena_format(b->arena, "%s.%s", u->name, port) : port;
  return *cable - 1;
}

// The cable from a pin on the right of a unit, common to all readers.
static uint32_t pin_cable(PanelBuilder *b, uint32_t unit, uint32_t pin) {
  uint32_t cable = b->p->unit.at[unit].out.at[pin].cable;
  return cable ? cable - 1 : cable_from(b, unit, pin, b->p->unit.at[unit].words);
}

// A state of the wiring, or a learner
static const OwnState *own_state(const System *s, uint32_t i) {
  return i < s->own.n ? &s->own.at[i] : &s->learner.at[i - s->own.n];
}

static uint32_t moved_count(const System *s) { return s->own.n + s->learner.n; }

static uint32_t state_cable(PanelBuilder *b, uint32_t own) {
  const Unit *u = &b->p->unit.at[b->held[own] - 1];
  uint32_t cable = pin_cable(b, b->held[own] - 1, u->kind == UNIT_PANEL ? u->out.n - 1 : 0);
  b->p->cable.at[cable].ink = INK_SERIES3;
  b->p->cable.at[cable].label = name_text(b->w->names, own_state(b->s, own)->name);
  return cable;
}

static uint32_t line_cable(PanelBuilder *b, const PortEnd *e) {
  uint32_t cable = pin_cable(b, b->said + e->part - 1, e->port);
  Name name = b->s->said.at[e->part - 1].name.at[e->port];
  b->p->cable.at[cable].label = name_text(b->w->names, name);
  return cable;
}

// -- routes ---------------------------------------------------------------------------------------
static bool is_wire(const WireRoute *r) {
  return !r->zero && r->from.n + r->states.n + r->lines.n == 1 &&
         (r->plain || node_is_place(r->value));
}

static bool was_before(const WireRoute *r, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (r->from.at[k].part == r->from.at[i].part && r->from.at[k].port == r->from.at[i].port)
      return true;
  return false;
}

// Adds a unit with these input cables, and returns its output cable.
static uint32_t cable_through(PanelBuilder *b, Unit u, const Ids *from, const char *words) {
  vec_push(b->arena, &u.out, (Pin){0});
  uint32_t unit = panel_add(b->p, u);
  for (uint32_t i = 0; i < from->n; i++) panel_plug(b->p, from->at[i], unit, false);
  return cable_from(b, unit, 0, words);
}

static Ids state_cables(PanelBuilder *b, const uint32_t *own, uint32_t n) {
  Ids all = {0};
  for (uint32_t i = 0; i < n; i++)
    if (b->held[own[i]]) vec_push(b->arena, &all, state_cable(b, own[i]));
  return all;
}

// The cables of all operands of a value.
static Ids value_cables(PanelBuilder *b, const WireRoute *r) {
  Ids from = state_cables(b, r->states.at, r->states.n);
  for (uint32_t i = 0; i < r->from.n; i++)
    if (!was_before(r, i)) vec_push(b->arena, &from, source_cable(b, &r->from.at[i]));
  for (uint32_t i = 0; i < r->lines.n; i++) {
    uint32_t cable = line_cable(b, &r->lines.at[i]);
    if (ids_find(&from, cable) == from.n) vec_push(b->arena, &from, cable);
  }
  return from;
}

// An unnamed unit is named after its target.
static void name_for(PanelBuilder *b, uint32_t cable, uint32_t owner) {
  const char *whom = b->p->unit.at[owner].name;
  if (whom) b->p->cable.at[cable].label = arena_format(b->arena, "for %s", whom);
}

static void plate_text(const PanelBuilder *b, Unit *u) {
  PlateText how = {FACE_ITALIC, WORD_SIZE, LONG_FORMULA, .most = 3};
  text_lines(b->arena, &how, u->words, &u->line);
}

// The text with the value used if no guard holds.
static const char *text_with_pad(const PanelBuilder *b, const char *text, const WireRoute *r) {
  if (!r->pad || !text) return text;
  return arena_format(b->arena, "%s pad %s", text, node_text(b->w, b->arena, b->s, r->pad));
}

static uint32_t plate_cable(PanelBuilder *b, const WireRoute *r, uint32_t owner) {
  const char *text = r->value ? node_text(b->w, b->arena, b->s, r->value) : "…";
  text = text_with_pad(b, text, r);
  if (r->zero) text = arena_format(b->arena, "0 = %s", text);
  Unit u = {.kind = UNIT_PLATE, .owner = owner + 1, .words = text, .said = said_node(b, r->value)};
  plate_text(b, &u);
  Ids from = value_cables(b, r);
  uint32_t cable = cable_through(b, u, &from, text);
  name_for(b, cable, owner);
  return cable;
}

// The cables that a guard reads.
static Ids asked_cables(PanelBuilder *b, const WireRoute *guard) {
  Ids all = state_cables(b, guard->asked.at, guard->asked.n);
  for (uint32_t i = 0; i < guard->asked_ports.n; i++)
    vec_push(b->arena, &all, source_cable(b, &guard->asked_ports.at[i]));
  for (uint32_t i = 0; i < guard->asked_lines.n; i++) {
    uint32_t cable = line_cable(b, &guard->asked_lines.at[i]);
    if (ids_find(&all, cable) == all.n) vec_push(b->arena, &all, cable);
  }
  return all;
}

// Adds a guard's label to a wire; what it reads enters from above.
static uint32_t label_cable(PanelBuilder *b, uint32_t cable, const char *text,
                            const WireRoute *guard, uint32_t owner) {
  Unit u = {.kind = UNIT_GUARD, .owner = owner + 1, .dashed = guard != NULL, .words = text};
  Ids from = guard ? asked_cables(b, guard) : (Ids){0};
  uint32_t asked = from.n;
  u.said = guard ? said_node(b, guard->guard) : b->p->cable.at[cable].said;
  u.text = text_cut(b->arena, FACE_SANS, PORT_SIZE, text, LONG_FORMULA);
  vec_push(b->arena, &from, cable);
  uint32_t out = cable_through(b, u, &from, text);
  Pins *in = &b->p->unit.at[b->p->unit.n - 1].in;
  for (uint32_t i = guard ? guard->asked.n : 0; i < asked; i++) in->at[i].weak = true;
  b->p->cable.at[out].dashed = u.dashed;
  b->p->cable.at[out].said = b->p->cable.at[cable].said;
  const char *label = b->p->cable.at[cable].label; // as belief[0], if the row is broken there
  bool places = !guard && label && text[0] == '[';
  b->p->cable.at[out].label = places ? arena_format(b->arena, "%s%s", label, text) : label;
  return out;
}

// The source position of a wire is its first route, which can be edited.
static void say_wire(PanelBuilder *b, uint32_t cable, const Syntax *value) {
  Cable *k = &b->p->cable.at[cable];
  GroupOf *of = said_at(b, value->span);
  if (k->said) of->wire = k->said->wire, of->type = k->said->type;
  if (!k->routed) k->said = of;
  k->routed = true;
}

static uint32_t route_cable(PanelBuilder *b, const WireRoute *r, uint32_t owner) {
  uint32_t cable = !is_wire(r)  ? plate_cable(b, r, owner)
                   : r->from.n  ? source_cable(b, &r->from.at[0])
                   : r->lines.n ? line_cable(b, &r->lines.at[0])
                                : state_cable(b, r->states.at[0]);
  if (is_wire(r) && r->value) say_wire(b, cable, r->value);
  const char *index = is_wire(r) ? node_index(b->w, b->arena, b->s, r->value) : NULL,
             *to = r->at ? node_index(b->w, b->arena, b->s, r->at) : NULL;
  if (to) index = arena_format(b->arena, "%s%s→ %s", index ? index : "", index ? " " : "", to);
  index = text_with_pad(b, index, r);
  if (index) cable = label_cable(b, cable, index, NULL, owner);
  if (!r->guard) return cable;
  return label_cable(b, cable, node_text(b->w, b->arena, b->s, r->guard), r, owner);
}

static bool is_known(const PanelBuilder *b, const PortEnd *e, bool source) {
  const System *s = e->part ? NULL : b->s;
  if (e->part > b->s->part.n) return false;
  if (e->part) s = b->s->part.at[e->part - 1].of;
  return e->port < ((e->part != 0) == source ? s->out.n : inputs_of(s));
}

static bool route_is_sound(const PanelBuilder *b, const WireRoute *r) {
  bool sound = is_known(b, &r->to, false);
  for (uint32_t i = 0; i < r->from.n; i++) sound &= is_known(b, &r->from.at[i], true);
  for (uint32_t i = 0; i < r->asked_ports.n; i++) sound &= is_known(b, &r->asked_ports.at[i], true);
  for (uint32_t i = 0; i < r->states.n; i++) sound &= r->states.at[i] < moved_count(b->s);
  for (uint32_t i = 0; i < r->asked.n; i++) sound &= r->asked.at[i] < moved_count(b->s);
  for (uint32_t i = 0; i < r->lines.n; i++) sound &= r->lines.at[i].part <= b->s->said.n;
  return sound;
}

// The condition of a part is shown like a guard: a dashed, labelled line.
static bool is_life(const PanelBuilder *b, const PortEnd *to) {
  const System *of = to->part ? b->s->part.at[to->part - 1].of : NULL;
  return of && !strcmp(name_text(b->w->names, of->in.at[to->port].name), "while");
}

static uint32_t life_cable(PanelBuilder *b, const WireRoute *r, uint32_t owner) {
  uint32_t cable = route_cable(b, r, owner);
  if (!is_wire(r)) {
    b->p->cable.at[cable].dashed = true;
    return cable;
  }
  cable = label_cable(b, cable, node_text(b->w, b->arena, b->s, r->value), NULL, owner);
  b->p->unit.at[b->p->unit.n - 1].dashed = b->p->cable.at[cable].dashed = true;
  return cable;
}

// Several routes to one port join in a choice.
static void add_routes(PanelBuilder *b) {
  const System *s = b->s;
  Table *seen = table_new(b->arena);
  VEC(Ids) group = {0};
  for (uint32_t i = 0; i < s->route.n; i++) {
    const PortEnd *to = &s->route.at[i].to;
    uint32_t key[2] = {to->part, to->port};
    if (!route_is_sound(b, &s->route.at[i])) continue;
    uint32_t at = table_get(seen, key, sizeof key);
    if (!at)
      vec_push(b->arena, &group, (Ids){0}), at = group.n, table_put(seen, key, sizeof key, at);
    vec_push(b->arena, &group.at[at - 1], i);
  }
  for (uint32_t g = 0; g < group.n; g++) {
    const Ids *ids = &group.at[g];
    const PortEnd *to = &s->route.at[ids->at[0]].to;
    uint32_t unit = to->part ? b->part + to->part - 1 : inputs_of(s) + to->port;
    Unit choice = {.kind = UNIT_CHOICE, .owner = unit + 1};
    choice.said = said_node(b, s->route.at[ids->at[0]].value);
    Ids from = {0};
    for (uint32_t i = 0; i < ids->n; i++)
      vec_push(b->arena, &from,
               (is_life(b, to) ? life_cable : route_cable)(b, &s->route.at[ids->at[i]], unit));
    uint32_t cable = from.n > 1 ? cable_through(b, choice, &from, "one of these") : from.at[0];
    if (from.n > 1) name_for(b, cable, unit);
    panel_tie(b->p, cable, unit, to->part ? to->port : 0, false);
  }
}

// -- parts ----------------------------------------------------------------------------------------
static bool has_state(const System *s) { return s->state.n || s->own.n; }

static const char *count_of(const PanelBuilder *b, const Part *part) {
  if (!part->axes) return NULL;
  Buf sizes = buf_new(b->arena);
  for (uint32_t i = 0; i < part->axes; i++)
    buf_printf(&sizes, "%s%s", i ? " × " : "", size_text(b->w, part->axis[i].size));
  return arena_format(b->arena, "× %s", text_cut(b->arena, FACE_SERIF, WORD_SIZE, sizes.at, 60));
}

// The name with its period, and the number of ticks through which learning is unrolled: "m, every
// 10, unroll 4".
static const char *part_name(const PanelBuilder *b, const Part *part) {
  const char *unrolls = unrolls_text(b->w, b->arena, part->of);
  Buf out = buf_new(b->arena);
  buf_text(&out, cut_text(b, FACE_ITALIC, WORD_SIZE, name_text(b->w->names, part->name)));
  if (part->sampled) {
    buf_printf(&out, "%severy ", out.n ? ", " : "");
    buf_number(&out, part->every);
  }
  if (unrolls) buf_printf(&out, "%s%s", out.n ? ", " : "", unrolls);
  return out.n ? out.at : "";
}

static const char *title_cut(const PanelBuilder *b, const System *s) {
  const char *title = system_title(b->w, b->arena, s);
  return text_cut(b->arena, FACE_SANS, KIND_SIZE, title, LONG_FORMULA);
}

// If everything is opened, machines show their lines too.
static bool shows_lines(const PanelBuilder *b) { return b->levels > DEEPEST; }

static void add_lines(const PanelBuilder *b, const System *s, Unit *to) {
  system_lines(b->w, b->arena, s, &to->line);
  for (uint32_t i = 0; i < to->line.n; i++)
    to->line.at[i] = text_cut(b->arena, FACE_SANS, PORT_SIZE, to->line.at[i], LONGEST_LINE);
}

static bool route_reads(const WireRoute *r, uint32_t part, uint32_t port) {
  for (uint32_t k = 0; k < r->from.n; k++)
    if (r->from.at[k].part == part + 1 && r->from.at[k].port == port) return true;
  for (uint32_t k = 0; k < r->asked_ports.n; k++)
    if (r->asked_ports.at[k].part == part + 1 && r->asked_ports.at[k].port == port) return true;
  return false;
}

// Read by a wire, a line, or the update of a state.
static bool is_read(const System *s, uint32_t part, uint32_t port) {
  bool read = false;
  for (uint32_t i = 0; i < s->route.n; i++) read |= route_reads(&s->route.at[i], part, port);
  for (uint32_t i = 0; i < s->said.n; i++) read |= route_reads(&s->said.at[i].route, part, port);
  for (uint32_t i = 0; i < s->move.n; i++) read |= route_reads(&s->move.at[i], part, port);
  return read;
}

// The number of visible outputs: the last one, `mode`, only if a wire reads it.
static uint32_t shown_outputs(const PanelBuilder *b, const Part *part) {
  const System *s = part->of;
  bool own = b->s->wiring && !s->wiring && s->mode.n && s->out.n;
  if (!own || strcmp(name_text(b->w->names, s->out.at[s->out.n - 1].name), "mode")) return s->out.n;
  return s->out.n - !is_read(b->s, (uint32_t)(part - b->s->part.at), s->out.n - 1);
}

static Panel *wiring_panel(const PanelBuilder *outer, const Part *, const System *, uint32_t levels,
                           const bool *right);

static bool holds_part(void *at, const Syntax *n) {
  Span *part = at;
  bool here = n->kind == N_PART && n->span.file == part->file && n->span.at <= part->at &&
              n->span.at + n->span.n >= part->at + part->n;
  if (here) *part = n->span;
  return here;
}

// The complete line of its declaration.
static Span part_span(const PanelBuilder *b, const Part *part) {
  Span span = part->span;
  Nodes lines = system_statements(b->s);
  uint32_t first = 0, end = lines.n; // lines are in source order
  while (first + 1 < end) {
    uint32_t middle = (first + end) / 2;
    *(lines.at[middle]->span.at <= span.at ? &first : &end) = middle;
  }
  if (first < lines.n) syntax_any(lines.at[first], holds_part, &span);
  return span;
}

// right: [port] the side of each shared variable
static void add_part(PanelBuilder *b, const Part *part, const bool *right) {
  const System *s = part->of;
  Unit u = {.kind = UNIT_BOX, .name = part_name(b, part), .unnamed = s->shares};
  GroupOf *said = said_at(b, part->span.file ? part_span(b, part) : s->span);
  said->box = name_text(b->w->names, s->name);
  u.said = said;
  u.of = title_cut(b, s);
  u.count = count_of(b, part);
  u.state = has_state(s);
  for (uint32_t i = 0; i < s->mode.n; i++) vec_push(b->arena, &u.mode, name_cut(b, s->mode.at[i]));
  if (b->levels > 1 && s->wiring) {
    u.kind = UNIT_PANEL;
    u.inner = wiring_panel(b, part, s, b->levels - 1, right);
    u.inner->count = u.count, u.inner->said = said;
  } else if (shows_lines(b)) {
    add_lines(b, s, &u);
  }
  for (uint32_t i = 0; i < inputs_of(s); i++)
    vec_push(b->arena, s->shares && right && right[i] ? &u.out : &u.in,
             pin_of(b, s, &s->in.at[i], false));
  for (uint32_t i = 0; !s->shares && i < shown_outputs(b, part); i++)
    vec_push(b->arena, &u.out, pin_of(b, s, &s->out.at[i], false));
  u.words = unit_words(b->arena, &u);
  panel_add(b->p, u);
}

static void add_port(PanelBuilder *b, const Port *p, bool right) {
  Unit u = {.kind = right ? UNIT_OUT : UNIT_IN};
  vec_push(b->arena, right ? &u.in : &u.out, pin_of(b, b->s, p, !b->p->depth));
  panel_add(b->p, u);
}

// Ports of shared variables are placed on the nearer side.
static void add_own_ports(PanelBuilder *b, const bool *right) {
  const System *s = b->s;
  for (uint32_t i = 0; i < inputs_of(s); i++)
    add_port(b, &s->in.at[i], s->shares && right && right[i]);
  for (uint32_t i = 0; !s->shares && i < s->out.n; i++) add_port(b, &s->out.at[i], true);
}

// Each junction has one cable on each side.
static uint32_t shared_cable(PanelBuilder *b, const Unit *u, const char *words) {
  return panel_cable(b->p,
                     (Cable){.words = words, .said = u->said, .shared = true, .ink = INK_SERIES1});
}

static void tie_shared(PanelBuilder *b, uint32_t junction, uint32_t unit, uint32_t pin,
                       bool right) {
  Unit *u = &b->p->unit.at[junction];
  Pins *side = right ? &u->in : &u->out;
  uint32_t *own = &u->shared[!right];
  if (!*own) {
    vec_push(b->arena, side, (Pin){0});
    *own = side->n;
    panel_tie(b->p, shared_cable(b, u, u->words), junction, *own - 1, !right);
  }
  panel_tie(b->p, side->at[*own - 1].cable - 1, unit, pin, right);
}

// A part bound to one element of the variable: the index labels the line.
static void tie_place(PanelBuilder *b, uint32_t junction, uint32_t unit, uint32_t pin, bool right,
                      const char *place) {
  const char *words = arena_format(b->arena, "%s%s", b->p->unit.at[junction].words, place);
  Unit u = {.kind = UNIT_GUARD, .words = words, .ink = INK_SERIES1, .behind = right};
  u.said = b->p->unit.at[junction].said;
  if (!right) u.owner = unit + 1;
  u.text = text_cut(b->arena, FACE_SANS, PORT_SIZE, place, LONGEST);
  vec_push(b->arena, &u.in, (Pin){0});
  vec_push(b->arena, &u.out, (Pin){0});
  uint32_t label = panel_add(b->p, u), cable = shared_cable(b, &b->p->unit.at[junction], words);
  tie_shared(b, junction, label, 0, right);
  panel_tie(b->p, cable, label, 0, !right);
  panel_tie(b->p, cable, unit, pin, right);
}

static void tie_member(PanelBuilder *b, const Sides *sides, const JunctionMember *m,
                       uint32_t junction) {
  const PortEnd *e = &m->end;
  if (!e->part || e->part > b->s->part.n || !sides->right[e->part - 1]) return;
  const bool *right = sides->right[e->part - 1];
  uint32_t pin = 0;
  if (e->port >= b->s->part.at[e->part - 1].of->in.n) return;
  for (uint32_t i = 0; i < e->port; i++) pin += right[i] == right[e->port];
  uint32_t unit = b->part + e->part - 1;
  bool place = m->at && m->at->kind == N_AT;
  const char *text = place ? node_text(b->w, b->arena, b->s, at_brackets(m->at)) : "";
  if (place)
    tie_place(b, junction, unit, pin, right[e->port], text);
  else
    tie_shared(b, junction, unit, pin, right[e->port]);
}

// A shared state of the wiring is one unit. 0: no state of this name
static uint32_t state_unit(const PanelBuilder *b, Name name) {
  for (uint32_t i = 0; i < b->s->own.n; i++)
    if (b->s->own.at[i].name == name) return b->held[i];
  return 0;
}

static void add_junctions(PanelBuilder *b, const Sides *sides) {
  const System *s = b->s;
  for (uint32_t j = 0; j < s->junction.n; j++) {
    const Junction *k = &s->junction.at[j];
    Unit u = {.kind = UNIT_SHARED, .name = name_cut(b, k->name)};
    u.said = k->member.n ? said_node(b, k->member.at[0].at) : NULL;
    u.words = arena_format(b->arena, "shared variable %.80s", u.name);
    uint32_t held = state_unit(b, k->name), unit = held ? held - 1 : panel_add(b->p, u);
    for (uint32_t i = 0; i < k->member.n; i++) tie_member(b, sides, &k->member.at[i], unit);
    for (uint32_t i = 0; s->shares && k->outer && i < s->in.n; i++)
      if (s->in.at[i].name == k->name) tie_shared(b, unit, i, 0, !sides->out[i]);
  }
}

// -- states and lines -----------------------------------------------------------------------------
// Modes of the wiring itself are drawn as a graph inside, which has an output for the mode and
// inputs for ports used in conditions.
static bool add_modes(PanelBuilder *b) {
  const System *s = b->s;
  uint32_t state = s->modes.to.port - 1, ports[2] = {s->modes.from.n + s->modes.lines.n, 1};
  for (uint32_t i = 0; i < s->modes.states.n; i++)
    ports[0] += !own_state(s, s->modes.states.at[i])->late;
  ports[1] += s->mode_port.n + s->mode_state.n;
  Unit u = {
      .kind = UNIT_PANEL, .name = "mode", .unnamed = true, .graph = true, .words = "its modes"};
  u.inner = modes_inside(b->w, b->arena, s, b->p->depth + 1, ports);
  for (uint32_t i = 0; i < ports[0]; i++)
    vec_push(b->arena, &u.in, (Pin){.words = "read by modes"});
  for (uint32_t i = 0; i < ports[1]; i++)
    vec_push(b->arena, &u.out, (Pin){.words = "said by modes"});
  if (u.inner) b->held[state] = panel_add(b->p, u) + 1;
  return u.inner;
}

static void tie_modes(PanelBuilder *b) {
  const System *s = b->s;
  uint32_t at = s->modes.to.port ? b->held[s->modes.to.port - 1] : 0;
  if (!at || b->p->unit.at[at - 1].kind != UNIT_PANEL) return;
  Ids from = value_cables(b, &s->modes);
  for (uint32_t i = 0; i < from.n && i < b->p->unit.at[at - 1].in.n; i++)
    panel_tie(b->p, from.at[i], at - 1, i, false);
  for (uint32_t i = 0; i < s->mode_port.n; i++) {
    uint32_t port = inputs_of(s) + s->mode_port.at[i];
    if (!b->p->unit.at[port].in.at[0].cable)
      panel_tie(b->p, pin_cable(b, at - 1, i), port, 0, false);
  }
  for (uint32_t i = 0; i < s->mode_state.n; i++) {
    uint32_t state = b->held[s->mode_state.at[i]];
    if (state) panel_plug(b->p, pin_cable(b, at - 1, s->mode_port.n + i), state - 1, false);
  }
}

static void add_states(PanelBuilder *b) {
  const System *s = b->s;
  b->held = NEW_ARRAY(b->arena, uint32_t, moved_count(s) + 1);
  for (uint32_t i = 0; i < moved_count(s); i++) {
    const OwnState *o = own_state(s, i);
    if (o->late) continue; // drawn by the delayed line
    if (i + 1 == s->modes.to.port && add_modes(b)) continue;
    Unit u = {.kind = UNIT_STATE, .name = name_cut(b, o->name), .learns = o->learns};
    u.text = shown_type(b, &o->type, true);
    u.said = said_wire(b, o->span, o->name, &o->type);
    const char *more = state_text(b->w, b->arena, s, o->name, shows_lines(b));
    if (more && u.text) more = arena_format(b->arena, "%s %s", u.text, more);
    if (more) u.text = text_cut(b->arena, FACE_SANS, TYPE_SIZE, more, LONGEST_LINE);
    u.words = arena_format(b->arena, "state %.80s%s%.80s%s", u.name, u.text ? ": " : "",
                           u.text ? u.text : "", u.learns ? ", learns" : "");
    vec_push(b->arena, &u.out, (Pin){0});
    b->held[i] = panel_add(b->p, u) + 1;
  }
}

// A line is named unless the wiring has a port of that name.
static const char *said_text(PanelBuilder *b, const WireLine *l) {
  const System *s = b->s;
  const char *value = node_text(b->w, b->arena, s, l->route.value);
  for (uint32_t i = 0; l->name.n == 1 && i < s->out.n; i++)
    if (s->out.at[i].name == l->name.at[0]) return text_with_pad(b, value, &l->route);
  value = text_with_pad(b, value, &l->route);
  const char *whole = node_text(b->w, b->arena, s, l->node), *sign = strstr(whole, " = ");
  return sign ? arena_format(b->arena, "%.*s = %s", (int)(sign - whole), whole, value) : whole;
}

static void add_said(PanelBuilder *b) {
  b->said = b->p->unit.n;
  for (uint32_t i = 0; i < b->s->said.n; i++) {
    const WireLine *l = &b->s->said.at[i];
    Unit u = {.kind = UNIT_PLATE, .words = said_text(b, l), .state = l->late};
    u.said = said_node(b, l->node);
    plate_text(b, &u);
    for (uint32_t k = 0; k < l->name.n; k++) vec_push(b->arena, &u.out, (Pin){0});
    panel_add(b->p, u);
  }
}

static void tie_said(PanelBuilder *b) {
  for (uint32_t i = 0; i < b->s->said.n; i++) {
    Ids from = value_cables(b, &b->s->said.at[i].route);
    for (uint32_t k = 0; k < from.n; k++) panel_plug(b->p, from.at[k], b->said + i, false);
  }
}

// Draws updates of states.
static void add_moves(PanelBuilder *b) {
  for (uint32_t i = 0; i < b->s->move.n; i++) {
    const WireRoute *r = &b->s->move.at[i];
    if (r->to.port >= moved_count(b->s) || !b->held[r->to.port]) continue;
    uint32_t unit = b->held[r->to.port] - 1, cable = route_cable(b, r, unit);
    panel_plug(b->p, cable, unit, false);
  }
}

// Removes pins of lines without readers.
static void drop_loose(PanelBuilder *b) {
  for (uint32_t i = 0; i < b->p->unit.n; i++) {
    Unit *u = &b->p->unit.at[i];
    uint32_t n = 0;
    if (u->kind != UNIT_PLATE && u->kind != UNIT_STATE) continue;
    for (uint32_t k = 0; k < u->out.n; k++)
      if (u->out.at[k].cable) u->out.at[n++] = u->out.at[k];
    u->out.n = n;
  }
}

static void index_sources(PanelBuilder *b) {
  const System *s = b->s;
  uint32_t n = inputs_of(s);
  b->source = NEW_ARRAY(b->arena, uint32_t, s->part.n + 2);
  for (uint32_t i = 0; i < s->part.n; i++) b->source[i + 1] = n, n += s->part.at[i].of->out.n;
  b->cable = NEW_ARRAY(b->arena, uint32_t, n + 1);
}

// -- the panel ------------------------------------------------------------------------------------
// outer: the enclosing panel; NULL for the whole
static Panel *wiring_panel(const PanelBuilder *outer, const Part *part, const System *s,
                           uint32_t levels, const bool *right) {
  Arena *a = outer->arena;
  PanelBuilder b = {.w = outer->w, .arena = a, .s = s, .levels = levels, .p = NEW(a, Panel)};
  b.width = outer->width, b.inset = outer->inset;
  b.p->arena = a, b.p->kind = &wiring_kind;
  b.p->depth = outer->p ? outer->p->depth + 1 : 0;
  if (part) b.around = said_at(outer, part->span)->place;
  b.p->shares = s->shares;
  b.p->of = title_cut(&b, s);
  b.p->name = part && part->name != s->name && !s->shares ? part_name(&b, part) : "";
  b.p->words = arena_format(a, "%s%s%s", b.p->name, b.p->name[0] ? ": " : "", b.p->of);
  Sides sides = s->junction.n ? shared_sides(a, s, right) : (Sides){0};
  add_own_ports(&b, sides.out);
  b.part = b.p->unit.n;
  for (uint32_t i = 0; i < s->part.n; i++)
    add_part(&b, &s->part.at[i], sides.right ? sides.right[i] : NULL);
  index_sources(&b);
  add_states(&b);
  add_said(&b);
  if (!s->shares) add_routes(&b);
  tie_said(&b);
  add_moves(&b);
  tie_modes(&b);
  drop_loose(&b);
  add_junctions(&b, &sides);
  panel_finish(b.p);
  if (b.p->depth && b.width > 0) panel_rows(b.p, b.width - b.inset * b.p->depth);
  return b.p;
}

// A machine that is no wiring: a box with its ports
static Panel *machine_panel(World *w, Arena *a, const System *s) {
  PanelBuilder b = {.w = w, .arena = a, .s = s, .levels = 1, .p = NEW(a, Panel)};
  Part part = {.of = arena_copy(a, s, sizeof *s)};
  Buf states = buf_new(a);
  b.p->arena = a, b.p->kind = &wiring_kind;
  b.p->bare = true;
  b.p->shares = s->shares;
  b.p->of = b.p->name = b.p->words = "";
  add_own_ports(&b, NULL);
  b.part = b.p->unit.n;
  add_part(&b, &part, NULL);
  for (uint32_t i = 0; i < s->own.n; i++) {
    const char *name = name_text(w->names, s->own.at[i].name);
    if (s->mode.n && !strcmp(name, "mode")) continue; // the modes are shown anyway
    buf_printf(&states, "%s%.60s", states.n ? ", " : "", name);
  }
  Unit *box = &b.p->unit.at[b.part];
  if (states.n) box->name = cut_text(&b, FACE_ITALIC, WORD_SIZE, states.at);
  if (!box->line.n) add_lines(&b, s, box);
  for (uint32_t i = 0; i < box->in.n; i++)
    panel_tie(b.p, cable_from(&b, i, 0, ""), b.part, i, false);
  for (uint32_t i = 0; i < box->out.n; i++)
    panel_tie(b.p, cable_from(&b, b.part, i, ""), inputs_of(s) + i, 0, false);
  panel_finish(b.p);
  return b.p;
}

// -- the whole ------------------------------------------------------------------------------------
static uint32_t boxes_in(const System *s, uint32_t levels) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->part.n && n <= READABLE; i++) {
    const System *of = s->part.at[i].of;
    n += levels > 1 && of->wiring ? boxes_in(of, levels - 1) : 1;
  }
  return n;
}

// as many levels as stay readable
static uint32_t usual_levels(const System *s) {
  uint32_t levels = 1;
  while (levels < DEEPEST && boxes_in(s, levels + 1) <= READABLE) levels++;
  return levels;
}

static const char *machine_words(const Panel *p) {
  for (uint32_t i = 0; i < p->unit.n; i++)
    if (p->unit.at[i].kind == UNIT_BOX) return p->unit.at[i].words;
  return "";
}

static Panel *cut_panel(const PanelBuilder *outer, const System *s, uint32_t levels) {
  Panel *p = wiring_panel(outer, NULL, s, levels, NULL);
  if (outer->width > 0) panel_rows(p, outer->width - panel_outside(p));
  return p;
}

// Breaks nested panels only as far as needed for the total width; if that is impossible, as little
// as possible.
static Panel *fitting_panel(World *w, Arena *a, const System *s, uint32_t levels, double width) {
  PanelBuilder outer = {.w = w, .arena = a, .width = width, .inset = PANEL_INSET};
  Panel *first = cut_panel(&outer, s, levels), *p = first;
  double room = width - panel_outside(p);
  for (; width > 0 && p->width > room; p = cut_panel(&outer, s, levels)) {
    outer.inset += MODE_INSET - PANEL_INSET;
    if (outer.inset > width / 2) return first;
  }
  return p;
}

Canvas *wiring_draw(World *w, Arena *a, const System *s, const WiringOptions *how) {
  uint32_t levels = how && how->depth ? how->depth : usual_levels(s);
  const char *modes = NULL;
  double width = how && how->width != 0 ? how->width : WIDE;
  Panel *graph = !s->wiring ? modes_panel(w, a, s, width, &modes) : NULL;
  bool opened = s->wiring || s->learner.n; // a machine with learners is opened to show its lines
  Panel *p = graph    ? graph
             : opened ? fitting_panel(w, a, s, levels, width)
                      : machine_panel(w, a, s);
  if (width > 0 && !opened) panel_rows(p, width - panel_outside(p));
  const char *name = name_text(w->names, s->name);
  const char *about = graph ? modes : opened ? panel_about(a, p) : machine_words(p);
  Canvas *c = panel_draw(a, p, name, about);
  if (!how || !how->no_legend) wiring_legend(c, w, a, s, levels, levels > DEEPEST);
  return c;
}
