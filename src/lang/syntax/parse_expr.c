// The parser: expressions, brackets and types, and the helpers that every rule uses.
//
// Recursive descent, with the grammar rule above each function. A chain of one operator is one node
// with many kids, so its length costs no depth; nesting depth is limited.
//
// The first error of a statement is reported and sets panic mode (see parse_own.h). Brackets end
// it: since the lexer balances them, the parser resumes after the closing bracket. Errors at a
// closing bracket of length 0 are silent, because the lexer has reported them.
//
// The kids of a node are collected on a stack and copied when their number is known.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/parse_own.h"

// -- tokens

const Token *peek(const Parser *p, uint32_t ahead) {
  if (p->panic) return &p->stop;
  uint32_t i = p->at;
  while (ahead-- && p->token[i].kind != TK_END) i++;
  return &p->token[i];
}

const char *token_text(const Parser *p, const Token *t) {
  const Source *s = &p->front->sources->file.at[t->span.file];
  return arena_text(p->arena, s->text + t->span.at, t->span.n);
}

static bool token_is(const Parser *p, const Token *t, const char *text) {
  const char *own = t->kind == TK_SYMBOL ? t->symbol
                    : t->kind == TK_WORD ? name_text(p->front->names, t->name)
                                         : "";
  return own[0] == text[0] && strcmp(own, text) == 0;
}

bool sees(const Parser *p, uint32_t ahead, const char *text) {
  return token_is(p, peek(p, ahead), text);
}

bool sees_name(const Parser *p, uint32_t ahead) { return peek(p, ahead)->kind == TK_NAME; }

bool sees_word(const Parser *p, uint32_t ahead, const char *word) {
  return sees_name(p, ahead) && strcmp(name_text(p->front->names, peek(p, ahead)->name), word) == 0;
}

bool sees_label(const Parser *p) {
  return (sees_name(p, 0) || peek(p, 0)->kind == TK_WORD) && sees(p, 1, ":");
}

bool eat(Parser *p, const char *text) {
  if (!sees(p, 0, text)) return false;
  p->at++;
  return true;
}

bool starts_line(const Parser *p, const Token *t) {
  const char *text = p->front->sources->file.at[t->span.file].text;
  uint32_t i = t->span.at;
  while (i && (text[i - 1] == ' ' || text[i - 1] == '\t')) i--;
  return i == 0 || text[i - 1] == '\n';
}

// -- errors

static bool is_silent(const Token *t) { // already reported
  return t->kind == TK_SYMBOL && (t->symbol[0] == '?' || t->span.n == 0);
}

static const char *found_text(const Parser *p, const Token *t) {
  enum { LONG = 40 };
  if (t->kind == TK_LINE) return "the end of the line";
  if (t->kind == TK_END) return "the end of the file";
  const char *text = token_text(p, t);
  uint32_t n = t->span.n;
  if (n > LONG)
    for (n = LONG; n && ((unsigned char)text[n] & 0xC0) == 0x80;) n--;
  return arena_format(p->arena, "`%.*s%s`", (int)n, text, n < t->span.n ? "…" : "");
}

// Does the line of this token begin with `state`?
static bool in_states(const Parser *p, const Token *t) {
  while (t > p->token && t[-1].kind != TK_LINE && !token_is(p, t, "state")) t--;
  return token_is(p, t, "state");
}

// A hint for what the user may have meant.
static const char *find_hint(const Parser *p, const Token *t, const char *wanted) {
  if (token_is(p, t, "=>")) return "`=>` is for `find … => …`; a result is written `->`";
  if (token_is(p, t, "//")) return "`//` divides sizes in brackets; a comment begins with `#`";
  if (token_is(p, t, "'") && in_states(p, t))
    return "the comma goes on with the list of states: `x' = …` is a line of its own";
  if (token_is(p, t, "'") && p->rates)
    return "a rate is `x' = …`; a second one is that of another state, `x' = v` and `v' = …`";
  if (token_is(p, t, "'")) return "text goes in double quotes; `x'` is for machines";
  if (token_is(p, t, "else") || token_is(p, t, "when"))
    return "`x when c else y` is a value and goes on one line";
  if ((token_is(p, t, "=") || token_is(p, t, "<=")) && strstr(wanted, "the end of the line"))
    return "`=` and `<=` compare only after `when` and inside `( )`";
  if (token_is(p, t, ".") && p->token[p->at + 1].kind == TK_NUM)
    return "write a 0 before the point";
  return NULL;
}

static bool is_misused(const Parser *p, const Token *t) {
  for (uint32_t i = 0; t->kind == TK_WORD && i < p->misused.n; i++)
    if (p->misused.at[i] == t->name) return true;
  return false;
}

// Inside an unclosed ( or [, which the lexer has reported?
static bool in_unclosed(const Parser *p) {
  for (uint32_t i = p->at; i-- > 0;) {
    const Token *t = &p->token[i];
    if (t->first && (t->kind == TK_NAME || t->kind == TK_WORD)) return false;
    if (t->kind == TK_SYMBOL && strchr("([", t->symbol[0]) && p->partner[i] >= p->at &&
        p->token[p->partner[i]].span.n == 0)
      return true;
  }
  return false;
}

void fail(Parser *p, const char *wanted) {
  if (p->panic) return;
  const Token *t = peek(p, 0), *before = p->at ? &p->token[p->at - 1] : NULL;
  p->panic = true;
  if (is_silent(t) || is_misused(p, t) || in_unclosed(p)) return;
  Id id;
  if (token_is(p, t, "=") && p->at > 1 && before->kind == TK_NAME && starts_line(p, before) &&
      token_is(p, before - 1, ";"))
    t = before--; // ; x =
  if (before && token_is(p, before, ";") && (starts_line(p, t) || t->kind == TK_LINE)) {
    diag_error(p->front->diags, before->span,
               "`;` means \"then\", and nothing follows: a statement ends with its line");
    return;
  }
  if (t->kind == TK_WORD && (strcmp(wanted, "a name") == 0 || strcmp(wanted, "a type") == 0 ||
                             (strcmp(wanted, "an expression") == 0 && !starts_line(p, t))))
    id = diag_error(p->front->diags, t->span, "%s is a word of the language; wanted %s",
                    found_text(p, t), wanted);
  else
    id = diag_error(p->front->diags, t->span, "found %s, wanted %s", found_text(p, t), wanted);
  const char *help = find_hint(p, t, wanted);
  if (help) diag_help(p->front->diags, id, "%s", help);
}

// Like fail, after a complete term: two terms side by side are the likely error.
void fail_after_term(Parser *p, const char *wanted) {
  const Token *t = peek(p, 0);
  if (p->panic || t->kind < TK_NAME || t->kind == TK_WORD || t->kind == TK_SYMBOL) {
    fail(p, wanted);
    return;
  }
  const char *help = "only indexed terms multiply side by side: write `*`, or `;` between boxes";
  const char *last = p->at ? token_text(p, &p->token[p->at - 1]) : "";
  if (strcmp(last, "if") == 0 || strcmp(token_text(p, t), "if") == 0)
    help = "a choice is written `x when c else y`";
  else if (strcmp(last, "lambda") == 0)
    help = "a box is declared beside the others, `box f(x) = …`, and used by its name";
  else if (strstr(wanted, "end of the line") && names_lead_to(p, 0, "="))
    help = "a `,` or a new line separates two statements";
  p->panic = true;
  if (in_unclosed(p)) return;
  Id id = diag_error(p->front->diags, t->span, "found %s, wanted an operator%s %s",
                     found_text(p, t), strstr(wanted, " or ") ? "," : " or", wanted);
  diag_help(p->front->diags, id, "%s", help);
}

void expect(Parser *p, const char *text) {
  if (!eat(p, text)) fail(p, arena_format(p->arena, "`%s`", text));
}

static bool too_deep(Parser *p) {
  if (!p->panic) diag_error(p->front->diags, peek(p, 0)->span, "nested too deeply");
  p->panic = true;
  return false;
}

bool deeper(Parser *p) {
  if (p->depth >= MAX_DEPTH) return too_deep(p);
  p->depth++;
  return true;
}

static void recover_at_bracket(Parser *p, uint32_t open) {
  if (!p->panic) return;
  uint32_t close = p->partner[open];
  if (p->token[close].span.n == 0) return; // left open: the text after it is unreliable
  p->at = close + 1;
  p->panic = false;
  p->spoilt = true;
}

// Consumes the bracket that closes `open`, with recovery. An unclosed bracket is reported by the
// lexer only.
void close_bracket(Parser *p, uint32_t open, const char *wanted) {
  const Token *closer = &p->token[p->partner[open]];
  if (!eat(p, closer->symbol)) {
    if (closer->span.n == 0) p->panic = true;
    fail_after_term(p, arena_format(p->arena, "%s`%s`", wanted, closer->symbol));
  }
  recover_at_bracket(p, open);
}

// Like need, where an operator could follow too.
static void expect_after_term(Parser *p, const char *wanted) {
  if (!eat(p, wanted)) fail_after_term(p, arena_format(p->arena, "`%s`", wanted));
}

// -- nodes

static Span here(const Parser *p) { return p->token[p->at].span; }

Syntax *node_new(Parser *p, SyntaxKind kind) {
  Syntax *node = NEW(p->arena, Syntax);
  node->kind = (uint8_t)kind;
  node->span = here(p);
  return node;
}

Syntax *node_end(Parser *p, Syntax *node) {
  if (p->at) node->span = span_join(node->span, p->token[p->at - 1].span);
  return node;
}

Syntax *node_fixed(Parser *p, SyntaxKind kind, uint32_t kids) {
  Syntax *node = node_new(p, kind);
  node->nkid = kids;
  node->kid = NEW_ARRAY(p->arena, Syntax *, kids);
  return node;
}

Syntax *node_word(Parser *p, SyntaxKind kind, uint32_t kids) {
  Syntax *node = node_fixed(p, kind, kids);
  p->at++;
  return node;
}

void kid_push(Parser *p, Syntax *kid) { vec_push(p->arena, &p->stack, kid); }

Syntax *kids_end(Parser *p, Syntax *node, uint32_t mark) {
  node->nkid = p->stack.n - mark;
  if (node->nkid)
    node->kid = arena_copy(p->arena, p->stack.at + mark, sizeof(Syntax *) * node->nkid);
  p->stack.n = mark;
  return node_end(p, node);
}

Syntax *error_node(Parser *p, const char *wanted) {
  fail(p, wanted);
  return node_new(p, N_ERROR);
}

// A node around one that is parsed already.
Syntax *node_around(Parser *p, SyntaxKind kind, Syntax *base, Syntax *other) {
  Syntax *node = node_fixed(p, kind, other ? 2 : 1);
  node->span = base->span;
  node->kid[0] = base;
  if (other) node->kid[1] = other;
  return node_end(p, node);
}

static void take_name(Parser *p, Syntax *node) {
  node->name = peek(p, 0)->name;
  node->name_span = here(p);
  p->at++;
}

// Reads a name. A keyword in its place is reported once and read as a name if the next token fits.
void want_name(Parser *p, Syntax *node) {
  static const char *const behind[] = {":", "=", "(", "[", ","};
  if (sees_name(p, 0)) {
    take_name(p, node);
    return;
  }
  bool fits = false, word = peek(p, 0)->kind == TK_WORD;
  for (uint32_t i = 0; i < COUNT(behind) && word; i++) fits = fits || sees(p, 1, behind[i]);
  Name misused = peek(p, 0)->name;
  fail(p, "a name");
  if (word) vec_push(p->arena, &p->misused, misused);
  if (!fits) return;
  p->panic = false;
  take_name(p, node);
}

// A name in a declaration.
void want_new_name(Parser *p, Syntax *node) {
  const Token *t = peek(p, 0);
  const char *text = t->kind == TK_NAME ? name_text(p->front->names, t->name) : "";
  if (strcmp(text, "R") == 0 || strcmp(text, "B") == 0)
    diag_error(p->front->diags, t->span, "`%s` names the %s; wanted another name", text,
               *text == 'R' ? "real numbers" : "bits");
  want_name(p, node);
}

void want_any_name(Parser *p, Syntax *node) {
  if (peek(p, 0)->kind == TK_WORD)
    take_name(p, node);
  else
    want_name(p, node);
}

void want_dotted_name(Parser *p, Syntax *node) {
  want_any_name(p, node);
  while (eat(p, ".")) {
    const Token *t = peek(p, 0);
    if (t->kind != TK_NAME && t->kind != TK_WORD) {
      fail(p, "a name behind the dot");
      return;
    }
    node->name = name_from(p->front->names,
                           arena_format(p->arena, "%s.%s", name_text(p->front->names, node->name),
                                        name_text(p->front->names, t->name)));
    node->name_span.n = t->span.at + t->span.n - node->name_span.at;
    p->at++;
  }
}

Syntax *node_name(Parser *p) {
  Syntax *node = node_new(p, N_NAME);
  want_name(p, node);
  return node_end(p, node);
}

Syntax *node_string(Parser *p, const char *wanted) {
  if (peek(p, 0)->kind != TK_STR) return error_node(p, wanted);
  Syntax *node = node_new(p, N_STR);
  node->text = name_text(p->front->names, peek(p, 0)->name);
  p->at++;
  return node_end(p, node);
}

Syntax *node_number(Parser *p, const char *wanted) {
  if (peek(p, 0)->kind != TK_NUM) return error_node(p, wanted);
  Syntax *node = node_new(p, N_NUM);
  node->num = peek(p, 0)->num;
  node->text = name_text(p->front->names, peek(p, 0)->name);
  p->at++;
  return node_end(p, node);
}

Syntax *parse_labelled(Parser *p, SyntaxKind kind, Syntax *(*value)(Parser *)) {
  Syntax *node = node_fixed(p, kind, 1);
  want_any_name(p, node);
  expect(p, ":");
  node->kid[0] = value(p);
  return node_end(p, node);
}

// -- chains of operators

typedef Syntax *Rule(Parser *, bool equal);

// sub { op sub }
static Syntax *parse_chain(Parser *p, SyntaxKind kind, const char *op, Rule *sub, bool equal) {
  uint32_t mark = p->stack.n;
  Syntax *first = sub(p, equal);
  if (!sees(p, 0, op)) return first;
  kid_push(p, first);
  while (eat(p, op)) kid_push(p, sub(p, equal));
  Syntax *node = node_new(p, kind);
  node->span = first->span;
  return kids_end(p, node, mark);
}

typedef struct {
  const char *text; // NULL at the end
  SyntaxSign sign;
} Infix;
static const Infix sum_signs[] = {{"+", SIGN_PLUS}, {"-", SIGN_MINUS}, {NULL, SIGN_NONE}};
static const Infix prod_signs[] = {{"*", SIGN_TIMES}, {"/", SIGN_DIVIDE}, {NULL, SIGN_NONE}};
static const Infix size_signs[] = {
    {"*", SIGN_TIMES}, {"/", SIGN_DIVIDE}, {"//", SIGN_DIVIDE_DOWN}, {NULL, SIGN_NONE}};

// sub { one of infix, sub }
static Syntax *parse_mixed_chain(Parser *p, SyntaxKind kind, const Infix *infix,
                                 Syntax *(*sub)(Parser *), Syntax *first) {
  uint32_t mark = p->stack.n;
  VEC(char) signs = {0};
  for (;;) {
    uint32_t i = 0;
    while (infix[i].text && !sees(p, 0, infix[i].text)) i++;
    if (!infix[i].text) break;
    if (p->stack.n == mark) kid_push(p, first);
    p->at++;
    vec_push(p->arena, &signs, (char)infix[i].sign);
    kid_push(p, sub(p));
  }
  if (p->stack.n == mark) return first;
  vec_push(p->arena, &signs, 0);
  Syntax *node = node_new(p, kind);
  node->span = first->span;
  node->signs = signs.at;
  return kids_end(p, node, mark);
}

// -- primaries

// list = "[" [ entry { "," entry } ] "]"          entry = expr | list
static Syntax *parse_list(Parser *p) {
  uint32_t open = p->at, mark = p->stack.n;
  Syntax *node = node_new(p, N_LIST);
  if (!deeper(p)) return node;
  p->at++;
  for (bool more = !sees(p, 0, "]"); more; more = eat(p, ",")) {
    uint32_t from = p->at;
    bool list = sees(p, 0, "[");
    kid_push(p, list ? parse_list(p) : parse_expr(p, false));
    for (uint32_t i = from + 1; i + 1 < p->at && !list; i++) // [0 -1]: probably two entries
      if (token_is(p, &p->token[i], "-") && p->token[i].spaced && p->token[i + 1].kind == TK_NUM &&
          !p->token[i + 1].spaced)
        diag_warning(p->front->diags, p->token[i].span,
                     "`-` here is an operator; put a comma if two entries were meant");
  }
  bool left_open = p->token[p->partner[open]].span.n == 0;
  if (!left_open && !sees(p, 0, "]")) fail(p, "`,` between the entries, or `]`");
  close_bracket(p, open, "");
  p->depth--;
  return kids_end(p, node, mark);
}

static Syntax *parse_compared(Parser *p) { return parse_expr(p, true); }

// "(" expr { "," expr } ")"                        one: grouping; several: a tuple
static Syntax *parse_paren(Parser *p) {
  Syntax *node = parse_bracketed(p, N_PAREN, parse_compared);
  if (node->nkid > 1) node->kind = N_TUPLE;
  return node;
}

// mode = on, last(mode) = on, M(mode: on): a keyword may name a mode
static bool sees_mode_name(const Parser *p) {
  if (p->at < 3 || peek(p, 0)->kind != TK_WORD) return false;
  const Token *op = &p->token[p->at - 1], *mode = op - 1;
  bool given = token_is(p, op, ":");
  if (token_is(p, mode, ")") && !given) mode--;
  return (mode->kind == TK_NAME || mode->kind == TK_WORD) &&
         !strcmp(name_text(p->front->names, mode->name), "mode") &&
         (given || token_is(p, op, "=") || token_is(p, op, "!="));
}

// primary = NUMBER | STRING | NAME | "next" NAME | list | "(" expr { "," expr } ")"
static Syntax *parse_primary(Parser *p) {
  switch ((TokenKind)peek(p, 0)->kind) {
  case TK_NUM: return node_number(p, "");
  case TK_STR: return node_string(p, "");
  case TK_NAME: return node_name(p);
  default: break;
  }
  if (sees(p, 0, "next") && !is_misused(p, peek(p, 0))) {
    Syntax *node = node_word(p, N_NEXT, 0);
    want_name(p, node);
    return node_end(p, node);
  }
  if (sees(p, 0, "[")) return parse_list(p);
  if (sees(p, 0, "(")) return parse_paren(p);
  if ((sees(p, 0, "mode") && !sees_name(p, 1)) ||
      sees_mode_name(p)) { // the mode of a machine, as a value
    p->token[p->at].kind = TK_NAME;
    return node_name(p);
  }
  return error_node(p, "an expression");
}

static bool sees_arg_label(const Parser *p) { // NAME { "." NAME } ":"
  uint32_t i = 0;
  while (sees_name(p, i) && sees(p, i + 1, ".")) i += 2;
  return i ? sees_name(p, i) && sees(p, i + 1, ":") : sees_label(p);
}

// NAME { "." NAME | brackets } ":", with brackets somewhere
static bool sees_place_label(const Parser *p) {
  uint32_t i = 1, open = 0;
  bool brackets = false;
  if (!sees_name(p, 0)) return false;
  for (; open || sees(p, i, "[") || (sees(p, i, ".") && sees_name(p, i + 1)); i++) {
    TokenKind kind = (TokenKind)peek(p, i)->kind;
    if (kind == TK_END || kind == TK_LINE) return false;
    open += sees(p, i, "[");
    open -= sees(p, i, "]");
    brackets |= open > 0;
    i += !open && sees(p, i, ".");
  }
  return brackets && sees(p, i, ":");
}

// x[0]: 1, p[1].x: 2
static Syntax *parse_place_arg(Parser *p) {
  Syntax *node = node_fixed(p, N_STEPPED, 2);
  node->kid[0] = parse_postfix(p);
  expect(p, ":");
  node->kid[1] = parse_compared(p);
  return node_end(p, node);
}

// A state of a part is one dotted name: bend.z.
static Syntax *parse_arg(Parser *p) {
  if (sees_place_label(p)) return parse_place_arg(p);
  if (!sees_arg_label(p)) return parse_expr(p, true);
  Syntax *node = node_fixed(p, N_ARG, 1);
  want_dotted_name(p, node);
  expect(p, ":");
  node->kid[0] = parse_compared(p);
  return node_end(p, node);
}

// "(" [ arg { "," arg } ] ")"             arg = [ NAME { "." NAME | brackets } ":" ] expr
static Syntax *parse_call(Parser *p, Syntax *callee) {
  uint32_t open = p->at, mark = p->stack.n;
  Syntax *node = node_new(p, N_CALL);
  node->span = callee->span;
  kid_push(p, callee);
  p->at++;
  for (bool more = !sees(p, 0, ")"); more; more = eat(p, ",")) kid_push(p, parse_arg(p));
  close_bracket(p, open, "`,` or ");
  return kids_end(p, node, mark);
}

// "over" ( NAME | "(" NAME { NAME } ")" )
static Syntax *parse_over(Parser *p, Syntax *base) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_OVER);
  node->span = base->span;
  p->at++;
  kid_push(p, base);
  uint32_t open = p->at;
  bool several = eat(p, "(");
  do kid_push(p, node_name(p));
  while (several && sees_name(p, 0));
  if (several) close_bracket(p, open, "another name or ");
  return kids_end(p, node, mark);
}

// apart.C.1: goals of a learning diagram that end in one space are numbered.
static bool sees_number_of_goal(Parser *p) {
  const Token *t = peek(p, 0);
  const char *text = t->kind == TK_NUM ? name_text(p->front->names, t->name) : "";
  return *text && strspn(text, "0123456789") == strlen(text);
}

static Syntax *parse_dot(Parser *p, Syntax *base) {
  Syntax *node = node_around(p, N_DOT, base, NULL);
  p->at++;
  if (sees_number_of_goal(p))
    take_name(p, node);
  else
    want_any_name(p, node);
  return node_end(p, node);
}

// postfix = primary { "(" args ")" | brackets | "." ( NAME | NUMBER ) | "over" … }
static Syntax *parse_links(Parser *p, Syntax *e, bool calls) {
  enum { LINKS = 32 }; // nesting depth in the tree
  for (uint32_t links = 0;; links++) {
    if (links > LINKS) too_deep(p);
    if (calls && sees(p, 0, "("))
      e = parse_call(p, e);
    else if (sees(p, 0, "["))
      e = node_around(p, N_AT, e, parse_brackets(p));
    else if (sees(p, 0, "."))
      e = parse_dot(p, e);
    else if (calls && sees(p, 0, "over"))
      e = parse_over(p, e);
    else
      return e;
  }
}

Syntax *parse_postfix(Parser *p) { return parse_links(p, parse_primary(p), true); }

Syntax *parse_soft_postfix(Parser *p) {
  if (!p->panic && p->token[p->at].kind == TK_WORD) p->token[p->at].kind = TK_NAME;
  return parse_postfix(p);
}

// path = NAME { "." ( NAME | NUMBER ) }
Syntax *parse_path(Parser *p) {
  Syntax *path = node_name(p);
  for (uint32_t links = 0; sees(p, 0, "."); links++)
    if (links < MAX_DEPTH)
      path = parse_dot(p, path);
    else
      too_deep(p);
  return path;
}

// -- expressions, tightest first

// power = postfix [ "^" [ "-" ] power ]
static Syntax *parse_power(Parser *p) {
  Syntax *base = parse_postfix(p);
  if (!sees(p, 0, "^") || !deeper(p)) return base;
  p->at++;
  Syntax *exponent = sees(p, 0, "-") ? parse_clause_of(p, N_NEG, parse_power) : parse_power(p);
  p->depth--;
  return node_around(p, N_POW, base, exponent);
}

static bool is_indexed(const Syntax *e) {
  while (e->kind == N_POW || e->kind == N_DOT) e = e->kid[0];
  return e->kind == N_AT;
}

// run = power { power }          goes on only behind an indexed term, before a NAME with "[" or "."
static Syntax *parse_run(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *first = parse_power(p), *last = first;
  while (is_indexed(last) && sees_name(p, 0) && (sees(p, 1, "[") || sees(p, 1, "."))) {
    if (p->stack.n == mark) kid_push(p, first);
    last = parse_power(p);
    if (!p->panic && !is_indexed(last)) {
      Id id = diag_error(p->front->diags, last->span,
                         "this term has no index, so an operator is wanted before it");
      diag_help(p->front->diags, id,
                "only indexed terms multiply side by side: write `*`, or `;` between boxes");
      p->panic = true;
    }
    kid_push(p, last);
  }
  if (p->stack.n == mark) return first;
  Syntax *node = node_new(p, N_RUN);
  node->span = first->span;
  return kids_end(p, node, mark);
}

// unary = "-" unary | run
static Syntax *parse_unary(Parser *p) {
  if (!sees(p, 0, "-")) return parse_run(p);
  Syntax *node = node_fixed(p, N_NEG, 1);
  if (!deeper(p)) return node_new(p, N_ERROR);
  p->at++;
  node->kid[0] = parse_unary(p);
  p->depth--;
  return node_end(p, node);
}

// Refuses a / b[i] c[i], which could be (a/b)c or a/(bc).
static void check_division(Parser *p, const Syntax *prod) {
  for (uint32_t i = 1; i < prod->nkid; i++) {
    const Syntax *by = prod->kid[i];
    if (by->kind == N_NEG) by = by->kid[0];
    if (prod_sign(prod, i) != SIGN_DIVIDE || by->kind != N_RUN) continue;
    Id id = diag_error(p->front->diags, by->span,
                       "a product of terms side by side is ambiguous after `/`");
    diag_help(p->front->diags, id, "write `a / (b[i] c[i])`, or `a / b[i] * c[i]`");
    p->panic = true;
  }
}

// prod = unary { ("*"|"/") unary }
static Syntax *parse_prod(Parser *p) {
  Syntax *node = parse_mixed_chain(p, N_PROD, prod_signs, parse_unary, parse_unary(p));
  if (node->kind == N_PROD && !p->panic) check_division(p, node);
  return node;
}

// sum = prod { ("+"|"-") prod }
Syntax *parse_sum(Parser *p) {
  return parse_mixed_chain(p, N_SUM, sum_signs, parse_prod, parse_prod(p));
}

SyntaxSign comparison(const Parser *p, bool equal) {
  static const char *const text[] = {"!=", "<", ">", ">=", "=", "<="};
  static const SyntaxSign sign[] = {SIGN_UNEQUAL,  SIGN_LESS,  SIGN_MORE,
                                    SIGN_AT_LEAST, SIGN_EQUAL, SIGN_AT_MOST};
  for (uint32_t i = 0; i < (equal ? 6 : 4); i++)
    if (sees(p, 0, text[i])) return sign[i];
  return SIGN_NONE;
}

// cmp = sum [ op sum ]
static Syntax *parse_cmp(Parser *p, bool equal) {
  Syntax *left = parse_sum(p);
  SyntaxSign sign = comparison(p, equal);
  if (!sign) return left;
  p->at++;
  Syntax *right = parse_sum(p);
  Syntax *node = node_around(p, N_CMP, left, right);
  syntax_signed(p->arena, node, sign);
  if (comparison(p, equal)) fail(p, "one comparison (join two with `and`)");
  return node;
}

// not = "not" not | cmp
static Syntax *parse_not(Parser *p, bool equal) {
  if (!sees(p, 0, "not")) return parse_cmp(p, equal);
  Syntax *node = node_fixed(p, N_NOT, 1);
  if (!deeper(p)) return node_new(p, N_ERROR);
  p->at++;
  node->kid[0] = parse_not(p, equal);
  p->depth--;
  return node_end(p, node);
}

// or = and { "or" and }      and = not { "and" not }
static Syntax *parse_and(Parser *p, bool equal) {
  return parse_chain(p, N_AND, "and", parse_not, equal);
}
static Syntax *parse_or(Parser *p, bool equal) {
  return parse_chain(p, N_OR, "or", parse_and, equal);
}
// pipe = fan { ";" fan }     fan = or { "&" or }
static Syntax *parse_fan(Parser *p, bool equal) {
  return parse_chain(p, N_FAN, "&", parse_or, equal);
}
static Syntax *parse_pipe(Parser *p, bool equal) {
  return parse_chain(p, N_PIPE, ";", parse_fan, equal);
}

Syntax *parse_cond(Parser *p) { return parse_or(p, true); }

// ◆ `when` belongs to the expression only if `else` follows on the line at the same depth.
static bool else_follows(const Parser *p) {
  for (uint32_t i = p->at;; i++) {
    const Token *t = &p->token[i];
    if (t->kind == TK_LINE || t->kind == TK_END) return false;
    if (token_is(p, t, "else")) return true;
    if (t->kind != TK_SYMBOL) continue;
    if (strchr("([{", t->symbol[0]))
      i = p->partner[i];
    else if (strchr(")]},", t->symbol[0]))
      return false;
  }
}

// expr = pipe [ "when" cond "else" expr ]
Syntax *parse_expr(Parser *p, bool equal) {
  if (!deeper(p)) return node_new(p, N_ERROR);
  Syntax *e = parse_pipe(p, equal);
  if (sees(p, 0, "when") && else_follows(p)) {
    Syntax *node = node_word(p, N_WHEN, 3);
    node->span = e->span;
    node->kid[0] = e;
    node->kid[1] = parse_cond(p);
    expect_after_term(p, "else");
    node->kid[2] = parse_expr(p, equal);
    e = node_end(p, node);
  }
  p->depth--;
  return e;
}

// -- brackets

static Syntax *parse_items(Parser *p, const char *closer);

// "[" [ bitem { "," bitem } ] "]" into a node. False: nested too deeply.
static bool parse_slots(Parser *p, Syntax *node, const char *closer) {
  uint32_t open = p->at, mark = p->stack.n;
  if (!deeper(p)) return false;
  p->at++;
  for (bool more = !sees(p, 0, closer); more; more = eat(p, ","))
    kid_push(p, parse_items(p, closer));
  close_bracket(p, open, "`,` or ");
  p->depth--;
  kids_end(p, node, mark);
  return true;
}

// "(" [ bitem { "," bitem } ] ")"                  one item: grouping; more: an axis group or a box
static Syntax *parse_group(Parser *p) {
  Syntax *node = node_new(p, N_GROUP);
  if (!parse_slots(p, node, ")")) return node_new(p, N_ERROR);
  Syntax *only = node->nkid == 1 && node->kid[0]->nkid == 1 ? node->kid[0]->kid[0] : NULL;
  if (only && only->kind != N_SPREAD) {
    node->kind = N_PAREN;
    node->kid[0] = only;
  }
  return node;
}

// satom = NUMBER | STRING | NAME { "." NAME | brackets } | "(" … ")"
static Syntax *parse_satom(Parser *p) {
  const Token *t = peek(p, 0);
  if (t->kind == TK_NUM) return node_number(p, "");
  if (t->kind == TK_STR) return node_string(p, "");
  if (sees(p, 0, "(")) return parse_group(p);
  if (t->kind != TK_NAME)
    return error_node(p, sees(p, 0, "=")   ? "`:` (an option is given as `name: value`)"
                         : sees(p, 0, ":") ? "`..` (a range is written `0..3`)"
                                           : "a size, an index or an axis");
  return parse_links(p, node_name(p), false);
}

// sfact = satom [ "^" sfact ]
static Syntax *parse_sfact(Parser *p) {
  Syntax *base = parse_satom(p);
  if (!sees(p, 0, "^") || !deeper(p)) return base;
  p->at++;
  Syntax *exponent = parse_sfact(p);
  p->depth--;
  return node_around(p, N_POW, base, exponent);
}

// sterm = sfact { ("*"|"/"|"//") sfact }
static Syntax *parse_sterm(Parser *p) {
  return parse_mixed_chain(p, N_PROD, size_signs, parse_sfact, parse_sfact(p));
}

// Warns about [0 -1], where the minus is an operator though the spacing suggests two entries.
static Syntax *parse_sterm_after_sign(Parser *p) {
  const Token *sign = &p->token[p->at - 1], *t = peek(p, 0);
  if (t->kind == TK_NUM && sign->spaced && !t->spaced)
    diag_warning(p->front->diags, sign->span,
                 "`%s` here is an operator; put a comma if two entries were meant", sign->symbol);
  return parse_sterm(p);
}

// size = [ "-" ] sterm { ("+"|"-") sterm }
static Syntax *parse_signed_size(Parser *p, bool may_be_negative) {
  Syntax *first;
  if (may_be_negative && sees(p, 0, "-"))
    first = parse_clause_of(p, N_NEG, parse_sterm);
  else
    first = parse_sterm(p);
  return parse_mixed_chain(p, N_SUM, sum_signs, parse_sterm_after_sign, first);
}

static Syntax *parse_named_size(Parser *p) { return parse_signed_size(p, true); }

Syntax *parse_size(Parser *p) { return parse_signed_size(p, false); }

// item = "..." NAME | NAME ":" size | size [ ".." size ]
static Syntax *parse_item(Parser *p, bool first) {
  if (sees(p, 0, "...")) {
    Syntax *node = node_word(p, N_SPREAD, 0);
    if (peek(p, 0)->kind == TK_NUM)
      fail(p, "a name (a range has two dots, `0..3`)");
    else
      want_name(p, node);
    return node_end(p, node);
  }
  if (sees_label(p)) return parse_labelled(p, N_SIZED, parse_named_size);
  Syntax *e = parse_signed_size(p, first);
  return eat(p, "..") ? node_around(p, N_RANGE, e, parse_size(p)) : e;
}

// item { (";"|"&") item }                          a box composed in brackets; & binds tighter
static Syntax *parse_item_pipe(Parser *p, Syntax *item) {
  uint32_t mark = p->stack.n;
  Syntax *pipe = node_new(p, N_PIPE);
  pipe->span = item->span;
  for (;;) {
    uint32_t fan_mark = p->stack.n;
    Syntax *fan = node_new(p, N_FAN);
    fan->span = item->span;
    kid_push(p, item);
    while (eat(p, "&")) kid_push(p, parse_item(p, false));
    kids_end(p, fan, fan_mark);
    kid_push(p, fan->nkid > 1 ? fan : item);
    if (!eat(p, ";")) break;
    item = parse_item(p, false);
  }
  kids_end(p, pipe, mark);
  return pipe->nkid > 1 ? pipe : pipe->kid[0];
}

// bitem = item { item } | item { (";"|"&") item }
static Syntax *parse_items(Parser *p, const char *closer) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_ITEMS);
  Syntax *item = parse_item(p, true);
  if (sees(p, 0, ";") || sees(p, 0, "&")) {
    kid_push(p, parse_item_pipe(p, item));
  } else {
    kid_push(p, item);
    while (!p->panic && !sees(p, 0, ",") && !sees(p, 0, closer)) kid_push(p, parse_item(p, false));
  }
  return kids_end(p, node, mark);
}

// brackets = "[" [ bitem { "," bitem } ] "]"
Syntax *parse_brackets(Parser *p) {
  Syntax *node = node_new(p, N_BRACKETS);
  parse_slots(p, node, "]");
  return node;
}

// range = size ".." size | list
Syntax *parse_range(Parser *p) {
  if (sees(p, 0, "[")) return parse_list(p);
  Syntax *first = parse_size(p);
  if (!eat(p, "..")) return fail(p, "`..` (a range is written `1..4`)"), first;
  return node_around(p, N_RANGE, first, parse_size(p));
}

// -- types

// labels = "{" size { "," size } "}"
static Syntax *parse_type_base(Parser *p) {
  if (sees(p, 0, "{")) return parse_bracketed(p, N_LABELS, parse_size);
  if (peek(p, 0)->kind == TK_STR) return node_string(p, "");
  if (peek(p, 0)->kind == TK_NAME) return parse_path(p);
  if (!sees(p, 0, "(")) return error_node(p, "a type");
  uint32_t open = p->at++;
  Syntax *types = parse_types(p);
  close_bracket(p, open, "`,` or ");
  types->span.at = p->token[open].span.at;
  return node_end(p, types);
}

// type = ( NAME { "." NAME } | STRING | labels | "(" types ")" ) [ brackets ]
Syntax *parse_type(Parser *p) {
  Syntax *node = node_fixed(p, N_TYPE, 2);
  if (!deeper(p)) {
    node->kid[0] = node_new(p, N_ERROR);
    return node;
  }
  node->kid[0] = parse_type_base(p);
  if (sees(p, 0, "[")) node->kid[1] = parse_brackets(p);
  p->depth--;
  return node_end(p, node);
}

// types = type { "," type }                        ◆ stops before `, b :`, which is a parameter
Syntax *parse_types(Parser *p) {
  uint32_t mark = p->stack.n;
  Syntax *node = node_new(p, N_TYPES);
  kid_push(p, parse_type(p));
  while (sees(p, 0, ",") && !names_lead_to(p, 1, ":")) {
    p->at++;
    kid_push(p, parse_type(p));
  }
  return kids_end(p, node, mark);
}

// sig = types [ "->" types ]
Syntax *parse_sig(Parser *p) {
  Syntax *node = node_fixed(p, N_SIG, 2);
  node->kid[0] = parse_types(p);
  if (eat(p, "->")) node->kid[1] = parse_types(p);
  return node_end(p, node);
}

// ◆ Does the list NAME [ "'" ] [ brackets ] { "," … } lead to `symbol`? Each list is scanned only
// once; its extent is cached in `names`.
bool names_lead_to(Parser *p, uint32_t ahead, const char *symbol) {
  if (p->panic) return false;
  uint32_t from = p->at + ahead, i = from;
  if (from < p->names.from || from >= p->names.to) {
    for (;;) {
      if (p->token[i].kind != TK_NAME) break;
      i++;
      if (token_is(p, &p->token[i], "'")) i++;
      if (token_is(p, &p->token[i], "[")) i = p->partner[i] + 1;
      if (!token_is(p, &p->token[i], ",")) break;
      i++;
    }
    p->names.from = from;
    p->names.to = i;
  }
  return p->names.to > from && token_is(p, &p->token[p->names.to], symbol);
}
