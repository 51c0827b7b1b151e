// Training as Python tables: the arguments of each goal and the weights that it moves; phases with
// their optimisers, which are written as functions; stale copies. torch_training.py or
// jax_training.py interprets the tables.
#include "base/names.h"
#include "base/table.h"
#include "port/python/python_own.h"

#include <assert.h>

// -- names of weights -----------------------------------------------------------------------------
const char *python_dotted(Python *p, const char *path) {
  Buf b = buf_new(p->a);
  while (*path) {
    size_t n = strcspn(path, "/");
    buf_printf(&b, "%s%s", b.n ? "." : "", python_name(p->a, arena_text(p->a, path, n)));
    path += path[n] ? n + 1 : n;
  }
  return b.at;
}

// For each param of the loss: is it selected? Does it count when deciding whether a learner is
// selected as a whole?
typedef struct {
  bool *meant, *counts;
} WeightChoice;

static WeightChoice choice_new(Python *p) {
  uint32_t n = p->loss.diagram->param.n + 1;
  return (WeightChoice){NEW_ARRAY(p->a, bool, n), NEW_ARRAY(p->a, bool, n)};
}

static bool is_below(const char *path, const char *front, size_t n) {
  return strncmp(path, front, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool all_below(Python *p, const WeightChoice *c, const char *path, size_t n) {
  const Diagram *d = p->loss.diagram;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (c->counts[i] && !c->meant[i] && is_below(d->param.at[i].path, path, n)) return false;
  return true;
}

// ("enc.", "dec.dense.b."): prefixes of the selected names
static void put_choice(Python *p, const WeightChoice *c, Buf *b) {
  const Diagram *d = p->loss.diagram;
  Table *there = table_new(p->a);
  buf_text(b, "(");
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (!c->meant[i]) continue;
    const char *path = d->param.at[i].path;
    size_t n = strcspn(path, "/");
    if (!all_below(p, c, path, n)) n = strlen(path);
    const char *own = arena_text(p->a, path, n);
    if (table_get(there, own, n)) continue;
    table_put(there, own, n, 1);
    buf_printf(b, "\"%s.\", ", python_dotted(p, own));
  }
  if (table_count(there) > 1) b->at[b->n -= 2] = 0;
  if (table_count(there) == 1) b->at[--b->n] = 0;
  buf_text(b, ")");
}

static bool goal_has(const Goal *g, const char *path) {
  for (uint32_t i = 0; i < g->diagram->param.n; i++)
    if (!strcmp(g->diagram->param.at[i].path, path)) return true;
  return false;
}

// -- goals ----------------------------------------------------------------------------------------
// How many uses propose a state: its value counts as often. States of one use are left out.
static void put_state_uses(Python *p, const Goal *g, Buf *b) {
  const char *before = ", {";
  for (uint32_t i = 0; i < g->diagram->param.n; i++) {
    const Param *x = &g->diagram->param.at[i];
    if (!x->next || x->uses == 1 || !goal_moves_state(p->e->in, g, x)) continue;
    buf_printf(b, "%s\"%s\": %u", before, python_dotted(p, x->path), x->uses);
    before = ", ";
  }
  buf_text(b, *before == ',' && before[2] == '{' ? ", {}" : "}");
}

static void put_goal_row(Python *p, uint32_t number, Buf *b) {
  const Goal *g = &p->e->p->goal.at[number];
  const Diagram *d = p->loss.diagram;
  WeightChoice c = choice_new(p);
  const char *class = p->jax ? "" : "Goals.";
  buf_printf(b, "    \"%s\": (%s%s, (", python_goal_word(p, number), class, p->goal[number]);
  for (uint32_t i = 0; i < g->fields.n; i++)
    buf_printf(b, "%s\"%s\"%s", i ? " " : "",
               name_text(p->w->names, def_of(p->e->in, g->fields.at[i])->name),
               i + 1 < g->fields.n || !i ? "," : "");
  buf_text(b, "), ");
  for (uint32_t i = 0; i < p->masked; i++) {
    c.meant[i] = d->param.at[i].role == ROLE_WEIGHT && p->loss.mask[number][i];
    c.counts[i] = d->param.at[i].role == ROLE_WEIGHT && goal_has(g, d->param.at[i].path);
  }
  put_choice(p, &c, b);
  buf_text(b, ", ");
  buf_number(b, g->sign * g->weight);
  if (p->jax) buf_text(b, g->diagram->noisy ? ", True" : ", False");
  put_state_uses(p, g, b);
  buf_text(b, "),\n");
}

// -- rules ----------------------------------------------------------------------------------------
static Diagram *optimiser_part(Python *p, const Diagram *from, bool look) {
  Diagram *d = diagram_new(p->w, from->name);
  Id id = d->id;
  *d = *from;
  d->id = id;
  d->out = (Ids){0};
  diagram_output(p->w, d, from->out.at[look ? 0 : 1]);
  d->param.at = arena_copy(p->a, from->param.at, from->param.n * sizeof *from->param.at);
  for (uint32_t i = 0; look && i < d->param.n; i++) d->param.at[i].next = 0;
  return d;
}

// Optimiser state starts as a constant.
static void put_optimiser_state(Python *p, const Diagram *d, Buf *b) {
  buf_text(b, "(");
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *param = &d->param.at[i];
    const Type *t = &d->wire.at[param->wire].type;
    if (param->role == ROLE_CLOCK) {
      buf_printf(b, "\"%s\",%s", param->path, i + 1 < d->param.n ? " " : "");
      continue;
    }
    assert(param->init.kind == INIT_CONST);
    buf_printf(b, "(\"%s\", ", python_name(p->a, param->path));
    python_number(b, param->init.k, OUT_DOUBLE);
    buf_printf(b, ", %s, %s),%s", t->rank ? "True" : "False", param->next ? "True" : "False",
               i + 1 < d->param.n ? " " : "");
  }
  buf_text(b, ")");
}

static bool put_rule(Python *p, const OptimisedWeights *s, const WeightChoice *c, Buf *b) {
  const PythonMade *rule = python_define(p, optimiser_part(p, s->optimiser, false), true, NULL);
  const PythonMade *look =
      s->has_look ? python_define(p, optimiser_part(p, s->optimiser, true), true, NULL) : NULL;
  if (!rule || (s->has_look && !look)) return false;
  buf_text(b, "            (");
  put_choice(p, c, b);
  buf_printf(b, ", %s, %s, %s, ", rule->name, look ? look->name : "None",
             s->row      ? "\"row\""
             : s->matrix ? "\"matrix\""
                         : "None");
  put_optimiser_state(p, s->optimiser, b);
  buf_text(b, "),\n");
  return true;
}

static bool group_has(const OptimisedWeights *s, const char *path) {
  for (uint32_t i = 0; i < s->n; i++)
    if (!strcmp(s->at[i], path)) return true;
  return false;
}

static WeightChoice choice_of_group(Python *p, const Regime *r, const OptimisedWeights *s) {
  WeightChoice c = choice_new(p);
  for (uint32_t i = 0; i < p->loss.diagram->param.n; i++) {
    const Param *param = &p->loss.diagram->param.at[i];
    c.meant[i] = param->role == ROLE_WEIGHT && group_has(s, param->path);
    c.counts[i] = c.meant[i];
    for (uint32_t k = 0; k < r->stepped.n; k++)
      c.counts[i] |= group_has(&r->stepped.at[k], param->path);
  }
  return c;
}

// -- phases ---------------------------------------------------------------------------------------
static void put_turns(Python *p, const Regime *r, Buf *b) {
  buf_text(b, "        \"turns\": (");
  for (uint32_t i = 0; i < r->training.turn.n; i++) {
    WeightChoice c = choice_new(p);
    for (uint32_t k = 0; k < r->stepped.n; k++) {
      WeightChoice own = choice_of_group(p, r, &r->stepped.at[k]);
      for (uint32_t j = 0; j < p->loss.diagram->param.n; j++) {
        c.counts[j] |= own.counts[j];
        c.meant[j] |= own.meant[j] && r->stepped.at[k].turns >> i & 1;
      }
    }
    buf_text(b, "(");
    put_choice(p, &c, b);
    buf_printf(b, ", %u),%s", r->training.turn.at[i].times, i + 1 < r->training.turn.n ? " " : "");
  }
  buf_text(b, "),\n");
}

static bool has_clock(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK && !strcmp(d->param.at[i].path, path)) return true;
  return false;
}

// The number of rounds of a phase. None: the program reads it and it is unknown.
static void put_rounds(Python *p, const Regime *r, Buf *b) {
  uint64_t rounds = p->rounds[r - p->regime.at];
  bool reads = has_clock(p->loss.diagram, "steps");
  for (uint32_t i = 0; i < r->stepped.n; i++)
    reads |= has_clock(r->stepped.at[i].optimiser, "steps");
  if (rounds)
    buf_printf(b, "%llu", (unsigned long long)rounds);
  else
    buf_text(b, reads ? "None" : "float(\"inf\")");
}

static bool put_phase(Python *p, const Regime *r, Buf *b) {
  const Training *t = &r->training;
  buf_text(b, "    {\n        \"goals\": (");
  for (uint32_t i = 0; i < t->goals.n; i++)
    buf_printf(b, "\"%s\",%s", python_goal_word(p, t->goals.at[i]), i + 1 < t->goals.n ? " " : "");
  buf_text(b, "),\n        ");
  bool pass = strncmp(name_text(p->w->names, r->node->name), "pass", 4) == 0;
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"epochs", t->epochs},
                 {"batch", t->batch ? (double)t->batch
                           : pass   ? 1
                                    : 64},
                 {"accumulate", (double)t->accumulate},
                 {"clip", t->clip},
                 {"decay", t->decay}};
  buf_text(b, "\"steps\": ");
  put_rounds(p, r, b);
  for (uint32_t i = 0; i < COUNT(numbers); i++) {
    buf_printf(b, ", \"%s\": ", numbers[i].name);
    buf_number(b, numbers[i].value);
  }
  buf_text(b, ",\n");
  put_turns(p, r, b);
  buf_text(b, "        \"rules\": (\n");
  for (uint32_t i = 0; i < r->stepped.n; i++) {
    WeightChoice c = choice_of_group(p, r, &r->stepped.at[i]);
    if (!put_rule(p, &r->stepped.at[i], &c, b)) return false;
  }
  buf_text(b, "        ),\n        \"copies\": (");
  for (uint32_t i = 0; i < r->followed.n; i++) {
    const StaleCopy *c = &r->followed.at[i];
    buf_printf(b, "\n            (\"%s\", \"%s\", ", python_dotted(p, c->param.path),
               python_dotted(p, c->of));
    buf_number(b, c->number);
    buf_printf(b, ", %s),", c->by ? "True" : "False");
  }
  buf_text(b, "),\n    },\n");
  return true;
}

// -- the whole ------------------------------------------------------------------------------------
// Copies start equal to what they follow; a copy of a copy comes later.
void python_start_copies(Python *p, Buf *b) {
  for (uint32_t i = 0; i < p->regime.n; i++)
    for (uint32_t k = 0; k < p->regime.at[i].start.n; k++) {
      const StaleStart *s = &p->regime.at[i].start.at[k];
      if (p->jax)
        buf_printf(b, "    %s = %s\n", python_path(p, s->path), python_path(p, s->as));
      else
        buf_printf(b, "        %s.data.copy_(%s.data)\n", python_path(p, s->path),
                   python_path(p, s->as));
    }
}

// Fields that are drawn at random, and their distribution; other fields are data.
static void put_drawn(Python *p, Buf *b) {
  const Program *program = p->e->p;
  buf_text(b, "\n\n# What is drawn for each step, where nothing is given for it.\nDRAWN = {");
  for (uint32_t i = 0; i < program->given.n; i++) {
    const Given *g = &program->given.at[i];
    const Diagram *d = g->noise;
    int64_t n;
    if (!d || d->box.n != 2 || d->box.at[1].op != OP_random || d->param.n) continue;
    const Type *t = &d->wire.at[d->out.at[0]].type;
    for (uint32_t k = 0; k < g->field.n; k++) {
      buf_printf(b, "\"%s\": (\"%s\", (", name_text(p->w->names, g->field.at[k]->name),
                 d->box.at[1].random->noise == NOISE_NORMAL ? "normal" : "uniform");
      for (uint32_t j = 0; j < t->rank; j++)
        if (size_value(p->w, t->axis[j].size, &n)) buf_printf(b, "%lld, ", (long long)n);
      buf_text(b, ")), ");
    }
  }
  buf_text(b, "}\n");
}

static void put_paths(Python *p, Buf *b) {
  const Diagram *d = p->loss.diagram;
  uint32_t width = 0;
  buf_text(b, "\n\n# The weights and states, as limn calls them.\nPATHS = \"\"\"");
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (d->param.at[i].role != ROLE_WEIGHT && d->param.at[i].role != ROLE_BUFFER) continue;
    uint32_t n = (uint32_t)strlen(d->param.at[i].path);
    bool more = width && width + n < 96;
    buf_printf(b, "%s%s", more ? " " : "\n", d->param.at[i].path);
    width = more ? width + n + 1 : n;
  }
  buf_text(b, "\n\"\"\".split()\n");
}

// JAX: paths in the tree that are no weights.
static void put_states(Python *p, Buf *b) {
  const Diagram *d = p->loss.diagram;
  buf_text(b, "\n\n# What no rule steps.\nSTATES = {");
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role != ROLE_WEIGHT)
      buf_printf(b, "\n    \"%s\",", python_dotted(p, d->param.at[i].path));
  buf_text(b, "\n}\n");
}

// Optimisers are functions, so they are defined before the tables.
bool python_training(Python *p, Buf *b) {
  if (!fields_are_distinct(p->e->in, p->e->p)) return false;
  buf_text(b, "\n\n# A goal: what it is given, the weights that it moves, whose names begin so, "
              "and how much it\n"
              "# counts: below 0, what it shows is made large. Last, how many uses a state has, if "
              "several.\n"
              "GOALS = {\n");
  for (uint32_t g = 0; g < p->e->p->goal.n; g++) put_goal_row(p, g, b);
  buf_text(b,
           "}\n\n\n# The `train` statements. A rule: the weights that it steps, its function, what "
           "the model sees in\n# their place, the form in which it has them, and what it keeps "
           "(name, first value, whether it is as\n# large as the weight, whether it changes) or "
           "reads of the clock. A copy: what it follows, how often\n# or how much it keeps.\n"
           "PHASES = (\n");
  for (uint32_t i = 0; i < p->regime.n; i++)
    if (!put_phase(p, &p->regime.at[i], b)) return false;
  buf_text(b, ")\n");
  put_drawn(p, b);
  put_paths(p, b);
  if (p->jax) put_states(p, b);
  buf_text(b, p->jax ? jax_training : torch_training);
  return true;
}
