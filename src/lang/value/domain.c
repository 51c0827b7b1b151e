// Domains: the values allowed for the options of a box and the settings of an optimiser.
//
// Input: `0 <= p < 1` after an option, and an environment that binds the options. Output: the first
// domain that is violated. A domain that depends on a value not known yet (an option of a use, an
// open size, a schedule) is skipped; it is checked again where the value is known. NaN, infinities
// and numbers beyond the range of a float violate every domain.
#include "lang/value/domain.h"
#include "base/diag.h"
#include "base/names.h"

#include <float.h>
#include <math.h>

static bool cmp_holds(SyntaxSign sign, double left, double right) {
  if (!(fabs(left) <= FLT_MAX && fabs(right) <= FLT_MAX)) return false;
  switch (sign) {
  case SIGN_LESS: return left < right;
  case SIGN_MORE: return left > right;
  case SIGN_AT_LEAST: return left >= right;
  case SIGN_AT_MOST: return left <= right;
  default: return left != right;
  }
}

const Syntax *domain_broken(Body *b, Env *env, Nodes domains) {
  for (uint32_t i = 0; i < domains.n; i++)
    for (uint32_t k = 0; k < domain_cmps(domains.at[i]).n; k++) {
      const Syntax *cmp = domain_cmps(domains.at[i]).at[k];
      double left, right;
      if (cmp->kind == N_CMP && static_number(b, env, cmp_left(cmp), &left) &&
          static_number(b, env, cmp_right(cmp), &right) && !cmp_holds(cmp_sign(cmp), left, right))
        return domains.at[i];
    }
  return NULL;
}

static bool is_named(void *name, const Syntax *n) {
  return n->kind == N_NAME && n->name == *(Name *)name;
}

bool domain_names(const Syntax *domain, Name name) {
  return syntax_any((Syntax *)domain, is_named, &name);
}

typedef struct {
  Body *b;
  Env *env;
} DomainText;

static bool is_strange(void *context, const Syntax *n) {
  const DomainText *c = context;
  double k;
  if (n->kind != N_NAME) return n->kind == N_AT || n->kind == N_STR;
  const Binding *bind = env_meaning(c->env, n);
  return !(bind && bind->kind == BIND_OPTION) && !static_number(c->b, c->env, n, &k);
}

bool domains_sound(Body *b, Env *env, Nodes domains) {
  DomainText c = {b, env};
  bool good = true;
  for (uint32_t i = 0; i < domains.n; i++) {
    const Syntax *n = domains.at[i];
    if (!syntax_any((Syntax *)n, is_strange, &c)) continue;
    good = diag_refuse(b->w->diags, n->span,
                       "a domain compares options with numbers and with each other");
  }
  return good;
}

void domain_refuse(Body *b, const char *what, const Syntax *domain, const char *values, Span span) {
  World *w = b->w;
  Id e = diag_error(w->diags, span, "`%s` wants %s, but %s", what, span_words(w, domain->span),
                    values);
  bool library = b->in->library && b->in->library->file == domain->span.file;
  if (!library && domain->span.at != span.at) diag_note(w->diags, e, domain->span, "declared here");
}

void domain_value(Buf *text, const char *name, double value) {
  buf_printf(text, "%s%s is %.10g", text->n ? " and " : "", name, value);
  if (!(fabs(value) <= FLT_MAX))
    buf_text(text,
             isfinite(value) ? ", more than a 32-bit float can hold" : ", which is not finite");
}

// "p is 2": the values of the options that a domain mentions.
static const char *values_of(Body *b, Env *env, Nodes options, const Syntax *domain) {
  World *w = b->w;
  Buf text = buf_new(w->arena);
  for (uint32_t i = 0; i < options.n; i++) {
    const Syntax *par = options.at[i], *name = syntax_name(w->arena, par->name, par->name_span);
    double k;
    if (!domain_names(domain, par->name) || !static_number(b, env, name, &k)) continue;
    domain_value(&text, name_text(w->names, par->name), k);
  }
  return text.n ? text.at : "this is another";
}

bool domains_hold(Body *b, Env *env, const char *what, Nodes options, const Syntax *const *given,
                  bool generic) {
  bool good = true;
  for (uint32_t i = 0; i < options.n; i++) {
    Nodes domains = cfgpar_domains(options.at[i]);
    if (generic && !domains_sound(b, env, domains)) return false;
    const Syntax *broken = domain_broken(b, env, domains);
    if (!broken) continue;
    Span span = broken->span;
    for (uint32_t k = options.n; k-- > 0;)
      if (given[k] && domain_names(broken, options.at[k]->name)) {
        const Binding *bind = env_find(env, options.at[k]->name);
        span = bind && bind->has_number ? bind->span : given[k]->span;
      }
    domain_refuse(b, what, broken, values_of(b, env, options, broken), span);
    good = false;
  }
  return good;
}
