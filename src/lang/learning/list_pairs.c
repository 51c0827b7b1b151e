// Lists the pairs of learning diagrams: `limn check --paths`.
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/learning/learning_own.h"

const char *learning_distance(Elab *in, const Def *space) {
  const Syntax *by = space_distance(space->node);
  const Source *file = &in->w->sources->file.at[by->span.file];
  return arena_text(in->w->arena, file->text + by->span.at, by->span.n);
}

void target_learners(Elab *in, const Learning *g, const OrderTarget *t, Ids *out) {
  Ids all = {0};
  if (t->edge != NOWHERE)
    edge_learners(in, &g->edge.at[t->edge], &all);
  else if (t->learner)
    add_whole_learner(in, t->learner, &all);
  else
    add_closure(in, t->home, t->node, &all);
  ids_add(in->w->arena, &all, out);
}

const OrderTargets *pair_trains(const Learning *g, const Pair *p) {
  if (!p->order || p->chain.n || !g->order.at[p->order - 1].trains.n) return NULL;
  return &g->order.at[p->order - 1].trains;
}

static bool is_trained(Elab *in, const Learning *g, const Pair *p, Id learner) {
  const OrderTargets *trains = pair_trains(g, p);
  Ids all = {0};
  for (uint32_t i = 0; trains && i < trains->n; i++) target_learners(in, g, &trains->at[i], &all);
  return !trains || names_have(&all, learner);
}

// The learners on both routes that the goal trains.
static Ids moved_by(Elab *in, const Learning *g, const Pair *p) {
  Ids all = {0}, moved = {0};
  const Route *side[] = {&p->left, &p->right};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < side[k]->n; i++) edge_learners(in, &g->edge.at[side[k]->at[i]], &all);
  for (uint32_t i = 0; i < all.n; i++) {
    bool seen = pair_freezes(in, g, p, all.at[i]) || !is_trained(in, g, p, all.at[i]);
    for (uint32_t j = 0; j < i; j++) seen |= all.at[j] == all.at[i];
    if (!seen) vec_push(in->w->arena, &moved, all.at[i]);
  }
  return moved;
}

const char *learning_goal(Elab *in, const Program *p, const Learning *g, uint32_t number) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (p->goal.at[i].learning == g && k++ == number)
      return name_text(in->w->names, p->goal.at[i].name);
  return NULL;
}

static void count(Buf *b, uint32_t n, const char *one, const char *many, const char *end) {
  buf_printf(b, "%u %s%s", n, n == 1 ? one : many, end);
}

// What a `find` did to its matches: "set", or piece by piece "m frozen, h set".
static const char *action_words(Elab *in, const Syntax *find) {
  Buf b = buf_new(in->w->arena);
  for (uint32_t i = 0; i < find_deeds(find).n; i++) {
    const Syntax *deed = find_deeds(find).at[i];
    SyntaxSign kind = deed_kind(deed);
    if (i) buf_text(&b, ", ");
    if (deed_piece(deed)) buf_printf(&b, "%s ", path_text(in, deed_piece(deed)));
    buf_text(&b, kind == SIGN_FREEZE ? "frozen" : kind == SIGN_SET ? "set" : "replaced");
  }
  return b.at;
}

static void show_pair(Elab *in, const Program *p, const Learning *g, uint32_t i, Buf *b) {
  const Pair *pair = &g->pairs.at[i];
  const Graph *graph = g->graph;
  const char *name = learning_goal(in, p, g, i);
  Ids moved = moved_by(in, g, pair);
  if (name)
    buf_printf(b, "  %s", name);
  else
    buf_printf(b, "  %u", i + 1);
  buf_printf(b, ": %s to %s by %s", graph->vertex.at[pair->from].name,
             graph->vertex.at[pair->to].name, learning_distance(in, g->space.at[pair->to].def));
  if (pair->times != 1) buf_printf(b, ", times %g", pair->times);
  buf_printf(b, "\n      %s\n    ~ %s\n", route_text(in->w->arena, graph, &pair->left),
             route_text(in->w->arena, graph, &pair->right));
  buf_printf(b, "    %s", moved.n ? "moves" : "moves nothing");
  for (uint32_t k = 0; k < moved.n; k++)
    buf_printf(b, "%s %s", k ? "," : "", name_text(in->w->names, def_of(in, moved.at[k])->name));
  buf_char(b, '\n');
}

static void show_lost(Elab *in, const Learning *g, const Pair *pair, Buf *b) {
  const Graph *graph = g->graph;
  buf_printf(b, "  left out, because %s does not compare them: %s to %s\n      %s\n    ~ %s\n",
             learning_distance(in, g->space.at[pair->to].def), graph->vertex.at[pair->from].name,
             graph->vertex.at[pair->to].name, route_text(in->w->arena, graph, &pair->left),
             route_text(in->w->arena, graph, &pair->right));
}

static void show_one(Elab *in, const Program *p, const Learning *g, Buf *b) {
  buf_printf(b, "%s: ", name_text(in->w->names, g->name));
  count(b, g->graph->vertex.n, "space", "spaces", ", ");
  count(b, g->graph->edge.n, "edge", "edges", ", ");
  if (g->pattern)
    buf_text(b, "a pattern\n");
  else
    count(b, g->pairs.n, "pair", "pairs", "\n");
  for (uint32_t i = 0; i < g->found.n; i++) {
    const Syntax *pattern = find_route(g->found.at[i].node);
    const Source *file = &in->w->sources->file.at[pattern->span.file];
    buf_printf(b, "  found %.*s: %s, %s\n", (int)pattern->span.n, file->text + pattern->span.at,
               g->found.at[i].text, action_words(in, g->found.at[i].node));
  }
  for (uint32_t i = 0; i < g->pairs.n; i++) show_pair(in, p, g, i, b);
  for (uint32_t i = 0; i < g->lost.n; i++) show_lost(in, g, &g->lost.at[i], b);
}

void elab_paths(Elab *in, const Program *p, const Learning *only, Buf *b) {
  for (uint32_t i = 0; i < p->learning.n; i++)
    if (!only || p->learning.at[i] == only) show_one(in, p, p->learning.at[i], b);
  if (!p->learning.n) buf_text(b, "there are no learning diagrams here\n");
}

// -- as JSON --------------------------------------------------------------------------------------
static void json_route(const Learning *g, const char *key, const Route *r, JsonOut *j) {
  json_list(j, key);
  for (uint32_t i = 0; i < r->n; i++) json_text(j, NULL, g->graph->edge.at[r->at[i]].name);
  json_end(j);
}

static void json_pair(Elab *in, const Program *p, const Learning *g, uint32_t i, JsonOut *j) {
  const Pair *pair = &g->pairs.at[i];
  const char *name = learning_goal(in, p, g, i);
  Ids moved = moved_by(in, g, pair);
  json_object(j, NULL);
  if (name) json_text(j, "goal", name);
  json_text(j, "from", g->graph->vertex.at[pair->from].name);
  json_text(j, "to", g->graph->vertex.at[pair->to].name);
  json_route(g, "left", &pair->left, j);
  json_route(g, "right", &pair->right, j);
  json_text(j, "distance", learning_distance(in, g->space.at[pair->to].def));
  json_number(j, "times", pair->times);
  json_list(j, "moves");
  for (uint32_t k = 0; k < moved.n; k++)
    json_text(j, NULL, name_text(in->w->names, def_of(in, moved.at[k])->name));
  json_end(j);
  json_end(j);
}

static void json_one(Elab *in, const Program *p, const Learning *g, JsonOut *j) {
  json_object(j, name_text(in->w->names, g->name));
  json_number(j, "spaces", g->graph->vertex.n);
  json_number(j, "edges", g->graph->edge.n);
  json_bool(j, "pattern", g->pattern);
  json_list(j, "found");
  for (uint32_t k = 0; k < g->found.n; k++) {
    json_object(j, NULL);
    json_text(j, "at", g->found.at[k].text);
    json_text(j, "then", action_words(in, g->found.at[k].node));
    json_end(j);
  }
  json_end(j);
  json_list(j, "pairs");
  for (uint32_t k = 0; k < g->pairs.n; k++) json_pair(in, p, g, k, j);
  json_end(j);
  json_list(j, "left_out");
  for (uint32_t k = 0; k < g->lost.n; k++) {
    json_object(j, NULL);
    json_route(g, "left", &g->lost.at[k].left, j);
    json_route(g, "right", &g->lost.at[k].right, j);
    json_end(j);
  }
  json_end(j);
  json_end(j);
}

void elab_paths_json(Elab *in, const Program *p, const Learning *only, Buf *b) {
  JsonOut j = json_out(b);
  json_object(&j, NULL);
  for (uint32_t i = 0; i < p->learning.n; i++)
    if (!only || p->learning.at[i] == only) json_one(in, p, p->learning.at[i], &j);
  json_end(&j);
}
