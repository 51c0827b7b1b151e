// Prints random hybrid systems: in another order, with other names, with some parts in a separate
// wiring; and reduces failing ones.
#include "random_hybrid.h"

#include <ctype.h>
#include <string.h>

// -- copies ---------------------------------------------------------------------------------------
static void line_copy(Arena *a, HybridLine *l) {
  l->inner.at = arena_copy(a, l->inner.at, l->inner.n * sizeof *l->inner.at);
  l->inner.cap = l->inner.n;
  for (uint32_t i = 0; i < l->inner.n; i++) line_copy(a, &l->inner.at[i]);
}

Hybrid *hybrid_copy(Arena *a, const Hybrid *h) {
  Hybrid *c = arena_copy(a, h, sizeof *h);
  c->arena = a;
  c->decl.at = arena_copy(a, h->decl.at, h->decl.n * sizeof *h->decl.at);
  c->decl.cap = c->decl.n;
  for (uint32_t i = 0; i < c->decl.n; i++) line_copy(a, &c->decl.at[i]);
  return c;
}

// -- ports of parts in a text ---------------------------------------------------------------------
typedef struct {
  uint32_t part;
  const char *port;     // y0, or mode; not ended by 0
  size_t port_n, whole; // whole: of the text
  const char *place[2]; // between brackets, or empty
  size_t place_n[2];
} PortText;

static const char *brackets(const char *at, const char **place, size_t *n) {
  *place = at, *n = 0;
  if (*at != '[') return at;
  *place = at + 1;
  *n = strcspn(at, "]") - 1;
  return at + *n + 2;
}

// @p2[i].@y0[1], at the beginning of the text.
static bool port_text(const char *at, PortText *out) {
  const char *from = at;
  if (at[0] != '@' || at[1] != 'p' || !isdigit((unsigned char)at[2])) return false;
  out->part = (uint32_t)(at[2] - '0');
  at = brackets(at + 3, &out->place[0], &out->place_n[0]);
  if (*at++ != '.') return false;
  if (*at == '@') at++;
  out->port = at;
  out->port_n = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789");
  at = brackets(at + out->port_n, &out->place[1], &out->place_n[1]);
  out->whole = (size_t)(at - from);
  return true;
}

// -- a wiring in the wiring -----------------------------------------------------------------------
typedef struct {
  Arena *a;
  const Hybrid *h;
  bool in[10]; // which parts are in it
} Grouping;

static const char *with_group(const Grouping *g, const char *text) {
  Buf b = buf_new(g->a);
  PortText p;
  while (*text) {
    if (!port_text(text, &p) || !g->in[p.part]) {
      buf_char(&b, *text++);
      continue;
    }
    buf_printf(&b, "@g.@p%u%.*s", p.part, (int)p.port_n, p.port);
    if (p.place_n[0] + p.place_n[1])
      buf_printf(&b, "[%.*s%s%.*s]", (int)p.place_n[0], p.place[0],
                 p.place_n[0] && p.place_n[1] ? " " : "", (int)p.place_n[1], p.place[1]);
    text += p.whole;
  }
  return b.at;
}

static void group_ports(const Grouping *g, const HybridLine *p, bool in, HybridLine *block,
                        Buf *head) {
  static const char *const size[] = {"", "3", "2 3"}, *const each[] = {"", "i", "i j"};
  const HybridSort *of = &g->h->sort[p->of];
  for (uint32_t i = 0; i < (in ? of->in : of->out); i++) {
    bool wide = in ? of->wide_in[i] : of->wide_out[i];
    const char *own = wide ? "[k]" : "", *all = "", *member = "";
    const char *between = p->axes && wide ? " " : "";
    if (p->axes) member = arena_format(g->a, "[%s]", each[p->axes]);
    if (p->axes || wide)
      all = arena_format(g->a, "[%s%s%s]", each[p->axes], between, wide ? "k" : "");
    const char *name = arena_format(g->a, "@p%u%c%u", p->part, in ? 'x' : 'y', i);
    const char *inside =
        arena_format(g->a, "@p%u%s.@%c%u%s", p->part, member, in ? 'x' : 'y', i, own);
    HybridLine l = {.text = in ? arena_format(g->a, "%s%s -> %s", name, all, inside)
                               : arena_format(g->a, "%s%s = %s", name, all, inside)};
    vec_push(g->a, &block->inner, l);
    buf_printf(head, "%s%s: R[%s%s%s]", head->n ? ", " : "", name, size[p->axes], between,
               wide ? "3" : "");
  }
}

static bool choose_parts(Grouping *g, const HybridLine *whole, uint64_t seed) {
  Chance d = {seed};
  bool any = false;
  for (uint32_t i = 0; i < whole->inner.n; i++) {
    const HybridLine *p = &whole->inner.at[i];
    if (p->kind != HYBRID_PART || p->asked || strstr(p->text, " while ") || chance_below(&d, 2))
      continue;
    any = g->in[p->part] = true;
  }
  return any;
}

static void put_in_group(Arena *a, Hybrid *h, uint64_t seed) {
  Grouping g = {.a = a, .h = h};
  HybridLine *whole = &h->decl.at[h->decl.n - 1], block = {.block = true};
  if (!choose_parts(&g, whole, seed)) return;
  Buf in = buf_new(a), out = buf_new(a);
  HybridLine left = *whole;
  memset(&left.inner, 0, sizeof left.inner);
  for (uint32_t i = 0; i < whole->inner.n; i++) {
    HybridLine *l = &whole->inner.at[i];
    if (l->kind == HYBRID_PART && g.in[l->part]) {
      vec_push(a, &block.inner, *l);
      group_ports(&g, l, true, &block, &in);
      group_ports(&g, l, false, &block, &out);
    } else {
      l->text = with_group(&g, l->text);
      vec_push(a, &left.inner, *l);
    }
  }
  vec_push(a, &left.inner, (HybridLine){.text = "@g : @Group"});
  block.text = arena_format(a, "wiring @Group(%s) -> (%s)", in.at, out.at);
  *whole = left;
  vec_push(a, &h->decl, block);
}

// -- order ----------------------------------------------------------------------------------------
// Modes keep their order: the first is the one it starts in.
static void shuffle(Chance *d, HybridLine *at, uint32_t n) {
  for (uint32_t i = n; i > 1; i--) {
    uint32_t k = chance_below(d, i);
    HybridLine l = at[k];
    at[k] = at[i - 1], at[i - 1] = l;
  }
  for (uint32_t i = 0; i < n; i++) shuffle(d, at[i].inner.at, at[i].inner.n);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = i + 1; k < n; k++)
      if (at[i].kind == HYBRID_MODE && at[k].kind == HYBRID_MODE &&
          strcmp(at[i].text, at[k].text) > 0) {
        HybridLine l = at[k];
        at[k] = at[i], at[i] = l;
      }
}

// -- text -----------------------------------------------------------------------------------------
static const char *other_name(Arena *a, const char *name, size_t n) {
  uint32_t hash = 7;
  for (size_t i = 0; i < n; i++) hash = hash * 31 + (unsigned char)name[i];
  char first = (char)((isupper((unsigned char)name[0]) ? 'A' : 'a') + (hash >> 3) % 26);
  return arena_format(a, "%c%.*s_", first, (int)n, name);
}

static void put_text(Arena *a, const char *text, bool renamed, Buf *b) {
  while (*text) {
    if (*text == '\1' || *text == '\2') {
      text++;
      continue;
    }
    if (*text != '@') {
      buf_char(b, *text++);
      continue;
    }
    size_t n = 0;
    for (text++; isalnum((unsigned char)text[n]); n++) {
    }
    if (renamed)
      buf_text(b, other_name(a, text, n));
    else
      buf_add(b, text, n);
    text += n;
  }
}

static void put_line(Arena *a, const HybridLine *l, uint32_t deep, bool renamed, Buf *b) {
  for (uint32_t i = 0; i < deep; i++) buf_text(b, "  ");
  put_text(a, l->text, renamed, b);
  if (l->block) {
    buf_text(b, " {\n");
    for (uint32_t i = 0; i < l->inner.n; i++) put_line(a, &l->inner.at[i], deep + 1, renamed, b);
    for (uint32_t i = 0; i < deep; i++) buf_text(b, "  ");
    buf_text(b, "}");
  }
  buf_text(b, "\n");
}

const char *hybrid_text(Arena *a, const Hybrid *given, const HybridPrint *how) {
  Buf b = buf_new(a);
  Hybrid *h = hybrid_copy(a, given);
  if (how->grouped) put_in_group(a, h, how->grouped);
  Chance d = {how->order};
  if (how->order) shuffle(&d, h->decl.at, h->decl.n);
  for (uint32_t i = 0; i < h->decl.n; i++) put_line(a, &h->decl.at[i], 0, how->renamed, &b);
  if (how->more) buf_text(&b, how->more);
  return b.at;
}

const char *hybrid_name(Arena *a, const Hybrid *h, const char *name, const HybridPrint *how) {
  Grouping g = {.a = a, .h = h};
  Buf b = buf_new(a);
  if (how->grouped) choose_parts(&g, &h->decl.at[h->decl.n - 1], how->grouped);
  if (name[0] == 'p' && name[1] && name[2] && strchr(".[", name[2]) && g.in[name[1] - '0'])
    name = arena_format(a, "g.%s", name);
  while (*name) {
    size_t n = strcspn(name, ".["), all = strcspn(name, ".");
    if (how->renamed && !(n == 4 && !strncmp(name, "mode", 4)))
      buf_text(&b, other_name(a, name, n));
    else
      buf_add(&b, name, n);
    buf_add(&b, name + n, all - n);
    name += all;
    if (*name) buf_char(&b, *name++);
  }
  return b.at;
}

const char *hybrid_run(Arena *a, const Hybrid *h, const char *more, const HybridPrint *how) {
  Buf b = buf_new(a), out = buf_new(a);
  Chance d = {h->seed};
  buf_text(&b, "run @Whole(");
  for (uint32_t i = 0; i < h->inputs; i++)
    buf_printf(&b, "%s@x%u: %g%s", i ? ", " : "", i, chance_number(&d),
               h->moved && !i ? " + 0.3 * sin(2.5 * time)" : "");
  if (h->by_ticks)
    buf_printf(&b, ") for %g ticks%s\n", 20 * h->end, more);
  else
    buf_printf(&b, ") to %g%s%s%s\n", h->end, strstr(more, "every") ? "" : " every 0.05", more,
               !h->white || strstr(more, " by ") ? ""
               : h->delays || h->seed % 2        ? " by maruyama[0.01]"
                                                 : " by milstein[0.01]");
  put_text(a, b.at, how->renamed, &out);
  return out.at;
}

// -- smaller --------------------------------------------------------------------------------------
static void drop_at(HybridLine *block, uint32_t i) {
  for (; i + 1 < block->inner.n; i++) block->inner.at[i] = block->inner.at[i + 1];
  block->inner.n--;
}

// Without a part: its wires go too, and what it showed is a number.
static const char *without_part(Arena *a, const char *text, uint32_t part) {
  Buf b = buf_new(a);
  PortText p;
  while (*text)
    if (port_text(text, &p) && p.part == part && *p.port == 'y')
      buf_text(&b, "0.4"), text += p.whole;
    else
      buf_char(&b, *text++);
  return b.at;
}

static bool drop_part(Arena *a, HybridLine *block, uint32_t *k) {
  for (uint32_t i = 0; i < block->inner.n; i++) {
    if (block->inner.at[i].kind != HYBRID_PART || (*k)-- != 0) continue;
    uint32_t part = block->inner.at[i].part;
    drop_at(block, i);
    const char *asked = arena_format(a, " when @p%u.mode = @m", part);
    for (uint32_t j = 0; j < block->inner.n; j++) {
      HybridLine *l = &block->inner.at[j];
      const char *guard = strstr(l->text, asked);
      bool gone = guard && guard[strlen(asked)] == '1';
      if (gone || (l->kind == HYBRID_WIRE && l->part == part)) {
        drop_at(block, j--);
        continue;
      }
      if (guard) l->text = arena_text(a, l->text, (size_t)(guard - l->text));
      l->text = without_part(a, l->text, part);
    }
    return true;
  }
  return false;
}

static bool drop_line(HybridLine *block, uint32_t *k) {
  for (uint32_t i = 0; i < block->inner.n; i++) {
    if ((*k)-- == 0) {
      drop_at(block, i);
      return true;
    }
    if (drop_line(&block->inner.at[i], k)) return true;
  }
  return false;
}

// What stands between \1 and \2 becomes a number.
static bool drop_value(Arena *a, HybridLine *l, uint32_t *k) {
  for (const char *at = l->text; (at = strchr(at, '\1')); at++) {
    if ((*k)-- != 0) continue;
    int deep = 0;
    const char *end = at;
    do deep += (*end == '\1') - (*end == '\2');
    while (end++, deep);
    l->text = arena_format(a, "%.*s0.5%s", (int)(at - l->text), l->text, end);
    return true;
  }
  for (uint32_t i = 0; i < l->inner.n; i++)
    if (drop_value(a, &l->inner.at[i], k)) return true;
  return false;
}

bool hybrid_smaller(Hybrid *h, uint32_t k) {
  for (uint32_t i = 0; i < h->decl.n; i++)
    if (drop_part(h->arena, &h->decl.at[i], &k)) return true;
  if (k + 1 < h->decl.n) {
    for (uint32_t i = k; i + 1 < h->decl.n; i++) h->decl.at[i] = h->decl.at[i + 1];
    h->decl.n--;
    return true;
  }
  k -= h->decl.n ? h->decl.n - 1 : 0;
  for (uint32_t i = 0; i < h->decl.n; i++)
    if (drop_line(&h->decl.at[i], &k)) return true;
  for (uint32_t i = 0; i < h->decl.n; i++)
    if (drop_value(h->arena, &h->decl.at[i], &k)) return true;
  return false;
}
