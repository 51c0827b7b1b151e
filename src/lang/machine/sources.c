// Every port that takes has exactly one source, and what is read is open: in every mode of the
// parts, and with every label, that guards speak of.
#include "lang/machine/machine_own.h"

#include <math.h>

// -- every port has one source --------------------------------------------------------------------
enum { SITUATIONS_LIMIT = 65536 };
typedef enum { NO, YES, MAYBE } Holds;

typedef struct {
  Name name; // the value: p.mode, link
  const Ids *label;
  uint32_t now;
} Tag;

typedef struct {
  MachineBuilder *m;
  VEC(Tag) tag;
} Tags;

static const Ids *labels_of(MachineBuilder *m, Name name) {
  const Binding *bind = env_find(m->env, name);
  if (!bind || !bind->value.n || bind->value.at[0].error) return NULL;
  const Type *t = &bind->value.at[0].type;
  return t->base == BASE_LABEL && t->names ? &m->w->label_names.at[t->names] : NULL;
}

static Tag *tag_named(Tags *t, Name name) {
  for (uint32_t i = 0; i < t->tag.n; i++)
    if (t->tag.at[i].name == name) return &t->tag.at[i];
  const Ids *labels = labels_of(t->m, name);
  if (!labels) return NULL;
  vec_push(t->m->w->arena, &t->tag, (Tag){name, labels, 0});
  return &t->tag.at[t->tag.n - 1];
}

static void find_tags(Tags *t, const Syntax *n) {
  if (!n) return;
  if (n->kind == N_CMP && cmp_left(n)->kind == N_NAME && path_text(t->m->in, cmp_right(n)))
    tag_named(t, cmp_left(n)->name);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_tags(t, syntax_parts(n).at[i]);
}

static Holds holds(Tags *t, const Syntax *n) {
  if (!n) return YES;
  switch (n->kind) {
  case N_PAREN: return holds(t, paren_inner(n));
  case N_NOT: {
    Holds h = holds(t, not_operand(n));
    return h == MAYBE ? MAYBE : h == YES ? NO : YES;
  }
  case N_AND:
  case N_OR: {
    Holds neutral = n->kind == N_AND ? YES : NO, h = neutral;
    Nodes term = chain_terms(n);
    for (uint32_t i = 0; i < term.n; i++) {
      Holds k = holds(t, term.at[i]);
      if (k == (neutral == YES ? NO : YES)) return k;
      if (k == MAYBE) h = MAYBE;
    }
    return h;
  }
  case N_CMP: {
    const char *right = path_text(t->m->in, cmp_right(n));
    if (cmp_left(n)->kind != N_NAME || !right) return MAYBE;
    if (cmp_sign(n) != SIGN_EQUAL && cmp_sign(n) != SIGN_UNEQUAL) return MAYBE;
    const Tag *tag = tag_named(t, cmp_left(n)->name);
    if (!tag) return MAYBE;
    Name group = name_from(t->m->w->names, right);
    return label_is_in(t->m->w, tag->label->at[tag->now], group) == (cmp_sign(n) == SIGN_EQUAL)
               ? YES
               : NO;
  }
  default: return MAYBE;
  }
}

static const char *situation(Tags *t) {
  World *w = t->m->w;
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < t->tag.n; i++)
    buf_printf(&b, "%s%s = %s", i ? ", " : "", name_text(w->names, t->tag.at[i].name),
               name_text(w->names, t->tag.at[i].label->at[t->tag.at[i].now]));
  return b.at;
}

static bool next_situation(Tags *t) {
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

// The mode of a part, or of the wiring itself.
static Name mode_of(MachineBuilder *m, const Part *part) {
  Name mode = name_from(m->w->names, "mode");
  return part ? dotted_name(m->w, part->name, mode) : mode;
}

static bool port_is_open(Tags *t, const Part *part, const Port *port) {
  if (port->modes == ~(uint64_t)0) return true;
  const Tag *tag = tag_named(t, mode_of(t->m, part));
  return !tag || (port->modes >> tag->now & 1);
}

// One situation after the other; the first that is wrong is reported.
static void check_guards(MachineBuilder *m, Tags *tags, const LineTarget *t, const Part *part,
                         const Port *port) {
  World *w = m->w;
  const char *name = name_text(w->names, t->name);
  if (too_many(tags)) {
    diag_error(w->diags, part ? part->span : port->span,
               "the wires into `%s` depend on too many modes to be checked", name);
    return;
  }
  do {
    uint32_t sources = 0;
    const Syntax *first = NULL;
    for (uint32_t i = 0; i < t->route.n; i++) {
      Holds h = holds(tags, route_cond(t->route.at[i]));
      if (h == MAYBE) {
        Id e = diag_error(w->diags, route_cond(t->route.at[i])->span,
                          "whether this wire is there must depend on modes and labels only");
        diag_help(w->diags, e, "a choice by numbers has both sides: `x when … else y -> %s`", name);
        return;
      }
      if (h == YES && !sources++) first = t->route.at[i];
      if (h == YES && sources > 1) {
        Id e = diag_error(w->diags, t->route.at[i]->span, "port `%s` has two sources%s%s", name,
                          tags->tag.n ? " when " : "", situation(tags));
        diag_note(w->diags, e, first->span, "the other one");
        return;
      }
    }
    bool open = port_is_open(tags, part, port);
    if (open && !sources) {
      Id e = diag_error(w->diags, part ? part->span : port->span, "port `%s` has no source%s%s",
                        name, tags->tag.n ? " when " : "", situation(tags));
      if (part) diag_note(w->diags, e, port->span, "the port");
      diag_help(w->diags, e, "a wire leads to it as `x -> %s`", name);
      return;
    }
    if (!open && sources) {
      Id e =
          diag_error(w->diags, first->span, "port `%s` is closed when %s, but this wire is there",
                     name, situation(tags));
      diag_note(w->diags, e, port->span, "the port");
      diag_help(w->diags, e, "give the wire a guard, as in `… -> %s when %s = …`", name,
                name_text(w->names, mode_of(m, part)));
      return;
    }
  } while (next_situation(tags));
}

// Ports whose elements are wired one by one: each exactly once.
static bool wired_by_numbers(MachineBuilder *m, const LineTarget *t, const Part *part,
                             const Port *port) {
  World *w = m->w;
  bool any = false, each = true, whole = false; // each: has one number, and nothing else
  for (uint32_t i = 0; i < t->route.n; i++) {
    Nodes item = brackets_items(route_brackets(t->route.at[i]));
    for (uint32_t k = 0; k < item.n; k++) any |= is_number_item(item.at[k]);
    each &= item.n == 1 && is_number_item(item.at[0]);
    whole |= !item.n;
  }
  if (!any || whole) return false;
  Type own = part ? seen_type(m, part, &port->type) : port->type;
  int64_t n = 0;
  if (!each || own.rank != 1 || !size_value(w, own.axis[0].size, &n) || n > 100000) return true;
  uint8_t *seen = NEW_ARRAY(w->arena, uint8_t, n);
  for (uint32_t i = 0; i < t->route.n; i++) {
    double at = brackets_items(route_brackets(t->route.at[i])).at[0]->num;
    if (at < 0 || at >= (double)n || at != floor(at)) {
      diag_error(w->diags, route_to(t->route.at[i])->span, "port `%s` has the places 0 to %lld",
                 name_text(w->names, t->name), (long long)n - 1);
      return true;
    }
    if (seen[(int64_t)at]++)
      diag_error(w->diags, t->route.at[i]->span, "place %g of port `%s` has two sources", at,
                 name_text(w->names, t->name));
  }
  for (int64_t i = 0; i < n; i++)
    if (!seen[i]) {
      diag_error(w->diags, part ? part->span : port->span, "place %lld of port `%s` has no source",
                 (long long)i, name_text(w->names, t->name));
      break;
    }
  return true;
}

// -- what is read is open -------------------------------------------------------------------------
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

// The part and port of `p.y`; false: it is another name.
static bool shown_port(MachineBuilder *m, Name name, const Part **part, const Port **port) {
  PortEnd end;
  if (!port_of_part(m, name, &end)) return false;
  *part = &m->s->part.at[end.part - 1];
  *port = &(*part)->of->out.at[end.port];
  return true;
}

static void find_read_tags(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return;
  if (n->kind == N_NAME && shown_port(t->m, n->name, &part, &port) && port->modes != ~(uint64_t)0)
    tag_named(t, mode_of(t->m, part));
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) find_read_tags(t, syntax_parts(n).at[i]);
}

// The name of a closed port that is read in this situation; NULL: none.
static const Syntax *closed_read(Tags *t, const Syntax *n) {
  const Part *part;
  const Port *port;
  if (!n) return NULL;
  if (n->kind == N_NAME && shown_port(t->m, n->name, &part, &port))
    return port_is_open(t, part, port) ? NULL : n;
  Holds first = n->kind == N_WHEN ? holds(t, when_cond(n)) : MAYBE;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
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
    const Syntax *n = holds(&tags, guard) == NO ? NULL : closed_read(&tags, value);
    if (!n) continue;
    const char *name = name_text(w->names, n->name);
    const Part *part = NULL;
    const Port *port = NULL;
    shown_port(m, n->name, &part, &port);
    Id e = diag_error(w->diags, n->span, "`%s` is closed when %s, but it is read here", name,
                      situation(&tags));
    diag_note(w->diags, e, port->span, "the port");
    diag_help(w->diags, e, "say when it is read, as in `%s -> … when %s = …`", name,
              name_text(w->names, mode_of(m, part)));
    return;
  } while (next_situation(&tags));
}

static void check_reads(MachineBuilder *m) {
  const Syntax *body = m->h.body;
  for (uint32_t i = 0; m->s->part.n && i < block_statements(body).n; i++) {
    const Syntax *n = block_statements(body).at[i];
    if (n->kind == N_PART && part_alive(n)) check_read(m, with_ports(m, part_alive(n)), NULL);
    if (n->kind != N_ROUTE && n->kind != N_EQUATION && n->kind != N_STEP) continue;
    n = with_ports(m, n);
    if (n->kind == N_ROUTE) check_read(m, route_value(n), route_cond(n));
    if (n->kind == N_EQUATION) check_read(m, equation_value(n), NULL);
    if (n->kind == N_STEP) check_read(m, step_value(n), step_cond(n));
  }
}

void check_targets(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->target.n; i++) {
    const LineTarget *t = &m->target.at[i];
    const Part *part = t->part ? &m->s->part.at[t->part - 1] : NULL;
    const Port *port = part ? &part->of->in.at[t->port] : &m->s->out.at[t->port];
    if (wired_by_numbers(m, t, part, port)) continue;
    Tags tags = {.m = m};
    for (uint32_t k = 0; k < t->route.n; k++) find_tags(&tags, route_cond(t->route.at[k]));
    if (port->modes != ~(uint64_t)0) tag_named(&tags, mode_of(m, part));
    check_guards(m, &tags, t, part, port);
  }
  check_reads(m);
}
