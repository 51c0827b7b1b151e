// Queues compared with the formulas of queueing theory, and machines whose options are boxes with
// the same machines without options.
//
// In a queue an event triggers others: a customer who arrives at an idle station is served at that
// moment, and one who leaves a station arrives at the next. The mean number of customers is known;
// a run may differ from it by six standard deviations for its length. Customers are conserved: each
// arrival is in the system or has left.
#include "base/diag.h"
#include "hybrid_laws.h"

#include <string.h>

// All runs of a program, in one of both ways.
static bool all_followed(HybridCase *c, const char *text, Ran *r) {
  SimOptions how = {.threads = 1, .reference = c->h->seed % 2, .seed = c->h->seed};
  *r = ran_read(text);
  if (r->w->diags->errors) return hybrid_differs(c, text, "refused: %s", ran_messages(r));
  r->f = NEW_ARRAY(r->arena, Followed, r->p->ran->run.n + 1);
  for (uint32_t i = 0; i < r->p->ran->run.n; i++)
    if (!follow_run(r->in, r->p, i, &how, &r->f[i]))
      return hybrid_differs(c, text, "stopped: %s", ran_messages(r));
  return true;
}

static double last_of(const Ran *r, const char *name) {
  const SimRecord *record = &r->f[0].record;
  for (uint32_t i = 0; i < record->channel.n; i++) {
    const SimChannel *x = &record->channel.at[i];
    if (!strcmp(x->name, name) && x->value.n) return x->value.at[x->value.n - 1];
  }
  return NAN;
}

// -- queues ---------------------------------------------------------------------------------------
typedef enum { QUEUE_MARKOV, QUEUE_FIXED, QUEUE_REPAIR, QUEUE_TANDEM, QUEUE_KINDS } QueueKind;
typedef struct {
  QueueKind kind;
  uint32_t servers, machines;
  double rate, end; // of arrivals, or of failures; each server serves one in a unit of time
} Queue;

static const char
    source[] = "machine Source[rate] -> (k: R[]) {\n"
               "  state k = 0, at = 0, c = 0\n"
               "  c' = 1\n"
               "  next k = k + 1 when c >= at\n"
               "  next at = at - log(uniform[]) / rate when c >= at\n"
               "}\n",
    // Service has no memory: its end is drawn anew whenever somebody comes or goes.
    station[] = "machine Station[servers](k: R[]) -> (n, got, done, area: R[]) {\n"
                "  state n = 0, got = 0, done = 0, area = 0, c = 0, at = 1e9, seen = 0\n"
                "  c' = 1\n"
                "  area' = n\n"
                "  next n = n + 1 when k > got\n"
                "  next got = got + 1 when k > got\n"
                "  next n = n - 1 when c >= at\n"
                "  next done = done + 1 when c >= at\n"
                "  next at = (c - log(uniform[]) / minimum(n, servers) when n > 0.5 else 1e9) "
                "when (n - seen)^2 > 0.5\n"
                "  next seen = n when (n - seen)^2 > 0.5\n"
                "}\n",
    fixed[] = "machine Station(k: R[]) -> (n, got, done, area: R[]) {\n"
              "  state n = 0, got = 0, done = 0, area = 0, c = 0, at = 1e9\n"
              "  c' = 1\n"
              "  area' = n\n"
              "  next n = n + 1 when k > got\n"
              "  next got = got + 1 when k > got\n"
              "  mode wait {\n"
              "    next at = c + 1 when n > 0.5\n"
              "    jump serve when n > 0.5\n"
              "  }\n"
              "  mode serve {\n"
              "    next n = n - 1 when c >= at\n"
              "    next done = done + 1 when c >= at\n"
              "    jump wait when c >= at\n"
              "  }\n"
              "}\n",
    repair[] = "machine Repair[all, rate] -> (n, area: R[]) {\n"
               "  state n = 0, area = 0, c = 0, down = 1e9, up = 1e9, seen = -1\n"
               "  c' = 1\n"
               "  area' = n\n"
               "  next n = n + 1 when c >= down\n"
               "  next n = n - 1 when c >= up\n"
               "  next down = (c - log(uniform[]) / (rate * (all - n)) when n < all - 0.5 else "
               "1e9) when (n - seen)^2 > 0.5\n"
               "  next up = (c - log(uniform[]) when n > 0.5 else 1e9) when (n - seen)^2 > 0.5\n"
               "  next seen = n when (n - seen)^2 > 0.5\n"
               "}\n";

static const char *queue_text(Arena *a, const Queue *q) {
  Buf b = buf_new(a);
  if (q->kind == QUEUE_REPAIR) {
    buf_printf(&b, "%srun Repair[%u, %.17g] to %g\n", repair, q->machines, q->rate, q->end);
    return b.at;
  }
  bool tandem = q->kind == QUEUE_TANDEM;
  const char *of = q->kind == QUEUE_FIXED ? "" : arena_format(a, "[%u]", q->servers);
  buf_printf(&b, "%s%swiring Whole -> (n: R[]) {\n  s : Source[%.17g]\n  p : Station%s\n", source,
             q->kind == QUEUE_FIXED ? fixed : station, q->rate, of);
  if (tandem) buf_printf(&b, "  q : Station%s\n  p.done -> q.k\n", of);
  buf_printf(&b, "  s.k -> p.k\n  n = p.n%s\n}\nrun Whole to %g\n", tandem ? " + q.n" : "", q->end);
  return b.at;
}

// How many are there on the average.
static double wanted(const Queue *q) {
  double rho = q->rate / q->servers, p = 1, sum = 0, mean = 0;
  switch (q->kind) {
  case QUEUE_FIXED: return rho + rho * rho / (2 * (1 - rho));
  case QUEUE_REPAIR:
    for (uint32_t n = 0; n <= q->machines; n++, p *= q->rate * (q->machines - n + 1))
      sum += p, mean += n * p;
    return mean / sum;
  default: // Erlang
    for (uint32_t n = 0; n < q->servers; n++, p *= q->rate / n) sum += p;
    p /= 1 - rho;
    return (q->rate + rho / (1 - rho) * p / (sum + p)) * (q->kind == QUEUE_TANDEM ? 2 : 1);
  }
}

bool hybrid_queues(HybridCase *c) {
  Chance d = {c->h->seed};
  Queue q = {.kind = (QueueKind)chance_below(&d, QUEUE_KINDS), .servers = 1, .end = 600};
  if (q.kind == QUEUE_MARKOV) q.servers = 1 + chance_below(&d, 4);
  q.machines = 2 + chance_below(&d, 5);
  double rho = 0.2 + 0.4 * chance_number(&d);
  q.rate = q.kind == QUEUE_REPAIR ? rho / q.machines : rho * q.servers;
  const char *text = queue_text(c->arena, &q);
  Ran r;
  if (!all_followed(c, text, &r)) return false;
  bool alone = q.kind == QUEUE_REPAIR, tandem = q.kind == QUEUE_TANDEM;
  double there = last_of(&r, alone ? "area" : "p.area") / q.end;
  if (tandem) there += last_of(&r, "q.area") / q.end;
  if (!alone && (last_of(&r, "s.k") != last_of(&r, "p.got") ||
                 last_of(&r, "p.got") != last_of(&r, "p.done") + last_of(&r, "p.n")))
    return hybrid_differs(c, text, "lost: %g come, %g arrive, %g leave, %g are there",
                          last_of(&r, "s.k"), last_of(&r, "p.got"), last_of(&r, "p.done"),
                          last_of(&r, "p.n"));
  if (tandem && last_of(&r, "p.done") != last_of(&r, "q.got"))
    return hybrid_differs(c, text, "lost: %g leave, %g arrive", last_of(&r, "p.done"),
                          last_of(&r, "q.got"));
  double deviation = sqrt(2 * q.servers * (1 + tandem) * rho * (1 + rho) / pow(1 - rho, 4) / q.end);
  double off = there - wanted(&q);
  return fabs(off) <= 6 * deviation + 0.02 ||
         hybrid_differs(c, text, "queue: %g are there, and should be %g (deviation %g)", there,
                        wanted(&q), deviation);
}

// -- options --------------------------------------------------------------------------------------
enum { OPTIONS = 3, BOXES = 5 };

static void print_gate(Buf *b, const char *name, const char *const *box, uint32_t form) {
  buf_printf(b, "machine %s -> (x, y: R[]) {\n  state x = 1, y = 1\n", name);
  if (form == 0)
    buf_printf(b, "  x' = %s(x)\n  next y = %s(y) when %s(x) < 0.3\n", box[0], box[1], box[2]);
  else if (form == 1)
    buf_printf(b,
               "  mode a {\n    x' = %s(x) - 1\n    jump b when x < 0.4\n  }\n"
               "  mode b {\n    x' = %s(y)\n    next y = %s(y) when x > 0.6\n  }\n",
               box[0], box[1], box[2]);
  else
    buf_printf(b, "  next x = %s(%s(x) - y)\n  next y = %s(y)\n", box[0], box[1], box[2]);
  buf_text(b, "}\n");
}

static bool same_values(HybridCase *c, const char *text, const Ran *r) {
  const SimRecord *x = &r->f[0].record, *y = &r->f[1].record;
  if (x->time.n != y->time.n || x->channel.n != y->channel.n)
    return hybrid_differs(c, text, "options: %u moments, and %u", x->time.n, y->time.n);
  for (uint32_t i = 0; i < x->channel.n; i++)
    for (uint32_t k = 0; k < x->channel.at[i].value.n; k++)
      if (!same_bits(x->channel.at[i].value.at[k], y->channel.at[i].value.at[k]))
        return hybrid_differs(c, text, "options: %s[%u] is %.17g, and %.17g", x->channel.at[i].name,
                              k, x->channel.at[i].value.at[k], y->channel.at[i].value.at[k]);
  return true;
}

// A machine whose options are boxes is the machine with these boxes in their places; alone, in a wiring that hands
// them on, or in an array.
bool hybrid_options(HybridCase *c) {
  static const char *const boxes[BOXES] = {"down", "half", "scaled[-2]", "tanh", "sin"},
                           *const option[OPTIONS] = {"f", "g", "h"};
  Chance d = {c->h->seed};
  Buf b = buf_new(c->arena), head = buf_new(c->arena), given = buf_new(c->arena),
      through = buf_new(c->arena);
  const char *box[OPTIONS];
  bool usual[OPTIONS];
  uint32_t form = chance_below(&d, 3), around = chance_below(&d, 3);
  for (uint32_t i = 0; i < OPTIONS; i++) {
    box[i] = boxes[chance_below(&d, BOXES)];
    usual[i] = chance_below(&d, 3) == 0;
    buf_printf(&head, usual[i] ? "%s%s: %s" : "%s%s", i ? ", " : "", option[i], box[i]);
    buf_printf(&through, "%s%s: %s", i ? ", " : "", option[i], option[i]);
    if (!usual[i] || chance_below(&d, 2))
      buf_printf(&given, "%s%s: %s", given.n ? ", " : "", option[i], box[i]);
  }
  const char *of = given.n ? arena_format(c->arena, "[%s]", given.at) : "";
  buf_text(&b, "box down(v: R[]) -> R[] = -v\nbox half(v: R[]) -> R[] = 0.5 - v\n"
               "box scaled[k](v: R[]) -> R[] = k * v\n");
  print_gate(&b, arena_format(c->arena, "Gate[%s]", head.at), option, form);
  print_gate(&b, "Plain", box, form);
  const char *many = around == 2 ? "[2]" : "", *type = around == 2 ? "R[2]" : "R[]";
  if (around) {
    buf_printf(&b, "wiring Outer[%s] -> (x: %s) {\n  p%s : Gate[%s]\n  x = p.x\n}\n", head.at, type,
               many, through.at);
    buf_printf(&b, "wiring Bare -> (x: %s) {\n  p%s : Plain\n  x = p.x\n}\n", type, many);
  }
  const char *length = form == 2 ? "for 9 ticks" : "to 1";
  buf_printf(&b, "run %s%s %s\nrun %s %s\n", around ? "Outer" : "Gate", of, length,
             around ? "Bare" : "Plain", length);
  Ran r;
  return all_followed(c, b.at, &r) && same_values(c, b.at, &r);
}
