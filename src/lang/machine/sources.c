// Checks that every input port has exactly one source, and that only open ports are read: in every
// combination of modes and labels that guards test, and for every element that routes assign by
// number.
//
// The mode of a member of an array, c[i].mode, is a separate tag for each way of writing it.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

#include <math.h>

enum { SITUATIONS_LIMIT = 65536, PLACES_LIMIT = 100000 };
typedef enum { NO, YES, MAYBE } Holds;

typedef struct {
  const Syntax *node; // the tested value: p.mode, link, c.mode[i]
  const Ids *label;
  uint32_t now;
} Tag;

typedef struct {
  MachineBuilder *m;
  VEC(Tag) tag;
} Tags;

// -- tested labels --------------------------------------------------------------------------------
// The name of a value that may be a label, with or without brackets; otherwise 0.
static Name tag_name(const Syntax *n) {
  const Syntax *base = n->kind == N_AT ? at_base(n) : n;
  return base->kind == N_NAME ? base->name : 0;
}

static const Ids *labels_of(MachineBuilder *m, Name name) {
  const Binding *bind = name ? env_find(m->env, name) : NULL;
  if (!bind || !bind->value.n || bind->value.at[0].error) return NULL;
  const Type *t = &bind->value.at[0].type;
  return t->base == BASE_LABEL && t->names ? &m->w->label_names.at[t->names] : NULL;
}

static Tag *tag_of(Tags *t, const Syntax *node) {
  for (uint32_t i = 0; i < t->tag.n; i++)
    if (tree_equal(t->tag.at[i].node, node)) return &t->tag.at[i];
  const Ids *labels = labels_of(t->m, tag_name(node));
  if (!labels) return NULL;
  vec_push(t->m->w->arena, &t->tag, (Tag){node, labels, 0});
  return &t->tag.at[t->tag.n - 1];
}

static bool compares_a_tag(const Tags *t, const Syntax *n) {
  return n->kind == N_CMP && tag_name(cmp_left(n)) && path_text(t->m->in, cmp_right(n));
}

static void find_tags(Tags *t, const Syntax *n) {
  if (!n) return;
  if (compares_a_tag(t, n)) tag_of(t, cmp_left(n));
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_tags(t, syntax_parts(n).at[i]);
}

static Holds guard_holds(Tags *t, const Syntax *n) {
  if (!n) return YES;
  switch (n->kind) {
  case N_PAREN: return guard_holds(t, paren_inner(n));
  case N_NOT: {
    Holds h = guard_holds(t, not_operand(n));
    return h == MAYBE ? MAYBE : h == YES ? NO : YES;
  }
  case N_AND:
  case N_OR: {
    Holds neutral = n->kind == N_AND ? YES : NO, h = neutral;
    Nodes term = chain_terms(n);
    for (uint32_t i = 0; i < term.n; i++) {
      Holds k = guard_holds(t, term.at[i]);
      if (k == (neutral == YES ? NO : YES)) return k;
      if (k == MAYBE) h = MAYBE;
    }
    return h;
  }
  case N_CMP: {
    if (!compares_a_tag(t, n)) return MAYBE;
    if (cmp_sign(n) != SIGN_EQUAL && cmp_sign(n) != SIGN_UNEQUAL) return MAYBE;
    const Tag *tag = tag_of(t, cmp_left(n));
    if (!tag) return MAYBE;
    Name group = name_from(t->m->w->names, path_text(t->m->in, cmp_right(n)));
    return label_is_in(t->m->w, tag->label->at[tag->now], group) == (cmp_sign(n) == SIGN_EQUAL)
               ? YES
               : NO;
  }
  default: return MAYBE;
  }
}

static void put_item(World *w, Buf *to, const Syntax *n) {
  Nodes term = n->kind == N_SUM ? chain_terms(n) : NODES((Syntax *)n);
  for (uint32_t i = 0; i < term.n; i++) {
    if (i) buf_char(to, (char)chain_sign(n, i));
    if (term.at[i]->kind == N_NAME)
      buf_text(to, name_text(w->names, term.at[i]->name));
    else if (term.at[i]->kind == N_NUM)
      buf_number(to, term.at[i]->num);
    else
      buf_text(to, "…");
  }
}

// c.mode[i] as c[i].mode
static const char *tag_text(World *w, const Syntax *n) {
  const char *name = name_text(w->names, tag_name(n)), *dot = strrchr(name, '.');
  Buf b = buf_new(w->arena);
  if (n->kind != N_AT) return name;
  buf_add(&b, name, dot ? (size_t)(dot - name) : strlen(name));
  Nodes item = brackets_items(at_brackets(n));
  for (uint32_t i = 0; i < item.n; i++) {
    buf_char(&b, i ? ' ' : '[');
    put_item(w, &b, item.at[i]);
  }
  buf_printf(&b, "]%s", dot ? dot : "");
  return b.at;
}

static const char *combination_text(Tags *t) {
  World *w = t->m->w;
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < t->tag.n; i++)
    buf_printf(&b, "%s%s = %s", i ? ", " : "", tag_text(w, t->tag.at[i].node),
               name_text(w->names, t->tag.at[i].label->at[t->tag.at[i].now]));
  return b.at;
}

static bool next_combination(Tags *t) {
  for (uint32_t i = 0; i < t->tag.n; i++) {
    if (++t->tag.at[i].now < t->tag.at[i].label->n) return true;
    t->tag.at[i].now = 0;
  }
  return false;
}

static bool too_many(const Tags *t) {
  uint64_t situations = 1;
  for (uint32_t i = 0; i < t->tag.n && situations <= SITUATIONS_LIMIT; i++)
    situations *= t->tag.at[i].label->n;
  return situations > SITUATIONS_LIMIT;
}

// -- modes ----------------------------------------------------------------------------------------
// The mode of a part, of the wiring itself, or of the member of an array that brackets select.
static Syntax *mode_of(MachineBuilder *m, const Part *part, const Syntax *brackets) {
  World *w = m->w;
  Name mode = name_from(w->names, "mode");
  Span span = part ? part->span : m->def->span;
  Syntax *node = syntax_name(w->arena, part ? dotted_name(w, part->name, mode) : mode, span);
  Nodes item = part ? brackets_items(brackets) : (Nodes){0, NULL};
  if (!part || !part->axes || item.n < part->axes) return node;
  Syntax *members = brackets_of(w->arena, span, (Nodes){part->axes, item.at});
  return node_at(w->arena, span, (AtParts){node, members});
}

static bool port_is_open(Tags *t, const Part *part, const Port *port, const Syntax *brackets) {
  if (port->modes == ~(uint64_t)0) return true;
  const Tag *tag = tag_of(t, mode_of(t->m, part, brackets));
  return !tag || (port->modes >> tag->now & 1);
}

// -- routes into a port ---------------------------------------------------------------------------
typedef struct {
  MachineBuilder *m;
  const LineTarget *t;
  const Part *part; // NULL: the wiring itself
  const Port *port;
  LineNodes route;        // those that assign this element
  const Syntax *brackets; // the element; NULL: the whole port
  const char *what;       // port `p.x`, place 2 of port `p.x`
} TargetCheck;

static Span target_span(const TargetCheck *k) { return k->part ? k->part->span : k->port->span; }

static void no_source(const TargetCheck *k, Tags *tags) {
  World *w = k->m->w;
  Id e = diag_error(w->diags, target_span(k), "%s has no source%s%s", k->what,
                    tags->tag.n ? " when " : "", combination_text(tags));
  if (k->part) diag_note(w->diags, e, k->port->span, "the port");
  diag_help(w->diags, e, "a wire leads to it as `x -> %s`", name_text(w->names, k->t->name));
}

static void closed_target(const TargetCheck *k, Tags *tags, const Syntax *route) {
  World *w = k->m->w;
  Id e = diag_error(w->diags, route->span, "%s is closed when %s, but this wire is there", k->what,
                    combination_text(tags));
  diag_note(w->diags, e, k->port->span, "the port");
  diag_help(w->diags, e, "give the wire a guard, as in `… -> %s when %s = …`",
            name_text(w->names, k->t->name), tag_text(w, mode_of(k->m, k->part, k->brackets)));
}

// Checks one combination of tags; false after an error.
static bool check_combination(const TargetCheck *k, Tags *tags) {
  World *w = k->m->w;
  const Syntax *first = NULL;
  for (uint32_t i = 0; i < k->route.n; i++) {
    const Syntax *route = k->route.at[i];
    Holds h = guard_holds(tags, route_cond(route));
    if (h == MAYBE) {
      Id e = diag_error(w->diags, route_cond(route)->span,
                        "whether this wire is there must depend on modes and labels only");
      return diag_help(w->diags, e, "a choice by numbers has both sides: `x when … else y -> %s`",
                       name_text(w->names, k->t->name));
    }
    if (h == NO) continue;
    if (first) {
      Id e = diag_error(w->diags, route->span, "%s has two sources%s%s", k->what,
                        tags->tag.n ? " when " : "", combination_text(tags));
      return diag_note(w->diags, e, first->span, "the other one");
    }
    first = route;
  }
  bool open = port_is_open(tags, k->part, k->port, k->brackets);
  if (open && !first) no_source(k, tags);
  if (!open && first) closed_target(k, tags, first);
  return open == (first != NULL);
}

// Enumerates all combinations; reports the first error.
static bool check_guards(const TargetCheck *k) {
  MachineBuilder *m = k->m;
  Tags tags = {.m = m};
  for (uint32_t i = 0; i < k->route.n; i++) find_tags(&tags, route_cond(k->route.at[i]));
  if (k->port->modes != ~(uint64_t)0) tag_of(&tags, mode_of(m, k->part, k->brackets));
  if (too_many(&tags))
    return diag_refuse(m->w->diags, target_span(k),
                       "the wires into `%s` depend on too many modes to be checked",
                       name_text(m->w->names, k->t->name));
  do {
    if (!check_combination(k, &tags)) return false;
  } while (next_combination(&tags));
  return true;
}

// -- elements -------------------------------------------------------------------------------------
typedef struct {
  uint32_t n; // axes that some route indexes by number
  uint32_t axis[RANK_LIMIT];
  int64_t size[RANK_LIMIT], at[RANK_LIMIT];
} Places;

static bool next_place(Places *p) {
  for (uint32_t i = p->n; i-- > 0;) {
    if (++p->at[i] < p->size[i]) return true;
    p->at[i] = 0;
  }
  return false;
}

// Checks an index: a literal in range, or a plain index used once. False: reported, or postponed.
static bool check_item(const TargetCheck *k, const Type *own, const Syntax *route, uint32_t i) {
  MachineBuilder *m = k->m;
  World *w = m->w;
  Nodes item = brackets_items(route_brackets(route));
  const char *name = name_text(w->names, k->t->name);
  int64_t n;
  PlaceKind kind = place_kind(m, own, item.at[i]);
  m->open_places |= kind == PLACE_OPEN;
  if (kind == PLACE_OPEN) return false; // checked when sizes are known
  bool twice = false;
  for (uint32_t j = 0; j < i; j++)
    twice |= kind == PLACE_INDEX && tree_equal(item.at[i], item.at[j]);
  if (kind == PLACE_OTHER || twice) {
    Id e =
        diag_error(w->diags, route_to(route)->span,
                   "a wire leads to places by indices that stand alone, each once, or by numbers");
    return diag_help(w->diags, e, "what is read may be shifted: `x[i-1] pad 0 -> p[i].a`");
  }
  double at = item.at[i]->num;
  if (kind != PLACE_NUMBER || !size_value(w, own->axis[i].size, &n)) return true;
  return (at >= 0 && at < (double)n && at == floor(at)) ||
         diag_refuse(w->diags, route_to(route)->span, "port `%s` has the places 0 to %lld", name,
                     (long long)n - 1);
}

// The axes indexed by number, with their sizes. False: nothing to check.
static bool find_places(const TargetCheck *k, const Type *own, Places *p) {
  MachineBuilder *m = k->m;
  uint64_t all = 1;
  for (uint32_t r = 0; r < k->t->route.n; r++)
    for (uint32_t i = 0; i < brackets_items(route_brackets(k->t->route.at[r])).n; i++)
      if (i < own->rank && !check_item(k, own, k->t->route.at[r], i)) return false;
  for (uint32_t i = 0; i < own->rank; i++) {
    if (!counts_at(k->t, i)) continue;
    if (!size_value(m->w, own->axis[i].size, &p->size[p->n])) {
      if (!m->b->generic)
        diag_error(m->w->diags, target_span(k),
                   "how many places port `%s` has depends on sizes that are open",
                   name_text(m->w->names, k->t->name));
      return false;
    }
    p->axis[p->n] = i;
    all *= (uint64_t)p->size[p->n++];
    if (all > PLACES_LIMIT)
      return diag_refuse(m->w->diags, target_span(k),
                         "port `%s` has more than %d places, too many to be wired by numbers",
                         name_text(m->w->names, k->t->name), PLACES_LIMIT);
  }
  return true;
}

// The route for this element, with its number substituted for the index; NULL: it assigns others.
static const Syntax *route_at(const TargetCheck *k, const Places *p, const Syntax *route) {
  Nodes item = brackets_items(route_brackets(route));
  for (uint32_t i = 0; i < p->n; i++) {
    if (p->axis[i] >= item.n) continue; // it assigns the whole port
    if (item.at[p->axis[i]]->kind != N_NUM)
      route =
          with_loop_number(k->m->w, route, counting_index(k->m->w, p->axis[i]), (double)p->at[i]);
    else if (item.at[p->axis[i]]->num != (double)p->at[i])
      return NULL;
  }
  return route;
}

static void check_places(TargetCheck *k, Places *p) {
  World *w = k->m->w;
  do {
    Buf at = buf_new(w->arena);
    k->route.n = 0;
    k->brackets = NULL;
    for (uint32_t r = 0; r < k->t->route.n; r++) {
      const Syntax *route = route_at(k, p, k->t->route.at[r]);
      if (!route) continue;
      vec_push(w->arena, &k->route, route);
      if (route_brackets(route)) k->brackets = route_brackets(route);
    }
    for (uint32_t i = 0; i < p->n; i++)
      buf_printf(&at, "%s%lld", i ? " " : "", (long long)p->at[i]);
    if (p->n)
      k->what =
          arena_format(w->arena, "place %s of port `%s`", at.at, name_text(w->names, k->t->name));
    if (!check_guards(k)) return;
  } while (next_place(p));
}

// -- reads of closed ports ------------------------------------------------------------------------
bool port_of_part(MachineBuilder *m, Name name, PortEnd *out) {
  const char *text = name_text(m->w->names, name), *dot = strrchr(text, '.');
  if (!dot) return false;
  Name part = name_of(m->w->names, text, (size_t)(dot - text)),
       port = name_from(m->w->names, dot + 1);
  Id k = table_get(m->parts, &part, sizeof part);
  const System *of = k && k != UINT32_MAX ? m->s->part.at[k - 1].of : NULL;
  int at = of ? port_named(of->out.at, of->out.n, port) : -1;
  *out = (PortEnd){k, (uint32_t)at};
  return at >= 0;
}

// p.y, p.y[i]: the part and port; false: another expression.
static bool shown_port(MachineBuilder *m, const Syntax *n, const Part **part, const Port **port) {
  PortEnd end;
  Name name = tag_name(n);
  if (!name || !port_of_part(m, name, &end)) return false;
  *part = &m->s->part.at[end.part - 1];
  *port = &(*part)->of->out.at[end.port];
  return true;
}

static const Syntax *read_brackets(const Syntax *n) {
  return n->kind == N_AT ? at_brackets(n) : NULL;
}

static void find_read_tags(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return;
  bool shown = shown_port(t->m, n, &part, &port);
  if (shown && port->modes != ~(uint64_t)0) tag_of(t, mode_of(t->m, part, read_brackets(n)));
  if (shown) n = read_brackets(n);
  for (uint32_t i = 0; n && i < syntax_parts(n).n; i++) find_read_tags(t, syntax_parts(n).at[i]);
}

// A closed port that is read in this combination, or NULL.
static const Syntax *closed_read(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return NULL;
  if (shown_port(t->m, n, &part, &port)) {
    if (!port_is_open(t, part, port, read_brackets(n))) return n;
    n = read_brackets(n);
  }
  Holds first = n && n->kind == N_WHEN ? guard_holds(t, when_cond(n)) : MAYBE;
  for (uint32_t i = 0; n && i < syntax_parts(n).n; i++) {
    if (n->kind == N_WHEN && i != 1 && first == (i ? YES : NO)) continue;
    const Syntax *found = closed_read(t, syntax_parts(n).at[i]);
    if (found) return found;
  }
  return NULL;
}

static void check_read(MachineBuilder *m, const Syntax *value, const Syntax *guard) {
  World *w = m->w;
  Tags tags = {.m = m};
  find_read_tags(&tags, value);
  if (!tags.tag.n) return;
  find_tags(&tags, guard);
  find_tags(&tags, value);
  if (too_many(&tags)) {
    diag_error(w->diags, value->span, "what is read here depends on too many modes to be checked");
    return;
  }
  do {
    const Syntax *n = guard_holds(&tags, guard) == NO ? NULL : closed_read(&tags, value);
    if (!n) continue;
    const char *name = tag_text(w, n);
    const Part *part = NULL;
    const Port *port = NULL;
    shown_port(m, n, &part, &port);
    Id e = diag_error(w->diags, n->span, "`%s` is closed when %s, but it is read here", name,
                      combination_text(&tags));
    diag_note(w->diags, e, port->span, "the port");
    diag_help(w->diags, e, "say when it is read, as in `%s -> … when %s = …`", name,
              tag_text(w, mode_of(m, part, read_brackets(n))));
    return;
  } while (next_combination(&tags));
}

static void check_reads(MachineBuilder *m) {
  const Syntax *body = m->h.body;
  for (uint32_t i = 0; m->s->part.n && i < block_statements(body).n; i++) {
    const Syntax *n = block_statements(body).at[i];
    if (n->kind == N_PART && part_alive(n)) check_read(m, with_ports(m, part_alive(n)), NULL);
    if (n->kind != N_ROUTE && n->kind != N_EQUATION && n->kind != N_STEP && n->kind != N_CONSTRAINT)
      continue;
    n = with_ports(m, n);
    if (n->kind == N_ROUTE) check_read(m, route_value(n), route_cond(n));
    if (n->kind == N_EQUATION) check_read(m, equation_value(n), NULL);
    if (n->kind == N_STEP) check_read(m, step_value(n), step_cond(n));
    if (n->kind == N_CONSTRAINT) check_read(m, constraint_value(n), NULL);
  }
}

void check_targets(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    if (t->placed) continue; // checked where its value is made
    TargetCheck k = {.m = m, .t = t, .part = t->part ? &m->s->part.at[t->part - 1] : NULL};
    k.port = k.part ? &k.part->of->in.at[t->port] : &m->s->out.at[t->port];
    k.what = arena_format(m->w->arena, "port `%s`", name_text(m->w->names, t->name));
    Type own = target_type(m, t);
    Places places = {0};
    if (find_places(&k, &own, &places)) check_places(&k, &places);
  }
  check_reads(m);
}
