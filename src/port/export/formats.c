// The export formats: a table with their names, file suffixes, descriptions and writers.
#include "base/diag.h"
#include "port/c/c_out.h"
#include "port/export/export.h"
#include "port/json/json.h"
#include "port/python/python.h"

// Options that a format supports.
enum { WEIGHTS = 1, SEED = 2, PRECISION = 4, TRAIN = 8, CALLS = 16, NUMBERS = 7, ALL = 31 };
static const struct {
  const char *name, *ending, *kind, *words;
  bool (*write)(Export *); // false with a diagnostic
  bool once;               // a single call that keeps no state
  unsigned takes;
} formats[] = {
    {"onnx", ".onnx", "", "a box or learner as an ONNX model", export_onnx, true, NUMBERS},
    {"safetensors", ".safetensors", "", "weights by name, of a box or learner or of all",
     export_safetensors, false, NUMBERS},
    {"c", ".c", "", "C99 that needs nothing but libm, of a box or learner or of a training step",
     export_c, true, ALL},
    {"torch", ".py", "_torch",
     "a box or learner, or the program with its training, as Python for PyTorch", export_torch,
     true, WEIGHTS | PRECISION | TRAIN},
    {"jax", ".py", "_jax", "the same for JAX", export_jax, true, WEIGHTS | PRECISION | TRAIN},
    {"json", ".json", "", "the typed diagram, as docs/json.md has it", export_json, false, 0},
};

static Outcome no_format(Export *e, const char *as) {
  Diags *diags = e->w->diags;
  const char *names[COUNT(formats)];
  Buf all = buf_new(e->arena);
  for (uint32_t i = 0; i < COUNT(formats); i++) {
    names[i] = formats[i].name;
    buf_printf(&all, "%s%s (%s)", i ? ", " : "", names[i], formats[i].words);
  }
  Id at = as ? diag_error(diags, (Span){0}, "there is no format `%s`", as)
             : diag_error(diags, (Span){0}, "--as is missing: in which format?");
  if (!as || !diag_suggest(diags, at, nearest_name(as, names, COUNT(names))))
    diag_help(diags, at, "formats are %s", all.at);
  return OUTCOME_USAGE;
}

// Refuses an option that the format ignores, or that another option overrides.
static bool options_fit(Export *e, unsigned takes) {
  const LimnExport *how = e->how;
  const struct {
    const char *option;
    bool given;
    unsigned kind;
  } all[] = {{"--from", how->from, WEIGHTS},
             {"--weights", how->weights, WEIGHTS},
             {"--seed", how->has_seed || how->seed, SEED},
             {"--precision", how->precision != LIMN_PRECISION_DEFAULT, PRECISION},
             {"--train", how->train, TRAIN},
             {"--batch", how->batch, CALLS},
             {"--weights-beside", how->weights_beside, CALLS}};
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i].given && !(takes & all[i].kind))
      return export_error(e, OUTCOME_USAGE, "%s means nothing for --as %s", all[i].option, how->as);
  if (how->from && how->weights)
    return export_error(e, OUTCOME_USAGE, "either --from or --weights is wanted, not both");
  return true;
}

Outcome export_as(Export *e) {
  const char *as = e->how->as;
  for (uint32_t i = 0; as && i < COUNT(formats); i++) {
    if (strcmp(formats[i].name, as) != 0) continue;
    e->ending = formats[i].ending;
    e->kind = formats[i].kind;
    if (e->how->precision >= LIMN_PRECISION_BF16) {
      export_error(e, OUTCOME_USAGE, "what leaves limn has floats or doubles: precision 32 or 64");
      return OUTCOME_USAGE;
    }
    if (!options_fit(e, formats[i].takes)) return e->status;
    if (formats[i].once && is_stateful_machine(e->in, e->p, e->name)) {
      export_error(e, OUTCOME_WRONG,
                   "`%s` is a machine, which goes on through time, and `%s` would have only its "
                   "start: `--as json` has its states too",
                   e->name, as);
      return OUTCOME_WRONG;
    }
    if (formats[i].write(e)) return OUTCOME_GOOD;
    return e->status == OUTCOME_GOOD ? OUTCOME_WRONG : e->status;
  }
  return no_format(e, as);
}
