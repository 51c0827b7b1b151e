// A scan is drawn in parentheses: a scanned input loses its axis on a pentagon when it enters,
// carried values enter at the left and leave at the right, held values enter unchanged, and emitted
// values regain the axis when they leave.
#include "base/names.h"
#include "show/circuit/circuit_own.h"

static const char *axis_name(Circuit *c, const Scan *x) {
  const char *name = name_text(c->w->names, x->axis.name);
  return *name ? name : "t";
}

// The last step: a number if known, or the axis in capitals.
static const char *last_step(Circuit *c, const Scan *x) {
  const char *size = size_text(c->w, x->axis.size), *name = axis_name(c, x);
  if (strcmp(size, name) != 0) return size;
  char *big = arena_format(c->s->arena, "%s", name);
  big[0] = char_upper(big[0]);
  return big;
}

static void name_steps(Circuit *c, const Scan *x, uint32_t block) {
  const char *name = axis_name(c, x), *last = last_step(c, x);
  Block *b = &c->s->block.at[block];
  b->times = x->back ? "1" : last;
  b->from = arena_format(c->s->arena, "%s=%s", name, x->back ? last : "1");
}

// All inputs enter together: a row per step, and carried values.
static void come_in(CircuitPart *p, CircuitPart *inner, const Box *box) {
  Sketch *s = p->c->s;
  const Scan *x = box->scan;
  uint32_t n = x->slice + x->carry, *from = NEW_ARRAY(s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) from[i] = bundle_of(p, box->in[i]);
  for (uint32_t i = 0; i < n; i++) // inputs used twice are copied outside
    for (uint32_t k = 0; k < n; k++)
      if (k != i && from[k] == from[i]) {
        from[i] = pass_stage(p, p->block, from[i], "start");
        break;
      }
  uint32_t stage = sketch_stage(s, inner->block, "one step");
  s->stage.at[stage].free = true;
  for (uint32_t i = 0; i < n; i++) {
    bool row = i < x->slice;
    uint32_t use = sketch_use(s, stage, from[i]), strands = s->bundle.at[use].n;
    uint32_t b = sketch_make(s, stage, NULL, row && strands > 1 ? strands - 1 : strands);
    for (uint32_t k = row; k < strands; k++) {
      Strand like = *strand_of(s, from[i], k);
      like.bundle = b;
      *strand_of(s, b, k - row) = like;
      stage_link(s, stage, LINK_PASS, strand_at(s, use, k), strand_at(s, b, k - row));
    }
    inner->made[x->body->in.at[i]] = b;
    if (!row) continue;
    Glyph *g = stage_glyph(s, stage, GLYPH_INDEX, axis_name(p->c, x));
    vec_push(s->arena, &g->in, strand_at(s, use, 0));
    if (strands == 1) vec_push(s->arena, &g->out, strand_at(s, b, 0));
  }
}

// Carried and emitted values are adjacent.
static void add_out(CircuitPart *p, const Box *box, uint32_t i, Ids *to) {
  const Scan *x = box->scan;
  bool read = i < x->carry || part_reads(p, box->out[i]);
  if (!read || ids_find(to, i) < to->n) return;
  vec_push(p->c->s->arena, to, i);
  for (uint32_t k = x->carry; i < x->carry && k < box->nout; k++)
    if (x->body->out.at[k] == x->body->out.at[i]) add_out(p, box, k, to);
}

// Carried values leave, and emitted ones, stacked along the axis.
static void go_out(CircuitPart *p, CircuitPart *inner, const Box *box) {
  Sketch *s = p->c->s;
  const Scan *x = box->scan;
  Ids from = {0}, to = {0};
  for (uint32_t i = 0; i < box->nout; i++) add_out(p, box, i, &to);
  for (uint32_t i = 0; i < to.n; i++)
    vec_push(s->arena, &from, bundle_of(inner, x->body->out.at[to.at[i]]));
  uint32_t stage = sketch_stage(s, inner->block, "all steps");
  s->stage.at[stage].free = true;
  for (uint32_t i = 0; i < from.n; i++) {
    uint32_t use = sketch_use(s, stage, from.at[i]), b = part_make(p, stage, box->out[to.at[i]]);
    uint32_t row = to.at[i] >= x->carry, n = s->bundle.at[b].n;
    for (uint32_t k = row; k < n; k++)
      stage_link(s, stage, LINK_PASS, strand_at(s, use, k - row), strand_at(s, b, k));
    if (!row) continue;
    Glyph *g = stage_glyph(s, stage, GLYPH_INDEX, axis_name(p->c, x));
    g->flip = true;
    vec_push(s->arena, &g->out, strand_at(s, b, 0));
    if (n == 1) vec_push(s->arena, &g->in, strand_at(s, use, 0));
  }
  for (uint32_t i = 0; i < x->carry; i++)
    if (!part_reads(p, box->out[i])) pass_stage(p, p->block, p->made[box->out[i]], "last step");
}

static void open_scan(CircuitPart *p, const Box *box) {
  Circuit *c = p->c;
  const Scan *x = box->scan;
  uint32_t block = sketch_block(c->s, p->block, NULL, INK_NONE);
  name_steps(c, x, block);
  CircuitPart inner = {.c = c, .d = x->body, .block = block, .fold = fold_inside(p, box)};
  inner.around = text_place(c->w, c->s->arena, box->origin, p->around);
  inner.made = NEW_ARRAY(c->s->arena, uint32_t, x->body->wire.n + 1);
  come_in(p, &inner, box);
  for (uint32_t i = x->slice + x->carry; i < x->body->in.n; i++)
    inner.made[x->body->in.at[i]] = bundle_of(p, box->in[i]);
  draw_part(&inner);
  go_out(p, &inner, box);
}

// The carried values that are returned as rows, unless all in order: "[1]".
static void put_given(Buf *b, const Scan *x) {
  const Ids *out = &x->body->out;
  bool all = out->n == 2 * x->carry;
  for (uint32_t i = x->carry; all && i < out->n; i++) all = out->at[i] == out->at[i - x->carry];
  for (uint32_t i = x->carry; !all && i < out->n; i++) {
    uint32_t k = 0;
    while (k < x->carry && out->at[k] != out->at[i]) k++;
    buf_printf(b, "%s%u%s", i == x->carry ? " [" : " ", k, i + 1 == out->n ? "]" : "");
  }
}

const char *scan_title(World *w, Arena *a, const Box *box) {
  Diagram like = {.name = name_from(w->names, "scan"), .option = box->scan->body->option};
  Buf b = buf_new(a);
  buf_printf(&b, "%s%s", box_title(w, a, &like), box->scan->back ? " down" : "");
  put_given(&b, box->scan);
  return b.at;
}

void draw_scan(CircuitPart *p, const Box *box) {
  if (is_string(p->c))
    all_ports(p, box, box_args(box), box->nout, GLYPH_BLOCK,
              scan_title(p->c->w, p->c->s->arena, box));
  else
    open_scan(p, box);
}
