// What a page calls besides limn.h: where the two sides cannot share a struct or a function pointer.
//
// The page imports nothing but WASI and two functions: `send` gets what a server sends, `say` what
// training says, a line or a row of metrics as JSON. Training is in the worker's own thread, so it
// comes back when it is done; `say` answers whether it should stop.
#include "limn.h"

#include <stdio.h>
#include <string.h>

#define FROM_PAGE(name) __attribute__((import_module("page"), import_name(name)))
#define TO_PAGE(name) __attribute__((export_name(name)))

FROM_PAGE("send") void page_send(const char *message, size_t n);
FROM_PAGE("say") int page_say(const char *text, size_t n); // not 0: training is to stop
const LimnServe *playground_serve(void);
LimnStatus playground_train(Limn *, const char *out, double epochs, double steps, double seed);

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
  if (page_say(text, strlen(text))) *stop = 1;
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

// The program that was loaded: into the folder `out`, or (NULL) in memory. 0, or a negative seed: as
// the program says.
TO_PAGE("playground_train")
LimnStatus playground_train(Limn *l, const char *out, double epochs, double steps, double seed) {
  volatile sig_atomic_t stop = 0;
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
  return limn_train(l, &how);
}
