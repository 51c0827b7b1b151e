// Questions about a program: what it declares, who moves whom, what a box is after which passes,
// what it costs; and the layout of a text.
#include "api/api_own.h"

#include "core/pass/pipeline.h"
#include "lang/learning/learning.h"

// -- what is in a program -------------------------------------------------------------------------
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
  buf_printf(
      b, "{\"boxes\": %u, \"learners\": %u, \"goals\": %u, \"measures\": %u, \"weights\": %llu}",
      p->box.n, p->learner.n, p->goal.n, p->measure.n, (unsigned long long)weights);
}

static void summary(World *w, const Program *p, uint64_t weights, Buf *b) {
  bool any = false;
  count_line(b, p->box.n, "box", "boxes", &any);
  count_line(b, p->learner.n, "learner", "learners", &any);
  count_line(b, p->learning.n, "learning diagram", "learning diagrams", &any);
  count_line(b, p->machines, "machine", "machines", &any);
  count_line(b, p->goal.n, "goal", "goals", &any);
  count_line(b, p->measure.n, "measure", "measures", &any);
  if (weights) buf_printf(b, "%s%llu weights", any ? ", " : "", (unsigned long long)weights);
  if (!any) buf_text(b, "nothing declared");
  buf_char(b, '\n');
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->fallback)
      buf_printf(b, "  %s has no body; in its place: %s\n",
                 name_text(w->names, p->learner.at[i]->name), p->learner.at[i]->fallback);
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

const char *limn_who(Limn *l, bool json) {
  ENTER(c, l, ANSWER_WHO, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  if (json)
    learn_who_json(l->in, l->program, &b);
  else
    learn_who(l->in, l->program, &b);
  return call_text(c, b.at);
}

// The one of that name; NULL with a message.
static const Learning *find_learning(Limn *l, const char *name) {
  const Program *p = l->program;
  VEC(const char *) names = {0};
  for (uint32_t i = 0; i < p->learning.n; i++) {
    const char *own = name_text(l->w->names, p->learning.at[i]->name);
    vec_push(l->world, &names, own);
    if (strcmp(own, name) == 0) return p->learning.at[i];
  }
  const char *near = nearest_name(name, names.at, names.n);
  Id e = diag_error(l->diags, (Span){0}, "there is no learning diagram `%s` in this program", name);
  if (near) diag_help(l->diags, e, "did you mean `%s`?", near);
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

const char *limn_print(Limn *l, const char *name, const char *pass, bool origins) {
  ENTER(c, l, ANSWER_PRINT, NEEDS_PROGRAM, NULL, NULL);
  Buf b = buf_new(c->answer);
  const Diagram *d = diagram_after(l->in, l->program, name, pass);
  if (d) diagram_print(l->w, d, &b, origins);
  return call_text(c, d ? b.at : NULL);
}

// -- cost -----------------------------------------------------------------------------------------
static void cost_row(World *w, Buf *b, const char *what, Size s, bool json, bool last) {
  double number;
  bool known = size_number(w, s, &number);
  if (json) {
    buf_printf(b, "\"%s\": ", what);
    if (known)
      buf_number(b, number);
    else
      buf_json(b, size_text(w, s), strlen(size_text(w, s)));
    if (!last) buf_text(b, ", ");
    return;
  }
  buf_printf(b, "  %-16s %s\n", what, size_text(w, s));
}

static void cost_block(World *w, Buf *b, const char *title, const Cost *c, bool json) {
  if (json)
    buf_printf(b, "\"%s\": {", title);
  else
    buf_printf(b, "%s\n", title);
  cost_row(w, b, "multiplications", c->multiplications, json, false);
  cost_row(w, b, "additions", c->additions, json, false);
  cost_row(w, b, "functions", c->functions, json, false);
  cost_row(w, b, "memory, peak", c->memory_peak, json, false);
  cost_row(w, b, "memory, all", c->memory_all, json, true);
  if (json) buf_char(b, '}');
}

static bool is_differentiable(const Diagram *d) {
  for (uint32_t i = 0; i < d->out.n; i++)
    if (d->wire.at[d->out.at[i]].type.base == BASE_LABEL) return false;
  return true;
}

static void cost_of_reverse(World *w, const Diagram *d, const Diagram *flat, const Loss *loss,
                            bool json, Buf *b) {
  const Diagram *back = loss->mask ? passes_gradient(w, d, loss->mask) : passes_reverse(w, d);
  Cost reverse = diagram_cost(w, back), naive = diagram_cost_forward_mode(w, flat);
  buf_text(b, json ? ", " : "\n");
  cost_block(w, b, json ? "reverse" : "reverse (values and gradients)", &reverse, json);
  buf_text(b, json ? ", " : "\n");
  cost_block(w, b,
             json ? "naive" : "naive (the forward derivative, once for each number it depends on)",
             &naive, json);
}

static void cost(World *w, const Diagram *d, const Loss *loss, bool json, Buf *b) {
  Diagram *flat = passes_view(w, d);
  Cost forward = diagram_cost(w, flat);
  if (json)
    buf_char(b, '{');
  else
    buf_printf(b, "%s: numbers counted, sizes by their names\n\n", name_text(w->names, d->name));
  cost_block(w, b, "forward", &forward, json);
  if (is_differentiable(d)) cost_of_reverse(w, d, flat, loss, json, b);
  if (json) buf_char(b, '}');
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
// NULL with messages. Nothing of the program that is loaded is touched.
static const char *format_text(Call *c, Arena *to, const char *path, const char *text, size_t n) {
  Diags *diags = c->l->diags;
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

static LimnStatus format_file(Call *c, const char *path, bool check, bool *same) {
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
