// Tandem axes: two (or three) axes of an image that everything treats alike are drawn as one line.
// Transforms an unsettled sketch: such axes become one strand with a special line.
//
// Two strands of a bundle are partners if they are adjacent, or come from two windows (or views)
// whose axes are partners. A pair remains while both are treated alike at every stage: they pass,
// merge or meet other pairs, enter one glyph side by side, or two equal glyphs. Pairs are removed
// until a fixed point is reached; those that remain and are windowed somewhere are drawn as one
// line, since they are spatial axes of an image.
// -- windowed axes --------------------------------------------------------------------------------
// For each input and then each output of a diagram, a bit mask: bit i says that axes i and i + 1
// are windowed alike.
#include "base/table.h"
#include "show/circuit/circuit_own.h"

bool is_moved(World *w, const Coord *a, const Coord *b) {
  if (a->n < 2 || a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->term[i].operand || b->term[i].operand ||
        size_now(w, a->term[i].coef) != size_now(w, b->term[i].coef))
      return false;
  return true;
}

static bool reads_index(const Coord *k, uint32_t index) {
  for (uint32_t i = 0; i < k->n; i++)
    if (!k->term[i].operand && k->term[i].var == index) return true;
  return false;
}

// Do axes i and i + 1 of one access and axes k and k + 1 of another have the same indices, possibly
// windowed in one of them?
static bool same_places(World *w, const Access *a, uint32_t i, const Access *b, uint32_t k) {
  for (uint32_t n = 0; n < 2; n++) {
    uint32_t x;
    const Coord *p = &a->coord[i + n], *q = &b->coord[k + n];
    if (coord_is_plain(w, p, &x) ? !reads_index(q, x)
                                 : !coord_is_plain(w, q, &x) || !reads_index(p, x))
      return false;
  }
  return true;
}

static void spread_pairs(World *w, const Access *a, uint32_t *pa, const Access *b, uint32_t *pb) {
  for (uint32_t i = 0; i + 1 < a->rank; i++)
    for (uint32_t k = 0; k + 1 < b->rank; k++)
      if (((*pa >> i | *pb >> k) & 1) && same_places(w, a, i, b, k)) *pa |= 1u << i, *pb |= 1u << k;
}

static void loop_pairs(World *w, const Box *box, uint32_t *pair) {
  const Loop *l = box->loop;
  for (uint32_t i = 0; i <= l->nin; i++) {
    const Access *a = i < l->nin ? &l->in[i] : &l->out;
    for (uint32_t k = 0; k + 1 < a->rank; k++)
      if (is_moved(w, &a->coord[k], &a->coord[k + 1]))
        pair[i < l->nin ? box->in[i] : box->out[0]] |= 1u << k;
  }
  for (uint32_t i = 0; i < l->nin; i++)
    spread_pairs(w, &l->in[i], &pair[box->in[i]], &l->out, &pair[box->out[0]]);
}

// Mapped axes are paired in inputs and outputs alike.
static void pass_pairs(const Box *box, uint32_t *pair) {
  const Diagram *f = box->callee;
  for (uint32_t i = 0; i < f->in.n; i++)
    for (uint32_t o = 0; o < f->out.n; o++) {
      const Type *a = &f->wire.at[f->in.at[i]].type, *b = &f->wire.at[f->out.at[o]].type;
      uint32_t *pa = &pair[box->in[i]], *pb = &pair[box->out[o]];
      for (uint32_t k = 0; k + 1 < a->rank; k++)
        for (uint32_t n = 0; n + 1 < b->rank; n++)
          if (a->axis[k].pass && a->axis[k + 1].pass && a->axis[k].pass == b->axis[n].pass &&
              a->axis[k + 1].pass == b->axis[n + 1].pass && ((*pa >> k | *pb >> n) & 1))
            *pa |= 1u << k, *pb |= 1u << n;
    }
}

const uint32_t *diagram_pairs(Circuit *c, const Diagram *d) {
  uint32_t at = table_get(c->pairs_of, &d, sizeof d);
  if (at) return c->pairs.at[at - 1];
  uint32_t *pair = NEW_ARRAY(c->s->arena, uint32_t, d->wire.n + 1), n = d->in.n + d->out.n;
  for (uint32_t round = 0; round < 2; round++)
    for (Id k = 1; k < d->box.n; k++) {
      const Box *box = &d->box.at[round ? d->box.n - k : k];
      if (box->op == OP_loop) loop_pairs(c->w, box, pair);
      if (box->op != OP_call) continue;
      const uint32_t *inner = diagram_pairs(c, box->callee);
      for (uint32_t i = 0; i < box->callee->in.n; i++) pair[box->in[i]] |= inner[i];
      for (uint32_t i = 0; i < box->callee->out.n; i++)
        pair[box->out[i]] |= inner[box->callee->in.n + i];
      pass_pairs(box, pair);
    }
  uint32_t *ends = NEW_ARRAY(c->s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++)
    ends[i] = pair[i < d->in.n ? d->in.at[i] : d->out.at[i - d->in.n]];
  vec_push(c->s->arena, &c->pairs, ends);
  table_put(c->pairs_of, &d, sizeof d, c->pairs.n);
  return ends;
}

// -- pairs ----------------------------------------------------------------------------------------
typedef struct {
  Sketch *s;
  uint32_t *partner; // [made strand] its partner; 0: none
  uint32_t *group;   // [made strand] pairs that must be treated alike: a union-find forest
  bool *moved;       // [made strand] it and its partner are windowed
  bool fell;         // a pair was removed in this round
} Tandem;

static uint32_t made(const Sketch *s, uint32_t strand) {
  const Strand *x = &s->strand.at[strand];
  const Bundle *b = &s->bundle.at[x->bundle];
  return b->of ? strand - b->first + s->bundle.at[b->of].first : strand;
}

static uint32_t partner(const Tandem *t, uint32_t strand) { return t->partner[made(t->s, strand)]; }

static uint32_t group(Tandem *t, uint32_t x) {
  while (t->group[x] != x) x = t->group[x] = t->group[t->group[x]];
  return x;
}

static void alike(Tandem *t, uint32_t a, uint32_t b) {
  t->group[group(t, made(t->s, a))] = group(t, made(t->s, b));
}

// Is b the partner of a? Also true if both are 0.
static bool are_partners(Tandem *t, uint32_t a, uint32_t b) {
  if (!a || !b) return !a && !b;
  return partner(t, a) && partner(t, a) == made(t->s, b);
}

static void fall(Tandem *t, uint32_t strand) {
  uint32_t x = made(t->s, strand);
  if (t->partner[x]) t->fell = true;
  t->partner[x] = 0;
}

typedef struct { // the role of a strand at a stage
  const Link *link;
  const Glyph *glyph;
  uint32_t port;
  bool out;
} TandemSpot;

static TandemSpot spot_of(const Stage *t, uint32_t x) {
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].a == x || t->link.at[i].to == x) return (TandemSpot){.link = &t->link.at[i]};
  for (uint32_t g = 0; g < t->glyph.n; g++) {
    const Glyph *k = &t->glyph.at[g];
    uint32_t in = ids_find(&k->in, x), out = ids_find(&k->out, x);
    if (in < k->in.n) return (TandemSpot){.glyph = k, .port = in};
    if (out < k->out.n) return (TandemSpot){.glyph = k, .port = out, .out = true};
  }
  return (TandemSpot){0};
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

// Equal glyphs on two axes: one axis on one side, partners on the other.
static bool glyphs_alike(Tandem *t, const Glyph *a, const Glyph *b) {
  if (a->kind != b->kind || a->in.n != b->in.n || a->out.n != b->out.n) return false;
  if (!same_text(a->text, b->text) || !same_text(a->above, b->above) ||
      !same_text(a->below, b->below) || !same_text(a->second, b->second))
    return false;
  for (uint32_t i = 0; i < a->in.n; i++)
    if (!are_partners(t, a->in.at[i], b->in.at[i])) return false;
  for (uint32_t i = 0; i < a->out.n; i++)
    if (!are_partners(t, a->out.at[i], b->out.at[i])) return false;
  return true;
}

static void glyphs_join(Tandem *t, const Glyph *g) {
  for (uint32_t i = 1; i < g->in.n; i++) alike(t, g->in.at[0], g->in.at[i]);
  for (uint32_t i = 0; i < g->out.n; i++)
    alike(t, g->in.n ? g->in.at[0] : g->out.at[0], g->out.at[i]);
}

static bool links_alike(Tandem *t, const Link *a, const Link *b, uint32_t x, uint32_t y) {
  uint32_t far = a->a == x ? a->to : a->a, other = b->a == y ? b->to : b->a;
  if (a->kind != b->kind || (a->a == x) != (b->a == y)) return false;
  if (!are_partners(t, far, other)) return false;
  if (far) alike(t, x, far);
  return true;
}

// Strands that merge into partners must be partners.
static bool merges_alike(Tandem *t, const Stage *stage, uint32_t x, uint32_t y) {
  uint32_t k = 0, n = stage->link.n;
  for (uint32_t i = 0; i < n; i++) {
    const Link *a = &stage->link.at[i];
    if (a->kind != LINK_MERGE || a->to != x) continue;
    while (k < n && (stage->link.at[k].kind != LINK_MERGE || stage->link.at[k].to != y)) k++;
    if (k == n || !links_alike(t, a, &stage->link.at[k++], x, y)) return false;
  }
  return true;
}

// Are two strands of a bundle treated alike at a stage?
static bool does_alike(Tandem *t, const Stage *stage, uint32_t x, uint32_t y) {
  TandemSpot a = spot_of(stage, x), b = spot_of(stage, y);
  if (a.link && b.link) return links_alike(t, a.link, b.link, x, y) && merges_alike(t, stage, x, y);
  if (!a.glyph || !b.glyph || a.out != b.out) return false;
  if (a.glyph == b.glyph)
    return a.port + 1 == b.port && a.glyph->kind != GLYPH_MASK && a.glyph->kind != GLYPH_INSET;
  if (!glyphs_alike(t, a.glyph, b.glyph)) return false;
  glyphs_join(t, a.glyph);
  return true;
}

static void look_at(Tandem *t, const Stage *stage, uint32_t bundle) {
  const Bundle *b = &t->s->bundle.at[bundle];
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t x = b->first + i, to = partner(t, x);
    if (!to) continue;
    const Bundle *home = &t->s->bundle.at[t->s->strand.at[to].bundle];
    if (!does_alike(t, stage, x, b->first + (to - home->first))) fall(t, x);
  }
}

// -- the first pairs ------------------------------------------------------------------------------
static bool has_axes(const Glyph *g) { return g->kind == GLYPH_CONV || g->kind == GLYPH_BAR; }

// Windows (or views) on adjacent axes: the results of the first are partners of those of the
// second.
static void pair_windows(Tandem *t, const Stage *stage) {
  const Glyph *last = NULL;
  for (uint32_t g = 0; g < stage->glyph.n; g++) {
    const Glyph *k = &stage->glyph.at[g];
    if (!has_axes(k)) continue;
    bool split = k->in.n == 1, next = last && last->in.n == k->in.n && last->out.n == k->out.n;
    const Ids *many = split ? &k->out : &k->in;
    for (uint32_t i = 0; next && i < many->n; i++) {
      const Ids *before = split ? &last->out : &last->in;
      t->partner[made(t->s, before->at[i])] = made(t->s, many->at[i]);
      t->partner[made(t->s, many->at[i])] = 0;
    }
    last = k;
  }
}

static void first_pairs(Tandem *t) {
  Sketch *s = t->s;
  for (uint32_t b = 1; b < s->bundle.n; b++)
    for (uint32_t i = 0; !s->bundle.at[b].of && i + 1 < s->bundle.at[b].n; i++)
      t->partner[strand_at(s, b, i)] = strand_at(s, b, i + 1);
  for (uint32_t k = 0; k < s->stage.n; k++) pair_windows(t, &s->stage.at[k]);
  for (uint32_t x = 1; x < s->strand.n; x++) {
    t->group[x] = x;
    if (s->strand.at[x].pair) t->moved[made(s, x)] = true;
  }
}

static void settle_pairs(Tandem *t) {
  const Sketch *s = t->s;
  do {
    t->fell = false;
    for (uint32_t x = 1; x < s->strand.n; x++) t->group[x] = x;
    for (uint32_t k = 0; k < s->stage.n; k++) {
      const Stage *stage = &s->stage.at[k];
      for (uint32_t i = 0; i < stage->in.n; i++) look_at(t, stage, stage->in.at[i]);
      for (uint32_t i = 0; i < stage->out.n; i++) look_at(t, stage, stage->out.at[i]);
    }
  } while (t->fell);
}

// -- one strand for several -----------------------------------------------------------------------
static bool is_drawn_alike(Tandem *t, const bool *moved, uint32_t x) {
  return partner(t, x) && moved[group(t, made(t->s, x))];
}

static const char *both_labels(Arena *a, const char *x, const char *y) {
  if (!x || !y) return x ? x : y;
  if (strcmp(x, y) == 0) return arena_format(a, "%s^{2}", x);
  size_t n = strlen(y);
  if (strncmp(x, y, n) == 0 && strcmp(x + n, "^{2}") == 0) return arena_format(a, "%s^{3}", y);
  return arena_format(a, "%s %s", x, y);
}

static const char *both_words(Arena *a, const char *x, const char *y) {
  return x && y ? arena_format(a, "%s and %s", x, y) : x ? x : y;
}

static void keep_ports(Ids *port, const uint32_t *with, const uint32_t *now) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < port->n; i++)
    if (!with[port->at[i]]) port->at[n++] = now[port->at[i]];
  port->n = n;
}

// Removes strands drawn with an earlier one, with their links and ports.
static void drop_strands(Sketch *s, const uint32_t *with) {
  uint32_t *now = NEW_ARRAY(s->arena, uint32_t, s->strand.n), n = 1;
  for (uint32_t b = 1; b < s->bundle.n; b++) {
    Bundle *k = &s->bundle.at[b];
    uint32_t first = n;
    for (uint32_t i = 0; i < k->n; i++) {
      uint32_t x = k->first + i;
      if (!with[x]) now[x] = n, s->strand.at[n++] = s->strand.at[x];
    }
    k->first = first, k->n = n - first;
  }
  s->strand.n = n;
  for (uint32_t k = 0; k < s->stage.n; k++) {
    Stage *t = &s->stage.at[k];
    uint32_t links = 0, glyphs = 0;
    for (uint32_t i = 0; i < t->link.n; i++) {
      Link x = t->link.at[i];
      if (with[x.a] || with[x.to]) continue;
      t->link.at[links++] = (Link){x.kind, now[x.a], now[x.to]};
    }
    for (uint32_t g = 0; g < t->glyph.n; g++) {
      Glyph x = t->glyph.at[g];
      uint32_t ports = x.in.n + x.out.n;
      keep_ports(&x.in, with, now);
      keep_ports(&x.out, with, now);
      keep_ports(&x.touch, with, now);
      if (x.in.n + x.out.n || !ports) t->glyph.at[glyphs++] = x;
    }
    t->link.n = links, t->glyph.n = glyphs;
  }
}

void sketch_tandem(Sketch *s) {
  Arena *a = s->arena;
  Tandem t = {.s = s};
  t.partner = NEW_ARRAY(a, uint32_t, s->strand.n);
  t.group = NEW_ARRAY(a, uint32_t, s->strand.n);
  t.moved = NEW_ARRAY(a, bool, s->strand.n);
  first_pairs(&t);
  settle_pairs(&t);
  bool *moved = NEW_ARRAY(a, bool, s->strand.n), any = false;
  uint32_t *with = NEW_ARRAY(a, uint32_t, s->strand.n);
  for (uint32_t x = 1; x < s->strand.n; x++)
    if (t.moved[x] && t.partner[x]) moved[group(&t, x)] = any = true;
  if (!any) return;
  for (uint32_t b = 1; b < s->bundle.n; b++)
    for (uint32_t i = 0; i < s->bundle.at[b].n; i++) {
      uint32_t x = s->bundle.at[b].first + i;
      if (!is_drawn_alike(&t, moved, x)) continue;
      const Bundle *home = &s->bundle.at[s->strand.at[made(s, x)].bundle];
      uint32_t lead = with[x] ? with[x] : x;
      uint32_t y = s->bundle.at[b].first + (partner(&t, x) - home->first);
      with[y] = lead;
      Strand *to = &s->strand.at[lead];
      to->label = both_labels(a, to->label, s->strand.at[y].label);
      to->words = both_words(a, to->words, s->strand.at[y].words);
      to->size = to->size && s->strand.at[y].size
                     ? arena_format(a, "%s × %s", to->size, s->strand.at[y].size)
                     : NULL;
      to->line = LINE_TANDEM;
    }
  for (uint32_t x = 1; x < s->strand.n; x++) {
    Strand *k = &s->strand.at[x];
    if (k->line == LINE_TANDEM && k->label) k->label = arena_format(a, "!{%s}", k->label);
  }
  drop_strands(s, with);
}
