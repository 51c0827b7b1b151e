// Operators as equations: one text determines the sizes of the result, the reads, and the line.
//
//   equation(n, IN(a, b, c), "[i j] = $0[i k] $1[k j] + $2[*]")
//
// `$0` is the first operand, read at the indices after it. `*` stands for all axes, broadcast
// between the operands that have it; an operand without indices has `*`. `&` stands for the unnamed
// axes, the same everywhere; if there are none, a reduction over them is dropped, as in
// `mean[&](…)`. `$0[$1[i] j]` uses the second operand as label. An index on the left that no
// operand has as a plain index has its size there: `[i k:3]`. Without a left side, the result has
// the axes of the first operand.
#include "base/diag.h"
#include "base/number.h"
#include "port/import/own.h"

#include <assert.h>

typedef struct {
  const char *raw; // after the `$`
  size_t n;
} Occurrence;

typedef struct {
  ImpNode *n;
  const Id *in;
  const Named *named; // results of previous equations
  ImpShape wide;      // the broadcast shape of operands with `*`
  const char *rest;   // what & stands for; NULL: unknown
  bool kept;          // & occurs on the left too
  VEC(ImpRead) read;
  VEC(Occurrence) seen; // [read]
} Equation;

// -- texts ----------------------------------------------------------------------------------------
static size_t word_length(const char *at) {
  size_t n = 0;
  while (char_is_word(at[n])) n++;
  return n;
}

// After the bracket that matches the one at the beginning.
static const char *behind_bracket(const char *at) {
  int depth = 0;
  do depth += (*at == '[') - (*at == ']');
  while (*at++ && depth);
  return at;
}

// The operand that a name after `$` refers to; advances *at.
static Id operand(const Equation *e, const char **at) {
  size_t n = word_length(*at);
  const char *name = *at;
  *at += n;
  if (!char_is_letter(*name)) return e->in[(uint32_t)number_read(name, NULL)];
  uint32_t k = 0;
  while (strlen(e->named->name[k]) != n || memcmp(e->named->name[k], name, n) != 0) k++;
  return e->named->value[k];
}

// -- indices --------------------------------------------------------------------------------------
static uint32_t read_add(Equation *e, const char **at, bool points);

// `$1[i]` in an index list extends to the end of its own list.
static const char *next_token(const char *at, size_t *n) {
  int depth = 0;
  while (*at == ' ') at++;
  for (*n = 0; at[*n] && (depth || (at[*n] != ' ' && at[*n] != ']')); (*n)++)
    depth += (at[*n] == '(' || at[*n] == '[') - (at[*n] == ')' || at[*n] == ']');
  return *n ? at : NULL;
}

static uint32_t count_tokens(const char *list) {
  uint32_t count = 0;
  size_t n;
  for (const char *at = list; (at = next_token(at, &n)); at += n) count++;
  return count;
}

// The index list of an operand, as written in a line.
static const char *indices(Equation *e, Id v, const char *list) {
  Importer *m = e->n->m;
  uint32_t rank = value_at(m, v)->shape.rank, count = count_tokens(list), place = 0;
  Buf b = buf_new(m->arena);
  size_t n;
  for (const char *at = list; (at = next_token(at, &n)); at += n, place++) {
    if (b.n) buf_char(&b, ' ');
    if (*at == '*') {
      buf_text(&b, letters_of(m, v, &e->wide));
    } else if (*at == '&') {
      const char *const *letter = imp_letter + place + (e->kept ? 0 : ONNX_RANK_LIMIT);
      const char *rest = e->rest ? e->rest : "";
      if (!e->rest && rank + 1 > count) rest = join_words(m, rank + 1 - count, letter);
      e->rest = rest;
      buf_text(&b, rest);
      if (!*rest && b.n) b.at[--b.n] = 0;
    } else if (*at == '$') {
      const char *inner = at + 1;
      buf_printf(&b, "$%u", read_add(e, &inner, true));
    } else {
      buf_add(&b, at, n);
    }
  }
  return b.n ? b.at : "";
}

// Adds a read for the text after a `$` and returns its index; advances *at.
static uint32_t read_add(Equation *e, const char **at, bool points) {
  const char *raw = *at;
  Id v = operand(e, at);
  const char *list = **at == '[' ? *at + 1 : "*";
  if (**at == '[') *at = behind_bracket(*at);
  Occurrence o = {raw, (size_t)(*at - raw)};
  for (uint32_t i = 0; i < e->seen.n; i++)
    if (e->seen.at[i].n == o.n && !memcmp(e->seen.at[i].raw, raw, o.n)) return i;
  uint32_t number = e->read.n; // reads in its index list follow it
  vec_push(e->n->m->arena, &e->seen, o);
  vec_push(e->n->m->arena, &e->read, ((ImpRead){v, NULL}));
  const char *index = indices(e, v, list);
  e->read.at[number].index = points ? arena_format(e->n->m->arena, "@%s", index) : index;
  return number;
}

// Broadcasts all operands with `*` or without indices.
static bool find_wide(Equation *e, const char *right) {
  Importer *m = e->n->m;
  VEC(Id) in = {0};
  for (const char *at = right; (at = strchr(at, '$'));) {
    at++;
    Id v = operand(e, &at);
    if (*at != '[' || !strncmp(at, "[*]", 3)) vec_push(m->arena, &in, v);
  }
  return broadcast_shape(e->n, in.at, in.n, &e->wide);
}

// Expands * and & in an index list; advances *at.
static const char *axes_text(const Equation *e, const char **at) {
  Buf b = buf_new(e->n->m->arena);
  for (char before = ' '; **at != ']'; before = *(*at)++) {
    const char *axes = before != ' ' ? NULL
                       : **at == '&' ? e->rest
                       : **at == '*' ? index_letters(e->n->m, e->wide.rank)
                                     : NULL;
    if (axes)
      buf_text(&b, axes);
    else
      buf_char(&b, **at);
  }
  ++*at;
  while (b.n && b.at[b.n - 1] == ' ') b.at[--b.n] = 0;
  return b.n ? b.at : "";
}

// -- the right side -------------------------------------------------------------------------------
static const char *put_right(Equation *e, const char *right) {
  Importer *m = e->n->m;
  Buf b = buf_new(m->arena);
  for (const char *at = right; *at;) // reads first: they determine &
    if (*at++ == '$') read_add(e, &at, false);
  for (const char *at = right; *at;) {
    if (*at == '$') {
      at++;
      buf_printf(&b, "$%u", read_add(e, &at, false));
    } else if (*at == '[') {
      at++;
      const char *axes = axes_text(e, &at);
      if (*axes) buf_printf(&b, "[%s]", axes);
      while (!*axes && b.n && char_is_letter(b.at[b.n - 1])) b.at[--b.n] = 0;
    } else {
      buf_char(&b, *at++);
    }
  }
  return b.at;
}

// -- the left side --------------------------------------------------------------------------------
static ImpSize size_of_text(Importer *m, const char *at, size_t n) {
  const char *text = arena_text(m->arena, at, n), *end;
  double x = number_read(text, &end);
  return *end ? (ImpSize){-1, text} : dim_of((int64_t)x);
}

static bool group_size(const Equation *, const char *group, size_t n, const char *letter, size_t k,
                       ImpSize all, ImpSize *out);

// The size of an index from its reads; false: it is never read as a plain index.
static bool letter_size(const Equation *e, const char *letter, size_t n, ImpSize *out) {
  for (uint32_t i = 0; i < e->read.n; i++) {
    const char *at = e->read.at[i].index;
    const ImpShape *shape = &value_at(e->n->m, e->read.at[i].value)->shape;
    size_t k;
    at += *at == '@';
    for (uint32_t axis = 0; (at = next_index(at, &k)); at += k, axis++) {
      *out = shape->dim[axis];
      if (k == n && !memcmp(at, letter, n)) return true;
      if (*at == '(' && group_size(e, at, k, letter, n, shape->dim[axis], out)) return true;
    }
  }
  return false;
}

// The size of one index of a group `(i j:3)`: as written, or the axis divided by the others.
static bool group_size(const Equation *e, const char *group, size_t n, const char *letter, size_t k,
                       ImpSize all, ImpSize *out) {
  Importer *m = e->n->m;
  bool there = false;
  for (const char *at = group + 1; at < group + n - 1;) {
    size_t word = word_length(at), more = word;
    bool here = word == k && !memcmp(at, letter, k), sized = at[word] == ':';
    if (sized) more += 1 + strcspn(at + word + 1, " )");
    ImpSize size = sized ? size_of_text(m, at + word + 1, more - word - 1) : all;
    there |= here;
    if (here && sized) return *out = size, true;
    if (sized) all = dim_op(m, '/', all, size);
    at += more + (at[more] == ' ');
  }
  return *out = all, there;
}

// An index of the left side, possibly in a group, with its size: `k`, `k:3`; advances *at.
static ImpSize left_letter(const Equation *e, const char **at) {
  ImpSize size = dim_of(1);
  size_t n = word_length(*at), wide = 0;
  bool sized = (*at)[n] == ':', known = true;
  if (sized) wide = strcspn(*at + n + 1, " )]");
  if (sized)
    size = size_of_text(e->n->m, *at + n + 1, wide);
  else
    known = letter_size(e, *at, n, &size);
  assert(known); // every index on the left has a size
  (void)known;
  *at += n + (sized ? wide + 1 : 0);
  return size;
}

// The size for a coordinate `2*k+p`: its maximum + 1.
static ImpSize reach_size(const Equation *e, const char **at) {
  Importer *m = e->n->m;
  ImpSize size = dim_of(0);
  int64_t first = 1;
  while (**at && **at != ' ') {
    bool times = !char_is_letter(**at);
    int64_t coef = times ? (int64_t)number_read(*at, at) : 1;
    *at += times;
    ImpSize one = left_letter(e, at);
    size = dim_op(m, '+', size, dim_op(m, '*', one, dim_of(coef)));
    first -= coef;
    *at += **at == '+';
  }
  return dim_op(m, '+', size, dim_of(first));
}

static const char *put_left(Equation *e, const char *left, ImpShape *shape) {
  Importer *m = e->n->m;
  Buf b = buf_new(m->arena);
  for (const char *at = axes_text(e, &left); *at;) {
    ImpSize *size = &shape->dim[shape->rank];
    if (*at == ' ') {
      at++;
      continue;
    }
    if (shape->rank++) buf_char(&b, ' ');
    const char *from = at;
    size_t word = word_length(at);
    if (*at != '(' && !strchr(" :", at[word])) {
      *size = reach_size(e, &at);
      buf_add(&b, from, (size_t)(at - from));
      continue;
    }
    if (*at != '(') { // the line writer adds sizes of single indices where needed
      buf_add(&b, from, word);
      *size = left_letter(e, &at);
      continue;
    }
    *size = dim_of(1);
    for (at++; *at != ')'; at += *at == ' ') *size = dim_op(m, '*', *size, left_letter(e, &at));
    buf_add(&b, from, (size_t)(++at - from));
  }
  return b.n ? b.at : "";
}

// Without a left side: the shape of the first read; for concat, with the joined size.
static ImpShape whole_shape(const Equation *e, const char *right) {
  Importer *m = e->n->m;
  ImpShape shape = value_at(m, e->read.at[0].value)->shape;
  uint32_t axis = 0;
  size_t n;
  if (strncmp(right, "concat[", 7) != 0) return shape;
  for (const char *at = e->read.at[0].index; (at = next_index(at, &n)); at += n, axis++) {
    if (strncmp(at, right + 7, n) != 0 || right[7 + n] != ']') continue;
    for (uint32_t i = 1; i < e->read.n; i++)
      shape.dim[axis] =
          dim_op(m, '+', shape.dim[axis], value_at(m, e->read.at[i].value)->shape.dim[axis]);
  }
  return shape;
}

// -- the equation ---------------------------------------------------------------------------------
Id equation_text(ImpNode *n, OnnxType type, const Id *in, const Named *named, const char *text) {
  Importer *m = n->m;
  Equation e = {.n = n, .in = in, .named = named};
  if (m->diags->errors) return 0;
  const char *left = *text == '[' ? text + 1 : NULL, *pad = strstr(text, " pad ");
  const char *right = left ? strstr(text, "= ") + 2 : text;
  e.kept = left && memchr(left, '&', (size_t)(right - left));
  if (pad) right = arena_text(m->arena, right, (size_t)(pad - right)), pad += 5;
  if (!find_wide(&e, right)) return 0;
  ImpForm form = {.right = put_right(&e, right), .pad = pad};
  ImpShape shape = {0};
  if (!reads_fit(n, form.right, e.read.at, e.read.n)) return 0;
  if (left)
    form.left = put_left(&e, left, &shape);
  else if (e.read.n)
    shape = whole_shape(&e, form.right);
  return add_line(n, type, &shape, form, e.read.at, e.read.n);
}

Id add_equation(ImpNode *n, OnnxType type, const Id *in, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *text = arena_vformat(n->m->arena, format, list);
  va_end(list);
  return equation_text(n, type, in, NULL, text);
}

Id equation(ImpNode *n, const Id *in, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *text = arena_vformat(n->m->arena, format, list);
  va_end(list);
  return equation_text(n, value_at(n->m, in[0])->type, in, NULL, text);
}

bool op_gives(ImpNode *n, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const char *text = arena_vformat(n->m->arena, format, list);
  va_end(list);
  return op_set_result(n, 0, equation_text(n, op_value(n, 0)->type, n->in, NULL, text));
}

// -- operators that are a row of equations --------------------------------------------------------
// Replaces `{alpha=1}` by the attribute or its default.
static const char *with_attributes(ImpNode *n, const char *text) {
  Importer *m = n->m;
  Buf b = buf_new(m->arena);
  for (; *text; text++) {
    if (*text != '{') {
      buf_char(&b, *text);
      continue;
    }
    size_t name = strcspn(text, "="), whole = strcspn(text, "}");
    const OnnxAttribute *a = onnx_attribute(n->node, arena_text(m->arena, text + 1, name - 1));
    double otherwise = number_read(text + name + 1, NULL);
    if (a && a->type == ONNX_ATTR_INT)
      buf_text(&b, number_term(m, (double)a->i));
    else
      buf_text(&b, short_term(m, a ? a->f : (float)otherwise));
    text += whole;
  }
  return b.at;
}

// Statements `name[left] = right; …`: y, y1 and y2 are the results; other names can be read by later
// statements. What is called r is computed once.
bool row_equations(ImpNode *n, OnnxType type, const Id *in, Named *named, Id result[3]) {
  Importer *m = n->m;
  const char *text = with_attributes(n, n->row->right);
  for (uint32_t k = 0; k < EQUATIONS_MOST && *text; k++) {
    size_t length = strcspn(text, ";"), word = word_length(text);
    const char *name = named->name[k] = arena_text(m->arena, text, word);
    const char *one = arena_text(m->arena, text + word, length - word);
    if (!strncmp(one, " = ", 3)) one += 3;
    bool again = *name == 'r' && named->value[k];
    Id v = named->value[k] = again ? named->value[k] : equation_text(n, type, in, named, one);
    if (!v) return false;
    if (*name == 'y') result[name[1] ? name[1] - '0' : 0] = v;
    text += length;
    text += strspn(text, "; ");
  }
  return true;
}

bool op_equations(ImpNode *n) {
  Id result[3] = {0};
  if (!row_equations(n, op_value(n, 0)->type, n->in, &(Named){0}, result)) return false;
  for (uint32_t i = 0; i < 3; i++)
    if (result[i]) op_set_result(n, i, result[i]);
  return true;
}
