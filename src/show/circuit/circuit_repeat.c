// Draws the boxes of a diagram in order. Each box knows the loop and iteration it was made in. If
// all iterations of a loop look the same and are wired alike, the first one is drawn in parentheses
// and stands for all.
//
// Wired alike: each input comes from the same box of the same iteration; or is the same outer wire
// for all; or comes from the same box of the previous iteration, and from outside for the first (a
// carried value); or from an iteration at a fixed distance of another repeat: then a plate ends the
// wire there and another begins it here.
#include "base/names.h"
#include "base/table.h"
#include "show/circuit/circuit_own.h"

#include <stdlib.h>

typedef enum { FROM_TURN, FROM_OUTSIDE, FROM_BEFORE, FROM_KEPT } FromKind;

typedef struct {
  FromKind kind;
  uint32_t place, port; // position in the iteration, and output, of the producing box
  const Repeat *kept;   // FROM_KEPT: the other loop; its iteration is
  int64_t sign, plus;   // sign · own + plus
} From;

struct Repeat {
  uint32_t n, size; // number of iterations, boxes per iteration
  const char *name; // of the loop variable
  Ids turn;
  Ids *box;       // [iteration] boxes in order
  int64_t *value; // [iteration] value of the loop variable
  Table *where;   // box to iteration · size + position + 1
  From **from;    // [position] [input]
};

// -- where things come from -----------------------------------------------------------------------
uint32_t box_args(const Box *b) {
  if (b->op == OP_call) return b->callee->in.n;
  if (b->op == OP_scan) return b->scan->slice + b->scan->carry + b->scan->hold;
  return b->nin;
}

typedef struct {
  bool inside;
  uint32_t turn, place, port;
} Where;

static Where box_where(const Repeat *r, Id box) {
  uint32_t at = box ? table_get(r->where, &box, sizeof box) : 0;
  if (!at) return (Where){0};
  return (Where){.inside = true, .turn = (at - 1) / r->size, .place = (at - 1) % r->size};
}

static Where wire_where(const CircuitPart *p, const Repeat *r, Id wire) {
  Where at = box_where(r, p->d->wire.at[wire].box);
  at.port = p->d->wire.at[wire].port;
  return at;
}

static Id box_at(const Repeat *r, uint32_t turn, uint32_t place) { return r->box[turn].at[place]; }

static Id wire_at(const CircuitPart *p, const Repeat *r, uint32_t turn, uint32_t place,
                  uint32_t port) {
  return p->d->box.at[box_at(r, turn, place)].out[port];
}

static Id input_at(const CircuitPart *p, const Repeat *r, uint32_t turn, uint32_t place,
                   uint32_t k) {
  return p->d->box.at[box_at(r, turn, place)].in[k];
}

// Does the input come from the same position at a fixed distance in every iteration?
static bool is_from_turn(const CircuitPart *p, const Repeat *r, uint32_t place, uint32_t k,
                         From *out, uint32_t before) {
  Where at = wire_where(p, r, input_at(p, r, before, place, k));
  *out = (From){.kind = before ? FROM_BEFORE : FROM_TURN, .place = at.place, .port = at.port};
  if (before && wire_where(p, r, input_at(p, r, 0, place, k)).inside) return false;
  for (uint32_t t = before; t < r->n; t++) {
    Where own = wire_where(p, r, input_at(p, r, t, place, k));
    if (!own.inside || own.turn + before != t || own.place != at.place || own.port != at.port)
      return false;
  }
  return true;
}

static bool is_weight(const CircuitPart *p, Id wire) {
  if (p->d->wire.at[wire].box) return false;
  return ids_find(&p->d->in, wire) == p->d->in.n;
}

// The same outer wire for all, or a weight of each.
static bool is_from_outside(const CircuitPart *p, const Repeat *r, uint32_t place, uint32_t k,
                            From *out) {
  Id first = input_at(p, r, 0, place, k);
  *out = (From){.kind = FROM_OUTSIDE};
  if (wire_where(p, r, first).inside) return false;
  for (uint32_t t = 1; t < r->n; t++) {
    Id wire = input_at(p, r, t, place, k);
    if (wire != first && !(is_weight(p, first) && is_weight(p, wire))) return false;
  }
  return true;
}

static bool is_from_kept(const CircuitPart *p, const Repeat *r, const Repeat *other, uint32_t place,
                         uint32_t k, From *out) {
  Where a = wire_where(p, other, input_at(p, r, 0, place, k)),
        b = wire_where(p, other, input_at(p, r, 1, place, k));
  if (!a.inside || !b.inside) return false;
  int64_t step = other->value[b.turn] - other->value[a.turn], own = r->value[1] - r->value[0];
  if (step != own && step != -own) return false;
  *out = (From){FROM_KEPT, a.place, a.port, other, step == own ? 1 : -1, 0};
  out->plus = other->value[a.turn] - out->sign * r->value[0];
  for (uint32_t t = 0; t < r->n; t++) {
    Where at = wire_where(p, other, input_at(p, r, t, place, k));
    if (!at.inside || at.place != a.place || at.port != a.port ||
        other->value[at.turn] != out->sign * r->value[t] + out->plus)
      return false;
  }
  return true;
}

static bool find_from(const CircuitPart *p, const Repeat *r, uint32_t place, uint32_t k,
                      From *out) {
  if (is_from_turn(p, r, place, k, out, 0) || is_from_turn(p, r, place, k, out, 1) ||
      is_from_outside(p, r, place, k, out))
    return true;
  for (uint32_t i = 0; i < p->repeat.n; i++)
    if (is_from_kept(p, r, p->repeat.at[i], place, k, out)) return true;
  return false;
}

// -- loops ----------------------------------------------------------------------------------------
// The iteration directly inside `within` that contains an iteration; 0: none.
static Id turn_under(const World *w, Id turn, Id within) {
  while (turn && turn != within && w->turn.at[turn].parent != within)
    turn = w->turn.at[turn].parent;
  return turn == within ? 0 : turn;
}

// Collects a loop with all of its iterations.
static Repeat *repeat_read(CircuitPart *p, Id within, Id first) {
  World *w = p->c->w;
  Arena *a = p->c->s->arena;
  Repeat *r = NEW(a, Repeat);
  VEC(Ids) lists = {0};
  for (Id b = 1; b < p->d->box.n; b++) {
    Id turn = turn_under(w, p->d->box.at[b].turn, within);
    if (!turn || w->turn.at[turn].first != first) continue;
    uint32_t at = r->turn.n;
    while (at && r->turn.at[at - 1] != turn) at--;
    if (!at) {
      vec_push(a, &r->turn, turn);
      vec_push(a, &lists, (Ids){0});
      at = r->turn.n;
    }
    vec_push(a, &lists.at[at - 1], b);
  }
  r->n = r->turn.n;
  r->box = lists.at;
  r->size = r->n ? r->box[0].n : 0;
  r->name = w->turn.at[first].name ? name_text(w->names, w->turn.at[first].name) : "λ";
  r->value = NEW_ARRAY(a, int64_t, r->n + 1);
  r->where = table_new(a);
  for (uint32_t t = 0; t < r->n; t++) {
    r->value[t] = w->turn.at[r->turn.at[t]].value;
    for (uint32_t i = 0; i < r->box[t].n; i++)
      table_put(r->where, &r->box[t].at[i], sizeof(Id), t * r->size + i + 1);
  }
  return r;
}

// Compares nested loops: equal iterations of loops of equal shape.
static bool same_inner_turns(CircuitPart *p, const Repeat *r, uint32_t t) {
  const World *w = p->c->w;
  Table *map = table_new(p->c->s->arena);
  for (uint32_t i = 0; i < r->size; i++) {
    Id a = p->d->box.at[box_at(r, 0, i)].turn, b = p->d->box.at[box_at(r, t, i)].turn;
    for (; a != r->turn.at[0] && b != r->turn.at[t];
         a = w->turn.at[a].parent, b = w->turn.at[b].parent) {
      const LoopTurn *x = &w->turn.at[a], *y = &w->turn.at[b];
      Id known = table_get(map, &a, sizeof a);
      if (!known) table_put(map, &a, sizeof a, b);
      if ((known && known != b) || x->name != y->name || x->value != y->value) return false;
    }
    if (a != r->turn.at[0] || b != r->turn.at[t]) return false;
  }
  return true;
}

static bool same_turns(CircuitPart *p, const Repeat *r) {
  if (r->n < 2) return false;
  for (uint32_t t = 1; t < r->n; t++) {
    if (r->box[t].n != r->size || !same_inner_turns(p, r, t)) return false;
    for (uint32_t i = 0; i < r->size; i++)
      if (!same_boxes(p->c, p->d, &p->d->box.at[box_at(r, 0, i)], p->d,
                      &p->d->box.at[box_at(r, t, i)]))
        return false;
  }
  return true;
}

static bool same_wiring(CircuitPart *p, Repeat *r) {
  Arena *a = p->c->s->arena;
  r->from = NEW_ARRAY(a, From *, r->size);
  for (uint32_t i = 0; i < r->size; i++) {
    uint32_t n = box_args(&p->d->box.at[box_at(r, 0, i)]);
    r->from[i] = NEW_ARRAY(a, From, n + 1);
    for (uint32_t k = 0; k < n; k++)
      if (!find_from(p, r, i, k, &r->from[i][k])) return false;
  }
  return true;
}

// Boxes between those of the loop that do not belong to it: those independent of it are drawn
// first. False: one of them both reads and feeds the loop.
static bool find_others(CircuitPart *p, const Repeat *r, Ids *before) {
  Arena *a = p->c->s->arena;
  const Diagram *d = p->d;
  Id low = box_at(r, 0, 0), high = 0;
  for (uint32_t t = 0; t < r->n; t++)
    if (box_at(r, t, r->size - 1) > high) high = box_at(r, t, r->size - 1);
  Table *after = table_new(a);
  for (Id id = low; id <= high; id++) {
    const Box *b = &d->box.at[id];
    bool own = box_where(r, id).inside, late = false;
    for (uint32_t k = 0; k < b->nin; k++) {
      Id maker = d->wire.at[b->in[k]].box;
      bool behind = maker && table_get(after, &maker, sizeof maker);
      if (own && behind) return false;
      late |= behind || box_where(r, maker).inside;
    }
    if (own) continue;
    if (late)
      table_put(after, &id, sizeof id, 1);
    else
      vec_push(a, before, id);
  }
  return true;
}

// -- readers of a repeat --------------------------------------------------------------------------
typedef struct {
  bool kept;    // of an iteration other than the last, by an outer box
  bool result;  // of the last iteration
  bool carried; // by the next iteration
} WireRead;

static void read_outside(const CircuitPart *p, const Repeat *r, Id wire, bool looping,
                         WireRead **read) {
  Where at = wire_where(p, r, wire);
  if (!at.inside) return;
  WireRead *x = &read[at.place][at.port];
  if (at.turn + 1 < r->n)
    x->kept = true;
  else if (!looping)
    x->result = true;
}

// What another repeat reads of the last iteration is a result, unless it also reads others.
static WireRead **find_reads(const CircuitPart *p, const Repeat *r, Id within) {
  Arena *a = p->c->s->arena;
  const Diagram *d = p->d;
  WireRead **read = NEW_ARRAY(a, WireRead *, r->size);
  for (uint32_t i = 0; i < r->size; i++)
    read[i] = NEW_ARRAY(a, WireRead, d->box.at[box_at(r, 0, i)].nout + 1);
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < box_args(&d->box.at[box_at(r, 0, i)]); k++)
      if (r->from[i][k].kind == FROM_BEFORE)
        read[r->from[i][k].place][r->from[i][k].port].carried = true;
  for (uint32_t i = 0; i < d->out.n; i++) read_outside(p, r, d->out.at[i], false, read);
  for (int looping = 1; looping >= 0; looping--)
    for (Id b = 1; b < d->box.n; b++) {
      const Box *box = &d->box.at[b];
      if (box_where(r, b).inside) continue;
      bool turned = turn_under(p->c->w, box->turn, within) != 0;
      for (uint32_t k = 0; k < box_args(box); k++) {
        Where at = wire_where(p, r, box->in[k]);
        bool kept = at.inside && read[at.place][at.port].kept;
        read_outside(p, r, box->in[k], looping || (turned && kept), read);
      }
    }
  return read;
}

// -- drawing --------------------------------------------------------------------------------------
uint32_t pass_stage(CircuitPart *p, uint32_t block, uint32_t from, const char *words) {
  Sketch *s = p->c->s;
  uint32_t stage = sketch_stage(s, block, words), use = sketch_use(s, stage, from);
  uint32_t b = sketch_make(s, stage, NULL, s->bundle.at[from].n);
  for (uint32_t i = 0; i < s->bundle.at[from].n; i++) {
    Strand like = *strand_of(s, from, i);
    like.bundle = b;
    *strand_of(s, b, i) = like;
    stage_link(s, stage, LINK_PASS, strand_at(s, use, i), strand_at(s, b, i));
  }
  return b;
}

static bool begins_here(const Sketch *s, uint32_t bundle) {
  uint32_t k = maker_of(s, bundle);
  return k < s->stage.n && !s->stage.at[k].in.n;
}

// Brings a carried value into the block, with labels for all iterations.
static uint32_t enter_repeat(CircuitPart *p, const Repeat *r, const Fold *f, uint32_t block,
                             Id from, const From *x) {
  Circuit *c = p->c;
  Sketch *s = c->s;
  uint32_t was = bundle_of(p, from), n = s->bundle.at[was].n;
  Axis *each = NEW_ARRAY(s->arena, Axis, r->n);
  Strand *now = NEW_ARRAY(s->arena, Strand, n + 1);
  const Type *last = &p->d->wire.at[wire_at(p, r, 0, x->place, x->port)].type;
  bool changed = begins_here(s, was);
  for (uint32_t i = 0; i < n; i++) {
    now[i] = *strand_of(s, was, i);
    if (is_string(c) || i >= last->rank) continue;
    for (uint32_t t = 1; t < r->n; t++)
      each[t] = p->d->wire.at[wire_at(p, r, t - 1, x->place, x->port)].type.axis[i];
    each[0] = p->d->wire.at[from].type.axis[i];
    const char *label = now[i].label;
    turn_label_sizes(c, f, each, &now[i]);
    changed |= label != now[i].label;
  }
  if (!changed) return was;
  uint32_t b = pass_stage(p, block, was, "first turn");
  for (uint32_t i = 0; i < n; i++) now[i].bundle = b, *strand_of(s, b, i) = now[i];
  return b;
}

typedef struct {
  Id from;
  uint32_t place, port;
  Id in;
} Carry;
typedef VEC(Carry) Carries;

// A copy of a wire that enters a loop.
static Id more_wire(CircuitPart *p, Id like) {
  Wire x = p->own->wire.at[like];
  x.box = 0;
  vec_push(p->c->s->arena, &p->own->wire, x);
  return p->own->wire.n - 1;
}

// A carried value gets its index from its result: o_{l}, and therefore o_{l−1} at its input.
static void name_carries(CircuitPart *p, const Fold *f, const Repeat *r, WireRead *const *read) {
  Axis *each = NEW_ARRAY(p->c->s->arena, Axis, r->n);
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < p->d->box.at[box_at(r, 0, i)].nout; k++) {
      uint32_t rank = p->d->wire.at[wire_at(p, r, 0, i, k)].type.rank;
      for (uint32_t j = 0; j < rank && read[i][k].carried && !is_string(p->c); j++) {
        for (uint32_t t = 0; t < r->n; t++)
          each[t] = p->d->wire.at[wire_at(p, r, t, i, k)].type.axis[j];
        turn_label_sizes(p->c, f, each, &(Strand){0});
      }
    }
}

static void enter_carries(CircuitPart *p, const Repeat *r, const Fold *f, uint32_t block) {
  Carries all = {0};
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < box_args(&p->d->box.at[box_at(r, 0, i)]); k++) {
      const From *x = &r->from[i][k];
      Id *wire = &p->in[box_at(r, 0, i)][k];
      uint32_t at = 0;
      if (x->kind != FROM_BEFORE) continue;
      while (at < all.n && (all.at[at].from != *wire || all.at[at].place != x->place ||
                            all.at[at].port != x->port))
        at++;
      if (at == all.n) {
        Carry carry = {*wire, x->place, x->port, more_wire(p, *wire)};
        p->made[carry.in] = enter_repeat(p, r, f, block, *wire, x);
        vec_push(p->c->s->arena, &all, carry);
      }
      *wire = all.at[at].in;
    }
}

static const char *kept_name(const CircuitPart *p, const Repeat *r, uint32_t place, uint32_t port) {
  const Wire *x = &p->d->wire.at[wire_at(p, r, 0, place, port)];
  const char *name = name_text(p->c->w->names, x->kept ? x->kept : x->name);
  return *name ? name : "K";
}

static const char *index_text(CircuitPart *p, const char *name, int64_t sign, int64_t plus) {
  Arena *a = p->c->s->arena;
  long long n = (long long)plus;
  if (sign < 0) return arena_format(a, "%lld−%s", n, name);
  if (!n) return name;
  return n < 0 ? arena_format(a, "%s−%lld", name, -n) : arena_format(a, "%s+%lld", name, n);
}

// A plate from which a value of another loop's iteration begins.
static uint32_t put_load_plate(CircuitPart *p, const char *name, const char *index, Id like) {
  Sketch *s = p->c->s;
  const char *text = arena_format(s->arena, "%s_{%s} →", name, index);
  uint32_t stage = sketch_stage(s, p->block, text), was = p->made[like];
  uint32_t b = part_make(p, stage, like);
  p->made[like] = was;
  add_ports(s, &stage_glyph(s, stage, GLYPH_KEPT, text)->out, b);
  return b;
}

static void put_save_plate(CircuitPart *p, const Repeat *r, uint32_t place, uint32_t port) {
  Sketch *s = p->c->s;
  const char *text = arena_format(s->arena, "→ %s_{%s}", kept_name(p, r, place, port), r->name);
  Id wire = wire_at(p, r, 0, place, port);
  uint32_t stage, use = *part_uses(p, &wire, 1, text, &stage);
  add_ports(s, &stage_glyph(s, stage, GLYPH_KEPT, text)->in, use);
}

uint32_t kept_bundle(CircuitPart *p, Id wire) {
  Arena *a = p->c->s->arena;
  for (uint32_t i = 0; i < p->repeat.n; i++) {
    const Repeat *r = p->repeat.at[i];
    Where at = wire_where(p, r, wire);
    if (!at.inside) continue;
    const char *index = arena_format(a, "%lld", (long long)r->value[at.turn]);
    return p->made[wire] = put_load_plate(p, kept_name(p, r, at.place, at.port), index, wire);
  }
  return 0;
}

// Labels a kept value, whose size may differ between iterations.
static void label_kept(CircuitPart *p, const Repeat *r, const Fold *f, uint32_t place, uint32_t k,
                       uint32_t bundle) {
  Sketch *s = p->c->s;
  Axis *each = NEW_ARRAY(s->arena, Axis, r->n);
  const Type *type = &p->d->wire.at[input_at(p, r, 0, place, k)].type;
  for (uint32_t i = 0; i < type->rank && !is_string(p->c); i++) {
    for (uint32_t t = 0; t < r->n; t++)
      each[t] = p->d->wire.at[input_at(p, r, t, place, k)].type.axis[i];
    turn_label_sizes(p->c, f, each, strand_of(s, bundle, i));
  }
}

static void load_kept(CircuitPart *p, const Repeat *r, const Fold *f) {
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < box_args(&p->d->box.at[box_at(r, 0, i)]); k++) {
      const From *x = &r->from[i][k];
      Id *wire = &p->in[box_at(r, 0, i)][k];
      if (x->kind != FROM_KEPT) continue;
      Id made = more_wire(p, *wire);
      p->made[made] = put_load_plate(p, kept_name(p, x->kept, x->place, x->port),
                                     index_text(p, r->name, x->sign, x->plus), *wire);
      label_kept(p, r, f, i, k, p->made[made]);
      *wire = made;
    }
}

// After the loop, sizes are numbers again.
static void label_last(CircuitPart *p, const Fold *f, Id first, Id last, uint32_t bundle) {
  Circuit *c = p->c;
  const Type *a = &p->d->wire.at[first].type, *b = &p->d->wire.at[last].type;
  Strand *x;
  for (uint32_t i = 0; i < a->rank; i++) {
    if (size_now(c->w, a->axis[i].size) == size_now(c->w, b->axis[i].size) &&
        !fold_varies(c, f, first))
      continue;
    x = strand_of(c->s, bundle, i);
    if (x->size) x->label = x->size, x->size = NULL;
  }
}

// Results are those of the last iteration.
static void leave_repeat(CircuitPart *p, const Repeat *r, const Fold *f, WireRead *const *read) {
  Sketch *s = p->c->s;
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < p->d->box.at[box_at(r, 0, i)].nout; k++) {
      const WireRead *x = &read[i][k];
      Id first = wire_at(p, r, 0, i, k), last = wire_at(p, r, r->n - 1, i, k);
      if (!x->result && !x->carried) continue;
      uint32_t from = bundle_of(p, first);
      bool varies = !is_string(p->c) && fold_varies(p->c, f, first);
      if (x->result && !varies) {
        p->made[last] = from;
        continue;
      }
      uint32_t stage = sketch_stage(s, p->block, "last turn"), use = sketch_use(s, stage, from);
      uint32_t b = part_make(p, stage, last);
      if (varies) label_last(p, f, first, last, b);
      for (uint32_t j = 0; j < s->bundle.at[b].n; j++)
        stage_link(s, stage, LINK_PASS, strand_at(s, use, j), strand_at(s, b, j));
    }
}

static void draw_boxes(CircuitPart *, const Ids *, Id within);

// The title of the iterations: first to last.
static void name_turns(CircuitPart *p, const Repeat *r, uint32_t block) {
  Arena *a = p->c->s->arena;
  Block *b = &p->c->s->block.at[block];
  bool steps = true;
  for (uint32_t t = 1; t < r->n; t++)
    steps &= r->value[t] - r->value[t - 1] == (r->value[1] > r->value[0] ? 1 : -1);
  b->times = arena_format(a, "%lld", (long long)r->value[r->n - 1]);
  Buf from = buf_new(a);
  buf_printf(&from, "%s=%lld", r->name, (long long)r->value[0]);
  for (uint32_t t = 1; t < r->n && !steps; t++) buf_printf(&from, ",%lld", (long long)r->value[t]);
  b->from = from.at;
}

static Fold *fold_of(CircuitPart *p, const Repeat *r) {
  Arena *a = p->c->s->arena;
  Fold *f = NEW(a, Fold);
  const Diagram **d = NEW_ARRAY(a, const Diagram *, r->n);
  Table *place = table_new(a);
  for (uint32_t t = 0; t < r->n; t++) d[t] = p->d;
  for (uint32_t i = 0; i < r->size; i++) table_put(place, &r->box[0].at[i], sizeof(Id), i + 1);
  *f = (Fold){p->fold, r->name, r->n, r->value, d, r->box, place};
  return f;
}

static void draw_repeat(CircuitPart *p, Repeat *r, Id within) {
  Arena *a = p->c->s->arena;
  const Fold *outer = p->fold;
  uint32_t block = p->block;
  WireRead **read = find_reads(p, r, within);
  Fold *f = fold_of(p, r);
  p->c->s->origin = 0, p->c->s->of = p->c->s->wire = NULL;
  p->block = sketch_block(p->c->s, block, NULL, INK_NONE);
  name_turns(p, r, p->block);
  name_carries(p, f, r, read);
  enter_carries(p, r, f, p->block);
  p->fold = f;
  load_kept(p, r, f);
  draw_boxes(p, &r->box[0], r->turn.at[0]);
  p->c->s->origin = 0, p->c->s->of = p->c->s->wire = NULL;
  for (uint32_t i = 0; i < r->size; i++)
    for (uint32_t k = 0; k < p->d->box.at[box_at(r, 0, i)].nout; k++)
      if (read[i][k].kept) put_save_plate(p, r, i, k);
  p->block = block;
  p->fold = outer;
  leave_repeat(p, r, f, read);
  for (uint32_t t = 0; t < r->n; t++)
    for (uint32_t i = 0; i < r->size; i++) p->done[box_at(r, t, i)] = true;
  vec_push(a, &p->repeat, r);
}

// Draws the loop of this box as a repeat, if possible.
static bool drawn_as_repeat(CircuitPart *p, Id turn, Id within) {
  Id first = p->c->w->turn.at[turn].first;
  Ids before = {0};
  if (table_get(p->tried, &first, sizeof first)) return false;
  Repeat *r = repeat_read(p, within, first);
  if (!same_turns(p, r) || !same_wiring(p, r) || !find_others(p, r, &before)) {
    table_put(p->tried, &first, sizeof first, 1);
    return false;
  }
  draw_boxes(p, &before, within);
  draw_repeat(p, r, within);
  return true;
}

static void draw_boxes(CircuitPart *p, const Ids *boxes, Id within) {
  for (uint32_t i = 0; i < boxes->n; i++) {
    Box box = p->d->box.at[boxes->at[i]];
    Id around = within, turn;
    bool drawn = p->done[boxes->at[i]];
    while (!drawn && (turn = turn_under(p->c->w, box.turn, around)) != 0) {
      drawn = drawn_as_repeat(p, turn, around);
      around = turn;
    }
    if (drawn) continue;
    box.in = p->in[boxes->at[i]];
    p->c->s->origin = box.origin;
    p->c->s->of = box_group(p->c->w, p->c->s->arena, p->d, &box, p->around, !is_string(p->c));
    p->c->s->wire = place_group(p->c->s->arena, p->c->s->of);
    draw_box(p, &box);
    p->done[boxes->at[i]] = true;
  }
}

// Weights of iterations have the loop variable as index.
const char *weight_label(CircuitPart *p, const char *name) {
  const char *dot = strrchr(name, '.');
  if (!p->fold || !dot || strtoll(dot + 1, NULL, 10) != p->fold->value[0]) return name;
  return arena_format(p->c->s->arena, "%.*s_{%s}", (int)(dot - name), name, p->fold->name);
}

// A copy of the diagram, to which wires can be added.
static Diagram *own_copy(Arena *a, const Diagram *d) {
  Diagram *own = arena_copy(a, d, sizeof *d);
  own->wire.at = NULL;
  own->wire.n = own->wire.cap = 0;
  for (Id i = 0; i < d->wire.n; i++) vec_push(a, &own->wire, d->wire.at[i]);
  return own;
}

void draw_part(CircuitPart *p) {
  Arena *a = p->c->s->arena;
  const Diagram *d = p->d;
  Ids boxes = {0};
  uint32_t inputs = 0, depth = 1, *made;
  p->d = p->own = own_copy(a, d);
  p->in = NEW_ARRAY(a, Id *, d->box.n);
  p->done = NEW_ARRAY(a, bool, d->box.n);
  p->tried = table_new(a);
  for (Id b = 1; b < d->box.n; b++) {
    uint32_t n = 1; // each enclosing iteration may add a wire per input
    for (Id t = d->box.at[b].turn; t; t = p->c->w->turn.at[t].parent) n++;
    if (n > depth) depth = n;
    p->in[b] = arena_copy(a, d->box.at[b].in, d->box.at[b].nin * sizeof(Id));
    inputs += d->box.at[b].nin;
    vec_push(a, &boxes, b);
  }
  made = NEW_ARRAY(a, uint32_t, d->wire.n + 1 + (size_t)inputs * depth);
  memcpy(made, p->made, d->wire.n * sizeof *made);
  p->made = made;
  draw_boxes(p, &boxes, 0);
}
