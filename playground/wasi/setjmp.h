// setjmp.h: WASI has none; clang makes it of WebAssembly's exceptions, with jump.c.
#ifndef LIMN_WASI_SETJMP_H
#define LIMN_WASI_SETJMP_H

typedef unsigned long jmp_buf[8];
int setjmp(jmp_buf) __attribute__((__returns_twice__));
_Noreturn void longjmp(jmp_buf, int);

#endif
