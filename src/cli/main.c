// Entry point of the command line. Exit status: 0 success, 1 the user's text or data is wrong, 2
// wrong usage, 3 a failure of the machine.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int no_command(const char *name) {
  const char *near = near_command(name);
  SAY(stderr, "limn: there is no command `", name, "`");
  if (near) SAY(stderr, "; did you mean `", near, "`?");
  fputs("\nlimn --help lists them\n", stderr);
  return LIMN_USAGE;
}

static int no_option(const char *name) {
  static const char *const known[] = {"--help", "--version"};
  const char *near = limn_nearest(name, known, sizeof known / sizeof *known);
  SAY(stderr, "limn: there is no option ", name);
  if (near) SAY(stderr, "; did you mean ", near, "?");
  fputs("\nlimn --help lists what there is\n", stderr);
  return LIMN_USAGE;
}

static bool is_one_of(const char *name, const char *const *list) {
  while (*list && strcmp(name, *list)) list++;
  return *list;
}

static int help(int argc, char **argv) {
  if (argc < 3) return help_all(stdout);
  bool itself = !strcmp(argv[2], "--help") || !strcmp(argv[2], "-h");
  CommandText text = command_named(itself ? "help" : argv[2]);
  if (!text.at) return no_command(argv[2]);
  command_help(text, stdout);
  return 0;
}

static int run(RunCommand *command, CommandText text, Options *o) {
  Limn *l = limn_new();
  if (!l) {
    fputs("limn: out of memory\n", stderr);
    return LIMN_SYSTEM;
  }
  int status = command(l, o);
  if (status == LIMN_SYSTEM && !limn_errors(l)) fputs("limn: out of memory\n", stderr);
  if (status == LIMN_USAGE && !o->understood) command_usage(text, stderr);
  limn_free(l);
  return status;
}

// Opens closed standard streams on /dev/null: otherwise the next opened file would get their
// descriptor and our output. Without a standard output the answer would be lost, which is an error.
static void open_streams(void) {
  for (int fd = 0; fd <= 2; fd++) {
    int way = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (fcntl(fd, F_GETFD) >= 0 || open("/dev/null", way) >= 0) continue;
    perror("limn: a standard stream is closed, and /dev/null cannot be opened");
    _exit(LIMN_SYSTEM);
  }
}

// Checks that all output was written: a full disk is a failure. Some file systems report it only on
// close.
static int check_output_written(int status) {
  bool failed = ferror(stdout);
  if (fclose(stdout)) failed = true;
  if (failed) perror("limn: cannot write");
  return failed && !status ? LIMN_SYSTEM : status;
}

static int limn(int argc, char **argv) {
  static Options o;
  if (argc < 2) return help_all(stderr);
  const char *name = argv[1];
  if (is_one_of(name, (const char *const[]){"--help", "-h", "help", NULL})) return help(argc, argv);
  if (is_one_of(name, (const char *const[]){"--version", "-V", "version", NULL}))
    return printf("limn %s\n", limn_version()) < 0;
  RunCommand *command = command_run(name);
  if (command) {
    CommandText text = command_named(name);
    int r = read_options(text, name, argc, argv, &o);
    return r < 0 ? 0 : r ? r : run(command, text, &o);
  }
  return *name == '-' ? no_option(name) : no_command(name);
}

// -- stack size -----------------------------------------------------------------------------------
// Recursion limits assume this stack size, whatever limit the shell has set.
enum { STACK_WANTED = 8 << 20 };
typedef struct {
  int argc, status;
  char **argv;
} CliCall;

static void *call(void *what) {
  CliCall *c = what;
  c->status = limn(c->argc, c->argv);
  return NULL;
}

static int with_stack(int argc, char **argv) {
  struct rlimit most;
  pthread_attr_t how;
  pthread_t thread;
  CliCall c = {.argc = argc, .argv = argv};
  bool small = getrlimit(RLIMIT_STACK, &most) == 0 && most.rlim_cur < STACK_WANTED;
  if (!small || pthread_attr_init(&how)) return limn(argc, argv);
  bool apart =
      !pthread_attr_setstacksize(&how, STACK_WANTED) && !pthread_create(&thread, &how, call, &c);
  pthread_attr_destroy(&how);
  if (!apart) return limn(argc, argv);
  if (!pthread_join(thread, NULL)) return c.status;
  fputs("limn: the thread that does the work cannot be waited for\n", stderr);
  return LIMN_SYSTEM; // the thread could not be started twice
}

int main(int argc, char **argv) {
  open_streams();
  return check_output_written(with_stack(argc, argv));
}
