// Inserting, removing and replacing boxes. A program can write them as a call f(x), as a stage f ;
// g, or as a statement x = f(x). Each edit uses the form that is already there.
#include "edit/gesture.h"

static bool is_compound(SyntaxKind kind) { return kind == N_PIPE || kind == N_FAN; }

// The source of a box in callee position: (f ; g)(x).
static const char *as_callee(Gesture *g, const char *box, SyntaxKind kind) {
  bool bare = kind == N_NAME || kind == N_AT || kind == N_DOT || kind == N_PAREN || kind == N_TUPLE;
  return bare ? box : arena_format(g->arena, "(%s)", box);
}

// -- insert ---------------------------------------------------------------------------------------
// x becomes box(x). (a + b) * c becomes box(a + b) * c.
static bool wrap_in_call(Gesture *g, const Found *f, const char *box) {
  const Syntax *n = f->node, *around = found_parent(f, 1);
  bool hugged = around && around->kind == N_PAREN && !is_primary(n) && !is_alone(f, f->depth - 1) &&
                around->span.at + 1 == n->span.at && span_end(around) == span_end(n) + 1;
  if (n->kind == N_TUPLE || hugged) {
    replace_text(g, hugged ? around->span.at : n->span.at, 0, box);
    return true;
  }
  replace_text(g, n->span.at, 0, arena_format(g->arena, "%s(", box));
  select_text(g, box);
  replace_text(g, span_end(n), 0, ")");
  return true;
}

// f becomes f ; box.
static bool append_stage(Gesture *g, const Found *f, const char *box) {
  const Syntax *n = f->node, *around = found_parent(f, 1);
  bool chain = around->kind == N_PIPE || n->kind == N_PIPE || is_alone(f, f->depth) ||
               around->kind == N_ITEMS;
  if (!chain) replace_text(g, n->span.at, 0, "(");
  replace_text(g, span_end(n), 0, arena_format(g->arena, chain ? " ; %s" : " ; %s)", box));
  select_text(g, box);
  return true;
}

// Adds a first stage to a body that is written without wire names.
static bool prepend_stage(Gesture *g, const Syntax *body, const char *box) {
  if (!body) return refuse_gesture(g, "this learner has no body that a box could go into");
  bool lower = body->kind == N_WHEN;
  if (lower) replace_text(g, body->span.at, 0, "(");
  replace_text(g, body->span.at, 0, arena_format(g->arena, "%s ; ", box));
  select_text(g, box);
  if (lower) replace_text(g, span_end(body), 0, ")");
  return true;
}

// Inserts x = box(x) as the first statement of the body.
static bool rebind(Gesture *g, const Syntax *block, const char *name, const char *box) {
  insert_line_before(g, block_statements(block).at[0],
                     arena_format(g->arena, "%s = %s(%s)", name, box, name));
  return true;
}

// Inserts a box at an input: around its only use, or as a statement before all uses.
static bool insert_at_input(Gesture *g, const Found *f, const char *box) {
  const Syntax *body, *whole = found_whole(f, &body);
  const char *name = name_of_node(g, f->node);
  if (!body)
    return refuse_gesture(g, "`%s` is only declared here: put the box where it is used", name);
  InputUses u = input_uses(f);
  if (!u.uses) return refuse_gesture(g, "nothing reads `%s` yet", name);
  bool lines = body->kind == N_BLOCK && whole->kind != N_MACHINE;
  if (lines && (u.uses > 1 || u.indexed)) return rebind(g, body, name, box);
  if (u.uses > 1 || u.indexed)
    return refuse_gesture(g,
                          whole->kind == N_MACHINE
                              ? "`%s` is read in several places of this machine: put the box "
                                "where it is used"
                              : "`%s` is read in several places of one expression: a body in "
                                "`{ }` can say first what is done to it",
                          name);
  replace_text(g, u.last->span.at, 0, arena_format(g->arena, "%s(", box));
  select_text(g, box);
  replace_text(g, span_end(u.last), 0, ")");
  return true;
}

// An equation with indices, y[i] = …, cannot be wrapped: insert y = box(y) after it.
static bool insert_after_equation(Gesture *g, const Found *f, const char *box) {
  const Syntax *equation = found_parent(f, 1), *around = found_parent(f, 2);
  const Syntax *only = lhs_meant(g, equation);
  if (!only) return refuse_gesture(g, "this line gives several wires: which one is meant?");
  const char *name = name_of_node(g, only);
  if (lhs_is_rate(only)) return wrap_in_call(g, f, box);
  if (around->kind == N_RETURN) {
    replace_text(g, around->span.at, equation->span.at - around->span.at, "");
    insert_line_after(g, around, arena_format(g->arena, "return %s(%s)", box, name));
    return true;
  }
  insert_line_after(g, equation, arena_format(g->arena, "%s = %s(%s)", name, box, name));
  return true;
}

bool is_header_type(const Found *f) {
  const Syntax *sig = found_around(f, N_SIG);
  return f->node->kind == N_TYPE && sig && sig_from(sig) &&
         sig_from(sig)->span.at <= f->node->span.at && span_end(f->node) <= span_end(sig_from(sig));
}

static bool has_indices(const Syntax *equation) {
  return equation && equation->kind == N_EQUATION && !plain_lhs(equation);
}

bool gesture_insert(Gesture *g) {
  Found f;
  SyntaxKind kind;
  const char *box = find_wire(g, "at", &f) ? gesture_wants(g, "box") : NULL;
  if (!box || !read_box(g, box, &kind)) return false;
  const Syntax *around = found_parent(&f, 1), *edge = body_of(f.node);
  if (is_header_type(&f)) {
    const Syntax *body;
    found_whole(&f, &body);
    return prepend_stage(g, body, box);
  }
  if (f.node->kind == N_PARAM) return insert_at_input(g, &f, as_callee(g, box, kind));
  if (edge && edge->kind != N_BLOCK && !f.name) {
    f.path[++f.depth] = f.node = edge;
    return append_stage(g, &f, box);
  }
  if (f.name || edge || !around || around->kind == N_NAMES || f.node->kind >= N_BRACKETS)
    return refuse_gesture(g, "`%s` is no wire that a box could go onto", source_text(g, g->where));
  if (found_around(&f, N_ORDER))
    return refuse_gesture(g, "a route names maps: put the box into one of them");
  if (is_box_place(&f, f.depth)) return append_stage(g, &f, box);
  if (has_indices(around) && equation_value(around) == f.node)
    return insert_after_equation(g, &f, as_callee(g, box, kind));
  return wrap_in_call(g, &f, as_callee(g, box, kind));
}

// -- remove ---------------------------------------------------------------------------------------
static uint32_t position_in(Nodes list, const Syntax *n) {
  uint32_t i = 0;
  while (i < list.n && list.at[i] != n) i++;
  return i;
}

// Removes one stage of f ; g ; h with a `;` beside it. If one stage is left in parentheses that it
// does not need, these are removed too.
static bool drop_stage(Gesture *g, const Found *f) {
  const Syntax *pipe = found_parent(f, 1), *paren = found_parent(f, 2);
  Nodes all = pipe_stages(pipe);
  uint32_t i = position_in(all, f->node);
  const Syntax *left = all.n == 2 ? all.at[!i] : NULL;
  bool bare =
      left && is_primary(left) && paren && paren->kind == N_PAREN && is_box_place(f, f->depth - 2);
  if (bare) replace_text(g, paren->span.at, pipe->span.at - paren->span.at, "");
  if (i)
    delete_text(g, span_end(all.at[i - 1]), span_end(f->node));
  else
    delete_text(g, f->node->span.at, all.at[1]->span.at);
  if (bare) replace_text(g, span_end(pipe), span_end(paren) - span_end(pipe), "");
  return true;
}

// The argument that replaces the call: its only one, or the one that `keep` names.
static const Syntax *kept_argument(Gesture *g, const Syntax *call) {
  Nodes args = call_args(call);
  Found keep;
  Span where = g->where;
  const char *name = source_text(g, call_callee(call)->span);
  if (gesture_text(g, "keep")) {
    if (!find_at(g, "keep", &keep)) return NULL;
    for (uint32_t i = 0; i < args.n; i++)
      if (arg_given(args.at[i]) == keep.node) return g->where = where, keep.node;
    refuse_gesture(g, "`%s` is no argument of `%s`", source_text(g, keep.node->span), name);
    return NULL;
  }
  if (args.n == 1) return arg_given(args.at[0]);
  if (!args.n)
    refuse_gesture(g, "`%s` takes no wire, so none could stay", name);
  else
    refuse_gesture(g,
                   "`%s` takes %u wires, and one of them would have to stay: take away what is "
                   "before it, or put another box in its place",
                   name, args.n);
  return NULL;
}

// Replaces box(x) by x; deletes the statement x = box(x).
static bool remove_call(Gesture *g, const Found *f) {
  const Syntax *call = f->node, *around = found_parent(f, 1), *lhs = NULL;
  const Syntax *keep = kept_argument(g, call);
  if (!keep) return false;
  if (around->kind == N_EQUATION) lhs = plain_lhs(around);
  if (lhs && keep->kind == N_NAME && keep->name == lhs->name) {
    delete_line(g, around);
    return true;
  }
  bool bare = is_primary(keep) || is_alone(f, f->depth);
  uint32_t open = keep->span.at, close = span_end(keep);
  if (!bare) // keep or add parentheses around the argument
    replace_text(g, call->span.at, open - call->span.at, "("),
        replace_text(g, close, span_end(call) - close, ")");
  else
    delete_text(g, call->span.at, open), delete_text(g, close, span_end(call));
  return true;
}

static bool drop_statement(Gesture *g, const Found *f) {
  const Syntax *n = f->node, *learn = found_parent(f, 1);
  if (n->kind == N_LEARNER && learn->kind == N_LEARN) {
    if (learn_learners(learn).n > 1)
      return refuse_gesture(g, "several learners are declared on this line");
    n = learn;
  }
  delete_line(g, n);
  return true;
}

static bool is_statement(const Syntax *n) {
  switch (n->kind) {
  case N_BOX:
  case N_LEARNER:
  case N_PART:
  case N_ROUTE:
  case N_SPACE:
  case N_GOAL:
  case N_ORDER:
  case N_MODE:
  case N_JUMP:
  case N_CHECK:
  case N_EQUATION: return true;
  default: return false;
  }
}

bool gesture_remove(Gesture *g) {
  Found f;
  if (!find_at(g, "at", &f)) return false;
  const Syntax *around = found_parent(&f, 1);
  if (is_statement(f.node) && (!f.name || f.node->kind == N_SPACE)) return drop_statement(g, &f);
  if (f.node->kind == N_CALL && !is_box_place(&f, f.depth)) return remove_call(g, &f);
  if (around && around->kind == N_PIPE && !found_around(&f, N_ORDER)) return drop_stage(g, &f);
  if (is_box_place(&f, f.depth) && around->kind != N_ITEMS && around->kind != N_CALL) {
    replace_text(g, f.node->span.at, f.node->span.n, "id");
    return true;
  }
  return refuse_gesture(g, "`%s` is no box that could go and leave its wire",
                        source_text(g, g->where));
}

// -- replace --------------------------------------------------------------------------------------
// Replaces a + b by box(a, b).
static bool replace_sign(Gesture *g, const Syntax *n, const char *box) {
  Nodes terms = chain_terms(n);
  if (terms.n != 2) return refuse_gesture(g, "several signs stand here: which one is meant?");
  replace_text(g, n->span.at, 0, arena_format(g->arena, "%s(", box));
  select_text(g, box);
  replace_text(g, span_end(terms.at[0]), terms.at[1]->span.at - span_end(terms.at[0]), ", ");
  replace_text(g, span_end(n), 0, ")");
  return true;
}

static bool replace_node(Gesture *g, const Syntax *old, const char *box) {
  if (strcmp(source_text(g, old->span), box) != 0) replace_text(g, old->span.at, old->span.n, box);
  return true;
}

bool gesture_replace(Gesture *g) {
  Found f;
  SyntaxKind kind;
  const char *box = find_at(g, "at", &f) ? gesture_wants(g, "box") : NULL;
  if (!box || !read_box(g, box, &kind)) return false;
  const Syntax *around = found_parent(&f, 1), *body = body_of(f.node);
  if (f.node->kind == N_PART) return replace_node(g, part_machine(f.node), box);
  if (body && body->kind != N_BLOCK) return replace_node(g, body, box);
  if (f.node->kind == N_CALL && !is_box_place(&f, f.depth))
    return replace_node(g, call_callee(f.node), as_callee(g, box, kind));
  if (is_box_place(&f, f.depth) && !found_around(&f, N_ORDER)) {
    bool apart = is_compound(kind) && !(around->kind == N_PIPE || is_alone(&f, f.depth));
    return replace_node(g, f.node, apart ? arena_format(g->arena, "(%s)", box) : box);
  }
  if (f.node->kind == N_SUM || f.node->kind == N_PROD)
    return replace_sign(g, f.node, as_callee(g, box, kind));
  return refuse_gesture(g, "`%s` is no box that another could replace", source_text(g, g->where));
}
