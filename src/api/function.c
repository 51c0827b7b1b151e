// Functions: a box or learner that is prepared once and called many times.
//
// A function has its own handle, into which the same program is loaded, so it can be used by
// another thread. Code and plans for the sizes seen so far stay in that handle's world; when there
// are too many, the world is restored to its state after the load.
#include "api/api_own.h"
#include "base/names.h"

#include <stdlib.h>

enum { ORDERS = 8 }; // orders of derivatives

typedef struct {
  uint32_t n;
  LimnPort *at;
} Ports;

struct LimnFunction {
  Limn *own;
  Callable *made;
  Ports in, out;
  Arrays set; // the weights set in the handle that it was opened from
};

// -- ports ----------------------------------------------------------------------------------------
static LimnPort port_of(LimnFunction *f, const Wire *wire, const char *name) {
  Arena *a = f->own->own;
  World *w = f->own->w;
  const Type *t = &wire->type;
  int64_t *shape = NEW_ARRAY(a, int64_t, t->rank + 1), labels = 0;
  const char *type = type_text(w, t);
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(w, t->axis[i].size, &shape[i])) shape[i] = -1;
  if (t->base == BASE_LABEL && !size_value(w, t->count, &labels)) labels = 0;
  return (LimnPort){.name = arena_text(a, name, strlen(name)),
                    .type = arena_text(a, type, strlen(type)),
                    .number = number_type(number_of(callable_precision(f->made), t->base, t->rank)),
                    .labels = labels,
                    .rank = t->rank,
                    .shape = shape};
}

static Ports ports_of(LimnFunction *f, const Diagram *d, bool results) {
  const Ids *wires = results ? &d->out : &d->in;
  Ports all = {.n = wires->n, .at = NEW_ARRAY(f->own->own, LimnPort, wires->n + 1)};
  for (uint32_t i = 0; i < wires->n; i++) {
    const Wire *wire = &d->wire.at[wires->at[i]];
    Name name = results ? diagram_result(d, i) : wire->name;
    all.at[i] = port_of(f, wire, name_text(f->own->w->names, name));
  }
  return all;
}

static LimnStatus give_port(const Ports *all, uint32_t i, LimnPort *out) {
  if (!all || !out || out->size < sizeof out->size || i >= all->n) return LIMN_USAGE;
  LimnPort port = all->at[i];
  port.size = out->size;
  memcpy(out, &port, port.size < sizeof port ? port.size : sizeof port);
  return LIMN_GOOD;
}

LimnStatus limn_function_in(LimnFunction *f, uint32_t i, LimnPort *out) {
  return give_port(f ? &f->in : NULL, i, out);
}

LimnStatus limn_function_out(LimnFunction *f, uint32_t i, LimnPort *out) {
  return give_port(f ? &f->out : NULL, i, out);
}

// -- opening and closing --------------------------------------------------------------------------
static void drop_function(LimnFunction *f) {
  if (f->made) callable_close(f->made);
  limn_free(f->own);
  free(f);
}

static LimnStatus open_function(LimnFunction *f, Limn *from, const char *name,
                                const LimnPrepare *how) {
  Limn *own = f->own;
  LimnStatus status = load_again(own, from);
  Guard g;
  if (status) return status;
  own->copy = arena_save(own->world);
  if (!own->copy || !GUARDED(own->own, &g)) return LIMN_SYSTEM;
  forget_messages(own); // the first handle has reported the warnings
  for (uint32_t i = 0; i < from->weight.n; i++)
    if (from->weight.at[i].set) arrays_keep(own->own, &f->set, &from->weight.at[i].array);
  Outcome end = callable_open(own->in, own->program, own->own, name, how, &f->set, &f->made);
  const Diagram *d = end ? NULL : callable_diagram(f->made);
  if (d) f->in = ports_of(f, d, false), f->out = ports_of(f, d, true);
  guard_leave(&g);
  return status_of(end);
}

static LimnFunction *new_function(void) {
  LimnFunction *f = calloc(1, sizeof *f);
  if (f) f->own = limn_new();
  if (f && f->own) return f;
  free(f);
  return NULL;
}

LimnStatus limn_function_open(Limn *l, const char *name, const LimnPrepare *how,
                              LimnFunction **out) {
  LimnFunction *volatile f = NULL; // volatile: it must survive the longjmp
  if (out) *out = NULL;
  ENTER(c, l, ANSWER_NONE, NEEDS_PROGRAM, LIMN_USAGE,
        (f ? drop_function(f) : (void)0, LIMN_SYSTEM));
  LimnPrepare own;
  if (!name || !out)
    return call_end(c,
                    call_misuse(c, "limn_function_open wants a name, and a place for its answer"));
  if (!copy_prepare_options(c, how, &own)) return call_end(c, LIMN_USAGE);
  f = new_function();
  if (!f) return call_end(c, LIMN_SYSTEM);
  LimnStatus status = open_function(f, l, name, &own);
  move_messages(l, f->own);
  if (status) drop_function(f);
  if (!status) *out = f;
  f = NULL;
  return call_end(c, status);
}

void limn_function_close(LimnFunction *f) {
  if (f && !f->own->call) drop_function(f); // a callback cannot free a running function
}

const char *limn_function_messages(LimnFunction *f, bool json) {
  return limn_messages(f ? f->own : NULL, json);
}

// -- calls ----------------------------------------------------------------------------------------
static void make_room(LimnFunction *f) {
  if (!callable_is_full(f->made)) return;
  callable_forget(f->made);
  arena_restore(f->own->world, f->own->copy);
}

static LimnStatus call_function(ApiCall *c, LimnFunction *f, const LimnCall *how, CallOf *call) {
  LimnCall own;
  if (!call->out) return call_misuse(c, "a function that is called wants a place for its answer");
  if (!OPTIONS(c, &own, how) || !copy_call_inputs(c, &own.in, own.nin)) return LIMN_USAGE;
  if (own.ndy && !own.dy)
    return call_misuse(c, "there are no cotangents where %u are said to be", own.ndy);
  if (own.order > ORDERS)
    return call_misuse(c, "a derivative is of order %d at most, not %u", ORDERS, own.order);
  make_room(f);
  call->in = own.in, call->nin = own.nin;
  call->dy = own.dy, call->ndy = own.ndy;
  call->step = own.step, call->order = own.order;
  call->scratch = c->scratch, call->keep = c->answer;
  return status_of(callable_call(f->made, call));
}

LimnStatus limn_function_call(LimnFunction *f, const LimnCall *how, LimnArrays *out,
                              LimnArrays *grads) {
  if (out) *out = (LimnArrays){0};
  if (grads) *grads = (LimnArrays){0};
  if (!f) return LIMN_USAGE;
  limn_forget(f->own);
  ENTER(c, f->own, ANSWER_EVAL_ARRAYS, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  CallOf call = {.out = out, .grads = grads};
  return call_end(c, call_function(c, f, how, &call));
}

LimnStatus limn_function_weights(LimnFunction *f, LimnArrays *weights, LimnArrays *buffers) {
  if (weights) *weights = (LimnArrays){0};
  if (buffers) *buffers = (LimnArrays){0};
  if (!f) return LIMN_USAGE;
  ENTER(c, f->own, ANSWER_WEIGHTS, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (weights) callable_weights(f->made, c->answer, false, weights);
  if (buffers) callable_weights(f->made, c->answer, true, buffers);
  return call_end(c, LIMN_GOOD);
}

LimnStatus limn_function_weight_set(LimnFunction *f, const char *weight, const LimnArray *from) {
  if (!f) return LIMN_USAGE;
  limn_forget(f->own);
  ENTER(c, f->own, ANSWER_NONE, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!weight || !from)
    return call_end(c, call_misuse(c, "limn_function_weight_set wants a name and an array"));
  make_room(f);
  return call_end(c, status_of(callable_weight_set(f->made, weight, from)));
}
