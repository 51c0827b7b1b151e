// The syntax tree: its parser and its formatter. It has no semantics.
//
//   Syntax *program = parse(&(Front){arena, names, diags, sources}, file);
//   format_program(...)
//
// All nodes have one struct: kind, span, atom, kids. The accessors of each kind are generated from
// nodes.def, the grammar of the tree; other rooms use only them, never `kid` or `signs`.
#ifndef LIMN_LANG_SYNTAX_SYNTAX_H
#define LIMN_LANG_SYNTAX_SYNTAX_H

#include "base/base.h"

typedef enum {
#define NODE(KIND, Kind, kind) N_##KIND,
#define LEAF(KIND, kind) N_##KIND,
#include "lang/syntax/nodes.def"
  N_KINDS
} SyntaxKind;

// The operator between two kids, or the variant of a node, as one character.
typedef enum {
  SIGN_NONE = 0,
  SIGN_PLUS = '+',
  SIGN_MINUS = '-',
  SIGN_TIMES = '*',
  SIGN_DIVIDE = '/',
  SIGN_DIVIDE_DOWN = '%', // written //
  SIGN_EQUAL = '=',
  SIGN_UNEQUAL = '!',
  SIGN_LESS = '<',
  SIGN_MORE = '>',
  SIGN_AT_MOST = 'l',
  SIGN_AT_LEAST = 'g',
  SIGN_SPREAD = '.', // ...name
  SIGN_RATE = '\'',
  SIGN_DOWN = 'd', // for i in 1..4 down
  SIGN_EVERY = 'e',
  SIGN_BY = 'b',
  SIGN_FREEZE = 'f',
  SIGN_SET = 's',
  SIGN_REPLACE = 'r',
  SIGN_ONLY = 'o', // f <= g only
  SIGN_MACHINE = 'm',
  SIGN_SHARE = 'h',
  SIGN_WIRING = 'w',
  SIGN_STOP = 'p' // mode done stop
} SyntaxSign;

typedef struct Syntax {
  uint8_t kind;
  uint32_t nkid;
  Span span;      // of the whole construct
  Span name_span; // of the name, if there is one
  Name name;
  double num;
  const char *text;  // N_NUM, N_STR, N_USE
  const char *signs; // an array of SyntaxSign
  struct Syntax **kid;
} Syntax;

typedef struct {
  uint32_t n;
  Syntax **at;
} Nodes;

typedef struct {
  Arena *arena;
  Names *names;
  Diags *diags;
  Sources *sources;
} Front;

// lex.c
typedef enum { TK_END, TK_LINE, TK_NAME, TK_WORD, TK_NUM, TK_STR, TK_SYMBOL } TokenKind;
typedef struct {
  uint8_t kind;
  bool spaced;    // preceded by white space
  bool first;     // stands in column 1
  char symbol[4]; // TK_SYMBOL: the symbol, or "?" for an error already reported
  Name name;      // TK_NAME, TK_WORD, TK_NUM: as written; TK_STR: unescaped
  double num;
  Span span;
} Token;
typedef struct {
  Token *at;
  uint32_t n; // the last is TK_END
} Tokens;
Tokens lex(const Front *, uint32_t file);
bool is_reserved(const char *word);
bool is_declaration_word(const char *word); // a keyword that begins a declaration

// parse.c
Syntax *parse(const Front *, uint32_t file); // always an N_PROGRAM; errors are in diags

// tree.c
const char *node_kind_name(SyntaxKind);
void tree_print(const Names *, const Syntax *, Buf *); // as an S-expression, for tests
bool tree_equal(const Syntax *, const Syntax *);       // ignores spans

// tree.c: synthesised nodes
#define NODES(...)                                                                                 \
  ((Nodes){sizeof((Syntax *[]){__VA_ARGS__}) / sizeof(Syntax *), (Syntax *[]){__VA_ARGS__}})
Syntax *syntax_new(Arena *, SyntaxKind, Span, Nodes parts, Nodes rest); // lists are copied
Syntax *syntax_name(Arena *, Name, Span);
Syntax *syntax_num(Arena *, double, Span);
Syntax *syntax_number(Arena *, double, Span);         // with its text
Syntax *syntax_signed(Arena *, Syntax *, SyntaxSign); // returns the same node
Syntax *syntax_named(Syntax *, Name, Span);           // likewise
Syntax *syntax_copy(Arena *, const Syntax *);         // shallow: the kids are shared
void syntax_become_name(Syntax *, Name);              // in place
Nodes nodes_join(Arena *, Nodes, Nodes);
Syntax *brackets_of(Arena *, Span, Nodes items); // [a b c]
Nodes lines_of_block(const Syntax *);            // of a block; of any other node and NULL: none
Nodes brackets_items(const Syntax *);            // a b c of [a b c]; of [a, b], [] and NULL: none
Syntax *brackets_first(const Syntax *);          // the first slot; of [] and NULL: NULL
Syntax *slot_item(const Syntax *);               // its only item; otherwise the node itself

// tree.c: for every kind
typedef bool SyntaxTest(void *context, const Syntax *);
typedef Syntax *SyntaxMap(void *context, const Syntax *);
Nodes syntax_parts(const Syntax *); // in order; NULL for a missing part
void syntax_put(Syntax *, uint32_t i, Syntax *part);
const char *syntax_signs(const Syntax *); // as text, "" if there are none
bool syntax_any(const Syntax *, SyntaxTest *,
                void *context); // tests a node and its descendants; false for NULL
Syntax *syntax_map(Arena *, const Syntax *, SyntaxMap *,
                   void *context); // maps each part; returns the same node if none changed

// tree.c: accessors for several kinds
Nodes chain_terms(const Syntax *);                 // of ; & + * and or, a run, a tuple
SyntaxSign chain_sign(const Syntax *, uint32_t i); // of + and *: before term i, i > 0
Syntax *inner_of(const Syntax *);                  // of ( ), minus, not
Syntax *first_box(const Syntax *); // of (f), f ; g, f & g, f ^ 2, f over h, f when c else g
Syntax *
claim_left(const Syntax *claim); // l of l ~ r, x of `maximise x`; otherwise the value itself
Syntax *clause(const Syntax *, SyntaxKind); // NULL if absent
Syntax *clause_value(const Syntax *);       // of a clause that has one
Syntax *declared_params(const Syntax *);    // of a box, a machine, a learner
Syntax *declared_result(const Syntax *);
Syntax *declared_body(const Syntax *);
void declared_set_result(Syntax *, Syntax *);
void declared_set_body(Syntax *, Syntax *);

Syntax *path_base(const Syntax *); // of p.q, p[i]
Syntax *path_root(const Syntax *); // p of p.q[i].r

// A use is a name or a path, with optional brackets, optionally called.
Syntax *use_base(const Syntax *);     // without its brackets
Syntax *use_brackets(const Syntax *); // NULL if absent
Syntax *use_callee(const Syntax *);   // the callee of a call; otherwise the node itself
Syntax *arg_given(const Syntax *);    // the value of a named argument; otherwise the node itself
static inline Syntax *nodes_only(Nodes list) { return list.n == 1 ? list.at[0] : NULL; }
static inline Nodes nodes_from(Nodes list, uint32_t first) {
  return (Nodes){list.n - first,
                 first ? list.at + first : list.at}; // an empty list has no address to offset
}

// format.c
void format_program(const Front *, uint32_t file, const Syntax *program,
                    Buf *out); // keeps comments

// -- generated accessors --------------------------------------------------------------------------
// Of each kind, here N_CALL: call_callee(n), call_args(n), call_set_callee(n, to), and the
// constructor node_call(arena, span, (CallParts){.callee = f, .args = NODES(x, y)}). With
// LIMN_GUARD each asserts the kind of `n`.
#ifdef LIMN_GUARD
#include <assert.h>
#define SYNTAX_IS(n, KIND) assert((n)->kind == (KIND))
#else
#define SYNTAX_IS(n, KIND) ((void)0)
#endif

#define NODE(KIND, Kind, kind)                                                                     \
  enum { syntax_##kind##_kind = N_##KIND };                                                        \
  enum {
#define PART(kind, part) syntax_##kind##_##part,
#define END(Kind, kind)                                                                            \
  syntax_##kind##_fixed                                                                            \
  }                                                                                                \
  ;
#include "lang/syntax/nodes.def"

#define NODE(KIND, Kind, kind) typedef struct {
#define PART(kind, part) Syntax *part;
#define MANY(kind, parts) Nodes parts;
#define END(Kind, kind)                                                                            \
  }                                                                                                \
  Kind##Parts;
#include "lang/syntax/nodes.def"

#define NODE(KIND, Kind, kind)                                                                     \
  static inline Syntax *node_##kind(Arena *a, Span span, Kind##Parts of) {                         \
    Syntax *fixed[syntax_##kind##_fixed + 1];                                                      \
    Nodes rest = {0, NULL};                                                                        \
    uint32_t n = 0;
#define PART(kind, part) fixed[n++] = of.part;
#define MANY(kind, parts) rest = of.parts;
#define END(Kind, kind)                                                                            \
  return syntax_new(a, (SyntaxKind)syntax_##kind##_kind, span, (Nodes){n, fixed}, rest);           \
  }
#include "lang/syntax/nodes.def"

#define PART(kind, part)                                                                           \
  static inline Syntax *kind##_##part(const Syntax *n) {                                           \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    return syntax_##kind##_##part < n->nkid ? n->kid[syntax_##kind##_##part] : NULL;               \
  }                                                                                                \
  static inline void kind##_set_##part(Syntax *n, Syntax *to) {                                    \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    syntax_put(n, syntax_##kind##_##part, to);                                                     \
  }
#define MANY(kind, parts)                                                                          \
  static inline Nodes kind##_##parts(const Syntax *n) {                                            \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    return nodes_from((Nodes){n->nkid, n->kid}, syntax_##kind##_fixed);                            \
  }
#define SIGNS(kind, sign)                                                                          \
  static inline SyntaxSign kind##_##sign(const Syntax *n, uint32_t i) {                            \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    return i ? (SyntaxSign)n->signs[i - 1] : SIGN_NONE;                                            \
  }
#define SIGN(kind, sign)                                                                           \
  static inline SyntaxSign kind##_##sign(const Syntax *n) {                                        \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    return n->signs ? (SyntaxSign)n->signs[0] : SIGN_NONE;                                         \
  }
#define FLAG(kind, is, WHICH)                                                                      \
  static inline bool kind##_##is(const Syntax *n) {                                                \
    SYNTAX_IS(n, syntax_##kind##_kind);                                                            \
    return n->signs && n->signs[0] == SIGN_##WHICH;                                                \
  }
#include "lang/syntax/nodes.def"

#endif
