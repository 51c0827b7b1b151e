// The engine's GPUs where there are none.
#include "run/engine/cuda/driver.h"
#include "run/engine/engine_own.h"

static const char none[] = "there is no GPU in the playground";

bool device_expected(Arena *a) {
  (void)a;
  return false;
}

int device_count(Arena *a, const char **why) {
  (void)a;
  *why = none;
  return 0;
}

Device *device_open(int number, Arena *a, const char **why) {
  (void)number, (void)a;
  *why = none;
  return NULL;
}

bool device_ready(Device *d, Arena *a, const char **why) {
  (void)d, (void)a;
  *why = none;
  return false;
}

bool device_is_alive(Device *d) {
  (void)d;
  return false;
}

void device_close(Device *d) { (void)d; }

bool cuda_open(Engine *e, const char **why) {
  (void)e;
  *why = none;
  return false;
}
