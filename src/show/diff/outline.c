// Makes the outline of a diagram.
#include "base/hash.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "show/diff/outline_own.h"

typedef struct {
  Arena *arena;
  World *w;
  DiffForms forms;
  Outline **known; // [Diagram.id] those that were made already
} Outliner;

static const char *copied(Outliner *o, const char *text) {
  return arena_text(o->arena, text, strlen(text));
}

// -- loops ----------------------------------------------------------------------------------------
// The functions of a body in order: "sum mul", "relu".
static const char *loop_kind(Outliner *o, const Loop *loop) {
  static const char *const combine[] = {"sum", "product", "max", "min"};
  Buf b = buf_new(o->arena);
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (loop_is_reduced(o->w, loop, i)) {
      buf_text(&b, combine[loop->combine]);
      break;
    }
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn > FN_SIZE)
      buf_printf(&b, "%s%s", b.n ? " " : "", fn_rows[loop->scalar[i].fn].name);
  if (!b.n) buf_text(&b, loop->nin ? "a copy" : "a number");
  return b.at;
}

static const char *loop_numbers(Outliner *o, const Loop *loop) {
  Buf b = buf_new(o->arena);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    if (loop->scalar[i].fn != FN_CONST) continue;
    if (b.n) buf_text(&b, ", ");
    buf_number(&b, loop->scalar[i].k);
  }
  return b.at;
}

// A hash independent of sizes: functions, constants and data flow.
static uint64_t loop_outer_form(const Loop *loop) {
  uint64_t h = hash_bytes(HASH_START, &loop->combine, sizeof loop->combine);
  h = hash_bytes(h, &loop->nindex, sizeof loop->nindex);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    h = hash_bytes(h, &s->fn, sizeof s->fn);
    if (s->fn == FN_CONST) h = hash_bytes(h, &s->k, sizeof s->k);
    if (s->fn > FN_SIZE) h = hash_bytes(h, s->arg, fn_rows[s->fn].arity * sizeof *s->arg);
  }
  return h;
}

// -- boxes ----------------------------------------------------------------------------------------
static Outline *outline_below(Outliner *o, const Diagram *d, const char *name);

// The name of a call: the last component of its weights' paths, else the callee.
static const char *call_word(Outliner *o, const Diagram *d, const Box *b) {
  const char *callee = name_text(o->w->names, b->callee->name);
  for (uint32_t i = b->callee->in.n; i < b->nin; i++)
    for (uint32_t k = 0; k < d->param.n; k++) {
      const Param *p = &d->param.at[k];
      const char *slash = strchr(p->path, '/');
      if (p->wire == b->in[i] && slash && !p->rooted)
        return arena_text(o->arena, p->path, (size_t)(slash - p->path));
    }
  return copied(o, *callee ? callee : "a box");
}

static void describe(Outliner *o, const Diagram *d, const Box *b, OutlineBox *out) {
  const Diagram *below = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
  uint64_t form = hash_bytes(HASH_START, &b->op, sizeof b->op);
  out->name = out->kind = b->op == OP_join ? "concat" : b->op == OP_order ? "order" : "noise";
  if (b->op == OP_loop) {
    out->name = out->kind = loop_kind(o, b->loop);
    out->numbers = loop_numbers(o, b->loop);
    if (!b->loop->nin && *out->numbers) out->name = out->numbers;
    form = loop_outer_form(b->loop);
  }
  out->word = out->name;
  if (!out->numbers) out->numbers = "";
  if (below) {
    out->word = copied(o, name_text(o->w->names, below->name));
    out->kind = b->op == OP_scan ? "scan" : "call";
    if (b->op == OP_scan) out->word = arena_format(o->arena, "scan %s", out->word);
    out->name = b->op == OP_call ? call_word(o, d, b) : out->word;
    out->inside = outline_below(o, below, out->word);
    for (uint32_t i = 0; i < out->inside->box.n; i++)
      form = hash_bytes(form, &out->inside->box.at[i].form, sizeof form);
  }
  out->args = b->nin - (below ? below->param.n : 0);
  out->hash = form_box(&o->forms, d, b);
  out->form = form_text(form, out->kind);
}

// Sizes without labels.
static const char *type_words(Outliner *o, const Type *t) {
  Buf out = buf_new(o->arena);
  if (t->base == BASE_LABEL)
    buf_printf(&out, "{%s}", size_text(o->w, t->count));
  else
    buf_char(&out, t->base == BASE_BIT ? 'B' : 'R');
  buf_char(&out, '[');
  for (uint32_t i = 0, n = 0; i < t->rank; i++)
    if (t->axis[i].pass != PASS_SAMPLE)
      buf_printf(&out, "%s%s", n++ ? " " : "", size_text(o->w, t->axis[i].size));
  buf_char(&out, ']');
  return out.at;
}

static const char *types_of(Outliner *o, const Diagram *d, const Box *b) {
  Buf t = buf_new(o->arena);
  uint32_t n = b->op == OP_call ? b->callee->out.n : b->op == OP_loop ? 1 : b->nout;
  for (uint32_t i = 0; i < n && i < b->nout; i++) { // without argmax results and next states
    buf_printf(&t, "%s%s", i ? ", " : "", type_words(o, &d->wire.at[b->out[i]].type));
  }
  return t.at;
}

// The producer of a wire, encoded as OutlineBox.in.
static int64_t maker_of(const Diagram *d, Id wire) {
  Id from = d->wire.at[wire].box;
  for (uint32_t k = 0; k < d->in.n; k++)
    if (d->in.at[k] == wire) return -(int64_t)k - 1;
  return from ? (int64_t)from - 1 : NO_BOX;
}

static int64_t weight_of(const Diagram *d, Id wire) {
  for (uint32_t k = 0; k < d->param.n && !d->wire.at[wire].box; k++)
    if (d->param.at[k].wire == wire) return k;
  return -1;
}

static void add_box(Outliner *o, const Diagram *d, const Box *b, Outline *to) {
  OutlineBox out = {.type = types_of(o, d, b), .nin = b->nin};
  describe(o, d, b, &out);
  out.in = NEW_ARRAY(o->arena, int64_t, b->nin + 1);
  out.weight = NEW_ARRAY(o->arena, int64_t, b->nin + 1);
  for (uint32_t i = 0; i < b->nin; i++)
    out.in[i] = maker_of(d, b->in[i]), out.weight[i] = weight_of(d, b->in[i]);
  vec_push(o->arena, &to->box, out);
}

static Outline *outline_below(Outliner *o, const Diagram *d, const char *name) {
  if (o->known[d->id]) return o->known[d->id];
  Outline *out = o->known[d->id] = NEW(o->arena, Outline);
  out->name = copied(o, name);
  for (uint32_t i = 1; i < d->box.n; i++) add_box(o, d, &d->box.at[i], out);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    OutlineWeight weight = {copied(o, p->path), type_words(o, &d->wire.at[p->wire].type), p->rooted,
                            form_begin(&o->forms, d, p)};
    vec_push(o->arena, &out->weight, weight);
  }
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *text = name_text(o->w->names, wire->name);
    vec_push(o->arena, &out->input, *text ? copied(o, text) : "");
  }
  for (uint32_t i = 0; i < d->out.n; i++) vec_push(o->arena, &out->out, maker_of(d, d->out.at[i]));
  out->whole = form_of(&o->forms, d)->whole;
  return out;
}

uint64_t outline_whole(Arena *arena, World *w, const Diagram *d, const OutlineNames *names) {
  DiffForms forms = forms_new(arena, w, names);
  return form_of(&forms, d)->whole;
}

// Does a diagram only call the learner of this name?
static bool only_calls(const World *w, const Diagram *d, const char *name) {
  return d->box.n == 2 && d->box.at[1].op == OP_call &&
         !strcmp(name_text(w->names, d->box.at[1].callee->name), name);
}

Outline *outline_of(Arena *arena, World *w, const char *name, const Diagram *d,
                    const OutlineNames *names) {
  Outliner o = {arena, w, forms_new(arena, w, names),
                NEW_ARRAY(arena, Outline *, w->diagram.n + 1)};
  if (only_calls(w, d, name)) d = d->box.at[1].callee;
  return outline_below(&o, d, name);
}
