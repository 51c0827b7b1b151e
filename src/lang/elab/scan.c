// scan[t, cell](x…, start…): folds the cell along axis t. Its first inputs are one row of each
// sequence; the others are the carries, which are also its outputs. Missing start values are 0. The
// result is the sequence of each carry along t.
#include "base/diag.h"
#include "base/names.h"
#include "lang/elab/builtin.h"

typedef struct {
  Body *b;
  Env *env;
  const Syntax *cell;
  Name axis;
  Value args;
  Span span;
  Scan scan;
  Types formal;            // the inputs of the cell
  uint32_t at[RANK_LIMIT]; // the scanned axis of each sequence
  Type *types;             // input types of one step
  Body *body;              // one step
} ScanPlan;

// The axis to scan: the labelled one, or the first.
static uint32_t scan_axis(const Val *v, Name label, bool must) {
  uint32_t own[RANK_LIMIT], n = own_axes(&v->type, own);
  for (uint32_t i = 0; i < n; i++)
    if (v->type.axis[own[i]].label == label) return own[i];
  return must && n && !v->type.axis[own[0]].label ? own[0] : UINT32_MAX;
}

static Val first_axis(Body *b, Val v, uint32_t at) {
  uint32_t order[RANK_LIMIT] = {at}, n = 1;
  for (uint32_t i = 0; i < v.type.rank; i++)
    if (i != at) order[n++] = i;
  return val_permute(b, v, order, n);
}

// The batch axes of a start value, and axes in front of those the cell takes, become batch axes of
// the carry.
static Type with_passing(Body *b, const Type *formal, const Type *start) {
  Axis axis[RANK_LIMIT * 2];
  uint32_t n = 0, own[RANK_LIMIT], have = own_axes(start, own);
  for (uint32_t i = 0; i < start->rank; i++)
    if (start->axis[i].pass) axis[n++] = start->axis[i];
  for (uint32_t i = 0; i + formal->rank < have; i++) axis[n++] = start->axis[own[i]];
  for (uint32_t i = 0; i < formal->rank; i++)
    if (!formal->axis[i].pass) axis[n++] = formal->axis[i];
  return type_like(b->w, formal, n, axis);
}

// Broadcasts a start value to the type of its carry.
static Id start_wire(Body *b, const Value *args, uint32_t at, const Type *t, const Type *formal,
                     Span span) {
  Val v = at < args->n ? args->at[at] : val_literal(b, 0, span);
  uint32_t own[RANK_LIMIT], n = own_axes(t, own);
  if (v.literal)
    v = val_fill(b, v, *t);
  else {
    v = with_rows(b, v, t, n > formal->rank ? n - formal->rank : 0, span);
    if (!shapes_agree(b, &v.type, t, span, "a start value")) {
      diag_error(b->w->diags, args->at[at].span, "this start value is %s, but the cell carries %s",
                 own_text(b->w, &v.type), own_text(b->w, t));
      return 0;
    }
  }
  return val_to_wire(b, &v, 0);
}

static bool read_plan(ScanPlan *p, const Syntax *config) {
  World *w = p->b->w;
  const Syntax *axis = boxed_option(p->b, config, 0, p->span, "scan");
  p->cell = axis ? boxed_option(p->b, config, 1, p->span, "scan") : NULL;
  if (!p->cell) return false;
  if (axis->kind != N_NAME || !p->args.n)
    return diag_refuse(w->diags, p->span,
                       "`scan` wants an axis, a cell, and a row to go along: `scan[t, cell](x)`");
  p->axis = axis->name;
  for (uint32_t i = 0; i < p->args.n; i++) {
    if (p->args.at[i].error) return false;
    val_settle(p->b, &p->args.at[i]);
  }
  if (box_formals(p->b, p->env, p->cell, &p->formal)) return true;
  if (!p->b->generic)
    diag_error(w->diags, p->cell->span,
               "`scan` wants a box or learner whose inputs have types: `cell(x: R[m], h: R[s]) -> "
               "R[s]`");
  return false;
}

// Leading arguments that have the axis are sequences; the remaining inputs of the cell are carries.
static bool find_rows(ScanPlan *p) {
  World *w = p->b->w;
  Value *args = &p->args;
  bool nowhere = true;
  uint32_t own[RANK_LIMIT], at;
  for (uint32_t i = 0; i < args->n; i++)
    nowhere &= args->at[i].literal || scan_axis(&args->at[i], p->axis, false) == UINT32_MAX;
  for (uint32_t i = 0; i < args->n && i < p->formal.n && i < RANK_LIMIT; i++) {
    p->at[i] =
        args->at[i].literal ? UINT32_MAX : scan_axis(&args->at[i], p->axis, nowhere && i == 0);
    if (p->at[i] == UINT32_MAX) break;
    uint32_t n = own_axes(&args->at[i].type, own);
    if (find_axis(w, &args->at[i], p->axis, own, n, "scan", &at) > 1) return false;
    p->scan.slice++;
  }
  if (p->scan.slice && p->scan.slice < p->formal.n) {
    p->scan.carry = p->formal.n - p->scan.slice;
    p->scan.axis = (Index){p->axis, args->at[0].type.axis[p->at[0]].size};
    return true;
  }
  if (p->scan.slice)
    diag_error(w->diags, p->cell->span,
               "this cell takes %u %s, and nothing is left to carry: `cell(x: R[m], h: R[s]) -> "
               "R[s]` carries h",
               p->formal.n, p->formal.n == 1 ? "input" : "inputs");
  else
    diag_error(w->diags, p->span, "nothing here runs along axis %s", name_text(w->names, p->axis));
  return false;
}

static bool step_types(ScanPlan *p) {
  World *w = p->b->w;
  p->types = NEW_ARRAY(w->arena, Type, p->formal.n);
  for (uint32_t i = 0; i < p->scan.slice; i++) {
    const Val *row = &p->args.at[i];
    Size length = row->type.axis[p->at[i]].size;
    p->types[i] = type_without(w, &row->type, p->at[i]);
    if (sizes_agree(p->b, p->scan.axis.size, length, p->span, p->span, "rows of a scan")) continue;
    return diag_refuse(w->diags, row->span, "this row has %s places along %s, the first has %s",
                       size_text(w, length), name_text(w->names, p->axis),
                       size_text(w, p->scan.axis.size));
  }
  for (uint32_t i = p->scan.slice; i < p->formal.n; i++)
    p->types[i] =
        i < p->args.n ? with_passing(p->b, &p->formal.at[i], &p->args.at[i].type) : p->formal.at[i];
  return true;
}

static bool carry_stays(ScanPlan *p, const Type *in, const Type *out) {
  bool equal = in->rank == out->rank;
  for (uint32_t k = 0; equal && k < in->rank; k++)
    equal = size_equate(p->b->w, in->axis[k].size, out->axis[k].size, true) != SIZES_CLASH &&
            sizes_agree(p->b, in->axis[k].size, out->axis[k].size, p->span, p->span, "a carry");
  return equal;
}

// Elaborates one step. Carries may acquire batch axes from the sequences: repeated until their
// types are a fixed point.
static bool elaborate_step(ScanPlan *p) {
  World *w = p->b->w;
  const char *changed = NULL;
  for (int turn = 0; turn < 3; turn++) {
    p->body = box_alone(p->b, p->env, p->cell, p->formal.n, p->types, p->cell->span);
    if (!p->body) return false;
    uint32_t given = p->body->d->out.n;
    if (given != p->scan.carry)
      return diag_refuse(
          w->diags, p->cell->span,
          "this cell gives %u %s, but has %u to carry: its outputs are its next carries", given,
          given == 1 ? "value" : "values", p->scan.carry);
    bool same = true;
    for (uint32_t i = 0; i < given; i++) {
      Type *in = &p->types[p->scan.slice + i], out = p->body->out_type.at[i];
      bool stays = carry_stays(p, in, &out);
      if (!stays && !changed)
        changed =
            arena_format(w->arena, "this cell carries %s in and %s out: a carry keeps its type",
                         own_text(w, in), own_text(w, &out));
      same &= stays;
      *in = out;
    }
    if (same) return true;
  }
  return diag_refuse(w->diags, p->cell->span, "%s", changed);
}

static bool has_no_state(const ScanPlan *p) {
  for (uint32_t i = 0; i < p->body->d->param.n; i++)
    if (p->body->d->param.at[i].next)
      return diag_refuse(p->b->w->diags, p->cell->span,
                         "a cell that is scanned cannot have a `state` of its own: carry it");
  return true;
}

static bool scan_inputs(ScanPlan *p, const Syntax *use, Ids *in) {
  World *w = p->b->w;
  for (uint32_t i = 0; i < p->scan.slice; i++) {
    Val v = first_axis(p->b, p->args.at[i], p->at[i]);
    vec_push(w->arena, in, val_to_wire(p->b, &v, 0));
  }
  for (uint32_t i = p->scan.slice; i < p->formal.n; i++)
    vec_push(w->arena, in, start_wire(p->b, &p->args, i, &p->types[i], &p->formal.at[i], p->span));
  for (uint32_t i = 0; i < in->n; i++)
    if (!in->at[i]) return false;
  BoxUse scan = {.def = box_called(p->b, "scan"),
                 .node = use,
                 .name = name_from(w->names, "scan"),
                 .span = p->span};
  body_params(p->b, p->body, &scan, in, NULL);
  return true;
}

// Moves the scanned axis back to its position in the first sequence.
static Val axis_back(const ScanPlan *p, Id wire) {
  World *w = p->b->w;
  Val v = val_wire(p->b, wire, p->span);
  uint32_t order[RANK_LIMIT], n = 0, own = 0, place = 0;
  bool put = false;
  for (uint32_t i = 0; i < p->at[0]; i++) place += !p->args.at[0].type.axis[i].pass;
  v.type.axis = arena_copy(w->arena, v.type.axis, v.type.rank * sizeof(Axis));
  v.type.axis[0].label = p->axis;
  p->b->d->wire.at[wire].type = v.type;
  for (uint32_t a = 1; a < v.type.rank; a++) {
    if (!v.type.axis[a].pass && own++ == place && !put) order[n++] = 0, put = true;
    order[n++] = a;
  }
  if (!put) order[n++] = 0;
  return val_permute(p->b, v, order, n);
}

Value builtin_scan(const BuiltinUse *u) {
  Body *b = u->b;
  World *w = b->w;
  Ids in = {0};
  ScanPlan p = {.b = b, .env = u->env, .args = u->args, .span = u->span};
  if (!read_plan(&p, u->config) || !find_rows(&p) || !step_types(&p) || !elaborate_step(&p) ||
      !has_no_state(&p) || !scan_inputs(&p, u->use, &in))
    return value_error(b, u->span);
  for (uint32_t i = 0; i < p.scan.carry; i++) // each carry is also output as a sequence
    diagram_output(w, p.body->d, p.body->d->out.at[i]);
  p.scan.body = p.body->d;
  config_keep(b, u->env, u->config, 0, p.body->d);
  Id first = box_scan(w, b->d, &p.scan, in.at, in.n, origin_at(b, u->span)) + p.scan.carry;
  Value out = {.n = p.scan.carry, .at = NEW_ARRAY(w->arena, Val, p.scan.carry)};
  for (uint32_t i = 0; i < out.n; i++) out.at[i] = axis_back(&p, first + i);
  return out;
}
