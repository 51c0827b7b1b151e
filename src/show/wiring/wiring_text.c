// Texts of wirings: expressions as written, and descriptions in words.
#include "base/names.h"
#include "base/source.h"
#include "show/wiring/wiring_own.h"

// -- expressions ----------------------------------------------------------------------------------
typedef struct {
  World *w;
  const System *s; // the system of the expression
  Buf out;
} Printer;

enum { LONG = 400 }; // bytes; longer texts are truncated

static void put_node(Printer *p, const Syntax *n);

static void put_name(Printer *p, Name name) { buf_text(&p->out, name_text(p->w->names, name)); }

static void put_list(Printer *p, Nodes list, const char *between) {
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) buf_text(&p->out, between);
    put_node(p, list.at[i]);
  }
}

static void put_closed(Printer *p, const char *open, Nodes list, const char *between,
                       const char *close) {
  buf_text(&p->out, open);
  put_list(p, list, between);
  buf_text(&p->out, close);
}

static const char *sign_text(SyntaxSign sign) {
  switch (sign) {
  case SIGN_PLUS: return " + ";
  case SIGN_MINUS: return " − ";
  case SIGN_TIMES: return " · ";
  case SIGN_DIVIDE: return " / ";
  case SIGN_DIVIDE_DOWN: return " // ";
  case SIGN_UNEQUAL: return " ≠ ";
  case SIGN_AT_MOST: return " ≤ ";
  case SIGN_AT_LEAST: return " ≥ ";
  case SIGN_LESS: return " < ";
  case SIGN_MORE: return " > ";
  default: return " = ";
  }
}

// a + b - c
static void put_chain(Printer *p, const Syntax *n) {
  Nodes term = chain_terms(n);
  for (uint32_t i = 0; i < term.n; i++) {
    if (i) buf_text(&p->out, sign_text(chain_sign(n, i)));
    put_node(p, term.at[i]);
  }
}

static void put_when(Printer *p, const Syntax *n) {
  put_node(p, when_then(n));
  buf_text(&p->out, " when ");
  put_node(p, when_cond(n));
  if (!when_otherwise(n)) return;
  buf_text(&p->out, " else ");
  put_node(p, when_otherwise(n));
}

static void put_call(Printer *p, const Syntax *n) {
  put_node(p, call_callee(n));
  put_closed(p, "(", call_args(n), ", ", ")");
}

// worker.say, where worker is an array of parts: the length of its name. 0: it is nothing such
static size_t array_in(const Printer *p, const Syntax *n, uint32_t *axes) {
  const char *name = n->kind == N_NAME ? name_text(p->w->names, n->name) : "";
  const char *dot = strchr(name, '.');
  for (uint32_t i = 0; dot && i < p->s->part.n; i++) {
    const char *part = name_text(p->w->names, p->s->part.at[i].name);
    size_t length = (size_t)(dot - name);
    if (p->s->part.at[i].axes && strlen(part) == length && !memcmp(part, name, length)) {
      *axes = p->s->part.at[i].axes;
      return length;
    }
  }
  return 0;
}

// The first indices of a port of an array are those of the part: worker[j].say[i]
static void put_at(Printer *p, const Syntax *n) {
  uint32_t axes = 0;
  size_t part = array_in(p, at_base(n), &axes);
  const Syntax *at = at_brackets(n), *items = nodes_only(brackets_slots(at));
  if (!part || !items || items->kind != N_ITEMS || items_in(items).n < axes) {
    put_node(p, at_base(n));
    put_node(p, at);
    return;
  }
  const char *name = name_text(p->w->names, at_base(n)->name);
  buf_add(&p->out, name, part);
  put_closed(p, "[", (Nodes){axes, items_in(items).at}, " ", "]");
  buf_text(&p->out, name + part);
  if (items_in(items).n > axes) put_closed(p, "[", nodes_from(items_in(items), axes), " ", "]");
}

static void put_dot(Printer *p, const Syntax *n) {
  put_node(p, dot_base(n));
  buf_char(&p->out, '.');
  put_name(p, n->name);
}

static void put_named(Printer *p, const Syntax *n) {
  put_name(p, n->name);
  buf_text(&p->out, ": ");
  put_list(p, syntax_parts(n), " ");
}

// A sign that pictures write differently: its length, and the form in pictures. 0: none
static size_t sign_at(const char *text, size_t n, const char **shown) {
  static const char *const sign[][2] = {{"->", "→"}, {">=", "≥"}, {"<=", "≤"},
                                        {"!=", "≠"}, {"*", "·"},  {"-", "−"}};
  for (uint32_t i = 0; i < COUNT(sign); i++) {
    size_t length = strlen(sign[i][0]);
    *shown = sign[i][1];
    if (length <= n && !memcmp(text, sign[i][0], length)) return length;
  }
  return 0;
}

// The source text with signs replaced, without comments and extra spaces.
static void put_between(Printer *p, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *shown;
    size_t sign = sign_at(text + i, n - i, &shown);
    if (text[i] == '#')
      while (i + 1 < n && text[i + 1] != '\n') i++;
    else if (sign)
      buf_text(&p->out, shown), i += sign - 1;
    else if (!strchr(" \t\r\n", text[i]))
      buf_char(&p->out, text[i]);
    else if (p->out.n && p->out.at[p->out.n - 1] != ' ')
      buf_char(&p->out, ' ');
  }
}

// Nodes without a printing rule are written as in the source, and their children by their rules.
static void put_source(Printer *p, const Syntax *n) {
  const Sources *s = p->w->sources;
  if (!s || !n->span.file || n->span.file >= s->file.n) {
    buf_text(&p->out, "…");
    return;
  }
  const Source *f = &s->file.at[n->span.file];
  size_t at = n->span.at, end = at + n->span.n < f->n ? at + n->span.n : f->n;
  Nodes part = syntax_parts(n);
  for (uint32_t i = 0; i < part.n && at <= end; i++) {
    const Syntax *k = part.at[i];
    if (!k || k->span.file != n->span.file || k->span.at < at || k->span.at + k->span.n > end)
      continue;
    put_between(p, f->text + at, k->span.at - at);
    put_node(p, k);
    at = k->span.at + k->span.n;
  }
  if (at < end) put_between(p, f->text + at, end - at);
}

static void put_node(Printer *p, const Syntax *n) {
  if (!n || p->out.n > LONG) return;
  switch (n->kind) {
  case N_NUM:
    if (n->text)
      buf_text(&p->out, n->text);
    else
      buf_number(&p->out, n->num);
    break;
  case N_NAME: put_name(p, n->name); break;
  case N_NEXT: buf_text(&p->out, "next "), put_name(p, n->name); break;
  case N_LIST:
  case N_BRACKETS: put_closed(p, "[", syntax_parts(n), ", ", "]"); break;
  case N_PAREN:
  case N_GROUP:
  case N_TUPLE: put_closed(p, "(", syntax_parts(n), ", ", ")"); break;
  case N_CALL: put_call(p, n); break;
  case N_ARG:
  case N_SIZED: put_named(p, n); break;
  case N_AT: put_at(p, n); break;
  case N_DOT: put_dot(p, n); break;
  case N_SUM:
  case N_PROD: put_chain(p, n); break;
  case N_RUN:
  case N_ITEMS: put_list(p, syntax_parts(n), " "); break;
  case N_POW: put_list(p, syntax_parts(n), "^"); break;
  case N_NEG: put_closed(p, "−", syntax_parts(n), "", ""); break;
  case N_NOT: put_closed(p, "not ", syntax_parts(n), "", ""); break;
  case N_AND: put_list(p, syntax_parts(n), " and "); break;
  case N_OR: put_list(p, syntax_parts(n), " or "); break;
  case N_CMP: put_list(p, syntax_parts(n), sign_text(cmp_sign(n))); break;
  case N_WHEN: put_when(p, n); break;
  case N_PIPE: put_list(p, syntax_parts(n), " ; "); break;
  case N_RANGE: put_list(p, syntax_parts(n), ".."); break;
  default: put_source(p, n);
  }
}

const char *node_text(World *w, Arena *a, const System *s, const Syntax *n) {
  Printer p = {w, s, buf_new(a)};
  put_node(&p, n);
  return p.out.at ? p.out.at : "";
}

// The object of p[i], p.q or (p): p; NULL for other nodes.
static const Syntax *around(const Syntax *n) {
  if (n->kind == N_PAREN) return paren_inner(n);
  return n->kind == N_AT || n->kind == N_DOT ? path_base(n) : NULL;
}

bool node_is_place(const Syntax *n) {
  while (n && around(n)) n = around(n);
  return n && n->kind == N_NAME;
}

static bool is_number(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_NUM;
}

const char *node_index(World *w, Arena *a, const System *s, const Syntax *n) {
  for (; n; n = around(n))
    if (n->kind == N_AT && syntax_any(at_brackets(n), is_number, NULL))
      return node_text(w, a, s, at_brackets(n));
  return NULL;
}

// -- sentences ------------------------------------------------------------------------------------
static void put_ports(Buf *b, const char *verb, const Pins *pins) {
  uint32_t named = 0;
  for (uint32_t i = 0; i < pins->n; i++) {
    const Pin *p = &pins->at[i];
    if (!p->name || !p->name[0]) continue;
    buf_printf(b, "%s%.60s%s", named++ ? ", " : verb, p->name, p->ring ? " (in some modes)" : "");
  }
}

const char *unit_words(Arena *a, const Unit *u) {
  Buf b = buf_new(a);
  buf_printf(&b, "%.80s", u->name && !u->unnamed ? u->name : "");
  if (u->of && u->of[0]) buf_printf(&b, "%s%.80s", b.n ? ": " : "", u->of);
  if (u->count) buf_printf(&b, " %s", u->count);
  put_ports(&b, ", takes ", &u->in);
  put_ports(&b, ", gives ", &u->out);
  if (u->state) buf_text(&b, ", has a state");
  for (uint32_t i = 0; i < u->mode.n; i++)
    buf_printf(&b, "%s%.40s", i ? ", " : "; modes ", u->mode.at[i]);
  return b.at;
}

const char *panel_about(Arena *a, const Panel *p) {
  Buf b = buf_new(a);
  uint32_t parts = 0, shared = 0;
  for (uint32_t i = 0; i < p->unit.n; i++) {
    const Unit *u = &p->unit.at[i];
    parts += u->kind == UNIT_BOX || u->kind == UNIT_PANEL;
    shared += u->kind == UNIT_SHARED;
  }
  buf_printf(&b, "%.80s is a wiring of %u part%s", p->of, parts, parts == 1 ? "" : "s");
  for (uint32_t i = 0, n = 0; i < p->unit.n && b.n < 2000; i++) {
    const Unit *u = &p->unit.at[i];
    if (u->kind == UNIT_BOX || u->kind == UNIT_PANEL)
      buf_printf(&b, "%s%s", n++ ? "; " : ": ", unit_words(a, u));
  }
  if (shared) buf_printf(&b, ". %u variable%s shared", shared, shared == 1 ? " is" : "s are");
  for (uint32_t i = 0, n = 0; i < p->unit.n; i++)
    if (p->unit.at[i].kind == UNIT_STATE)
      buf_printf(&b, "%s%.60s%s", n++ ? ", " : ". Its own state: ", p->unit.at[i].name,
                 p->unit.at[i].learns ? " (learns)" : "");
  buf_char(&b, '.');
  return b.at;
}
