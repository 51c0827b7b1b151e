// Devices by name: "cpu", "auto", "cuda" or "cuda:N", and what they can do.
#include "base/files.h"
#include "run/engine/cuda/driver.h"
#include "run/engine/engine_own.h"

#include <stdlib.h>
#include <unistd.h>

static void drop_device(void *device) { device_close(device); }

// "cuda" is the first GPU, "cuda:1" the second.
static bool gpu_number(const char *text, long *number) {
  char *end = NULL;
  *number = 0;
  if (!strcmp(text, "cuda")) return true;
  if (strncmp(text, "cuda:", 5) != 0 || text[5] < '0' || text[5] > '9') return false;
  *number = strtol(text + 5, &end, 10);
  return !*end && *number < 1024;
}

static bool is_cpu(const char *text) {
  return !text || !strcmp(text, "cpu") || !strcmp(text, "auto");
}

const char *engine_device_name_error(Arena *a, const char *text) {
  long number;
  if (is_cpu(text) || gpu_number(text, &number)) return NULL;
  return arena_format(
      a, "a device is auto, cpu, cuda, or cuda:0, cuda:1, … for one of several GPUs, not %s", text);
}

bool engine_device(World *w, const char *text, Device **device, const char **why) {
  long number;
  *device = NULL;
  if (is_cpu(text)) return true;
  *why = engine_device_name_error(w->arena, text);
  if (*why) return false;
  gpu_number(text, &number);
  *device = device_open((int)number, w->arena, why);
  if (*device) arena_on_free(w->arena, drop_device, *device);
  return *device != NULL;
}

bool engine_has_gpu(Arena *a) { return device_expected(a); }

bool engine_device_ready(World *w, const char *text, Device **device, const char **why) {
  if (engine_device(w, text, device, why) && (!*device || device_ready(*device, w->arena, why)))
    return true;
  *device = NULL;
  return false;
}

bool engine_device_alive(Device *d) { return !d || device_is_alive(d); }

const char *engine_device_model(const Device *d) { return d ? d->name : "the CPU"; }

const char *engine_device_name(Arena *a, const Device *d) {
  return d ? arena_format(a, "cuda:%d", d->number) : "cpu";
}

// Tensor cores support bfloat16 and tf32 from compute capability 8.0 on.
static bool has_tensor_cores(const Device *d) { return d && d->major >= 8; }

const char *device_lacks_tensor_cores(Arena *a, const Device *d, Precision p) {
  if (has_tensor_cores(d)) return NULL;
  return arena_format(a,
                      "%s (code %d.%d) has no matrix units for %s: --precision 32, or auto, is "
                      "what it can do",
                      d->name, d->major, d->minor, precision_text(p));
}

const char *engine_precision_note(const Device *d, Precision p) {
  if (d) return NULL;
  return p == PRECISION_TF32   ? "tf32 is 32 on the CPU: a GPU's matrix units alone have it"
         : p == PRECISION_BF16 ? "bf16 on the CPU: the factors of large products are rounded to "
                                 "bfloat16, sums are floats"
                               : NULL;
}

Precision engine_precision(Arena *a, const Device *d, const char **why) {
  Precision p = has_tensor_cores(d) ? PRECISION_BF16 : PRECISION_32;
  const char *reason = "the CPU computes";
  if (d)
    reason = arena_format(a, "%s (code %d.%d) has %smatrix units for bfloat16", d->name, d->major,
                          d->minor, p == PRECISION_BF16 ? "" : "no ");
  *why = arena_format(a, "--precision auto is %s: %s", precision_text(p), reason);
  return p;
}

const DeviceInfo *engine_devices(Arena *a, uint32_t *n, const char **why) {
  int gpus = device_count(a, why);
  DeviceInfo *all = NEW_ARRAY(a, DeviceInfo, (size_t)gpus + 1);
  const char *said;
  all[0] = (DeviceInfo){"cpu", arena_format(a, "%u cores, %.1f GB", os_cores(), os_memory() / 1e9),
                        engine_precision(a, NULL, &said)};
  *n = 1;
  for (int i = 0; i < gpus; i++) {
    Device *d = device_open(i, a, why);
    if (!d || !device_ready(d, a, why)) {
      device_close(d);
      continue;
    }
    all[(*n)++] = (DeviceInfo){
        arena_format(a, "cuda:%d", i),
        arena_format(a,
                     "%s, %.1f GB, %d multiprocessors, code %d.%d; driver for CUDA %d.%d, "
                     "compiler %d.%d",
                     arena_text(a, d->name, strlen(d->name)), (double)d->bytes / 1e9, d->processors,
                     d->major, d->minor, d->driver_version / 1000, d->driver_version % 1000 / 10,
                     d->compiler_version / 1000, d->compiler_version % 1000 / 10),
        engine_precision(a, d, &said)};
    device_close(d);
  }
  return all;
}
