// Naming, connecting and swapping wires. A named value is read by its name; an unnamed one first
// gets a statement of its own before the statement that contains it. A body that is one expression
// is rewritten with braces.
#include "edit/gesture.h"

static bool is_claim(const Syntax *statement) {
  return statement && (statement->kind == N_GOAL || statement->kind == N_MEASURE ||
                       statement->kind == N_SHOW || statement->kind == N_CHECK);
}

// -- names ----------------------------------------------------------------------------------------
// A map or space of a learning diagram, by the name that it declares; where a line declares
// several, the one that `wire` says. NULL: neither.
static const Syntax *named_map(Gesture *g, const Found *f) {
  const Syntax *n = f->node;
  if (!found_around(f, N_DIAGRAM)) return NULL;
  if (n->kind == N_BOX || n->kind == N_SPACE) return n->name ? n : NULL;
  return n->kind == N_LEARNER ? name_meant(g, names_in(learner_names(n))) : NULL;
}

// The node that names a wire: the input, the left side of its equation, or the use itself. NULL:
// the wire has no name.
static const Syntax *named_by(Gesture *g, const Found *f) {
  const Syntax *around = found_parent(f, 1);
  const Syntax *drawn = named_map(g, f);
  if (drawn) return drawn;
  if (f->node->kind == N_PARAM) return f->node;
  if (f->node->kind == N_NAME && !is_box_place(f, f->depth)) return f->node;
  if (!around || around->kind != N_EQUATION || equation_value(around) != f->node) return NULL;
  const Syntax *only = lhs_meant(g, around);
  return only && !lhs_is_rate(only) && !equation_cond(around) ? only : NULL;
}

static Span name_place(const Syntax *n) { return n->kind == N_NAME ? n->span : n->name_span; }

// -- naming values --------------------------------------------------------------------------------
// The body of the enclosing box or learner if it is one expression over named inputs; otherwise
// NULL.
static const Syntax *expression_body(const Found *f, const Syntax **whole) {
  const Syntax *body;
  *whole = found_whole(f, &body);
  bool box = *whole && ((*whole)->kind == N_BOX || (*whole)->kind == N_LEARNER);
  return box && declared_params(*whole) && body && body->kind != N_BLOCK ? body : NULL;
}

// Is it inside a statement of a body?
static bool has_line(const Found *f) {
  const Syntax *body;
  return found_whole(f, &body) && body && body->kind == N_BLOCK && body->span.at < f->node->span.at;
}

// Rewrites = e to { name = …, return e }.
static bool open_body(Gesture *g, const Found *f, const char *name) {
  const Syntax *whole = NULL, *body = expression_body(f, &whole);
  const char *value = source_text(g, f->node->span), *nl = line_break(g);
  if (!body)
    return refuse_gesture(g, "`%s` stands where lines have no names: a body in `{ }` has some",
                          value);
  uint32_t sign = body->span.at;
  while (sign > whole->span.at && g->text[sign] != '=') sign--;
  replace_text(g, sign, body->span.at - sign,
               arena_format(g->arena, "{%s  %s = %s%s  return ", nl, name, value, nl));
  select_text(g, name);
  replace_text(g, f->node->span.at, f->node->span.n, name);
  replace_text(g, span_end(body), 0, arena_format(g->arena, "%s}", nl));
  if (body != f->node) return true;
  g->change.n -= 2; // the new statement replaces the whole body
  g->change.at[g->change.n - 1].n = span_end(body) - sign;
  g->change.at[g->change.n - 1].text =
      arena_format(g->arena, "{%s  %s = %s%s  return %s%s}", nl, name, value, nl, name, nl);
  return true;
}

// Does it contain an indexed read, as x[i]? (f[3](x) is no such read.) *at: its span.
static bool reads_index(void *at, const Syntax *n) {
  const Syntax **found = at;
  Nodes parts = syntax_parts(n);
  bool boxes = n->kind == N_PIPE || n->kind == N_FAN || n->kind == N_ITEMS;
  for (uint32_t i = n->kind == N_CALL; i < parts.n && !boxes && !*found; i++)
    if (parts.at[i] && parts.at[i]->kind == N_AT) *found = parts.at[i];
  return *found;
}

static bool hoist(Gesture *g, const Found *f, const char *name) {
  const Syntax *line = found_statement(f), *index = f->node->kind == N_AT ? f->node : NULL;
  if (is_claim(line))
    return refuse_gesture(g, "a goal, a measure or a show is one expression, whose wires have no "
                             "names: a box can have some");
  if (is_box_place(f, f->depth))
    return refuse_gesture(g, "boxes with `;` between them have no names for their wires: write "
                             "`y = f(x)` in a body");
  if (index || syntax_any(f->node, reads_index, &index))
    return refuse_gesture(g, "`%s` is read by an index that only this line has",
                          source_text(g, index->span));
  if (!has_line(f)) return open_body(g, f, name);
  insert_line_before(g, line,
                     arena_format(g->arena, "%s = %s", name, source_text(g, f->node->span)));
  select_text(g, name);
  replace_text(g, f->node->span.at, f->node->span.n, name);
  return true;
}

static bool rename_to(Gesture *g, const Syntax *old, const char *name) {
  EditQuestion q = *g->q;
  Spans places = {0};
  q.at = position_at(&q, name_place(old).at);
  q.text = name;
  if (strcmp(source_text(g, name_place(old)), name) == 0) return true;
  if (!rename_places(&q, &places)) return refuse_gesture(g, "%s", q.refused);
  for (uint32_t i = 0; i < places.n; i++) replace_text(g, places.at[i].at, places.at[i].n, name);
  return true;
}

static bool is_value(Gesture *g, const Found *f) {
  const Syntax *around = found_parent(f, 1);
  bool value = around && !f->name && around->kind != N_NAMES && !found_around(f, N_TYPES) &&
               !found_around(f, N_SIG) && f->node->kind != N_TYPE && f->node->kind < N_BRACKETS &&
               f->node->kind != N_ERROR;
  if (is_header_type(f))
    return refuse_gesture(g, "what comes in here has no name: a header as `f(x: %s)` gives it one",
                          source_text(g, f->node->span));
  return value || refuse_gesture(g, "`%s` is no wire", source_text(g, g->where));
}

bool gesture_name_wire(Gesture *g) {
  Found f;
  const char *name = find_wire(g, "at", &f) ? gesture_name(g, "name") : NULL;
  if (!name) return false;
  const Syntax *old = named_by(g, &f);
  if (old) return rename_to(g, old, name);
  return is_value(g, &f) && hoist(g, &f, name);
}

const char *wire_text(Gesture *g, const Found *f) {
  const Syntax *old = named_by(g, f);
  if (old) return name_of_node(g, old);
  return is_value(g, f) ? source_text(g, f->node->span) : NULL;
}

// -- one more reader ------------------------------------------------------------------------------
// The text that reads this wire. A wire without a name gets one.
static const char *read_wire(Gesture *g, const Found *f) {
  const Syntax *old = named_by(g, f);
  if (old) return name_of_node(g, old);
  if (!is_value(g, f)) return NULL;
  bool again =
      f->node->kind == N_DOT || f->node->kind == N_NUM; // a port or a number is copied as written
  if (again || is_claim(found_statement(f))) return source_text(g, f->node->span);
  const char *like = f->node->kind == N_CALL ? "y" : "x", *name = fresh_name(g, like);
  return hoist(g, f, name) ? name : NULL;
}

// Sets the k-th argument of a call, counted from 0; k may be one past the last.
static bool put_argument(Gesture *g, const Syntax *call, const Json *port, const char *text) {
  Nodes args = call_args(call);
  uint32_t i = port->natural && port->number <= args.n ? (uint32_t)port->number : args.n + 1;
  if (i > args.n)
    return refuse_gesture(g, "`%s` has %u inputs here", source_text(g, call_callee(call)->span),
                          args.n);
  if (i < args.n)
    replace_text(g, arg_given(args.at[i])->span.at, arg_given(args.at[i])->span.n, text);
  else
    replace_text(g, span_end(call) - 1, 0, args.n ? arena_format(g->arena, ", %s", text) : text);
  return true;
}

// Moves to the only input of a box that is no literal number. False: refused.
static bool find_input(Gesture *g, Found *box) {
  bool call = box->node->kind == N_CALL;
  Nodes parts = call ? call_args(box->node) : syntax_parts(box->node);
  const Syntax *only = NULL;
  uint32_t inputs = 0;
  for (uint32_t i = 0; i < parts.n; i++) {
    const Syntax *one = parts.at[i] && call ? arg_given(parts.at[i]) : parts.at[i];
    if (one && one->kind != N_NUM) only = one, inputs++;
  }
  if (inputs == 1) return find_node(g, only, box), true;
  return refuse_gesture(g,
                        inputs ? "`%s` reads several wires: choose the one whose place it takes"
                               : "`%s` reads no wire",
                        source_text(g, box->node->span));
}

static bool put_value(Gesture *g, const Found *f, const char *text, bool primary) {
  const char *apart =
      primary || is_alone(f, f->depth) ? text : arena_format(g->arena, "(%s)", text);
  if (strcmp(source_text(g, f->node->span), text) != 0)
    replace_text(g, f->node->span.at, f->node->span.n, apart);
  return true;
}

static bool span_holds(const Syntax *n, const Syntax *inner) {
  return n->span.at <= inner->span.at && span_end(inner) <= span_end(n);
}

static bool connect_to(Gesture *g, const Found *from) {
  Found to;
  const Json *port = json_get(g->edit, "port");
  if (!find_wire(g, "to", &to)) return false;
  find_use(g, &to);
  if (to.node->kind == N_PARAM)
    return refuse_gesture(g, "`%s` is read in several places: which input is meant?",
                          name_of_node(g, to.node));
  bool inside = span_holds(to.node, from->node);
  if (port && port->kind == JSON_NUMBER && to.node->kind == N_CALL) {
    const char *text = read_wire(g, from);
    return text && put_argument(g, to.node, port, text);
  }
  if (is_box_place(&to, to.depth))
    return refuse_gesture(g,
                          "`%s` has no wires written to it: boxes with `;` between them read "
                          "what the one before gives",
                          source_text(g, to.node->span));
  if (!is_value(g, &to)) return false;
  if (port && port->kind == JSON_NULL) {
    if (!find_input(g, &to)) return false;
    if (to.node == from->node) return true; // it is already connected
    inside = span_holds(to.node, from->node);
  }
  if (inside && to.node != from->node)
    return refuse_gesture(g, "`%s` is made of this wire: it would be lost",
                          source_text(g, to.node->span));
  const char *text = read_wire(g, from);
  bool primary =
      text && (named_by(g, from) || !is_claim(found_statement(from)) || is_primary(from->node));
  return text && put_value(g, &to, text, primary);
}

bool gesture_connect(Gesture *g) {
  Found from;
  return find_wire(g, "from", &from) && connect_to(g, &from);
}

bool gesture_copy(Gesture *g) {
  Found f;
  if (!find_wire(g, "at", &f)) return false;
  if (gesture_text(g, "to")) return connect_to(g, &f);
  const Syntax *old = named_by(g, &f);
  if (old)
    return refuse_gesture(g, "`%s` can be read again as it is: connect it to an input",
                          name_of_node(g, old));
  if (is_claim(found_statement(&f)))
    return refuse_gesture(g, "a wire of a goal is read again by connecting it to an input");
  const char *name = read_wire(g, &f);
  if (name) g->note = arena_format(g->arena, "`%s` can be read by others now", name);
  return name;
}

// -- two inputs -----------------------------------------------------------------------------------
bool gesture_swap(Gesture *g) {
  Found a, b;
  if (!find_wire(g, "with", &b) || !find_wire(g, "at", &a)) return false;
  find_use(g, &a), find_use(g, &b);
  bool boxes = is_box_place(&a, a.depth), both = is_box_place(&b, b.depth) == boxes;
  if (!both) return refuse_gesture(g, "one of them is a box and the other one a value");
  if (!boxes && (!is_value(g, &a) || !is_value(g, &b))) return false;
  return put_value(g, &a, source_text(g, b.node->span), is_primary(b.node)) &&
         put_value(g, &b, source_text(g, a.node->span), is_primary(a.node));
}
