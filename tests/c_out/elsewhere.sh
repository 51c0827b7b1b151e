#!/bin/sh
# Exported C for other targets, if their compilers are installed: a learner with products, noise and a scan on a Cortex-M4 without an
# operating system, and in wasm32 without a library.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
limn=${LIMN:-$root/build/limn}
base=$(mktemp -d)
dir=$base/c
mkdir "$dir"
trap 'rm -rf "$base"' EXIT
cd "$dir" || exit 1
strict="-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -O2"
has() { command -v "$1" >/dev/null 2>&1; }
"$limn" export "$root/examples/digits_conv.limn" classify --as c -o net.c >/dev/null || echo "not ok a net for other machines"
/usr/bin/python3 -c 'import numpy as n; x = n.random.default_rng(1).uniform(size=(28, 28, 1)).astype("f4"); n.save("x.npy", x.astype(float)); open("x.h", "w").write("static const float x[] = {%s};\n" % ",".join(repr(float(v)) + "f" for v in x.ravel()))'
"$limn" eval "$root/examples/digits_conv.limn" classify --in x.npy --json >want.json || echo "not ok a net for other machines"
close() { # name FILE: its numbers are those that are wanted
  /usr/bin/python3 -c 'import json, sys
want = json.load(open("want.json"))["values"]["out"]
have = [float(v) for v in open(sys.argv[1]).read().split()]
far = max(abs(a - b) for a, b in zip(have, want)) if len(have) == len(want) else 9
print("ok" if far < 1e-5 else "not ok", sys.argv[2], "(%g)" % far)' "$2" "$1"
}

# -- Cortex-M4, with its unit for floats ---------------------------------------------------------------
cat >arm.c <<'END'
#include <stdio.h>
#include "net.h"
#include "x.h"
int main(void) {
  float y[10];
  classify(x, y);
  for (int i = 0; i < 10; i++) printf("%.9g\n", (double)y[i]);
  return 0;
}
END
if ! has arm-none-eabi-gcc; then echo "skipped a Cortex-M: no arm-none-eabi-gcc here"
elif ! arm-none-eabi-gcc $strict -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -c net.c -o net.arm.o 2>arm.err; then
  echo "not ok a Cortex-M"
  cat arm.err
else
  echo "ok compiled for a Cortex-M"
  # the machine's memory lies at 0, and its vectors first: where the stack is, and where to begin
  cat >start.c <<'END'
extern int main(void);
extern void initialise_monitor_handles(void);
extern void _exit(int);
void begin(void);
void begin(void) {
  *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; // the unit for floats is on
  initialise_monitor_handles();
  main();
  _exit(0);
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {(void *)0x203FFFF0, (void *)begin};
END
  cat >mps2.ld <<'END'
MEMORY { code (rx) : ORIGIN = 0, LENGTH = 4M  data (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.ARM.ex*) *(.init) *(.fini) } >code
  .data : { *(.data*) } >data
  .bss : { *(.bss*) *(COMMON) end = .; } >data
}
END
  if ! has qemu-system-arm; then echo "skipped running it: no qemu-system-arm here"
  elif ! arm-none-eabi-gcc --specs=rdimon.specs -E -x c /dev/null >/dev/null 2>&1; then echo "skipped running it: no newlib for a Cortex-M here"
  elif arm-none-eabi-gcc -O2 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 --specs=rdimon.specs -nostartfiles -T mps2.ld start.c arm.c net.arm.o -lm -o net.elf 2>arm.err &&
    timeout 60 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -semihosting -kernel net.elf >arm.out 2>&1; then
    close "on a Cortex-M" arm.out
  else
    echo "not ok on a Cortex-M"
    cat arm.err arm.out
  fi
fi

# -- wasm32, without any library ------------------------------------------------------------------------
cat >wasm.c <<'END'
#include "net.h"
#include "x.h"
static float y[10];
void *memset(void *to, int byte, unsigned long n);
void *memcpy(void *to, const void *from, unsigned long n);
void *memset(void *to, int byte, unsigned long n) { for (volatile unsigned long i = 0; i < n; i++) ((char *)to)[i] = (char)byte; return to; }
void *memcpy(void *to, const void *from, unsigned long n) { for (volatile unsigned long i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i]; return to; }
__attribute__((export_name("run"))) float *run(void) { classify(x, y); return y; }
END
cat >wasm.js <<'END'
const instance = new WebAssembly.Instance(new WebAssembly.Module(require("fs").readFileSync("net.wasm")));
const at = instance.exports.run();
for (const v of new Float32Array(instance.exports.memory.buffer, at, 10)) console.log(v);
END
for simd in "" -msimd128; do
  if ! has clang || ! has wasm-ld; then echo "skipped wasm32: no clang with wasm-ld here"
  # shellcheck disable=SC2086
  elif ! clang --target=wasm32 $strict $simd -fno-math-errno -nostdlib -c net.c -o net.wasm.o 2>wasm.err; then
    echo "not ok wasm32 $simd"
    cat wasm.err
  else
    echo "ok compiled for wasm32 $simd"
    if ! has node; then echo "skipped running it: no node here"
    elif clang --target=wasm32 -O2 $simd -nostdlib -Wl,--no-entry -o net.wasm wasm.c net.wasm.o 2>wasm.err && node wasm.js >wasm.out 2>>wasm.err; then
      close "in wasm32 $simd" wasm.out
    else
      echo "not ok in wasm32 $simd"
      cat wasm.err
    fi
  fi
done
