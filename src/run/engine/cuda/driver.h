// driver: CUDA's driver and NVRTC, opened at run time. Building limn needs no CUDA; without a driver or a
// GPU, callers get a sentence that says so.
//
//   const char *why;
//   Device *d = device_open(arena, 0, &why);           // NULL: why not
//   CudaModule m;
//   device_compile(d, arena, &(DeviceText){.text = text}, 1, &m, &word, &why);
//
// The names and numbers below are those of CUDA's driver API and of NVRTC.
#ifndef LIMN_RUN_ENGINE_CUDA_DRIVER_H
#define LIMN_RUN_ENGINE_CUDA_DRIVER_H

#include "base/base.h"

#include <pthread.h>

typedef int CudaResult; // 0: success
typedef unsigned long long DeviceAddress;
typedef struct CUctx_st *CudaContext;
typedef struct CUmod_st *CudaModule;
typedef struct CUfunc_st *CudaFunction;
typedef struct CUstream_st *CudaStream;
typedef struct CUevent_st *CudaEvent;
enum { STREAMS = 4, SIDE_STREAM = STREAMS, ALL_STREAMS }; // streams for kernels, and a side stream
typedef struct CUgraph_st *CudaGraph;
typedef struct CUgraphExec_st *CudaGraphExec;
typedef struct _nvrtcProgram *NvrtcProgram;

enum {
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_NOT_READY = 600,
  CUDA_SHARED_MOST = 97,   // attribute of a device: shared memory of a block, at most
  CUDA_PROCESSORS = 16,    // … multiprocessors
  CUDA_CAPABLE_MAJOR = 75, // … compute capability
  CUDA_CAPABLE_MINOR = 76,
  CUDA_FUNCTION_SHARED = 8, // attribute of a function: shared memory of a launch
  CUDA_CAPTURE_RELAXED = 2,
  CUDA_EVENT_UNTIMED = 2,
};

// CUlaunchAttribute and CUlaunchConfig.
typedef struct {
  int id;
  char unused[4];
  union {
    int on;
    char room[64];
  } value;
} CudaLaunchAttribute;
// Programmatic dependent launch: a kernel may start before the previous one in its stream has ended.
enum { CUDA_LAUNCH_PROGRAMMATIC = 6 };
typedef struct {
  unsigned blocks[3], threads[3], shared;
  CudaStream stream;
  CudaLaunchAttribute *attribute;
  unsigned attributes;
} CudaLaunchConfig;

// One row for each function: its name and parameters. If one is missing, the library is too old.
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
  int major, minor; // compute capability
  int processors, shared_most;
  size_t bytes;
  int driver_version, compiler_version; // 13000 is 13.0
  pthread_t starter;                    // the thread that starts the device and sets what follows
  bool starts;                          // the thread has not been joined
  CudaResult started;
  CudaContext context;
  CudaStream stream;               // streams[0]
  CudaStream streams[ALL_STREAMS]; // for captured steps
  struct Blas *blas;               // cuBLASLt, opened when first needed
  bool no_blas;                    // cuBLASLt is missing
  DeviceAddress
      stop; // an int on the device: not 0 from a loss that is not finite until the host handles it
  struct Engine *pending; // the engine with steps that wait for a launch (cuda_steps.c); or NULL
} Device;

// Opens the first of these names, in the folder $LIMN_CUDA only if that is set; or NULL.
void *device_library(Arena *, const char *const *names, const char *const *folders);
// There is a driver, and it does not report that there is no GPU.
bool device_expected(Arena *);
int device_count(Arena *, const char **why);                // *why if there is none
Device *device_open(int number, Arena *, const char **why); // for device_close; or NULL
// device_open starts the device in a thread; this waits for it, before any other use. False: *why.
bool device_ready(Device *, Arena *, const char **why);
bool device_is_alive(Device *); // false: a call failed for good, and all later ones will fail
void device_close(Device *);
bool device_is_hopper(const Device *); // has wgmma: four warps multiply together
// The error of a call as a sentence; NULL: the call succeeded.
const char *device_error(const Device *, Arena *, CudaResult, const char *what);
typedef struct {
  const char *text;
  const char *cache; // as in Target
  bool quick;        // allow inexact division and square root, off by a bit or two
} DeviceText;
// Compiles CUDA C for this device, several texts in parallel, with one cache folder. *word: nothing can be
// cached. False with *why: some modules are NULL.
bool device_compile(Device *, Arena *, const DeviceText *, uint32_t n, CudaModule *,
                    const char **word, const char **why);

#endif
