// A diagram as a list of boxes in texts.
#include "port/diff/diff.h"

typedef struct {
  Arena *arena;
  World *w;
  Outline **known; // [Diagram.id] those that were made already
} Outliner;

static const char *copied(Outliner *o, const char *text) {
  return arena_text(o->arena, text, strlen(text));
}

static uint64_t hash_text(uint64_t h, const char *text) {
  return hash_bytes(h, text, strlen(text) + 1);
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

// What it computes, whatever the sizes: functions, numbers, who reads whom.
static uint64_t loop_form(const Loop *loop) {
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

static uint64_t access_hash(Outliner *o, uint64_t h, const Access *a) {
  h = hash_bytes(h, &a->pad, sizeof a->pad * a->padded);
  for (uint32_t i = 0; i < a->rank; i++) {
    const Coord *c = &a->coord[i];
    h = hash_text(h, c->c ? size_text(o->w, c->c) : "0");
    for (uint32_t k = 0; k < c->n; k++) {
      h = hash_text(h, size_text(o->w, c->term[k].coef));
      h = hash_bytes(h, &c->term[k].var, sizeof c->term[k].var);
    }
  }
  return h;
}

static uint64_t loop_hash(Outliner *o, const Loop *loop) {
  uint64_t h = hash_bytes(HASH_START, &loop->combine, sizeof loop->combine);
  for (uint32_t i = 0; i < loop->nindex; i++)
    h = hash_text(h, size_text(o->w, loop->index[i].size));
  for (uint32_t i = 0; i < loop->nin; i++) h = access_hash(o, h, &loop->in[i]);
  h = access_hash(o, h, &loop->out);
  for (uint32_t i = 0; i < loop->nscalar; i++) {
    const Scalar *s = &loop->scalar[i];
    h = hash_bytes(h, &s->fn, sizeof s->fn);
    if (s->fn == FN_CONST) h = hash_bytes(h, &s->k, sizeof s->k);
    if (s->fn == FN_ARG || s->fn == FN_AT) h = hash_bytes(h, &s->ref, sizeof s->ref);
    if (s->fn == FN_SIZE) h = hash_text(h, size_text(o->w, s->ref));
    if (s->fn > FN_SIZE) h = hash_bytes(h, s->arg, fn_rows[s->fn].arity * sizeof *s->arg);
  }
  return h;
}

// -- boxes ----------------------------------------------------------------------------------------
static Outline *outline_of(Outliner *o, const Diagram *d, const char *name);

// What a call is called: the word that its weights have in their paths, else the callee.
static const char *call_word(Outliner *o, const Diagram *d, const Box *b) {
  const char *callee = name_text(o->w->names, b->callee->name);
  for (uint32_t i = b->callee->in.n; i < b->nin; i++)
    for (uint32_t k = 0; k < d->param.n; k++) {
      const Param *p = &d->param.at[k];
      const char *slash = strchr(p->path, '/');
      if (p->wire == b->in[i] && slash)
        return arena_text(o->arena, p->path, (size_t)(slash - p->path));
    }
  return copied(o, *callee ? callee : "a box");
}

static void describe(Outliner *o, const Diagram *d, const Box *b, OutlineBox *out) {
  uint64_t h = hash_bytes(HASH_START, &b->op, sizeof b->op), form = h;
  const Diagram *below = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
  out->name = out->kind = b->op == OP_join ? "concat" : b->op == OP_order ? "order" : "noise";
  if (b->op == OP_loop) {
    out->name = out->kind = loop_kind(o, b->loop);
    h = loop_hash(o, b->loop);
    form = loop_form(b->loop);
  }
  if (b->op == OP_join || b->op == OP_order) h = hash_bytes(h, &b->axis, sizeof b->axis);
  if (below) {
    const char *name = name_text(o->w->names, below->name);
    Buf kind = buf_new(o->arena);
    buf_printf(&kind, "%s %s", b->op == OP_scan ? "scan" : "call", name);
    out->kind = kind.at;
    out->name = b->op == OP_call ? call_word(o, d, b) : kind.at;
    out->inside = outline_of(o, below, name);
    for (uint32_t i = 0; i < out->inside->box.n; i++) {
      h = hash_bytes(h, &out->inside->box.at[i].hash, sizeof h);
      form = hash_bytes(form, &out->inside->box.at[i].form, sizeof form);
    }
    for (uint32_t i = 0; i < below->param.n; i++)
      h = hash_text(h, type_text(o->w, &below->wire.at[below->param.at[i].wire].type));
  }
  out->hash = h;
  out->form = hash_text(form, out->kind);
}

// Sizes without labels, which are nobody's business here.
static void type_put(Outliner *o, const Type *t, Buf *out) {
  if (t->base == BASE_LABEL)
    buf_printf(out, "{%s}", size_text(o->w, t->count));
  else
    buf_char(out, t->base == BASE_BIT ? 'B' : 'R');
  buf_char(out, '[');
  for (uint32_t i = 0; i < t->rank; i++)
    buf_printf(out, "%s%s", i ? " " : "", size_text(o->w, t->axis[i].size));
  buf_char(out, ']');
}

static const char *types_of(Outliner *o, const Diagram *d, const Box *b) {
  Buf t = buf_new(o->arena);
  for (uint32_t i = 0; i < b->nout; i++) {
    if (b->op == OP_loop && i) break; // winners
    if (i) buf_text(&t, ", ");
    type_put(o, &d->wire.at[b->out[i]].type, &t);
  }
  return t.at;
}

static void add_box(Outliner *o, const Diagram *d, const Box *b, Outline *to) {
  OutlineBox out = {.type = types_of(o, d, b), .nin = b->nin};
  describe(o, d, b, &out);
  out.in = NEW_ARRAY(o->arena, int64_t, b->nin + 1);
  for (uint32_t i = 0; i < b->nin; i++) {
    Id from = d->wire.at[b->in[i]].box;
    out.in[i] = from ? (int64_t)from - 1 : NO_BOX;
    for (uint32_t k = 0; k < d->in.n; k++)
      if (d->in.at[k] == b->in[i]) out.in[i] = -(int64_t)k - 1;
  }
  out.hash = hash_text(out.hash, out.type);
  vec_push(o->arena, &to->box, out);
}

static Outline *outline_of(Outliner *o, const Diagram *d, const char *name) {
  if (o->known[d->id]) return o->known[d->id];
  Outline *out = o->known[d->id] = NEW(o->arena, Outline);
  out->name = copied(o, name);
  for (uint32_t i = 1; i < d->box.n; i++) add_box(o, d, &d->box.at[i], out);
  for (uint32_t i = 0; i < d->param.n; i++) {
    Buf type = buf_new(o->arena);
    type_put(o, &d->wire.at[d->param.at[i].wire].type, &type);
    OutlineWeight weight = {copied(o, d->param.at[i].path), type.at};
    vec_push(o->arena, &out->weight, weight);
  }
  return out;
}

void outline_add(Arena *arena, World *w, const char *name, const Diagram *d, Outlines *to) {
  Outliner o = {arena, w, NEW_ARRAY(arena, Outline *, w->diagram.n + 1)};
  // A diagram that only calls the learner is the learner.
  if (d->box.n == 2 && d->box.at[1].op == OP_call) d = d->box.at[1].callee;
  Outline *made = outline_of(&o, d, name);
  vec_push(arena, to, *made);
}
