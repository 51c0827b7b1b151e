// Default bodies: a learner without a body gets boxes of the library by its type.
//
// Each input is read into a vector by a box for its type (any_image for pictures, any_row for rows
// of labels, …), the vectors are concatenated, and each output is made from them by any_numbers, or
// any_draw for a picture. Three pairs of types have a direct box: picture to picture of the same
// sides, row of labels to scores at each position, bits to bits. The boxes are defined in
// lib/2_layers.limn; here they are only selected. The learner records the selection as text, for
// `limn check`.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/elab/body.h"

enum { SIDE_LEAST = 8 }; // shorter tables are not pictures

static bool is_picture(World *w, const Type *t) {
  int64_t h, v;
  return t->base == BASE_R && (t->rank == 2 || t->rank == 3) &&
         size_value(w, t->axis[0].size, &h) && size_value(w, t->axis[1].size, &v) &&
         h >= SIDE_LEAST && v >= SIDE_LEAST;
}

static bool same_size(World *w, Size a, Size b) { return size_now(w, a) == size_now(w, b); }

// NULL: it is a vector already.
static const char *reader_box(World *w, const Type *t, bool bits) {
  if (t->base == BASE_BIT && !bits) return "any_bits";
  if (t->base == BASE_LABEL) return t->rank == 1 ? "any_row" : "any_labels";
  return is_picture(w, t) ? "any_image" : t->rank == 1 ? NULL : "flatten";
}

static const char *writer_box(World *w, const Type *t) {
  return t->base == BASE_BIT ? "lut" : is_picture(w, t) ? "any_draw" : "any_numbers";
}

// The direct box from one wire to another, or NULL.
static const char *direct_box(World *w, const Type *in, const Type *out) {
  if (in->base == BASE_LABEL && in->rank == 1 && out->base == BASE_R && out->rank == 2 &&
      same_size(w, in->axis[0].size, out->axis[0].size))
    return "any_text";
  if (is_picture(w, in) && is_picture(w, out) &&
      same_size(w, in->axis[0].size, out->axis[0].size) &&
      same_size(w, in->axis[1].size, out->axis[1].size))
    return "any_picture";
  return NULL;
}

// Appends the library's definition of a box to the text, with the sizes of `o` for its `...o`.
static void describe_box(Body *b, Buf *says, const char *name, const Type *o) {
  World *w = b->w;
  const Def *d = scope_find(b->in->library, name_from(w->names, name));
  Buf sizes = buf_new(w->arena);
  for (uint32_t k = 0; o && k < o->rank; k++) {
    int64_t v;
    buf_text(&sizes, k ? " " : "");
    if (size_value(w, o->axis[k].size, &v))
      buf_printf(&sizes, "%lld", (long long)v);
    else // not solved yet
      buf_text(&sizes, name_text(w->names, o->axis[k].label));
  }
  const Syntax *body = d ? header_of(d).body : NULL;
  if (says->n && says->at[says->n - 1] != '(') buf_text(says, " ; ");
  if (!body || body->kind == N_BLOCK || strncmp(name, "any_", 4) != 0) {
    buf_text(says, name);
    return;
  }
  const char *text = w->sources->file.at[body->span.file].text + body->span.at;
  for (uint32_t i = 0; i < body->span.n; i++)
    if (strncmp(text + i, "...o", 4) == 0)
      buf_text(says, sizes.n ? sizes.at : ""), i += 3;
    else
      buf_char(says, text[i]);
}

// A size as syntax: a number, or a fresh name bound to an unsolved size.
static Syntax *size_syntax(Body *b, Env *env, const Axis *axis, uint32_t k, Span span) {
  World *w = b->w;
  int64_t v;
  Id var;
  if (size_value(w, axis->size, &v)) return syntax_num(w->arena, (double)v, span);
  Name name = name_from(w->names, arena_format(w->arena, "o_%u", k)), label = 0;
  if (size_open_space(w, axis->size, &var))
    name = label = axis->label; // an open space keeps its name
  env_bind(env, name,
           (Binding){.kind = BIND_SIZE, .size = axis->size, .label = label, .span = span});
  return syntax_name(w->arena, name, span);
}

// Calls a library box with the axes of `o` as options.
static Value call_library_box(Body *b, const char *box, const Type *o, Value args, Span span) {
  World *w = b->w;
  Env *env = env_new(b->in, NULL, b->in->library, b);
  Syntax *at = syntax_name(w->arena, name_from(w->names, box), span);
  VEC(Syntax *) item = {0};
  for (uint32_t k = 0; o && k < o->rank; k++)
    vec_push(w->arena, &item, size_syntax(b, env, &o->axis[k], k, span));
  if (o)
    at = node_at(w->arena, span,
                 (AtParts){at, brackets_of(w->arena, span, (Nodes){item.n, item.at})});
  args = value_copy(b, args);
  return apply(b, env, at, args, NULL, span);
}

// The same, and appends it to the text; a picture without channels gets one first.
static Value call_and_describe(Body *b, const char *box, const Type *o, Value args, Buf *says,
                               Span span) {
  bool pictures = strcmp(box, "any_image") == 0 || strcmp(box, "any_picture") == 0;
  if (pictures && own_type(b->w, &args.at[0].type).rank == 2) {
    describe_box(b, says, "channel", NULL);
    args = call_library_box(b, "channel", NULL, args, span);
  }
  describe_box(b, says, box, o);
  return call_library_box(b, box, o, args, span);
}

// All inputs as one vector.
static Value read_all(Body *b, Value args, bool bits, Buf *says, Span span) {
  Value rows = {0};
  if (args.n > 1) buf_char(says, '(');
  for (uint32_t i = 0; i < args.n; i++) {
    Type t = own_type(b->w, &args.at[i].type);
    const char *box = reader_box(b->w, &t, bits);
    Value row = {1, args.at + i, NULL};
    Buf one = buf_new(b->w->arena);
    if (box) row = call_and_describe(b, box, NULL, row, &one, span);
    rows = value_concat(b, rows, row);
    if (box || args.n > 1) buf_printf(says, "%s%s", i ? ", " : "", box ? one.at : "id");
  }
  if (args.n < 2) return rows;
  buf_text(says, ") ; concat");
  return call_library_box(b, "concat", NULL, rows, span);
}

static bool all_bits(const Type *want, Value args) {
  bool bits = want->base == BASE_BIT;
  for (uint32_t i = 0; i < args.n; i++) bits &= args.at[i].type.base == BASE_BIT;
  return bits;
}

// Why a type needs a written body, or NULL.
static const char *refusal(const Type *want, Value args) {
  if (want->base == BASE_LABEL)
    return "a learner gives numbers or bits: for labels give scores, `R[n]`, and a distance like "
           "`cross_entropy`";
  if (want->base == BASE_BIT && !all_bits(want, args))
    return "bits are learned from bits: give this learner a body";
  if (want->base == BASE_BIT && want->rank != 1)
    return "a table of bits gives one row, `B[n]`: give this learner a body";
  return NULL;
}

Value default_body_value(Body *b, Value args, Span span, const char **words) {
  if (!args.n || value_failed(&args)) return value_error(b, span); // its types are wrong
  World *w = b->w;
  Value all = {0};
  Buf says = buf_new(w->arena);
  for (uint32_t i = 0; i < b->want.n; i++) {
    const char *why = refusal(&b->want.at[i], args);
    if (!why) continue;
    diag_error(w->diags, b->header_result ? b->header_result->span : span, "%s", why);
    return value_error(b, span);
  }
  const Type *first = &b->want.at[0];
  Type in = own_type(w, &args.at[0].type);
  const char *box = args.n == 1 && b->want.n == 1 ? direct_box(w, &in, first) : NULL;
  if (box) {
    bool grey = first->rank == 2 && strcmp(box, "any_picture") == 0;
    Axis last = grey ? (Axis){.size = size_of(w, 1)} : first->axis[first->rank - 1];
    Type o = type_make(w, BASE_R, 1, &last);
    all = call_and_describe(b, box, &o, args, &says, span);
    if (grey) all = call_and_describe(b, "grey", NULL, all, &says, span);
    *words = says.at;
    return all;
  }
  Value row = read_all(b, args, all_bits(first, args), &says, span);
  for (uint32_t i = 0; i < b->want.n; i++) {
    const Type *t = &b->want.at[i];
    Buf one = buf_new(w->arena);
    const Type *o = t->base == BASE_BIT ? NULL : t;
    all = value_concat(b, all, call_and_describe(b, writer_box(w, t), o, row, &one, span));
    buf_text(&says, i ? " & " : says.n ? " ; " : "");
    buf_printf(&says, b->want.n > 1 ? "(%s)" : "%s", one.at);
  }
  *words = says.at;
  return all;
}
