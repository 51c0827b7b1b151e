// Writes the statements of a graph: a value that is read once is nested in its reader while that
// stays readable; others are assigned to variables with their names from the program.
#include "port/python/python_own.h"

enum { LINE_MOST = 64 }; // maximal length of a nested expression

// -- use counts -----------------------------------------------------------------------------------
static bool made_in(const GraphLevel *level, Id node) {
  for (uint32_t i = 0; i < level->node.n; i++)
    if (level->node.at[i] == node) return true;
  return false;
}

static void count_uses(PythonText *t, const GraphLevel *level);

// A value read inside a loop is computed before it, so its use counts as one outside.
static void count_use(PythonText *t, const GraphLevel *level, Id value) {
  const GraphValue *v = arrays_value(t->o, value);
  t->uses[value] += v->node && !made_in(level, v->node) ? 2 : 1;
  if (v->node) t->alive[v->node] = true;
}

// Readers come after what they read.
static void count_uses(PythonText *t, const GraphLevel *level) {
  for (uint32_t i = 0; i < level->out.n; i++) count_use(t, level, level->out.at[i]);
  for (uint32_t i = level->node.n; i-- > 0;) {
    const GraphNode *n = &t->o->node.at[level->node.at[i]];
    if (!t->alive[level->node.at[i]]) continue;
    if (n->inside) count_uses(t, n->inside);
    for (uint32_t k = 0; k < n->in.n; k++) count_use(t, level, n->in.at[k]);
  }
}

// -- lines ----------------------------------------------------------------------------------------
static void put_line(PythonText *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_line(PythonText *t, const char *format, ...) {
  va_list args;
  for (int i = 0; i < t->indent; i++) buf_text(t->out, "    ");
  va_start(args, format);
  buf_vprintf(t->out, format, args);
  va_end(args);
  buf_char(t->out, '\n');
}

static const char *plain_name(PythonText *t, Id value) {
  static const struct {
    const char *op, *name;
  } usual[] = {{"Shape", "n"}, {"Reshape", "flat"}, {"Scan", "rows"}, {"Noise", "noise"}};
  const GraphValue *v = arrays_value(t->o, value);
  const GraphNode *n = &t->o->node.at[v->node];
  const char *name = v->name && *v->name ? v->name : "h";
  for (uint32_t i = 0; v->node && i < COUNT(usual); i++)
    if ((!v->name || !*v->name) && !strcmp(n->op, usual[i].op)) name = usual[i].name;
  return python_name(t->p->a, name);
}

static const char *assign_name(PythonText *t, Id value) {
  t->text[value] = python_local(t->p, t->taken, plain_name(t, value));
  t->prec[value] = PREC_ATOM;
  return t->text[value];
}

static const char *list_of(PythonText *t, const Ids *of, uint32_t from, uint32_t n, bool array) {
  Buf b = buf_new(t->p->a);
  for (uint32_t i = from; i < from + n; i++)
    buf_printf(&b, "%s%s", i > from ? ", " : "",
               array ? python_array(t, of->at[i], PREC_ANY)
                     : python_operand(t, of->at[i], PREC_ANY));
  return b.at;
}

static const char *tuple(PythonText *t, const char *list, uint32_t n) {
  return arena_format(t->p->a, n == 1 ? "(%s,)" : "(%s)", list);
}

static void put_statements(PythonText *t, const GraphLevel *level);

// -- scans ----------------------------------------------------------------------------------------
static const char *name_list(PythonText *t, const Ids *of, uint32_t from, uint32_t n) {
  Buf b = buf_new(t->p->a);
  for (uint32_t i = from; i < from + n; i++)
    buf_printf(&b, "%s%s", i > from ? ", " : "", assign_name(t, of->at[i]));
  return b.at;
}

static void put_torch_scan(PythonText *t, const GraphNode *n, uint32_t carry, bool back) {
  Arena *a = t->p->a;
  const GraphLevel *body = n->inside;
  uint32_t slices = body->in.n - carry, emitted = body->out.n - carry;
  const char *carries = name_list(t, &body->in, 0, carry);
  if (carry) put_line(t, "%s = %s", carries, list_of(t, &n->in, 0, carry, true));
  const char **rows = NEW_ARRAY(a, const char *, emitted + 1);
  for (uint32_t i = 0; i < emitted; i++) {
    rows[i] = assign_name(t, n->out.at[carry + i]);
    put_line(t, "%s = []", rows[i]);
  }
  Buf over = buf_new(a);
  for (uint32_t i = 0; i < slices; i++)
    buf_printf(&over, "%s%s%s", i ? ", " : "",
               arrays_is_known(t->o, n->in.at[carry + i])
                   ? python_constant(t, n->in.at[carry + i], true)
                   : python_operand(t, n->in.at[carry + i], PREC_ATOM),
               back ? ".flip(0)" : "");
  const char *slice = name_list(t, &body->in, carry, slices);
  put_line(t, slices > 1 ? "for %s in zip(%s):" : "for %s in %s:", slice, over.at);
  t->indent++;
  put_statements(t, body);
  for (uint32_t i = 0; i < emitted; i++)
    put_line(t, "%s.append(%s)", rows[i], python_operand(t, body->out.at[carry + i], PREC_ANY));
  if (carry) put_line(t, "%s = %s", carries, list_of(t, &body->out, 0, carry, true));
  t->indent--;
  for (uint32_t i = 0; i < carry; i++) {
    t->text[n->out.at[i]] = t->text[body->in.at[i]];
    t->prec[n->out.at[i]] = PREC_ATOM;
  }
  for (uint32_t i = 0; i < emitted; i++)
    put_line(t, "%s = torch.stack(%s%s)", rows[i], rows[i], back ? "[::-1]" : "");
}

// Does the body draw noise? Then each iteration gets a key.
static bool draws(const PythonText *t, const GraphLevel *level) {
  for (uint32_t i = 0; i < level->node.n; i++) {
    const GraphNode *n = &t->o->node.at[level->node.at[i]];
    const OutAttribute *call = python_attribute(n, "call");
    if (!strcmp(n->op, "Noise") || (call && strstr(call->text, "fold_in(key")) ||
        (n->inside && draws(t, n->inside)))
      return true;
  }
  return false;
}

static void put_jax_scan(PythonText *t, const GraphNode *n, uint32_t carry, bool back) {
  const GraphLevel *body = n->inside;
  uint32_t slices = body->in.n - carry, emitted = body->out.n - carry;
  const char *step = python_unique(t->p->a, t->taken, "step");
  const char *first = tuple(t, list_of(t, &n->in, 0, carry, true), carry),
             *all = list_of(t, &n->in, carry, slices, true);
  bool key = draws(t, body);
  if (key)
    all = arena_format(t->p->a, "%s, jax.random.split(%s, %s.shape[0])", all,
                       python_key(python_work(t->o)), python_array(t, n->in.at[carry], PREC_ATOM));
  const char *over = tuple(t, all, slices + key);
  put_line(t, "def %s(carry, row):", step);
  t->indent++;
  if (carry) put_line(t, "%s = carry", tuple(t, name_list(t, &body->in, 0, carry), carry));
  const char *row = name_list(t, &body->in, carry, slices);
  if (key) row = arena_format(t->p->a, "%s, key", row);
  put_line(t, "%s = row", tuple(t, row, slices + key));
  put_statements(t, body);
  const char *carries = tuple(t, list_of(t, &body->out, 0, carry, true), carry);
  put_line(t, "return %s, %s", carries,
           tuple(t, list_of(t, &body->out, carry, emitted, true), emitted));
  t->indent--;
  const char *last = tuple(t, name_list(t, &n->out, 0, carry), carry);
  const char *rows = tuple(t, name_list(t, &n->out, carry, emitted), emitted);
  put_line(t, "%s, %s = jax.lax.scan(%s, %s, %s%s)", carry ? last : "_", emitted ? rows : "_", step,
           first, over, back ? ", reverse=True" : "");
}

static void put_scan(PythonText *t, const GraphNode *n) {
  uint32_t carry = n->in.n - (uint32_t)python_attribute(n, "num_scan_inputs")->number;
  bool back = python_attribute(n, "scan_input_directions");
  (t->p->jax ? put_jax_scan : put_torch_scan)(t, n, carry, back);
}

// -- the rest -------------------------------------------------------------------------------------
static void put_statement(PythonText *t, const GraphNode *n) {
  int prec;
  bool host;
  if (n->inside) {
    put_scan(t, n);
    return;
  }
  Id out = n->out.at[!strcmp(n->op, "TopK") ? 1 : 0];
  const char *text = python_node(t, n, &prec, &host);
  t->text[out] = text;
  t->prec[out] = prec;
  t->host[out] = host;
  if (!strcmp(n->op, "Call") && n->out.n > 1) {
    put_line(t, "%s = %s", name_list(t, &n->out, 0, n->out.n), text);
    return;
  }
  bool short_one = strlen(text) <= LINE_MOST && (t->uses[out] == 1 || prec == PREC_ATOM);
  bool word = true;
  for (const char *at = text; *at; at++) word &= char_is_word(*at) || *at == '_' || *at == '.';
  if (short_one && (t->uses[out] == 1 || word)) return;
  put_line(t, "%s = %s", assign_name(t, out), text);
}

static void put_statements(PythonText *t, const GraphLevel *level) {
  for (uint32_t i = 0; i < level->node.n && !t->o->failed; i++)
    if (t->alive[level->node.at[i]]) put_statement(t, &t->o->node.at[level->node.at[i]]);
}

// Returns a goal's loss and its updated states by name.
static void put_return(PythonText *t, const PythonWork *work) {
  const Ids *out = &t->o->level->out;
  if (!work->goals) {
    put_line(t, "return %s", list_of(t, out, 0, out->n, true));
    return;
  }
  Buf moved = buf_new(t->p->a);
  for (uint32_t i = 1; i < out->n; i++)
    if (*work->states[i - 1])
      buf_printf(&moved, "%s\"%s\": %s", moved.n ? ", " : "", work->states[i - 1],
                 python_array(t, out->at[i], PREC_ANY));
  const char *loss = python_array(t, out->at[0], PREC_ANY);
  if (moved.n)
    put_line(t, "return %s, {%s}", loss, moved.at);
  else
    put_line(t, "return %s", loss);
}

void python_body(ArrayGraph *o, Python *p, Table *taken, const char **name, Buf *out) {
  PythonText t = {.o = o, .p = p, .taken = taken, .out = out, .indent = p->jax ? 1 : 2};
  uint32_t n = o->value.n + 64; // operands of helpers are added while writing
  t.alive = NEW_ARRAY(p->a, bool, o->node.n + 1);
  t.uses = NEW_ARRAY(p->a, uint32_t, n);
  t.text = NEW_ARRAY(p->a, const char *, n);
  t.prec = NEW_ARRAY(p->a, int, n);
  t.host = NEW_ARRAY(p->a, bool, n);
  for (Id i = 1; i < o->value.n; i++)
    if (name[i]) t.text[i] = name[i], t.prec[i] = PREC_ATOM;
  const PythonWork *work = python_work(o);
  if (!p->jax && !work->goals && (work->flat || !work->d->param.n)) t.indent = 1;
  count_uses(&t, o->level);
  put_statements(&t, o->level);
  if (o->failed) return;
  put_return(&t, work);
}
