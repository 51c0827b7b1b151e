// The sandbox, tested by a child process inside it: the network, files outside and other processes
// are blocked; everything else works.
#define _GNU_SOURCE
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#endif

#include <cmocka.h>

#ifdef __linux__
static char top[] = "/tmp/limn-sandbox-XXXXXX"; // with in/, out/ (to write in) and away/
static char place[4096];

static const char *at(const char *name) {
  snprintf(place, sizeof place, "%s/%s", top, name);
  return place;
}

static void put(const char *name, const char *text) {
  FILE *f = fopen(at(name), "w");
  assert_non_null(f);
  fputs(text, f);
  assert_int_equal(fclose(f), 0);
}

// Refused, and not for another reason.
static bool refused(long result) {
  bool good = result < 0 && (errno == EPERM || errno == EACCES);
  if (!good) fprintf(stderr, "result %ld, errno %d\n", result, errno);
  return good;
}

// Runs `what` in a child that is in the sandbox: it says whether all is as it should be.
static void inside(bool (*what)(void)) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    Arena *a = arena_new();
    const char *read[] = {arena_format(a, "%s/in", top), NULL};
    const char *write[] = {arena_format(a, "%s/out", top), arena_format(a, "%s/gone", top), NULL};
    const char *error = sandbox_enter(a, &(SandboxRules){.read = read, .write = write});
    if (error) fprintf(stderr, "%s\n", error);
    _exit(error ? 2 : what() ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

// -- what is refused ------------------------------------------------------------------------------
static bool no_network(void) {
  return refused(socket(AF_INET, SOCK_STREAM, 0)) && refused(socket(AF_INET6, SOCK_DGRAM, 0)) &&
         refused(socket(AF_UNIX, SOCK_STREAM, 0)) &&
         refused(syscall(425 /* io_uring_setup */, 1, NULL));
}

static bool no_reading_outside(void) {
  return refused(open(at("away/secret"), O_RDONLY)) &&
         refused(open(at("in/../away/secret"), O_RDONLY)) &&
         refused(open(at("in/link"), O_RDONLY)) && refused(open("/etc/passwd", O_RDONLY)) &&
         refused(open("/root", O_RDONLY | O_DIRECTORY)) &&
         refused(open("/", O_RDONLY | O_DIRECTORY));
}

static bool no_writing_outside(void) {
  char from[4096];
  snprintf(from, sizeof from, "%s", at("out/a"));
  int made = open(from, O_WRONLY | O_CREAT, 0600);
  return made >= 0 && refused(open(at("away/new"), O_WRONLY | O_CREAT, 0600)) &&
         refused(open(at("away/secret"), O_WRONLY | O_TRUNC)) &&
         refused(truncate(at("away/secret"), 0)) && refused(unlink(at("away/secret"))) &&
         refused(open(at("in/file"), O_WRONLY)) && refused(mkdir(at("away/d"), 0700)) &&
         refused(chmod(at("away/secret"), 0777)) && refused(chown(at("away/secret"), 1, 1)) &&
         (refused(rename(from, at("away/a"))) || errno == EXDEV) &&
         (refused(link(from, at("away/a"))) || errno == EXDEV);
}

static bool no_looking_elsewhere(void) {
  return refused(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)) && refused(unshare(CLONE_NEWUSER)) &&
         refused(mount("none", at("out"), "tmpfs", 0, NULL)) && refused(chroot(at("in"))) &&
         refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
}

static bool nothing_is_run(void) { // what was written is no program
  int fd = open(at("out/tool"), O_WRONLY | O_CREAT, 0700);
  bool put = fd >= 0 && write(fd, "#!/bin/sh\n", 10) == 10 && fchmod(fd, 0700) == 0;
  if (fd >= 0) close(fd);
  char *const argument[] = {place, NULL};
  return put && refused(execv(at("out/tool"), argument));
}

// -- what is left ---------------------------------------------------------------------------------
static void *nothing(void *x) { return x; }

static bool the_rest_works(void) {
  pthread_t thread;
  char text[8] = "";
  int in = open(at("in/file"), O_RDONLY), null = open("/dev/null", O_RDWR);
  int out = open(at("out/new"), O_RDWR | O_CREAT, 0600);
  bool good = in >= 0 && read(in, text, 4) == 4 && null >= 0 && out >= 0;
  good = good && write(out, "text", 4) == 4 && ftruncate(out, 2) == 0 && fsync(out) == 0;
  char from[4096];
  snprintf(from, sizeof from, "%s", at("out/new"));
  good = good && mkdir(at("out/d"), 0700) == 0 && rename(from, at("out/newer")) == 0;
  good = good && pthread_create(&thread, NULL, nothing, NULL) == 0 && !pthread_join(thread, NULL);
  return good && rmdir(at("gone")) == 0; // an empty folder of ours
}

static bool a_program_can_be_run(void) {
  pid_t child = fork();
  char *const argument[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
  if (child == 0) {
    execv("/bin/sh", argument);
    _exit(1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

#define IN_SANDBOX(name)                                                                           \
  static void test_##name(void **state) {                                                          \
    (void)state;                                                                                   \
    if (sandbox_lacks()) skip();                                                                   \
    inside(name);                                                                                  \
  }
IN_SANDBOX(no_network)
IN_SANDBOX(no_reading_outside)
IN_SANDBOX(no_writing_outside)
IN_SANDBOX(no_looking_elsewhere)
IN_SANDBOX(nothing_is_run)
IN_SANDBOX(the_rest_works)
IN_SANDBOX(a_program_can_be_run)

// Without it, the same things work: it is the sandbox that refuses.
static void test_outside_it_works(void **state) {
  (void)state;
  int fd = open(at("away/secret"), O_RDWR);
  assert_true(fd >= 0);
  close(fd);
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_true(fd >= 0);
  close(fd);
}

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(top)) return -1;
  static const char *const folder[] = {"in", "out", "away", "gone"};
  for (uint32_t i = 0; i < COUNT(folder); i++)
    if (mkdir(at(folder[i]), 0700)) return -1;
  put("in/file", "text"), put("away/secret", "secret");
  char to[4096];
  snprintf(to, sizeof to, "%s", at("away/secret"));
  return symlink(to, at("in/link"));
}

static int tear_down(void **state) {
  (void)state;
  static const char *const name[] = {"in/link",   "in/file",  "away/secret", "out/a",
                                     "out/newer", "out/tool", "out/new",     "out/d",
                                     "in",        "out",      "away",        "gone"};
  for (uint32_t i = 0; i < COUNT(name); i++) remove(at(name[i]));
  return rmdir(top);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outside_it_works),     cmocka_unit_test(test_no_network),
      cmocka_unit_test(test_no_reading_outside),   cmocka_unit_test(test_no_writing_outside),
      cmocka_unit_test(test_no_looking_elsewhere), cmocka_unit_test(test_nothing_is_run),
      cmocka_unit_test(test_the_rest_works),       cmocka_unit_test(test_a_program_can_be_run),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
#else
static void test_it_is_said(void **state) {
  (void)state;
  assert_non_null(sandbox_lacks());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
