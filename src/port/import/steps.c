// Subgraphs executed step by step, as a scan whose body is a box. Its inputs are a row of each
// scanned value, captured outer values, and the carried values; its results are the next carried
// values. Gathered outputs are carried too, though they are not read, because a scan returns all
// rows of what it carries.
//
// The subgraph is imported once, with values for one step. If this fails, because a step needs a
// constant that differs between steps or contains something that cannot be repeated, all changes
// are undone and the caller unrolls the loop.
#include "base/diag.h"
#include "base/words.h"
#include "port/import/own.h"

enum { ROWS_MOST = 12 }; // inputs of a scan

typedef struct {
  ImpNode *n;
  Steps *s;
  Id first; // values from this one on belong to the step
  ImpCell cell;
  VEC(Id) along; // scanned inputs, with the step axis first
} StepCell;

// -- undone ---------------------------------------------------------------------------------------
typedef struct {
  uint32_t lines, boxes, cells;
  DiagMark said;
} ImpMark;

static ImpMark mark_state(const Importer *m) {
  return (ImpMark){m->line.n, m->box.n, m->cell.n, diags_mark(m->diags)};
}

// Restores sizes that a line had turned into constants.
static bool undo_to(Importer *m, ImpMark to, Id first) {
  for (uint32_t i = to.lines; i < m->line.n; i++)
    for (uint32_t k = 0; k < m->line.at[i].out.n; k++)
      if (m->line.at[i].out.at[k] < first) value_at(m, m->line.at[i].out.at[k])->kind = IMP_CONST;
  m->line.n = to.lines, m->box.n = to.boxes, m->cell.n = to.cells;
  diags_rewind(m->diags, to.said);
  return false;
}

// -- the step -------------------------------------------------------------------------------------
// An input of the step: a value without its leading axes.
static Id input_like(StepCell *c, const char *name, Id like, uint32_t without) {
  Importer *m = c->n->m;
  ImpShape x = value_at(m, like)->shape, shape = {.rank = x.rank - without};
  for (uint32_t i = 0; i < shape.rank; i++) shape.dim[i] = x.dim[i + without];
  Id v = value_new(m, value_at(m, like)->type, &shape, IMP_MADE, name);
  vec_push(m->arena, &c->cell.in, v);
  return v;
}

// Repeats a value for every step.
static Id repeat_for_steps(ImpNode *n, Id v, ImpSize steps) {
  Importer *m = n->m;
  uint32_t rank = value_at(m, v)->shape.rank;
  if (rank == ONNX_RANK_LIMIT) return 0;
  const char *at = join_words(m, rank, imp_letter + 1);
  Id all = equation(n, IN(v), "[i:%s %s] = $0[%s]", dim_text(m, steps), at, at);
  if (all) value_at(m, all)->onnx = value_at(m, v)->onnx;
  return all;
}

// A result must be made by a line of the step, and be distinct from other results.
static Id make_own_result(StepCell *c, Id v, uint32_t from) {
  Importer *m = c->n->m;
  bool own = false;
  for (uint32_t i = from; i < m->line.n && !own; i++) own = m->line.at[i].out.at[0] == v;
  for (uint32_t i = 0; i < c->cell.out.n; i++) own &= c->cell.out.at[i] != v;
  if (own) return v;
  return equation(c->n, IN(v), "[*] = $0");
}

static bool same_shape(Importer *m, Id a, Id b) {
  const ImpShape *x = &value_at(m, a)->shape, *y = &value_at(m, b)->shape;
  bool same = x->rank == y->rank;
  for (uint32_t i = 0; same && i < x->rank; i++) same = dim_same(x->dim[i], y->dim[i]);
  return same;
}

static bool is_repeatable(Importer *m, Id v) {
  const ImpValue *x = value_at(m, v);
  return x->type != ONNX_BOOL && !x->labels && (x->kind != IMP_CONST || x->data);
}

// Collects the lines of the step that its results need. False: one turned outer sizes into
// constants.
static bool collect_lines(StepCell *c, uint32_t from) {
  Importer *m = c->n->m;
  bool *wanted = NEW_ARRAY(m->arena, bool, m->value.n),
       *live = NEW_ARRAY(m->arena, bool, m->line.n + 1);
  for (uint32_t i = 0; i < c->cell.out.n; i++) wanted[c->cell.out.at[i]] = true;
  for (uint32_t i = m->line.n; i-- > from;) {
    const ImpLine *l = &m->line.at[i];
    for (uint32_t k = 0; k < l->out.n; k++)
      if (l->out.at[k] < c->first) return false;
    for (uint32_t k = 0; k < l->out.n; k++) live[i] |= wanted[l->out.at[k]];
    for (uint32_t k = 0; live[i] && k < l->read.n; k++) wanted[l->read.at[k].value] = true;
  }
  for (uint32_t i = from; i < m->line.n; i++)
    if (live[i]) vec_push(m->arena, &c->cell.line, m->line.at[i]);
  return true;
}

// -- captured values ------------------------------------------------------------------------------
static bool is_made_in_step(const StepCell *c, Id v) {
  for (uint32_t i = 0; i < c->cell.in.n; i++)
    if (c->cell.in.at[i] == v) return true;
  for (uint32_t i = 0; i < c->cell.line.n; i++)
    for (uint32_t k = 0; k < c->cell.line.at[i].out.n; k++)
      if (c->cell.line.at[i].out.at[k] == v) return true;
  return false;
}

static bool pass_captured(StepCell *c) {
  Importer *m = c->n->m;
  VEC(Id) outer = {0}, inner = {0};
  for (uint32_t i = 0; i < c->cell.line.n; i++) {
    ImpLine *l = &c->cell.line.at[i];
    l->read.at = arena_copy(m->arena, l->read.at, l->read.n * sizeof *l->read.at);
    for (uint32_t k = 0; k < l->read.n; k++) {
      Id v = l->read.at[k].value;
      uint32_t at = 0;
      if (value_at(m, v)->kind == IMP_CONST || is_made_in_step(c, v)) continue;
      while (at < outer.n && outer.at[at] != v) at++;
      if (at == outer.n) {
        if (!is_repeatable(m, v) || value_at(m, v)->box) return false;
        vec_push(m->arena, &outer, v);
        vec_push(m->arena, &inner, input_like(c, value_at(m, v)->onnx, v, 0));
      }
      l->read.at[k].value = inner.at[at];
    }
  }
  for (uint32_t i = 0; i < outer.n; i++) vec_push(m->arena, &c->along, outer.at[i]);
  return c->along.n + c->s->rows <= ROWS_MOST;
}

// -- sizes with a name ----------------------------------------------------------------------------
static bool line_has_word(Importer *m, const ImpLine *l, const char *word) {
  bool has = text_has_word(l->form.left, word) || text_has_word(l->form.right, word);
  for (uint32_t i = 0; i < l->read.n; i++) has |= text_has_word(l->read.at[i].index, word);
  for (uint32_t i = 0; i < l->out.n; i++)
    for (uint32_t k = 0; k < value_at(m, l->out.at[i])->shape.rank; k++)
      has |= text_has_word(value_at(m, l->out.at[i])->shape.dim[k].text, word);
  return has;
}

// Symbolic sizes used in the step become its inputs, otherwise they would be undefined there.
static bool sizes_are_seen(StepCell *c) {
  Importer *m = c->n->m;
  for (uint32_t s = 1; s < m->value.n; s++) {
    const char *word = value_at(m, s)->symbol ? value_at(m, s)->known[0].text : NULL;
    bool seen = false, used = false;
    for (uint32_t i = 0; word && i < c->cell.in.n; i++) {
      const ImpShape *x = &value_at(m, c->cell.in.at[i])->shape;
      for (uint32_t k = 0; k < x->rank; k++) {
        bool plain = x->dim[k].text && !strcmp(x->dim[k].text, word);
        seen |= plain, used |= !plain && text_has_word(x->dim[k].text, word);
      }
    }
    for (uint32_t i = 0; word && i < c->cell.line.n; i++)
      used |= line_has_word(m, &c->cell.line.at[i], word);
    if (used && !seen) return false;
  }
  return true;
}

// -- the whole ------------------------------------------------------------------------------------
static bool make_cell(StepCell *c) {
  ImpNode *n = c->n;
  Importer *m = n->m;
  Steps *s = c->s;
  uint32_t from = m->line.n, boxes = m->box.n;
  for (uint32_t i = 0; i < s->rows; i++) {
    if (!is_repeatable(m, s->row[i])) return false;
    s->in[s->row_in + i] = input_like(c, s->graph->input.at[s->row_in + i].name, s->row[i], 1);
  }
  for (uint32_t i = 0; i < s->carried; i++) {
    if (!is_repeatable(m, s->start[i])) return false;
    s->in[s->carry_in + i] =
        input_like(c, s->graph->input.at[s->carry_in + i].name, s->start[i], 0);
  }
  const Id *out = run_graph(n, s->graph, s->in, s->graph->input.n);
  if (!out || m->box.n != boxes) return false;
  for (uint32_t i = 0; i < s->carried + s->gathered; i++) {
    Id v = out[s->carry_out + i];
    if (!is_repeatable(m, v) || (i < s->carried && !same_shape(m, v, s->start[i]))) return false;
    vec_push(m->arena, &c->cell.out, make_own_result(c, v, from));
  }
  if (m->diags->errors || !collect_lines(c, from)) return false;
  m->line.n = from;
  uint32_t known = c->cell.in.n;
  if (!pass_captured(c)) return false;
  Ids in = {0}; // rows, captured values, carried values
  for (uint32_t i = 0; i < s->rows; i++) vec_push(m->arena, &in, c->cell.in.at[i]);
  for (uint32_t i = known; i < c->cell.in.n; i++) vec_push(m->arena, &in, c->cell.in.at[i]);
  for (uint32_t i = s->rows; i < known; i++) vec_push(m->arena, &in, c->cell.in.at[i]);
  c->cell.in = in;
  for (uint32_t i = s->carried; i < c->cell.out.n; i++)
    input_like(c, "before", c->cell.out.at[i], 0);
  return sizes_are_seen(c);
}

// The last row of a carried value.
static Id add_last_row(ImpNode *n, Id all) {
  Importer *m = n->m;
  ImpShape x = value_at(m, all)->shape;
  const char *at = index_letters(m, x.rank - 1),
             *last = dim_inside(m, dim_op(m, '-', x.dim[0], dim_of(1)));
  return equation(n, IN(all), "[%s] = $0[%s %s]", at, last, at);
}

// The initial value of a scan. Its axes must not have the letter of the steps, which would be
// iterated.
static Id add_initial_state(ImpNode *n, Id v) {
  Importer *m = n->m;
  uint32_t rank = value_at(m, v)->shape.rank;
  const char *at = join_words(m, rank, imp_letter + 1);
  if (value_at(m, v)->kind != IMP_MADE || !rank) return v;
  return equation(n, IN(v), "[%s] = $0[%s]", at, at);
}

static Id *add_scan_line(StepCell *c) {
  ImpNode *n = c->n;
  Importer *m = n->m;
  const Steps *s = c->s;
  Buf right = buf_new(m->arena);
  VEC(ImpRead) read = {0};
  uint32_t results = s->carried + s->gathered;
  Id *all = NEW_ARRAY(m->arena, Id, results + 1);
  for (uint32_t i = 0; i < s->rows; i++) vec_push(m->arena, &read, (ImpRead){s->row[i], NULL});
  for (uint32_t i = 0; i < c->along.n; i++) {
    Id v = repeat_for_steps(n, c->along.at[i], s->steps);
    if (!v) return NULL;
    vec_push(m->arena, &read, (ImpRead){v, NULL});
  }
  for (uint32_t i = 0; i < s->carried; i++)
    vec_push(m->arena, &read, (ImpRead){add_initial_state(n, s->start[i]), NULL});
  buf_printf(&right, "scan[i, %s](", c->cell.name);
  for (uint32_t i = 0; i < read.n; i++) buf_printf(&right, "%s$%u", i ? ", " : "", i);
  buf_char(&right, ')');
  for (uint32_t i = 0; i < results; i++) {
    ImpShape x = value_at(m, c->cell.out.at[i])->shape, wide = {.rank = x.rank + 1};
    OnnxType type = value_at(m, c->cell.out.at[i])->type;
    if (wide.rank > ONNX_RANK_LIMIT) return NULL;
    wide.dim[0] = s->steps;
    for (uint32_t k = 0; k < x.rank; k++) wide.dim[k + 1] = x.dim[k];
    if (!i)
      all[i] = add_line(n, type, &wide, (ImpForm){.right = right.at}, read.at, read.n);
    else
      all[i] = value_new(m, type, &wide, IMP_MADE, "");
    if (i) vec_push(m->arena, &m->line.at[m->line.n - 1].out, all[i]);
  }
  return all;
}

bool add_step_scan(ImpNode *n, Steps *s) {
  Importer *m = n->m;
  ImpMark before = mark_state(m);
  StepCell c = {.n = n, .s = s, .first = m->value.n};
  if (!s->rows || !(s->carried + s->gathered) || !make_cell(&c)) return undo_to(m, before, c.first);
  c.cell.name = name_make(
      m, arena_format(m->arena, "%s_step", n->node->out.n ? n->node->out.at[0] : ""), "step");
  vec_push(m->arena, &m->cell, c.cell);
  const Id *all = add_scan_line(&c);
  if (!all || m->diags->errors) return undo_to(m, before, c.first);
  for (uint32_t i = 0; i < s->carried; i++) s->last[i] = add_last_row(n, all[i]);
  for (uint32_t i = 0; i < s->gathered; i++) s->all[i] = all[s->carried + i];
  return true;
}
