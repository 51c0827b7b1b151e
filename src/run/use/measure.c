// `limn eval FILE --from DIR`: every measure of the program on its data, with the weights of a run.
#include "run/use/use_own.h"

static void put_gauge(Buf *b, const Gauge *g, bool json, bool first) {
  if (json) {
    if (!first) buf_text(b, ", ");
    buf_json(b, g->label, strlen(g->label));
    buf_text(b, ": ");
    Array one = {.count = 1, .data = (double[1]){g->value}};
    array_print(b, &one, true);
    return;
  }
  buf_printf(b, "%s %.6g%s%s\n", g->label, g->value, *g->where ? " on " : "", g->where);
}

static void keep_gauge(const UseCall *call, const Gauge *g) {
  arrays_keep(call->keep, call->out,
              &(Array){.name = g->label, .count = 1, .data = (double[1]){g->value}});
}

static bool run_gauges(Use *u, Trainer *t) {
  Buf *text = u->call->text;
  if (!data_open_all(t->data) || !gauges_open(t)) return false;
  if (!t->gauge.n)
    return use_wrong(u, LIMN_WRONG,
                     "this program measures nothing: as in `measure fit by hits on mnist.test`");
  if (!use_fill(u, t->store, t->model) || !gauges_run(t)) return false;
  for (uint32_t i = 0; u->call->out && i < t->gauge.n; i++) keep_gauge(u->call, &t->gauge.at[i]);
  if (u->call->out) return true;
  if (u->how->json) buf_char(text, '{');
  for (uint32_t i = 0; i < t->gauge.n; i++) put_gauge(text, &t->gauge.at[i], u->how->json, i == 0);
  if (u->how->json) buf_char(text, '}');
  return true;
}

static bool measure(Use *u, void *unused) {
  (void)unused;
  LimnTrain o = {.threads = u->how->threads, .reference = u->how->reference, .quiet = true};
  Trainer *t = NEW(u->arena, Trainer);
  *t = (Trainer){.in = u->in,
                 .w = u->w,
                 .p = u->p,
                 .o = &o,
                 .arena = u->arena,
                 .seed = u->seed,
                 .precision = u->precision};
  t->data = data_new(u->in, u->p, u->arena);
  t->data->seed = u->seed;
  u->begins = !u->file;
  u->store = t->store = store_new(u->precision);
  t->model = model_paths(u->arena, u->p);
  if (!t->store) return use_wrong(u, LIMN_SYSTEM, "out of memory");
  bool good = run_gauges(u, t);
  gauges_close(t);
  return good;
}

LimnStatus train_measure(Elab *in, Program *p, const UseCall *call) {
  return use_guarded(in, p, call, measure, NULL);
}
