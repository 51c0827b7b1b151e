// Lines become text. What no output needs is left out. Order of the program: the small boxes that are mentioned, constants, then
// the model: a learner if it has weights, otherwise a box.
//
// A left index has its size written, `i:3`, unless a read has it as a plain place, which gives it.
#include "port/import/own.h"

enum { TEXT_CONST_LIMIT = 65536 };

typedef struct {
  Importer *m;
  Buf *b;
  bool *live; // [line]
} ImpWriter;

// -- what is needed ------------------------------------------------------------------------------
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
}

static bool is_inline(const ImpValue *v) {
  return v->kind == IMP_CONST && v->data && shape_count(&v->shape) == 1;
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
  for (uint32_t i = 0; i < m->line.n; i++)
    for (uint32_t k = 0; w->live[i] && k < m->line.at[i].out.n; k++) {
      ImpValue *v = value_at(m, m->line.at[i].out.at[k]);
      v->name = name_make(m, v->onnx, "y");
    }
}

// -- types and numbers ---------------------------------------------------------------------------
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

static void put_consts(ImpWriter *w) {
  for (uint32_t i = 1; i < w->m->value.n; i++) {
    const ImpValue *v = value_at(w->m, i);
    int64_t at = 0;
    if (v->kind != IMP_CONST || !v->reads || !v->name || !v->data) continue;
    buf_printf(w->b, "const %s : ", v->name);
    put_type(w, v);
    buf_text(w->b, " = ");
    put_list(w, v, 0, &at);
    buf_char(w->b, '\n');
  }
}

// -- lines ---------------------------------------------------------------------------------------
static void put_template(ImpWriter *, const char *text, const ImpRead *read);

// `read`: those of the line, which an index may be.
static void put_read(ImpWriter *w, const ImpRead *r, const ImpRead *read) {
  const ImpValue *v = value_at(w->m, r->value);
  bool points = r->index && *r->index == '@', number = v->labels && !points;
  if (is_inline(v)) {
    const char *text = number_term(w->m, v->data[0]);
    buf_printf(w->b, v->type == ONNX_BOOL ? "bit(%s)" : "%s", text);
    return;
  }
  buf_printf(w->b, "%s%s", number ? "number(" : "", v->name);
  if (v->shape.rank && r->index && r->index[points]) {
    buf_char(w->b, '[');
    put_template(w, r->index + points, read);
    buf_char(w->b, ']');
  }
  if (number) buf_char(w->b, ')');
}

static void put_template(ImpWriter *w, const char *text, const ImpRead *read) {
  for (const char *at = text; *at; at++) {
    if (*at != '$') {
      if (*at != ' ' || (at > text && at[1])) buf_char(w->b, *at);
      continue;
    }
    uint32_t k = 0;
    while (at[1] >= '0' && at[1] <= '9') k = 10 * k + (uint32_t)(*++at - '0');
    put_read(w, &read[k], read);
  }
}

static void put_right(ImpWriter *w, const ImpLine *l) {
  put_template(w, l->form.right, l->read.at);
  if (l->form.pad) buf_printf(w->b, "   pad %s", l->form.pad);
}

// The next of a list of indices: where it begins and how long it is.
static const char *next_index(const char *at, size_t *n) {
  int depth = 0;
  while (*at == ' ') at++;
  for (*n = 0; at[*n] && (at[*n] != ' ' || depth); (*n)++)
    depth += (at[*n] == '(') - (at[*n] == ')');
  return *n ? at : NULL;
}

// A line may have reads that it does not use.
static bool mentions_read(const ImpLine *l, uint32_t k) {
  char name[16];
  int n = snprintf(name, sizeof name, "$%u", k);
  for (uint32_t i = 0; i <= l->read.n; i++) {
    const char *at = i ? l->read.at[i - 1].index : l->form.right;
    for (; at && (at = strstr(at, name)); at++)
      if (at[n] < '0' || at[n] > '9') return true;
  }
  return false;
}

static bool is_plain(const ImpWriter *w, const ImpLine *l, const char *index, size_t n) {
  for (uint32_t k = 0; k < l->read.n; k++) {
    const ImpValue *v = value_at(w->m, l->read.at[k].value);
    const char *at = l->read.at[k].index;
    size_t m;
    if (!at || is_inline(v) || !v->shape.rank || !mentions_read(l, k)) continue;
    if (*at == '@') at++;
    for (; (at = next_index(at, &m)); at += m)
      if (m == n && !memcmp(at, index, n)) return true;
  }
  return false;
}

static const char index_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static void put_left(ImpWriter *w, const ImpLine *l) {
  const ImpValue *v = value_at(w->m, l->out.at[0]);
  size_t n;
  uint32_t k = 0;
  if (!v->shape.rank) return;
  buf_char(w->b, '[');
  for (const char *at = l->form.left; (at = next_index(at, &n)); at += n, k++) {
    buf_printf(w->b, "%s%.*s", k ? " " : "", (int)n, at);
    bool letter = char_is_letter(*at) && strspn(at, index_characters) >= n;
    if (letter && !is_plain(w, l, at, n)) buf_printf(w->b, ":%s", dim_text(w->m, v->shape.dim[k]));
  }
  buf_char(w->b, ']');
}

static void put_line(ImpWriter *w, const ImpLine *l) {
  buf_text(w->b, "  ");
  for (uint32_t k = 0; k < l->out.n; k++)
    buf_printf(w->b, "%s%s", k ? ", " : "", value_at(w->m, l->out.at[k])->name);
  if (l->form.left) put_left(w, l);
  buf_text(w->b, " = ");
  put_right(w, l);
  buf_char(w->b, '\n');
}

// -- the model -----------------------------------------------------------------------------------
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

static void put_weights(ImpWriter *w, Imported *out) {
  Importer *m = w->m;
  for (uint32_t i = 1; i < m->value.n; i++) {
    const ImpValue *v = value_at(m, i);
    if (v->kind != IMP_WEIGHT || !v->reads) continue;
    buf_printf(w->b, "  learn %s : ", v->name);
    put_type(w, v);
    buf_text(w->b, " = 0\n");
    int64_t *shape = NEW_ARRAY(m->arena, int64_t, v->shape.rank + 1);
    for (uint32_t k = 0; k < v->shape.rank; k++) shape[k] = v->shape.dim[k].n;
    Array x = {.name = arena_format(m->arena, "model/%s", v->name),
               .rank = v->shape.rank,
               .shape = shape,
               .count = shape_count(&v->shape),
               .data = v->data,
               .kind = v->type == ONNX_DOUBLE ? EL_F64 : EL_F32};
    vec_push(m->arena, &out->weights.array, x);
  }
}

static void put_return(ImpWriter *w) {
  Importer *m = w->m;
  buf_text(w->b, "  return ");
  for (uint32_t i = 0; i < m->output.n; i++) {
    const ImpValue *v = value_at(m, m->output.at[i]);
    if (i) buf_text(w->b, ", ");
    put_read(w, &(ImpRead){m->output.at[i], v->labels ? "@" : NULL}, NULL);
  }
  buf_text(w->b, "\n}");
}

// -- the boxes that are mentioned ----------------------------------------------------------------
static bool mentions(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n) {
    bool before = at > text && (char_is_word(at[-1]) || at[-1] == '_');
    bool after = char_is_word(at[n]) || at[n] == '_';
    if (!before && !after) return true;
  }
  return false;
}

static const char *const box_list[][2] = {
#define BOX(name, text) {name, text},
#include "port/import/boxes.def"
#undef BOX
};

// A box may mention those above it in the table.
static const char *boxes_of(Importer *m, const char *program) {
  bool used[COUNT(box_list)] = {false};
  Buf b = buf_new(m->arena);
  for (uint32_t i = COUNT(box_list); i-- > 0;) {
    used[i] = mentions(program, box_list[i][0]);
    for (uint32_t k = i + 1; k < COUNT(box_list); k++)
      used[i] |= used[k] && mentions(box_list[k][1], box_list[i][0]);
  }
  for (uint32_t i = 0; i < COUNT(box_list); i++)
    if (used[i]) buf_printf(&b, "%s\n", box_list[i][1]);
  return b.at;
}

void write_program(Importer *m, Imported *out) {
  Buf body = buf_new(m->arena), all = buf_new(m->arena);
  ImpWriter w = {.m = m, .b = &body};
  *out = (Imported){0};
  mark_live(&w);
  name_all(&w);
  bool learner = has_weights(&w);
  put_consts(&w);
  put_head(&w, learner);
  put_weights(&w, out);
  for (uint32_t i = 0; i < m->line.n; i++)
    if (w.live[i]) put_line(&w, &m->line.at[i]);
  put_return(&w);
  if (learner) buf_printf(&body, " from \"%s\"", m->how->weights);
  buf_char(&body, '\n');
  const char *boxes = boxes_of(m, body.at);
  buf_printf(&all, "%s%s", boxes, body.at);
  out->text = all.at;
}
