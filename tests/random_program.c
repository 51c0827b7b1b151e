// Random programs. A generator holds the wires of the box under construction with their axes;
// each turn adds a statement whose operands fit, and the wire that it makes. What fits is decided
// here from labels and sizes alone, as text, so a program that limn refuses is a fault of one of
// the two.
//
// A statement is written into the body only if the turn succeeds; turns that find no operands are
// taken again with another construct.
#include "random_program.h"

enum { AXES = 4, WIRES = 40, BOXES = 12 };

typedef struct {
  char label[24], size[64];
  bool lost; // a call has not kept its label: equations can give it one, reductions do not find it
} Axis_;

typedef struct {
  char name[16];
  uint32_t rank;
  Axis_ axis[AXES];
  bool labels; // {v}[t] instead of R[…]
  bool plain;  // a real wire with different labels
} Wire_;

typedef struct { // a box that was made, to be called by later ones
  char name[16];
  uint32_t nin, nout;
  Wire_ in[3];
} Made;

typedef struct {
  Arena *arena;
  uint64_t state;
  RandomProgram *out;
  Buf body;
  Wire_ wire[WIRES];
  uint32_t n, names, cells, made_n;
  Made made[BOXES];
} Gen;

// -- chance ---------------------------------------------------------------------------------------
static uint64_t draw(Gen *g) {
  uint64_t x = g->state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
static uint32_t below(Gen *g, uint32_t n) { return (uint32_t)(draw(g) % n); }
static bool one_in(Gen *g, uint32_t n) { return below(g, n) == 0; }
#define PICK(g, list) (list)[below(g, COUNT(list))]

// -- wires ----------------------------------------------------------------------------------------
static Wire_ *wire_with(Gen *g, uint32_t least, uint32_t most) {
  for (uint32_t turn = 0; turn < 12; turn++) {
    Wire_ *w = &g->wire[below(g, g->n)];
    if (w->plain && w->rank >= least && w->rank <= most) return w;
  }
  return NULL;
}

static int axis_of(const Wire_ *w, const char *label) {
  for (uint32_t i = 0; i < w->rank; i++)
    if (strcmp(w->axis[i].label, label) == 0) return (int)i;
  return -1;
}

// A wire that the next statement makes: a new name.
static Wire_ *fresh(Gen *g) {
  static const char *const names[] = {"y", "z", "u", "A", "S", "W", "h", "out"};
  Wire_ *w = &g->wire[g->n];
  *w = (Wire_){.plain = true};
  snprintf(w->name, sizeof w->name, "%s%u", PICK(g, names), g->names++);
  return w;
}

static bool keep(Gen *g, Wire_ *w) {
  for (uint32_t i = 0; i < w->rank; i++)
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(w->axis[i].label, w->axis[k].label) == 0) w->plain = false;
  if (g->n + 1 < WIRES) g->n++;
  return true;
}

static void axis_set(Axis_ *a, const char *label, const char *size) {
  a->lost = false;
  snprintf(a->label, sizeof a->label, "%s", label);
  snprintf(a->size, sizeof a->size, "%s", size);
}

static bool is_number(const char *size) {
  return size[0] >= '0' && size[0] <= '9' && !strpbrk(size, "+-*/ ");
}

static void put_type(Buf *b, const Wire_ *w) {
  buf_text(b, w->labels ? "{v}[" : "R[");
  for (uint32_t i = 0; i < w->rank; i++) {
    buf_printf(b, "%s%s", i ? " " : "", w->axis[i].label);
    if (strcmp(w->axis[i].label, w->axis[i].size) != 0) buf_printf(b, ":%s", w->axis[i].size);
  }
  buf_char(b, ']');
}

static void put_access(Buf *b, const Wire_ *w) {
  buf_printf(b, "%s[", w->name);
  for (uint32_t i = 0; i < w->rank; i++) buf_printf(b, "%s%s", i ? " " : "", w->axis[i].label);
  buf_char(b, ']');
}

// -- statements -----------------------------------------------------------------------------------
static bool at_each_place(Gen *g) {
  static const char *const f[] = {"relu",     "tanh", "exp",  "sigmoid", "gelu", "silu",
                                  "softplus", "abs",  "sqrt", "dropout", "elu",  "square"};
  Wire_ *x = wire_with(g, 0, AXES), *y = fresh(g);
  if (!x) return false;
  y->rank = x->rank;
  memcpy(y->axis, x->axis, sizeof x->axis);
  if (one_in(g, 4))
    buf_printf(&g->body, "  %s = %s / sqrt(2) + %u\n", y->name, x->name, below(g, 9));
  else if (one_in(g, 4))
    buf_printf(&g->body, "  %s = %s when %s > 0.5 else -%s\n", y->name, x->name, x->name, x->name);
  else
    buf_printf(&g->body, "  %s = %s(%s)\n", y->name, PICK(g, f), x->name);
  return keep(g, y);
}

static bool has_lost(const Wire_ *w) {
  bool lost = false;
  for (uint32_t i = 0; i < w->rank; i++) lost |= w->axis[i].lost;
  return lost;
}

// Are the axes of b in a, by label and size, in the same order? If labels are lost, it must have as
// many.
static bool fits_in(const Wire_ *b, const Wire_ *a) {
  int last = -1;
  if (a->rank != b->rank && (has_lost(a) || has_lost(b))) return false;
  for (uint32_t i = 0; i < b->rank; i++) {
    int at = axis_of(a, b->axis[i].label);
    if (at <= last || strcmp(a->axis[at].size, b->axis[i].size) != 0) return false;
    last = at;
  }
  return true;
}

static bool two_together(Gen *g) {
  static const char op[] = "+-*/";
  for (uint32_t turn = 0; turn < 12; turn++) {
    Wire_ *a = wire_with(g, 0, AXES), *b = wire_with(g, 0, AXES);
    if (!a || !b || !fits_in(b, a)) continue;
    Wire_ *y = fresh(g);
    y->rank = a->rank;
    memcpy(y->axis, a->axis, sizeof a->axis);
    buf_printf(&g->body, "  %s = %s %c %s\n", y->name, a->name, op[below(g, 4)], b->name);
    return keep(g, y);
  }
  return false;
}

// Indices of one to three wires; some stay, in any order, the others are summed.
static bool product(Gen *g) {
  Axis_ all[AXES * 3];
  uint32_t n = 0, of = 1 + below(g, 3);
  Buf right = buf_new(g->arena);
  for (uint32_t k = 0; k < of; k++) {
    Wire_ *w = wire_with(g, 1, 3);
    if (!w) return false;
    for (uint32_t i = 0; i < w->rank; i++) {
      uint32_t at = 0;
      while (at < n && strcmp(all[at].label, w->axis[i].label) != 0) at++;
      if (at < n && strcmp(all[at].size, w->axis[i].size) != 0) return false;
      if (at == n) all[n++] = w->axis[i];
    }
    buf_text(&right, k ? " " : ""), put_access(&right, w);
  }
  Wire_ *y = fresh(g);
  uint32_t want = 1 + below(g, AXES);
  while (y->rank < want && n) {
    uint32_t at = below(g, n);
    y->axis[y->rank++] = all[at];
    all[at] = all[--n];
  }
  buf_text(&g->body, "  "), put_access(&g->body, y), buf_printf(&g->body, " = %s\n", right.at);
  return keep(g, y);
}

static bool reduce(Gen *g) {
  static const char *const f[] = {"sum", "max", "mean", "min"};
  Wire_ *x = wire_with(g, 1, AXES), *y = fresh(g);
  if (!x) return false;
  uint32_t out = below(g, x->rank);
  if (x->axis[out].lost) return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != out) y->axis[y->rank++] = x->axis[i];
  buf_printf(&g->body, "  %s = %s[%s](%s)\n", y->name, PICK(g, f), x->axis[out].label, x->name);
  return keep(g, y);
}

static bool view(Gen *g) {
  Wire_ *x = wire_with(g, 2, AXES), *y = fresh(g);
  if (!x) return false;
  uint32_t at = below(g, x->rank - 1);
  Axis_ *p = &x->axis[at], *q = &x->axis[at + 1];
  if (strlen(p->size) + strlen(q->size) > 30) return false;
  buf_printf(&g->body, "  %s[", y->name);
  for (uint32_t i = 0; i < x->rank; i++) {
    if (i == at + 1) continue;
    buf_printf(&g->body, i == at ? "%s(%s %s)" : "%s%s", i ? " " : "", x->axis[i].label,
               x->axis[i + 1 < x->rank ? i + 1 : i].label);
    y->axis[y->rank++] = x->axis[i];
  }
  buf_printf(&g->body, "] = "), put_access(&g->body, x), buf_char(&g->body, '\n');
  y->plain = false; // its axis has no name
  return keep(g, y);
}

static bool split(Gen *g) {
  Wire_ *x = wire_with(g, 1, 3), *y = fresh(g);
  if (!x) return false;
  uint32_t at = below(g, x->rank);
  if (is_number(x->axis[at].size) || strpbrk(x->axis[at].size, "+-/")) return false;
  if (axis_of(x, "i") >= 0 || axis_of(x, "q") >= 0) return false;
  buf_printf(&g->body, "  %s[", y->name);
  for (uint32_t i = 0; i < x->rank; i++)
    buf_printf(&g->body, "%s%s", i ? " " : "", i == at ? "i q:2" : x->axis[i].label);
  buf_printf(&g->body, "] = %s[", x->name);
  for (uint32_t i = 0; i < x->rank; i++) {
    buf_printf(&g->body, "%s%s", i ? " " : "", i == at ? "(i q)" : x->axis[i].label);
    if (i == at) {
      char half[48];
      snprintf(half, sizeof half, "%.40s/2", x->axis[i].size);
      axis_set(&y->axis[y->rank++], "i", half), axis_set(&y->axis[y->rank++], "q", "2");
    } else {
      y->axis[y->rank++] = x->axis[i];
    }
  }
  buf_text(&g->body, "]\n");
  return keep(g, y);
}

// A window along an axis: summed with weights, its largest, or beyond the borders.
static bool window(Gen *g) {
  Wire_ *x = wire_with(g, 1, 3), *y = fresh(g);
  if (!x) return false;
  uint32_t at = below(g, x->rank), kind = below(g, 3);
  char size[48];
  if (axis_of(x, "i") >= 0 || axis_of(x, "p") >= 0 || strlen(x->axis[at].size) > 20) return false;
  if (is_number(x->axis[at].size) || strpbrk(x->axis[at].size, "+-*/")) return false;
  if (kind < 2) buf_printf(&g->body, "  const K%u : R[3] = [0.25, 0.5, 0.25]\n", g->names);
  snprintf(size, sizeof size, kind == 0 ? "%s-2" : kind == 1 ? "%s" : "%s//2", x->axis[at].size);
  buf_printf(&g->body, "  %s[", y->name);
  for (uint32_t i = 0; i < x->rank; i++) {
    y->axis[i] = x->axis[i];
    if (i == at) axis_set(&y->axis[i], "i", size);
    buf_printf(&g->body, "%s%s", i ? " " : "", y->axis[i].label);
    if (i == at && kind == 1) buf_printf(&g->body, ":%s", size);
  }
  y->rank = x->rank;
  buf_printf(&g->body, "] = %s%s[", kind == 2 ? "max[p:2](" : "", x->name);
  static const char *const place[] = {"i+p", "i+p-1", "2*i+p"};
  for (uint32_t i = 0; i < x->rank; i++)
    buf_printf(&g->body, "%s%s", i ? " " : "", i == at ? place[kind] : x->axis[i].label);
  if (kind == 2)
    buf_text(&g->body, "])\n");
  else
    buf_printf(&g->body, "] K%u[p]%s\n", g->names++, kind ? "   pad 0" : "");
  return keep(g, y);
}

static bool one_place(Gen *g) {
  Wire_ *x = wire_with(g, 1, AXES), *y = fresh(g);
  if (!x) return false;
  uint32_t at = below(g, x->rank);
  if (strpbrk(x->axis[at].size, "-/")) return false;
  Buf right = buf_new(g->arena);
  for (uint32_t i = 0; i < x->rank; i++) {
    buf_printf(&right, "%s%s", i ? " " : "", i == at ? "0" : x->axis[i].label);
    if (i != at) y->axis[y->rank++] = x->axis[i];
  }
  buf_text(&g->body, "  ");
  if (y->rank)
    put_access(&g->body, y);
  else
    buf_text(&g->body, y->name);
  buf_printf(&g->body, " = %s[%s]\n", x->name, right.at);
  return keep(g, y);
}

static bool gather(Gen *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    Wire_ *t = &g->wire[i], *e = wire_with(g, 2, 2);
    if (!t->labels || t->rank != 1 || !e || strcmp(e->axis[0].size, "v") != 0) continue;
    if (strcmp(t->axis[0].label, e->axis[1].label) == 0) continue;
    Wire_ *y = fresh(g);
    y->rank = 2;
    y->axis[0] = t->axis[0], y->axis[1] = e->axis[1];
    buf_text(&g->body, "  "), put_access(&g->body, y);
    buf_printf(&g->body, " = %s[%s[%s] %s]\n", e->name, t->name, t->axis[0].label,
               e->axis[1].label);
    return keep(g, y);
  }
  return false;
}

static bool embed(Gen *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    Wire_ *t = &g->wire[i];
    if (!t->labels || one_in(g, 2)) continue;
    Wire_ *y = fresh(g);
    y->rank = t->rank + 1;
    memcpy(y->axis, t->axis, sizeof t->axis);
    axis_set(&y->axis[t->rank], "m", "8");
    y->axis[t->rank].lost = true;
    if (axis_of(t, "m") >= 0) return false;
    buf_printf(&g->body, "  %s = embed[m:8](%s)\n", y->name, t->name);
    return keep(g, y);
  }
  return false;
}

// Boxes of the library that keep the axes; some work along the last one.
static bool library_keeps(Gen *g) {
  static const struct {
    const char *text;
    uint32_t least;
  } f[] = {{"layer_norm", 1},
           {"rms_norm", 1},
           {"bias", 1},
           {"batch_norm", 1},
           {"softmax", 1},
           {"log_softmax", 1},
           {"cumulative_sum", 1},
           {"self_attention[h: 2, k: 4]", 2},
           {"transformer_block[h: 2, k: 4]", 2},
           {"add_positions", 2},
           {"(layer_norm ; relu ; bias)", 1},
           {"residual[layer_norm ; tanh]", 1},
           {"((layer_norm ; relu) ^ 3)", 1},
           {"(relu & tanh ; add)", 0},
           {"group_norm[2]", 3}};
  uint32_t k = below(g, COUNT(f));
  Wire_ *x = wire_with(g, f[k].least, AXES), *y = fresh(g);
  if (!x) return false;
  if (f[k].least == 3 && strcmp(x->axis[x->rank - 1].size, "8") != 0) return false;
  y->rank = x->rank;
  memcpy(y->axis, x->axis, sizeof x->axis);
  for (uint32_t i = 0; i < y->rank; i++) y->axis[i].lost |= strchr(f[k].text, '&') != NULL;
  buf_printf(&g->body, "  %s = %s(%s)\n", y->name, f[k].text, x->name);
  return keep(g, y);
}

// Boxes of the library that make a new last axis.
static bool library_makes(Gen *g) {
  static const char *const f[] = {"linear[o:6]", "dense[o:6]", "(dense[16] ; relu ; linear[o:6])",
                                  "((dense[16] ; relu) ^ 2 ; dense[o:6])"};
  Wire_ *x = wire_with(g, 1, AXES), *y = fresh(g);
  if (!x || axis_of(x, "o") >= 0) return false;
  y->rank = x->rank;
  memcpy(y->axis, x->axis, sizeof x->axis);
  axis_set(&y->axis[x->rank - 1], "o", "6");
  y->axis[x->rank - 1].lost = true;
  buf_printf(&g->body, "  %s = %s(%s)\n", y->name, PICK(g, f), x->name);
  return keep(g, y);
}

static bool heads(Gen *g) {
  Wire_ *x = wire_with(g, 2, 2), *y = fresh(g);
  if (!x || axis_of(x, "h") >= 0 || axis_of(x, "k") >= 0) return false;
  const char *a = x->axis[0].label, *f = one_in(g, 2) ? "attend" : "causal";
  uint32_t n = g->names++;
  buf_printf(&g->body, "  Qh%u = linear[h:2 k:4](%s)\n  Kh%u = linear[h:2 k:4](%s)\n", n, x->name,
             n, x->name);
  buf_printf(&g->body, "  Vh%u = linear[h:2 k:4](%s)\n  %s = %s(Qh%u, Kh%u, Vh%u) over h\n", n,
             x->name, y->name, f, n, n, n);
  y->rank = 3;
  axis_set(&y->axis[0], "h", "2"), axis_set(&y->axis[1], a, x->axis[0].size);
  axis_set(&y->axis[2], "k", "4");
  return keep(g, y);
}

static bool picture(Gen *g) {
  static const char *const f[] = {"conv[8]", "(conv[8] ; bias ; relu)", "conv_depthwise",
                                  "(conv[8] ; batch_norm)"};
  Wire_ *x = wire_with(g, 3, 3), *y = fresh(g);
  if (!x || strpbrk(x->axis[0].size, "/-") || strpbrk(x->axis[1].size, "/-")) return false;
  if (strcmp(x->axis[0].label, "c") == 0 || strcmp(x->axis[1].label, "c") == 0) return false;
  uint32_t k = below(g, COUNT(f));
  y->rank = 3;
  memcpy(y->axis, x->axis, sizeof x->axis);
  if (k != 2) axis_set(&y->axis[2], "c", "8");
  buf_printf(&g->body, "  %s = %s(%s)\n", y->name, f[k], x->name);
  y->plain = false; // sizes are those of the window's formula
  return keep(g, y);
}

static bool joined(Gen *g) {
  Wire_ *x = wire_with(g, 1, 3), *y = fresh(g);
  bool three = one_in(g, 3);
  if (!x || strlen(x->axis[x->rank - 1].size) > 12) return false;
  for (uint32_t turn = 0; turn < 12; turn++) {
    Wire_ *z = wire_with(g, x->rank, x->rank);
    if (!z || !fits_in(z, x)) continue;
    y->rank = x->rank;
    memcpy(y->axis, x->axis, sizeof x->axis);
    y->plain = false;
    buf_printf(&g->body, "  %s = concat(%s, %s%s%s)\n", y->name, x->name, z->name,
               three ? ", " : "", three ? x->name : "");
    return keep(g, y);
  }
  return false;
}

static bool scanned(Gen *g) {
  Wire_ *x = wire_with(g, 2, 2), *y = fresh(g);
  if (!x || x->axis[0].lost) return false;
  uint32_t n = g->cells++;
  vec_push(g->arena, &g->out->part,
           arena_format(g->arena, "box cell%u(x: R[a], s: R[a]) -> R[a] = tanh(%s + s)\n", n,
                        one_in(g, 2) ? "x" : "dense[a](x)"));
  y->rank = 2;
  memcpy(y->axis, x->axis, sizeof x->axis);
  buf_printf(&g->body, "  %s = scan[%s, cell%u](%s)\n", y->name, x->axis[0].label, n, x->name);
  return keep(g, y);
}

static bool looped(Gen *g) {
  Wire_ *x = wire_with(g, 1, AXES), *y = fresh(g);
  static const char *const f[] = {"relu", "layer_norm", "(bias ; tanh)"};
  if (!x) return false;
  uint32_t n = g->names++, times = 2 + below(g, 3);
  y->rank = x->rank;
  memcpy(y->axis, x->axis, sizeof x->axis);
  buf_printf(&g->body, "  %s = %s\n  for r in 1..%u {\n", y->name, x->name, times);
  buf_printf(&g->body, "    %s = %s(%s)%s%s\n", y->name, PICK(g, f), y->name,
             one_in(g, 2) ? " + " : " * ", one_in(g, 2) ? x->name : y->name);
  bool kept = one_in(g, 2);
  if (kept) buf_printf(&g->body, "    C%u[r] = %s\n", n, y->name);
  buf_text(&g->body, "  }\n");
  if (kept && one_in(g, 2))
    buf_printf(&g->body, "  for r in 1..%u down {\n    %s = %s + C%u[r]\n  }\n", times, y->name,
               y->name, n);
  return keep(g, y);
}

static bool mask(Gen *g) {
  Wire_ *x = wire_with(g, 2, 2), *y = fresh(g);
  if (!x) return false;
  y->rank = 2;
  memcpy(y->axis, x->axis, sizeof x->axis);
  buf_text(&g->body, "  "), put_access(&g->body, y), buf_text(&g->body, " = ");
  put_access(&g->body, x);
  buf_printf(&g->body, " when %s <= %s else -inf\n", x->axis[1].label, x->axis[0].label);
  return keep(g, y);
}

static bool noise(Gen *g) {
  Wire_ *x = wire_with(g, 0, AXES), *y = fresh(g);
  if (!x) return false;
  y->rank = x->rank;
  memcpy(y->axis, x->axis, sizeof x->axis);
  buf_printf(&g->body, "  %s = %s + 0.1 * %s[", y->name, x->name,
             one_in(g, 2) ? "normal" : "uniform");
  for (uint32_t i = 0; i < x->rank; i++) {
    buf_printf(&g->body, "%s%s", i ? " " : "", x->axis[i].label);
    if (strcmp(x->axis[i].label, x->axis[i].size) != 0)
      buf_printf(&g->body, ":%s", x->axis[i].size);
  }
  buf_text(&g->body, "]\n");
  return keep(g, y);
}

static bool diagonal(Gen *g) {
  for (uint32_t i = 0; i < g->n; i++) {
    Wire_ *x = &g->wire[i];
    if (x->plain || x->labels || x->rank != 2 || strcmp(x->axis[0].size, x->axis[1].size) != 0)
      continue;
    if (strcmp(x->axis[0].size, "n") != 0) continue;
    Wire_ *y = fresh(g);
    bool one = one_in(g, 2);
    y->rank = one ? 1 : 2;
    axis_set(&y->axis[0], "i", "n"), axis_set(&y->axis[1], "j", "n");
    buf_printf(&g->body, one ? "  %s[i] = %s[i i]\n" : "  %s[i j] = %s[j i]\n", y->name, x->name);
    return keep(g, y);
  }
  return false;
}

static bool repeated(Gen *g) { // an index on the left only
  Wire_ *x = wire_with(g, 0, 2), *y = fresh(g);
  if (!x || axis_of(x, "j") >= 0) return false;
  bool diag = x->rank == 1 && one_in(g, 3);
  y->rank = x->rank + 1;
  memcpy(y->axis, x->axis, sizeof x->axis);
  if (diag)
    y->axis[1] = x->axis[0];
  else
    axis_set(&y->axis[x->rank], "j", "3");
  if (diag) {
    buf_text(&g->body, "  "), put_access(&g->body, y);
  } else {
    buf_printf(&g->body, "  %s[", y->name);
    for (uint32_t i = 0; i < x->rank; i++) buf_printf(&g->body, "%s ", x->axis[i].label);
    buf_text(&g->body, "j:3]");
  }
  buf_text(&g->body, " = ");
  if (x->rank)
    put_access(&g->body, x);
  else
    buf_text(&g->body, x->name);
  buf_char(&g->body, '\n');
  return keep(g, y);
}

// A call of a box that was made before: parameters of the same sizes, by the same names.
static bool called(Gen *g) {
  if (!g->made_n) return false;
  const Made *m = &g->made[below(g, g->made_n)];
  Buf args = buf_new(g->arena);
  for (uint32_t i = 0; i < m->nin; i++) {
    const Wire_ *found = NULL;
    for (uint32_t k = 0; k < g->n && !found; k++) {
      const Wire_ *w = &g->wire[(k + g->names) % g->n];
      bool same =
          w->rank == m->in[i].rank && w->labels == m->in[i].labels && w->plain == m->in[i].plain;
      for (uint32_t a = 0; same && a < w->rank; a++)
        same = strcmp(w->axis[a].size, m->in[i].axis[a].size) == 0 &&
               strcmp(w->axis[a].label, m->in[i].axis[a].label) == 0;
      if (same) found = w;
    }
    if (!found) return false;
    buf_printf(&args, "%s%s", i ? ", " : "", found->name);
  }
  uint32_t n = g->names++;
  buf_text(&g->body, "  ");
  for (uint32_t i = 0; i < m->nout; i++) buf_printf(&g->body, "%sr%u_%u", i ? ", " : "", n, i);
  buf_printf(&g->body, " = %s(%s)\n", m->name, args.at);
  for (uint32_t i = 0; i < m->nout; i++) { // of unknown type: it can only be returned
    Wire_ *y = fresh(g);
    snprintf(y->name, sizeof y->name, "r%u_%u", n % 1000, i);
    y->plain = false;
    y->rank = 1;
    axis_set(&y->axis[0], "?", "?");
    keep(g, y);
  }
  return true;
}

// -- boxes ----------------------------------------------------------------------------------------
static void add_input(Gen *g, uint32_t i) {
  static const char *const labels[] = {"a", "b", "c", "m", "t", "λ", "width", "x"};
  static const char *const names[] = {"x", "Q", "input", "V"};
  Wire_ *w = &g->wire[g->n++];
  *w = (Wire_){.plain = true};
  snprintf(w->name, sizeof w->name, "%s%u", PICK(g, names), i);
  uint32_t kind = below(g, 12);
  if (kind == 0) { // {v}[t]
    w->labels = true, w->plain = false, w->rank = 1;
    axis_set(&w->axis[0], "t", "t");
  } else if (kind == 1) {
    w->plain = false, w->rank = 2;
    axis_set(&w->axis[0], "n", "n"), axis_set(&w->axis[1], "n", "n");
  } else if (kind == 2) {
    w->rank = 2;
    axis_set(&w->axis[0], "v", "v"), axis_set(&w->axis[1], "m", "m");
  } else {
    uint32_t rank = below(g, 4), start = below(g, COUNT(labels));
    for (uint32_t k = 0; k < rank; k++) {
      const char *label = labels[(start + k * (1 + below(g, 2) * 2)) % COUNT(labels)];
      if (axis_of(w, label) >= 0) continue;
      axis_set(&w->axis[w->rank++], label, label);
    }
  }
}

static void statement(Gen *g) {
  static bool (*const turn[])(Gen *) = {
      at_each_place, two_together, two_together, product,   product,      product, reduce,
      view,          split,        window,       one_place, gather,       embed,   library_keeps,
      library_makes, heads,        picture,      joined,    scanned,      looped,  mask,
      noise,         diagonal,     repeated,     called,    library_keeps};
  for (uint32_t i = 0; i < 20; i++) {
    size_t before = g->body.n;
    if (PICK(g, turn)(g)) return;
    g->body.n = before;
    if (g->body.at) g->body.at[before] = 0;
  }
}

static void add_box(Gen *g, uint32_t k, uint32_t statements) {
  Buf b = buf_new(g->arena);
  Made *m = &g->made[g->made_n];
  g->body = buf_new(g->arena);
  g->n = 0;
  uint32_t nin = 1 + below(g, 3), nout = 1 + below(g, 3);
  for (uint32_t i = 0; i < nin; i++) add_input(g, i);
  *m = (Made){.nin = nin, .nout = nout};
  for (uint32_t i = 0; i < nin; i++) m->in[i] = g->wire[i];
  snprintf(m->name, sizeof m->name, "f%u", k);
  for (uint32_t n = 1 + below(g, statements); n; n--) statement(g);
  buf_printf(&b, "box %s(", m->name);
  for (uint32_t i = 0; i < nin; i++) {
    buf_printf(&b, "%s%s: ", i ? ", " : "", g->wire[i].name);
    put_type(&b, &g->wire[i]);
  }
  buf_printf(&b, ") {\n%s  return ", g->body.n ? g->body.at : "");
  for (uint32_t i = 0; i < nout; i++) {
    uint32_t last = g->n > nin ? nin + below(g, g->n - nin) : below(g, g->n);
    buf_printf(&b, "%s%s", i ? ", " : "", i ? g->wire[last].name : g->wire[g->n - 1].name);
  }
  buf_text(&b, "\n}\n");
  if (g->made_n + 1 < BOXES) g->made_n++;
  vec_push(g->arena, &g->out->part, b.at);
  vec_push(g->arena, &g->out->drawn, arena_format(g->arena, "f%u", k));
}

// -- learners and goals ---------------------------------------------------------------------------
static void add_goals(Gen *g) {
  static const char *const body[] = {"dense[16] ; relu ; dense[%u]",
                                     "(dense[8] ; tanh) ^ 3 ; dense[%u]",
                                     "dense[8] ; residual[dense[8] ; relu] ; linear[%u]", NULL};
  static const struct {
    const char *set, *x, *y;
    uint32_t in, classes;
  } sets[] = {{"iris", "flower", "kind", 4, 3},
              {"moons", "x", "y", 2, 2},
              {"blobs", "point", "label", 2, 3}};
  uint32_t k = below(g, COUNT(sets)), code = 2 + below(g, 6), in = sets[k].in;
  Arena *a = g->arena;
  Texts *part = &g->out->part, *goal = &g->out->goal, *drawn = &g->out->drawn;
  vec_push(a, part, arena_format(a, "given %s, %s from %s\n", sets[k].x, sets[k].y, sets[k].set));
  vec_push(a, part, arena_format(a, "given noise from normal[%u]\n", code));
  const char *names[] = {"enc", "dec", "judge", "tell"};
  uint32_t from[] = {in, code, in, code}, to[] = {code, in, 0, sets[k].classes};
  for (uint32_t i = 0; i < 4; i++) {
    const char *text = PICK(g, body);
    Buf b = buf_new(a);
    buf_printf(&b, "learn %s : R[%u] -> ", names[i], from[i]);
    if (to[i])
      buf_printf(&b, "R[%u]", to[i]);
    else
      buf_text(&b, "R[]");
    if (text && to[i]) {
      buf_text(&b, " = ");
      const char *at = strstr(text, "%u");
      buf_add(&b, text, (size_t)(at - text)), buf_printf(&b, "%u%s", to[i], at + 2);
    }
    buf_char(&b, '\n');
    vec_push(a, part, b.at);
    vec_push(a, drawn, names[i]);
  }
  const char *x = sets[k].x, *y = sets[k].y;
  vec_push(a, goal, arena_format(a, "goal rebuild : dec(enc(%s)) ~ %s   by l2\n", x, x));
  if (one_in(g, 2))
    vec_push(a, goal, arena_format(a, "goal name : tell(enc(%s)) ~ %s   by cross_entropy\n", x, y));
  if (one_in(g, 2)) {
    vec_push(a, goal, arena_format(a, "goal real : judge(%s) ~ 1   by bce   trains judge\n", x));
    vec_push(a, goal, "goal fake : judge(dec(noise)) ~ 0   by bce   trains judge\n");
    vec_push(a, goal, "goal fool : judge(dec(noise)) ~ 1   by bce   trains dec   times 0.5\n");
  }
  if (one_in(g, 3))
    vec_push(a, goal, arena_format(a, "goal minimise sum(enc(%s) * enc(%s))\n", x, x));
}

RandomProgram *random_program(Arena *a, uint64_t seed, uint32_t statements) {
  Gen *g = NEW(a, Gen);
  g->arena = a, g->state = seed;
  g->state = draw(g); // far from that of the next seed, whose programs would share boxes with these
  g->out = NEW(a, RandomProgram);
  uint32_t boxes = 1 + below(g, 4);
  for (uint32_t k = 0; k < boxes; k++) add_box(g, k, statements);
  if (one_in(g, 3)) add_goals(g);
  return g->out;
}

const char *random_program_text(Arena *a, const RandomProgram *p, uint64_t order) {
  Gen g = {.state = order};
  Buf b = buf_new(a);
  uint32_t n = p->part.n, *at = NEW_ARRAY(a, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) at[i] = i;
  for (uint32_t i = n; order && i > 1; i--) {
    uint32_t k = below(&g, i), x = at[k];
    at[k] = at[i - 1], at[i - 1] = x;
  }
  for (uint32_t i = 0; i < n; i++) buf_text(&b, p->part.at[at[i]]);
  for (uint32_t i = 0; i < p->goal.n; i++) buf_text(&b, p->goal.at[i]);
  return b.at;
}
