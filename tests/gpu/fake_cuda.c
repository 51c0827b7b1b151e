// A driver for a GPU that is not there: the part of CUDA's driver interface that limn uses, on the CPU.
// Memory is memory, a stream does things at once, a graph is a list of launches, and the threads of
// a block are fibers that take turns at barriers. $FAKE_CUDA makes it fail, as drivers do:
//
//   none       there is no GPU          old      the driver is for CUDA 11
//   broken     it does not begin
//   memory=N   there are N bytes        lost=N   the N-th launch finds the device lost
//   others=N   others have taken N bytes  code=N  it runs code N / 10, as 75: 7.5
//
// With backwards, the last thread of a block goes first: what lanes do between two barriers has no order. With askew, the
// launches of a graph come in another order than they were captured in. With late, a graph waits until the next one is launched,
// or somebody looks: the next step's slot is filled while this one runs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef int Result;
typedef unsigned long long Address;
enum {
  GOOD = 0,
  INVALID = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  NOT_FOUND = 500,
  LOST = 719,
  UNKNOWN = 999
};

static long asked(const char *name) {
  const char *all = getenv("FAKE_CUDA"), *at = all ? strstr(all, name) : NULL;
  if (!at) return -1;
  at += strlen(name);
  return *at == '=' ? atol(at + 1) : 0;
}

static Result settle(void); // what waits is done

// -- the device -----------------------------------------------------------------------------------
static size_t taken, launches;
// Once it is, every call says so.
static int is_lost(void) { return asked("lost") >= 0 && launches >= (size_t)asked("lost"); }
static size_t all_memory(void) {
  return asked("memory") >= 0 ? (size_t)asked("memory") : (size_t)4 << 30;
}

Result cuInit(unsigned flags) {
  return flags ? INVALID : asked("none") >= 0 ? NO_DEVICE : asked("broken") >= 0 ? UNKNOWN : GOOD;
}
Result cuDriverGetVersion(int *v) { return *v = asked("old") >= 0 ? 11040 : 13000, GOOD; }
Result cuGetErrorString(Result r, const char **text) {
  *text = r == OUT_OF_MEMORY ? "out of memory"
          : r == NO_DEVICE   ? "no CUDA-capable device is detected"
          : r == LOST        ? "unspecified launch failure"
                             : "invalid argument";
  return GOOD;
}
Result cuDeviceGetCount(int *n) { return *n = 1, GOOD; }
Result cuDeviceGet(int *d, int n) { return *d = n, GOOD; }
Result cuDeviceGetName(char *to, int n, int d) {
  return snprintf(to, (size_t)n, "emulated GPU %d", d), GOOD;
}
Result cuDeviceGetAttribute(int *x, int which, int d) {
  int processors = asked("processors") > 0 ? (int)asked("processors") : 4,
      code = asked("code") >= 0 ? (int)asked("code") : 90;
  *x = which == 75   ? code / 10
       : which == 76 ? code % 10
       : which == 16 ? processors
       : which == 97 ? 227 * 1024
                     : 0;
  return d ? INVALID : GOOD;
}
Result cuDeviceTotalMem_v2(size_t *n, int d) { return *n = all_memory(), d ? INVALID : GOOD; }
Result cuDevicePrimaryCtxRetain(void **c, int d) {
  if (asked("full") >= 0) return OUT_OF_MEMORY;
  return *c = &taken, d ? INVALID : GOOD;
}
Result cuDevicePrimaryCtxRelease_v2(int d) { return d ? INVALID : GOOD; }
Result cuCtxSetCurrent(void *c) { return c ? GOOD : INVALID; }

// -- memory: each piece knows its length ----------------------------------------------------------
Result cuMemGetInfo_v2(size_t *left, size_t *all) {
  *all = all_memory();
  size_t others = asked("others") >= 0 ? (size_t)asked("others") : 0;
  *left = taken + others < *all ? *all - taken - others : 0;
  return GOOD;
}
Result cuMemAlloc_v2(Address *at, size_t n) {
  if (taken + n > all_memory()) return OUT_OF_MEMORY;
  char *p = aligned_alloc(256, (n + 511) / 256 * 256);
  if (!p) return OUT_OF_MEMORY;
  *(size_t *)(void *)p = n;
  taken += n;
  memset(p + 256, 0xFF, n);
  return *at = (Address)(size_t)(p + 256), GOOD;
}
Result cuMemFree_v2(Address at) {
  settle();
  char *p = (char *)(size_t)at - 256;
  taken -= *(size_t *)(void *)p;
  free(p);
  return GOOD;
}
Result cuMemAllocHost_v2(void **at, size_t n) {
  return *at = malloc(n + 1), *at ? GOOD : OUT_OF_MEMORY;
}
Result cuMemFreeHost(void *at) { return free(at), GOOD; }
Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t n, void *s) {
  Result r = settle();
  return memcpy((void *)(size_t)to, from, n), s ? r : INVALID;
}
Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t n, void *s) {
  Result r = settle();
  if (r || is_lost()) return r ? r : LOST;
  return memcpy(to, (const void *)(size_t)from, n), s ? GOOD : INVALID;
}
// -- code: a module is a library, behind its length -----------------------------------------------
typedef struct {
  unsigned x;
} Index;
typedef struct {
  void *library;
  Index *thread, *block, *blockd, *gridd;
} Module;
typedef struct {
  Module *m;
  void (*run)(void **);
  size_t bytes;
  int shared;
} Function;

static void take_turns(void), meet(int barrier, unsigned lanes);
static const unsigned long *show(unsigned long own);
Result cuModuleLoadData(void **module, const void *code) {
  Module *m = calloc(1, sizeof *m);
  char path[64];
  size_t n;
  memcpy(&n, code, sizeof n);
  int fd = memfd_create("module", 0);
  if (write(fd, (const char *)code + sizeof n, n) != (ssize_t)n) return INVALID;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd); // open as long as the module: it is its name
  m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!m->library) return fprintf(stderr, "%s\n", dlerror()), INVALID;
  m->thread = dlsym(m->library, "threadIdx");
  m->block = dlsym(m->library, "blockIdx");
  m->blockd = dlsym(m->library, "blockDim");
  m->gridd = dlsym(m->library, "gridDim");
  void (**turns)(void) = dlsym(m->library, "emulated_turns");
  void (**meeting)(int, unsigned) = dlsym(m->library, "emulated_meet");
  const unsigned long *(**showing)(unsigned long) = dlsym(m->library, "emulated_show");
  *turns = take_turns;
  *meeting = meet;
  *showing = show;
  return *module = m, GOOD;
}
Result cuModuleUnload(void *module) {
  Module *m = module;
  dlclose(m->library);
  return free(m), GOOD;
}
Result cuModuleGetFunction(void **function, void *module, const char *name) {
  char bytes[64];
  Module *m = module;
  Function *f = calloc(1, sizeof *f); // as long as the process
  snprintf(bytes, sizeof bytes, "%s_bytes", name);
  void *run = dlsym(m->library, name), *size = dlsym(m->library, bytes);
  if (!run || !size) return NOT_FOUND;
  f->m = m;
  memcpy(&f->run, &run, sizeof run);
  f->bytes = *(const unsigned long *)size;
  f->shared = 48 * 1024;
  return *function = f, GOOD;
}
Result cuFuncSetAttribute(void *function, int which, int n) {
  if (which != 8 || n > 227 * 1024) return INVALID;
  return ((Function *)function)->shared = n, GOOD;
}

// -- threads --------------------------------------------------------------------------------------
// A fiber is made once, and runs a thread of block after block. It lets the next one in itself: who came back to a
// scheduler in between would change stacks twice as often.
// Small kernels spend much of their time on such changes. The compiler's own way saves what a function must, and nothing else; the library's also
// looks at signals, and at threads that end.
#if defined __GNUC__ && !defined __clang__
typedef void *Spot[5];
#define STAY(spot) __builtin_setjmp(spot)
#define LEAVE_FOR(spot) __builtin_longjmp(spot, 1)
#else
#include <setjmp.h>
typedef jmp_buf Spot;
#define STAY(spot) _setjmp(spot)
#define LEAVE_FOR(spot) _longjmp(spot, 1)
#endif
enum { THREADS = 1024, WARP = 32, WARPS = THREADS / WARP, BARRIERS = 2 };
// Stacks do not begin a power of two apart: their ends, which are most of what is used of them, would all want the same few
// places of a cache.
enum { STACK = 256 * 1024, APART = STACK + 4096 + 192 };
static Spot spot[THREADS], home;
static char begun[THREADS];
static char *stacks;
static unsigned now, unfinished;
// Lanes of each warp that may run, and those that wait at a barrier, of so many that have come there.
static unsigned able[WARPS], held[BARRIERS][WARPS], arrived[BARRIERS];
static int backwards;
static Function *running;
static unsigned *running_lane; // what it reads its number from
static void **running_arguments;

static void body(void);
__attribute__((noinline)) static void begin(unsigned i) {
  static ucontext_t start;
  begun[i] = 1;
  getcontext(&start);
  start.uc_stack.ss_sp = stacks + (size_t)i * APART;
  start.uc_stack.ss_size = STACK;
  start.uc_link = NULL;
  makecontext(&start, body, 0);
  setcontext(&start);
}

// To thread `i`, from wherever this is.
static inline void enter(unsigned i) {
  now = i;
  *running_lane = i;
  if (begun[i]) LEAVE_FOR(spot[i]);
  begin(i);
}

static unsigned first_of(unsigned lanes) {
  return (unsigned)(backwards ? 31 - __builtin_clz(lanes) : __builtin_ctz(lanes));
}

// Lanes of a warp take turns until all of them wait for other warps, or have ended; then it is the next warp's turn. After the
// last one's end, home. (A function of its own: none may stay and leave.)
__attribute__((noinline)) static void pass_on(void) {
  unsigned w = now / WARP, lane = now % WARP;
  unsigned later = able[w] & (backwards ? (1u << lane) - 1 : ~0u << lane << 1);
  if (!unfinished) LEAVE_FOR(home);
  for (unsigned i = 0; !able[w]; i++) {
    if (i == WARPS) abort(); // all wait for each other
    w = (w + (backwards ? WARPS - 1 : 1)) % WARPS;
  }
  enter(w * WARP + first_of(later ? later : able[w]));
}

__attribute__((noinline)) static void take_turns(void) {
  if (!STAY(spot[now])) pass_on();
}

// Warps may come to a barrier after different numbers of turns, lanes of a warp may not.
static void meet(int barrier, unsigned lanes) {
  if (++arrived[barrier] < lanes) {
    able[now / WARP] &= ~(1u << now % WARP);
    held[barrier][now / WARP] |= 1u << now % WARP;
    take_turns();
    return;
  }
  arrived[barrier] = 0;
  for (unsigned w = 0; w < WARPS; w++) {
    able[w] |= held[barrier][w];
    held[barrier][w] = 0;
  }
}

// What all lanes of a warp show each other at once. Nobody waits until all have looked: the next time, they show it elsewhere.
static unsigned long shown[2][THREADS];
static char side[THREADS];
static const unsigned long *show(unsigned long own) {
  unsigned long *at = shown[(int)(side[now] = !side[now])] + now / WARP * WARP;
  at[now % WARP] = own;
  take_turns();
  return at;
}

static void body(void) {
  for (;;) {
    running->run(running_arguments);
    able[now / WARP] &= ~(1u << now % WARP);
    unfinished--;
    take_turns();
  }
}

static void run_block(unsigned n) {
  if (!stacks) {
    stacks = mmap(NULL, (size_t)THREADS * APART, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) abort();
  }
  for (unsigned w = 0; w < WARPS; w++)
    able[w] = n >= (w + 1) * WARP ? ~0u : n > w * WARP ? (1u << n % WARP) - 1 : 0;
  memset(side, 0, n);
  unfinished = n;
  if (!STAY(home)) enter(backwards ? n - 1 : 0);
}

// -- launches, and graphs of them -----------------------------------------------------------------
// Streams, as far as a graph is captured: the last launch, and what the next one has to wait for, too.
enum { WAITS = 64, STREAMS = 16, GRAPH = 1 << 16, PLACES_BYTES = 72 };
typedef struct {
  int wait[WAITS];
  unsigned nwait;
} Waits;
typedef struct {
  Waits next;
  int used;
} Stream;
static Stream streams[STREAMS];

static void add_wait(Waits *w, int at) {
  for (unsigned i = 0; i < w->nwait; i++)
    if (w->wait[i] == at) return;
  if (w->nwait == WAITS) abort();
  w->wait[w->nwait++] = at;
}

typedef struct Launch {
  Function *f; // NULL: a library's, which is called with what `wires` points at
  void (*call)(void *);
  unsigned blocks, threads;
  void *context, *wires, *places;
  struct Launch *after;
  unsigned at, nwait; // its number in the graph, and those that it waits for
  int wait[WAITS];
} Launch;
typedef struct {
  Launch *first, **end;
  unsigned n;
} Graph;
static Graph *capturing;

static void *copy(const void *from, size_t n) { return memcpy(malloc(n), from, n); }

static Result run(const Launch *l) {
  launches++;
  if (is_lost()) return LOST;
  if (!l->f) return l->call(l->wires), GOOD;
  void *arguments[] = {l->context, l->wires, l->places};
  running = l->f;
  running_lane = &l->f->m->thread->x;
  running_arguments = arguments;
  l->f->m->blockd->x = l->threads;
  l->f->m->gridd->x = l->blocks;
  backwards = asked("backwards") >= 0;
  for (unsigned b = 0; b < l->blocks; b++) {
    l->f->m->block->x = b;
    run_block(l->threads);
  }
  return GOOD;
}

static void keep(Launch *l, Stream *s) {
  l->at = capturing->n++;
  l->nwait = s->next.nwait;
  memcpy(l->wait, s->next.wait, sizeof l->wait);
  s->next = (Waits){{(int)l->at}, 1};
  *capturing->end = copy(l, sizeof *l);
  capturing->end = &(*capturing->end)->after;
}

typedef struct {
  unsigned blocks[3], threads[3], shared;
  void *stream, *attribute;
  unsigned attributes;
} LaunchConfig;
Result cuLaunchKernelEx(const LaunchConfig *c, void *f, void **arguments, void **extra) {
  Function *function = f;
  const unsigned *b = c->blocks, *t = c->threads;
  if (!b[0] || b[1] != 1 || b[2] != 1 || !t[0] || t[0] > THREADS || t[1] != 1 || t[2] != 1 ||
      extra || !c->stream || (int)c->shared > function->shared)
    return INVALID;
  Launch l = {.f = function,
              .blocks = b[0],
              .threads = t[0],
              .context = arguments[0],
              .wires = arguments[1],
              .places = arguments[2]};
  if (!capturing) {
    Result r = settle();
    return r ? r : run(&l);
  }
  l.context = copy(l.context, 8);
  l.wires = copy(l.wires, function->bytes);
  l.places = copy(l.places, PLACES_BYTES);
  return keep(&l, c->stream), GOOD;
}
// What another library (fake_cublaslt.c) launches.
Result fake_call(void (*fn)(void *), const void *data, size_t bytes, void *stream) {
  Launch l = {.call = fn, .wires = copy(data, bytes)};
  if (capturing) return keep(&l, stream), GOOD;
  settle();
  Result r = run(&l);
  return free(l.wires), r;
}
typedef struct {
  Address to;
  size_t n;
  unsigned char x;
} Clearing;
static void clear(void *context) {
  const Clearing *c = context;
  memset((void *)(size_t)c->to, c->x, c->n);
}
Result cuMemsetD8Async(Address to, unsigned char x, size_t n, void *s) {
  Clearing c = {to, n, x};
  return s ? fake_call(clear, &c, sizeof c, s) : INVALID;
}
Result cuStreamCreate(void **s, unsigned flags) {
  for (unsigned i = 0; i < STREAMS && flags < 2; i++)
    if (!streams[i].used) return streams[i].used = 1, *s = &streams[i], GOOD;
  return INVALID;
}
Result cuEventCreate(void **event, unsigned flags) {
  return *event = calloc(1, sizeof(Waits)), flags == 2 ? GOOD : INVALID;
}
Result cuEventDestroy_v2(void *event) { return free(event), GOOD; }
Result cuEventRecord(Waits *event, Stream *s) {
  *event = s->next;
  return event->nwait || !capturing ? GOOD : INVALID;
}
Result cuStreamWaitEvent(Stream *s, const Waits *event, unsigned flags) {
  if (flags || !event->nwait) return INVALID; // nothing was captured there
  for (unsigned i = 0; i < event->nwait; i++) add_wait(&s->next, event->wait[i]);
  return GOOD;
}
Result cuStreamDestroy_v2(Stream *s) { return s->used ? s->used = 0, GOOD : INVALID; }
Result cuStreamQuery(void *s) { return s ? settle() : INVALID; }
Result cuStreamSynchronize(void *s) {
  Result r = settle();
  return r ? r : is_lost() ? LOST : s ? GOOD : INVALID;
}
Result cuStreamBeginCapture_v2(void *s, int mode) {
  if (!s || capturing || mode != 2) return INVALID;
  for (unsigned i = 0; i < STREAMS; i++) streams[i].next.nwait = 0;
  capturing = calloc(1, sizeof *capturing);
  capturing->end = &capturing->first;
  return GOOD;
}
Result cuStreamEndCapture(void *s, void **graph) {
  Graph *g = *graph = capturing;
  static char met[GRAPH]; // every launch comes before the end of the stream that was captured
  capturing = NULL;
  if (!s || !g || g->n > GRAPH) return INVALID;
  memset(met, 0, g->n);
  const Waits *end = &((Stream *)s)->next;
  for (unsigned i = 0; i < end->nwait; i++) met[end->wait[i]] = 1;
  for (const Launch *l = g->first; l; l = l->after)
    for (unsigned i = 0; i < l->nwait; i++) met[l->wait[i]] = 1;
  for (unsigned i = 0; i < g->n; i++)
    if (!met[i]) return INVALID;
  return GOOD;
}
Result cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  return *exec = copy(graph, sizeof(Graph)), flags ? INVALID : GOOD;
}
// Among those that wait for nothing any more, the last one: as far from the order in which they were captured as may be.
static Result run_askew(const Graph *g) {
  static const Launch *all[GRAPH];
  static char done[GRAPH];
  Result r = GOOD;
  for (const Launch *l = g->first; l; l = l->after) all[l->at] = l, done[l->at] = 0;
  for (unsigned left = g->n; left && !r; left--) {
    unsigned at = g->n;
    for (int ready = 0; !ready;) {
      do at--;
      while (done[at]);
      ready = 1;
      for (unsigned i = 0; i < all[at]->nwait; i++) ready &= done[all[at]->wait[i]];
    }
    r = run(all[at]);
    done[at] = 1;
  }
  return r;
}
static Result run_graph(const Graph *g) {
  Result r = GOOD;
  if (asked("askew") >= 0) return run_askew(g);
  for (const Launch *l = g->first; l && !r; l = l->after) r = run(l);
  return r;
}
static const Graph *waiting;
static Result settle(void) {
  const Graph *g = waiting;
  waiting = NULL;
  return g ? run_graph(g) : GOOD;
}
Result cuGraphLaunch(void *exec, void *stream) {
  Result r = stream ? settle() : INVALID;
  if (r || asked("late") < 0) return r ? r : run_graph(exec);
  waiting = exec;
  return GOOD;
}
Result cuGraphDestroy(void *graph) { return free(graph), GOOD; }
Result cuGraphExecDestroy(void *exec) {
  settle();
  for (Launch *l = ((Graph *)exec)->first, *after; l; l = after) {
    after = l->after;
    free(l->context), free(l->wires), free(l->places), free(l);
  }
  return free(exec), GOOD;
}
