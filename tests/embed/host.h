// What the hosts share: checks that count, and the program most of them load.
#ifndef EMBED_HOST_H
#define EMBED_HOST_H

#include "limn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "box f(x: R[]) -> R[] = 0.5 * x + 1.25\n"
                              "box g(x: R[3]) -> R[3] = tanh(x)\n"
                              "given x, label from iris\n"
                              "learn net : R[4] -> R[3] = dense[4] ; tanh ; dense[3]\n"
                              "goal fit : net(x) ~ label by cross_entropy\n"
                              "measure fit by hits on iris.test\n"
                              "train 20 steps, batch 16, adam(0.01), seed 3\n"
                              "show confusion(net(x), label) on iris.test\n";

static int wrong;

#define CHECK(what)                                                                                \
  do {                                                                                             \
    if (what) break;                                                                               \
    wrong++;                                                                                       \
    printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                                              \
  } while (0)

// With a message of the handle, for what should be good.
#define GOOD(l, what)                                                                              \
  do {                                                                                             \
    LimnStatus status_ = (what);                                                                   \
    if (status_ == LIMN_GOOD) break;                                                               \
    wrong++;                                                                                       \
    printf("%s:%d: %s is %d\n%s", __FILE__, __LINE__, #what, (int)status_,                         \
           limn_messages(l, false));                                                               \
  } while (0)

static inline Limn *loaded(const char *text) {
  Limn *l = limn_new();
  if (!l || limn_load_text(l, "host.limn", text, strlen(text)) != LIMN_GOOD) {
    printf("cannot load:\n%s", l ? limn_messages(l, false) : "out of memory\n");
    exit(1);
  }
  return l;
}

static inline int ended(void) {
  if (wrong) printf("%d wrong\n", wrong);
  return wrong > 0;
}

#endif
