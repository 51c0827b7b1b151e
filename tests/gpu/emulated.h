// emulated.h: what CUDA gives a kernel, for C: stands in front of the text of kernels that a machine
// without a GPU runs. Threads of a block take turns on one thread of the CPU; a barrier is where the
// next one is let in.
#define LIMN_EMULATED
// What is inlined everywhere takes as long to compile as all the rest, and is run for a moment only.
#define always_inline unused
typedef struct {
  unsigned x;
} EmulatedIndex;
EmulatedIndex threadIdx, blockIdx, blockDim, gridDim;
// The other lanes of the warp have their turns; all lanes meet at a barrier, of which there are two: of all, and of the first
// ones; lanes of a warp show each other what they have.
void (*emulated_turns)(void), (*emulated_meet)(int barrier, unsigned lanes);
const unsigned long *(*emulated_show)(unsigned long own);
static double emulated_tiles[32 * 1024] __attribute__((aligned(128)));

#define KERNEL(name, Wires, ...)                                                                   \
  const unsigned long name##_bytes = sizeof(Wires);                                                \
  void name(void **arguments)
#define ARGUMENTS(Wires)                                                                           \
  const Context *g = *(const Context **)arguments[0];                                              \
  Wires wires = *(Wires *)arguments[1];                                                            \
  Places at = *(Places *)arguments[2];                                                             \
  (void)wires, (void)at;
#define ARGUMENTS_ALONE(Wires) ARGUMENTS(Wires)
#define AWAIT()
#define AWAIT_ALONE()
#define LET_NEXT()
#define TILES(name) double *name = emulated_tiles
#define SHARED(type, name, n) static type name[n]
#define __threadfence_system()
#define __syncthreads() emulated_meet(0, blockDim.x)
#define LIMN_MEET(lanes) emulated_meet(1, lanes)
#define __syncwarp(mask) emulated_turns()
#define __shfl_sync(mask, value, lane, width)                                                      \
  (__extension__({                                                                                 \
    __typeof__(value) its_ = value;                                                                \
    unsigned long own_ = 0;                                                                        \
    __builtin_memcpy(&own_, &its_, sizeof its_);                                                   \
    __builtin_memcpy(&its_, &emulated_show(own_)[(unsigned)(lane)], sizeof its_);                  \
    its_;                                                                                          \
  }))
#define __ffs(x) __builtin_ffs(x)
// Not __builtin_popcount: gcc may call libgcc for it, and kernels are linked without that library.
static inline int __popc(unsigned x) {
  int n = 0;
  for (; x; x &= x - 1) n++;
  return n;
}
#define __ballot_sync(mask, value)                                                                 \
  (__extension__({                                                                                 \
    const unsigned long *shown_ = emulated_show((value) != 0);                                     \
    unsigned all_ = 0;                                                                             \
    for (unsigned l_ = 0; l_ < 32; l_++) all_ |= (unsigned)shown_[l_] << l_;                       \
    all_;                                                                                          \
  }))
