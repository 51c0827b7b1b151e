// The command line. Exit status: 0 good, 1 the user's text or data is wrong, 2 wrong usage, 3 the
// machine failed.
#include "limn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *file, *name;
  bool json, who, check, origins;
  const char *after;
  LimnEval eval;
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
  const char *text = s ? NULL : o->who ? limn_who(l, o->json) : limn_summary(l, o->json);
  if (text && !o->json && !o->who) printf("%s: ", o->file);
  return answer(l, o, s, o->who ? "who" : "summary", text);
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

static int run_cost(Limn *l, Options *o) {
  LimnStatus s = load(l, o);
  const char *text = s ? NULL : limn_cost(l, o->name, o->json);
  if (!s && !text) s = LIMN_WRONG;
  return answer(l, o, s, "cost", text);
}

static int run_eval(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = load(l, o);
  o->eval.in = o->in;
  o->eval.json = o->json;
  if (!s) s = limn_eval(l, o->name, &o->eval, &text);
  return answer(l, o, s, "values", text);
}

static int run_ops(Limn *l, Options *o) {
  (void)o;
  fputs(limn_ops(l), stdout);
  return 0;
}

static int run_data(Limn *l, Options *o) {
  const char *text = NULL;
  LimnStatus s = limn_data(l, o->file, o->eval.out, o->json, &text);
  return answer(l, o, s, o->file ? "set" : "sets", text);
}

static const Command commands[] = {
    {"check", "limn check FILE [--who] [--json] [--set k=v]",
     "types, sizes, goals: every mistake at once",
     "  --who      a table: which goal moves which learner (moves), or only sends its gradient "
     "through it\n"
     "             (through)\n"
     "  --json     the messages with their places, and the summary or table, as one object\n",
     run_check, false},
    {"fmt", "limn fmt FILE [--check]", "one layout for everybody",
     "  --check    change nothing; exit with 1 if the layout would change\n"
     "  A file with syntax errors is left alone.\n",
     run_fmt, false},
    {"print",
     "limn print FILE [NAME] [--after check|inline|simplify|reverse|forward|gradient] [--origins]",
     "the diagram of a box, learner or goal (without NAME: of the whole loss) as text",
     "  --after P  the diagram after a pass: check (as written, the default), inline (calls "
     "replaced by\n"
     "             what they call), simplify, reverse, forward (its derivatives), gradient (of the "
     "whole\n"
     "             loss, each goal moving only what it trains)\n"
     "  --origins  with the line and column each box comes from\n",
     run_print, false},
    {"grad", "limn grad FILE [NAME]", "its reverse derivative as text",
     "  With NAME: (inputs, weights, cotangents of the results) to cotangents of inputs and "
     "weights.\n"
     "  Without: the loss of every goal, then the gradient of every weight that some goal "
     "trains.\n",
     run_grad, false},
    {"cost", "limn cost FILE [NAME] [--json]", "time and memory, as polynomials in the axes",
     "  Counted in numbers: multiplications, additions, other functions, and how many numbers are "
     "alive\n"
     "  at once and in all; forward, with the reverse, and for the naive forward-mode "
     "alternative.\n",
     run_cost, false},
    {"eval",
     "limn eval FILE NAME --in x=x.npy|'[1, 2]' [--weights w.safetensors] [--seed N] [--out "
     "y.npy]\n"
     "          [--dy dy.npy|'[1]'] [--grads g.safetensors] [--save w.safetensors] [--training] "
     "[--count]",
     "its value, and if asked its gradients, by the reference interpreter",
     "  --in x=V       an input by name, or in order without a name: numbers, or an npy file. "
     "Further axes\n"
     "                 in front pass over the box\n"
     "  --weights F    weights from a safetensors file; otherwise they start as the program says\n"
     "  --seed N       for start values and noise (0)\n"
     "  --out F        the first result, as npy; otherwise results are printed\n"
     "  --dy V         a cotangent of the first result: gradients by every input and weight\n"
     "  --grads F      gradients into a safetensors file (cotangent 1 if --dy is not given)\n"
     "  --save F       the weights that were used\n"
     "  --training     as in training: batch statistics, dropout\n"
     "  --count        how many multiplications were made\n",
     run_eval, true},
    {"data", "limn data [NAME|PATH] [--json] [--out F.png]",
     "the data sets it knows, where they are, how to get them; or what is in one",
     "  NAME       a set that has a name, as `mnist`; PATH: a csv, idx, npy, npz or text file, or "
     "a "
     "folder\n"
     "             of png pictures\n"
     "  --out F    its first images, or its points of the plane, as a picture\n",
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
        "const.\n",
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

static bool flag(Options *o, const char *arg) {
  if (!strcmp(arg, "--json")) return o->json = true;
  if (!strcmp(arg, "--who")) return o->who = true;
  if (!strcmp(arg, "--check")) return o->check = true;
  if (!strcmp(arg, "--origins")) return o->origins = true;
  if (!strcmp(arg, "--training")) return o->eval.training = true;
  if (!strcmp(arg, "--count")) return o->eval.count = true;
  return false;
}

// An option with a value. 0: taken, 1: not one of these, 2: wrong.
static int valued(const Command *c, Options *o, const char *arg, char *value) {
  const char **text = !strcmp(arg, "--after")     ? &o->after
                      : !strcmp(arg, "--weights") ? &o->eval.weights
                      : !strcmp(arg, "--out")     ? &o->eval.out
                      : !strcmp(arg, "--dy")      ? &o->eval.dy
                      : !strcmp(arg, "--grads")   ? &o->eval.grads
                      : !strcmp(arg, "--save")    ? &o->eval.save
                                                  : NULL;
  bool seed = !strcmp(arg, "--seed"), in = !strcmp(arg, "--in"), set = !strcmp(arg, "--set");
  if (!text && !seed && !in && !set) return 1;
  if (!value) return usage(c, "a value is missing after", arg);
  if (text) {
    *text = value;
    return 0;
  }
  if (seed) {
    char *end;
    o->eval.seed = strtoull(value, &end, 10);
    return *end || !*value ? usage(c, "a seed is a whole number, not", value) : 0;
  }
  char *right, *left = split(value, &right);
  if (in) {
    if (o->eval.nin == 64) return usage(c, "too many inputs", NULL);
    o->in[o->eval.nin++] = left ? (LimnInput){left, right} : (LimnInput){"", value};
    return 0;
  }
  if (!left || o->nset == 64) return usage(c, "--set wants name=value, not", value);
  o->set_name[o->nset] = left;
  o->set_value[o->nset++] = right;
  return 0;
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
    if (flag(o, arg)) continue;
    int r = valued(c, o, arg, i + 1 < argc ? argv[i + 1] : NULL);
    if (r == 1) return usage(c, "there is no option", arg);
    if (r) return r;
    i++;
  }
  if (!o->file && strcmp(c->name, "ops") && strcmp(c->name, "data"))
    return usage(c, "a file is missing", NULL);
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
    int status = commands[i].run(l, &o);
    limn_free(l);
    return status;
  }
  fprintf(stderr, "limn: there is no command `%s`\n\n", argv[1]);
  return help(stderr);
}
