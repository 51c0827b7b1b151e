// Gestures that add declarations: data, boxes, learners, goals, gluing of learning diagrams; and
// the gesture that changes training settings.
#include "edit/gesture.h"

// -- declarations ---------------------------------------------------------------------------------
static bool is_unused_name(Gesture *g, const char *name) {
  const Def *d = edit_def_named(g->q->index, name, strlen(name));
  if (d && d->scope == g->q->index->program->scope)
    return refuse_gesture(g, "`%s` is declared already", name);
  return true;
}

bool gesture_learner(Gesture *g) {
  const char *name = gesture_name(g, "name"), *type = name ? gesture_wants(g, "type") : NULL;
  if (!type || !is_unused_name(g, name)) return false;
  const char *body = gesture_text(g, "body");
  return add_declaration(g, N_LEARN,
                         body ? arena_format(g->arena, "learn %s : %s = %s", name, type, body)
                              : arena_format(g->arena, "learn %s : %s", name, type));
}

// Adds `given`; names separated by commas are fields of one sample.
bool gesture_given(Gesture *g) {
  const char *names = gesture_wants(g, "name"), *from = names ? gesture_wants(g, "from") : NULL;
  if (!from) return false;
  for (const char *at = names; *at;) {
    size_t skip = strspn(at, ", "), n = strcspn(at + skip, ", ");
    const char *one = arena_text(g->arena, at + skip, n);
    if (n && !is_new_name(g->arena, one))
      return refuse_gesture(g,
                            "`%s` cannot be a name: one has letters, digits and `_`, and is no "
                            "word of the language",
                            one);
    if (n && !is_unused_name(g, one)) return false;
    at += skip + n;
  }
  return add_declaration(g, N_GIVEN, arena_format(g->arena, "given %s from %s", names, from));
}

// The body of a new box without one: `id` for A -> A; any other type is refused.
static const char *body_for(Gesture *g, const char *type) {
  const char *arrow = strstr(type, "->");
  if (!arrow) {
    refuse_gesture(g, "`%s` is no type of a box: wanted one as `R[4] -> R[3]`", type);
    return NULL;
  }
  const char *to = arrow + 2;
  size_t n = (size_t)(arrow - type);
  while (n && type[n - 1] == ' ') n--;
  while (*to == ' ') to++;
  if (strlen(to) == n && strncmp(type, to, n) == 0) return "id";
  refuse_gesture(g, "a box from one type to another needs an inside: say its `body`, or make it a "
                    "learner, whose inside is found");
  return NULL;
}

bool gesture_box(Gesture *g) {
  const char *name = gesture_name(g, "name"), *type = name ? gesture_wants(g, "type") : NULL;
  if (!type || !is_unused_name(g, name)) return false;
  const char *body = gesture_text(g, "body");
  if (!body) body = body_for(g, type);
  return body &&
         add_declaration(g, N_BOX, arena_format(g->arena, "box %s : %s = %s", name, type, body));
}

// -- goals ----------------------------------------------------------------------------------------
// One side of a goal: a position in a picture, or an expression. *diagram: the learning diagram, if
// it is one of its maps.
static const char *side_of(Gesture *g, const char *key, const Syntax **diagram) {
  const char *text = gesture_wants(g, key);
  Found f;
  *diagram = NULL;
  if (!text || !is_place(text)) return text;
  if (!find_wire(g, key, &f)) return NULL;
  bool edge = f.node->kind == N_BOX || f.node->kind == N_LEARNER;
  if (edge) *diagram = found_around(&f, N_DIAGRAM);
  if (*diagram)
    return f.node->kind == N_BOX ? name_of_node(g, f.node)
                                 : source_text(g, names_in(learner_names(f.node)).at[0]->span);
  return wire_text(g, &f);
}

// Adds f <= g, for two maps of a learning diagram, as its last statement.
static bool add_order(Gesture *g, const Syntax *diagram, const char *from, const char *to) {
  Nodes lines =
      diagram_block(diagram) ? block_statements(diagram_block(diagram)) : (Nodes){0, NULL};
  if (!lines.n) return refuse_gesture(g, "this learning diagram has no lines of its own");
  insert_line_after(g, lines.at[lines.n - 1], arena_format(g->arena, "%s <= %s", from, to));
  return true;
}

bool gesture_goal(Gesture *g) {
  const Syntax *first, *second;
  const char *from = side_of(g, "from", &first), *to = from ? side_of(g, "to", &second) : NULL;
  if (!to) return false;
  if (first && first == second) return add_order(g, first, from, to);
  if (first || second)
    return refuse_gesture(g, "two maps of one learning diagram can be made equal, or two values");
  const char *name = gesture_text(g, "name") ? gesture_name(g, "name") : fresh_name(g, "goal1");
  const char *by = gesture_text(g, "by");
  if (!name) return false;
  return add_declaration(g, N_GOAL,
                         arena_format(g->arena, "goal %s : %s ~ %s%s%s", name, from, to,
                                      by ? " by " : "", by ? by : ""));
}

// -- gluing ---------------------------------------------------------------------------------------
bool gesture_glue(Gesture *g) {
  const char *a = gesture_wants(g, "a"), *b = a ? gesture_wants(g, "b") : NULL;
  const char *along = b ? gesture_wants(g, "along") : NULL;
  const char *name = gesture_text(g, "name") ? gesture_name(g, "name") : fresh_name(g, "both");
  if (!along || !name || !is_unused_name(g, name)) return false;
  return add_declaration(
      g, N_DIAGRAM, arena_format(g->arena, "diagram %s = %s + %s along %s", name, a, b, along));
}

// -- training -------------------------------------------------------------------------------------
typedef struct {
  const char *epochs, *batch, *optimiser; // NULL: not given
} TrainWords;

static const char *count_of(Gesture *g, const char *key) {
  const Json *j = json_get(g->edit, key);
  if (!j || j->kind == JSON_NULL) return NULL;
  if (j->kind == JSON_NUMBER && j->natural && j->number >= 1) {
    Buf b = buf_new(g->arena);
    buf_number(&b, j->number);
    return b.at;
  }
  refuse_gesture(g, "`%s` is a number of at least 1", key);
  return NULL;
}

static bool is_batch(const Gesture *g, const Syntax *option) {
  return option->kind == N_OPTION && option_value(option) && option_what(option)->kind == N_NAME &&
         strcmp(name_of_node(g, option_what(option)), "batch") == 0;
}

// adam(0.001), or adam
static bool is_optimiser(const Syntax *option) {
  return option->kind == N_OPTION && !option_value(option) &&
         (option_what(option)->kind == N_CALL || option_what(option)->kind == N_NAME);
}

static void put_option(Gesture *g, const Syntax *train, const Syntax *old, const char *text) {
  if (!text) return;
  if (!old)
    replace_text(g, span_end(train), 0, arena_format(g->arena, ", %s", text));
  else if (strcmp(source_text(g, old->span), text) != 0)
    replace_text(g, old->span.at, old->span.n, text);
}

static void change_training(Gesture *g, const Syntax *train, const TrainWords *t) {
  const Syntax *batch = NULL, *optimiser = NULL;
  Nodes options = train_options(train);
  for (uint32_t i = 0; i < options.n; i++) {
    if (is_batch(g, options.at[i])) batch = options.at[i];
    if (!optimiser && is_optimiser(options.at[i])) optimiser = options.at[i];
  }
  if (t->epochs) {
    const Syntax *count = train_count(train);
    Span whole = {0, count->span.at, train->name_span.at + train->name_span.n - count->span.at};
    const char *text = arena_format(g->arena, "%s epochs", t->epochs);
    if (strcmp(source_text(g, whole), text) != 0) replace_text(g, whole.at, whole.n, text);
  }
  put_option(g, train, batch, t->batch ? arena_format(g->arena, "batch %s", t->batch) : NULL);
  put_option(g, train, optimiser, t->optimiser);
}

// Changes the first `train` statement, or adds one.
bool gesture_train(Gesture *g) {
  TrainWords t = {count_of(g, "epochs"), count_of(g, "batch"), gesture_text(g, "optimiser")};
  Nodes all = program_declarations(g->tree);
  if (g->refused) return false;
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->kind == N_TRAIN) {
      change_training(g, all.at[i], &t);
      return true;
    }
  return add_declaration(g, N_TRAIN,
                         arena_format(g->arena, "train %s epochs, batch %s, %s",
                                      t.epochs ? t.epochs : "10", t.batch ? t.batch : "64",
                                      t.optimiser ? t.optimiser : "adam(0.001)"));
}
