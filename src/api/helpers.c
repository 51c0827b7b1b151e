// Worker threads that simulate runs of machines: each has its own handle with the same program.
#include "api/api_own.h"

#include <pthread.h>

enum { HELPERS_MOST = 64, HELPER_STACK = 8 << 20 };

typedef struct {
  const Limn *from;
  void *job;
  pthread_t thread;
} Helper;

struct Helpers {
  const Limn *from;
  uint32_t n;
  Helper at[HELPERS_MOST];
};

static void help(Helper *h, Limn *l) {
  Guard g;
  if (load_again(l, h->from) != LIMN_GOOD) return;
  if (!GUARDED(l->own, &g)) {
    simulate_helper_failed(h->job, h);
    return;
  }
  simulate_helper(l->in, l->program, h->job, h);
  guard_leave(&g);
}

static void *helper_main(void *helper) {
  Limn *l = limn_new();
  if (l) help(helper, l);
  // the caller copies the results before it frees the handle
  return l;
}

static bool start_helper(void *context, void *job) {
  struct Helpers *all = context;
  pthread_attr_t how;
  if (all->n == HELPERS_MOST || pthread_attr_init(&how)) return false;
  Helper *h = &all->at[all->n];
  *h = (Helper){.from = all->from, .job = job};
  bool good = !pthread_attr_setstacksize(&how, HELPER_STACK) &&
              !pthread_create(&h->thread, &how, helper_main, h);
  pthread_attr_destroy(&how);
  all->n += good;
  return good;
}

static void end_helpers(void *context) {
  struct Helpers *all = context;
  for (uint32_t i = 0; i < all->n; i++) {
    void *l = NULL;
    pthread_join(all->at[i].thread, &l);
    limn_free(l);
  }
  all->n = 0;
}

SimHelpers helpers_of(const Limn *l, Arena *a) {
  struct Helpers *all = NEW(a, struct Helpers);
  all->from = l;
  return (SimHelpers){.context = all, .start = start_helper, .end = end_helpers};
}
