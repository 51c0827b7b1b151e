// The number of wires of a declared type, and the names of the results in a header.
#include "lang/value/results.h"
#include "base/diag.h"
#include "base/names.h"

uint32_t type_wires(Body *b, Env *env, const Syntax *type) {
  Types t = {0};
  if (!type) return 1;
  const Syntax *base = type->kind == N_TYPE ? type_base(type) : NULL;
  Def *d = base && base->kind == N_NAME ? scope_meaning(env->scope, base) : NULL;
  if (base && base->kind != N_TYPES && !(d && d->kind == DEF_SPACE)) return 1;
  b->w->diags->muted++;
  types_eval(b, env, type, true, &t, NULL);
  b->w->diags->muted--;
  return t.n ? t.n : 1;
}

void results_name(Body *b, Env *env, const Syntax *result) {
  World *w = b->w;
  for (uint32_t i = 0; result && result->kind == N_PARAMS && i < params_in(result).n; i++) {
    const Syntax *one = params_in(result).at[i];
    uint32_t n = type_wires(b, env, param_type(one));
    const char *text = name_text(w->names, one->name);
    for (uint32_t k = 0; k < i; k++)
      if (params_in(result).at[k]->name == one->name) {
        Id e = diag_error(w->diags, one->name_span, "there are two results `%s`", text);
        diag_note(w->diags, e, params_in(result).at[k]->name_span, "the other one");
        break;
      }
    for (uint32_t k = 0; k < n; k++)
      vec_push(w->arena, &b->want_name,
               n == 1 ? one->name
                      : name_from(w->names, arena_format(w->arena, "%s.%u", text, k + 1)));
  }
}
