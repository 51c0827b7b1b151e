// NVIDIA's libraries, devices, and compiling by NVRTC. If $LIMN_CUDA is set, libraries are looked up in that
// folder only.
#define _DEFAULT_SOURCE
#include "run/engine/cuda/driver.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/sandbox.h"
#include "run/engine/c/code_cache.h"
#include "run/engine/cuda/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { DRIVER_LEAST = 12000 };

// -- finding --------------------------------------------------------------------------------------
// $LIMN_CUDA, or NULL.
static const char *configured_folder(void) {
  const char *own = getenv("LIMN_CUDA");
  return own && *own ? own : NULL;
}

void *device_library(Arena *a, const char *const *names, const char *const *folders) {
  const char *own = configured_folder();
  for (; own && *names; names++) {
    void *library = dlopen(arena_format(a, "%s/%s", own, *names), RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  for (; !own && *names; names++) {
    void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    for (uint32_t i = 0; !library && folders[i]; i++)
      library = dlopen(arena_format(a, "%s/%s", folders[i], *names), RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

static bool find_function(void *library, const char *name, void *to, Arena *a, const char **why) {
  void *at = dlsym(library, name);
  memcpy(to, &at, sizeof at);
  if (!at) *why = arena_format(a, "NVIDIA's libraries here are too old: there is no `%s`", name);
  return at != NULL;
}

static void *driver_library(Arena *a) {
  static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
  static const char *const folders[] = {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", NULL};
  return device_library(a, names, folders);
}

bool device_expected(Arena *a) {
  enum { NO_DEVICE = 100 };
  CudaResult (*init)(unsigned) = NULL;
  void *driver = driver_library(a), *at = driver ? dlsym(driver, "cuInit") : NULL;
  memcpy(&init, &at, sizeof at);
  return driver &&
         (!init || init(0) != NO_DEVICE); // the driver stays loaded: unloading it is unsafe
}

// Why a library cannot be loaded from $LIMN_CUDA: the file is missing, or the loader's error.
static const char *not_in_folder(Arena *a, const char *what, const char *file) {
  const char *path = arena_format(a, "%s/%s", configured_folder(), file);
  if (access(path, F_OK) == 0 && !dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    const char *said = dlerror();
    return arena_format(a, "%s, which LIMN_CUDA names, cannot be loaded: %s", path,
                        said ? said : "");
  }
  return arena_format(a, "there is no %s (%s) in %s, which LIMN_CUDA names", what, file,
                      configured_folder());
}

static bool open_driver(Device *d, Arena *a, const char **why) {
  d->driver = driver_library(a);
  if (!d->driver) {
    *why = configured_folder() ? not_in_folder(a, "NVIDIA driver", "libcuda.so.1")
                               : "there is no NVIDIA driver (libcuda.so.1) on this machine";
    return false;
  }
#define FIND_IN_DRIVER(name, takes)                                                                \
  if (!find_function(d->driver, #name, &d->call.name, a, why)) return false;
  CUDA_FUNCTIONS(FIND_IN_DRIVER)
  return true;
}

static bool open_compiler(Device *d, Arena *a, const char **why) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
  static const char *const folders[] = {"/usr/local/cuda/lib64", "/opt/cuda/lib64", NULL};
  d->compiler = device_library(a, names, folders);
  if (!d->compiler) {
    *why = configured_folder()
               ? not_in_folder(a, "CUDA compiler library", "libnvrtc.so.13")
               : "there is no CUDA compiler library (libnvrtc.so): install CUDA's NVRTC, "
                 "version 12 or later";
    return false;
  }
#define FIND_IN_COMPILER(name, takes)                                                              \
  if (!find_function(d->compiler, #name, &d->call.name, a, why)) return false;
  NVRTC_FUNCTIONS(FIND_IN_COMPILER)
  int major = 0, minor = 0;
  d->call.nvrtcVersion(&major, &minor);
  d->compiler_version = 1000 * major + 10 * minor;
  return true;
}

const char *device_error(const Device *d, Arena *a, CudaResult r, const char *what) {
  const char *text = NULL;
  if (!r) return NULL;
  d->call.cuGetErrorString(r, &text);
  return arena_format(a, "%s: the GPU's driver says `%s` (%d)", what, text ? text : "unknown", r);
}

// -- devices --------------------------------------------------------------------------------------
static int count_devices(Device *d, Arena *a, const char **why) {
  int n = 0;
  CudaResult r = d->call.cuInit(0);
  if (!r) r = d->call.cuDeviceGetCount(&n);
  if (r) *why = device_error(d, a, r, "no GPU can be used");
  if (!r && !n) *why = "there is no NVIDIA GPU on this machine";
  return r ? 0 : n;
}

int device_count(Arena *a, const char **why) {
  Device d = {0};
  int n = open_driver(&d, a, why) ? count_devices(&d, a, why) : 0;
  if (d.driver) dlclose(d.driver);
  return n;
}

static void query_device(Device *d) {
  const CudaCalls *c = &d->call;
  c->cuDeviceGetName(d->name, sizeof d->name - 1, d->handle);
  c->cuDeviceGetAttribute(&d->major, CUDA_CAPABLE_MAJOR, d->handle);
  c->cuDeviceGetAttribute(&d->minor, CUDA_CAPABLE_MINOR, d->handle);
  c->cuDeviceGetAttribute(&d->processors, CUDA_PROCESSORS, d->handle);
  c->cuDeviceGetAttribute(&d->shared_most, CUDA_SHARED_MOST, d->handle);
  c->cuDeviceTotalMem_v2(&d->bytes, d->handle);
  c->cuDriverGetVersion(&d->driver_version);
}

static bool find_device(Device *d, Arena *a, const char **why) {
  int n = count_devices(d, a, why);
  if (!n) return false;
  if (d->number >= n) {
    *why = arena_format(a, "there is no GPU %d: this machine has %d, counted from 0", d->number, n);
    return false;
  }
  CudaResult r = d->call.cuDeviceGet(&d->handle, d->number);
  if (r) {
    *why = device_error(d, a, r, arena_format(a, "GPU %d cannot be opened", d->number));
    return false;
  }
  query_device(d);
  if (d->driver_version >= DRIVER_LEAST) return true;
  *why = arena_format(a, "the NVIDIA driver is for CUDA %d.%d: 12.0 or later is needed",
                      d->driver_version / 1000, d->driver_version % 1000 / 10);
  return false;
}

// Starting a device takes a tenth of a second and more; the caller plans and prints steps meanwhile.
static void *start(void *given) {
  Device *d = given;
  const CudaCalls *c = &d->call;
  CudaResult r = c->cuDevicePrimaryCtxRetain(&d->context, d->handle);
  if (!r) r = c->cuCtxSetCurrent(d->context);
  for (uint32_t i = 0; !r && i < ALL_STREAMS; i++) r = c->cuStreamCreate(&d->streams[i], 1);
  d->stream = d->streams[0];
  if (!r) r = c->cuMemAlloc_v2(&d->stop, sizeof(int));
  if (!r) r = c->cuMemsetD8Async(d->stop, 0, sizeof(int), d->stream);
  d->started = r;
  return NULL;
}

static void start_in_thread(Device *d) {
  d->starts = !pthread_create(&d->starter, NULL, start, d);
  if (!d->starts) start(d);
}

static void wait_for_start(Device *d) {
  if (d->starts) pthread_join(d->starter, NULL);
  d->starts = false;
}

bool device_ready(Device *d, Arena *a, const char **why) {
  wait_for_start(d);
  CudaResult r = d->started ? d->started : d->call.cuCtxSetCurrent(d->context);
  if (r) *why = device_error(d, a, r, arena_format(a, "GPU %d cannot be opened", d->number));
  return !r;
}

static bool open_all(Device *d, Arena *a, const char **why) {
  if (!open_driver(d, a, why) || !find_device(d, a, why)) return false;
  start_in_thread(d);
  return open_compiler(d, a, why);
}

Device *device_open(int number, Arena *a, const char **why) {
  Device *d = calloc(1, sizeof *d);
  if (!d) {
    *why = "memory is exhausted";
    return NULL;
  }
  d->number = number;
  if (open_all(d, a, why)) return d;
  if (sandbox_inside())
    *why = "in a sandbox there is no GPU; with --no-sandbox a program that is trusted runs without "
           "walls";
  device_close(d);
  return NULL;
}

bool device_is_alive(Device *d) {
  wait_for_start(d);
  return !d->started && !d->call.cuStreamSynchronize(d->stream);
}

void device_close(Device *d) {
  if (!d) return;
  wait_for_start(d);
  blas_close(d->blas, d);
  if (d->stop) d->call.cuMemFree_v2(d->stop);
  for (uint32_t i = 0; i < ALL_STREAMS; i++)
    if (d->streams[i]) d->call.cuStreamDestroy_v2(d->streams[i]);
  if (d->context) d->call.cuDevicePrimaryCtxRelease_v2(d->handle);
  if (d->compiler) dlclose(d->compiler);
  free(d); // the driver stays loaded: unloading it is unsafe
}

bool device_is_hopper(const Device *d) { return d->major == 9 && d->minor == 0; }

// -- code -----------------------------------------------------------------------------------------
static const char *compiler_error(const Device *d, NvrtcProgram p, Arena *a) {
  size_t n = 0;
  if (d->call.nvrtcGetProgramLogSize(p, &n) || !n) return "nothing";
  char *text = NEW_ARRAY(a, char, n + 1);
  d->call.nvrtcGetProgramLog(p, text);
  for (char *c = text; *c; c++) // up to the end of the first error
    if (*c == '\n' && strstr(text, "error") && strstr(text, "error") < c) *c = 0;
  return text;
}

// Compiles CUDA C to a cubin. False with the reason.
static bool compile_text(const Device *d, Arena *a, const DeviceText *text, FileText *code,
                         const char **why) {
  const char *own = device_is_hopper(d) ? "a" : "",
             *arch = arena_format(a, "-arch=sm_%d%d%s", d->major, d->minor, own);
  // multiply–adds are fused where the text says so, or anywhere if factors are rounded (quick); denormals are
  // flushed to 0, as on the CPU
  const char *const options[] = {arch,
                                 text->quick ? "-fmad=true" : "-fmad=false",
                                 "-ftz=true",
                                 text->quick ? "-prec-div=false" : "-prec-div=true",
                                 text->quick ? "-prec-sqrt=false" : "-prec-sqrt=true",
                                 "-default-device",
                                 "-std=c++17",
                                 "-w"};
  NvrtcProgram p = NULL;
  size_t n = 0;
  CudaResult r = d->call.nvrtcCreateProgram(&p, text->text, "limn.cu", 0, NULL, NULL);
  if (!r) r = d->call.nvrtcCompileProgram(p, (int)COUNT(options), options);
  if (!r) r = d->call.nvrtcGetCUBINSize(p, &n);
  char *bytes = r ? NULL : NEW_ARRAY(a, char, n + 1);
  if (!r) r = d->call.nvrtcGetCUBIN(p, bytes);
  if (r)
    *why = arena_format(a, "the CUDA compiler refuses a kernel: %s",
                        p ? compiler_error(d, p, a) : "it does not begin");
  if (p) d->call.nvrtcDestroyProgram(&p);
  *code = (FileText){.text = bytes, .n = n};
  return !r;
}

static const char *key_of(const Device *d, Arena *a, const DeviceText *text) {
  CodeHash h = {HASH_START, 0};
  const int own[] = {d->major, d->minor, d->compiler_version, text->quick};
  code_hash(&h, text->text, strlen(text->text));
  code_hash(&h, own, sizeof own);
  return code_key(a, h);
}

// A text that is compiled in a thread of its own.
typedef struct {
  const Device *d;
  const DeviceText *text;
  Arena *arena;
  FileText code;
  const char *key, *why;
  bool found, good, begun; // found: in the cache; begun: its thread was started
  pthread_t thread;
} Compiling;

static void *compile_in_thread(void *given) {
  Compiling *c = given;
  c->good = compile_text(c->d, c->arena, c->text, &c->code, &c->why);
  return NULL;
}

// Compiling takes seconds: each text that is not in the cache gets a thread.
static void compile_texts(Compiling *all, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    Compiling *c = &all[i];
    if (c->found) continue;
    c->arena = arena_new();
    c->begun = c->arena && !pthread_create(&c->thread, NULL, compile_in_thread, c);
    if (!c->begun && c->arena) compile_in_thread(c);
    if (!c->arena) c->why = "out of memory";
  }
  for (uint32_t i = 0; i < n; i++)
    if (all[i].begun) pthread_join(all[i].thread, NULL);
}

bool device_compile(Device *d, Arena *a, const DeviceText *text, uint32_t n, CudaModule *module,
                    const char **word, const char **why) {
  const char *error = NULL;
  CodeFolder folder;
  Compiling *all = NEW_ARRAY(a, Compiling, n + 1);
  bool kept = code_folder_open(&folder, a, text->cache, word, &error), good = true;
  if (!kept) *word = error;
  for (uint32_t i = 0; i < n; i++) {
    all[i] = (Compiling){.d = d, .text = &text[i], .key = key_of(d, a, &text[i])};
    if (kept) all[i].code = code_read(&folder, a, all[i].key);
    all[i].found = all[i].good = all[i].code.text != NULL;
  }
  compile_texts(all, n);
  for (uint32_t i = 0; i < n; i++) {
    const Compiling *c = &all[i];
    CudaResult r = c->good && good ? d->call.cuModuleLoadData(&module[i], c->code.text) : 1;
    if (!c->good && good)
      *why = arena_format(a, "%s", c->why);
    else if (r && good)
      *why = device_error(d, a, r, "the GPU cannot load the compiled kernels");
    if (!r && kept && !c->found) code_store(&folder, a, c->key, c->code.text, c->code.n);
    if (r) module[i] = NULL;
    good &= !r;
    if (c->arena) arena_free(c->arena);
  }
  if (kept) code_folder_close(&folder, a);
  return good;
}
