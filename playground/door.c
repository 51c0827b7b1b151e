// What a page calls besides limn.h: where the two sides cannot share a struct or a function pointer.
//
// The module imports nothing but WASI and two functions of the page: `send` gets what a server sends,
// `say` what training says, a line or a row of metrics as JSON, and answers whether it should stop.
// Everything is in the thread of the worker, so training is made a few steps at a time.
#include "limn.h"

#include <stdio.h>
#include <string.h>

#define FROM_PAGE(name) __attribute__((import_module("page"), import_name(name)))
#define TO_PAGE(name) __attribute__((export_name(name)))

FROM_PAGE("send") void page_send(const char *message, size_t n);
FROM_PAGE("say") int page_say(const char *text, size_t n); // not 0: training is to stop
const LimnServe *playground_serve(void);
LimnTrainer *playground_trainer(Limn *, const char *out, double epochs, double steps, double seed);
int playground_step(LimnTrainer *, double steps);

static void send(void *context, const char *message, size_t n) {
  (void)context;
  page_send(message, n);
}

// The options of limn_server_open.
TO_PAGE("playground_serve") const LimnServe *playground_serve(void) {
  static const LimnServe how = {.size = sizeof how, .send = send};
  return &how;
}

static void say(volatile sig_atomic_t *stop, const char *text) {
  if (page_say(text, strlen(text))) limn_stop(stop, 1);
}

static void line(void *context, const char *text) { say(context, text); }

// {"step": 3, "steps": 300, "epoch": 1, "values": {"fit": 0.5}}; a number that is none is null. A row
// that is too long is cut before a value.
static void metrics(void *context, const LimnMetrics *m) {
  char row[4096];
  int n =
      snprintf(row, sizeof row, "{\"step\": %llu, \"steps\": %llu, \"epoch\": %.9g, \"values\": {",
               (unsigned long long)m->step, (unsigned long long)m->steps, m->epoch);
  for (uint32_t i = 0; i < m->n; i++) {
    char value[256];
    double x = m->value[i];
    int length = snprintf(value, sizeof value, x - x == 0 ? "%s\"%s\": %.17g" : "%s\"%s\": null",
                          i ? ", " : "", m->name[i], x);
    if (length >= (int)sizeof value || n + length + 3 > (int)sizeof row) break;
    n += snprintf(row + n, sizeof row - (size_t)n, "%s", value);
  }
  snprintf(row + n, sizeof row - (size_t)n, "}}");
  say(context, row);
}

// The program that was loaded, in the folder `out`, or (NULL) in memory; 0, or a negative seed: as the
// program says. NULL with messages. There is one at a time, as there is one thread.
TO_PAGE("playground_trainer")
LimnTrainer *playground_trainer(Limn *l, const char *out, double epochs, double steps,
                                double seed) {
  static volatile sig_atomic_t stop;
  LimnTrainer *made = NULL;
  LimnTrain how = {.size = sizeof how,
                   .out = out,
                   .epochs = epochs,
                   .steps = steps,
                   .seed = seed < 0 ? 0 : (uint64_t)seed,
                   .has_seed = seed >= 0,
                   .plain = true,
                   .in_memory = !out,
                   .stop = &stop,
                   .tell = {.context = (void *)(uintptr_t)&stop, .line = line, .metrics = metrics}};
  stop = 0;
  return limn_trainer_open(l, &how, &made) ? NULL : made;
}

// So many steps more. 0: there are others to make; -1: there are none; otherwise a status.
TO_PAGE("playground_step") int playground_step(LimnTrainer *t, double steps) {
  bool done = false;
  LimnStatus status = limn_trainer_step(t, (uint64_t)steps, &done);
  return status ? (int)status : done ? -1 : 0;
}
