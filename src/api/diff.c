// Two models side by side: programs, runs, ONNX files.
#include "api/api_own.h"

#include "port/diff/diff.h"
#include "port/import/import.h"
#include "run/step/step.h"

#include <sys/stat.h>

// One of the two, in a handle of its own.
typedef struct {
  Limn *l;
  const char *path;
  Arrays weights;
  bool has_weights;
} DiffSide;

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static LimnStatus load_onnx(ApiCall *c, DiffSide *side) {
  Imported out = {0};
  ImportOptions how = {.path = side->path, .weights = "weights.safetensors"};
  if (!import_onnx(c->scratch, c->l->diags, &how, &out)) return LIMN_WRONG;
  side->weights = out.weights;
  side->has_weights = out.weights.array.n;
  return limn_load_text(side->l, side->path, out.text, strlen(out.text));
}

static LimnStatus load_run(ApiCall *c, DiffSide *side) {
  Buf program = buf_new(c->scratch);
  const char *error;
  buf_printf(&program, "%s/program.limn", side->path);
  side->has_weights =
      safetensors_read(c->scratch, folder_weights(c->scratch, side->path), &side->weights, &error);
  return limn_load(side->l, program.at);
}

static LimnStatus load_side(ApiCall *c, DiffSide *side) {
  LimnStatus status = text_ends(side->path, ".onnx") ? load_onnx(c, side)
                      : is_folder(side->path)        ? load_run(c, side)
                                                     : limn_load(side->l, side->path);
  if (status && side->l) move_messages(c->l, side->l);
  return status;
}

// Every learner; or NAME alone. A program without learners is its boxes.
static void outline_side(ApiCall *c, DiffSide *side, const char *name, Outlines *out) {
  Limn *l = side->l;
  const Program *p = l->program;
  bool boxes = !p->learner.n;
  uint32_t n = boxes ? p->box.n : p->learner.n;
  for (uint32_t i = 0; i < n; i++) {
    const char *at = name_text(l->w->names, boxes ? p->box.at[i]->name : p->learner.at[i]->name);
    if (name && strcmp(name, at) != 0) continue;
    l->w->diags->muted++; // one whose sizes are open is compared where it is used
    const Diagram *d = diagram_trained(l->in, l->program, at);
    l->w->diags->muted--;
    if (d) outline_add(c->scratch, l->w, at, d, out);
  }
}

static void diff_json(const Buf *text, const DiffCount *n, Buf *out) {
  JsonOut j = json_out(out);
  json_object(&j, NULL);
  json_number(&j, "same", n->same);
  json_number(&j, "changed", n->changed);
  json_number(&j, "added", n->added);
  json_number(&j, "gone", n->gone);
  json_number(&j, "moved", n->moved);
  json_number(&j, "weights", n->weights);
  json_text(&j, "text", text->at);
  json_end(&j);
}

static LimnStatus diff(ApiCall *c, DiffSide side[2], const LimnDiff *how, const char **text) {
  Outlines all[2] = {{0}, {0}};
  DiffCount count = {0};
  Buf plain = buf_new(c->scratch), out = buf_new(c->answer);
  for (int i = 0; i < 2; i++) {
    LimnStatus status = load_side(c, &side[i]);
    if (status) return status;
    outline_side(c, &side[i], how->name, &all[i]);
  }
  if (how->name && !all[0].n && !all[1].n) {
    diag_error(c->l->diags, (Span){0}, "neither %s nor %s has a learner `%s`", side[0].path,
               side[1].path, how->name);
    return LIMN_WRONG;
  }
  DiffSides sides = {side[0].path, side[1].path, {NULL, NULL}};
  for (int i = 0; i < 2; i++)
    if (side[i].has_weights) sides.weights[i] = &side[i].weights;
  if (!diff_text(c->scratch, &all[0], &all[1], &sides, &plain, &count)) {
    diag_error(c->l->diags, (Span){0}, "%s and %s have too many boxes in one body to be compared",
               side[0].path, side[1].path);
    return LIMN_WRONG;
  }
  if (how->json)
    diff_json(&plain, &count, &out);
  else
    buf_add(&out, plain.at, plain.n);
  *text = out.at;
  return LIMN_GOOD;
}

LimnStatus limn_diff(Limn *l, const char *a, const char *b, const LimnDiff *how,
                     const char **text) {
  if (text) *text = NULL;
  ENTER(c, l, ANSWER_DIFF, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  LimnDiff own;
  if (!a || !b || !text)
    return call_end(c, call_misuse(c, "limn_diff wants two paths, and a place for its answer"));
  if (!diff_take(c, how, &own)) return call_end(c, LIMN_USAGE);
  DiffSide side[2] = {{.l = limn_new(), .path = a}, {.l = limn_new(), .path = b}};
  LimnStatus status = side[0].l && side[1].l ? diff(c, side, &own, text) : LIMN_SYSTEM;
  limn_free(side[0].l);
  limn_free(side[1].l);
  return call_end(c, status);
}
