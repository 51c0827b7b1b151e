// Partial diagrams of boxes and goals with errors, for pictures.
//
// Input: a box that does not check. Output: a diagram as far as it can be made, and a list of error
// marks: message, failed expression, faulty wires. The body is elaborated again with its own
// diagnostics and a trace. For each expression that fails, the trace emits a placeholder box: the
// expression's operands go in, an untyped wire comes out, and the error value remembers it as its
// ghost, so that later expressions connect to it. Errors that only follow from others get a
// placeholder without a mark.
//
// Invariant: only bodies elaborated here have a trace, so correct programs never come here, and no
// Program holds a diagram made here.
#include "lang/elab/partial.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/ops.h"
#include "lang/elab/body.h"

typedef struct {
  Span span; // its position in the text
  Value value;
} SeenWire;

struct PartialTrace {
  PartialDiagram *out;
  const Diags *said;  // the messages of the program
  VEC(SeenWire) seen; // values of parts of the current expression
  uint32_t told;      // messages of this trace that have a mark
};

// -- messages -------------------------------------------------------------------------------------
bool spans_meet(Span a, Span b) {
  return a.file && a.file == b.file && a.at < b.at + b.n && b.at < a.at + a.n;
}

static bool same_place(Span a, Span b) { return a.file == b.file && a.at == b.at && a.n == b.n; }

bool has_error_mark(const PartialDiagram *k, Span span) {
  for (uint32_t i = 0; i < k->slip.n; i++)
    if (same_place(k->slip.at[i].span, span)) return true;
  return false;
}

static bool has_news(const Body *b) {
  const Diags *d = b->w->diags;
  for (uint32_t i = b->trace->told; i < d->list.n; i++)
    if (d->list.at[i].kind == DIAG_ERROR) return true;
  return false;
}

typedef struct {
  Id wire;
  Span span;
} ShownOperand;
typedef VEC(ShownOperand) ShownOperands;

static bool is_clash(Body *b, const Axis *axis, const Axis *clash) {
  if (clash->decl) return axis->decl == clash->decl;
  return clash->size && size_now(b->w, axis->size) == size_now(b->w, clash->size);
}

// Marks the axes that failed to unify, or the whole wire if they are unknown.
static void add_faulty(Body *b, ErrorMark *s, Id wire, bool left, bool right) {
  const Type *t = &b->d->wire.at[wire].type;
  uint32_t before = s->wire.n;
  for (uint32_t i = 0; i < t->rank; i++)
    if ((left && is_clash(b, &t->axis[i], &b->in->clash[0])) ||
        (right && is_clash(b, &t->axis[i], &b->in->clash[1])))
      vec_push(b->w->arena, &s->wire, (FaultyWire){wire, i + 1});
  if (s->wire.n == before) vec_push(b->w->arena, &s->wire, (FaultyWire){wire, 0});
}

// A mark for a message: operands at its span or its note's span are faulty.
static void add_mark(Body *b, const Diag *e, Id box, const ShownOperands *given) {
  ErrorMark s = {.span = e->span, .text = e->text, .box = box};
  bool two = false;
  for (uint32_t i = 0; given && i < given->n && e->note; i++)
    two |= spans_meet(given->at[i].span, e->note_span);
  for (uint32_t i = 0; given && i < given->n; i++) {
    bool here = spans_meet(given->at[i].span, e->span),
         there = e->note && spans_meet(given->at[i].span, e->note_span);
    if (here || there) add_faulty(b, &s, given->at[i].wire, !two || there, !two || here);
  }
  vec_push(b->w->arena, &b->trace->out->slip, s);
}

// Attaches all new messages to this box; 0: to none.
static void mark_messages(Body *b, Id box, const ShownOperands *given) {
  const Diags *d = b->w->diags;
  for (; b->trace->told < d->list.n; b->trace->told++)
    if (d->list.at[b->trace->told].kind == DIAG_ERROR)
      add_mark(b, &d->list.at[b->trace->told], box, given);
  memset(b->in->clash, 0, sizeof b->in->clash);
}

static Span broken_part(Body *b, const Syntax *n) {
  const Syntax *name = use_callee(n);
  if (name->kind == N_AT) name = at_base(name);
  const Def *d = name->kind == N_NAME ? scope_find(b->env->scope, name->name) : NULL;
  if (!d) return (Span){0};
  if (d->kind == DEF_GIVEN) return b->in->program->given.at[d->given].node->span;
  return d->node ? d->node->span : (Span){0};
}

// An error that is silent here was reported elsewhere: in this expression, in a use of it, or at a
// declaration it refers to.
static void mark_earlier_message(Body *b, const Syntax *n, Id box, const ShownOperands *given) {
  const Diags *d = b->trace->said;
  Span declared = broken_part(b, n);
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Diag *e = &d->list.at[i];
    if (e->kind != DIAG_ERROR || has_error_mark(b->trace->out, e->span)) continue;
    if (!spans_meet(e->span, n->span) && !(e->note && same_place(e->note_span, n->span)) &&
        !spans_meet(e->span, declared))
      continue;
    add_mark(b, e, box, given);
    return;
  }
}

// -- placeholder boxes ----------------------------------------------------------------------------
enum { MOST = 64 }; // most operands of a placeholder

static void add_operand(Body *b, ShownOperands *o, Id wire, Span span) {
  if (o->n == MOST) return;
  for (uint32_t i = 0; i < o->n; i++)
    if (o->at[i].wire == wire && same_place(o->at[i].span, span)) return;
  if (wire) vec_push(b->w->arena, o, (ShownOperand){wire, span});
}

static void add_leaves(Body *b, ShownOperands *o, const Expr *x, Span span) {
  if (!x) return;
  if (x->kind == X_WIRE) add_operand(b, o, x->wire, span);
  for (uint32_t i = 0; x->kind == X_WIRE && i < x->nlabel; i++) add_leaves(b, o, x->label[i], span);
  for (uint32_t i = 0; x->kind == X_FN && i < fn_rows[x->fn].arity; i++)
    add_leaves(b, o, x->arg[i], span);
}

// Before an equation is complete its values have no sizes; then the wires they read are taken as
// operands.
static void add_value(Body *b, ShownOperands *o, const Value *v, Span span) {
  for (uint32_t i = 0; i < v->n; i++) {
    Val one = v->at[i];
    if (one.error)
      add_operand(b, o, one.ghost, span);
    else if (one.indexed)
      add_leaves(b, o, one.x, span);
    else if (!one.literal)
      add_operand(b, o, val_to_wire(b, &one, 0), span);
  }
}

static Id unknown_box(Body *b, const char *word, const ShownOperands *o, const Type *out,
                      Span span) {
  World *w = b->w;
  Diagram *callee = diagram_new(w, name_from(w->names, word));
  Ids in = {0};
  for (uint32_t i = 0; i < o->n; i++) {
    vec_push(w->arena, &in, o->at[i].wire);
    diagram_input(w, callee, b->d->wire.at[o->at[i].wire].type, 0, 0);
  }
  diagram_output(w, callee, diagram_wire(w, callee, out ? *out : (Type){0}, 0, 0));
  Id wire = box_call(w, b->d, callee, in.at, in.n, origin_at(b, span));
  b->d->wire.at[wire].type = out ? *out : (Type){0};
  vec_push(w->arena, &b->trace->out->unknown, b->d->wire.at[wire].box);
  return wire;
}

// A short label for an expression.
static const char *word_of(Body *b, const Syntax *n) {
  World *w = b->w;
  switch (n->kind) {
  case N_NAME:
  case N_NEXT: return name_text(w->names, n->name);
  case N_CALL: return word_of(b, call_callee(n));
  case N_OVER:
  case N_PAREN: return word_of(b, first_box(n));
  case N_AT: return word_of(b, at_base(n));
  case N_SUM: return sum_sign(n, 1) == SIGN_MINUS ? "−" : "+";
  case N_RUN:
  case N_PROD: return "×";
  case N_POW: return "^";
  case N_NEG: return "−";
  case N_CMP:
    return cmp_sign(n) == SIGN_AT_MOST ? "≤" : cmp_sign(n) == SIGN_AT_LEAST ? "≥" : syntax_signs(n);
  case N_WHEN: return "when";
  case N_NOT: return "not";
  case N_AND: return "and";
  case N_OR: return "or";
  default: return "";
  }
}

static bool wants_ghost(const Value *v) {
  for (uint32_t i = 0; i < v->n; i++)
    if (v->at[i].error && !v->at[i].ghost) return true;
  return false;
}

// Replaces an unread box by the last one, the placeholder. Returns its output.
static Id put_in_place(Body *b, Id old) {
  Box *from = &b->d->box.at[old + 1], *to = &b->d->box.at[old];
  Ids *unknown = &b->trace->out->unknown;
  to->op = from->op, to->callee = from->callee;
  to->in = from->in, to->nin = from->nin;
  to->nout = 1;
  b->d->box.n--, b->d->wire.n--;
  unknown->at[unknown->n - 1] = old;
  return to->out[0];
}

// A typed value with an error: a placeholder of the same type takes its place.
static bool typed_again(Body *b, Value *v, const char *word, const ShownOperands *o, Span span) {
  if (v->n != 1 || v->at[0].error || v->at[0].literal || v->at[0].indexed) return false;
  val_settle(b, &v->at[0]);
  Id made = val_is_plain(b, &v->at[0]) ? b->d->wire.at[v->at[0].x->wire].box : 0;
  if (made && b->d->box.at[made].op == OP_call) { // the call box itself gets the mark
    vec_push(b->w->arena, &b->trace->out->unknown, made);
    mark_messages(b, made, o);
    return true;
  }
  Type t = v->at[0].type;
  Id old = v->at[0].x->kind == X_WIRE ? v->at[0].x->wire : 0;
  bool last = made && made + 1 == b->d->box.n && b->d->wire.at[old].port == 0;
  for (uint32_t i = 0; i < o->n; i++) last &= o->at[i].wire != old; // then it is read
  Id wire = unknown_box(b, word, o, &t, span);
  if (last) wire = put_in_place(b, made);
  v->at[0] = val_wire(b, wire, span);
  mark_messages(b, b->d->wire.at[wire].box, o);
  return true;
}

static Value replace_failed(Body *b, const Syntax *n, const char *word, ShownOperands *o, Value v,
                            Span span) {
  bool news = has_news(b);
  if (wants_ghost(&v)) {
    Id wire = unknown_box(b, word, o, NULL, span), box = b->d->wire.at[wire].box;
    bool follows = false;
    for (uint32_t i = 0; i < o->n; i++) follows |= !b->d->wire.at[o->at[i].wire].type.base;
    if (news)
      mark_messages(b, box, o);
    else if (!follows)
      mark_earlier_message(b, n, box, o);
    return value_one(b, val_ghost(wire, span));
  }
  if (news && v.n == 1) {
    v.at = arena_copy(b->w->arena, v.at, sizeof(Val));
    typed_again(b, &v, word, o, span);
  }
  return v;
}

// The span of x[i j] for the name x.
static Span whole_read(const Syntax *n, Span name) {
  if (n->kind == N_AT && same_place(at_base(n)->span, name)) return n->span;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
    Span s = syntax_parts(n).at[i] ? whole_read(syntax_parts(n).at[i], name) : name;
    if (!same_place(s, name)) return s;
  }
  return name;
}

// For an expression that failed early, the wires that its text mentions are the operands.
static void add_text(Body *b, Env *env, const Syntax *n, ShownOperands *o) {
  Binding *bind = n->kind == N_NAME ? env_find(env, n->name) : NULL;
  if (bind && bind->kind == BIND_VALUE) add_value(b, o, &bind->value, n->span);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) add_text(b, env, syntax_parts(n).at[i], o);
}

// -- hooks of elaboration -------------------------------------------------------------------------
uint32_t trace_begin(Body *b) { return b->trace ? b->trace->seen.n : 0; }

Value trace_value(Body *b, Env *env, const Syntax *n, uint32_t mark, Value v, bool whole) {
  if (!b->trace) return v;
  const char *word = whole ? "" : word_of(b, n);
  PartialTrace *t = b->trace;
  const Value *only = t->seen.n == mark + 1 ? &t->seen.at[mark].value : NULL;
  bool news = has_news(b);
  if (only && whole && !news && wants_ghost(&v) && only->n == 1 && only->at[0].ghost) {
    v = *only; // an equation of one value
  } else if (wants_ghost(&v) || news) {
    ShownOperands o = {0};
    for (uint32_t i = mark; i < t->seen.n && o.n < MOST; i++)
      add_value(b, &o, &t->seen.at[i].value, whole_read(n, t->seen.at[i].span));
    if (mark == t->seen.n) add_value(b, &o, &v, n->span);
    if (!o.n && n->kind != N_NAME) add_text(b, env, n, &o);
    v = replace_failed(b, n, word, &o, v, n->span);
  }
  t->seen.n = mark;
  vec_push(b->w->arena, &t->seen, (SeenWire){n->span, v});
  Binding *bind = n->kind == N_NAME ? env_find(env, n->name) : NULL;
  if (bind && bind->kind == BIND_VALUE && wants_ghost(&bind->value))
    bind->value = v; // reported once
  return v;
}

Value trace_apply(Body *b, const Syntax *box, uint32_t mark, Value args, Value v) {
  b->trace->seen.n = mark;
  if (!wants_ghost(&v) && !has_news(b)) return v;
  ShownOperands o = {0};
  for (uint32_t i = 0; i < args.n; i++)
    add_value(b, &o, &(Value){1, &args.at[i], NULL}, args.at[i].span);
  return replace_failed(b, box, word_of(b, box), &o, v, box->span);
}

// Several names bound to a failed value: each gets its own wire.
Value trace_parts(Body *b, Value v, uint32_t n, Span span) {
  World *w = b->w;
  Value out = {.n = n, .at = NEW_ARRAY(w->arena, Val, n)};
  ShownOperands o = {0};
  add_value(b, &o, &v, span);
  Id first = v.n == 1 && v.at[0].error ? v.at[0].ghost : 0;
  if (!first || !b->d->wire.at[first].box) { // an input has no parts
    first = unknown_box(b, "", &o, NULL, span);
    mark_messages(b, b->d->wire.at[first].box, &o);
  }
  Id box = b->d->wire.at[first].box;
  out.at[0] = val_ghost(first, span);
  for (uint32_t i = 1; i < n; i++) {
    Id wire = diagram_wire(w, b->d, (Type){0}, 0, origin_at(b, span));
    Box *from = &b->d->box.at[box];
    Id *all = NEW_ARRAY(w->arena, Id, from->nout + 1);
    if (from->nout) memcpy(all, from->out, from->nout * sizeof(Id));
    all[from->nout] = wire;
    b->d->wire.at[wire].box = box, b->d->wire.at[wire].port = from->nout++;
    from->out = all;
    out.at[i] = val_ghost(wire, span);
  }
  return out;
}

void trace_statement(Body *b) {
  if (!b->trace) return;
  b->trace->seen.n = 0;
  mark_messages(b, 0, NULL);
}

// Attaches all new messages to the results.
static void mark_result_messages(Body *b, const ShownOperands *o) {
  uint32_t before = b->trace->out->slip.n;
  mark_messages(b, 0, o);
  for (uint32_t i = before; i < b->trace->out->slip.n; i++) b->trace->out->slip.at[i].end = true;
}

bool trace_result_types(Body *b) {
  if (!b->trace) return false;
  b->want = (Types){0};
  mark_result_messages(b, NULL);
  return true;
}

void trace_results(Body *b, Value v, bool fits) {
  ShownOperands o = {0};
  if (!b->trace) return;
  if (!fits) b->d->out.n = 0;
  for (uint32_t i = 0; i < v.n; i++) {
    Span span = v.at[i].span;
    if (v.at[i].literal) v.at[i] = val_fill(b, v.at[i], (Type){.base = BASE_R});
    if (fits)
      add_operand(b, &o, b->d->out.at[i], span);
    else
      add_value(b, &o, &(Value){1, &v.at[i], NULL}, span);
  }
  for (uint32_t i = 0; i < o.n && !fits; i++) diagram_output(b->w, b->d, o.at[i].wire);
  mark_result_messages(b, &o);
}

Value trace_nothing(Body *b, Value args, Span span) {
  ShownOperands o = {0};
  add_value(b, &o, &args, span);
  Id wire = unknown_box(b, name_text(b->w->names, b->d->name), &o, NULL, span);
  mark_messages(b, b->d->wire.at[wire].box, &o);
  return value_one(b, val_ghost(wire, span));
}

void trace_no_result(Body *b) {
  ShownOperands none = {0};
  if (!b->trace) return;
  Id wire = unknown_box(b, "return", &none, NULL, (Span){0});
  mark_messages(b, b->d->wire.at[wire].box, &none);
  diagram_output(b->w, b->d, wire);
}

// -- one box, one side of a goal ------------------------------------------------------------------
PartialTrace *trace_new(Elab *in, TraceAside *aside) {
  World *w = in->w;
  PartialTrace *t = NEW(w->arena, PartialTrace);
  t->out = NEW(w->arena, PartialDiagram);
  t->said = w->diags;
  t->told = 1;
  *aside = (TraceAside){w->diags, in->open.n, w->diagram.n, in->training};
  w->diags = diags_new(w->arena, w->sources);
  memset(in->clash, 0, sizeof in->clash);
  return t;
}

// Drops marks of messages that checking the program did not report.
static void drop_unreported(PartialTrace *t) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->out->slip.n; i++) {
    const ErrorMark *s = &t->out->slip.at[i];
    bool said = false;
    for (uint32_t k = 1; k < t->said->list.n && !said; k++)
      said = same_place(t->said->list.at[k].span, s->span) ||
             strcmp(t->said->list.at[k].text, s->text) == 0;
    if (said) t->out->slip.at[n++] = *s;
  }
  t->out->slip.n = n;
}

PartialDiagram *trace_end(Elab *in, PartialTrace *t, Body *b, const TraceAside *aside) {
  World *w = in->w;
  if (b) mark_messages(b, 0, NULL);
  t->out->diagram = b ? b->d : NULL;
  w->diags = aside->diags;
  in->open.n = aside->open;
  in->training = aside->training;
  drop_unreported(t);
  for (Id i = aside->diagrams; i < w->diagram.n; i++) diagram_resolve(w, w->diagram.at[i]);
  return t->out;
}

// Adds marks for messages in this span that have none yet.
static void mark_rest(Elab *in, PartialDiagram *k, Span span) {
  const Diags *d = in->w->diags;
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Diag *e = &d->list.at[i];
    if (e->kind == DIAG_ERROR && spans_meet(e->span, span) && !has_error_mark(k, e->span))
      vec_push(in->w->arena, &k->slip, (ErrorMark){.span = e->span, .text = e->text});
  }
}

// The declared input types; a wrong one stays empty.
static Inputs inputs_of(Body *b, Env *to, const Formals *formals) {
  Inputs in = {.in = NEW_ARRAY(b->w->arena, Type, formals->n + 1), .n = formals->n};
  for (uint32_t i = 0; i < formals->n; i++) {
    Types t = {0};
    if (formal_types(b, to, &formals->at[i], &t) && t.n == 1) in.in[i] = t.at[0];
  }
  return in;
}

// From a declaration to the next one, so that unparsed text at its end is included.
static Span whole_text(Elab *in, const Def *d) {
  const Syntax *tree = d->scope->tree;
  Span s = d->node->span;
  uint32_t end = in->w->sources->file.at[s.file].n;
  for (uint32_t i = 0; i < program_declarations(tree).n; i++) {
    uint32_t at = program_declarations(tree).at[i]->span.at;
    if (at > s.at && at < end) end = at;
  }
  if (end > s.at + s.n) s.n = end - s.at;
  return s;
}

// Only its name is known.
static PartialDiagram *broken_name(Elab *in, Def *d) {
  TraceAside aside;
  PartialTrace *t = trace_new(in, &aside);
  Body *b = body_new(in, d->name);
  b->trace = t;
  Value v = trace_nothing(b, (Value){0}, d->span);
  trace_results(b, v, false);
  return trace_end(in, t, b, &aside);
}

// Errors in the header mark the inputs they concern.
static void blame_inputs(PartialDiagram *k, Body *b, const Formals *formals) {
  for (uint32_t i = 0; i < k->slip.n; i++)
    for (uint32_t f = 0; f < formals->n && f < b->d->in.n && !k->slip.at[i].box; f++) {
      const Formal *x = &formals->at[f];
      Id wire = b->d->in.at[f];
      if (!b->d->wire.at[wire].type.base && x->type &&
          spans_meet(k->slip.at[i].span, x->type->span))
        vec_push(b->w->arena, &k->slip.at[i].wire, (FaultyWire){wire, 0});
    }
}

static PartialDiagram *broken_def(Elab *in, Def *d) {
  TraceAside aside;
  PartialTrace *t = trace_new(in, &aside);
  Body *b = NEW(in->w->arena, Body);
  *b = (Body){.in = in, .w = in->w, .generic = true};
  Header h = header_of(d);
  Env *env = env_new(in, NULL, d->scope, b);
  Call c = {.b = b, .env = env, .def = d, .h = &h, .span = d->span, .trace = t};
  c.to = env_new(in, NULL, h.scope, NULL);
  Formals formals = {0};
  bool good = true;
  bind_options(&c, NULL, true);
  formals_of(b, c.to, d, &h, &formals, &good);
  if (!good && h.params) { // one by one
    formals.n = 0;
    for (uint32_t i = 0; i < params_in(h.params).n; i++) {
      const Syntax *p = params_in(h.params).at[i];
      vec_push(in->w->arena, &formals,
               (Formal){.type = param_type(p), .name = p->name, .span = p->name_span});
    }
  }
  Types types = {0};
  if (!formals.n && h.body && h.body->kind != N_BLOCK && box_formals(b, c.to, h.body, &types))
    for (uint32_t i = 0; i < types.n; i++)
      vec_push(in->w->arena, &formals,
               (Formal){.known = types.at[i], .fixed = true, .span = d->span});
  Inputs inputs = inputs_of(b, c.to, &formals);
  b->trace = t;
  mark_messages(b, 0, NULL);
  b->trace = NULL;
  Body *made = elaborate_instance(&c, &formals, &inputs, &good);
  blame_inputs(t->out, made, &formals);
  return trace_end(in, t, made, &aside);
}

static Def *def_named(Elab *in, Program *p, const char *name) {
  Def *d = scope_find(p->scope, name_from(in->w->names, name));
  return d && (d->kind == DEF_BOX || d->kind == DEF_LEARNER) ? d : NULL;
}

PartialDiagram *elab_broken(Elab *in, Program *p, const char *name) {
  Def *d = def_named(in, p, name);
  if (!d || !d->node) return NULL;
  bool weight = d->kind == DEF_LEARNER && !learner_has_input(d);
  PartialDiagram *k = weight ? NULL : broken_def(in, d);
  if (!k || (!k->diagram->in.n && k->diagram->box.n < 2)) k = broken_name(in, d);
  uint32_t before = k->slip.n;
  mark_rest(in, k, whole_text(in, d));
  if (d->refined) mark_rest(in, k, d->refined->span);
  if (k->unknown.n == 1 && k->diagram->box.n == 2) // a single placeholder gets all marks
    for (uint32_t i = before; i < k->slip.n; i++) k->slip.at[i].box = k->unknown.at[0];
  return k->slip.n || (k->unknown.n && !weight) ? k : NULL;
}

// The last declaration that begins before this position.
static Def *def_before(Elab *in, Program *p, Span span) {
  Def *best = NULL;
  for (uint32_t i = 1; i < in->def.n; i++) {
    Def *d = in->def.at[i];
    if (d->scope == p->scope && d->node && d->node->span.file == span.file &&
        d->node->span.at <= span.at && (!best || d->node->span.at >= best->node->span.at))
      best = d;
  }
  return best;
}

static bool is_broken(Elab *in, Program *p, const Def *d) {
  const char *name = name_text(in->w->names, d->name);
  if (d->scope != p->scope || def_named(in, p, name) != d) return false;
  PartialDiagram *k = elab_broken(in, p, name);
  return k && k->slip.n;
}

const char *elab_first_broken(Elab *in, Program *p) {
  enum { TRIED = 100 };
  const Diags *d = in->w->diags;
  for (uint32_t i = 1; i < d->list.n; i++) {
    const Def *x = d->list.at[i].kind == DIAG_ERROR ? def_before(in, p, d->list.at[i].span) : NULL;
    if (x && is_broken(in, p, x)) return name_text(in->w->names, x->name);
  }
  uint32_t tried = 0; // errors elsewhere, as in a constant, affect boxes
  for (uint32_t i = 1; i < in->def.n && tried < TRIED; i++) {
    tried += in->def.at[i]->scope == p->scope;
    if (is_broken(in, p, in->def.at[i])) return name_text(in->w->names, in->def.at[i]->name);
  }
  return NULL;
}
