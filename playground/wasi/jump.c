// What clang calls for setjmp and longjmp, which it makes of WebAssembly's exceptions
// (-mllvm -wasm-enable-sjlj). A call of a function that sets marks has a table of them: setjmp puts
// a number, which it also writes into the jmp_buf, and the label of the place; longjmp throws; who
// catches looks whether the mark is one of its own, and otherwise throws again. From its version 19 on
// there is no table: the jmp_buf itself says which call it belongs to.
#include <stdint.h>
#include <stdlib.h>

typedef struct {
  uint32_t id, label; // id 0: the end
} JumpMark;

typedef struct {
  unsigned long *to;
  int value;
} JumpThrown;

JumpMark *saveSetjmp(unsigned long *env, uint32_t label, JumpMark *table, uint32_t size);
uint32_t testSetjmp(uint32_t id, const JumpMark *table, uint32_t size);
void __wasm_setjmp(unsigned long *env, uint32_t label, const void *call);
uint32_t __wasm_setjmp_test(const unsigned long *env, const void *call);
uint32_t getTempRet0(void);
void setTempRet0(uint32_t);
_Noreturn void __wasm_longjmp(unsigned long *env, int value);

static uint32_t second; // the second result of what clang calls
static uint32_t marks;

uint32_t getTempRet0(void) { return second; }
void setTempRet0(uint32_t x) { second = x; }

JumpMark *saveSetjmp(unsigned long *env, uint32_t label, JumpMark *table, uint32_t size) {
  uint32_t n = 0;
  while (n < size && table[n].id) n++;
  if (n + 1 >= size) {
    size = 2 * size + 2;
    table = realloc(table, size * sizeof *table);
    if (!table) abort();
  }
  env[0] = ++marks;
  table[n] = (JumpMark){marks, label};
  table[n + 1].id = 0;
  second = size;
  return table;
}

uint32_t testSetjmp(uint32_t id, const JumpMark *table, uint32_t size) {
  for (uint32_t i = 0; i < size && table[i].id; i++)
    if (table[i].id == id) return table[i].label;
  return 0;
}

void __wasm_setjmp(unsigned long *env, uint32_t label, const void *call) {
  env[0] = (uintptr_t)call;
  env[1] = label;
}

uint32_t __wasm_setjmp_test(const unsigned long *env, const void *call) {
  return env[0] == (uintptr_t)call ? env[1] : 0;
}

_Noreturn void __wasm_longjmp(unsigned long *env, int value) {
  static JumpThrown thrown;
  thrown = (JumpThrown){env, value ? value : 1};
  __builtin_wasm_throw(1, &thrown);
}
