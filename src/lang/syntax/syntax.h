// front: text to syntax tree, and back. Knows words, not meanings.
//
//   Syntax *program = parse(&(Front){arena, names, diags, sources}, file);
//   format_program(...)
//
// The tree is uniform: a kind, a span, an atom and kids. The table below is its grammar; a kid
// marked ? may be NULL, kids marked * are any number.
#ifndef LIMN_LANG_SYNTAX_SYNTAX_H
#define LIMN_LANG_SYNTAX_SYNTAX_H

#include "base/base.h"

typedef enum {
  N_ERROR, // N_NAME*                  could not be parsed, already reported; what it would have
           // declared
  // -- expressions
  N_NUM,   // num, text as written
  N_STR,   // text, unescaped, without quotes
  N_NAME,  // name
  N_NEXT,  // name                     next v
  N_LIST,  // entry*                   [1, 2], nested lists
  N_PAREN, // expr                     (a)
  N_TUPLE, // expr expr*               (a, b)
  N_CALL,  // callee arg*              an arg is an expr or N_ARG
  N_ARG,   // name; expr               rate: 0.1
  N_AT,    // base brackets            x[i j]
  N_DOT,   // name; base               set.field
  N_OVER,  // base N_NAME*             f(x) over h
  N_PIPE,  // expr expr*               f ; g ; h
  N_FAN,   // expr expr*               f & g
  N_SUM,   // expr expr*, op[i] of + - stands before kid i+1
  N_PROD,  // expr expr*, op[i] of * / and % (for //, in sizes only)
  N_RUN,   // expr expr*               a[i] b[i]
  N_POW,   // expr expr
  N_NEG,   // expr
  N_NOT,   // expr
  N_AND,   // expr expr*
  N_OR,    // expr expr*
  N_CMP,   // expr expr, op[0] of = ! < > l (<=) g (>=)
  N_WHEN,  // then cond else
  // -- brackets and types
  N_BRACKETS, // item-list*            what stands between commas
  N_ITEMS,  // item item*            separated by spaces; a single item, or N_PIPE, N_FAN, too is an
            // N_ITEMS
  N_SPREAD, // name                  ...s
  N_SIZED,  // name; size            h:28   (also an argument by name: stride: 2)
  N_RANGE,  // size size             0..t-1
  N_GROUP,  // item-list*            (h w) and (...s); items are as in N_BRACKETS; one item (h) is
            // N_PAREN
  N_TYPE,   // base brackets?        base: N_NAME, N_DOT, N_STR, N_LABELS or N_TYPES
  N_LABELS, // size size*            {10}, {A, B}
  N_TYPES,  // type type*
  N_SIG,    // N_TYPES N_TYPES?      A, B -> C;  the second is absent when there is no arrow
  // -- declarations
  N_PROGRAM, // declaration*
  N_USE,     // text
  N_AXES,    // N_AXIS*
  N_AXIS,    // name; size?
  N_CONSTS,  // N_TYPED*
  N_TYPED,   // name; brackets? type? expr?
  N_SPACE,   // name; N_TYPES distance?
  N_BOX, // name; N_CFG? N_PARAMS? result? body reverse?     result: N_SIG (after ":"), N_TYPES or
         // N_PARAMS (named)
         //       body: an expr, N_PADDED, N_BLOCK; reverse: N_NAME
  N_CFG, // N_CFGPAR*
  N_CFGPAR,   // name, op[0] = '.' for ...name; default?
  N_PARAMS,   // N_PARAM*
  N_PARAM,    // name; type?          (a, b: R[n]): the type node of b is a's as well
  N_PADDED,   // expr pad
  N_BLOCK,    // statement*
  N_LEARN,    // N_LEARNER*
  N_LEARNER,  // N_NAMES brackets? N_PARAMS? result? body? N_STR?
  N_NAMES,    // N_NAME*
  N_REFINE,   // name; N_PARAMS? body
  N_FREEZE,   // N_NAMES-of-paths path?                            paths are N_NAME, N_DOT, N_AT
  N_STALE,    // name, op[0] = 'e' every / 'b' by; path number
  N_GIVEN,    // N_PARAMS source
  N_GOAL,     // name (0 if none); claim clause*
  N_MEASURE,  // name; claim-or-expr clause*
  N_EQUAL,    // expr expr            l ~ r
  N_MAXIMISE, // expr
  N_MINIMISE, // expr
  N_TRAIN,    // name = the unit; path? N_NUM option*              option: N_ARG(gen: adam(..)), or
              // N_OPTION
  N_OPTION,   // expr value?          batch 64, clip 1, adam(0.1), turns[..]
  N_SHOW,     // N_TUPLE-or-expr clause*
  N_BY,       // clause: distance
  N_TRAINS,   // clause: target*      N_NAME, N_DOT, N_AT
  N_TIMES,    // clause: expr
  N_ON,       // clause: source
  N_EVERY,    // clause: expr
  N_AS,       // clause: view*        N_NAME or N_AT
  N_FORIN,    // clause: name; range  for t in [..]
  N_REFIT,    // clause: name = the unit; N_NUM option*             options as in N_TRAIN
  N_FOR, // name, op[0] = 'd' if down; range body(N_BLOCK or N_PROGRAM)    range: N_RANGE or N_LIST
  N_OPTIMISER, // name; N_PARAMS-of-N_ARG? N_BLOCK of N_STATES, N_LOOK, N_STEP
  N_STATES,    // N_TYPED*
  N_LOOK,      // expr
  N_STEP,      // name; brackets? expr cond?                        next v = e when c
  N_STEPBY,    // name; brackets? optimiser expr cond?              next v by gd(0.1) on e
  // -- learning diagrams
  N_DIAGRAM, // name; N_NAMES-of-parts? N_NAMES-of-paths? N_BLOCK?     parts are paths, or N_ARG for
             // `two as b`; in the block: N_SPACE (types?), N_BOX (body?), N_LEARN, N_MOST,
             // N_FREEZE, N_ORDER
  N_MOST,    // N_BOX-or-N_LEARN N_NUM   at most 3 times
  N_ORDER,   // route route times?       a route is a path or N_PIPE of paths
  N_FIND,    // op[0] of f (freeze) s (set) r (replace); route path expr?
  N_SET,     // path expr-or-N_TYPES distance?
  // -- statements
  N_EQUATION, // N_LHSS expr pad? cond?
  N_LHSS,     // N_LHS*
  N_LHS,      // name, op = "'" for a rate; brackets?
  N_RETURN,   // N_EQUATION, or N_TUPLE-or-expr pad?
  // -- machines
  N_MACHINE,  // name, op[0] of m (machine) s (share) w (wiring); N_CFG? N_PARAMS? result? body
              // in the block: N_STATES, N_STEP, N_STEPBY, N_CONSTS, N_AXES, N_FOR, N_MODE, N_JUMP,
              // N_PART, N_EQUATION, N_ROUTE, N_CALL
  N_MODE,     // name; N_PARAMS? result? N_BLOCK
  N_JUMP,     // name; cond
  N_PART,     // N_LHSS postfix every?     worker[k] : Worker
  N_ROUTE,    // expr postfix cond? pad?   a -> n.a when c
  N_SIMULATE, // name (0 if none); postfix clause*     run Ecosystem(rabbits: 10) to 100
  N_LASTS,    // clause: name = the unit; expr         for 6000 ticks
  N_TO,       // clause: expr
  N_CHECK,    // target? expr expr? within?
  N_KINDS
} SyntaxKind;

typedef struct Syntax {
  uint8_t kind;
  uint32_t nkid;
  Span span;      // the whole construct
  Span name_span; // where the name stands, when there is one
  Name name;
  double num;
  const char *text; // N_NUM, N_STR, N_USE
  const char *op;   // one character for each operator
  struct Syntax **kid;
} Syntax;

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
  bool spaced;    // white space stands before it
  bool first;     // stands in column 1
  char symbol[4]; // TK_SYMBOL: the symbol, or "?" for what is already reported
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

// parse.c
Syntax *parse(const Front *, uint32_t file); // N_PROGRAM, always; errors are in diags

// tree.c
const char *node_kind_name(SyntaxKind);
void tree_print(const Names *, const Syntax *, Buf *); // as an S-expression, for tests
bool tree_equal(const Syntax *, const Syntax *);       // up to spans

// format.c
void format_program(const Front *, uint32_t file, const Syntax *program,
                    Buf *out); // keeps comments

#endif
