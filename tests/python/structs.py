"""A C program that holds the structs of the module against those of limn.h."""

import ctypes

from limn._library import STRUCTS

print('#include "limn.h"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n  int wrong = 0;')
for name, struct in STRUCTS.items():
    print(f'  if (sizeof({name}) != {ctypes.sizeof(struct)}) wrong++, puts("# {name} has another size");')
    for field in struct._fields_:
        own = field[0].rstrip("_")
        print(f'  if (offsetof({name}, {own}) != {getattr(struct, field[0]).offset}) wrong++, puts("# {name}.{own} lies elsewhere");')
print('  puts(wrong ? "not ok python structs" : "ok python structs");\n  return wrong > 0;\n}')
