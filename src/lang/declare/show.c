// `show` statements. Input: expressions. Output: a diagram with these as outputs and given fields
// as inputs, and the way to display them.
//
// `for t in [0, 0.5, 1]` adds a batch axis for t. `confusion(f(x), y)` is the pair of both values,
// to be counted; `generate[f]("to")` is text, which is sampled letter by letter and has no diagram.
#include "base/diag.h"
#include "base/names.h"
#include "lang/declare/statements.h"

#include <math.h>

// -- as -------------------------------------------------------------------------------------------
static bool is_view(Elab *in, const Syntax *name) {
  static const char *const views[] = {"images", "strip",     "scatter", "curves", "paths",
                                      "table",  "text",      "phase",   "wiring", "latent",
                                      "matrix", "spacetime", "bands"};
  const char *text = name_text(in->w->names, name->name);
  for (uint32_t i = 0; i < COUNT(views); i++)
    if (strcmp(views[i], text) == 0) return true;
  Id e = diag_error(in->w->diags, name->span, "there is no way to show things as `%s`", text);
  if (!diag_suggest(in->w->diags, e, nearest_name(text, views, COUNT(views))))
    diag_help(in->w->diags, e,
              "numbers of runs are shown as `curves`, `phase`, `bands`, `spacetime`, "
              "`matrix`, `wiring`, `paths` or `table`");
  return false;
}

static void read_options(Body *b, const Syntax *brackets, ShowAs *v) {
  for (uint32_t i = 0; i < brackets_slots(brackets).n; i++) {
    const Syntax *slot = brackets_slots(brackets).at[i], *item = nodes_only(items_in(slot));
    double k = 0;
    if (v->options < VIEW_OPTIONS && item && static_number(b, b->env, item, &k) && k >= 1 &&
        k <= 10000 && k == floor(k))
      v->option[v->options++] = k;
    else
      diag_error(b->w->diags, slot->span, "`%s` wants whole numbers here, as in `images[8, 8]`",
                 v->name);
  }
}

void read_views(Body *b, const Syntax *as, Show *s) {
  if (as_views(as).n > VIEWS)
    diag_error(b->w->diags, as->span, "at most %d ways to show one thing", VIEWS);
  for (uint32_t i = 0; i < as_views(as).n && i < VIEWS; i++) {
    const Syntax *view = as_views(as).at[i], *name = use_base(view);
    if (!is_view(b->in, name)) continue;
    ShowAs *v = &s->view[s->views++];
    v->name = name_text(b->w->names, name->name);
    if (view->kind == N_AT) read_options(b, at_brackets(view), v);
  }
}

// -- for ------------------------------------------------------------------------------------------
// A range as a list of its numbers.
static const Syntax *range_as_list(Body *b, const Syntax *range) {
  if (range->kind == N_LIST) return range;
  double low, high;
  if (!static_number(b, b->env, range_low(range), &low) ||
      !static_number(b, b->env, range_high(range), &high) || !(high >= low) || high - low > 1000) {
    diag_error(b->w->diags, range->span,
               "this runs over a list, or a range of at most 1000 numbers");
    return NULL;
  }
  uint32_t n = (uint32_t)(high - low) + 1;
  Nodes entries = {n, NEW_ARRAY(b->w->arena, Syntax *, n)};
  for (uint32_t i = 0; i < n; i++) entries.at[i] = syntax_num(b->w->arena, low + i, range->span);
  return node_list(b->w->arena, range->span, (ListParts){entries});
}

static void read_moments(Body *b, const Syntax *forin, Show *s) {
  World *w = b->w;
  const Syntax *list = range_as_list(b, forin_range(forin));
  double *moment = list ? NEW_ARRAY(w->arena, double, list_entries(list).n + 1) : NULL;
  s->over = forin->name;
  for (uint32_t i = 0; list && i < list_entries(list).n; i++)
    if (!static_number(b, b->env, list_entries(list).at[i], &moment[i])) list = NULL;
  Value v = value_error(b, forin->span);
  if (list) {
    Axis axis = {
        .label = forin->name, .size = size_of(w, list_entries(list).n), .pass = PASS_SAMPLE + 1};
    body_pass(b, axis.pass, axis);
    Type t = type_make(w, BASE_R, 1, &axis);
    const char *path = list_path(b->in, "", name_text(w->names, forin->name), &t, moment);
    v = list_value(b, b->env, list, path, true, &t, forin->span);
    s->moments = list_entries(list).n;
    s->moment = moment;
  }
  bind_value(b->env, forin->name, v, forin->span);
}

// -- values ---------------------------------------------------------------------------------------
static bool is_word(Elab *in, const Syntax *n, const char *word) {
  return n->kind == N_NAME && strcmp(name_text(in->w->names, n->name), word) == 0;
}

// confusion(a, b) becomes the tuple a, b.
static const Syntax *find_kind(Elab *in, const Syntax *expr, Show *s) {
  const Syntax *called = use_callee(expr);
  if (is_word(in, use_base(called), "generate")) s->kind = SHOW_TEXT;
  if (expr->kind != N_CALL || !is_word(in, called, "confusion")) return expr;
  s->kind = SHOW_CONFUSION;
  if (call_args(expr).n != 2)
    diag_error(in->w->diags, expr->span,
               "`confusion` wants what is predicted and what is true: `confusion(f(x), y)`");
  return node_tuple(in->w->arena, expr->span, (TupleParts){call_args(expr)});
}

// Scores R[n] or a label {n}, and a label {n}.
static void check_confusion(Body *b, const Value *v, Span span) {
  World *w = b->w;
  for (uint32_t i = 0; i < v->n; i++)
    if (v->at[i].error) return;
  Type said = v->n == 2 ? own_type(w, &v->at[0].type) : (Type){0},
       truth = v->n == 2 ? own_type(w, &v->at[1].type) : (Type){0};
  bool scores = said.base == BASE_R && said.rank == truth.rank + 1,
       label = said.base == BASE_LABEL && !said.rank && !truth.rank;
  if (truth.base != BASE_LABEL || (!scores && !label))
    diag_error(w->diags, span, "`confusion` compares scores R[n], or a label, with a label {n}");
  else if (!sizes_agree(b, label ? said.count : said.axis[said.rank - 1].size, truth.count, span,
                        span, "`confusion`"))
    diag_error(w->diags, span, "`confusion` wants as many scores as there are labels");
}

static void read_values(Body *b, const Syntax *expr, Show *s) {
  uint32_t errors = b->w->diags->met;
  Value v = eval_alone(b, b->env, expr);
  if (s->kind == SHOW_CONFUSION) check_confusion(b, &v, expr->span);
  goal_outputs(b, v, &s->fields);
  if (b->w->diags->met == errors) samples_are_read(b, expr->span);
  if (b->w->diags->met == errors && b->d->out.n) s->diagram = b->d;
}

// First a model, then an optional length.
static void check_generate_option(Elab *in, const Syntax *slot, bool first) {
  const Syntax *item = slot_item(slot);
  bool length = item->kind == N_SIZED && !strcmp(name_text(in->w->names, item->name), "length");
  const Syntax *value = length ? sized_value(item) : NULL;
  if (first && item->kind == N_NAME) return;
  if (!length)
    diag_error(in->w->diags, slot->span,
               "`generate` takes a model and how long its text is: `generate[f, length: 200]`");
  else if (value->kind != N_NUM || value->num < 1 || value->num != floor(value->num))
    diag_error(in->w->diags, value->span, "`length` wants a whole number above 0");
}

// generate[f, length: 200]("To be"): f is a model of text, {v}[t] -> R[t v].
static void check_generate(Elab *in, Program *p, const Syntax *expr) {
  World *w = in->w;
  const Syntax *at = use_callee(expr), *model = NULL;
  Nodes slot = at->kind == N_AT ? brackets_slots(at_brackets(at)) : (Nodes){0};
  for (uint32_t i = 0; i < slot.n; i++) {
    check_generate_option(in, slot.at[i], !model);
    if (!model && slot_item(slot.at[i])->kind == N_NAME) model = slot_item(slot.at[i]);
  }
  if (!model) {
    diag_error(w->diags, expr->span, "`generate` wants a model of text: `generate[f]`");
    return;
  }
  const Def *f = scope_meaning(p->acting, model);
  if (!f || (f->kind != DEF_LEARNER && f->kind != DEF_BOX)) {
    unknown_in(in, p->acting, model, "learner");
    return;
  }
  const Diagram *d = f->kind == DEF_LEARNER ? f->made : f->alone ? f->alone->d : NULL;
  if (!d) return; // it had errors, or its types come from a use
  const Type *from = d->in.n == 1 ? &d->wire.at[d->in.at[0]].type : NULL,
             *to = d->out.n == 1 ? &d->wire.at[d->out.at[0]].type : NULL;
  if (!from || !to || from->base != BASE_LABEL || from->rank != 1 || to->base != BASE_R ||
      to->rank != 2)
    diag_error(w->diags, model->span, "`%s` is not a model of text, {v}[t] -> R[t v]",
               name_text(w->names, model->name));
}

static bool is_shown_as(const Show *s, const char *view) {
  for (uint32_t i = 0; i < s->views; i++)
    if (strcmp(s->view[i].name, view) == 0) return true;
  return false;
}

void do_show(Elab *in, Program *p, const Syntax *n) {
  Show s = {.node = n};
  Body *b = goal_body(in, p, name_from(in->w->names, "shown"));
  const Syntax *as = clause(n, N_AS), *on = clause(n, N_ON), *forin = clause(n, N_FORIN),
               *every = clause(n, N_EVERY), *expr = find_kind(in, show_what(n), &s);
  double steps = 0;
  if (as) read_views(b, as, &s);
  if (forin) read_moments(b, forin, &s);
  if (every &&
      !(static_number(b, b->env, every_count(every), &steps) && steps >= 1 && steps < 1e15))
    diag_error(in->w->diags, every->span, "`every` wants a number of steps");
  s.every = (uint64_t)steps;
  if (on) read_on(in, p, on, &s.on);
  if (s.kind != SHOW_TEXT)
    read_values(b, expr, &s);
  else
    check_generate(in, p, expr);
  if (s.diagram) check_on(in, p, &s.fields, &s.on);
  if (s.diagram && (s.fields.n || s.diagram->noisy) && is_shown_as(&s, "paths"))
    diag_error(in->w->diags, n->span, "a path shows learned values, not samples");
  vec_push(in->w->arena, &p->show, s);
}
