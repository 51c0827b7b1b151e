// The syntax tree as such: names of its kinds, printing for tests, equality.
//
// Printed, a node is (kind name text op kid …), with what it has: `x[i] + 1` is
// (sum "+" (at (name x) (brackets (items (name i)))) (num 1)). An absent kid is _.
#include "lang/syntax/syntax.h"

static const char *const kind_names[] = {[N_ERROR] = "error",
                                         [N_NUM] = "num",
                                         [N_STR] = "str",
                                         [N_NAME] = "name",
                                         [N_NEXT] = "next",
                                         [N_LIST] = "list",
                                         [N_PAREN] = "paren",
                                         [N_TUPLE] = "tuple",
                                         [N_CALL] = "call",
                                         [N_ARG] = "arg",
                                         [N_AT] = "at",
                                         [N_DOT] = "dot",
                                         [N_OVER] = "over",
                                         [N_PIPE] = "pipe",
                                         [N_FAN] = "fan",
                                         [N_SUM] = "sum",
                                         [N_PROD] = "prod",
                                         [N_RUN] = "run",
                                         [N_POW] = "pow",
                                         [N_NEG] = "neg",
                                         [N_NOT] = "not",
                                         [N_AND] = "and",
                                         [N_OR] = "or",
                                         [N_CMP] = "cmp",
                                         [N_WHEN] = "when",
                                         [N_BRACKETS] = "brackets",
                                         [N_ITEMS] = "items",
                                         [N_SPREAD] = "spread",
                                         [N_SIZED] = "sized",
                                         [N_RANGE] = "range",
                                         [N_GROUP] = "group",
                                         [N_TYPE] = "type",
                                         [N_LABELS] = "labels",
                                         [N_TYPES] = "types",
                                         [N_SIG] = "sig",
                                         [N_PROGRAM] = "program",
                                         [N_USE] = "use",
                                         [N_AXES] = "axes",
                                         [N_AXIS] = "axis",
                                         [N_CONSTS] = "consts",
                                         [N_TYPED] = "typed",
                                         [N_SPACE] = "space",
                                         [N_BOX] = "box",
                                         [N_CFG] = "cfg",
                                         [N_CFGPAR] = "cfgpar",
                                         [N_PARAMS] = "params",
                                         [N_PARAM] = "param",
                                         [N_PADDED] = "padded",
                                         [N_BLOCK] = "block",
                                         [N_LEARN] = "learn",
                                         [N_LEARNER] = "learner",
                                         [N_NAMES] = "names",
                                         [N_REFINE] = "refine",
                                         [N_FREEZE] = "freeze",
                                         [N_STALE] = "stale",
                                         [N_GIVEN] = "given",
                                         [N_GOAL] = "goal",
                                         [N_MEASURE] = "measure",
                                         [N_EQUAL] = "equal",
                                         [N_MAXIMISE] = "maximise",
                                         [N_MINIMISE] = "minimise",
                                         [N_TRAIN] = "train",
                                         [N_OPTION] = "option",
                                         [N_SHOW] = "show",
                                         [N_BY] = "by",
                                         [N_TRAINS] = "trains",
                                         [N_REFIT] = "refit",
                                         [N_TIMES] = "times",
                                         [N_ON] = "on",
                                         [N_EVERY] = "every",
                                         [N_AS] = "as",
                                         [N_FORIN] = "forin",
                                         [N_FOR] = "for",
                                         [N_OPTIMISER] = "optimiser",
                                         [N_STATES] = "states",
                                         [N_LOOK] = "look",
                                         [N_STEP] = "step",
                                         [N_DIAGRAM] = "diagram",
                                         [N_MOST] = "most",
                                         [N_ORDER] = "order",
                                         [N_FIND] = "find",
                                         [N_SET] = "set",
                                         [N_EQUATION] = "equation",
                                         [N_LHSS] = "lhss",
                                         [N_LHS] = "lhs",
                                         [N_RETURN] = "return",
                                         [N_STEPBY] = "stepby",
                                         [N_MACHINE] = "machine",
                                         [N_MODE] = "mode",
                                         [N_JUMP] = "jump",
                                         [N_PART] = "part",
                                         [N_ROUTE] = "route",
                                         [N_SIMULATE] = "simulate",
                                         [N_LASTS] = "lasts",
                                         [N_TO] = "to",
                                         [N_CHECK] = "check"};
_Static_assert(sizeof kind_names / sizeof kind_names[0] == N_KINDS, "a kind has no name");

const char *node_kind_name(SyntaxKind kind) { return kind < N_KINDS ? kind_names[kind] : "?"; }

void tree_print(const Names *names, const Syntax *node, Buf *out) {
  if (!node) {
    buf_char(out, '_');
    return;
  }
  buf_printf(out, "(%s", node_kind_name((SyntaxKind)node->kind));
  if (node->name) buf_printf(out, " %s", name_text(names, node->name));
  if (node->text && node->kind == N_NUM)
    buf_printf(out, " %s", node->text);
  else if (node->text) {
    buf_char(out, ' ');
    buf_json(out, node->text, strlen(node->text));
  }
  if (node->op) buf_printf(out, " \"%s\"", node->op);
  for (uint32_t i = 0; i < node->nkid; i++) {
    buf_char(out, ' ');
    tree_print(names, node->kid[i], out);
  }
  buf_char(out, ')');
}

static bool text_equal(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

bool tree_equal(const Syntax *a, const Syntax *b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->nkid != b->nkid || a->name != b->name) return false;
  if (!text_equal(a->text, b->text) || !text_equal(a->op, b->op)) return false;
  for (uint32_t i = 0; i < a->nkid; i++)
    if (!tree_equal(a->kid[i], b->kid[i])) return false;
  return true;
}
