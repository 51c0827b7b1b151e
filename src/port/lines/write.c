// Writes lines as a program: removes dead lines, then writes helper boxes, constants, and the
// model: a learner if it has weights, otherwise a box.
//
// An index on the left has its size written, `i:3`, unless some read has it as a whole axis.
#include "base/words.h"
#include "port/lines/lines.h"

enum { INSIDE_LIMIT = 4000 }; // lines
// Elements of a constant in the text; larger ones are in the weights file.
enum { TEXT_CONST_LIMIT = 1024 };

typedef struct {
  Importer *m;
  Buf *b;
  bool *live, *live_cell; // [line], [cell]
  bool alone;             // weights but no inputs: a box, with its weights as learners beside it
  size_t seen;            // how much of the text has been assigned to nodes
  bool exact;             // a line with comparisons: constants keep their exact float values
  bool whole;             // a line without indices
  const ImpLine **inside; // [value] the line that is written inline at its reader; or NULL
} ImpWriter;

// -- dead code ------------------------------------------------------------------------------------
// Marks the cell of a scan line as used.
static void mark_cell(ImpWriter *w, const ImpLine *l) {
  for (uint32_t i = 0; i < w->m->cell.n; i++) {
    const char *begin = arena_format(w->m->arena, "scan[i, %s](", w->m->cell.at[i].name);
    if (!strncmp(l->form.right, begin, strlen(begin))) w->live_cell[i] = true;
  }
}

static void mark_cells(ImpWriter *w) {
  Importer *m = w->m;
  w->live_cell = NEW_ARRAY(m->arena, bool, m->cell.n + 1);
  for (uint32_t i = 0; m->cell.n && i < m->line.n; i++)
    if (w->live[i]) mark_cell(w, &m->line.at[i]);
  for (uint32_t i = m->cell.n; i-- > 0;)
    for (uint32_t k = 0; w->live_cell[i] && k < m->cell.at[i].line.n; k++) {
      const ImpLine *l = &m->cell.at[i].line.at[k];
      mark_cell(w, l);
      for (uint32_t r = 0; r < l->read.n; r++) value_at(m, l->read.at[r].value)->reads++;
    }
}

static void mark_live(ImpWriter *w) {
  Importer *m = w->m;
  bool *wanted = NEW_ARRAY(m->arena, bool, m->value.n);
  w->live = NEW_ARRAY(m->arena, bool, m->line.n + 1);
  for (uint32_t i = 0; i < m->value.n; i++) m->value.at[i].reads = 0;
  for (uint32_t i = 0; i < m->output.n; i++) {
    wanted[m->output.at[i]] = true;
    value_at(m, m->output.at[i])->reads++;
  }
  for (uint32_t i = m->line.n; i-- > 0;) {
    const ImpLine *l = &m->line.at[i];
    for (uint32_t k = 0; k < l->out.n; k++) w->live[i] |= wanted[l->out.at[k]];
    for (uint32_t k = 0; w->live[i] && k < l->read.n; k++) {
      wanted[l->read.at[k].value] = true;
      value_at(m, l->read.at[k].value)->reads++;
    }
  }
  mark_cells(w);
}

// Running statistics of a norm that did not become a library box are constants: they are not
// trained.
static void freeze_statistics(const ImpWriter *w) {
  for (uint32_t i = 0; i < w->m->line.n; i++) {
    const ImpLine *l = &w->m->line.at[i];
    bool norm = w->live[i] && l->node && !strcmp(l->node->op, "BatchNormalization") && !l->part.n;
    for (uint32_t k = 1; norm && l->read.n == 5 && k < 3; k++) {
      ImpValue *v = value_at(w->m, l->read.at[k].value);
      if (v->kind == IMP_WEIGHT && v->reads == 1) v->kind = IMP_CONST;
    }
  }
}

// Inlines arithmetic whose only reader is a chain of boxes: `relu(a + b)`.
static void inline_lines(ImpWriter *w, const ImpLine *line, uint32_t n, const bool *live) {
  Importer *m = w->m;
  for (uint32_t i = 0; i < n; i++) {
    const ImpLine *l = &line[i];
    if ((live && !live[i]) || !l->part.n || l->read.n != 1) continue;
    const ImpValue *v = value_at(m, l->read.at[0].value);
    if (v->kind != IMP_MADE || v->reads != 1) continue;
    for (uint32_t k = 0; k < i; k++) {
      const ImpLine *from = &line[k];
      bool its = (!live || live[k]) && from->out.n == 1 && from->out.at[0] == l->read.at[0].value;
      if (its && !from->part.n && from->read.n <= 3 && line_is_placewise(m, from))
        w->inside[from->out.at[0]] = from;
    }
  }
}

static void inline_all_lines(ImpWriter *w) {
  Importer *m = w->m;
  w->inside = NEW_ARRAY(m->arena, const ImpLine *, m->value.n);
  if (m->line.n > INSIDE_LIMIT) return;
  inline_lines(w, m->line.at, m->line.n, w->live);
  for (uint32_t i = 0; i < m->block.n; i++) {
    const ImpBlock *b = &m->block.at[i];
    inline_lines(w, b->line, b->n, NULL);
    w->inside[b->out] = NULL; // it is returned, so it needs a name
  }
}

static bool is_inline(const ImpValue *v) { return value_is_number(v) && !v->spelt; }

static void name_cell(Importer *m, const ImpCell *c) {
  for (uint32_t i = 0; i < c->in.n; i++) {
    ImpValue *v = value_at(m, c->in.at[i]);
    v->name = name_make(m, v->onnx, "x");
  }
  for (uint32_t i = 0; i < c->line.n; i++)
    for (uint32_t k = 0; k < c->line.at[i].out.n; k++) {
      ImpValue *v = value_at(m, c->line.at[i].out.at[k]);
      v->name = name_make(m, v->onnx, "y");
    }
}

static void name_all(ImpWriter *w) {
  Importer *m = w->m;
  for (uint32_t i = 0; i < m->input.n; i++) {
    ImpValue *v = value_at(m, m->input.at[i]);
    v->name = name_make(m, v->onnx, "x");
  }
  for (uint32_t i = 1; i < m->value.n; i++) {
    ImpValue *v = value_at(m, i);
    bool fixed = v->kind == IMP_CONST || v->kind == IMP_WEIGHT;
    if (fixed && v->reads && !v->name && !is_inline(v)) v->name = name_make(m, v->onnx, "c");
  }
  for (uint32_t i = 0; i < m->block.n; i++)
    for (uint32_t k = 0; k < m->block.at[i].n; k++) {
      Id out = m->block.at[i].line[k].out.at[0];
      if (!w->inside[out]) value_at(m, out)->name = name_make(m, value_at(m, out)->onnx, "y");
    }
  for (uint32_t i = 0; i < m->line.n; i++)
    for (uint32_t k = 0; w->live[i] && k < m->line.at[i].out.n; k++) {
      Id out = m->line.at[i].out.at[k];
      if (!w->inside[out]) value_at(m, out)->name = name_make(m, value_at(m, out)->onnx, "y");
    }
  for (uint32_t i = 0; i < m->cell.n; i++)
    if (w->live_cell[i]) name_cell(m, &m->cell.at[i]);
}

// -- types and numbers ----------------------------------------------------------------------------
static void put_type(ImpWriter *w, const ImpValue *v) {
  if (v->labels)
    buf_printf(w->b, "{%lld}", (long long)v->labels);
  else
    buf_char(w->b, v->type == ONNX_BOOL ? 'B' : 'R');
  if (v->labels && !v->shape.rank) return;
  buf_char(w->b, '[');
  for (uint32_t i = 0; i < v->shape.rank; i++)
    buf_printf(w->b, "%s%s", i ? " " : "", dim_text(w->m, v->shape.dim[i]));
  buf_char(w->b, ']');
}

static void put_list(ImpWriter *w, const ImpValue *v, uint32_t axis, int64_t *at) {
  if (axis == v->shape.rank) {
    const char *text = number_term(w->m, v->data[(*at)++]);
    size_t n = strlen(text);
    bool closed = *text == '(' && text[1] == '-';
    buf_add(w->b, closed ? text + 1 : text, closed ? n - 2 : n);
    return;
  }
  buf_char(w->b, '[');
  for (int64_t i = 0; i < v->shape.dim[axis].n; i++) {
    if (i) buf_text(w->b, ", ");
    put_list(w, v, axis + 1, at);
  }
  buf_char(w->b, ']');
}

// Adds an array to the weights file.
static void save_array(ImpWriter *w, const ImpValue *v, const char *name, Imported *out) {
  Importer *m = w->m;
  int64_t *shape = NEW_ARRAY(m->arena, int64_t, v->shape.rank + 1);
  for (uint32_t k = 0; k < v->shape.rank; k++) shape[k] = v->shape.dim[k].n;
  Array x = {.name = name,
             .rank = v->shape.rank,
             .shape = shape,
             .count = shape_count(&v->shape),
             .data = v->data,
             .kind = v->type == ONNX_FLOAT || onnx_type_info[v->type].bits < 32 ? EL_F32 : EL_F64};
  vec_push(m->arena, &out->weights.array, x);
}

static void put_consts(ImpWriter *w, Imported *out) {
  for (uint32_t i = 1; i < w->m->value.n; i++) {
    const ImpValue *v = value_at(w->m, i);
    int64_t at = 0;
    if (v->kind != IMP_CONST || !v->reads || !v->name || !v->data) continue;
    buf_printf(w->b, "const %s : ", v->name);
    put_type(w, v);
    if (shape_count(&v->shape) > TEXT_CONST_LIMIT && !w->m->how->numbers_inside) {
      buf_printf(w->b, " from \"%s\"\n", w->m->how->weights);
      save_array(w, v, v->name, out);
      continue;
    }
    buf_text(w->b, " = ");
    put_list(w, v, 0, &at);
    buf_char(w->b, '\n');
  }
}

// -- lines ----------------------------------------------------------------------------------------
static void put_template(ImpWriter *, const char *text, const ImpRead *read);

// `read`: the reads of the line, for indices that are reads.
static void put_read(ImpWriter *w, const ImpRead *r, const ImpRead *read) {
  const ImpValue *v = value_at(w->m, r->value);
  bool points = r->index && *r->index == '@', number = v->labels && !points;
  if (is_inline(v)) {
    bool near = v->type == ONNX_FLOAT && !w->exact; // the shortest decimal for the float: 1e-5
    const char *text = near ? short_term(w->m, (float)v->data[0]) : number_term(w->m, v->data[0]);
    buf_printf(w->b, v->type == ONNX_BOOL ? "bit(%s)" : "%s", text);
    return;
  }
  buf_printf(w->b, "%s%s", number ? "number(" : "", v->name);
  if (v->shape.rank && r->index && r->index[points] && !w->whole) {
    buf_char(w->b, '[');
    put_template(w, r->index + points, read);
    buf_char(w->b, ']');
  }
  if (number) buf_char(w->b, ')');
}

// Parses the number after `$`.
static uint32_t read_number(const char **at) {
  uint32_t k = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) k = 10 * k + (uint32_t)(**at - '0');
  return k;
}

// Juxtaposed wires are multiplied, `$0 $1`; next to a number, `*` is needed. at: the blank between
// them.
static bool needs_multiply_sign(ImpWriter *w, const char *at, const char *text,
                                const ImpRead *read) {
  const char *back = at;
  while (back > text && back[-1] >= '0' && back[-1] <= '9') back--;
  if (*at != ' ' || at[1] != '$' || back == at || back == text || back[-1] != '$') return false;
  const char *next = at + 2;
  Id left = read[read_number(&back)].value, right = read[read_number(&next)].value;
  return is_inline(value_at(w->m, left)) || is_inline(value_at(w->m, right));
}

static void put_template(ImpWriter *w, const char *text, const ImpRead *read) {
  for (const char *at = text; *at; at++) {
    if (*at != '$') {
      if (*at != ' ' || (at > text && at[1])) buf_char(w->b, *at);
      if (needs_multiply_sign(w, at, text, read)) buf_text(w->b, "* ");
      continue;
    }
    at++;
    put_read(w, &read[read_number(&at)], read);
    at--;
  }
}

static void put_right(ImpWriter *w, const ImpLine *l) {
  w->exact = strpbrk(l->form.right, "<>=") || strstr(l->form.right, "floor") ||
             strstr(l->form.right, "round");
  put_template(w, l->form.right, l->read.at);
  if (l->form.pad) buf_printf(w->b, "   pad %s", l->form.pad);
}

// Marks the reads that the template uses.
static bool *reads_used(Importer *m, const ImpLine *l) {
  bool *used = NEW_ARRAY(m->arena, bool, l->read.n + 1);
  for (uint32_t i = 0; i <= l->read.n; i++) {
    const char *at = i ? l->read.at[i - 1].index : l->form.right;
    while (at && (at = strchr(at, '$'))) {
      at++;
      uint32_t k = read_number(&at);
      if (k < l->read.n) used[k] = true;
    }
  }
  return used;
}

static bool has_index(const char *list, const char *index, size_t n) {
  size_t m;
  for (const char *at = list; at && (at = next_index(at, &m)); at += m)
    if (m == n && !memcmp(at, index, n)) return true;
  return false;
}

static bool is_plain(const ImpWriter *w, const ImpLine *l, const bool *used, const char *index,
                     size_t n) {
  for (uint32_t k = 0; k < l->read.n; k++) {
    const ImpValue *v = value_at(w->m, l->read.at[k].value);
    const char *at = l->read.at[k].index;
    if (!at || is_inline(v) || !v->shape.rank || !used[k]) continue;
    if (has_index(*at == '@' ? at + 1 : at, index, n)) return true;
  }
  return false;
}

// `sum[i](c[i])` of a constant: only the axes of c say the range of i, so it needs a name.
static void mark_named_constants(ImpWriter *w, const ImpLine *l) {
  size_t n;
  const bool *used = reads_used(w->m, l);
  for (uint32_t k = 0; k < l->read.n; k++) {
    ImpValue *v = value_at(w->m, l->read.at[k].value);
    const char *at = l->read.at[k].index;
    if (!at || !v->shape.rank || !used[k] || !is_inline(v)) continue;
    for (; (at = next_index(at, &n)); at += n)
      if (char_is_letter(*at) && !has_index(l->form.left, at, n) && !is_plain(w, l, used, at, n))
        v->spelt = true;
  }
}

static void mark_all_named(ImpWriter *w) {
  for (uint32_t i = 0; i < w->m->line.n; i++)
    if (w->live[i]) mark_named_constants(w, &w->m->line.at[i]);
  for (uint32_t i = 0; i < w->m->block.n; i++)
    for (uint32_t k = 0; k < w->m->block.at[i].n; k++)
      mark_named_constants(w, &w->m->block.at[i].line[k]);
  for (uint32_t i = 0; i < w->m->cell.n; i++)
    for (uint32_t k = 0; w->live_cell[i] && k < w->m->cell.at[i].line.n; k++)
      mark_named_constants(w, &w->m->cell.at[i].line.at[k]);
}

static const char index_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

// An elementwise line needs no indices, unless loops refer to axes by name.
bool line_is_placewise(const Importer *m, const ImpLine *l) {
  uint32_t wires = 0;
  if (m->how->flat || has_loops(m) || !l->form.left || !*l->form.left || l->form.pad) return false;
  for (const char *at = l->form.right; *at; at++) {
    if (!strchr("$0123456789.+-*/() ", *at)) return false;
    if (*at == '$' && at > l->form.right + 1 && at[-1] == ' ' && !strchr("+-*/", at[-2]))
      return false;
  }
  for (uint32_t i = 0; i < l->read.n; i++) {
    const ImpValue *v = &m->value.at[l->read.at[i].value];
    if (is_inline(v)) continue;
    if (v->labels || !l->read.at[i].index || strcmp(l->read.at[i].index, l->form.left) != 0)
      return false;
    wires++;
  }
  return wires;
}

static void put_left(ImpWriter *w, const ImpLine *l) {
  const ImpValue *v = value_at(w->m, l->out.at[0]);
  size_t n;
  uint32_t k = 0;
  if (!v->shape.rank) return;
  const bool *used = reads_used(w->m, l);
  buf_char(w->b, '[');
  for (const char *at = l->form.left; (at = next_index(at, &n)); at += n, k++) {
    buf_printf(w->b, "%s%.*s", k ? " " : "", (int)n, at);
    bool letter = char_is_letter(*at) && strspn(at, index_characters) >= n;
    if (letter && !is_plain(w, l, used, at, n))
      buf_printf(w->b, ":%s", dim_text(w->m, v->shape.dim[k]));
  }
  buf_char(w->b, ']');
}

static void put_chain(ImpWriter *w, const ImpLine *l) {
  if (l->part.n > 1 || l->part.at[0].block) buf_char(w->b, '(');
  for (uint32_t i = 0; i < l->part.n; i++)
    buf_printf(w->b, "%s%s", i ? " ; " : "", l->part.at[i].text);
  if (l->part.n > 1 || l->part.at[0].block) buf_char(w->b, ')');
  const ImpLine *from = w->inside[l->read.at[0].value];
  buf_char(w->b, '(');
  if (from)
    w->whole = true, put_right(w, from);
  else
    buf_text(w->b, value_at(w->m, l->read.at[0].value)->name);
  buf_char(w->b, ')');
}

// A block with further inputs is written as a loop.
static void put_loop(ImpWriter *w, const ImpLine *l) {
  const ImpBlock *b = &w->m->block.at[l->part.at[0].block - 1];
  const char *y = value_at(w->m, l->out.at[0])->name;
  buf_printf(w->b, "  %s = %s\n  for n in 1..%u {\n    %s = %s(%s", y,
             value_at(w->m, l->read.at[0].value)->name, b->times, y, b->name, y);
  for (uint32_t i = 1; i < l->read.n; i++)
    buf_printf(w->b, ", %s", value_at(w->m, l->read.at[i].value)->name);
  buf_text(w->b, ")\n  }\n");
}

static void put_line(ImpWriter *w, const ImpLine *l) {
  if (w->inside[l->out.at[0]]) return;
  if (l->part.n && l->part.at[0].block && l->read.n > 1) {
    put_loop(w, l);
    return;
  }
  buf_text(w->b, "  ");
  for (uint32_t k = 0; k < l->out.n; k++)
    buf_printf(w->b, "%s%s", k ? ", " : "", value_at(w->m, l->out.at[k])->name);
  w->whole = line_is_placewise(w->m, l);
  if (l->form.left && !w->whole) put_left(w, l);
  buf_text(w->b, " = ");
  if (l->part.n)
    put_chain(w, l);
  else
    put_right(w, l);
  buf_char(w->b, '\n');
}

// -- boxes of the program's own -------------------------------------------------------------------
static void put_argument(ImpWriter *w, Id v, bool next) {
  buf_printf(w->b, "%s%s: ", next ? ", " : "", value_at(w->m, v)->name);
  put_type(w, value_at(w->m, v));
}

static void put_block_weights(ImpWriter *w, const ImpBlock *b) {
  for (uint32_t i = 0; i < b->n; i++)
    for (uint32_t k = 0; k < b->line[i].read.n; k++) {
      const ImpValue *v = value_at(w->m, b->line[i].read.at[k].value);
      if (v->kind != IMP_WEIGHT || !v->path) continue;
      buf_printf(w->b, "  learn %s : ", v->name);
      put_type(w, v);
      buf_text(w->b, " = 0\n");
    }
}

// Does a line or input of the block have this name?
static bool block_has(const ImpWriter *w, const ImpBlock *b, const char *name) {
  for (uint32_t i = 0; i < b->more.n; i++)
    if (!strcmp(value_at(w->m, b->more.at[i])->name, name)) return true;
  for (uint32_t i = 0; i < b->n; i++) {
    const char *out = value_at(w->m, b->line[i].out.at[0])->name;
    if (out && !strcmp(out, name)) return true;
    for (uint32_t k = 0; k < b->line[i].read.n; k++) {
      const ImpValue *v = value_at(w->m, b->line[i].read.at[k].value);
      if (v->name && !strcmp(v->name, name)) return true;
    }
  }
  return false;
}

// The carried value has its own name inside the block.
static void put_block(ImpWriter *w, const ImpBlock *b) {
  ImpValue *in = value_at(w->m, b->in);
  const char *outside = in->name;
  const ImpLine *from = w->inside[b->in];
  w->inside[b->in] = NULL;
  if (!block_has(w, b, "x"))
    in->name = "x";
  else if (!outside)
    in->name = name_make(w->m, in->onnx, "x");
  if (b->sizes) { // the types depend on the sizes, so they are left open
    buf_printf(w->b, *b->sizes ? "box %s[%s]" : "box %s%s", b->name, b->sizes);
    buf_printf(w->b, "(%s) {\n", in->name);
  } else {
    buf_printf(w->b, "box %s(", b->name);
    put_argument(w, b->in, false);
    for (uint32_t i = 0; i < b->more.n; i++) put_argument(w, b->more.at[i], true);
    buf_text(w->b, ") -> ");
    put_type(w, value_at(w->m, b->out));
    buf_text(w->b, " {\n");
  }
  put_block_weights(w, b);
  for (uint32_t i = 0; i < b->n; i++) put_line(w, &b->line[i]);
  buf_printf(w->b, "  return %s\n}\n", value_at(w->m, b->out)->name);
  in->name = outside, w->inside[b->in] = from;
}

static void put_cell(ImpWriter *w, const ImpCell *c) {
  buf_printf(w->b, "box %s(", c->name);
  for (uint32_t i = 0; i < c->in.n; i++) put_argument(w, c->in.at[i], i);
  buf_text(w->b, ") -> ");
  for (uint32_t i = 0; i < c->out.n; i++) {
    buf_text(w->b, i ? ", " : "");
    put_type(w, value_at(w->m, c->out.at[i]));
  }
  buf_text(w->b, " {\n");
  for (uint32_t i = 0; i < c->line.n; i++) put_line(w, &c->line.at[i]);
  for (uint32_t i = 0; i < c->out.n; i++)
    buf_printf(w->b, "%s%s", i ? ", " : "  return ", value_at(w->m, c->out.at[i])->name);
  buf_text(w->b, "\n}\n");
}

// -- the model ------------------------------------------------------------------------------------
static bool has_weights(const ImpWriter *w) {
  for (uint32_t i = 1; i < w->m->value.n; i++)
    if (value_at(w->m, i)->kind == IMP_WEIGHT && value_at(w->m, i)->reads) return true;
  return false;
}

static void put_head(ImpWriter *w, bool learner) {
  Importer *m = w->m;
  buf_text(w->b, learner ? "learn model(" : "box model(");
  for (uint32_t i = 0; i < m->input.n; i++) {
    const ImpValue *v = value_at(m, m->input.at[i]);
    buf_printf(w->b, "%s%s: ", i ? ", " : "", v->name);
    put_type(w, v);
  }
  buf_text(w->b, ") -> ");
  for (uint32_t i = 0; i < m->output.n; i++) {
    if (i) buf_text(w->b, ", ");
    put_type(w, value_at(m, m->output.at[i]));
  }
  buf_text(w->b, " {\n");
}

// The path of a weight of a cell goes through its scan, numbered if there are several.
static const char *weight_path(const ImpWriter *w, const ImpValue *v) {
  Importer *m = w->m;
  uint32_t scans = 0, which = 0;
  if (v->path) return v->path;
  if (w->alone) return v->name;
  if (!v->box) return arena_format(m->arena, "model/%s", v->name);
  const char *begin = arena_format(m->arena, "scan[i, %s]", v->box);
  for (uint32_t i = 0; i < m->line.n; i++) {
    const char *right = m->line.at[i].form.right;
    scans += w->live[i] && !strncmp(right, "scan[", 5);
    if (w->live[i] && !strncmp(right, begin, strlen(begin))) which = scans;
  }
  const char *scan = scans > 1 ? arena_format(m->arena, "scan.%u", which) : "scan";
  return arena_format(m->arena, "model/%s/%s/%s", scan, v->box, v->name);
}

static void put_weights(ImpWriter *w, Imported *out) {
  Importer *m = w->m;
  for (uint32_t i = 1; i < m->value.n; i++) {
    const ImpValue *v = value_at(m, i);
    if (v->kind != IMP_WEIGHT || !v->reads) continue;
    if (!v->box && !v->path) {
      buf_printf(w->b, "%slearn %s : ", w->alone ? "" : "  ", v->name);
      put_type(w, v);
      buf_text(w->b, " = 0");
      if (w->alone) buf_printf(w->b, " from \"%s\"", m->how->weights);
      buf_char(w->b, '\n');
    }
    save_array(w, v, weight_path(w, v), out);
  }
}

static void put_return(ImpWriter *w) {
  Importer *m = w->m;
  w->whole = false;
  buf_text(w->b, "  return ");
  for (uint32_t i = 0; i < m->output.n; i++) {
    const ImpValue *v = value_at(m, m->output.at[i]);
    if (i) buf_text(w->b, ", ");
    put_read(w, &(ImpRead){m->output.at[i], v->labels ? "@" : NULL}, NULL);
  }
  buf_text(w->b, "\n}");
}

// -- the boxes that are mentioned -----------------------------------------------------------------
static const char *const box_list[][2] = {
#define BOX(name, text) {name, text},
#include "port/lines/boxes.def"
#undef BOX
};

// A helper box may use those before it in the table.
static const char *boxes_of(Importer *m, const char *program) {
  bool used[COUNT(box_list)] = {false};
  Buf b = buf_new(m->arena);
  for (uint32_t i = COUNT(box_list); i-- > 0;) {
    used[i] = text_has_word(program, box_list[i][0]);
    for (uint32_t k = i + 1; k < COUNT(box_list); k++)
      used[i] |= used[k] && text_has_word(box_list[k][1], box_list[i][0]);
  }
  for (uint32_t i = 0; i < COUNT(box_list); i++)
    if (used[i]) buf_printf(&b, "%s\n", box_list[i][1]);
  return b.at;
}

// Assigns the lines written since the last call to a node.
static void place_node(ImpWriter *w, Imported *out, const OnnxNode *node) {
  const char *end = w->b->at + w->b->n;
  for (const char *at = w->b->at + w->seen; at < end; at++)
    if (*at == '\n') vec_push(w->m->arena, &out->node, node ? node_shown(w->m->arena, node) : NULL);
  w->seen = w->b->n;
}

void write_program(Importer *m, Imported *out) {
  Buf body = buf_new(m->arena), all = buf_new(m->arena);
  ImpWriter w = {.m = m, .b = &body};
  *out = (Imported){0};
  mark_live(&w);
  w.alone = !m->input.n && has_weights(&w);
  if (!m->how->flat && !w.alone) {
    batch_axis_remove(m, w.live);
    attention_match(m, w.live);
    library_calls_make(m, w.live);
    axis_moves_fold(m, w.live);
  }
  freeze_statistics(&w);
  index_letters_assign(m, w.live);
  if (!m->how->flat && !w.alone) {
    repeats_to_blocks(m, w.live);
    weight_paths_assign(m, w.live);
  }
  inline_all_lines(&w);
  mark_all_named(&w);
  name_all(&w);
  bool learner = has_weights(&w) && !w.alone;
  put_consts(&w, out);
  for (uint32_t i = 0; i < m->box.n; i++) buf_text(&body, m->box.at[i]);
  for (uint32_t i = 0; i < m->cell.n; i++)
    if (w.live_cell[i]) put_cell(&w, &m->cell.at[i]);
  for (uint32_t i = 0; i < m->block.n; i++) put_block(&w, &m->block.at[i]);
  if (w.alone) put_weights(&w, out);
  put_head(&w, learner);
  if (!w.alone) put_weights(&w, out);
  place_node(&w, out, NULL);
  for (uint32_t i = 0; i < m->line.n; i++) {
    if (!w.live[i]) continue;
    put_line(&w, &m->line.at[i]);
    place_node(&w, out, m->line.at[i].node);
  }
  put_return(&w);
  if (learner) buf_printf(&body, " from \"%s\"", m->how->weights);
  buf_char(&body, '\n');
  const char *boxes = boxes_of(m, body.at);
  buf_printf(&all, "%s%s", boxes, body.at);
  for (const char *at = boxes; *at; at++) out->before += *at == '\n';
  out->text = all.at;
}
