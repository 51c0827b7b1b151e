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
void (*emulated_wait)(void);
static double emulated_slots[1024], emulated_tiles[32 * 1024] __attribute__((aligned(128)));

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
#define TILES(name) double *name = emulated_tiles
#define SHARED(type, name, n) static type name[n]
#define __threadfence_system()
// Warps may come here after different numbers of turns, lanes of a warp may not. There are two barriers: of all lanes, and of
// the first ones.
static unsigned emulated_arrived[2], emulated_meetings[2];
static inline void emulated_meet(int barrier, unsigned lanes) {
  const unsigned meeting = emulated_meetings[barrier];
  if (++emulated_arrived[barrier] == lanes) {
    emulated_arrived[barrier] = 0;
    emulated_meetings[barrier]++;
  }
  while (emulated_meetings[barrier] == meeting) emulated_wait();
}
#define __syncthreads() emulated_meet(0, blockDim.x)
#define LIMN_MEET(lanes) emulated_meet(1, lanes)
#define __syncwarp(mask) emulated_wait()
#define __shfl_sync(mask, value, lane, width)                                                      \
  (__extension__({                                                                                 \
    __typeof__(value) own_ = value, its_;                                                          \
    __builtin_memcpy(&emulated_slots[threadIdx.x], &own_, sizeof own_);                            \
    emulated_wait();                                                                               \
    __builtin_memcpy(&its_, &emulated_slots[threadIdx.x / 32 * 32 + (unsigned)(lane)],             \
                     sizeof its_);                                                                 \
    emulated_wait();                                                                               \
    its_;                                                                                          \
  }))
#define __ffs(x) __builtin_ffs(x)
#define __popc(x) __builtin_popcount(x)
#define __ballot_sync(mask, value)                                                                 \
  (__extension__({                                                                                 \
    const int own_ = value;                                                                        \
    unsigned all_ = 0;                                                                             \
    __builtin_memcpy(&emulated_slots[threadIdx.x], &own_, sizeof own_);                            \
    emulated_wait();                                                                               \
    for (unsigned l_ = 0; l_ < 32; l_++) {                                                         \
      int its_;                                                                                    \
      __builtin_memcpy(&its_, &emulated_slots[threadIdx.x / 32 * 32 + l_], sizeof its_);           \
      all_ |= (unsigned)(its_ != 0) << l_;                                                         \
    }                                                                                              \
    emulated_wait();                                                                               \
    all_;                                                                                          \
  }))
