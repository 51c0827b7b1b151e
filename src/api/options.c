// Copies options from callers: structs compiled against an older or newer header become those of
// this library. Converts outcomes to status codes.
#include "api/api_own.h"
#include "base/files.h"
#include "base/source.h"

_Static_assert((int)OUTCOME_GOOD == LIMN_GOOD && (int)OUTCOME_WRONG == LIMN_WRONG &&
                   (int)OUTCOME_USAGE == LIMN_USAGE && (int)OUTCOME_SYSTEM == LIMN_SYSTEM,
               "what a run ends with is what the interface says");

LimnStatus status_of(Outcome end) { return (LimnStatus)end; }

// A caller with a newer header may set an option that this library does not know.
bool copy_option_struct(ApiCall *c, void *to, size_t room, const void *from) {
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
static bool check_precision(ApiCall *c, LimnPrecision p) {
  bool known = (unsigned)p <= LIMN_PRECISION_AUTO;
  if (!known) call_misuse(c, "a precision is 32, 64, bf16, tf32 or auto");
  return known;
}

// The device by name; the reference interpreter has no GPU and does not round factors.
static bool check_device(ApiCall *c, const char *device, bool reference) {
  const char *why = engine_device_name_error(c->scratch, device);
  if (why) return call_misuse(c, "%s", why), false;
  bool gpu = device && !strncmp(device, "cuda", 4);
  if (reference && gpu)
    call_misuse(c, "--reference computes on the CPU: it does not go with --device %s", device);
  return !reference || !gpu;
}

static bool check_rounding(ApiCall *c, LimnPrecision p, bool reference) {
  if (!check_precision(c, p)) return false;
  bool rounds = p == LIMN_PRECISION_BF16 || p == LIMN_PRECISION_TF32;
  if (reference && rounds)
    call_misuse(c, "--reference computes in doubles: it does not go with --precision %s",
                p == LIMN_PRECISION_BF16 ? "bf16" : "tf32");
  return !reference || !rounds;
}

// A copy in which every input has a name, possibly "".
bool copy_call_inputs(ApiCall *c, const LimnInput **in, uint32_t n) {
  if (n && !*in) return call_misuse(c, "there are no inputs where %u are said to be", n), false;
  LimnInput *own = arena_copy(c->scratch, *in, n * sizeof *own);
  for (uint32_t i = 0; i < n; i++) {
    if (!own[i].value && !own[i].array)
      return call_misuse(c, "input %u has no value", i + 1), false;
    if (!own[i].name) own[i].name = "";
  }
  *in = own;
  return true;
}

// -- options --------------------------------------------------------------------------------------
// 0 means not given; the upper bound is more steps than any training makes.
static bool check_length(ApiCall *c, const char *what, double x) {
  if (x >= 0 && x <= 1e12) return true;
  if (x > 1e12) return call_misuse(c, "`%s` is at most 1e12, not %g", what, x), false;
  return call_misuse(c, "`%s` wants a number from 0 on, not %g", what, x), false;
}

bool check_distinct_paths(ApiCall *c, const char *to, const char *from) {
  const char *there = to && from ? path_real(c->scratch, to) : NULL;
  const char *read = there ? path_real(c->scratch, from) : NULL;
  if (!read || strcmp(there, read) != 0) return true;
  return call_misuse(c, "%s is what this is made from: the result wants a file of its own", to),
         false;
}

bool check_output_of(ApiCall *c, const Limn *of, const char *to) {
  const Sources *s = of->diags->sources;
  for (uint32_t i = 1; s && to && i < s->file.n; i++)
    if (!check_distinct_paths(c, to, s->file.at[i].path)) return false;
  return true;
}

static bool check_out(ApiCall *c, const char *to) { return check_output_of(c, c->l, to); }

bool copy_train_options(ApiCall *c, const LimnTrain *how, LimnTrain *to) {
  return OPTIONS(c, to, how) && check_device(c, to->device, to->reference) &&
         check_rounding(c, to->precision, to->reference) && check_length(c, "epochs", to->epochs) &&
         check_length(c, "steps", to->steps) && check_length(c, "batch", (double)to->batch);
}

bool copy_use_options(ApiCall *c, const LimnUse *how, LimnUse *to) {
  return OPTIONS(c, to, how) && copy_call_inputs(c, &to->in, to->nin) &&
         check_device(c, to->device, to->reference) &&
         check_rounding(c, to->precision, to->reference) && check_out(c, to->out);
}

bool copy_run_options(ApiCall *c, const LimnRun *how, LimnRun *to) {
  return OPTIONS(c, to, how) && check_device(c, to->device, to->reference);
}

bool copy_eval_options(ApiCall *c, const LimnEval *how, LimnEval *to) {
  return OPTIONS(c, to, how) && copy_call_inputs(c, &to->in, to->nin) && check_out(c, to->out) &&
         check_out(c, to->save) && check_out(c, to->grads);
}

bool copy_prepare_options(ApiCall *c, const LimnPrepare *how, LimnPrepare *to) {
  return OPTIONS(c, to, how) && check_rounding(c, to->precision, to->reference);
}

bool copy_export_options(ApiCall *c, const LimnExport *how, LimnExport *to) {
  return OPTIONS(c, to, how) && check_precision(c, to->precision) && check_out(c, to->out) &&
         check_distinct_paths(c, to->out, to->weights) &&
         check_distinct_paths(c, to->out, to->from);
}
