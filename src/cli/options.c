// Options: commands.txt says which options a command has; the table here says where their values
// are stored.
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The command being parsed, for messages.
typedef struct {
  CommandText text;
  const char *name;
  Options *o;
} CliReading;

// Splits name=value at the first `=`.
static char *split(char *arg, char **value) {
  char *eq = strchr(arg, '=');
  if (!eq) return NULL;
  *eq = 0;
  *value = eq + 1;
  return arg;
}

typedef enum { FLAG, TEXT, COUNT, REAL, INPUT, SETTING, FOLDER } OptionKind;
typedef struct {
  const char *name;
  OptionKind kind;
  size_t at;    // offset in Options
  size_t bytes; // size of the field, for COUNT
  uint64_t least, most;
} CliOption;
#define AT(field) offsetof(Options, field)
#define COUNTS(field) AT(field), sizeof((Options *)0)->field
#define LENGTH_MOST 1000000000000 // the same limit as in programs, longer than any run

static const CliOption options[] = {
    {"--json", FLAG, AT(json), 0, 0, 0},
    {"--with", TEXT, AT(with), 0, 0, 0},
    {"--has", TEXT, AT(has), 0, 0, 0},
    {"--who", FLAG, AT(who), 0, 0, 0},
    {"--paths", FLAG, AT(paths), 0, 0, 0},
    {"--check", FLAG, AT(check), 0, 0, 0},
    {"--origins", FLAG, AT(origins), 0, 0, 0},
    {"--training", FLAG, AT(eval.training), 0, 0, 0},
    {"--count", FLAG, AT(eval.count), 0, 0, 0},
    {"--reference", FLAG, AT(train.reference), 0, 0, 0},
    {"--plan", FLAG, AT(train.plan), 0, 0, 0},
    {"--quiet", FLAG, AT(train.quiet), 0, 0, 0},
    {"--plain", FLAG, AT(train.plain), 0, 0, 0},
    {"--sandbox", FLAG, AT(sandbox), 0, 0, 0},
    {"--no-sandbox", FLAG, AT(no_sandbox), 0, 0, 0},
    {"--as", TEXT, AT(export.as), 0, 0, 0},
    {"--of", TEXT, AT(of), 0, 0, 0},
    {"--train", FLAG, AT(export.train), 0, 0, 0},
    {"--weights-beside", FLAG, AT(export.weights_beside), 0, 0, 0},
    {"--after", TEXT, AT(after), 0, 0, 0},
    {"--weights", TEXT, AT(eval.weights), 0, 0, 0},
    {"--out", TEXT, AT(eval.out), 0, 0, 0},
    {"--no-legend", FLAG, AT(draw.no_legend), 0, 0, 0},
    {"--notes", FLAG, AT(draw.notes), 0, 0, 0},
    {"--level", TEXT, AT(draw.level), 0, 0, 0},
    {"--open", TEXT, AT(open), 0, 0, 0},
    {"--close", TEXT, AT(close), 0, 0, 0},
    {"--theme", TEXT, AT(draw.theme), 0, 0, 0},
    {"--width", TEXT, AT(draw.width), 0, 0, 0},
    {"--lens", FLAG, AT(draw.lens), 0, 0, 0},
    {"--grad", FLAG, AT(draw.grad), 0, 0, 0},
    {"--unfold", FLAG, AT(draw.unfold), 0, 0, 0},
    {"--flat", FLAG, AT(import.flat), 0, 0, 0},
    {"--learned", TEXT, AT(import.learned), 0, 0, 0},
    {"--fixed", TEXT, AT(import.fixed), 0, 0, 0},
    {"--dy", TEXT, AT(eval.dy), 0, 0, 0},
    {"--grads", TEXT, AT(eval.grads), 0, 0, 0},
    {"--watch", TEXT, AT(eval.watch), 0, 0, 0},
    {"--save", TEXT, AT(eval.save), 0, 0, 0},
    {"--from", TEXT, AT(use.from), 0, 0, 0},
    {"--prompt", TEXT, AT(use.prompt), 0, 0, 0},
    {"--resume", TEXT, AT(train.resume), 0, 0, 0},
    {"--precision", TEXT, AT(precision), 0, 0, 0},
    {"--device", TEXT, AT(train.device), 0, 0, 0},
    {"--every", TEXT, AT(train.every), 0, 0, 0},
    {"--changes", TEXT, AT(train.changes), 0, 0, 0},
    {"--seed", COUNT, COUNTS(eval.seed), 0, UINT64_MAX},
    {"--port", COUNT, COUNTS(port), 1024, 65535},
    {"--no-browser", FLAG, AT(no_browser), 0, 0, 0},
    {"--threads", COUNT, COUNTS(train.threads), 1, 4096},
    {"--batch", COUNT, COUNTS(train.batch), 1, 1000000000},
    {"--pause", COUNT, COUNTS(train.pause), 1, LENGTH_MOST},
    {"--n", COUNT, COUNTS(use.n), 1, 1000000000},
    {"--length", COUNT, COUNTS(use.length), 1, 1000000000},
    {"--temperature", REAL, AT(use.temperature), 0, 0, 0},
    {"--epochs", REAL, AT(train.epochs), 0, 0, 0},
    {"--steps", REAL, AT(train.steps), 0, 0, 0},
    {"--in", INPUT, 0, 0, 0, 0},
    {"--set", SETTING, 0, 0, 0, 0},
    {"--read", FOLDER, 0, 0, 0, 0},
};

static const CliOption *option_named(const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (!strcmp(options[i].name, name)) return &options[i];
  return NULL;
}

// -- messages -------------------------------------------------------------------------------------
static int wrong(const CliReading *r, const char *what, const char *arg) {
  SAY(stderr, "limn ", r->name, ": ", what, arg ? " " : "", arg ? arg : "", "\n");
  command_usage(r->text, stderr);
  return 2;
}

static int no_option(const CliReading *r, const char *arg) {
  const char *near = near_option(r->text, arg);
  SAY(stderr, "limn ", r->name, ": there is no option ", arg);
  if (near) SAY(stderr, "; did you mean ", near, "?");
  fputc('\n', stderr);
  command_usage(r->text, stderr);
  return 2;
}

static int refuse_value(const CliReading *r, const char *option, const char *what,
                        const char *value) {
  SAY(stderr, "limn ", r->name, ": ", option, " wants ", what, ", not ", value, "\n");
  command_usage(r->text, stderr);
  return 2;
}

// -- values ---------------------------------------------------------------------------------------
static void *field_at(Options *o, size_t at) { return (char *)o + at; }

static int read_count(const CliReading *r, const CliOption *option, const char *value) {
  char *end;
  errno = 0;
  unsigned long long x = strtoull(value, &end, 10);
  bool is_seed = option->at == AT(eval.seed);
  if (*end || *value < '0' || *value > '9' || x < option->least || x > option->most || errno) {
    char range[80];
    snprintf(range, sizeof range, "a whole number from %llu to %llu",
             (unsigned long long)option->least, (unsigned long long)option->most);
    return refuse_value(r, option->name, range, value);
  }
  if (option->bytes == 8)
    *(uint64_t *)field_at(r->o, option->at) = x;
  else
    *(uint32_t *)field_at(r->o, option->at) = (uint32_t)x;
  r->o->train.has_seed |= is_seed;
  return 0;
}

static int read_real(const CliReading *r, const CliOption *option, const char *value) {
  char *end;
  double x = strtod(value, &end);
  bool number = strspn(value, "0123456789.eE+-") == strlen(value) && *value && !*end;
  if (number && x > LENGTH_MOST)
    return refuse_value(r, option->name, "a number up to 1000000000000", value);
  if (!number || !(x > 0)) return refuse_value(r, option->name, "a number above 0", value);
  *(double *)field_at(r->o, option->at) = x;
  return 0;
}

// Writes "a|b|c" as "a, b or c".
static const char *choice_list(const char *choice, char *out, size_t room) {
  const char *last = strrchr(choice, '|');
  size_t n = 0;
  for (const char *at = choice; *at && n + 5 < room; at++) {
    const char *text = at == last ? " or " : ", ";
    if (*at == '|')
      n += (size_t)snprintf(out + n, room - n, "%s", text);
    else
      out[n++] = *at;
  }
  out[n] = 0;
  return out;
}

// `choice` is "a|b|c", or "" for any value.
static int read_text_option(const CliReading *r, const CliOption *option, const char *value,
                            const char *choice) {
  char words[256];
  size_t n = strlen(value);
  bool good = !*choice;
  for (const char *at = choice; *at && !good; at += at[strcspn(at, "|")] == '|') {
    size_t m = strcspn(at, "|");
    good = m == n && !memcmp(at, value, n);
    at += m;
  }
  if (!good) return refuse_value(r, option->name, choice_list(choice, words, sizeof words), value);
  *(const char **)field_at(r->o, option->at) = value;
  return 0;
}

static int read_pair(const CliReading *r, const CliOption *option, char *value) {
  Options *o = r->o;
  char *right, *left = split(value, &right);
  if (option->kind == INPUT) {
    if (o->eval.nin == sizeof o->in / sizeof *o->in) return wrong(r, "too many inputs", NULL);
    o->in[o->eval.nin++] = left ? (LimnInput){left, right, NULL} : (LimnInput){"", value, NULL};
    return 0;
  }
  if (!left) return refuse_value(r, option->name, "NAME=VALUE", value);
  for (uint32_t i = 0; i < o->nset; i++)
    if (!strcmp(o->set_name[i], left)) return wrong(r, "given twice: --set", left);
  if (o->nset == sizeof o->set_name / sizeof *o->set_name) return wrong(r, "too many --set", NULL);
  o->set_name[o->nset] = left;
  o->set_value[o->nset++] = right;
  return 0;
}

// Only inputs, settings and folders can be repeated.
static bool is_repeated(const CliOption *option, bool *seen) {
  bool *own = &seen[option - options],
       twice = *own && option->kind != INPUT && option->kind != SETTING && option->kind != FOLDER;
  *own = true;
  return twice && option->kind != FLAG;
}

static int read_folder(const CliReading *r, const char *value) {
  Options *o = r->o;
  if (o->nread == sizeof o->read / sizeof *o->read) return wrong(r, "too many --read", NULL);
  o->read[o->nread++] = value;
  return 0;
}

static int read_option(const CliReading *r, const CliOption *option, char *value,
                       const char *choice) {
  if (option->kind == FLAG) return *(bool *)field_at(r->o, option->at) = true, 0;
  if (!value) return wrong(r, "a value is missing after", option->name);
  switch (option->kind) {
  case TEXT: return read_text_option(r, option, value, choice);
  case COUNT: return read_count(r, option, value);
  case REAL: return read_real(r, option, value);
  case FOLDER: return read_folder(r, value);
  default: return read_pair(r, option, value);
  }
}

// -- the command line -----------------------------------------------------------------------------
static int read_positional(const CliReading *r, int most, char *word) {
  if (most > 0 && !r->o->file)
    r->o->file = word;
  else if (most > 1 && !r->o->name)
    r->o->name = word;
  else
    return wrong(r, "unexpected:", word);
  return 0;
}

static int check_required(const CliReading *r, int least) {
  if (r->o->sandbox && r->o->train.device && !strncmp(r->o->train.device, "cuda", 4))
    return wrong(r, "in a sandbox there is no GPU: without --sandbox, or with --device cpu", NULL);
  bool find = !strcmp(r->name, "find");
  if (find && least > 1 && !r->o->name) return wrong(r, "a pattern and a file are wanted", NULL);
  if (!strcmp(r->name, "diff") && !r->o->name) return wrong(r, "two models are wanted", NULL);
  if (least > 0 && !r->o->file) return wrong(r, "a file is missing", NULL);
  if (least > 1 && !r->o->name)
    return wrong(r, "a name is missing: which box, learner or goal?", NULL);
  if (!strcmp(r->name, "check") && r->o->name && !r->o->paths)
    return wrong(r, "a learning diagram is named for --paths only:", r->o->name);
  return 0;
}

// Refuses options that exclude each other, since one would be ignored.
static int check_exclusive(const CliReading *r, const bool *seen) {
  const size_t n = sizeof options / sizeof options[0];
  for (size_t i = 0; i < n; i++)
    for (size_t k = i + 1; seen[i] && k < n; k++) {
      if (!seen[k] || !command_options_exclude(r->text, options[i].name, options[k].name)) continue;
      SAY(stderr, "limn ", r->name, ": either ", options[i].name, " or ", options[k].name,
          " is wanted, not both\n");
      command_usage(r->text, stderr);
      return 2;
    }
  for (size_t i = 0; i < n; i++) {
    char other[64];
    if (!seen[i] || !command_option_needs(r->text, options[i].name, other, sizeof other)) continue;
    if (seen[option_named(other) - options]) continue;
    SAY(stderr, "limn ", r->name, ": ", options[i].name, " wants ", other, " too\n");
    command_usage(r->text, stderr);
    return 2;
  }
  const char *out = r->o->eval.out;
  if (out && !strcmp(out, "-") && !command_writes_out(r->text))
    return wrong(r, "--out wants a name; it is ./- for a file that is called so, not", out);
  return 0;
}

// Refuses options that have no effect with a NAME, or without one.
static int check_placement(const CliReading *r, const bool *seen) {
  bool named = r->o->name != NULL;
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    if (!seen[i] || command_option_fits(r->text, options[i].name, named)) continue;
    SAY(stderr, "limn ", r->name, ": ", options[i].name,
        named ? " goes without a name, not with "
              : " goes with a name only: which box, learner or goal?",
        named ? r->o->name : "", "\n");
    command_usage(r->text, stderr);
    return 2;
  }
  return 0;
}

// Invalid values were refused before.
static LimnPrecision precision_of(const char *word) {
  if (!word) return LIMN_PRECISION_DEFAULT;
  if (!strcmp(word, "64")) return LIMN_PRECISION_64;
  if (!strcmp(word, "tf32")) return LIMN_PRECISION_TF32;
  if (!strcmp(word, "auto")) return LIMN_PRECISION_AUTO;
  return strcmp(word, "bf16") ? LIMN_PRECISION_32 : LIMN_PRECISION_BF16;
}

// Copies options that several structs share.
static void copy_shared_options(Options *o) {
  o->eval.size = sizeof o->eval, o->train.size = sizeof o->train;
  o->use.size = sizeof o->use, o->draw.size = sizeof o->draw, o->import.size = sizeof o->import;
  o->train.precision = precision_of(o->precision);
  o->eval.in = o->use.in = o->import.in = o->in;
  o->use.nin = o->import.nin = o->eval.nin;
  o->eval.json = o->use.json = o->train.json = o->json;
  o->use.out = o->train.out = o->draw.out = o->import.out = o->eval.out;
  o->use.seed = o->train.seed = o->eval.seed;
  o->use.has_seed = o->eval.has_seed = o->train.has_seed;
  o->use.threads = o->train.threads;
  o->use.device = o->train.device;
  o->use.precision = o->train.precision;
  o->use.reference = o->train.reference;
  o->eval.from = o->export.from = o->use.from;
  o->export.size = sizeof o->export;
  o->export.out = o->eval.out;
  o->export.weights = o->eval.weights;
  o->export.precision = o->train.precision;
  o->export.seed = o->eval.seed;
  o->export.has_seed = o->train.has_seed;
  o->export.batch = o->train.batch;
}

int read_options(CommandText text, const char *name, int argc, char **argv, Options *o) {
  const CliReading r = {text, name, o};
  int least, most, status = 0;
  bool words_only = false, seen[sizeof options / sizeof options[0]] = {false};
  command_words(text, &least, &most);
  for (int i = 2; i < argc && !status; i++) {
    char *arg = argv[i], choice[128];
    if (words_only || arg[0] != '-' || !arg[1]) {
      status = read_positional(&r, most, arg);
    } else if (!strcmp(arg, "--")) {
      words_only = true;
    } else if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
      command_help(text, stdout);
      return -1;
    } else {
      const char *asked = strcmp(arg, "-o") ? arg : "--out";
      const CliOption *option = option_named(asked);
      if (!option || !command_option(text, asked, choice, sizeof choice)) return no_option(&r, arg);
      if (is_repeated(option, seen)) return wrong(&r, "this is given twice:", asked);
      status = read_option(&r, option, i + 1 < argc ? argv[i + 1] : NULL, choice);
      i += option->kind != FLAG;
    }
  }
  if (!status) status = check_required(&r, least);
  if (!status) status = check_placement(&r, seen);
  if (!status) status = check_exclusive(&r, seen);
  copy_shared_options(o);
  return status;
}
