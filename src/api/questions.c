// Questions about a program: its declarations, which goals train which learners, a box after a
// number of passes, costs; and formatting of source text.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"

#include "core/pass/pipeline.h"
#include "lang/learning/learning.h"
#include "lang/value/value.h"

// -- summary --------------------------------------------------------------------------------------
static void count_line(Buf *b, uint32_t n, const char *one, const char *many, bool *any) {
  if (!n) return;
  buf_printf(b, "%s%u %s", *any ? ", " : "", n, n == 1 ? one : many);
  *any = true;
}

static uint64_t weights_of(World *w, const Program *p, Arena *scratch) {
  uint64_t n = 0;
  Table *seen = table_new(scratch);
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const Diagram *d = p->goal.at[g].diagram;
    for (uint32_t i = 0; d && i < d->param.n; i++) {
      const Param *q = &d->param.at[i];
      int64_t count;
      if (q->role != ROLE_WEIGHT || table_get(seen, q->path, strlen(q->path)) ||
          !type_count(w, &d->wire.at[q->wire].type, &count))
        continue;
      table_put(seen, q->path, strlen(q->path), 1);
      n += (uint64_t)count;
    }
  }
  return n;
}

static void summary_json(const Program *p, uint64_t weights, Buf *b) {
  JsonOut j = json_out(b);
  json_object(&j, NULL);
  json_number(&j, "boxes", p->box.n);
  json_number(&j, "learners", p->learner.n);
  json_number(&j, "goals", p->goal.n);
  json_number(&j, "measures", p->measure.n);
  json_number(&j, "weights", (double)weights);
  json_end(&j);
}

bool has_open_space(const Program *p) {
  for (uint32_t i = 0; i < p->space.n; i++)
    if (p->space.at[i]->size) return true;
  return false;
}

static void summary(World *w, const Program *p, uint64_t weights, Buf *b) {
  bool any = false;
  count_line(b, p->box.n, "box", "boxes", &any);
  count_line(b, p->learner.n, "learner", "learners", &any);
  count_line(b, p->learning.n, "learning diagram", "learning diagrams", &any);
  count_line(b, p->machines, "machine", "machines", &any);
  count_line(b, p->goal.n, "goal", "goals", &any);
  count_line(b, p->measure.n, "measure", "measures", &any);
  bool open = has_open_space(p);
  if (weights)
    buf_printf(b, "%s%llu weight%s%s", any ? ", " : "", (unsigned long long)weights,
               weights == 1 && !open ? "" : "s", open ? " and more" : "");
  if (!any) buf_text(b, "nothing declared");
  buf_char(b, '\n');
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->fallback)
      buf_printf(b, "  %s has no body; in its place: %s\n",
                 name_text(w->names, p->learner.at[i]->name), p->learner.at[i]->fallback);
  for (uint32_t i = 0; i < p->space.n; i++)
    if (p->space.at[i]->size)
      buf_printf(b, "  space %s is open: `set %s = R[20]` gives it a type\n",
                 name_text(w->names, p->space.at[i]->name),
                 name_text(w->names, p->space.at[i]->name));
}

const char *limn_summary(Limn *l, bool json) {
  ENTER(c, l, ANSWER_SUMMARY, NEEDS_READING, NULL, NULL);
  Buf b = buf_new(c->answer);
  uint64_t weights = weights_of(l->w, l->program, c->scratch);
  if (json)
    summary_json(l->program, weights, &b);
  else
    summary(l->w, l->program, weights, &b);
  return call_text(c, b.at);
}

static void name_list(World *w, JsonOut *j, const char *key, Def *const *def, uint32_t n) {
  json_list(j, key);
  for (uint32_t i = 0; i < n; i++) json_text(j, NULL, name_text(w->names, def[i]->name));
  json_end(j);
}

static void machine_names(Limn *l, JsonOut *j) {
  const Table *names = l->program->scope->names;
  json_list(j, "machines");
  for (uint32_t i = 0; i < table_count(names); i++) {
    const Def *d = def_of(l->in, table_value(names, i));
    if (d->kind == DEF_MACHINE && d->scope == l->program->scope)
      json_text(j, NULL, name_text(l->w->names, d->name));
  }
  json_end(j);
}

static void goal_names(Limn *l, JsonOut *j) {
  const Program *p = l->program;
  json_list(j, "goals");
  for (uint32_t i = 0; i < p->goal.n; i++)
    json_text(j, NULL, name_text(l->w->names, p->goal.at[i].name));
  json_end(j);
  json_list(j, "measures");
  for (uint32_t i = 0; i < p->measure.n; i++)
    json_text(j, NULL, name_text(l->w->names, p->measure.at[i].name));
  json_end(j);
  json_list(j, "given");
  for (uint32_t i = 0; i < p->given.n; i++)
    for (uint32_t k = 0; k < p->given.at[i].field.n; k++)
      if (!p->given.at[i].noise && p->given.at[i].field.at[k])
        json_text(j, NULL, name_text(l->w->names, p->given.at[i].field.at[k]->name));
  json_end(j);
}

const char *limn_names(Limn *l) {
  ENTER(c, l, ANSWER_NAMES, NEEDS_LOOKING, NULL, NULL);
  const Program *p = l->program;
  Buf b = buf_new(c->answer);
  JsonOut j = json_out(&b);
  json_object(&j, NULL);
  name_list(l->w, &j, "boxes", p->box.at, p->box.n);
  name_list(l->w, &j, "learners", p->learner.at, p->learner.n);
  json_list(&j, "diagrams");
  for (uint32_t i = 0; i < p->learning.n; i++)
    json_text(&j, NULL, name_text(l->w->names, p->learning.at[i]->name));
  json_end(&j);
  machine_names(l, &j);
  goal_names(l, &j);
  json_end(&j);
  return call_text(c, b.at);
}

const char *limn_who(Limn *l, bool json) {
  ENTER(c, l, ANSWER_WHO, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  uint32_t errors = l->diags->errors;
  if (json)
    learn_who_json(l->in, l->program, &b);
  else
    learn_who(l->in, l->program, &b);
  return call_text(c, l->diags->errors == errors ? b.at : NULL);
}

// NULL with a message.
static const Learning *find_learning(Limn *l, const char *name) {
  const Program *p = l->program;
  Nearest near = nearest_to(name);
  for (uint32_t i = 0; i < p->learning.n; i++) {
    const char *own = name_text(l->w->names, p->learning.at[i]->name);
    nearest_try(&near, own);
    if (strcmp(own, name) == 0) return p->learning.at[i];
  }
  Id e = diag_error(l->diags, (Span){0}, "there is no learning diagram `%s` in this program", name);
  diag_suggest(l->diags, e, near.best);
  return NULL;
}

const char *limn_paths(Limn *l, const char *name, bool json) {
  ENTER(c, l, ANSWER_PATHS, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  const Learning *only = name ? find_learning(l, name) : NULL;
  if (name && !only) return call_text(c, NULL);
  if (json)
    elab_paths_json(l->in, l->program, only, &b);
  else
    elab_paths(l->in, l->program, only, &b);
  return call_text(c, b.at);
}

const char *limn_find(Limn *l, const char *pattern, bool json) {
  ENTER(c, l, ANSWER_FIND, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  if (!pattern) call_misuse(c, "limn_find wants a pattern, as \"dense ; relu\"");
  bool good = pattern && elab_find(l->in, l->program, pattern, json, &b);
  return call_text(c, good ? b.at : NULL);
}

// -- cost -----------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Buf *out;
  bool json;
  JsonOut j;
} CostText;

static void cost_row(CostText *t, const char *what, Size s) {
  double number;
  if (!t->json)
    buf_printf(t->out, "  %-16s %s\n", what, size_text(t->w, s));
  else if (size_number(t->w, s, &number))
    json_number(&t->j, what, number);
  else
    json_text(&t->j, what, size_text(t->w, s));
}

// key: in JSON; title: in text
static void cost_block(CostText *t, const char *key, const char *title, const Cost *c) {
  if (t->json)
    json_object(&t->j, key);
  else
    buf_printf(t->out, "\n%s\n", title);
  cost_row(t, "multiplications", c->multiplications);
  cost_row(t, "additions", c->additions);
  cost_row(t, "functions", c->functions);
  cost_row(t, "memory, peak", c->memory_peak);
  cost_row(t, "memory, all", c->memory_all);
  if (t->json) json_end(&t->j);
}

static void cost_of_reverse(CostText *t, const Diagram *d, const Diagram *flat, const Loss *loss) {
  World *w = t->w;
  const Diagram *back = loss->mask ? passes_gradient(w, d, loss->mask) : passes_reverse(w, d);
  Cost reverse = diagram_cost(w, back), naive = diagram_cost_forward_mode(w, flat);
  cost_block(t, "reverse", "reverse (values and gradients)", &reverse);
  cost_block(t, "naive", "naive (the forward derivative, once for each number it depends on)",
             &naive);
}

static void cost(World *w, const Diagram *d, const Loss *loss, bool json, Buf *b) {
  CostText t = {w, b, json, json_out(b)};
  Diagram *flat = passes_view(w, d);
  Cost forward = diagram_cost(w, flat);
  if (json)
    json_object(&t.j, NULL);
  else
    buf_printf(b, "%s: numbers counted, sizes by their names\n", name_text(w->names, d->name));
  cost_block(&t, "forward", "forward", &forward);
  if (!label_results(d)) cost_of_reverse(&t, d, flat, loss);
  if (json) json_end(&t.j);
}

const char *limn_cost(Limn *l, const char *name, bool json) {
  ENTER(c, l, ANSWER_COST, NEEDS_PROGRAM, NULL, NULL);
  Loss loss;
  Buf b = buf_new(c->answer);
  const Diagram *d = diagram_or_loss(l->in, l->program, name, &loss);
  bool good = d && diagram_is_small(l->w, d);
  if (good) cost(l->w, d, &loss, json, &b);
  return call_text(c, good ? b.at : NULL);
}

// -- layout ---------------------------------------------------------------------------------------
// NULL with messages. Leaves the loaded program as it is.
const char *format_text(ApiCall *c, Arena *to, const char *path, const char *text, size_t n) {
  Diags *diags = c->l->diags;
  if (n > TEXT_LIMIT) {
    diag_error(diags, (Span){0}, "cannot read %s: it is larger than %d bytes", path, TEXT_LIMIT);
    return NULL;
  }
  Sources *sources = sources_new(c->scratch), *loaded = diags->sources;
  Front front = {c->scratch, names_new(c->scratch), diags, sources};
  uint32_t file = source_add(sources, path, text, n), errors = diags->errors;
  Buf b = buf_new(to);
  diags->sources = sources;
  Syntax *tree = parse(&front, file);
  diags_settle(diags);
  diags->sources = loaded;
  if (diags->errors > errors) return NULL;
  format_program(&front, file, tree, &b);
  return b.at;
}

const char *limn_format(Limn *l, const char *path, const char *text, size_t n) {
  ENTER(c, l, ANSWER_FORMAT, NEEDS_NOTHING, NULL, NULL);
  bool good = path && (text || !n);
  if (!good) call_misuse(c, "limn_format wants a path and a text");
  return call_text(c, good ? format_text(c, c->answer, path, text, n) : NULL);
}

static LimnStatus format_file(ApiCall *c, const char *path, bool check, bool *same) {
  Diags *diags = c->l->diags;
  FileText f = file_read(c->scratch, path, TEXT_LIMIT);
  if (!f.text) {
    diag_error(diags, (Span){0}, "cannot read %s: %s", path, f.error);
    return LIMN_WRONG;
  }
  const char *text = format_text(c, c->scratch, path, f.text, f.n);
  if (!text) return LIMN_WRONG;
  *same = strlen(text) == f.n && memcmp(text, f.text, f.n) == 0;
  if (*same || check) return LIMN_GOOD;
  const char *error = file_write(c->scratch, path, text, strlen(text));
  if (!error) return LIMN_GOOD;
  diag_error(diags, (Span){0}, "cannot write %s: %s", path, error);
  return LIMN_SYSTEM;
}

LimnStatus limn_format_file(Limn *l, const char *path, bool check, bool *same) {
  ENTER(c, l, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!path || !same)
    return call_end(c, call_misuse(c, "limn_format_file wants a path, and where to say `same`"));
  return call_end(c, format_file(c, path, check, same));
}
