// The commands: each loads a program, asks the library, and prints the answer as text or as one
// JSON object.
#define _DEFAULT_SOURCE
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Messages exist but there is no memory to print them.
static bool lacks_memory(Limn *l, bool json) {
  return limn_message_count(l) && !strcmp(limn_messages(l, json), json ? "[]" : "");
}

// Prints the answer of a command: plain text, or with --json an object that has it under `key`.
static int answer(Limn *l, const Options *o, LimnStatus status, const char *key, const char *text) {
  if (lacks_memory(l, o->json)) return fputs("limn: out of memory\n", stderr), LIMN_SYSTEM;
  if (o->json) {
    printf("{\"errors\": %u, \"messages\": %s", limn_errors(l), limn_messages(l, true));
    if (text) printf(", \"%s\": %s", key, text);
    puts("}");
  } else {
    if (text) put_printable(stdout, text);
    put_printable(stderr, limn_messages(l, false));
  }
  return (int)status;
}

// The status of a call that returned text: NULL means an error, or exhausted memory.
static LimnStatus text_status(Limn *l, LimnStatus s, const char *text) {
  return s || text ? s : limn_errors(l) ? LIMN_WRONG : LIMN_SYSTEM;
}

// The text as a JSON string, or unchanged.
static const char *quoted_for_json(Limn *l, const Options *o, const char *text) {
  return text && o->json ? limn_quote(l, text) : text;
}

static LimnStatus load_program(Limn *l, const Options *o) {
  for (uint32_t i = 0; i < o->nset; i++) limn_set(l, o->set_name[i], o->set_value[i]);
  for (uint32_t i = 0; i < o->nread; i++) limn_allow(l, o->read[i]);
  return limn_load(l, o->file);
}

static int run_check(Limn *l, Options *o) {
  LimnStatus s = load_program(l, o);
  // These are questions about programs that may not be complete.
  if (!s && !o->paths && !o->who) s = limn_check(l);
  if (o->paths) {
    const char *text = s ? NULL : limn_paths(l, o->name, o->json);
    return answer(l, o, text_status(l, s, text), "paths", text);
  }
  const char *text = s ? NULL : o->who ? limn_who(l, o->json) : limn_summary(l, o->json);
  s = text_status(l, s, text);
  if (text && !o->json && !o->who) SAY(stdout, o->file, ": ");
  return answer(l, o, s, o->who ? "who" : "summary", text);
}

// The pattern comes before the file.
static int run_find(Limn *l, Options *o) {
  const char *pattern = o->file;
  o->file = o->name;
  LimnStatus s = load_program(l, o);
  const char *text = s ? NULL : limn_find(l, pattern, o->json);
  return answer(l, o, text_status(l, s, text), "found", text);
}

static int run_fmt(Limn *l, Options *o) {
  bool same = true;
  LimnStatus s = limn_format_file(l, o->file, o->check, &same);
  if (!s && o->check && !same) {
    if (!o->json) SAY(stderr, o->file, " is not laid out as `limn fmt` would\n");
    s = LIMN_WRONG;
  }
  return answer(l, o, s, "same", o->json ? (same ? "true" : "false") : NULL);
}

static int run_print(Limn *l, Options *o) {
  LimnStatus s = load_program(l, o);
  const char *text = s ? NULL : limn_print(l, o->name, o->after, o->origins);
  text = quoted_for_json(l, o, text);
  return answer(l, o, text_status(l, s, text), "text", text);
}

static int run_grad(Limn *l, Options *o) {
  o->after = o->name ? "reverse" : "gradient";
  return run_print(l, o);
}

// Is the locale UTF-8? The first variable that is set decides.
static bool locale_is_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value && *value)
      return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8");
  }
  return false;
}

static int run_draw_text(Limn *l, Options *o, LimnStatus s) {
  const char *text = NULL;
  o->draw.ascii = !locale_is_utf8();
  LimnStatus drawn = s <= LIMN_WRONG ? limn_draw_text(l, o->name, &o->draw, &text) : s;
  if (!s) s = drawn;
  text = quoted_for_json(l, o, text);
  return answer(l, o, text_status(l, s, text), "text", text);
}

// Splits "a,b" into {"a", "b", NULL}; entries that do not fit are dropped.
static const char *const *split_names(char *text, const char **list, size_t n) {
  size_t k = 0;
  for (char *name = text ? strtok(text, ",") : NULL; name && k + 1 < n; name = strtok(NULL, ","))
    list[k++] = name;
  list[k] = NULL;
  return list;
}

static int run_draw(Limn *l, Options *o) {
  o->draw.open = split_names(o->open, o->opened, 64);
  o->draw.close = split_names(o->close, o->closed, 64);
  o->draw.who = o->who;
  LimnStatus s = load_program(l, o);
  if (s <= LIMN_WRONG && o->check) {
    const char *faults = NULL;
    LimnStatus checked = limn_draw_check(l, o->name, &o->draw, &faults);
    if (!faults) faults = "";
    if (!s) s = checked ? checked : *faults ? LIMN_WRONG : LIMN_GOOD;
    faults = quoted_for_json(l, o, faults);
    return answer(l, o, text_status(l, s, faults), "faults", faults);
  }
  bool terminal = isatty(STDOUT_FILENO) && !o->json;
  if (o->draw.out ? !strcmp(o->draw.out, "-") : terminal) return run_draw_text(l, o, s);
  if (!o->draw.out) o->draw.out = "diagram.svg";
  LimnStatus made = s <= LIMN_WRONG ? limn_draw(l, o->name, &o->draw) : s;
  if (!s) s = made; // also draws a program with errors, if possible
  if (!made && !o->json) SAY(stdout, o->draw.out, "\n");
  const char *where = !made && o->json ? limn_quote(l, o->draw.out) : NULL;
  if (!made && o->json) s = text_status(l, s, where);
  return answer(l, o, s, "picture", where);
}

static int run_cost(Limn *l, Options *o) {
  LimnStatus s = load_program(l, o);
  const char *text = s ? NULL : limn_cost(l, o->name, o->json);
  return answer(l, o, text_status(l, s, text), "cost", text);
}

// -- programs that others wrote -------------------------------------------------------------------
// Restricts the process to what the command needs. `program`: the path, since it is not loaded yet.
typedef LimnStatus Confine(Limn *, Options *, const char *program);

// Creates the folder of the run first: sandbox rules need existing paths.
static LimnStatus confine_run(Limn *l, Options *o, const char *program, const char **out) {
  const char *dir = o->train.resume;
  bool there = dir || (*out && !access(*out, F_OK));
  LimnStatus s = dir ? LIMN_GOOD : limn_run_folder(l, program, *out, &dir);
  if (s) return s;
  o->made = !there;
  snprintf(o->folder, sizeof o->folder, "%s", dir); // `dir` is freed by the next load
  if (!o->train.resume) *out = o->folder;
  return limn_sandbox(l, &(LimnSandbox){.size = sizeof(LimnSandbox),
                                        .program = program,
                                        .read = (const char *const[]){o->use.from, NULL},
                                        .write = (const char *const[]){o->folder, NULL}});
}

// Planning writes nothing; it runs in the sandbox of the training run so that this is enforced.
static LimnStatus confine_plan(Limn *l, Options *o, const char *program) {
  return limn_sandbox(l, &(LimnSandbox){.size = sizeof(LimnSandbox),
                                        .program = program,
                                        .read = (const char *const[]){o->train.resume, NULL}});
}

static LimnStatus confine_train(Limn *l, Options *o, const char *program) {
  return o->train.plan ? confine_plan(l, o, program) : confine_run(l, o, program, &o->train.out);
}

// Files named on the command line, for reading and writing.
static LimnStatus confine_files(Limn *l, Options *o, const char *program, const char *page) {
  const char *read[sizeof o->in / sizeof *o->in + 4], *file[4];
  uint32_t n = 0, m = 0;
  for (; n < o->eval.nin; n++) read[n] = o->in[n].value;
  if (o->use.from) read[n++] = o->use.from;
  if (o->eval.weights) read[n++] = o->eval.weights;
  if (o->eval.dy) read[n++] = o->eval.dy;
  if (o->eval.out) file[m++] = o->eval.out;
  if (o->eval.grads) file[m++] = o->eval.grads;
  if (o->eval.save) file[m++] = o->eval.save;
  read[n] = file[m] = NULL;
  return limn_sandbox(l, &(LimnSandbox){.size = sizeof(LimnSandbox),
                                        .program = program,
                                        .read = read,
                                        .write = (const char *const[]){page, NULL},
                                        .files = file});
}

static LimnStatus confine_use(Limn *l, Options *o, const char *program) {
  return confine_files(l, o, program, NULL);
}

// An export may write several files with the same stem.
static LimnStatus confine_export(Limn *l, Options *o, const char *program) {
  const char *out = o->eval.out, *slash = out ? strrchr(out, '/') : NULL;
  size_t n = slash ? (size_t)(slash - out) : 0;
  if (n >= sizeof o->folder) return confine_use(l, o, program);
  snprintf(o->folder, sizeof o->folder, "%.*s", (int)(n ? n : 1), n ? out : slash ? "/" : ".");
  return confine_files(l, o, program, o->folder);
}

static LimnStatus confine_page(Limn *l, Options *o, const char *program) {
  return confine_files(l, o, program, o->use.from);
}

static LimnStatus confine_machines(Limn *l, Options *o, const char *program) {
  return o->train.plain ? confine_use(l, o, program) : confine_run(l, o, program, &o->eval.out);
}

// A sandbox requested by --sandbox must succeed, and is entered before anything is read. The
// default one is entered after the load, when the files in use are known; if the system has none, a
// note says so.
static LimnStatus load_confined(Limn *l, Options *o, Confine *confine) {
  for (uint32_t i = 0; i < o->nread; i++) limn_allow(l, o->read[i]);
  LimnStatus s = o->sandbox ? confine(l, o, o->file) : LIMN_GOOD;
  if (!s) s = load_program(l, o);
  if (s && o->made) rmdir(o->folder);
  const char *from = s || o->sandbox || o->no_sandbox ? NULL : limn_foreign(l);
  if (!from) return s;
  bool have = confine(l, o, NULL) == LIMN_GOOD;
  fprintf(stderr, "limn: %s lies outside of the program's folder: ", limn_quote(l, from));
  fputs(have ? "in a sandbox (see --no-sandbox)\n" : "no sandbox could be had\n", stderr);
  if (!have) limn_forget(l);
  return s;
}

// Progress and notes: printed to stderr, apart from the answer.
static void print_note(void *context, const char *text) {
  (void)context;
  SAY(stderr, "limn: ", text, "\n");
}

static int run_eval(Limn *l, Options *o) {
  const char *text = NULL;
  o->use.say = print_note;
  LimnStatus s = load_confined(l, o, confine_use);
  if (!s) s = o->name ? limn_eval(l, o->name, &o->eval, &text) : limn_measure(l, &o->use, &text);
  return answer(l, o, s, o->name ? "values" : "measures", text);
}

static int use_learner(Limn *l, Options *o,
                       LimnStatus (*use)(Limn *, const char *, const LimnUse *, const char **)) {
  const char *text = NULL;
  o->use.say = print_note;
  LimnStatus s = load_confined(l, o, confine_use);
  if (!s) s = use(l, o->name, &o->use, &text);
  return answer(l, o, s, "values", text);
}

static int run_predict(Limn *l, Options *o) { return use_learner(l, o, limn_predict); }
static int run_sample(Limn *l, Options *o) { return use_learner(l, o, limn_sample); }

// Write errors are reported at exit, as for all output.
static int copy_out(const char *path) {
  char part[65536];
  FILE *f = fopen(path, "rb");
  if (!f) return perror("limn export: the file on its way"), LIMN_SYSTEM;
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
    if (fwrite(part, 1, n, stdout) < n) break;
  bool good = !ferror(f);
  fclose(f);
  return good ? 0 : LIMN_SYSTEM;
}

// The reason why this export cannot go to standard output, or NULL.
static const char *refuse_standard_output(const Options *o) {
  const char *as = o->export.as ? o->export.as : "";
  bool python = !strcmp(as, "torch") || !strcmp(as, "jax"), c = !strcmp(as, "c");
  bool bytes = !strcmp(as, "onnx") || !strcmp(as, "safetensors");
  if (c || (python && (o->export.from || o->export.weights)))
    return "this is more than one file: --out wants a name";
  if (o->json) return "--json has the names of files, and --out - has none";
  return bytes && isatty(STDOUT_FILENO) ? "what is no text does not go to a terminal" : NULL;
}

static int export_out(Limn *l, Options *o) {
  const char *at = getenv("TMPDIR"), *why = refuse_standard_output(o), *text;
  char dir[512], file[sizeof dir + 8];
  if (why) return SAY(stderr, "limn export: ", why, "\n"), LIMN_USAGE;
  snprintf(dir, sizeof dir, "%s/limn-export-XXXXXX", at && *at ? at : "/tmp");
  if (!mkdtemp(dir)) return perror("limn export: no folder for the file on its way"), LIMN_SYSTEM;
  snprintf(file, sizeof file, "%s/out", dir);
  o->export.out = o->eval.out = file;
  LimnStatus s = load_confined(l, o, confine_export);
  if (!s) s = limn_export(l, o->name, &o->export, &text);
  int status = answer(l, o, s, NULL, NULL);
  if (!status) status = copy_out(file);
  unlink(file);
  rmdir(dir);
  return status;
}

static int run_export(Limn *l, Options *o) {
  const char *text = NULL;
  if (o->eval.out && !strcmp(o->eval.out, "-")) return export_out(l, o);
  LimnStatus s = load_confined(l, o, confine_export);
  if (!s) s = limn_export(l, o->name, &o->export, &text);
  text = quoted_for_json(l, o, text);
  return answer(l, o, s, "files", text);
}

// Written only if the result type-checks; texts of earlier calls are freed by the load.
static int run_read(Limn *l, Options *o) {
  const char *text = NULL;
  LimnRead how = {.size = sizeof how, .places = true},
           files = {.size = sizeof files, .out = o->eval.out, .weights = o->eval.weights};
  LimnStatus s = limn_read(l, o->file, &how, &text);
  if (!s) s = limn_load_text(l, o->file, text, strlen(text));
  if (!s) s = limn_check(l);
  if (!s) s = limn_read(l, o->file, &files, &text);
  return answer(l, o, s, "program",
                s || (files.out && !o->json) ? NULL : quoted_for_json(l, o, text));
}

// Exit status as of diff(1): 0 equal, 1 different, 2 or more on errors.
static int run_diff(Limn *l, Options *o) {
  const char *text = NULL;
  bool same = false;
  LimnDiff how = {.size = sizeof how, .name = o->of, .json = o->json, .same = &same};
  for (uint32_t i = 0; i < o->nread; i++) limn_allow(l, o->read[i]);
  how.out = o->eval.out, how.theme = o->draw.theme, how.check = o->check;
  LimnStatus s = limn_diff(l, o->file, o->name, &how, &text);
  if (o->check) { // only this, as for `limn draw --check`
    bool faults = text && *text;
    text = quoted_for_json(l, o, text);
    return answer(l, o, s ? s : faults ? LIMN_WRONG : LIMN_GOOD, "faults", text);
  }
  int status = answer(l, o, s, "diff", o->train.quiet && !o->json ? NULL : text);
  o->understood = status == LIMN_WRONG;
  return status == LIMN_WRONG ? 2 : status ? status : !same;
}

static int run_report(Limn *l, Options *o) {
  const char *text = NULL;
  o->use.say = print_note;
  LimnStatus s = load_confined(l, o, confine_page);
  if (!s) s = limn_report(l, &o->use, &text);
  if (text && !o->json) SAY(stdout, text, "\n");
  if (!o->json || !text) return answer(l, o, s, "report", NULL);
  text = limn_quote(l, text);
  return answer(l, o, text_status(l, s, text), "report", text);
}

// -- training -------------------------------------------------------------------------------------
// The first signal asks training to stop, the second ends the process at once. timeout(1) signals its child
// and then the child's process group, so a second signal within TWICE_NS is ignored. SIGPIPE and SIGXFSZ come
// again with each failing write, also while a checkpoint is saved, so they never end the process.
static volatile sig_atomic_t stopping; // the signal; 0: none
static int64_t stopping_since;         // written before `stopping`
enum { TWICE_NS = 200000000 };

// The handler may run in any thread.
static int stopped_by(void) { return __atomic_load_n(&stopping, __ATOMIC_RELAXED); }

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void on_signal(int signal) {
  bool asks = signal == SIGPIPE || signal == SIGXFSZ;
  int64_t now = now_ns();
  if (stopped_by()) {
    if (!asks && now - __atomic_load_n(&stopping_since, __ATOMIC_RELAXED) > TWICE_NS)
      _exit(128 + signal);
  } else {
    __atomic_store_n(&stopping_since, now, __ATOMIC_RELAXED);
  }
  limn_stop(&stopping, signal);
}

// A signal that is ignored stays ignored.
static void install_handler(int signal) {
  struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
  sigemptyset(&a.sa_mask);
  if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signal, &a, NULL);
}

static void install_all_handlers(void) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) install_handler(all[i]);
}

static void print_line(void *context, const char *text) {
  (void)context;
  SAY(stdout, text, "\n");
  fflush(stdout);
}

static void redraw_line(void *context, const char *text) {
  (void)context;
  fputs("\r\033[K", stdout);
  put_printable(stdout, text);
  fflush(stdout);
}

static uint32_t terminal_width(void *context) {
  struct winsize size;
  (void)context;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

// Naming the folder of a resumed run again is no conflict.
static bool same_folder(const char *a, const char *b) {
  struct stat one, other;
  if (!strcmp(a, b)) return true;
  return !stat(a, &one) && !stat(b, &other) && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// Keeps the plan, which is the answer, and drops other output.
static void keep_plan(void *context, const char *text) {
  char **plan = context;
  if (strncmp(text, "{\"event\": \"plan\"", 16) || *plan)
    SAY(stderr, text, "\n");
  else
    *plan = strdup(text);
}

static int answer_plan(Limn *l, Options *o) {
  char *plan = NULL;
  o->train.tell = (LimnTell){.context = &plan, .line = keep_plan};
  LimnStatus s = limn_train(l, &o->train);
  int rc = answer(l, o, text_status(l, s, plan), "plan", plan);
  free(plan);
  return rc;
}

static int run_train(Limn *l, Options *o) {
  LimnTrain *how = &o->train;
  if (how->out && how->resume && same_folder(how->out, how->resume)) how->out = NULL;
  LimnStatus s = load_confined(l, o, confine_train);
  if (s) return answer(l, o, s, "train", NULL);
  // Warnings are printed before the work starts.
  if (!o->json) put_printable(stderr, limn_messages(l, false));
  if (!o->json) limn_forget(l);
  bool terminal = isatty(STDOUT_FILENO) && !o->json;
  o->train.stop = &stopping;
  o->train.tell = (LimnTell){NULL, print_line, terminal ? redraw_line : NULL, terminal_width, NULL};
  install_all_handlers();
  if (o->json && how->plan) return answer_plan(l, o);
  s = limn_train(l, &o->train);
  if (terminal) redraw_line(NULL, "");
  return answer(l, o, s, "train", o->json ? "null" : NULL);
}

typedef struct {
  Limn *l;
  bool told; // its messages were printed
} RunTold;

// Prints errors before the last line, which says where the results are.
static void print_run_line(void *context, const char *text) {
  RunTold *r = context;
  if (!strncmp(text, "report ", 7)) {
    put_printable(stderr, limn_messages(r->l, false));
    r->told = true;
  }
  print_line(NULL, text);
}

static int run_machines(Limn *l, Options *o) {
  RunTold told = {.l = l};
  const char *text = NULL;
  LimnStatus s = load_confined(l, o, confine_machines);
  if (s) return answer(l, o, s, "run", NULL);
  bool terminal = isatty(STDOUT_FILENO) && !o->json;
  LimnRun how = {.size = sizeof how,
                 .out = o->eval.out,
                 .from = o->use.from,
                 .seed = o->eval.seed,
                 .json = o->json};
  how.threads = o->train.threads;
  how.reference = o->train.reference;
  how.quiet = o->train.quiet;
  how.plain = o->train.plain;
  how.device = o->train.device;
  how.resume = o->train.resume;
  how.stop = &stopping;
  how.tell = (LimnTell){&told, o->json ? print_note : print_run_line, terminal ? redraw_line : NULL,
                        terminal_width, NULL};
  install_all_handlers();
  s = limn_run(l, &how, &text);
  if (terminal) redraw_line(NULL, "");
  if (told.told) limn_forget(l);
  int rc = answer(l, o, s, "run", text);
  return rc || !stopped_by() ? rc : 128 + stopped_by(); // its checks were not evaluated
}

static int run_ops(Limn *l, Options *o) {
  const char *text = limn_ops(l);
  (void)o;
  if (text) fputs(text, stdout);
  return text ? 0 : LIMN_SYSTEM;
}

// Says that nothing was found: empty output would not tell what was searched.
static void print_no_runs(const Options *o, const char *dir) {
  bool slash = *dir && dir[strlen(dir) - 1] == '/';
  SAY(stderr, "no run in ", dir, slash ? "" : "/");
  if (o->with) SAY(stderr, " holds `", o->with, "`");
  if (o->has) SAY(stderr, o->with ? " and" : "", " has `", o->has, "` in its program");
  fputc('\n', stderr);
}

static int run_import(Limn *l, Options *o) {
  if (!o->import.out) o->import.out = "model.limn";
  for (uint32_t i = 0; i < o->nset; i++) limn_set(l, o->set_name[i], o->set_value[i]);
  LimnStatus s = limn_import(l, o->file, &o->import);
  if (!s && !o->json) SAY(stdout, o->import.out, "\n");
  const char *where = !s && o->json ? limn_quote(l, o->import.out) : NULL;
  return answer(l, o, s, "program", where);
}

static int run_runs(Limn *l, Options *o) {
  const char *text = NULL, *dir = o->file ? o->file : "runs";
  LimnStatus s = limn_runs(l, dir, o->with, o->has, o->json, &text);
  if (!s && !o->json && !*text) print_no_runs(o, dir);
  return answer(l, o, s, "runs", text);
}

// A value that is no number is refused and quoted as given.
static int run_change(Limn *l, Options *o) {
  const char *equals = strchr(o->name, '=');
  char what[256], *end = what;
  size_t n = equals ? (size_t)(equals - o->name) : 0;
  double value = equals ? strtod(equals + 1, &end) : 0;
  if (!n || n >= sizeof what || !equals[1] || *end || equals[1] == ' ') {
    SAY(stderr, "limn change: NAME=VALUE is wanted, as in rate=0.001, not ", o->name, "\n");
    return LIMN_USAGE;
  }
  snprintf(what, sizeof what, "%.*s", (int)n, o->name);
  LimnStatus s = limn_change(l, o->file, what, value);
  if (!s && !o->json) SAY(stdout, "asked for; ", o->file, "/changes.csv says from which step on\n");
  return answer(l, o, s, NULL, NULL);
}

static int run_data(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = limn_data(l, o->file, o->eval.out, o->json, &text);
  return answer(l, o, s, o->file ? "set" : "sets", text);
}

static int run_devices(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = limn_devices(l, o->json, &text);
  return answer(l, o, s, "devices", text);
}

// -- all of them ----------------------------------------------------------------------------------
static const struct {
  const char *name;
  RunCommand *run;
} commands[] = {
    {"check", run_check},     {"find", run_find},     {"fmt", run_fmt},
    {"print", run_print},     {"grad", run_grad},     {"draw", run_draw},
    {"cost", run_cost},       {"eval", run_eval},     {"train", run_train},
    {"predict", run_predict}, {"sample", run_sample}, {"report", run_report},
    {"run", run_machines},    {"runs", run_runs},     {"data", run_data},
    {"ops", run_ops},         {"export", run_export}, {"read", run_read},
    {"diff", run_diff},       {"import", run_import}, {"lsp", run_lsp},
    {"studio", run_studio},   {"change", run_change}, {"devices", run_devices},
};

RunCommand *command_run(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (!strcmp(name, commands[i].name)) return commands[i].run;
  return NULL;
}
