// Feeds files to a harness, without libFuzzer: replay FILE…
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
size_t LLVMFuzzerMutate(uint8_t *, size_t n, size_t most);

size_t LLVMFuzzerMutate(uint8_t *data, size_t n,
                        size_t most) { // named by tokens.h, never called here
  (void)data;
  return n < most ? n : most;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    FILE *f = fopen(argv[i], "rb");
    size_t room = 1 << 20;
    uint8_t *data = malloc(room);
    if (!f || !data) return 3;
    size_t n = fread(data, 1, room, f);
    fclose(f);
    uint8_t *exact = realloc(data, n ? n : 1); // so that a sanitizer sees a read beyond the end
    LLVMFuzzerTestOneInput(exact ? exact : data, n);
    free(exact ? exact : data);
  }
  return 0;
}
