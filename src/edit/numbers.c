// Lists the numbers of a text that can be dragged or edited in a table: constants, axis sizes,
// options, arguments of machines and initial states. Replaces one: a list keeps its layout, and
// only entries that differ are rewritten.
#include "base/json_write.h"
#include "edit/gesture.h"

#include <math.h>

// -- numbers in the tree --------------------------------------------------------------------------
static bool is_number(const Syntax *n) {
  return n && (n->kind == N_NUM || (n->kind == N_NEG && neg_operand(n)->kind == N_NUM));
}

static double number_of(const Syntax *n) {
  return n->kind == N_NUM ? n->num : -neg_operand(n)->num;
}

// A number, or nested lists of numbers.
static bool is_numeric(const Syntax *n) {
  if (!n || n->kind != N_LIST) return is_number(n);
  Nodes all = list_entries(n);
  bool numeric = all.n > 0;
  for (uint32_t i = 0; numeric && i < all.n; i++) numeric = is_numeric(all.at[i]);
  return numeric;
}

static void put_value(JsonOut *j, const char *key, const Syntax *n) {
  if (n->kind != N_LIST) {
    json_number(j, key, number_of(n));
    return;
  }
  Nodes all = list_entries(n);
  json_list(j, key);
  for (uint32_t i = 0; i < all.n; i++) put_value(j, NULL, all.at[i]);
  json_end(j);
}

// -- all of them ----------------------------------------------------------------------------------
typedef struct {
  Gesture *g;
  JsonOut *j;
  const char *owner; // the enclosing declaration; NULL: none
  bool machine;      // it is a machine
} NumberList;

static void put_entry(NumberList *l, const char *kind, const char *name, const Syntax *value) {
  if (!is_numeric(value)) return;
  const Gesture *g = l->g;
  bool count = strcmp(kind, "axis") == 0;
  json_object(l->j, NULL);
  json_text(l->j, "name", l->owner ? arena_format(g->arena, "%s.%s", l->owner, name) : name);
  json_text(l->j, "kind", kind);
  put_value(l->j, "value", value);
  json_range_now(g->q, l->j, "range", value->span.at, value->span.n);
  if (count)
    json_number(l->j, "least", 1);
  else
    json_text_or_null(l->j, "least", NULL);
  json_text_or_null(l->j, "most", NULL);
  json_end(l->j);
}

static void put_node(NumberList *, const Syntax *);

static void put_nodes(NumberList *l, Nodes all) {
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]) put_node(l, all.at[i]);
}

// The options of a box or machine declared in this text; empty if it is declared elsewhere.
static Nodes options_of(const NumberList *l, Name name) {
  Nodes all = program_declarations(l->g->tree);
  for (uint32_t i = 0; i < all.n; i++) {
    const Syntax *n = all.at[i];
    const Syntax *cfg = declared_options(n);
    if (cfg && n->name == name) return cfg_in(cfg);
  }
  return (Nodes){0, NULL};
}

// Lists the arguments of a use: Prey[birth: 2], Team[3, 1], adam(0.001, b1: 0.8), Road(ill: 1).
// `kind` is the kind of the entries; `first` names a first argument without a name, NULL: skip it.
static void put_settings(NumberList *l, const Syntax *use, const char *kind, const char *first) {
  const Syntax *base = use_base(use_callee(use)), *brackets = use_brackets(use_callee(use));
  NumberList inner = *l;
  inner.owner = base && base->kind == N_NAME ? name_of_node(l->g, base) : l->owner;
  Nodes slots = brackets ? brackets_slots(brackets) : (Nodes){0, NULL}, options = {0, NULL};
  if (base && base->kind == N_NAME) options = options_of(l, base->name);
  for (uint32_t i = 0; i < slots.n; i++) {
    const Syntax *one = slot_item(slots.at[i]);
    if (one->kind == N_SIZED)
      put_entry(&inner, "option", name_of_node(l->g, one), sized_value(one));
    else if (i < options.n)
      put_entry(&inner, "option", name_of_node(l->g, options.at[i]), one);
  }
  Nodes args = use->kind == N_CALL ? call_args(use) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < args.n; i++)
    if (args.at[i]->kind == N_ARG)
      put_entry(&inner, kind, name_of_node(l->g, args.at[i]), arg_value(args.at[i]));
    else if (!i && first && args.at[i]->kind == N_CALL) // fade(0.001)
      put_settings(l, args.at[i], kind, first);
    else if (!i && first)
      put_entry(&inner, kind, first, args.at[i]);
}

static void put_train(NumberList *l, const Syntax *n) {
  NumberList own = *l;
  own.owner = "train";
  put_entry(&own, "option", name_of_node(l->g, n), train_count(n));
  Nodes options = train_options(n);
  for (uint32_t i = 0; i < options.n; i++) {
    const Syntax *o = options.at[i];
    if (o->kind == N_ARG) put_settings(l, arg_value(o), "option", "rate");
    if (o->kind != N_OPTION) continue;
    if (option_value(o) && option_what(o)->kind == N_NAME)
      put_entry(&own, "option", name_of_node(l->g, option_what(o)), option_value(o));
    else if (option_what(o)->kind == N_CALL)
      put_settings(l, option_what(o), "option", "rate");
  }
}

static void put_declared(NumberList *l, const Syntax *n, const Syntax *cfg, const Syntax *body) {
  NumberList inner = *l;
  const char *name = name_of_node(l->g, n);
  inner.owner = l->owner ? arena_format(l->g->arena, "%s.%s", l->owner, name) : name;
  inner.machine = n->kind == N_MACHINE;
  Nodes options = cfg ? cfg_in(cfg) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < options.n; i++)
    put_entry(&inner, inner.machine ? "parameter" : "option", name_of_node(l->g, options.at[i]),
              cfgpar_value(options.at[i]));
  if (body && body->kind == N_BLOCK) put_nodes(&inner, block_statements(body));
}

static void put_typed(NumberList *l, const char *kind, Nodes all) {
  for (uint32_t i = 0; i < all.n; i++)
    put_entry(l, kind, name_of_node(l->g, all.at[i]), typed_value(all.at[i]));
}

static void put_node(NumberList *l, const Syntax *n) {
  Nodes axes;
  switch (n->kind) {
  case N_CONSTS: put_typed(l, l->machine ? "parameter" : "const", consts_in(n)); break;
  case N_STATES: put_typed(l, "start", states_in(n)); break;
  case N_AXES:
    axes = axes_in(n);
    for (uint32_t i = 0; i < axes.n; i++)
      put_entry(l, "axis", name_of_node(l->g, axes.at[i]), axis_length(axes.at[i]));
    break;
  case N_BOX: put_declared(l, n, box_cfg(n), box_body(n)); break;
  case N_MACHINE: put_declared(l, n, machine_cfg(n), machine_body(n)); break;
  case N_MODE: put_declared(l, n, NULL, mode_block(n)); break;
  case N_PART: put_settings(l, part_machine(n), "start", NULL); break;
  case N_SIMULATE: put_settings(l, simulate_what(n), "start", NULL); break;
  case N_TRAIN: put_train(l, n); break;
  default: break;
  }
}

bool answer_numbers(EditQuestion *q, JsonOut *j) {
  Gesture g = gesture_read(q);
  NumberList l = {.g = &g, .j = j};
  json_list(j, NULL);
  put_nodes(&l, program_declarations(g.tree));
  json_end(j);
  return true;
}

// -- another one ----------------------------------------------------------------------------------
// Integers stay integers; a negative number gets parentheses if an operator precedes it.
static const char *number_text(Gesture *g, double x, bool alone) {
  Buf b = buf_new(g->arena);
  buf_number(&b, x);
  return x < 0 && !alone ? arena_format(g->arena, "(%s)", b.at) : b.at;
}

static const char *list_text(Gesture *g, const Json *list) {
  Buf b = buf_new(g->arena);
  json_as_array(&b, list);
  return b.at;
}

static bool is_numbers(const Json *j) {
  if (j->kind == JSON_NUMBER) return isfinite(j->number);
  bool good = json_items(j);
  for (const Json *one = json_items(j); good && one; one = json_after(j, one))
    good = is_numbers(one);
  return good;
}

// Entry by entry where both lists have the same length.
static void put_numbers(Gesture *g, const Syntax *n, const Json *j, bool alone) {
  bool lists = n->kind == N_LIST && j->kind == JSON_LIST && list_entries(n).n == j->n;
  if (lists) {
    uint32_t i = 0;
    for (const Json *one = json_items(j); one; one = json_after(j, one))
      put_numbers(g, list_entries(n).at[i++], one, true);
    return;
  }
  if (j->kind == JSON_NUMBER && is_number(n) && number_of(n) == j->number) return;
  replace_text(g, n->span.at, n->span.n,
               j->kind == JSON_NUMBER ? number_text(g, j->number, alone) : list_text(g, j));
}

static bool stands_alone(const Found *f) {
  SyntaxKind around = (SyntaxKind)found_parent(f, 1)->kind;
  return is_alone(f, f->depth) || around == N_AXIS || around == N_CFGPAR || around == N_SIZED ||
         around == N_ITEMS || around == N_OPTION || around == N_TIMES || around == N_TRAIN;
}

bool gesture_number(Gesture *g) {
  Found f;
  const Json *value = json_get(g->edit, "value");
  if (!find_at(g, "at", &f)) return false;
  if (!value || !is_numbers(value))
    return refuse_gesture(g, "a `value` is a number, a list of numbers or a list of such lists");
  const Syntax *around = found_parent(&f, 1);
  if (f.node->kind == N_NUM && around && around->kind == N_NEG) // the minus sign belongs to the
                                                                // number
    f.node = f.path[--f.depth];
  if (!is_numeric(f.node))
    return refuse_gesture(g, "there is no number here, but `%s`", source_text(g, g->where));
  if ((f.node->kind == N_LIST) != (value->kind == JSON_LIST))
    return refuse_gesture(g, f.node->kind == N_LIST ? "a list stands here, and one number would be "
                                                      "something else"
                                                    : "one number stands here, and a list would be "
                                                      "something else");
  put_numbers(g, f.node, value, stands_alone(&f));
  return true;
}
