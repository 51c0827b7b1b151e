// The statements of a machine, wiring or learning diagram as an outline: each is a box that reads
// what others declare. A wire `a.x -> b.y` reads a, and b reads the wire; likewise for ends of
// maps. Only the source is compared, not what is computed.
#include "base/hash.h"
#include "base/names.h"
#include "base/table.h"
#include "show/diff/trees.h"

typedef struct {
  Arena *arena;
  const DiffSource *source;
  Nodes statement;
  const Syntax *top;
  Table *maker; // Name to the statement that declares it + 1
  Table *input; // Name to the input + 1
  Ids *reads;   // [statement] statements + 1
  Ids *inputs;  // [statement] inputs + 1
} BlockWalk;

static void push_once(Arena *arena, Ids *list, Id id) {
  for (uint32_t i = 0; i < list->n; i++)
    if (list->at[i] == id) return;
  vec_push(arena, list, id);
}

// -- declared names -------------------------------------------------------------------------------
static void declare(BlockWalk *b, uint32_t i, Name name) {
  if (name && !table_get(b->maker, &name, sizeof name))
    table_put(b->maker, &name, sizeof name, i + 1);
}

static void declare_all(BlockWalk *b, uint32_t i, const Syntax *n) {
  if (!n) return;
  Nodes parts = syntax_parts(n);
  bool names = n->kind == N_LHS || n->kind == N_TYPED || n->kind == N_AXIS || n->kind == N_SPACE ||
               n->kind == N_BOX || n->kind == N_MODE;
  bool list = n->kind == N_STATES || n->kind == N_CONSTS || n->kind == N_AXES ||
              n->kind == N_LEARN || n->kind == N_LHSS || n->kind == N_MOST;
  if (names) declare(b, i, n->name);
  if (n->kind == N_EQUATION) declare_all(b, i, equation_lhss(n));
  if (n->kind == N_PART) declare_all(b, i, part_lhss(n));
  if (n->kind == N_LEARNER) {
    Nodes own = names_in(learner_names(n));
    for (uint32_t k = 0; k < own.n; k++) declare(b, i, own.at[k]->name);
  }
  for (uint32_t k = 0; list && k < parts.n; k++) declare_all(b, i, parts.at[k]);
}

// -- reads ----------------------------------------------------------------------------------------
typedef struct {
  BlockWalk *b;
  uint32_t i;
} ReadWalk;

static bool note_read(void *context, const Syntax *n) {
  const ReadWalk *r = context;
  if (n->kind != N_NAME && n->kind != N_STEP && n->kind != N_NEXT) return false;
  Id maker = table_get(r->b->maker, &n->name, sizeof n->name);
  Id input = table_get(r->b->input, &n->name, sizeof n->name);
  if (maker && maker != r->i + 1) push_once(r->b->arena, &r->b->reads[r->i], maker);
  if (input && !maker) push_once(r->b->arena, &r->b->inputs[r->i], input);
  return false;
}

static bool note_fed(void *context, const Syntax *n) {
  const ReadWalk *f = context;
  Id maker = n->kind == N_NAME ? table_get(f->b->maker, &n->name, sizeof n->name) : 0;
  if (maker && maker != f->i + 1) push_once(f->b->arena, &f->b->reads[maker - 1], f->i + 1);
  return false;
}

// The target: the part at which a wire ends, the space in which a map ends.
static const Syntax *fed_by(const Syntax *n) {
  if (n->kind == N_ROUTE) return path_root(route_to(n));
  const Syntax *result = n->kind == N_BOX ? box_result(n) : NULL;
  if (n->kind == N_LEARN && learn_learners(n).n) result = learner_result(learn_learners(n).at[0]);
  return result && result->kind == N_SIG ? sig_to(result) : NULL;
}

static void reads_of(BlockWalk *b, uint32_t i) {
  const Syntax *n = b->statement.at[i], *fed = fed_by(n);
  ReadWalk r = {b, i};
  if (fed) syntax_any(fed, note_fed, &r);
  if (n->kind == N_ROUTE) {
    syntax_any(route_value(n), note_read, &r);
    syntax_any(route_cond(n), note_read, &r);
    return;
  }
  syntax_any(n, note_read, &r);
  for (uint32_t k = 0; fed && k < b->reads[i].n; k++) { // the target is no source
    const Syntax *maker = b->statement.at[b->reads[i].at[k] - 1];
    bool ends = false;
    for (uint32_t j = 0; j < b->reads[b->reads[i].at[k] - 1].n; j++)
      ends |= b->reads[b->reads[i].at[k] - 1].at[j] == i + 1;
    if (ends && maker->kind == N_SPACE) b->reads[i].at[k--] = b->reads[i].at[--b->reads[i].n];
  }
}

// -- the outline ----------------------------------------------------------------------------------
static void add_inputs(BlockWalk *b, Outline *out) {
  const Syntax *params = b->top->kind == N_MACHINE ? machine_params(b->top) : NULL;
  Nodes in = params ? syntax_parts(params) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < in.n; i++) {
    table_put(b->input, &in.at[i]->name, sizeof(Name), i + 1);
    vec_push(b->arena, &out->input, name_text(b->source->names, in.at[i]->name));
  }
}

static void add_outputs(BlockWalk *b, Outline *out) {
  const Syntax *result = b->top->kind == N_MACHINE ? machine_result(b->top) : NULL;
  Nodes all = result && result->kind == N_PARAMS ? syntax_parts(result) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < all.n; i++) {
    Id maker = table_get(b->maker, &all.at[i]->name, sizeof(Name));
    if (maker) vec_push(b->arena, &out->out, (int64_t)maker - 1);
  }
}

static OutlineBox statement_box(BlockWalk *b, uint32_t i) {
  const Syntax *n = b->statement.at[i];
  TreeWalk w = {.arena = b->arena, .side = {{.source = b->source}, {.source = b->source}}};
  OutlineBox box = {.name = tree_head(&w, 0, n), .type = "", .numbers = ""};
  box.word = box.name, box.kind = node_kind_name((SyntaxKind)n->kind);
  const char *all = tree_words(&w, 0, n);
  box.hash = box.form = hash_bytes(HASH_START, all, strlen(all));
  box.nin = box.args = b->reads[i].n + b->inputs[i].n;
  box.in = NEW_ARRAY(b->arena, int64_t, box.nin + 1);
  box.weight = NEW_ARRAY(b->arena, int64_t, box.nin + 1);
  for (uint32_t k = 0; k < box.nin; k++) {
    uint32_t own = b->reads[i].n;
    box.in[k] = k < own ? (int64_t)b->reads[i].at[k] - 1 : -(int64_t)b->inputs[i].at[k - own];
    box.weight[k] = -1;
  }
  return box;
}

Outline *outline_of_block(Arena *arena, const DiffSource *source, const char *name,
                          const Syntax *top) {
  const Syntax *block = top->kind == N_MACHINE ? machine_body(top) : diagram_block(top);
  if (!block || block->kind != N_BLOCK) return NULL;
  Outline *out = NEW(arena, Outline);
  out->name = name, out->whole = HASH_START, out->words = true;
  BlockWalk b = {.arena = arena, .source = source, .statement = syntax_parts(block), .top = top};
  b.maker = table_new(arena), b.input = table_new(arena);
  b.reads = NEW_ARRAY(arena, Ids, b.statement.n + 1);
  b.inputs = NEW_ARRAY(arena, Ids, b.statement.n + 1);
  add_inputs(&b, out);
  for (uint32_t i = 0; i < b.statement.n; i++) declare_all(&b, i, b.statement.at[i]);
  for (uint32_t i = 0; i < b.statement.n; i++) reads_of(&b, i);
  for (uint32_t i = 0; i < b.statement.n; i++) {
    OutlineBox box = statement_box(&b, i);
    out->whole = hash_bytes(out->whole, &box.hash, sizeof box.hash);
    vec_push(arena, &out->box, box);
  }
  add_outputs(&b, out);
  return out;
}
