// Goals: which goal trains which learner. One gradient pass with masks is compared with one reverse
// pass for each goal, and with finite differences; among them the goal PutGet, which trains `put`
// through a `get` that it does not train.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "diagram_help.h"
#include "run/step/step.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct {
  Arena *arena;
  World *w;
  Elab *in;
  Program *p;
  Loss loss;
  Tensor *input, *param;
} Setup;

static double next_number(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0 * 2 - 1;
}

static Tensor random_tensor(Arena *a, World *w, const Type *t, uint64_t *state) {
  int64_t shape[16];
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(w, t->axis[i].size, &shape[i])) shape[i] = 5; // the samples
  Tensor x = tensor_new(a, t->rank, shape);
  for (int64_t i = 0; i < x.count; i++) x.data[i] = next_number(state);
  return x;
}

static Setup setup(const char *text) {
  Setup s = {.arena = arena_new()};
  s.w = world_new(s.arena);
  s.in = elab_new(s.w);
  s.p = elab_program(s.in, "test.limn", text, strlen(text));
  if (s.w->diags->errors) {
    Buf b = buf_new(s.arena);
    diags_print(s.w->diags, &b);
    fail_msg("%s", b.at);
  }
  s.loss = learn_loss(s.in, s.p);
  const Diagram *d = s.loss.diagram;
  assert_non_null(d);
  uint64_t state = 7;
  s.input = NEW_ARRAY(s.arena, Tensor, d->in.n + 1);
  s.param = NEW_ARRAY(s.arena, Tensor, d->param.n + 1);
  for (uint32_t i = 0; i < d->in.n; i++)
    s.input[i] = random_tensor(s.arena, s.w, &d->wire.at[d->in.at[i]].type, &state);
  for (uint32_t i = 0; i < d->param.n; i++)
    s.param[i] = random_tensor(s.arena, s.w, &d->wire.at[d->param.at[i].wire].type, &state);
  return s;
}

static Tensor *evaluate(const Setup *s, const Diagram *d, const Tensor *in) {
  Eval e = {.arena = s->arena,
            .seed = 3,
            .in = in,
            .param = s->param,
            .out = NEW_ARRAY(s->arena, Tensor, d->out.n + 1)};
  if (!diagram_eval(s->w, d, &e)) fail_msg("%s", e.error);
  return e.out;
}

// The gradient of one goal by a param, by central differences.
static double slope(const Setup *s, uint32_t goal, uint32_t param, int64_t element) {
  const double h = 1e-5;
  double *x = &s->param[param].data[element], old = *x;
  *x = old + h;
  double up = evaluate(s, s->loss.diagram, s->input)[goal].data[0];
  *x = old - h;
  double down = evaluate(s, s->loss.diagram, s->input)[goal].data[0];
  *x = old;
  return (up - down) / (2 * h);
}

// One pass with masks = the sum, over the goals that train a weight, of that goal's own slope.
static void check_gradient(const Setup *s) {
  const Diagram *d = s->loss.diagram;
  Diagram *g = diagram_gradient(s->w, d, s->loss.mask);
  Buf why = buf_new(s->arena);
  if (!diagram_valid(s->w, g, &why)) fail_msg("%s", why.at);
  Tensor *out = evaluate(s, g, s->input);
  uint32_t at = d->out.n;
  for (uint32_t p = 0; p < d->param.n; p++) {
    bool any = false;
    for (uint32_t k = 0; k < d->out.n; k++) any |= s->loss.mask[k][p];
    if (!any) continue;
    for (int64_t e = 0; e < s->param[p].count; e += 3) {
      double want = 0;
      for (uint32_t k = 0; k < d->out.n; k++)
        if (s->loss.mask[k][p]) want += slope(s, k, p, e);
      if (fabs(out[at].data[e] - want) > 1e-5 * (1 + fabs(want)))
        fail_msg("%s[%lld]: %g, wanted %g", d->param.at[p].path, (long long)e, out[at].data[e],
                 want);
    }
    at++;
  }
  assert_int_equal(at, g->out.n);
}

static uint32_t goal_number(const Setup *s, const char *name) {
  for (uint32_t g = 0; g < s->p->goal.n; g++)
    if (strcmp(name_text(s->w->names, s->p->goal.at[g].name), name) == 0) return g;
  fail_msg("no goal %s", name);
  return 0;
}

static bool moves(const Setup *s, const char *goal, const char *learner) {
  uint32_t g = goal_number(s, goal);
  bool any = false;
  for (uint32_t i = 0; i < s->loss.diagram->param.n; i++)
    if (strncmp(s->loss.diagram->param.at[i].path, learner, strlen(learner)) == 0 &&
        s->loss.mask[g][i])
      any = true;
  return any;
}

static const char lens[] = "space Face = R[6] by l2\n"
                           "space Smile = R[] by bce\n"
                           "given s from normal[6]\n"
                           "given v from uniform[]\n"
                           "given a from uniform[]\n"
                           "learn get : Face -> Smile = dense[3] ; tanh ; dense[]\n"
                           "learn put : Face, R[] -> Face\n"
                           "goal read : get(s) ~ v\n"
                           "goal put_get : get(put(s, a)) ~ a trains put\n"
                           "goal get_put : put(s, sigmoid(get(s))) ~ s\n"
                           "goal undo : put(put(s, a), sigmoid(get(s))) ~ s times 0.5\n"
                           "learn enc : Face -> R[2] = dense[2] ; tanh\n"
                           "learn dec : R[2] -> Face = dense[6]\n"
                           "learn steer : R[] -> R[2] = dense[2]\n"
                           "refine put(s, a) = dec(enc(s) + steer(a))\n";

static void put_get_trains_put(void **state) {
  (void)state;
  Setup s = setup(lens);
  assert_true(moves(&s, "put_get", "enc") && moves(&s, "put_get", "dec") &&
              moves(&s, "put_get", "steer"));
  assert_false(moves(&s, "put_get", "get"));
  // the gradient flows through the get that does not move: put's weights feel it
  uint32_t g = goal_number(&s, "put_get");
  double most = 0;
  for (uint32_t p = 0; p < s.loss.diagram->param.n; p++)
    if (s.loss.mask[g][p]) most = fmax(most, fabs(slope(&s, g, p, 0)));
  assert_true(most > 1e-4);
  check_gradient(&s);
  arena_free(s.arena);
}

static void stop_cuts_a_wire(void **state) { // what stands behind a stop feels nothing
  (void)state;
  Setup s = setup("given s from normal[4]\n"
                  "learn f : R[4] -> R[4] = dense[4]\n"
                  "learn g : R[4] -> R[4] = dense[4]\n"
                  "goal one : f(stop(g(s))) ~ s by l2\n");
  Diagram *d = diagram_gradient(s.w, s.loss.diagram, s.loss.mask);
  Tensor *out = evaluate(&s, d, s.input);
  uint32_t at = 1;
  for (uint32_t p = 0; p < s.loss.diagram->param.n; p++) {
    if (!s.loss.mask[0][p]) continue;
    double sum = 0;
    for (int64_t i = 0; i < out[at].count; i++) sum += fabs(out[at].data[i]);
    bool behind = strncmp(s.loss.diagram->param.at[p].path, "g/", 2) == 0;
    if (behind)
      assert_true(sum == 0);
    else
      assert_true(sum > 0);
    at++;
  }
  arena_free(s.arena);
}

static void players_share_a_wire(void **state) { // two goals, different `trains`, one shared wire
  (void)state;
  Setup s = setup("given flower from normal[5]\n"
                  "given n from normal[3]\n"
                  "learn gen : R[3] -> R[5] = dense[4] ; tanh ; dense[5]\n"
                  "learn dis : R[5] -> R[] = dense[4] ; tanh ; dense[]\n"
                  "goal real : dis(flower) ~ 1 by bce trains dis\n"
                  "goal fake : dis(gen(n)) ~ 0 by bce trains dis\n"
                  "goal fool : dis(gen(n)) ~ 1 by bce trains gen\n");
  assert_true(moves(&s, "fake", "dis") && !moves(&s, "fake", "gen"));
  assert_true(moves(&s, "fool", "gen") && !moves(&s, "fool", "dis"));
  check_gradient(&s);
  arena_free(s.arena);
}

static void frozen_is_not_moved(void **state) {
  (void)state;
  Setup s = setup("given x from normal[3]\n"
                  "learn a : R[3] -> R[3] = dense[3] ; tanh\n"
                  "learn b : R[3] -> R[3] = a ; dense[3]\n"
                  "freeze a\n"
                  "goal one : b(x) ~ x by l2\n"
                  "goal two : a(b(x)) ~ x by l1 trains b times 2\n");
  assert_true(moves(&s, "one", "b") && !moves(&s, "one", "a"));
  assert_true(moves(&s, "two", "b") && !moves(&s, "two", "a"));
  check_gradient(&s);
  arena_free(s.arena);
}

static void nash_players(void **state) {
  (void)state;
  Setup s = setup("axis a = 3, b = 3\n"
                  "const U : R[a b] = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]\n"
                  "learn p : simplex[a]\n"
                  "learn q : simplex[b]\n"
                  "goal up : maximise p[i] U[i j] q[j] trains p\n"
                  "goal down : minimise p[i] U[i j] q[j] trains q\n");
  for (uint32_t i = 0; i < s.loss.diagram->param.n; i++) // constants keep their values
    if (s.loss.diagram->param.at[i].role == ROLE_CONST)
      memcpy(s.param[i].data, s.loss.diagram->param.at[i].init.data, sizeof(double) * 9);
  assert_true(moves(&s, "up", "p") && !moves(&s, "up", "q"));
  Tensor *out = evaluate(&s, s.loss.diagram, s.input);
  assert_true(fabs(out[0].data[0] + out[1].data[0]) <
              1e-15); // one maximises what the other minimises
  check_gradient(&s);
  arena_free(s.arena);
}

static void
states_of_batch_norm(void **state) { // next values: the mean over uses, no gradient through them
  (void)state;
  Setup s = setup("given x from normal[4 3]\n"
                  "learn f : R[3] -> R[3] = dense[3] ; batch_norm ; tanh\n"
                  "goal one : f(x) ~ x by l2\n");
  uint32_t states = 0;
  for (uint32_t i = 0; i < s.loss.diagram->param.n; i++)
    if (s.loss.diagram->param.at[i].role == ROLE_BUFFER) {
      assert_true(s.loss.diagram->param.at[i].next != 0);
      states++;
    }
  assert_int_equal(states, 2);
  check_gradient(&s);
  arena_free(s.arena);
}

static void noise_is_fresh_at_each_use(
    void **state) { // and stays the same when calls are inlined and simplified
  (void)state;
  Setup s = setup("given x from normal[3]\n"
                  "box shaky(x: R[n]) -> R[n] = x + normal[n]\n"
                  "box step(x: R[], h: R[]) -> R[] = h + x * normal[]\n"
                  "learn f : R[3] -> R[3] = dense[3] ; shaky ; shaky\n"
                  "learn g : R[3] -> R[3] = scan[t, step]\n"
                  "goal one : f(x) ~ shaky(g(x)) by l2\n"
                  "goal two : f(x) ~ shaky(g(x)) by l2\n");
  Tensor *out = evaluate(&s, s.loss.diagram, s.input);
  assert_true(out[0].data[0] != out[1].data[0]);
  Diagram *flat = diagram_inline(s.w, s.loss.diagram), *simple = diagram_simplify(s.w, flat);
  Tensor *again = evaluate(&s, flat, s.input), *once_more = evaluate(&s, simple, s.input);
  for (int i = 0; i < 2; i++) {
    assert_true(out[i].data[0] == again[i].data[0]);
    assert_true(out[i].data[0] == once_more[i].data[0]);
  }
  check_gradient(&s); // the reverse sees the same noise
  arena_free(s.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(put_get_trains_put),
      cmocka_unit_test(stop_cuts_a_wire),
      cmocka_unit_test(players_share_a_wire),
      cmocka_unit_test(frozen_is_not_moved),
      cmocka_unit_test(nash_players),
      cmocka_unit_test(states_of_batch_norm),
      cmocka_unit_test(noise_is_fresh_at_each_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
