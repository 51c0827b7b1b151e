// Prints a value under construction when it is lowered to a box: its reads, its functions and its
// reduced axes.
//
//   %3 : R[o] = sum[i](mul(x[i], W[i o]))
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/ops.h"
#include "lang/value/value.h"

static void put_coord(World *w, const Coord *c, const char *const *axis, Buf *out) {
  bool some = c->n && c->c == size_of(w, 0);
  if (!some) buf_text(out, size_text(w, c->c));
  for (uint32_t i = 0; i < c->n; i++) {
    buf_text(out, some && !i ? "" : " + ");
    if (c->term[i].coef != size_of(w, 1)) buf_printf(out, "%s*", size_text(w, c->term[i].coef));
    buf_text(out, c->term[i].operand ? "label" : axis[c->term[i].var]);
  }
}

static void put_read(Body *b, const Expr *x, const char *const *axis, Buf *out) {
  const Wire *wire = &b->d->wire.at[x->wire];
  if (wire->name)
    buf_text(out, name_text(b->w->names, wire->name));
  else
    buf_printf(out, "%%%u", x->wire);
  for (uint32_t i = 0; i < wire->type.rank; i++) {
    buf_text(out, i ? " " : "[");
    put_coord(b->w, &x->coord[i], axis, out);
  }
  if (wire->type.rank) buf_char(out, ']');
}

// Axis i of x is called axis[i].
static void put_expr(Body *b, const Expr *x, const char *const *axis, Buf *out) {
  switch (x->kind) {
  case X_WIRE: put_read(b, x, axis, out); return;
  case X_AT: buf_text(out, axis[0]); return;
  case X_CONST: buf_number(out, x->k); return;
  case X_SIZE: buf_text(out, size_text(b->w, x->size)); return;
  case X_FN: break;
  }
  buf_printf(out, "%s(", fn_rows[x->fn].name);
  for (uint32_t i = 0; i < 3 && x->arg[i]; i++) {
    const char *inner[RANK_LIMIT];
    for (uint32_t k = 0; k < x->arg[i]->rank; k++) inner[k] = axis[x->map[i][k]];
    if (i) buf_text(out, ", ");
    put_expr(b, x->arg[i], inner, out);
  }
  buf_char(out, ')');
}

void value_watch(Body *b, const Val *v, const Index *index, Id made) {
  static const char *const word[] = {[SUM] = "sum", [MAX] = "max", [MIN] = "min", [PROD] = "prod"};
  ValueWatch *watch = b->in->watch;
  const char *axis[RANK_LIMIT];
  if (!b->def || strcmp(name_text(b->w->names, b->def->name), watch->name) != 0) return;
  if (!watch->body) watch->body = b; // the first elaboration
  if (watch->body != b) return;
  for (uint32_t i = 0; i < v->type.rank; i++) axis[i] = name_text(b->w->names, index[i].name);
  buf_printf(&watch->out, "%%%u : %s = ", made, own_text(b->w, &b->d->wire.at[made].type));
  for (uint32_t i = 0; i < v->nreduce; i++)
    buf_printf(&watch->out, "%s%s", i ? " " : arena_format(b->w->arena, "%s[", word[v->combine]),
               axis[v->reduce[i]]);
  if (v->nreduce) buf_text(&watch->out, "](");
  put_expr(b, v->x, axis, &watch->out);
  buf_text(&watch->out, v->nreduce ? ")\n" : "\n");
}

// -- source text ----------------------------------------------------------------------------------
const char *span_words(World *w, Span span) { return source_words(w->arena, w->sources, span); }

const char *box_word(World *w, const Closure *box) {
  if (box->node->kind != N_NAME || !box->env) return span_words(w, box->node->span);
  const Binding *bind = env_meaning(box->env, box->node);
  return bind && bind->kind == BIND_OPTION && bind->box.node ? box_word(w, &bind->box)
                                                             : name_text(w->names, box->node->name);
}
