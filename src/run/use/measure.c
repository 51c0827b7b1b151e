// `limn eval FILE --from DIR`: every measure of the program on its data, with the weights of a run.
#include "base/json_write.h"
#include "run/use/use_own.h"

static void put_gauges(const Gauges *all, bool json, Buf *b) {
  JsonOut j = json_out(b);
  if (json) json_object(&j, NULL);
  for (uint32_t i = 0; i < all->n; i++) {
    const Gauge *g = &all->at[i];
    if (json)
      json_value(&j, g->label, g->value);
    else
      buf_printf(b, "%s %.6g%s%s\n", g->label, g->value, *g->where ? " on " : "", g->where);
  }
  if (json) json_end(&j);
}

static void add_values(const UseCall *call, const Gauges *all) {
  for (uint32_t i = 0; i < all->n; i++)
    arrays_keep(call->keep, call->out,
                &(Array){.name = all->at[i].label, .count = 1, .data = &all->at[i].value});
}

static bool measure(Use *u, void *unused) {
  (void)unused;
  Gauges *all = u->gauges = NEW(u->arena, Gauges);
  *all = (Gauges){.data = use_data(u), .target = use_target(u)};
  u->begins = !u->file;
  if (!all->data || !use_new_store(u)) return false;
  all->store = u->store;
  if (!data_open_all(all->data) || !gauges_open(all)) return false;
  if (!all->n)
    return use_wrong(u, OUTCOME_WRONG,
                     "this program measures nothing: as in `measure fit by hits on mnist.test`");
  if (!use_load_states(u, u->store, model_paths(u->w, u->arena, u->p)) || !gauges_run(all))
    return false;
  if (u->call->out)
    add_values(u->call, all);
  else
    put_gauges(all, u->how->json, u->call->text);
  return true;
}

Outcome use_measure(Elab *in, Program *p, const UseCall *call) {
  return use_guarded(in, p, call, measure, NULL);
}
