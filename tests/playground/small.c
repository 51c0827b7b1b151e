// What playground/wasi adds to WASI, and what studio/src/wasi.ts answers: jumps, paths, files. `test` gives the number of the first
// thing that is not so, or 0; what is packed is left in /packed.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static jmp_buf outer;

static __attribute__((noinline)) void deep(int n) {
  if (!n) longjmp(outer, 7);
  deep(n - 1);
}

static __attribute__((noinline)) int inner(int k) {
  jmp_buf own[20]; // more marks than a table begins with
  for (int i = 0; i < 20; i++) {
    int v = setjmp(own[i]);
    if (v) return 100 + v;
  }
  if (k == 1) longjmp(own[19], 3);
  if (k == 2) deep(5);
  return k;
}

static int jumps(int k) {
  int v = setjmp(outer);
  return v ? 1000 + v : inner(k);
}

static int paths(void) {
  char real[4096];
  if (!realpath("/a/./b/../b//file", real) || strcmp(real, "/a/b/file") != 0) return 10;
  if (realpath("/a/nothing", real) || errno != ENOENT) return 11;
  if (!realpath("a/b", real) || strcmp(real, "/a/b") != 0) return 12;
  return realpath("/..", real) && !strcmp(real, "/") ? 0 : 13;
}

static int folder(void) {
  char all[200] = "";
  DIR *d = opendir("/a/b");
  if (!d) return 20;
  for (struct dirent *e; (e = readdir(d));)
    if (e->d_name[0] != '.') strcat(strcat(all, e->d_name), " ");
  closedir(d);
  if (strcmp(all, "file moved ") != 0) return 21;
  if (mkdir("/a/b", 0700) != -1 || errno != EEXIST) return 22;
  if (mkdir("/no/where", 0700) != -1 || errno != ENOENT) return 23;
  if (rmdir("/a/b") != -1 || errno != ENOTEMPTY) return 24;
  return open("/a/b/none", O_RDONLY) == -1 && errno == ENOENT ? 0 : 25;
}

static int files(void) {
  struct stat info;
  char text[20] = "";
  if (mkdir("/a", 0700) || mkdir("/a/b", 0700)) return 1;
  FILE *f = fopen("/a/b/file", "w+");
  if (!f || fputs("one two", f) < 0 || fseek(f, 4, SEEK_SET) || !fgets(text, 20, f)) return 2;
  if (strcmp(text, "two") != 0 || fclose(f)) return 3;
  f = fopen("/a/b/file", "a");
  if (!f || fputs(" three", f) < 0 || fclose(f)) return 4;
  if (stat("/a/b/file", &info) || info.st_size != 13 || !S_ISREG(info.st_mode)) return 5;
  int fd = open("/a/b/more", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd < 0 || write(fd, "12345", 5) != 5 || ftruncate(fd, 2)) return 6;
  if (pread(fd, text, 5, 1) != 1 || text[0] != '2' || close(fd)) return 7;
  if (open("/a/b/more", O_RDWR | O_CREAT | O_EXCL, 0600) != -1 || errno != EEXIST) return 8;
  return rename("/a/b/more", "/a/b/moved") ? 9 : 0;
}

static int packed(void) {
  static Bytef in[100000], out[110000];
  for (uInt i = 0; i < sizeof in; i++) in[i] = (Bytef)(i * i >> 3);
  z_stream z = {.next_in = in, .avail_in = sizeof in, .next_out = out, .avail_out = sizeof out};
  if (deflateInit(&z, 9) || deflate(&z, Z_FINISH) != Z_STREAM_END) return 30;
  FILE *f = fopen("/packed", "w");
  size_t n = sizeof out - z.avail_out;
  if (!f || fwrite(out, 1, n, f) != n || fclose(f)) return 31;
  return crc32(0, (const Bytef *)"123456789", 9) == 0xcbf43926 ? 0 : 32;
}

__attribute__((export_name("test"))) int test(void);
int test(void) {
  if (jumps(0) != 0 || jumps(1) != 103 || jumps(2) != 1007 || jumps(5) != 5) return 99;
  int wrong = files();
  if (!wrong) wrong = folder();
  if (!wrong) wrong = paths();
  if (!wrong) wrong = packed();
  if (!wrong) wrong = unlink("/a/b/moved") || unlink("/a/b/file") || rmdir("/a/b") ? 40 : 0;
  puts(wrong ? "wrong" : "good");
  return wrong;
}
