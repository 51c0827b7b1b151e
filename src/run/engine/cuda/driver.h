// driver: NVIDIA's libraries, opened at run time. Nothing of them is needed to build limn, and where
// they are not there, or no GPU is, there is a sentence that says so.
//
//   const char *why;
//   Device *d = device_open(arena, 0, &why);           // NULL: why not
//   CudaModule m;
//   device_compile(d, arena, &(DeviceText){.text = text}, 1, &m, &word, &why);
//
// The names and numbers below are those of CUDA's driver interface and of NVRTC, as far as they are
// used here.
#ifndef LIMN_RUN_ENGINE_CUDA_DRIVER_H
#define LIMN_RUN_ENGINE_CUDA_DRIVER_H

#include "base/base.h"

#include <pthread.h>

typedef int CudaResult; // 0: good
typedef unsigned long long DeviceAddress;
typedef struct CUctx_st *CudaContext;
typedef struct CUmod_st *CudaModule;
typedef struct CUfunc_st *CudaFunction;
typedef struct CUstream_st *CudaStream;
typedef struct CUevent_st *CudaEvent;
enum { TRACKS = 4, ASIDE = TRACKS, TRACKS_ALL }; // the last is for what is beside all kernels
typedef struct CUgraph_st *CudaGraph;
typedef struct CUgraphExec_st *CudaGraphExec;
typedef struct _nvrtcProgram *NvrtcProgram;

enum {
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NOT_READY = 600,
  CUDA_SHARED_MOST = 97,   // attribute of a device: shared memory that a block may ask for
  CUDA_PROCESSORS = 16,    // … multiprocessors
  CUDA_CAPABLE_MAJOR = 75, // … what code it runs
  CUDA_CAPABLE_MINOR = 76,
  CUDA_FUNCTION_SHARED = 8, // attribute of a function: shared memory of a launch
  CUDA_CAPTURE_RELAXED = 2,
  CUDA_EVENT_UNTIMED = 2,
};

// How a kernel is launched, as the driver wants it.
typedef struct {
  int id;
  char unused[4];
  union {
    int on;
    char room[64];
  } value;
} CudaLaunchAttribute;
enum {
  CUDA_LAUNCH_EARLY = 6
}; // it may be sent to its place before the one in front of it is whole
typedef struct {
  unsigned blocks[3], threads[3], shared;
  CudaStream stream;
  CudaLaunchAttribute *attribute;
  unsigned attributes;
} CudaLaunchConfig;

// One row for each function: its result, its name, what it takes. One that is missing makes the whole
// library too old.
#define CUDA_FUNCTIONS(F)                                                                          \
  F(cuInit, (unsigned))                                                                            \
  F(cuDriverGetVersion, (int *))                                                                   \
  F(cuGetErrorString, (CudaResult, const char **))                                                 \
  F(cuDeviceGetCount, (int *))                                                                     \
  F(cuDeviceGet, (int *, int))                                                                     \
  F(cuDeviceGetName, (char *, int, int))                                                           \
  F(cuDeviceGetAttribute, (int *, int, int))                                                       \
  F(cuDeviceTotalMem_v2, (size_t *, int))                                                          \
  F(cuDevicePrimaryCtxRetain, (CudaContext *, int))                                                \
  F(cuDevicePrimaryCtxRelease_v2, (int))                                                           \
  F(cuCtxSetCurrent, (CudaContext))                                                                \
  F(cuMemGetInfo_v2, (size_t *, size_t *))                                                         \
  F(cuMemAlloc_v2, (DeviceAddress *, size_t))                                                      \
  F(cuMemFree_v2, (DeviceAddress))                                                                 \
  F(cuMemAllocHost_v2, (void **, size_t))                                                          \
  F(cuMemFreeHost, (void *))                                                                       \
  F(cuMemcpyHtoDAsync_v2, (DeviceAddress, const void *, size_t, CudaStream))                       \
  F(cuMemcpyDtoHAsync_v2, (void *, DeviceAddress, size_t, CudaStream))                             \
  F(cuMemsetD8Async, (DeviceAddress, unsigned char, size_t, CudaStream))                           \
  F(cuStreamCreate, (CudaStream *, unsigned))                                                      \
  F(cuStreamDestroy_v2, (CudaStream))                                                              \
  F(cuStreamSynchronize, (CudaStream))                                                             \
  F(cuStreamQuery, (CudaStream))                                                                   \
  F(cuStreamBeginCapture_v2, (CudaStream, int))                                                    \
  F(cuStreamEndCapture, (CudaStream, CudaGraph *))                                                 \
  F(cuStreamWaitEvent, (CudaStream, CudaEvent, unsigned))                                          \
  F(cuEventCreate, (CudaEvent *, unsigned))                                                        \
  F(cuEventRecord, (CudaEvent, CudaStream))                                                        \
  F(cuEventDestroy_v2, (CudaEvent))                                                                \
  F(cuGraphInstantiateWithFlags, (CudaGraphExec *, CudaGraph, unsigned long long))                 \
  F(cuGraphLaunch, (CudaGraphExec, CudaStream))                                                    \
  F(cuGraphDestroy, (CudaGraph))                                                                   \
  F(cuGraphExecDestroy, (CudaGraphExec))                                                           \
  F(cuModuleLoadData, (CudaModule *, const void *))                                                \
  F(cuModuleUnload, (CudaModule))                                                                  \
  F(cuModuleGetFunction, (CudaFunction *, CudaModule, const char *))                               \
  F(cuFuncSetAttribute, (CudaFunction, int, int))                                                  \
  F(cuLaunchKernelEx, (const CudaLaunchConfig *, CudaFunction, void **, void **))

#define NVRTC_FUNCTIONS(F)                                                                         \
  F(nvrtcVersion, (int *, int *))                                                                  \
  F(nvrtcCreateProgram,                                                                            \
    (NvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *))   \
  F(nvrtcCompileProgram, (NvrtcProgram, int, const char *const *))                                 \
  F(nvrtcGetProgramLogSize, (NvrtcProgram, size_t *))                                              \
  F(nvrtcGetProgramLog, (NvrtcProgram, char *))                                                    \
  F(nvrtcGetCUBINSize, (NvrtcProgram, size_t *))                                                   \
  F(nvrtcGetCUBIN, (NvrtcProgram, char *))                                                         \
  F(nvrtcDestroyProgram, (NvrtcProgram *))

#define CUDA_MEMBER(name, takes) CudaResult(*name) takes;
typedef struct {
  CUDA_FUNCTIONS(CUDA_MEMBER)
  NVRTC_FUNCTIONS(CUDA_MEMBER)
} CudaCalls;

typedef struct Device {
  CudaCalls call;
  void *driver, *compiler; // libraries
  int number, handle;
  char name[128];
  int major, minor; // what code it runs: 9.0
  int processors, shared_most;
  size_t bytes;
  int driver_version, compiler_version; // 13000 is 13.0
  pthread_t starter;                    // who makes what follows, as long as it starts
  bool starts;
  CudaResult started;
  CudaContext context;
  CudaStream stream;            // the first of its tracks
  CudaStream track[TRACKS_ALL]; // for what is captured
  struct Blas *blas;            // products by cuBLASLt, once something asks for it
  bool no_blas;                 // it was asked for, and is not there
  DeviceAddress stop;  // a number there: not 0 when a loss was not finite, until it is seen
  struct Engine *late; // whose steps wait for a launch (cuda_steps.c); NULL: nobody's
} Device;

// One of these names, in $LIMN_CUDA alone where that is set; NULL: none is there.
void *device_library(Arena *, const char *const *names, const char *const *folders);
// How many there are; with none, why.
// Is there a driver, and does it not say that there is no GPU? Where there is none, nobody expects one.
bool device_expected(Arena *);
int device_count(Arena *, const char **why);
Device *device_open(int number, Arena *, const char **why); // close it; or NULL
// It starts while the caller goes on, who waits for it here before anything is asked of it. False: why not.
bool device_ready(Device *, Arena *, const char **why);
bool device_lives(Device *); // false: a call failed for good, and all later ones do
void device_close(Device *);
bool device_is_hopper(
    const Device *); // it has instructions that no other has, for four warps at once
// What a call said, as a sentence; NULL: it was good.
const char *device_word(const Device *, Arena *, CudaResult, const char *what);
// CUDA C to code for this device, which is kept as compiled steps are. NULL with the reason.
typedef struct {
  const char *text;
  const char *cache; // as in Target
  bool quick;        // quotients and roots may be off by their last bit or two
} DeviceText;
// Several at once, for one cache folder. A word: nothing can be kept there. False, and why: then some modules are NULL.
bool device_compile(Device *, Arena *, const DeviceText *, uint32_t n, CudaModule *,
                    const char **word, const char **why);

#endif
