// Stages of a program that are not diagrams, as text: the syntax tree, the values of a box before
// they become boxes, the plan, and the C of its kernels. With the passes of core/pass/pipeline.c
// these are all stages of `limn print --after`.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/print.h"

#include "core/pass/pipeline.h"
#include "run/engine/c/emit.h"

typedef bool PutStage(ApiCall *, const char *name, Buf *); // false with a message

// -- the tree -------------------------------------------------------------------------------------
enum { TREE_WIDTH = 96 };

static size_t group_length(const char *text) {
  size_t n = 0;
  int depth = 0;
  bool quoted = false;
  do {
    if (text[n] == '"' && !(n && text[n - 1] == '\\')) quoted = !quoted;
    if (!quoted) depth += text[n] == '(' ? 1 : text[n] == ')' ? -1 : 0;
    n++;
  } while (text[n] && (depth > 0 || quoted || (text[n] != ' ' && text[n] != ')')));
  return n;
}

// Writes a node; if it is too long for one line, each child gets a line of its own. Returns the
// text after the node.
static const char *put_node(const char *text, uint32_t indent, Buf *out) {
  size_t n = group_length(text);
  if (*text != '(' || indent + n <= TREE_WIDTH) {
    buf_printf(out, "%.*s", (int)n, text);
    return text + n;
  }
  size_t head = 1 + group_length(text + 1); // (box name
  buf_printf(out, "%.*s", (int)head, text);
  for (text += head; *text == ' ';) {
    bool inner = text[1] == '(';
    if (inner) buf_printf(out, "\n%*s", (int)indent + 2, "");
    if (!inner) buf_char(out, ' ');
    text = put_node(text + 1, indent + 2, out);
  }
  buf_char(out, ')');
  return text + 1;
}

static void put_declared(ApiCall *c, const Syntax *n, Buf *out) {
  Buf line = buf_new(c->scratch);
  tree_print(c->l->w->names, n, &line);
  put_node(line.at, 0, out);
  buf_char(out, '\n');
}

static bool is_named(const ApiCall *c, const Syntax *n, const char *name) {
  return n && n->name && strcmp(name_text(c->l->w->names, n->name), name) == 0;
}

static bool learner_is_called(const ApiCall *c, const Syntax *learner, const char *name) {
  Nodes own = names_in(learner_names(learner));
  for (uint32_t i = 0; i < own.n; i++)
    if (is_named(c, own.at[i], name)) return true;
  return false;
}

// One statement may declare several learners: `learn f, g : …`
static bool put_tree(ApiCall *c, const char *name, Buf *out) {
  Nodes all = program_declarations(c->l->program->tree);
  size_t before = out->n;
  for (uint32_t i = 0; i < all.n; i++) {
    const Syntax *n = all.at[i];
    if (!name || is_named(c, n, name))
      put_declared(c, n, out);
    else if (n->kind == N_LEARN)
      for (uint32_t k = 0; k < learn_learners(n).n; k++)
        if (learner_is_called(c, learn_learners(n).at[k], name))
          put_declared(c, learn_learners(n).at[k], out);
  }
  return out->n > before ||
         diag_refuse(c->l->diags, (Span){0}, "this program declares no `%s`", name ? name : "");
}

// -- values ---------------------------------------------------------------------------------------
// Elaborates the program once more and records values when they become boxes. Messages are muted:
// the load has reported them.
static bool put_values(ApiCall *c, const char *name, Buf *out) {
  Limn *l = c->l;
  ValueWatch watch = {.name = name, .out = buf_new(c->scratch)};
  if (!name) {
    diag_error(l->diags, (Span){0}, "`value` wants the name of a box or a learner");
    return false;
  }
  if (!diagram_named(l->in, l->program, name, NULL)) return false;
  l->diags->muted++;
  Elab *in = elab_new(l->w);
  for (uint32_t i = 0; i < l->setting.n; i++)
    elab_set(in, l->setting.at[i].name, l->setting.at[i].value);
  elab_watch(in, &watch);
  elab_program(in, l->path, l->text, l->length);
  l->diags->muted--;
  if (watch.out.n) {
    buf_text(out, watch.out.at);
    return true;
  }
  diag_error(l->diags, (Span){0}, "`%s` makes no values of its own: it is made of other boxes",
             name);
  return false;
}

// -- kernels --------------------------------------------------------------------------------------
static Plan *plan_of(ApiCall *c, const char *name) {
  World *w = c->l->w;
  Loss loss;
  const Diagram *d = diagram_or_loss(c->l->in, c->l->program, name, &loss);
  if (!d || !diagram_is_small(w, d)) return NULL;
  Plan *p = plan_make(w, passes_engine(w, d), &(PlanOptions){.samples = 64, .fuse = true});
  if (p->error) diag_error(w->diags, p->error_at, "%s", p->error);
  return p->error ? NULL : p;
}

static bool put_plan(ApiCall *c, const char *name, Buf *out) {
  const Plan *p = plan_of(c, name);
  if (p) plan_print(p, NULL, 0, out);
  return p;
}

static bool put_c(ApiCall *c, const char *name, Buf *out) {
  Plan *p = plan_of(c, name);
  if (p) emit_c(p, false, p->kernel.n, NEW_ARRAY(c->scratch, EmitKernel, p->kernel.n + 1), out);
  return p;
}

// -- by name --------------------------------------------------------------------------------------
static const struct {
  const char *name;
  PutStage *put;
} stages[] = {{"tree", put_tree}, {"value", put_values}, {"plan", put_plan}, {"c", put_c}};

static void refuse_stage(ApiCall *c, const char *stage) {
  const char *names[COUNT(stages) + AFTERS];
  uint32_t n = 0;
  Buf all = buf_new(c->scratch);
  for (uint32_t i = 0; i < COUNT(stages); i++) names[n++] = stages[i].name;
  for (uint32_t i = 0; i < AFTERS; i++) names[n++] = after_table[i].name;
  for (uint32_t i = 0; i < n; i++) buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
  Id e = diag_error(c->l->diags, (Span){0}, "there is no stage `%s`", stage);
  if (!diag_suggest(c->l->diags, e, nearest_name(stage, names, n)))
    diag_help(c->l->diags, e, "stages are %s", all.at);
}

static bool print_stage(ApiCall *c, const char *name, const char *stage, bool origins, Buf *out) {
  Limn *l = c->l;
  for (uint32_t i = 0; stage && i < COUNT(stages); i++)
    if (strcmp(stage, stages[i].name) == 0) return stages[i].put(c, name, out);
  if (stage && !after_named(stage)) {
    refuse_stage(c, stage);
    return false;
  }
  const Diagram *d = diagram_after(l->in, l->program, name, stage);
  if (d) diagram_print(l->w, d, out, origins);
  return d;
}

const char *limn_print(Limn *l, const char *name, const char *stage, bool origins) {
  ENTER(c, l, ANSWER_PRINT, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  return call_text(c, print_stage(c, name, stage, origins, &b) ? b.at : NULL);
}
