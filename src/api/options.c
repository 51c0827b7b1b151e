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

static bool use_files_apart(ApiCall *c, const LimnUse *how) {
  CallFiles f = files_of(c);
  if (!how->out) return true;
  files_read_run(&f, how->from);
  files_read_inputs(&f, how->in, how->nin);
  files_write_numbered(&f, how->out);
  return files_apart(c, &f);
}

static bool eval_files_apart(ApiCall *c, const LimnEval *how) {
  CallFiles f = files_of(c);
  if (!how->out && !how->save && !how->grads) return true;
  files_read_run(&f, how->from);
  files_read(&f, how->weights);
  files_read_inputs(&f, how->in, how->nin);
  files_read_value(&f, how->dy);
  files_write_numbered(&f, how->out);
  files_write(&f, how->save);
  files_write(&f, how->grads);
  return files_apart(c, &f);
}

bool copy_train_options(ApiCall *c, const LimnTrain *how, LimnTrain *to) {
  return OPTIONS(c, to, how) && check_device(c, to->device, to->reference) &&
         check_rounding(c, to->precision, to->reference) && check_length(c, "epochs", to->epochs) &&
         check_length(c, "steps", to->steps) && check_length(c, "batch", (double)to->batch);
}

bool copy_use_options(ApiCall *c, const LimnUse *how, LimnUse *to) {
  return OPTIONS(c, to, how) && copy_call_inputs(c, &to->in, to->nin) &&
         check_device(c, to->device, to->reference) &&
         check_rounding(c, to->precision, to->reference) && use_files_apart(c, to);
}

bool copy_run_options(ApiCall *c, const LimnRun *how, LimnRun *to) {
  return OPTIONS(c, to, how) && check_device(c, to->device, to->reference);
}

bool copy_eval_options(ApiCall *c, const LimnEval *how, LimnEval *to) {
  return OPTIONS(c, to, how) && copy_call_inputs(c, &to->in, to->nin) && eval_files_apart(c, to);
}

bool copy_prepare_options(ApiCall *c, const LimnPrepare *how, LimnPrepare *to) {
  return OPTIONS(c, to, how) && check_rounding(c, to->precision, to->reference);
}

bool copy_export_options(ApiCall *c, const LimnExport *how, LimnExport *to) {
  return OPTIONS(c, to, how) && check_precision(c, to->precision);
}
