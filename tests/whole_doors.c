// The laws of exports: a box exported as ONNX or JSON and read back is the same.
#include "whole_laws.h"

#include <unistd.h>

static const char THERE[] = "there", BACK[] = "back.limn", WEIGHTS[] = "back.safetensors";

static const char *beside(Case *c, const char *ending) {
  return arena_format(c->arena, "%s.%s", THERE, ending);
}

static LimnStatus write_as(Case *c, Limn *l, const char *name, const char *as) {
  const char *text;
  LimnExport how = {.size = sizeof how, .as = as, .out = beside(c, as)};
  if (strcmp(as, "json")) how.precision = LIMN_PRECISION_64;
  return limn_export(l, name, &how, &text);
}

// Weights of open sizes come to be only where the box is used.
static bool has_open_weights(Limn *l) {
  return strstr(limn_messages(l, false), "its sizes are not known") != NULL;
}

// What the page on JSON says cannot be read back: some sums and reductions into computed places.
static bool is_unsaid(Limn *l) {
  static const char *const why[] = {"how far it runs cannot be said",
                                    "runs over a part of an axis",
                                    "only sums may have a result at places",
                                    "one of several winners is used",
                                    "operands are padded with two numbers",
                                    "a label that is constant is one of those that it gives"};
  bool omitted = false;
  for (uint32_t i = 0; i < COUNT(why); i++)
    omitted |= strstr(limn_messages(l, false), why[i]) != NULL;
  return omitted;
}

// -- there and back -------------------------------------------------------------------------------
typedef struct {
  const char *as;
  const char *main; // of what is read back; NULL: the same name
  LimnStatus (*back)(Case *, Limn *);
} Door;

static LimnStatus import_back(Case *c, Limn *l) {
  LimnImport how = {.size = sizeof how, .out = BACK};
  return limn_import(l, beside(c, "onnx"), &how);
}

static LimnStatus read_back(Case *c, Limn *l) {
  const char *text, *weights = beside(c, "safetensors");
  LimnRead how = {
      .size = sizeof how, .out = BACK, .weights = access(weights, R_OK) ? NULL : weights};
  return limn_read(l, beside(c, "json"), &how, &text);
}

static const Door onnx = {"onnx", "model", import_back};
static const Door json = {"json", NULL, read_back};

// What was read back, loaded. NULL: said why, or *unsaid.
static Limn *come_back(Case *c, const Door *door, const char *name, bool *omitted) {
  Limn *l = limn_new();
  LimnStatus status = door->back(c, l);
  *omitted = status == LIMN_WRONG && is_unsaid(l);
  if (*omitted)
    ;
  else if (status != LIMN_GOOD)
    case_says(c, "not read back by %s: %s: %s", door->as, name, limn_messages(l, false));
  else if (limn_load(l, BACK) != LIMN_GOOD)
    case_says(c, "refused by %s: %s: %s", door->as, name, limn_messages(l, false));
  else
    return l;
  limn_free(l);
  return NULL;
}

// A result that depends on no sample is there once, or once for each.
static bool same_result(Case *c, const char *what, const Value *two, const Value *one) {
  if (one->n == 0 || two->n == one->n || two->n % one->n)
    return values_near(c, what, two, one, 1e-9);
  for (int64_t first = 0; first < two->n; first += one->n) {
    Value part = *two;
    part.n = one->n, part.data += first;
    if (!values_near(c, what, &part, one, 1e-9)) return false;
  }
  return true;
}

static bool same_back(Case *c, Limn *l, Limn *b, const WholeDecl *d, const Door *door) {
  const char *name = whole_name(c->p, d->name, false);
  Values in = {0}, one = {0}, two = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(c->arena, &in, value_stack(c, d, i));
  if (!case_eval(c, l, name, &in, NULL, &one, NULL)) return false;
  c->weights = access(WEIGHTS, R_OK) ? NULL : WEIGHTS;
  bool good = case_eval(c, b, door->main ? door->main : name, &in, NULL, &two, NULL);
  c->weights = NULL;
  if (!good) return false;
  if (one.n != two.n) return case_says(c, "other results by %s: %s", door->as, name);
  for (uint32_t i = 0; i < one.n; i++)
    if (!same_result(c, arena_format(c->arena, "by %s: of %s", door->as, name), &two.at[i],
                     &one.at[i]))
      return false;
  return true;
}

static bool goes_through(Case *c, Limn *l, const WholeDecl *d, const Door *door) {
  const char *name = whole_name(c->p, d->name, false);
  unlink(beside(c, "safetensors")), unlink(WEIGHTS);
  bool open = write_as(c, l, name, "safetensors") != LIMN_GOOD && has_open_weights(l);
  limn_forget(l);
  if (write_as(c, l, name, door->as) != LIMN_GOOD)
    return open || case_says(c, "not written: %s: %s", name, limn_messages(l, false));
  bool omitted;
  Limn *b = come_back(c, door, name, &omitted);
  bool good = b ? open || same_back(c, l, b, d, door) : omitted;
  limn_free(b);
  return good;
}

static bool through_onnx(Case *c, Limn *l, const WholeDecl *d) {
  return goes_through(c, l, d, &onnx);
}
static bool through_json(Case *c, Limn *l, const WholeDecl *d) {
  return goes_through(c, l, d, &json);
}

static bool all_go_through(Case *c, bool (*law)(Case *, Limn *, const WholeDecl *)) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = true;
  for (uint32_t i = 0; good && i < c->p->decl.n; i++)
    if (whole_is_quiet(c->p->decl.at[i])) good = law(c, l, c->p->decl.at[i]);
  limn_free(l);
  return good;
}

bool law_onnx(Case *c) { return all_go_through(c, through_onnx); }
bool law_json(Case *c) { return all_go_through(c, through_json); }
