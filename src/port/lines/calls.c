// Replaces lines by calls of library boxes: convolutions, norms, dense layers, pooling. The weights
// become the box's own, so they must have one reader. Consecutive boxes with single readers become
// a chain, `(conv2d[8] ; relu)(x)`.
#include "port/lines/lines.h"

typedef struct {
  Importer *m;
  bool *live;
  uint32_t *maker; // [value] the line, or UINT32_MAX
} Calls;

enum { PARTS_LIMIT = 6 };

static ImpLine *line_at(const Calls *c, uint32_t i) { return &c->m->line.at[i]; }

static bool is_op(const ImpLine *l, const char *op) {
  return l->node && !strcmp(l->node->op, op) && !l->part.n && l->out.n == 1;
}

// A weight with a single reader.
static bool is_own(const Calls *c, Id v, uint32_t rank) {
  const ImpValue *x = value_at(c->m, v);
  return x->kind == IMP_WEIGHT && x->reads == 1 && x->shape.rank == rank && !x->box && !x->path;
}

static ImpPart *part_add(const Calls *c, ImpLine *l, const char *box, const char *text) {
  vec_push(c->m->arena, &l->part, (ImpPart){.box = box, .text = text});
  return &l->part.at[l->part.n - 1];
}

static void part_own(ImpPart *p, Id v, const char *tail) {
  p->own[p->n].value = v;
  p->own[p->n++].tail = tail;
}

// -- attributes of windows ------------------------------------------------------------------------
// Do all elements of an attribute equal *out?
static bool attr_even(const OnnxNode *node, const char *name, int64_t otherwise, int64_t *out) {
  const OnnxAttribute *a = onnx_attribute(node, name);
  *out = otherwise;
  if (!a) return true;
  if (a->type != ONNX_ATTR_INTS || !a->ints.n) return false;
  *out = a->ints.at[0];
  for (uint32_t i = 0; i < a->ints.n; i++)
    if (a->ints.at[i] != *out) return false;
  return true;
}

static int64_t attr_number(const OnnxNode *node, const char *name, int64_t otherwise) {
  const OnnxAttribute *a = onnx_attribute(node, name);
  return a && a->type == ONNX_ATTR_INT ? a->i : otherwise;
}

typedef struct {
  int64_t kernel, stride, edge, dilation;
} SquareWindow;

// Is the padding the same on all sides? With a stride, the last windows may not reach the padding
// at the end, which is then irrelevant.
static bool pads_are_even(const OnnxNode *node, const ImpShape *x, SquareWindow *w) {
  const OnnxAttribute *a = onnx_attribute(node, "pads");
  if (attr_even(node, "pads", 0, &w->edge)) return true;
  if (a->type != ONNX_ATTR_INTS || a->ints.n != 4 || x->rank < 2) return false;
  const int64_t *pad = a->ints.at, reach = w->dilation * (w->kernel - 1) + 1;
  w->edge = pad[0];
  for (uint32_t i = 0; i < 2; i++) {
    ImpSize size = x->dim[x->rank - 2 + i];
    int64_t room = size.n + pad[i] - reach;
    if (size.text || pad[i] != w->edge || room + pad[2 + i] < 0 || room + w->edge < 0 ||
        (room + pad[2 + i]) / w->stride != (room + w->edge) / w->stride)
      return false;
  }
  return true;
}

static bool square_window(const Calls *c, const ImpLine *l, SquareWindow *w) {
  const OnnxNode *node = l->node;
  const OnnxAttribute *pad = onnx_attribute(node, "auto_pad");
  bool same = pad && (pad->type != ONNX_ATTR_STRING || strcmp(pad->s, "NOTSET") != 0);
  return !same && attr_even(node, "strides", 1, &w->stride) &&
         attr_even(node, "dilations", 1, &w->dilation) &&
         attr_even(node, "kernel_shape", w->kernel, &w->kernel) &&
         pads_are_even(node, &value_at(c->m, l->read.at[0].value)->shape, w) && w->edge >= 0;
}

static void put_option(Buf *b, const char *name, int64_t value, int64_t otherwise) {
  if (value == otherwise) return;
  buf_printf(b, "%s%s: %lld", b->at[b->n - 1] == '[' ? "" : ", ", name, (long long)value);
}

static const char *window_text(const Calls *c, const char *box, int64_t out, const SquareWindow *w,
                               int64_t stride) {
  Buf b = buf_new(c->m->arena);
  buf_printf(&b, "%s[", box);
  if (out) buf_printf(&b, "%lld", (long long)out);
  put_option(&b, "k", w->kernel, out || stride == 1 ? 3 : 2);
  put_option(&b, "stride", w->stride, stride);
  put_option(&b, "edge", w->edge, 0);
  put_option(&b, "dilation", w->dilation, 1);
  if (b.at[b.n - 1] == '[') return box;
  buf_char(&b, ']');
  return b.at;
}

// -- one line -------------------------------------------------------------------------------------
static void call_conv(const Calls *c, ImpLine *l) {
  if (!is_op(l, "Conv") || l->read.n < 2 || l->read.n > 3) return;
  const ImpShape *w = &value_at(c->m, l->read.at[1].value)->shape;
  SquareWindow win = {0};
  bool bias = l->read.n == 3;
  if (!is_own(c, l->read.at[1].value, 4) || (bias && !is_own(c, l->read.at[2].value, 1))) return;
  if (!dim_same(w->dim[2], w->dim[3])) return;
  win.kernel = w->dim[2].n;
  int64_t group = attr_number(l->node, "group", 1);
  bool depth = group > 1 && dim_is(w->dim[1], 1) && dim_is(w->dim[0], group);
  if (!square_window(c, l, &win) || (group > 1 && (!depth || win.dilation != 1))) return;
  const char *box = depth ? "depthwise2d" : "conv2d";
  ImpPart *p = part_add(c, l, box, window_text(c, box, depth ? 0 : w->dim[0].n, &win, 1));
  part_own(p, l->read.at[1].value, "W");
  if (bias) part_own(part_add(c, l, "bias2d", "bias2d"), l->read.at[2].value, "b");
}

static void call_pool(const Calls *c, ImpLine *l) {
  SquareWindow win = {0};
  uint32_t rank = value_at(c->m, l->out.at[0])->shape.rank;
  if (is_op(l, "GlobalAveragePool") && rank >= 3 && strstr(l->form.right, "mean[k1 l1]"))
    part_add(c, l, "global_mean2d", "global_mean2d");
  if (!is_op(l, "MaxPool") || l->node->out.n != 1 || strncmp(l->form.right, "max[i1:", 7) != 0)
    return;
  const OnnxAttribute *kernel = onnx_attribute(l->node, "kernel_shape");
  if (!kernel || kernel->ints.n != 2 || attr_number(l->node, "ceil_mode", 0)) return;
  if (!square_window(c, l, &win) || win.dilation != 1) return;
  part_add(c, l, "max_pool2d", window_text(c, "max_pool2d", 0, &win, 2));
}

// The axis, counted from the end, of a one-letter index; 0: none.
static uint32_t from_end(const char *list, const char *letter) {
  uint32_t at = 0, k = 0;
  size_t n;
  for (const char *p = list; (p = next_index(p, &n)); p += n, k++)
    if (n == strlen(letter) && !memcmp(p, letter, n)) at = k + 1;
  return at ? k - at + 1 : 0;
}

static void call_batch_norm(const Calls *c, ImpLine *l) {
  static const char *const tail[] = {"m", "v", "g", "b"};
  if (!is_op(l, "BatchNormalization") || l->read.n != 5 || !l->read.at[0].index) return;
  uint32_t at = from_end(l->read.at[0].index, "j");
  if ((at != 1 && at != 3) || attr_number(l->node, "training_mode", 0)) return;
  for (uint32_t i = 1; i < 5; i++)
    if (!is_own(c, l->read.at[i].value, 1)) return;
  const OnnxAttribute *eps = onnx_attribute(l->node, "epsilon"),
                      *keep = onnx_attribute(l->node, "momentum");
  const char *box = at == 1 ? "batch_norm" : "batch_norm2d", *text = box;
  if ((eps && eps->f != 1e-5F) || (keep && keep->f != 0.9F))
    text = arena_format(c->m->arena, "%s[eps: %s, keep: %s]", box,
                        short_term(c->m, eps ? eps->f : 1e-5F),
                        short_term(c->m, keep ? keep->f : 0.9F));
  ImpPart *p = part_add(c, l, box, text);
  for (uint32_t i = 1; i < 5; i++) part_own(p, l->read.at[i].value, tail[i - 1]);
}

// Transposes a constant matrix.
static void transpose_constant(const Calls *c, Id id) {
  ImpValue *v = value_at(c->m, id);
  int64_t rows = v->shape.dim[0].n, columns = v->shape.dim[1].n;
  double *data = NEW_ARRAY(c->m->arena, double, rows *columns + 1);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < columns; k++) data[k * rows + i] = v->data[i * columns + k];
  v->data = data;
  v->shape.dim[0] = dim_of(columns), v->shape.dim[1] = dim_of(rows);
}

static void call_linear(const Calls *c, ImpLine *l, Id w, Id bias) {
  const char *box = bias ? "dense" : "linear";
  long long out = value_at(c->m, w)->shape.dim[1].n;
  ImpPart *p = part_add(c, l, box, arena_format(c->m->arena, "%s[%lld]", box, out));
  part_own(p, w, bias ? "linear/W" : "W");
  if (bias) part_own(p, bias, "b");
}

static void call_product(const Calls *c, ImpLine *l) {
  bool gemm = is_op(l, "Gemm"), bias = gemm && l->read.n == 3;
  if ((!gemm && !is_op(l, "MatMul")) || l->read.n < 2) return;
  if (strcmp(l->form.right, bias ? "$0 $1 + $2" : "$0 $1") != 0) return;
  if (!is_own(c, l->read.at[1].value, 2) || attr_number(l->node, "transA", 0)) return;
  if (bias && !is_own(c, l->read.at[2].value, 1)) return;
  if (!value_at(c->m, l->read.at[0].value)->shape.rank) return;
  if (gemm && attr_number(l->node, "transB", 0)) transpose_constant(c, l->read.at[1].value);
  call_linear(c, l, l->read.at[1].value, bias ? l->read.at[2].value : 0);
}

// A bias along the last axis of a product makes it a dense layer.
static void call_bias(const Calls *c, ImpLine *l) {
  if (!is_op(l, "Add") || l->read.n != 2 || strcmp(l->form.right, "$0 + $1") != 0) return;
  uint32_t at = is_own(c, l->read.at[0].value, 1) ? 0 : 1;
  Id bias = l->read.at[at].value, x = l->read.at[!at].value;
  uint32_t from = c->maker[x];
  if (!is_own(c, bias, 1) || from == UINT32_MAX || value_at(c->m, x)->reads != 1) return;
  ImpLine *before = line_at(c, from);
  const ImpShape *s = &value_at(c->m, x)->shape;
  if (before->part.n != 1 || strcmp(before->part.at[0].box, "linear") != 0 ||
      !dim_same(s->dim[s->rank - 1], value_at(c->m, bias)->shape.dim[0]))
    return;
  call_linear(c, l, before->part.at[0].own[0].value, bias);
  l->read.at[0] = before->read.at[0];
  c->live[from] = false;
}

// An elementwise function.
static void call_map(const Calls *c, ImpLine *l) {
  const char *right = l->form.right, *index = l->read.n == 1 ? l->read.at[0].index : NULL;
  size_t n = strcspn(right, "(["), open = n;
  if (right[n] == '[') open = n + strcspn(right + n, "]") + 1;
  if (l->part.n || l->out.n != 1 || l->form.pad || !index || !l->form.left || !n) return;
  if (open > strlen(right) || strcmp(right + open, "($0)") != 0 || strcmp(index, l->form.left) != 0)
    return;
  for (size_t i = 0; i < n; i++)
    if (!char_is_word(right[i]) && right[i] != '_') return;
  const char *box = arena_text(c->m->arena, right, n);
  part_add(c, l, box, arena_text(c->m->arena, right, open));
}

// -- several lines --------------------------------------------------------------------------------
// Are the next live lines these operators, with these numbers of reads of their results?
static bool lines_are(const Calls *c, uint32_t i, const char *const *op, const uint32_t *reads,
                      uint32_t n, ImpLine **out) {
  for (uint32_t k = 0; k < n; k++, i++) {
    while (i < c->m->line.n && !c->live[i]) i++;
    if (i >= c->m->line.n || !is_op(line_at(c, i), op[k])) return false;
    out[k] = line_at(c, i);
    if (k + 1 < n && value_at(c->m, out[k]->out.at[0])->reads != reads[k]) return false;
  }
  return true;
}

static bool reads_line(const ImpLine *l, uint32_t k, const ImpLine *of) {
  return k < l->read.n && l->read.at[k].value == of->out.at[0];
}

static bool known_number(const Calls *c, const ImpLine *l, uint32_t k, double *x) {
  if (k >= l->read.n) return false;
  const ImpValue *v = value_at(c->m, l->read.at[k].value);
  if (!value_is_number(v)) return false;
  *x = v->data[0];
  return true;
}

static void lines_end(const Calls *c, ImpLine **l, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) c->live[l[k] - c->m->line.at] = false;
}

static void call_layer_norm(const Calls *c, uint32_t i) {
  static const char *const op[] = {"ReduceMean", "Sub", "Pow", "ReduceMean", "Add",
                                   "Sqrt",       "Div", "Mul", "Add"};
  static const uint32_t reads[] = {1, 2, 1, 1, 1, 1, 1, 1};
  ImpLine *l[9];
  double two, eps;
  if (!lines_are(c, i, op, reads, 9, l)) return;
  Id x = l[0]->read.at[0].value;
  const ImpShape *s = &value_at(c->m, x)->shape, *mean = &value_at(c->m, l[0]->out.at[0])->shape,
                 *var = &value_at(c->m, l[3]->out.at[0])->shape;
  bool linked = l[1]->read.n == 2 && l[1]->read.at[0].value == x && reads_line(l[1], 1, l[0]) &&
                reads_line(l[2], 0, l[1]) && reads_line(l[3], 0, l[2]) &&
                reads_line(l[4], 0, l[3]) && reads_line(l[5], 0, l[4]) &&
                reads_line(l[6], 0, l[1]) && reads_line(l[6], 1, l[5]) &&
                reads_line(l[7], 0, l[6]) && reads_line(l[8], 0, l[7]) && l[7]->read.n == 2 &&
                l[8]->read.n == 2;
  if (!linked || mean->rank != s->rank || var->rank != s->rank || !s->rank) return;
  for (uint32_t k = 0; k < s->rank; k++) {
    ImpSize want = k + 1 < s->rank ? s->dim[k] : dim_of(1);
    if (!dim_same(mean->dim[k], want) || !dim_same(var->dim[k], want)) return;
  }
  Id g = l[7]->read.at[1].value, b = l[8]->read.at[1].value;
  if (dim_is(s->dim[s->rank - 1], 1) || !is_own(c, g, 1) || !is_own(c, b, 1)) return;
  if (!known_number(c, l[2], 1, &two) || two != 2 || !known_number(c, l[4], 1, &eps)) return;
  bool usual = (float)eps == 1e-5F;
  const char *text =
      usual ? "layer_norm"
            : arena_format(c->m->arena, "layer_norm[eps: %s]", short_term(c->m, (float)eps));
  lines_end(c, l, 8);
  l[8]->read.at[0] = l[0]->read.at[0];
  value_at(c->m, x)->reads--; // it was read twice before
  ImpPart *p = part_add(c, l[8], "layer_norm", text);
  part_own(p, g, "g"), part_own(p, b, "b");
}

// A LayerNormalization node that was imported as four lines.
static void call_layer_norm_node(const Calls *c, uint32_t i) {
  static const char *const op[] = {"LayerNormalization", "LayerNormalization", "LayerNormalization",
                                   "LayerNormalization"};
  static const uint32_t reads[] = {1, 2, 1};
  ImpLine *l[4];
  if (!lines_are(c, i, op, reads, 4, l) || l[0]->node != l[3]->node || l[3]->read.n != 4) return;
  if (attr_number(l[0]->node, "axis", -1) != -1 || !reads_line(l[3], 0, l[1])) return;
  Id x = l[0]->read.at[0].value, g = l[3]->read.at[2].value, b = l[3]->read.at[3].value;
  if (!is_own(c, g, 1) || !is_own(c, b, 1)) return;
  const OnnxAttribute *eps = onnx_attribute(l[0]->node, "epsilon");
  const char *text = !eps || eps->f == 1e-5F ? "layer_norm"
                                             : arena_format(c->m->arena, "layer_norm[eps: %s]",
                                                            short_term(c->m, eps->f));
  lines_end(c, l, 3);
  l[3]->read.at[0] = l[0]->read.at[0];
  value_at(c->m, x)->reads--; // it was read twice before
  ImpPart *p = part_add(c, l[3], "layer_norm", text);
  part_own(p, g, "g"), part_own(p, b, "b");
}

static void call_gelu(const Calls *c, uint32_t i) {
  static const char *const op[] = {"Div", "Erf", "Add", "Mul", "Mul"};
  static const uint32_t reads[] = {1, 1, 1, 1};
  ImpLine *l[5];
  double root, one, half;
  if (!lines_are(c, i, op, reads, 5, l)) return;
  Id x = l[0]->read.at[0].value;
  if (!known_number(c, l[0], 1, &root) || (float)root != 1.41421356F) return;
  if (!known_number(c, l[2], 1, &one) || one != 1 || !known_number(c, l[4], 1, &half) ||
      half != 0.5)
    return;
  if (!reads_line(l[1], 0, l[0]) || !reads_line(l[2], 0, l[1]) || l[3]->read.at[0].value != x ||
      !reads_line(l[3], 1, l[2]) || !reads_line(l[4], 0, l[3]))
    return;
  lines_end(c, l, 4);
  l[4]->read.at[0] = l[0]->read.at[0];
  value_at(c->m, x)->reads--; // it was read twice before
  part_add(c, l[4], "gelu", "gelu");
}

// -- chains ---------------------------------------------------------------------------------------
// A function of a sum ends a residual block: the next chain begins after it.
static bool ends_a_sum(const Calls *c, const ImpLine *l) {
  uint32_t from = c->maker[l->read.at[0].value];
  return l->part.n == 1 && !l->part.at[0].n && from != UINT32_MAX && c->live[from] &&
         is_op(line_at(c, from), "Add");
}

static void chain(const Calls *c, ImpLine *l) {
  if (!l->part.n) return;
  Id x = l->read.at[0].value;
  uint32_t from = c->maker[x];
  if (from == UINT32_MAX || value_at(c->m, x)->reads != 1 || is_output(c->m, x)) return;
  ImpLine *before = line_at(c, from);
  if (!c->live[from] || !before->part.n || before->out.n != 1 ||
      before->part.n + l->part.n > PARTS_LIMIT || ends_a_sum(c, before))
    return;
  for (uint32_t i = 0; i < l->part.n; i++) vec_push(c->m->arena, &before->part, l->part.at[i]);
  l->part = before->part;
  l->read.at[0] = before->read.at[0];
  c->live[from] = false;
}

// Constants and labels cannot be the input of a chain.
static bool is_wire(const Calls *c, Id v) {
  const ImpValue *x = value_at(c->m, v);
  return x->kind != IMP_CONST && !x->labels && x->shape.rank;
}

static void one_line(const Calls *c, uint32_t i) {
  ImpLine *l = line_at(c, i);
  if (!l->read.n || !is_wire(c, l->read.at[0].value)) return;
  call_conv(c, l);
  call_pool(c, l);
  call_batch_norm(c, l);
  call_product(c, l);
  call_bias(c, l);
  call_map(c, l);
}

void library_calls_make(Importer *m, bool *live) {
  Calls c = {m, live, line_makers(m, live)};
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i] && m->line.at[i].read.n && is_wire(&c, m->line.at[i].read.at[0].value))
      call_layer_norm(&c, i), call_layer_norm_node(&c, i), call_gelu(&c, i);
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i]) one_line(&c, i);
  for (uint32_t i = 0; i < m->line.n; i++) {
    ImpLine *l = &m->line.at[i];
    if (live[i] && l->part.n) l->read.n = 1, l->form = (ImpForm){.right = ""};
    if (live[i]) chain(&c, l);
  }
}

// -- paths ----------------------------------------------------------------------------------------
// A body: its lines and its path.
typedef struct {
  const ImpLine *line;
  uint32_t n;
  const bool *live; // NULL: all
  const char *path;
} CallBody;

// Counts the uses of a box in a body before this part.
static uint32_t uses_before(const CallBody *b, const char *box, uint32_t line, uint32_t part) {
  uint32_t n = 0;
  for (uint32_t i = 0; i <= line && i < b->n; i++)
    for (uint32_t k = 0; (!b->live || b->live[i]) && k < b->line[i].part.n; k++)
      n += (i < line || k < part) && !strcmp(b->line[i].part.at[k].box, box);
  return n;
}

static void place_block(Importer *m, const ImpBlock *, const char *path);

// Assigns paths: uses of a box in a body are numbered, unless there is only one.
static void place_body(Importer *m, const CallBody *b, const ImpLine *line) {
  for (uint32_t i = 0; i < b->n; i++)
    for (uint32_t k = 0; (!b->live || b->live[i]) && k < b->line[i].part.n; k++) {
      const ImpPart *p = &b->line[i].part.at[k], *own = &line[i].part.at[k];
      if (!p->n && !p->block) continue;
      bool alone = uses_before(b, p->box, b->n, 0) == 1;
      const char *number =
          alone ? "" : arena_format(m->arena, ".%u", uses_before(b, p->box, i, k) + 1);
      const char *path = arena_format(m->arena, "%s/%s%s", b->path, p->box, number);
      for (uint32_t o = 0; o < p->n; o++)
        value_at(m, own->own[o].value)->path =
            arena_format(m->arena, "%s/%s", path, own->own[o].tail);
      if (p->block) place_block(m, &m->block.at[p->block - 1], path);
    }
}

// Weights that lines of a block read directly belong to the first repetition.
static void place_read(Importer *m, const ImpBlock *b, const ImpLine *line, const char *path) {
  for (uint32_t i = 0; i < b->n; i++)
    for (uint32_t k = 0; k < line[i].read.n; k++) {
      ImpValue *v = value_at(m, line[i].read.at[k].value),
               *first = value_at(m, b->line[i].read.at[k].value);
      if (v->kind != IMP_WEIGHT || v->reads != 1 || v->box) continue;
      if (!first->name) first->name = name_make(m, first->onnx, "w");
      v->path = arena_format(m->arena, "%s/%s", path, first->name);
    }
}

static void place_block(Importer *m, const ImpBlock *b, const char *path) {
  for (uint32_t time = 0; time < b->times; time++) {
    const char *here = arena_format(m->arena, "%s.%u", path, time + 1);
    const ImpLine *line = b->line + (size_t)time * b->n;
    place_body(m, &(CallBody){b->line, b->n, NULL, here}, line);
    place_read(m, b, line, here);
  }
}

void weight_paths_assign(Importer *m, const bool *live) {
  place_body(m, &(CallBody){m->line.at, m->line.n, live, "model"}, m->line.at);
}
