// A hash of the function that a diagram computes, independent of names of wires, weights and sizes
// and of the order of boxes.
//
// Hashes are computed from the results backwards. Weights, noise sources and open sizes are
// numbered by first visit, so using one twice differs from using two; a box is hashed by its
// operation and operands. Dead boxes do not count.
#include "base/hash.h"
#include "core/diagram/ops.h"
#include "show/diff/outline_own.h"

typedef struct {
  DiffForms *all;
  const Diagram *d;
  uint64_t *wire;   // [wire] 0: not visited
  uint32_t *param;  // [param] order of the first visit, from 1
  uint32_t **order; // [box] of a loop: the canonical order of its operands; NULL: not computed
  uint32_t params, noises;
} FormWalk;

static uint64_t mixed(uint64_t h, uint64_t with) { return hash_bytes(h, &with, sizeof with); }

// -- sizes and types ------------------------------------------------------------------------------
uint64_t form_size(DiffForms *f, uint64_t h, Size s) {
  World *w = f->w;
  Ids vars = {0};
  Buf text = buf_new(f->arena);
  if (!s) return mixed(h, 0);
  size_vars(w, s, &vars);
  for (uint32_t i = 0; i < vars.n; i++)
    if (vars.at[i] < f->vars && !f->var[vars.at[i]])
      f->var[vars.at[i]] = arena_format(f->arena, "v%u", f->open++);
  size_print_as(w, s, f->var, &text);
  return form_text(h, text.at);
}

uint64_t form_text(uint64_t h, const char *text) { return hash_bytes(h, text, strlen(text) + 1); }

uint64_t form_type(DiffForms *f, uint64_t h, const Type *t) {
  h = mixed(h, (uint64_t)t->base << 32 | t->rank);
  if (t->base == BASE_LABEL) h = form_size(f, h, t->count);
  for (uint32_t i = 0; i < t->rank; i++)
    h = form_size(f, mixed(h, t->axis[i].pass), t->axis[i].size);
  return h;
}

// -- loops ----------------------------------------------------------------------------------------
// skips: reading 0 out of bounds equals skipping the point
static uint64_t form_access(DiffForms *f, uint64_t h, const Access *a, bool skips) {
  bool padded = a->padded && !(skips && a->pad == 0);
  h = mixed(h, (uint64_t)padded << 32 | a->rank);
  if (padded) h = hash_bytes(h, &a->pad, sizeof a->pad);
  for (uint32_t i = 0; i < a->rank; i++) {
    const Coord *c = &a->coord[i];
    uint64_t terms = 0; // in any order
    h = form_size(f, mixed(h, c->n), c->c);
    for (uint32_t k = 0; k < c->n; k++)
      terms += form_size(f, mixed(HASH_START, (uint64_t)c->term[k].operand << 32 | c->term[k].var),
                         c->term[k].coef);
    h = mixed(h, terms);
  }
  return h;
}

// Is it a sum of products of its operands?
static bool is_product(const Loop *loop) {
  bool all = loop->combine == SUM;
  for (uint32_t i = 0; i < loop->nscalar; i++)
    all &= loop->scalar[i].fn == FN_ARG || loop->scalar[i].fn == FN_mul;
  return all;
}

static bool is_either_way(Fn fn) {
  return fn == FN_maximum || fn == FN_minimum || fn == FN_and || fn == FN_or;
}

// A scalar expression as a sum of terms and a product of factors: independent of association and
// order.
typedef struct {
  uint64_t whole, terms, factors;
  bool known; // it is this constant
  double k;
} ScalarForm;

static ScalarForm scalar_alone(uint64_t h) {
  return (ScalarForm){.whole = h, .terms = mixed(h, 1), .factors = mixed(h, 2)};
}

static ScalarForm scalar_known(double k) {
  ScalarForm s = scalar_alone(hash_bytes(mixed(HASH_START, FN_CONST), &k, sizeof k));
  s.known = true, s.k = k;
  return s;
}

static ScalarForm scalar_sum(uint64_t terms) {
  uint64_t whole = mixed(HASH_START, terms);
  return (ScalarForm){.whole = whole, .terms = terms, .factors = mixed(whole, 2)};
}

static ScalarForm scalar_product(uint64_t factors) {
  uint64_t whole = mixed(mixed(HASH_START, 3), factors);
  return (ScalarForm){.whole = whole, .terms = mixed(whole, 1), .factors = factors};
}

static ScalarForm scalar_leaf(DiffForms *f, const Scalar *s, const uint64_t *operand) {
  uint64_t h = mixed(HASH_START, (uint64_t)s->fn << 8 | s->base);
  double k = s->k;
  if (s->fn == FN_CONST || (s->fn == FN_SIZE && size_number(f->w, s->ref, &k)))
    return scalar_known(k);
  if (s->fn == FN_ARG) return scalar_alone(mixed(h, operand[s->ref]));
  return scalar_alone(s->fn == FN_AT ? mixed(h, s->ref) : form_size(f, h, s->ref));
}

static ScalarForm scalar_form(DiffForms *f, const Scalar *s, const uint64_t *operand,
                              const ScalarForm *before) {
  if (s->fn <= FN_SIZE) return scalar_leaf(f, s, operand);
  const ScalarForm *a = &before[s->arg[0]],
                   *b = fn_rows[s->fn].arity > 1 ? &before[s->arg[1]] : NULL;
  double x[3] = {0};
  bool known = true;
  for (uint32_t i = 0; i < fn_rows[s->fn].arity; i++)
    known &= before[s->arg[i]].known, x[i] = before[s->arg[i]].k;
  if (known) return scalar_known(fn_rows[s->fn].value(x[0], x[1], x[2]));
  if (s->fn == FN_add) return scalar_sum(a->terms + b->terms);
  if (s->fn == FN_sub) return scalar_sum(a->terms - b->terms);
  if (s->fn == FN_neg) return scalar_sum(0 - a->terms);
  if (s->fn == FN_mul) return scalar_product(a->factors + b->factors);
  if (s->fn == FN_div) return scalar_product(a->factors - b->factors);
  uint64_t h = mixed(HASH_START, (uint64_t)s->fn << 8 | s->base);
  if (is_either_way((Fn)s->fn)) return scalar_alone(mixed(h, a->whole + b->whole));
  for (uint32_t i = 0; i < fn_rows[s->fn].arity; i++) h = mixed(h, before[s->arg[i]].whole);
  return scalar_alone(h);
}

// The hash of a loop whose operands have these hashes, independent of their order and of the order
// of sums and products.
uint64_t form_loop(DiffForms *f, const Loop *loop, const uint64_t *reads) {
  uint64_t h = mixed(mixed(HASH_START, loop->combine), loop->nindex), all = 0;
  uint64_t *operand = NEW_ARRAY(f->arena, uint64_t, loop->nin + 1);
  ScalarForm *scalar = NEW_ARRAY(f->arena, ScalarForm, loop->nscalar + 1);
  for (uint32_t i = 0; i < loop->nindex; i++) h = form_size(f, h, loop->index[i].size);
  h = form_access(f, h, &loop->out, false);
  bool skips = is_product(loop);
  for (uint32_t i = 0; i < loop->nin; i++)
    all += operand[i] =
        form_access(f, mixed(HASH_START, reads ? reads[i] : 0), &loop->in[i], skips);
  for (uint32_t i = 0; i < loop->nscalar; i++)
    scalar[i] = scalar_form(f, &loop->scalar[i], operand, scalar);
  return mixed(mixed(h, all), loop->nscalar ? scalar[loop->nscalar - 1].whole : 0);
}

// -- boxes ----------------------------------------------------------------------------------------
// The initialiser of a weight or state.
uint64_t form_begin(DiffForms *f, const Diagram *d, const Param *p) {
  const Init *init = &p->init;
  const Type *type = &d->wire.at[p->wire].type;
  uint64_t h = mixed(mixed(HASH_START, p->role), init->kind);
  int64_t n;
  h = mixed(mixed(form_type(f, h, type), init->members), init->as != NULL);
  if (init->kind == INIT_CONST) h = hash_bytes(h, &init->k, sizeof init->k);
  if (init->kind == INIT_GLOROT || init->kind == INIT_HE) h = form_size(f, h, init->fan_in);
  if (init->kind == INIT_GLOROT) h = form_size(f, h, init->fan_out);
  if (init->kind == INIT_DIAGRAM) h = mixed(h, form_of(f, init->diagram)->whole);
  if (init->kind == INIT_DATA && type_count(f->w, type, &n))
    h = hash_bytes(h, init->data, (size_t)n * sizeof *init->data);
  return h;
}

static const DiffForm *callee_form(DiffForms *f, const Box *b, const Diagram **below) {
  *below = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
  return *below ? form_of(f, *below) : NULL;
}

// The operation of a box, without its operands.
uint64_t form_box(DiffForms *f, const Diagram *d, const Box *b) {
  const Diagram *below;
  uint64_t h = mixed(mixed(HASH_START, b->op), b->nout);
  const DiffForm *inner = callee_form(f, b, &below);
  if (inner) h = mixed(h, inner->whole);
  if (b->op == OP_loop) h = mixed(h, form_loop(f, b->loop, NULL));
  if (b->op == OP_join || b->op == OP_order) h = mixed(h, b->axis);
  if (b->op == OP_random) h = mixed(h, b->random->noise);
  if (b->op == OP_scan) {
    const Scan *s = b->scan;
    h = mixed(mixed(mixed(mixed(h, s->slice), s->carry), s->hold), s->back);
    h = form_size(f, h, s->axis.size);
  }
  for (uint32_t i = 0; i < b->nout; i++) h = form_type(f, h, &d->wire.at[b->out[i]].type);
  return h;
}

// The learner that a weight belongs to, and the member of a family. Weights inside are hashed by
// first visit; so are learners without a partner on the other side.
static uint64_t root_form(const DiffForms *f, const Param *p) {
  if (!p->rooted) return 0;
  size_t n = strcspn(p->path, "/");
  char *root = arena_text(f->arena, p->path, n), *dot = strrchr(root, '.');
  for (int member = 0; member < 2; member++) {
    for (uint32_t i = 0; i < f->names->n; i++)
      if (!strcmp(f->names->at[i].here, root))
        return form_text(form_text(HASH_START, f->names->at[i].there),
                         arena_text(f->arena, p->path + strlen(root), n - strlen(root)));
    if (dot) *dot = 0;
  }
  return HASH_START;
}

static uint64_t leaf_form(FormWalk *t, Id wire) {
  const Diagram *d = t->d;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (d->in.at[i] == wire)
      return form_type(t->all, mixed(mixed(HASH_START, 1), i), &d->wire.at[wire].type);
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (d->param.at[i].wire != wire) continue;
    if (!t->param[i]) t->param[i] = ++t->params;
    uint64_t h = mixed(mixed(HASH_START, 2), root_form(t->all, &d->param.at[i]));
    return mixed(mixed(h, t->param[i]), form_begin(t->all, d, &d->param.at[i]));
  }
  return HASH_START;
}

// The k-th read of a box: arguments in order, then weights in the callee's canonical order.
static Id read_at(FormWalk *t, const Box *b, uint32_t i) {
  const Diagram *below;
  const DiffForm *inner = callee_form(t->all, b, &below);
  uint32_t args = b->nin - (inner ? below->param.n : 0);
  return b->in[i < args ? i : args + inner->met[i - args]];
}

// The operands of a loop in canonical order, by their role instead of their position.
static const uint32_t *read_order(FormWalk *t, const Box *b) {
  uint32_t **known = &t->order[b - t->d->box.at], *order = *known, n = b->nin;
  if (order) return order;
  uint64_t *role = NEW_ARRAY(t->all->arena, uint64_t, n + 1),
           *mark = NEW_ARRAY(t->all->arena, uint64_t, n + 1);
  *known = order = NEW_ARRAY(t->all->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    mark[i] = 1;
    role[i] = b->op == OP_loop ? form_loop(t->all, b->loop, mark) : i;
    mark[i] = 0;
    uint32_t k = i;
    for (; k && role[order[k - 1]] > role[i]; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  return order;
}

static bool is_ready(FormWalk *t, const Box *b, Id *missing) {
  const uint32_t *order = read_order(t, b);
  for (uint32_t i = 0; i < b->nin; i++)
    if (!t->wire[ *missing = read_at(t, b, order[i])]) return false;
  return true;
}

static void box_met(FormWalk *t, const Box *b) {
  uint64_t h = form_box(t->all, t->d, b);
  uint64_t *reads = NEW_ARRAY(t->all->arena, uint64_t, b->nin + 1);
  for (uint32_t i = 0; i < b->nin; i++) reads[i] = t->wire[read_at(t, b, i)];
  if (b->op == OP_loop)
    h = mixed(h, form_loop(t->all, b->loop, reads));
  else
    for (uint32_t i = 0; i < b->nin; i++) h = mixed(h, reads[i]);
  if (b->op == OP_random || b->site) h = mixed(h, ++t->noises);
  for (uint32_t i = 0; i < b->nout; i++) t->wire[b->out[i]] = mixed(h, i) | 1;
}

// Uses an explicit stack: chains of boxes may be long.
static uint64_t wire_form(FormWalk *t, Id wire) {
  Ids wait = {0};
  vec_push(t->all->arena, &wait, wire);
  while (wait.n) {
    Id at = wait.at[wait.n - 1], missing;
    const Box *b = t->d->wire.at[at].box ? &t->d->box.at[t->d->wire.at[at].box] : NULL;
    if (!t->wire[at] && b && !is_ready(t, b, &missing)) {
      vec_push(t->all->arena, &wait, missing);
      continue;
    }
    if (!t->wire[at] && b) box_met(t, b);
    if (!t->wire[at]) t->wire[at] = leaf_form(t, at) | 1;
    wait.n--;
  }
  return t->wire[wire];
}

// The param that a wire is; UINT32_MAX: it is computed or an input.
static uint32_t plain_param(const Diagram *d, Id wire) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].wire == wire && !d->param.at[i].rooted && !d->param.at[i].next) return i;
  return UINT32_MAX;
}

// The diagram to which another one forwards all of its wires, in order; or NULL.
static const Diagram *forwarded_callee(const Diagram *d) {
  if (d->box.n != 2 || d->box.at[1].op != OP_call || d->reverse) return NULL;
  const Box *b = &d->box.at[1];
  const Diagram *to = b->callee;
  if (to->in.n != d->in.n || to->out.n != d->out.n || to->param.n != d->param.n || to->reverse)
    return NULL;
  for (uint32_t i = 0; i < d->in.n; i++)
    if (b->in[i] != d->in.at[i] ||
        d->wire.at[d->in.at[i]].type.rank != to->wire.at[to->in.at[i]].type.rank)
      return NULL;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->out.at[i] != b->out[i]) return NULL;
  for (uint32_t i = 0; i < to->param.n; i++)
    if (plain_param(d, b->in[d->in.n + i]) == UINT32_MAX) return NULL;
  return to;
}

// A forwarding diagram has the hash of its callee.
static void copy_forwarded_form(DiffForms *f, const Diagram *d, const Diagram *to, DiffForm *form) {
  const DiffForm *inner = form_of(f, to);
  const Box *b = &d->box.at[1];
  form->whole = inner->whole;
  form->met = NEW_ARRAY(f->arena, uint32_t, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++)
    form->met[i] = plain_param(d, b->in[d->in.n + inner->met[i]]);
}

const DiffForm *form_of(DiffForms *f, const Diagram *d) {
  if (f->known[d->id]) return f->known[d->id];
  DiffForm *form = f->known[d->id] = NEW(f->arena, DiffForm);
  const Diagram *to = forwarded_callee(d);
  if (to) return copy_forwarded_form(f, d, to, form), form;
  FormWalk t = {f,
                d,
                NEW_ARRAY(f->arena, uint64_t, d->wire.n + 1),
                NEW_ARRAY(f->arena, uint32_t, d->param.n + 1),
                NEW_ARRAY(f->arena, uint32_t *, d->box.n + 1),
                0,
                0};
  uint64_t h = mixed(mixed(HASH_START, d->in.n), d->out.n);
  for (uint32_t i = 0; i < d->out.n; i++) h = mixed(h, wire_form(&t, d->out.at[i]));
  for (uint32_t k = 1; k <= t.params; k++) // visited states may lead to others
    for (uint32_t i = 0; i < d->param.n; i++)
      if (t.param[i] == k && d->param.at[i].next)
        h = mixed(mixed(h, k), wire_form(&t, d->param.at[i].next));
  for (uint32_t i = 0; i < d->param.n; i++) // params that are only passed through
    if (!t.param[i] && d->param.at[i].next) h = mixed(h, wire_form(&t, d->param.at[i].next));
  for (uint32_t i = 0; i < d->in.n; i++) h = form_type(f, h, &d->wire.at[d->in.at[i]].type);
  if (d->reverse) h = mixed(h, form_of(f, d->reverse)->whole);
  for (uint32_t i = 0; i < d->param.n; i++)
    if (!t.param[i]) t.param[i] = ++t.params;
  form->whole = h;
  form->met = NEW_ARRAY(f->arena, uint32_t, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) form->met[t.param[i] - 1] = i;
  return form;
}

DiffForms forms_new(Arena *arena, World *w, const OutlineNames *names) {
  uint32_t vars = size_var_count(w) + 1;
  return (DiffForms){.arena = arena,
                     .w = w,
                     .names = names,
                     .known = NEW_ARRAY(arena, DiffForm *, w->diagram.n + 1),
                     .vars = vars,
                     .var = NEW_ARRAY(arena, const char *, vars)};
}
