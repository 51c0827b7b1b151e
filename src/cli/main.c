// The command line. Exit status: 0 good, 1 the user's text or data is wrong, 2 wrong usage, 3 the
// machine failed.
#define _DEFAULT_SOURCE
#include "limn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

typedef struct {
  const char *file, *name;
  bool json, who, paths, check, origins;
  const char *after, *with, *has, *precision;
  LimnEval eval;
  LimnTrain train;
  LimnUse use;
  LimnDraw draw;
  char *open, *close; // names with commas between
  const char *opened[64], *closed[64];
  LimnInput in[64];
  const char *set_name[64], *set_value[64];
  uint32_t nset;
} Options;

typedef struct {
  const char *name, *usage, *line, *more;
  int (*run)(Limn *, Options *);
  bool name_needed;
} Command;

// What a command answers: plain text, or under --json one value that goes under `key`.
static int answer(Limn *l, const Options *o, LimnStatus status, const char *key, const char *text) {
  if (o->json) {
    printf("{\"errors\": %u, \"messages\": %s", limn_errors(l), limn_messages(l, true));
    if (text) printf(", \"%s\": %s", key, text);
    puts("}");
  } else {
    if (text) fputs(text, stdout);
    fputs(limn_messages(l, false), stderr);
  }
  return (int)status;
}

static LimnStatus load(Limn *l, const Options *o) {
  for (uint32_t i = 0; i < o->nset; i++) limn_set(l, o->set_name[i], o->set_value[i]);
  return limn_load(l, o->file);
}

static int run_check(Limn *l, Options *o) {
  LimnStatus s = load(l, o);
  if (o->paths) {
    const char *text = s ? NULL : limn_paths(l, o->name, o->json);
    if (!s && !text) s = LIMN_WRONG;
    return answer(l, o, s, "paths", text);
  }
  const char *text = s ? NULL : o->who ? limn_who(l, o->json) : limn_summary(l, o->json);
  if (text && !o->json && !o->who) printf("%s: ", o->file);
  return answer(l, o, s, o->who ? "who" : "summary", text);
}

// The pattern comes first, then the file.
static int run_find(Limn *l, Options *o) {
  const char *pattern = o->file;
  o->file = o->name;
  LimnStatus s = load(l, o);
  const char *text = s ? NULL : limn_find(l, pattern, o->json);
  if (!s && !text) s = LIMN_WRONG;
  return answer(l, o, s, "found", text);
}

static int run_fmt(Limn *l, Options *o) {
  bool same = true;
  LimnStatus s = limn_format_file(l, o->file, o->check, &same);
  if (!s && o->check && !same) {
    if (!o->json) fprintf(stderr, "%s is not laid out as `limn fmt` would\n", o->file);
    s = LIMN_WRONG;
  }
  return answer(l, o, s, "same", o->json ? (same ? "true" : "false") : NULL);
}

static int run_print(Limn *l, Options *o) {
  LimnStatus s = load(l, o);
  const char *text = s ? NULL : limn_print(l, o->name, o->after, o->origins);
  if (!s && !text) s = LIMN_WRONG;
  return answer(l, o, s, "text", text && o->json ? limn_quote(l, text) : text);
}

static int run_grad(Limn *l, Options *o) {
  o->after = o->name ? "reverse" : "gradient";
  return run_print(l, o);
}

// Whether the locale says so: what is set first counts.
static bool speaks_unicode(void) {
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
  o->draw.ascii = !speaks_unicode();
  LimnStatus drawn = s <= LIMN_WRONG ? limn_draw_text(l, o->name, &o->draw, &text) : s;
  if (!s) s = drawn;
  return answer(l, o, s, "text", text && o->json ? limn_quote(l, text) : text);
}

// "a,b" becomes {"a", "b", NULL}; what is beyond the list's end is left out.
static const char *const *names(char *text, const char **list, size_t n) {
  size_t k = 0;
  for (char *name = text ? strtok(text, ",") : NULL; name && k + 1 < n; name = strtok(NULL, ","))
    list[k++] = name;
  list[k] = NULL;
  return list;
}

static int run_draw(Limn *l, Options *o) {
  o->draw.open = names(o->open, o->opened, 64);
  o->draw.close = names(o->close, o->closed, 64);
  o->draw.who = o->who;
  LimnStatus s = load(l, o);
  if (s <= LIMN_WRONG && o->check) {
    const char *faults = NULL;
    LimnStatus checked = limn_draw_check(l, o->name, &o->draw, &faults);
    if (!faults) faults = "";
    if (!s) s = checked ? checked : *faults ? LIMN_WRONG : LIMN_GOOD;
    return answer(l, o, s, "faults", o->json ? limn_quote(l, faults) : faults);
  }
  bool terminal = isatty(STDOUT_FILENO) && !o->json;
  if (o->draw.out ? !strcmp(o->draw.out, "-") : terminal) return run_draw_text(l, o, s);
  if (!o->draw.out) o->draw.out = "diagram.svg";
  LimnStatus made = s <= LIMN_WRONG ? limn_draw(l, o->name, &o->draw) : s;
  if (!s) s = made; // of a program with errors too, if it can be
  if (!made && !o->json) printf("%s\n", o->draw.out);
  return answer(l, o, s, "picture", !made && o->json ? limn_quote(l, o->draw.out) : NULL);
}

static int run_cost(Limn *l, Options *o) {
  LimnStatus s = load(l, o);
  const char *text = s ? NULL : limn_cost(l, o->name, o->json);
  if (!s && !text) s = LIMN_WRONG;
  return answer(l, o, s, "cost", text);
}

// What several commands ask for under one name.
static void share(Options *o) {
  static const char *const precisions[] = {"", "32", "64", "bf16"};
  o->eval.size = sizeof o->eval, o->train.size = sizeof o->train;
  o->use.size = sizeof o->use, o->draw.size = sizeof o->draw;
  for (int i = 1; o->precision && i <= 4; i++) // one that is not there is refused
    if (i == 4 || !strcmp(o->precision, precisions[i])) {
      o->train.precision = (LimnPrecision)i;
      break;
    }
  o->eval.in = o->use.in = o->in;
  o->use.nin = o->eval.nin;
  o->eval.json = o->use.json = o->train.json = o->json;
  o->use.out = o->train.out = o->draw.out = o->eval.out;
  o->use.seed = o->train.seed = o->eval.seed;
  o->use.has_seed = o->train.has_seed;
  o->use.threads = o->train.threads;
  o->use.precision = o->train.precision;
  o->use.reference = o->train.reference;
  o->eval.from = o->use.from;
}

static int run_eval(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
  if (!s) s = o->name ? limn_eval(l, o->name, &o->eval, &text) : limn_measure(l, &o->use, &text);
  return answer(l, o, s, o->name ? "values" : "measures", text);
}

static int run_predict(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
  if (!s) s = limn_predict(l, o->name, &o->use, &text);
  return answer(l, o, s, "values", text);
}

static int run_sample(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
  if (!s) s = limn_sample(l, o->name, &o->use, &text);
  return answer(l, o, s, "values", text);
}

static int run_report(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
  if (!s) s = limn_report(l, &o->use, &text);
  if (text && !o->json) puts(text);
  return answer(l, o, s, "report", text && o->json ? limn_quote(l, text) : NULL);
}

// -- training ------------------------------------------------------------------------------------
// The first signal asks training to stop, the second ends it at once.
static volatile sig_atomic_t stopping;

static void on_signal(int signal) {
  (void)signal;
  if (stopping) _exit(130);
  stopping = 1;
}

// What was to be ignored stays ignored.
static void watch(int signal) {
  struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
  sigemptyset(&a.sa_mask);
  if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signal, &a, NULL);
}

static void say(void *context, const char *text) {
  (void)context;
  puts(text);
  fflush(stdout);
}

static void redraw(void *context, const char *text) {
  (void)context;
  printf("\r\033[K%s", text);
  fflush(stdout);
}

static uint32_t width(void *context) {
  struct winsize size;
  (void)context;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

static int run_train(Limn *l, Options *o) {
  LimnStatus s = load(l, o);
  if (s) return answer(l, o, s, "train", NULL);
  if (!o->json) fputs(limn_messages(l, false), stderr); // warnings come before the work
  if (!o->json) limn_forget(l);
  bool terminal = isatty(STDOUT_FILENO) && !o->json;
  o->train.stop = &stopping;
  o->train.tell = (LimnTell){NULL, say, terminal ? redraw : NULL, width, NULL};
  watch(SIGINT);
  watch(SIGTERM);
  s = limn_train(l, &o->train);
  if (terminal) redraw(NULL, "");
  return answer(l, o, s, "train", o->json ? "null" : NULL);
}

static int run_machines(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
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
  how.stop = &stopping;
  how.tell = (LimnTell){NULL, say, terminal ? redraw : NULL, width, NULL};
  watch(SIGINT);
  watch(SIGTERM);
  s = limn_run(l, &how, &text);
  if (terminal) redraw(NULL, "");
  return answer(l, o, s, "run", text);
}

static int run_ops(Limn *l, Options *o) {
  (void)o;
  fputs(limn_ops(l), stdout);
  return 0;
}

static int run_runs(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = limn_runs(l, o->file ? o->file : "runs", o->with, o->has, o->json, &text);
  return answer(l, o, s, "runs", text);
}

static int run_data(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = limn_data(l, o->file, o->eval.out, o->json, &text);
  return answer(l, o, s, o->file ? "set" : "sets", text);
}

static const Command commands[] = {
    {"check", "limn check FILE [--who] [--paths [DIAGRAM]] [--json] [--set k=v]",
     "types, sizes, goals: every mistake at once",
     "  --who      a table: which goal moves which learner (moves), or only sends its gradient "
     "through it\n"
     "             (through)\n"
     "  --paths    the pairs of paths of each learning diagram, or of one, which are its goals: "
     "routes,\n"
     "             distance, factor, learners\n"
     "  --json     the messages with their places, and the summary or table, as one object\n",
     run_check, false},
    {"find", "limn find PATTERN FILE [--json]",
     "where a route of boxes is, in bodies and learning diagrams",
     "  PATTERN    as 'dense ; relu', 'conv[32] ; _ ; relu': boxes, learners, edges, _ for any; "
     "with brackets,\n"
     "             only what has the same ones\n",
     run_find, true},
    {"fmt", "limn fmt FILE [--check]", "one layout for everybody",
     "  --check    change nothing; exit with 1 if the layout would change\n"
     "  A file with syntax errors is left alone.\n",
     run_fmt, false},
    {"print",
     "limn print FILE [NAME] [--after check|inline|simplify|reverse|forward|gradient|step] "
     "[--origins]",
     "the diagram of a box, learner or goal (without NAME: of the whole loss) as text",
     "  --after P  the diagram after a pass: check (as written, the default), inline (calls "
     "replaced by\n"
     "             what they call), simplify, reverse, forward (its derivatives), gradient (of the "
     "whole\n"
     "             loss, each goal moving only what it trains), step (of the first `train`)\n"
     "  --origins  with the line and column each box comes from\n",
     run_print, false},
    {"grad", "limn grad FILE [NAME]", "its reverse derivative as text",
     "  With NAME: (inputs, weights, cotangents of the results) to cotangents of inputs and "
     "weights.\n"
     "  Without: the loss of every goal, then the gradient of every weight that some goal "
     "trains.\n",
     run_grad, false},
    {"draw",
     "limn draw FILE [NAME] [--out F.svg|pdf|png|tex|txt] [--level learner|model|layer] [--theme "
     "T] "
     "[--width W] [--lens | --grad | --who | --unfold] [--check]",
     "the goals as equations between diagrams; or a box or learner as a circuit of its axes; or a "
     "learning diagram as a graph; or a machine with its parts",
     "  --out F    the picture, by its ending: svg, pdf, png, tex (TikZ), txt (lines of text); "
     "also "
     "-o F.\n"
     "             Without it, text on a terminal and otherwise diagram.svg; -o - is always text\n"
     "  --level L  model: what the program says, with the library's glyphs; layer: everything "
     "opened;\n"
     "             learner: every box closed. A learning diagram that is glued is shown with its\n"
     "             parts; --level model shows the whole alone\n"
     "  --check    draws nothing; lists what is wrong with the picture, and exits with 1 if "
     "anything "
     "is\n"
     "  --width W  what is wider is broken into rows: units, of which a label is 14 high, or 86mm; "
     "0: never\n"
     "  --no-legend  without the plate that says which sizes labels have\n"
     "  --notes    with comments at the ends of lines, beside what the lines make\n"
     "  --open A,B  these boxes are opened;  --close A,B  these are not, whatever the level\n"
     "  A machine or wiring is drawn with its parts, and without NAME and goals the last one; "
     "--open 2\n"
     "  opens so many levels, --level layer all, --level learner one\n"
     "  --lens     NAME (a goal or learner; without it, all goals) as parametric lenses: values "
     "go\n"
     "             forward, changes back, weights come from above; --level layer opens each lens\n"
     "  --grad     the reverse derivative of NAME as a circuit\n"
     "  --who      which goals move which learners, as a table\n"
     "  --unfold   the wiring NAME as a network from left to right, and from inside to outside\n"
     "  --theme T  auto (light, and dark on a dark screen), light, dark, mono\n"
     "  A program with errors is drawn as far as it is known, with its messages; it exits with "
     "1.\n",
     run_draw, false},
    {"cost", "limn cost FILE [NAME] [--json]", "time and memory, as polynomials in the axes",
     "  Counted in numbers: multiplications, additions, other functions, and how many numbers are "
     "alive\n"
     "  at once and in all; forward, with the reverse, and for the naive forward-mode "
     "alternative.\n",
     run_cost, false},
    {"eval",
     "limn eval FILE [NAME] [--from DIR] --in x=x.npy|'[1, 2]' [--weights w.safetensors] [--seed "
     "N] "
     "[--out y.npy]\n"
     "          [--dy dy.npy|'[1]'] [--grads g.safetensors] [--save w.safetensors] [--training] "
     "[--count]",
     "its value, and if asked its gradients, by the reference interpreter; without NAME: every "
     "measure",
     "  --in x=V       an input by name, or in order without a name: numbers, or an npy file. "
     "Further axes\n"
     "                 in front pass over the box\n"
     "  --from DIR     weights of a run (its model.safetensors), or of a safetensors file\n"
     "  --weights F    weights from a safetensors file; otherwise they start as the program says\n"
     "  --seed N       for start values and noise (0)\n"
     "  --out F        the first result, as npy; otherwise results are printed\n"
     "  --dy V         a cotangent of the first result: gradients by every input and weight\n"
     "  --grads F      gradients into a safetensors file (cotangent 1 if --dy is not given)\n"
     "  --save F       the weights that were used\n"
     "  --training     as in training: batch statistics, dropout\n"
     "  --count        how many multiplications were made\n"
     "  Without NAME, with --from: every measure of the program on its data, as during training.\n"
     "  Then --threads, --precision and --reference are as for `limn train`.\n",
     run_eval, false},
    {"train",
     "limn train FILE [--out DIR] [--resume DIR] [--epochs N] [--steps N] [--batch N] [--seed N]\n"
     "          [--threads N] [--precision 32|64|bf16] [--every N|Ns] [--pause N] [--plan] "
     "[--plain] [--reference] [--quiet] [--json]",
     "learns: each `train` of the program in turn, into a run folder",
     "  --out DIR      the run folder (runs/NAME, or the next free runs/NAME.2 …)\n"
     "  --resume DIR   goes on where a run was stopped or killed, bit for bit\n"
     "  --epochs N     how long, whatever the program says; or --steps N\n"
     "  --batch N      samples in a step\n"
     "  --seed N       of first weights, noise and shuffles\n"
     "  --threads N    results do not depend on it\n"
     "  --precision P  of the numbers: 32, 64 or bf16\n"
     "  --every N|Ns   a checkpoint each N steps or seconds (each epoch and each 60 s)\n"
     "  --pause N      saves and stops after N steps, as Ctrl-C does\n"
     "  --plan         shows what would be run, and does not\n"
     "  --plain        no report at the end\n"
     "  --reference    by the interpreter\n"
     "  --quiet        says only what went wrong;  --json  says everything as objects, one in a "
     "line\n"
     "  The folder holds program.limn, metrics.csv, events for TensorBoard, model.safetensors (the "
     "last),\n"
     "  best.safetensors (by the first measure), state.safetensors, run.json and, at the end, "
     "report.html.\n"
     "  Ctrl-C saves and stops.\n",
     run_train, false},
    {"predict",
     "limn predict FILE NAME --from DIR --in x=x.npy|x.csv|x.csv:a..d|x.png|'[1, 2]' [--out "
     "y.npy|y.csv|y.json|y.png]",
     "a box or learner on your data, with the weights of a run",
     "  --in x=V       an input by name, or in order without one. With one axis more than the "
     "input, it has a\n"
     "                 row for each sample; rows of as many numbers are taken in the input's "
     "shape. "
     "A png is\n"
     "                 between 0 and 1\n"
     "  --from DIR     a run folder (its model.safetensors), or a safetensors file\n"
     "  --out F        results by the ending of F; otherwise they are printed\n"
     "  --seed N       of noise;  --threads, --precision, --reference as for `limn train`\n",
     run_predict, true},
    {"sample",
     "limn sample FILE [NAME] --from DIR [--n N] [--seed N] [--out F] [--length N] [--temperature "
     "T] [--prompt TEXT]",
     "made-up things: a learner or box fed with noise, or text from a model of text",
     "  Without NAME: what the first `show` of the program says.\n"
     "  --n N          how many (64; of texts 1)\n"
     "  --out F        npy, csv, json, or png: pictures side by side; texts as they are\n"
     "  --length N     letters of text (500);  --prompt TEXT  what it begins with\n"
     "  --temperature T  1 as it was learned, below that bolder\n",
     run_sample, false},
    {"report", "limn report FILE --from DIR",
     "the page of a run, DIR/report.html: what the program shows, curves, measures, the program",
     "  `limn train` and `limn run` write it at their end. Here it is made anew, from what the "
     "folder holds: after "
     "another\n"
     "  `show` was written, say. The pictures are in DIR/shown too, as svg and png.\n",
     run_report, false},
    {"run",
     "limn run FILE [--out DIR] [--from DIR] [--seed N] [--threads N] [--plain] [--quiet] [--json]",
     "machines: follows every `run` through time, looks at every `check`, makes a page",
     "  --out DIR      the run folder (runs/NAME, or the next free runs/NAME.2 …)\n"
     "  --from DIR     weights of learners, out of a run of training\n"
     "  --seed N       of noise and drawn inputs (0)\n"
     "  --threads N    results do not depend on it\n"
     "  --plain        no folder and no page\n"
     "  --reference    by the interpreter\n"
     "  --quiet        says only what went wrong;  --json  says everything as one object\n"
     "  The folder holds program.limn, run.json, the numbers of each run (NAME.csv;\n"
     "  NAME.safetensors where they are many; NAME.happened.csv), pictures in shown/ and "
     "report.html.\n"
     "  Ctrl-C stops, and keeps what there is. The status is 1 when a check fails.\n",
     run_machines, false},
    {"runs", "limn runs [DIR] [--with LEARNER] [--has PATTERN] [--json]",
     "the runs in a folder (runs/), with their programs, measures or claims, dates and learners",
     "  --with F       only those that hold a learner of this name, which `learn F … from` can "
     "take\n"
     "  --has PATTERN  only those whose program has this in it: 'dense ; relu', as for `limn "
     "find`\n",
     run_runs, false},
    {"data", "limn data [NAME|PATH] [--json] [--out F.png|F.safetensors]",
     "the data sets it knows, where they are, how to get them; or what is in one",
     "  NAME       a set that has a name, as `mnist`; PATH: a csv, idx, npy, npz or text file, or "
     "a "
     "folder\n"
     "             of png pictures\n"
     "  --out F    its first images, or its points of the plane, as a picture; or all its rows, "
     "each\n"
     "             field and split by name, as `image_train`\n",
     run_data, false},
    {"ops", "limn ops", "the op table, as docs/ops.md has it", "", run_ops, false},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(FILE *to) {
  fputs("limn: deep learning written as diagrams\n\n", to);
  for (int i = 0; i < COMMANDS; i++)
    fprintf(to, "  %s\n        %s\n", commands[i].usage, commands[i].line);
  fputs("\n  limn COMMAND --help    says more;  limn --version\n", to);
  fputs("  Every command takes --set NAME=VALUE, which replaces the right side of an axis or "
        "const,\n  or the body of a learner or edge.\n",
        to);
  fputs(
      "  Exit status: 0 good, 1 the text or data is wrong, 2 wrong usage, 3 the machine failed.\n",
      to);
  return to == stderr ? 2 : 0;
}

static int usage(const Command *c, const char *what, const char *arg) {
  if (what) fprintf(stderr, "limn %s: %s%s%s\n", c->name, what, arg ? " " : "", arg ? arg : "");
  fprintf(stderr, "usage: %s\n", c->usage);
  return 2;
}

// name=value, cut at the first `=`
static char *split(char *arg, char **value) {
  char *eq = strchr(arg, '=');
  if (!eq) return NULL;
  *eq = 0;
  *value = eq + 1;
  return arg;
}

// -- options
// ---------------------------------------------------------------------------------------
typedef enum { FLAG, TEXT, COUNT, REAL, INPUT, SETTING } OptionKind;
typedef struct {
  const char *name;
  OptionKind kind;
  size_t at;    // in Options
  size_t bytes; // COUNT
} CliOption;
#define AT(field) offsetof(Options, field)
#define COUNTS(field) AT(field), sizeof((Options *)0)->field

static const CliOption options[] = {
    {"--json", FLAG, AT(json), 0},
    {"--with", TEXT, AT(with), 0},
    {"--has", TEXT, AT(has), 0},
    {"--who", FLAG, AT(who), 0},
    {"--paths", FLAG, AT(paths), 0},
    {"--check", FLAG, AT(check), 0},
    {"--origins", FLAG, AT(origins), 0},
    {"--training", FLAG, AT(eval.training), 0},
    {"--count", FLAG, AT(eval.count), 0},
    {"--reference", FLAG, AT(train.reference), 0},
    {"--plan", FLAG, AT(train.plan), 0},
    {"--quiet", FLAG, AT(train.quiet), 0},
    {"--plain", FLAG, AT(train.plain), 0},
    {"--after", TEXT, AT(after), 0},
    {"--weights", TEXT, AT(eval.weights), 0},
    {"--out", TEXT, AT(eval.out), 0},
    {"-o", TEXT, AT(eval.out), 0},
    {"--no-legend", FLAG, AT(draw.no_legend), 0},
    {"--notes", FLAG, AT(draw.notes), 0},
    {"--level", TEXT, AT(draw.level), 0},
    {"--open", TEXT, AT(open), 0},
    {"--close", TEXT, AT(close), 0},
    {"--theme", TEXT, AT(draw.theme), 0},
    {"--width", TEXT, AT(draw.width), 0},
    {"--lens", FLAG, AT(draw.lens), 0},
    {"--grad", FLAG, AT(draw.grad), 0},
    {"--unfold", FLAG, AT(draw.unfold), 0},
    {"--dy", TEXT, AT(eval.dy), 0},
    {"--grads", TEXT, AT(eval.grads), 0},
    {"--save", TEXT, AT(eval.save), 0},
    {"--from", TEXT, AT(use.from), 0},
    {"--prompt", TEXT, AT(use.prompt), 0},
    {"--resume", TEXT, AT(train.resume), 0},
    {"--precision", TEXT, AT(precision), 0},
    {"--device", TEXT, AT(train.device), 0},
    {"--every", TEXT, AT(train.every), 0},
    {"--seed", COUNT, COUNTS(eval.seed)},
    {"--threads", COUNT, COUNTS(train.threads)},
    {"--batch", COUNT, COUNTS(train.batch)},
    {"--pause", COUNT, COUNTS(train.pause)},
    {"--n", COUNT, COUNTS(use.n)},
    {"--length", COUNT, COUNTS(use.length)},
    {"--temperature", REAL, AT(use.temperature), 0},
    {"--epochs", REAL, AT(train.epochs), 0},
    {"--steps", REAL, AT(train.steps), 0},
    {"--in", INPUT, 0, 0},
    {"--set", SETTING, 0, 0},
};

static const CliOption *option_named(const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (!strcmp(options[i].name, name)) return &options[i];
  return NULL;
}

static void *place(Options *o, size_t at) { return (char *)o + at; }

static int take_count(const Command *c, Options *o, const CliOption *option, const char *value) {
  char *end;
  unsigned long long x = strtoull(value, &end, 10);
  bool small = option->bytes == 8 ? x <= INT64_MAX || option->at == AT(eval.seed) : x <= UINT32_MAX;
  if (*end || *value < '0' || *value > '9' || !small) {
    fprintf(stderr, "limn %s: %s wants a whole number, not %s\n", c->name, option->name, value);
    return usage(c, NULL, NULL);
  }
  if (option->bytes == 8)
    *(uint64_t *)place(o, option->at) = x;
  else
    *(uint32_t *)place(o, option->at) = (uint32_t)x;
  if (option->at == AT(eval.seed)) o->train.has_seed = true;
  return 0;
}

static int take_real(const Command *c, Options *o, const CliOption *option, const char *value) {
  char *end;
  double x = strtod(value, &end);
  if (!*value || *end || !(x > 0 && x < 1e15)) {
    fprintf(stderr, "limn %s: %s wants a number above 0, not %s\n", c->name, option->name, value);
    return usage(c, NULL, NULL);
  }
  *(double *)place(o, option->at) = x;
  return 0;
}

static int take_pair(const Command *c, Options *o, const CliOption *option, char *value) {
  char *right, *left = split(value, &right);
  if (option->kind == INPUT) {
    if (o->eval.nin == 64) return usage(c, "too many inputs", NULL);
    o->in[o->eval.nin++] = left ? (LimnInput){left, right, NULL} : (LimnInput){"", value, NULL};
    return 0;
  }
  if (!left || o->nset == 64) return usage(c, "--set wants name=value, not", value);
  o->set_name[o->nset] = left;
  o->set_value[o->nset++] = right;
  return 0;
}

static int take_option(const Command *c, Options *o, const CliOption *option, char *value) {
  if (option->kind == FLAG) return *(bool *)place(o, option->at) = true, 0;
  if (!value) return usage(c, "a value is missing after", option->name);
  switch (option->kind) {
  case TEXT: *(const char **)place(o, option->at) = value; return 0;
  case COUNT: return take_count(c, o, option, value);
  case REAL: return take_real(c, o, option, value);
  default: return take_pair(c, o, option, value);
  }
}

static int read_options(const Command *c, int argc, char **argv, Options *o) {
  for (int i = 2; i < argc; i++) {
    char *arg = argv[i];
    if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      printf("usage: %s\n\n%s\n%s%s", c->usage, c->line, *c->more ? "\n" : "", c->more);
      return -1;
    }
    if (arg[0] != '-' || !arg[1]) {
      if (!o->file)
        o->file = arg;
      else if (!o->name)
        o->name = arg;
      else
        return usage(c, "one thing too many:", arg);
      continue;
    }
    const CliOption *option = option_named(arg);
    if (!option) return usage(c, "there is no option", arg);
    int r = take_option(c, o, option, i + 1 < argc ? argv[i + 1] : NULL);
    if (r) return r;
    i += option->kind != FLAG;
  }
  if (!o->file && strcmp(c->name, "ops") && strcmp(c->name, "data") && strcmp(c->name, "runs"))
    return usage(c, "a file is missing", NULL);
  if (!strcmp(c->name, "find") && !o->name)
    return usage(c, "a pattern and a file are wanted", NULL);
  if (c->name_needed && !o->name)
    return usage(c, "a name is missing: which box, learner or goal?", NULL);
  return 0;
}

int main(int argc, char **argv) {
  static Options o;
  if (argc < 2) return help(stderr);
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
    return help(stdout);
  if (!strcmp(argv[1], "--version")) return printf("limn %s\n", limn_version()) < 0;
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(argv[1], commands[i].name)) continue;
    int r = read_options(&commands[i], argc, argv, &o);
    if (r) return r < 0 ? 0 : r;
    Limn *l = limn_new();
    if (!l) {
      fputs("limn: out of memory\n", stderr);
      return 3;
    }
    share(&o);
    int status = commands[i].run(l, &o);
    if (status == LIMN_SYSTEM && !limn_errors(l)) fputs("limn: out of memory\n", stderr);
    limn_free(l);
    return status;
  }
  fprintf(stderr, "limn: there is no command `%s`\n\n", argv[1]);
  return help(stderr);
}
