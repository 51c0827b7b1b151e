// Requests whose results are numbers: costs, evaluating a box, running machines with other
// constants. They are computed in a new handle, so the document's own handle stays unchanged.
#include "base/json_write.h"
#include "base/within.h"
#include "serve/serve.h"

#include <math.h>
#include <stdlib.h>

enum { INPUTS = 64, NUMBERS_SET = 64, RUN_SECONDS = 4, RUNS_SECONDS = 20 };

// -- answers of commands --------------------------------------------------------------------------
void serve_cost(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  const char *name = json_get_text(c->params, "name");
  if (d && !name) serve_refuse(c, RPC_INVALID_PARAMS, "`name` is wanted: a box, learner or goal");
  if (d && name) serve_answer_or_refuse(c, d, limn_cost(d->shown, name, true));
}

void serve_who(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  if (d) serve_answer_or_refuse(c, d, limn_who(d->shown, true));
}

void serve_summary(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  if (d) serve_answer_or_refuse(c, d, limn_summary(d->shown, true));
}

// -- arrays ---------------------------------------------------------------------------------------
static double number_at(const LimnArray *x, const char *at) {
  switch (x->type) {
  case LIMN_F64: return *(const double *)(const void *)at;
  case LIMN_F32: return (double)*(const float *)(const void *)at;
  case LIMN_I64: return (double)*(const int64_t *)(const void *)at;
  case LIMN_I32: return (double)*(const int32_t *)(const void *)at;
  default: return (double)*(const unsigned char *)at;
  }
}

static size_t number_bytes(LimnType type) {
  return type == LIMN_F64 || type == LIMN_I64 ? 8 : type == LIMN_U8 ? 1 : 4;
}

// Results are contiguous, row-major.
void serve_array(JsonOut *j, const char *key, const char *name, const LimnArray *x) {
  int64_t n = 1;
  json_object(j, key);
  if (name) json_text(j, "name", name);
  json_list(j, "shape");
  for (uint32_t i = 0; i < x->rank; i++) {
    json_number(j, NULL, (double)x->shape[i]);
    n *= x->shape[i];
  }
  json_end(j);
  json_list(j, "data");
  for (int64_t i = 0; i < n; i++)
    json_number(j, NULL, number_at(x, (const char *)x->data + (size_t)i * number_bytes(x->type)));
  json_end(j);
  json_end(j);
}

// -- a box on arrays ------------------------------------------------------------------------------
// Reads {"x": [1, 2]}; keys that are numbers or "" are positional. Returns the count; -1: refused.
static int read_inputs(const ServeCall *c, LimnInput in[INPUTS]) {
  const Json *all = json_get(c->params, "in");
  if (!all || all->kind == JSON_NULL) return 0;
  bool good = all->kind == JSON_OBJECT && all->n <= INPUTS;
  LimnInput *to = in;
  for (const Json *key = json_keys(all); good && key; key = json_after(all, key)) {
    Buf b = buf_new(c->s->scratch);
    bool letters = key[1].kind == JSON_TEXT;
    if (letters) buf_json(&b, key[1].text, key[1].n);
    good = letters || json_as_array(&b, key + 1);
    bool ordered = strspn(key->text, "0123456789") == key->n;
    *to++ = (LimnInput){ordered ? "" : key->text, b.at, NULL};
  }
  if (!good)
    serve_refuse(c, RPC_INVALID_PARAMS, "`in` is an object of at most %d inputs with numbers",
                 INPUTS);
  return good ? (int)all->n : -1;
}

// A run folder, given by its name in the page. False: refused.
static bool read_from(const ServeCall *c, const char **from) {
  const LimnServer *s = c->s;
  const char *path = json_get_text(c->params, "from"), *wrong = NULL;
  if (path && s->how.root) wrong = name_refuse_in(s->scratch, s->how.root, path);
  *from = path && s->how.root ? arena_format(s->scratch, "%s/%s", s->how.root, path) : path;
  if (wrong) serve_refuse(c, RPC_INVALID_PARAMS, "%s is not below the folder: %s", path, wrong);
  return !wrong;
}

void serve_eval(const ServeCall *c) {
  const char *name = json_get_text(c->params, "name");
  LimnInput in[INPUTS];
  LimnArrays out;
  LimnEval how = {.size = sizeof how, .in = in};
  ServedText *d = serve_asked(c, true);
  int n = d ? read_inputs(c, in) : -1;
  if (n < 0 || !read_from(c, &how.from)) return;
  if (!name) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`name` is wanted: a box, learner or goal");
    return;
  }
  how.nin = (uint32_t)n;
  how.watch = json_get_text(c->params, "watch");
  if (limn_eval_arrays(d->shown, name, &how, &out, NULL) != LIMN_GOOD) {
    serve_refuse_said(c, d->shown);
    return;
  }
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_list(&j, "results");
  for (uint32_t i = 0; i < out.n; i++) serve_array(&j, NULL, out.at[i].name, &out.at[i].array);
  json_end(&j);
  json_end(&j);
  serve_done(c);
}

// Adds what `limn data SET --json` reports: the fields of a set and the range of each.
static void add_about(const ServeCall *c, Limn *l, const char *set, JsonOut *j) {
  const char *text = NULL;
  if (!json_get_true(c->params, "about")) return;
  if (limn_data(l, set, NULL, true, &text) == LIMN_GOOD && text) json_print(j, "about", "%s", text);
}

// A sample of a data set.
void serve_sample(const ServeCall *c) {
  const char *set = json_get_text(c->params, "set");
  const Json *at = json_get(c->params, "at");
  bool number = at && at->kind == JSON_NUMBER && at->number >= 0 && at->number < 1e15;
  ServedText *d = serve_asked(c, true);
  LimnArrays out;
  if (!d) return;
  if (!set || (at && !number)) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`set` is wanted, the name of a set, and a number as `at`");
    return;
  }
  if (limn_data_sample(d->shown, set, number ? (uint64_t)at->number : 0, &out) != LIMN_GOOD) {
    serve_refuse_said(c, d->shown);
    return;
  }
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_list(&j, "fields");
  for (uint32_t i = 0; i < out.n; i++) serve_array(&j, NULL, out.at[i].name, &out.at[i].array);
  json_end(&j);
  add_about(c, d->shown, set, &j);
  json_end(&j);
  serve_done(c);
}

// -- machines with other numbers ------------------------------------------------------------------
typedef struct {
  size_t from, to; // offsets in the text
  const char *text;
} NumberChange;

static int by_place(const void *a, const void *b) {
  const NumberChange *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

// Finds the span of a named number in the answer of `numbers`. False: there is none.
static bool find_number(const ServeCall *c, ServedText *d, const Json *all, const char *name,
                        NumberChange *out) {
  for (const Json *one = json_items(all); one; one = json_after(all, one)) {
    const char *own = json_get_text(one, "name");
    if (own && !strcmp(own, name))
      return served_range(c->s, d, json_get(one, "range"), &out->from, &out->to);
  }
  return false;
}

// Returns the number of changes; -1: refused.
static int read_set(const ServeCall *c, ServedText *d, NumberChange *change) {
  const Json *set = json_get(c->params, "set");
  if (!set || set->kind == JSON_NULL) return 0;
  if (set->kind != JSON_OBJECT || set->n > NUMBERS_SET) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`set` is an object of at most %d names with numbers",
                 NUMBERS_SET);
    return -1;
  }
  LimnAsk ask = serve_asking(c->s);
  const Json *all = serve_question(c->s, d->shown, "numbers", &ask);
  NumberChange *to = change;
  for (const Json *key = json_keys(set); key; key = json_after(set, key), to++) {
    Buf b = buf_new(c->s->scratch);
    bool minus = key[1].kind == JSON_NUMBER && key[1].number < 0;
    if (minus) buf_char(&b, '(');
    bool number = json_as_array(&b, key + 1);
    if (minus) buf_char(&b, ')');
    to->text = b.at;
    if (number && find_number(c, d, all, key->text, to)) continue;
    serve_refuse(c, RPC_REQUEST_FAILED,
                 number ? "there is no number `%s` in this text"
                        : "`%s` is set to what is no number",
                 key->text);
    return -1;
  }
  qsort(change, set->n, sizeof *change, by_place);
  return (int)set->n;
}

static Buf changed_text(Arena *a, const ServedText *d, const NumberChange *change, int n) {
  Buf b = buf_new(a);
  size_t at = 0;
  for (int i = 0; i < n; i++) {
    if (change[i].from < at) continue; // two names of the same number
    buf_add(&b, d->text + at, change[i].from - at);
    buf_text(&b, change[i].text);
    at = change[i].to;
  }
  buf_add(&b, d->text + at, d->n - at);
  return b;
}

static void answer_machine(const ServeCall *c, Limn *l, const char *text) {
  const char *messages = limn_messages(l, true), *error;
  const Json *run = json_read(c->s->scratch, text, strlen(text), &error);
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_number(&j, "errors", limn_errors(l));
  json_print(&j, "messages", "%s", messages ? messages : "[]");
  json_copy(&j, "run", json_get(run, "run"));
  json_copy(&j, "series", json_get(run, "series"));
  json_end(&j);
  serve_done(c);
}

// The run to follow alone, counted from 1; 0: all. False: refused.
static bool read_only(const ServeCall *c, uint32_t *only) {
  const Json *run = json_get(c->params, "run");
  if (!run || run->kind == JSON_NULL) return true;
  bool number = run->kind == JSON_NUMBER && run->natural && run->number < UINT32_MAX;
  if (!number) serve_refuse(c, RPC_INVALID_PARAMS, "`run` is the number of a run, from 0 on");
  if (number) *only = (uint32_t)run->number + 1;
  return number;
}

void serve_machine(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  NumberChange change[NUMBERS_SET];
  int n = d ? read_set(c, d, change) : -1;
  uint32_t only = 0;
  if (n < 0 || !read_only(c, &only)) return;
  Buf text = changed_text(c->s->scratch, d, change, n);
  Limn *l = served_handle(c->s);
  const char *answer = NULL;
  LimnRun how = {.size = sizeof how, .json = true, .quiet = true, .plain = true, .numbers = true};
  how.only = only;
  how.seconds = only ? RUN_SECONDS : RUNS_SECONDS;
  if (l && limn_load_text(l, d->path, text.at, text.n) == LIMN_GOOD) limn_run(l, &how, &answer);
  if (answer && *answer == '{')
    answer_machine(c, l, answer);
  else
    serve_refuse(c, RPC_REQUEST_FAILED, "%s", first_error(l));
  limn_free(l);
}
