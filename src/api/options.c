// What a caller asks for, taken in: structs that may be older or newer than this library become the
// options of the rooms below, and what a run ended with becomes a status.
#include "api/api_own.h"

_Static_assert((int)OUTCOME_GOOD == LIMN_GOOD && (int)OUTCOME_WRONG == LIMN_WRONG &&
                   (int)OUTCOME_USAGE == LIMN_USAGE && (int)OUTCOME_SYSTEM == LIMN_SYSTEM,
               "what a run ends with is what the interface says");

LimnStatus status_of(Outcome end) { return (LimnStatus)end; }

// A caller with a newer header may have asked for something that is not known here.
bool options_take(ApiCall *c, void *to, size_t room, const void *from) {
  size_t size = room;
  memset(to, 0, room);
  if (from) memcpy(&size, from, sizeof size);
  bool known = size > sizeof size && size < 65536;
  for (size_t i = room; from && known && i < size; i++) known = !((const char *)from)[i];
  if (known && from) memcpy(to, from, size < room ? size : room);
  if (known) memcpy(to, &room, sizeof room);
  if (!known)
    call_misuse(c, size > room
                       ? "these options are of a newer limn than this one"
                       : "options begin with their size: LimnTrain how = {.size = sizeof how}");
  return known;
}

// -- parts ----------------------------------------------------------------------------------------
static bool take_precision(ApiCall *c, LimnPrecision from, bool *has, Precision *to) {
  *has = from != LIMN_PRECISION_DEFAULT;
  switch (from) {
  case LIMN_PRECISION_DEFAULT: return true;
  case LIMN_PRECISION_32: return *to = PRECISION_32, true;
  case LIMN_PRECISION_64: return *to = PRECISION_64, true;
  case LIMN_PRECISION_BF16: return *to = PRECISION_BF16, true;
  }
  return call_misuse(c, "a precision is 32, 64 or bf16"), false;
}

// EL_COUNT: it is not one.
static ElementKind kind_of(LimnType t) {
  switch (t) {
  case LIMN_F64: return EL_F64;
  case LIMN_F32: return EL_F32;
  case LIMN_I64: return EL_I64;
  case LIMN_I32: return EL_I32;
  case LIMN_U8: return EL_U8;
  }
  return EL_COUNT;
}

MemoryArray memory_array(const LimnArray *x) {
  return (MemoryArray){kind_of(x->type), x->rank, x->shape, x->strides, x->data};
}

static const MemoryArray *take_array(ApiCall *c, const LimnArray *from) {
  if (!from) return NULL;
  MemoryArray *to = NEW(c->scratch, MemoryArray);
  *to = memory_array(from);
  return to;
}

static bool take_inputs(ApiCall *c, const LimnInput *from, uint32_t n, const UseInput **to) {
  if (n && !from) return call_misuse(c, "there are no inputs where %u are said to be", n), false;
  UseInput *own = NEW_ARRAY(c->scratch, UseInput, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const LimnInput *in = &from[i];
    if (!in->value && !in->array) return call_misuse(c, "input %u has no value", i + 1), false;
    own[i] = (UseInput){in->name ? in->name : "", in->value, take_array(c, in->array)};
  }
  *to = own;
  return true;
}

RunTell tell_of(const LimnTell *t) { return (RunTell){t->context, t->line, t->redraw, t->width}; }

LimnMetrics metrics_of(const TrainMetrics *m) {
  return (LimnMetrics){.size = sizeof(LimnMetrics),
                       .step = m->step,
                       .steps = m->steps,
                       .epoch = m->epoch,
                       .seconds = m->seconds,
                       .reported = m->reported,
                       .n = m->n,
                       .name = m->name,
                       .value = m->value};
}

static void tell_metrics(void *context, const TrainMetrics *m) {
  const LimnTell *to = context;
  LimnMetrics own = metrics_of(m);
  to->metrics(to->context, &own);
}

// -- options --------------------------------------------------------------------------------------
bool train_take(ApiCall *c, LimnTrain *from, TrainOptions *to) {
  *to = (TrainOptions){.out = from->out,
                       .resume = from->resume,
                       .epochs = from->epochs,
                       .steps = from->steps,
                       .batch = from->batch,
                       .seed = from->seed,
                       .pause = from->pause,
                       .threads = from->threads,
                       .device = from->device,
                       .every = from->every,
                       .has_seed = from->has_seed,
                       .reference = from->reference,
                       .plan = from->plan,
                       .json = from->json,
                       .quiet = from->quiet,
                       .in_memory = from->in_memory,
                       .stop = from->stop,
                       .tell = tell_of(&from->tell),
                       .metrics = from->tell.metrics ? tell_metrics : NULL,
                       .metrics_context = &from->tell};
  return take_precision(c, from->precision, &to->has_precision, &to->precision);
}

bool use_take(ApiCall *c, const LimnUse *how, UseOptions *to) {
  LimnUse from;
  if (!OPTIONS(c, &from, how)) return false;
  *to = (UseOptions){.from = from.from,
                     .nin = from.nin,
                     .out = from.out,
                     .seed = from.seed,
                     .threads = from.threads,
                     .has_seed = from.has_seed,
                     .reference = from.reference,
                     .json = from.json,
                     .n = from.n,
                     .length = from.length,
                     .temperature = from.temperature,
                     .prompt = from.prompt};
  return take_inputs(c, from.in, from.nin, &to->in) &&
         take_precision(c, from.precision, &to->has_precision, &to->precision);
}

bool eval_take(ApiCall *c, const LimnEval *how, EvalOptions *to) {
  LimnEval from;
  if (!OPTIONS(c, &from, how)) return false;
  *to = (EvalOptions){.nin = from.nin,
                      .weights = from.weights,
                      .from = from.from,
                      .out = from.out,
                      .dy = from.dy,
                      .dy_array = take_array(c, from.dy_array),
                      .grads = from.grads,
                      .save = from.save,
                      .seed = from.seed,
                      .training = from.training,
                      .json = from.json,
                      .count = from.count};
  return take_inputs(c, from.in, from.nin, &to->in);
}
