// Scopes and environments. Each file has a scope; lookup goes from it to the files it uses, then to
// the library. Inside a body environments nest: options, sizes, wires, loop variables.

#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "lang/value/value.h"
#include <stdlib.h>

enum { PATH_LIMIT = 4000 };

// -- files ----------------------------------------------------------------------------------------
static Def *scope_own(const Scope *s, Name name) {
  Id id = table_get(s->names, &name, sizeof name);
  return id ? s->in->def.at[id] : NULL;
}

Def *scope_find(Scope *s, Name name) {
  Def *d = scope_own(s, name);
  for (uint32_t i = s->uses.n; !d && i-- > 0;) d = scope_own(s->uses.at[i], name);
  if (!d && s->library) d = scope_own(s->library, name);
  return d;
}

// The declaration of the name in another file that this one uses, or NULL.
static const Def *other_meaning(const Scope *s, Name name, const Def *d) {
  for (uint32_t i = 0; i < s->uses.n; i++) {
    const Def *other = scope_own(s->uses.at[i], name);
    if (other && other != d) return other;
  }
  return NULL;
}

bool scope_refuse_ambiguous(Scope *s, Name name, Span use) {
  World *w = s->in->w;
  const char *text = name_text(w->names, name);
  const Def *d = scope_own(s, name) ? NULL : scope_find(s, name);
  const Def *other = d && d->scope != s->library ? other_meaning(s, name, d) : NULL;
  if (!other) return false;
  const Source *file = w->sources->file.at;
  Id e = diag_error(w->diags, use, "`%s` is declared in two files that are used here, %s and %s",
                    text, file[other->span.file].path, file[d->span.file].path);
  diag_note(w->diags, e, d->span, "it is declared here, too");
  diag_help(w->diags, e, "rename one of them, or declare `%s` here", text);
  if (!w->diags->muted) scope_put(s, name, d); // each name is reported once
  return true;
}

static const char *kind_word(DefKind kind) {
  static const char *const word[] = {"an axis",      "a constant", "a space",
                                     "a box",        "a learner",  "a stale copy",
                                     "an optimiser", "given",      "a learning diagram",
                                     "a machine"};
  return word[kind];
}

Def *def_new(Elab *in, DefKind kind, Name name, Span span, Scope *s, const Syntax *node) {
  Def *d = NEW(in->w->arena, Def);
  *d = (Def){.kind = kind, .name = name, .span = span, .scope = s, .node = node, .id = in->def.n};
  vec_push(in->w->arena, &in->def, d);
  use_of_def(in, span, d);
  return d;
}

// `key` is the name in this scope, `name` that in messages.
Def *scope_add(Scope *s, DefKind kind, Name key, Name name, Span span, const Syntax *node) {
  Elab *in = s->in;
  if (!key) return NULL;
  Def *old = scope_own(s, key), *d = def_new(in, kind, name, span, s, node);
  if (old && !s->library && kind == DEF_BOX &&
      old->kind == DEF_BOX) { // library boxes may be overloaded
    while (old->overload) old = old->overload;
    old->overload = d;
    return d;
  }
  if (old) {
    Id e = diag_error(in->w->diags, span, "`%s` is declared twice: here as %s",
                      name_text(in->w->names, key), kind_word(kind));
    diag_note(in->w->diags, e, old->span, "and here as %s", kind_word(old->kind));
    d->broken = true;
    return d;
  }
  table_put(s->names, &key, sizeof key, d->id);
  return d;
}

void scope_put(Scope *s, Name key, const Def *d) { table_put(s->names, &key, sizeof key, d->id); }

void scope_alias(Scope *s, Name key, const Def *d) {
  if (!scope_own(s, key)) scope_put(s, key, d);
}

static Def *declare(Scope *s, DefKind kind, Name name, Span span, const Syntax *node) {
  return scope_add(s, kind, name, name, span, node);
}

static void declare_each(Scope *s, const Syntax *n, DefKind kind) {
  Nodes each = syntax_parts(n);
  for (uint32_t i = 0; i < each.n; i++)
    declare(s, kind, each.at[i]->name, each.at[i]->name_span, each.at[i]);
}

static void declare_learners(Scope *s, const Syntax *n) {
  for (uint32_t i = 0; i < learn_learners(n).n; i++) {
    const Syntax *names = learner_names(learn_learners(n).at[i]);
    for (uint32_t k = 0; k < names_in(names).n; k++)
      declare(s, DEF_LEARNER, names_in(names).at[k]->name, names_in(names).at[k]->span,
              learn_learners(n).at[i]);
  }
}

// A file is known by its real path: links and `./` lead to the same file.
static const char *file_key(Elab *in, const char *path) {
  const char *real = path_real(in->w->arena, path);
  return real ? real : path;
}

static void use_file(Scope *s, const Syntax *n) {
  Elab *in = s->in;
  const char *path = path_join(in->w->arena, s->path, n->text);
  if (strlen(path) > PATH_LIMIT) {
    diag_error(in->w->diags, n->span, "this path is longer than %d bytes", PATH_LIMIT);
    return;
  }
  const char *key = file_key(in, path);
  Id known = table_get(in->scopes, key, strlen(key));
  if (known) {
    vec_push(in->w->arena, &s->uses, in->scope.at[known - 1]);
    return;
  }
  const char *refused = rights_refuse(in->w->arena, in->w->sources->rights, path);
  bool waits =
      path_exists(path) && !path_is_file(path) && !path_is_folder(path); // a pipe would block
  if (!refused && waits) refused = "it is not a regular file";
  FileText f = refused ? (FileText){.error = refused} : file_read(in->w->arena, path, TEXT_LIMIT);
  if (!f.text) {
    diag_error(in->w->diags, n->name_span.file ? n->name_span : n->span, "cannot read \"%s\": %s",
               path, f.error);
    s->lost = true;
    return;
  }
  Scope *used = scope_load(in, path, f.text, f.n, s->library);
  vec_push(in->w->arena, &s->uses, used);
}

static void scope_declare(Scope *s, const Syntax *n) {
  switch (n->kind) {
  case N_USE: use_file(s, n); break;
  case N_AXES: declare_each(s, n, DEF_AXIS); break;
  case N_CONSTS: declare_each(s, n, DEF_CONST); break;
  case N_SPACE: declare(s, DEF_SPACE, n->name, n->name_span, n); break;
  case N_BOX: declare(s, DEF_BOX, n->name, n->name_span, n); break;
  case N_LEARN: declare_learners(s, n); break;
  case N_STALE: declare(s, DEF_STALE, n->name, n->name_span, n); break;
  case N_OPTIMISER: declare(s, DEF_OPTIMISER, n->name, n->name_span, n); break;
  case N_GIVEN: declare_each(s, given_params(n), DEF_GIVEN); break;
  case N_MACHINE: declare(s, DEF_MACHINE, n->name, n->name_span, n); break;
  case N_DIAGRAM: declare(s, DEF_DIAGRAM, n->name, n->name_span, n); break;
  case N_ERROR: // the names of a broken declaration, so that their uses are not reported
    for (uint32_t i = 0; i < error_names(n).n; i++) {
      if (scope_own(s, error_names(n).at[i]->name)) continue;
      Syntax *empty = node_box(s->in->w->arena, n->span, (BoxParts){0});
      Def *d = declare(s, DEF_BOX, error_names(n).at[i]->name, error_names(n).at[i]->span, empty);
      if (d) d->broken = true;
    }
    break;
  default: break;
  }
}

Scope *scope_load(Elab *in, const char *path, const char *text, size_t n, Scope *library) {
  Scope *s = NEW(in->w->arena, Scope);
  s->in = in;
  s->path = path;
  s->library = library;
  s->names = table_new(in->w->arena);
  s->file = source_add(in->w->sources, path, text, n);
  in->work_limit += n;
  vec_push(in->w->arena, &in->scope, s);
  const char *key = file_key(in, path);
  if (library) table_put(in->scopes, key, strlen(key), in->scope.n);
  s->tree = parse(&in->front, s->file);
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++)
    scope_declare(s, program_declarations(s->tree).at[i]);
  return s;
}

// -- environments ---------------------------------------------------------------------------------
Env *env_new(Elab *in, Env *outer, Scope *scope, Body *body) {
  Env *e = NEW(in->w->arena, Env);
  e->outer = outer;
  e->scope = scope;
  e->body = body;
  return e;
}

// The outermost environment of a file, shared by its boxes.
Env *scope_env(Scope *s) {
  if (!s->env) s->env = env_new(s->in, NULL, s, NULL);
  return s->env;
}

Binding *env_find(Env *e, Name name) {
  for (; e; e = e->outer) {
    Id id = e->names ? table_get(e->names, &name, sizeof name) : 0;
    if (id) return &e->binding.at[id - 1];
  }
  return NULL;
}

Binding *env_bind(Env *e, Name name, Binding binding) {
  Elab *in = e->scope->in;
  Arena *a = in->w->arena;
  if (!e->names) e->names = table_new(a);
  if (!binding.named.file) binding.named = binding.span;
  if (binding.kind == BIND_LOOP) e->turn = ++in->turns;
  Id old = table_get(e->names, &name, sizeof name);
  if (old) { // bound again, as in a loop
    Span here = binding.named, first = e->binding.at[old - 1].named;
    if (first.file) binding.named = first;
    use_of_binding(in, name, here, &binding);
    e->binding.at[old - 1] = binding;
    return &e->binding.at[old - 1];
  }
  use_of_binding(in, name, binding.named, &binding);
  vec_push(a, &e->binding, binding);
  table_put(e->names, &name, sizeof name, e->binding.n);
  return &e->binding.at[e->binding.n - 1];
}

void bind_value(Env *e, Name name, Value v, Span span) {
  use_of_value(e->scope->in, span, &v);
  env_bind(e, name, (Binding){.kind = BIND_VALUE, .value = v, .span = span});
}

// -- unknown names --------------------------------------------------------------------------------
enum { HELP_LIMIT = 20 }; // errors after which no spelling is suggested

// The kinds of declaration to suggest when such a thing is wanted.
static uint32_t kinds_for(const char *wanted) {
  if (strcmp(wanted, "box") == 0) return 1u << DEF_BOX | 1u << DEF_LEARNER | 1u << DEF_STALE;
  if (strcmp(wanted, "learner") == 0) return 1u << DEF_LEARNER | 1u << DEF_STALE;
  if (strcmp(wanted, "size") == 0) return 1u << DEF_AXIS | 1u << DEF_CONST;
  if (strcmp(wanted, "type or space") == 0) return 1u << DEF_SPACE;
  if (strcmp(wanted, "learning diagram") == 0) return 1u << DEF_DIAGRAM;
  if (strcmp(wanted, "machine") == 0) return 1u << DEF_MACHINE;
  if (strncmp(wanted, "optimiser", 9) == 0) return 1u << DEF_OPTIMISER;
  return 1u << DEF_GIVEN | 1u << DEF_CONST | 1u << DEF_AXIS | 1u << DEF_LEARNER | 1u << DEF_STALE;
}

static bool binding_fits(const Binding *bind, uint32_t kinds) {
  if (kinds & (1u << DEF_OPTIMISER | 1u << DEF_SPACE | 1u << DEF_DIAGRAM)) return false;
  if (kinds & 1u << DEF_GIVEN) return true; // nearly everything is a value
  if (kinds & 1u << DEF_BOX)
    return bind->kind == BIND_LEARNER || (bind->kind == BIND_OPTION && !bind->has_number);
  return kinds & 1u << DEF_AXIS && bind->kind != BIND_VALUE && bind->kind != BIND_LEARNER &&
         bind->kind != BIND_STATE;
}

static void try_names(const Scope *s, uint32_t kinds, Nearest *near) {
  World *w = s->in->w;
  for (uint32_t i = 0; i < table_count(s->names); i++) {
    const Def *d = s->in->def.at[table_value(s->names, i)];
    if (kinds & 1u << d->kind) nearest_try(near, name_text(w->names, d->name));
  }
}

void unknown_name(Body *b, Env *env, const Syntax *n, const char *wanted) {
  World *w = b->w;
  Nearest near = nearest_to(name_text(w->names, n->name));
  Scope *s = env->scope;
  uint32_t kinds = kinds_for(wanted);
  const Def *there = scope_meaning(s, n);
  bool said = there && (there->broken || kinds & 1u << there->kind) && w->diags->errors;
  if (s->lost || said) return; // an unreadable file or a broken declaration explains it
  bool help = w->diags->errors < HELP_LIMIT;
  Id e = diag_error(w->diags, n->name_span.file ? n->name_span : n->span,
                    "there is no %s `%s` here", wanted, near.text);
  if (!help) return;
  for (Env *at = env; at; at = at->outer)
    for (uint32_t i = 0; at->names && i < table_count(at->names); i++) {
      Name name;
      memcpy(&name, table_key(at->names, i, NULL), sizeof name);
      if (binding_fits(&at->binding.at[table_value(at->names, i) - 1], kinds))
        nearest_try(&near, name_text(w->names, name));
    }
  try_names(s, kinds, &near);
  for (uint32_t i = 0; i < s->uses.n; i++) try_names(s->uses.at[i], kinds, &near);
  if (s->library) try_names(s->library, kinds, &near);
  for (uint32_t i = 0; kinds & 1u << DEF_BOX && i < b->in->builtin.n; i++)
    nearest_try(&near, b->in->builtin.at[i]->name);
  if (kinds & 1u << DEF_BOX) nearest_try(&near, "size");
  for (uint32_t i = FN_SIZE + 1; kinds & 1u << DEF_BOX && i < FN_COUNT; i++)
    nearest_try(&near, fn_rows[i].name);
  diag_suggest(w->diags, e, near.best);
}

void unknown_in(Elab *in, Scope *s, const Syntax *n, const char *wanted) {
  Body b = {.in = in, .w = in->w};
  unknown_name(&b, env_new(in, NULL, s, &b), n, wanted);
}

World *elab_world(Elab *in) { return in->w; }
void elab_watch(Elab *in, ValueWatch *watch) { in->watch = watch; }

Def *def_of(Elab *in, Id id) { return in->def.at[id]; }

const char *path_text(Elab *in, const Syntax *n) {
  if (n->kind == N_NAME) return name_text(in->w->names, n->name);
  if (n->kind != N_DOT) return NULL;
  const char *base = path_text(in, dot_base(n));
  return base ? arena_format(in->w->arena, "%s.%s", base, name_text(in->w->names, n->name)) : NULL;
}

// -- data -----------------------------------------------------------------------------------------
// space N = mnist, mnist.train, "t.csv", normal[64]
bool space_is_index(Elab *in, Scope *s, const Syntax *types) {
  if (!types || types_in(types).n != 1 || types_in(types).at[0]->kind != N_TYPE) return false;
  const Syntax *type = types_in(types).at[0], *root = path_root(type_base(type));
  if (root->kind == N_STR) return true;
  if (root->kind != N_NAME || scope_find(s, root->name)) return false;
  const char *text = name_text(in->w->names, root->name);
  if ((!strcmp(text, "normal") || !strcmp(text, "uniform")) && type_base(type) == root) return true;
  return set_is_known(text);
}

// -- built-in boxes -------------------------------------------------------------------------------
void builtins_add(Elab *in, const BuiltinBox *box, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) vec_push(in->w->arena, &in->builtin, &box[i]);
}

const BuiltinBox *builtin_find(Elab *in, Name name) {
  const char *text = name_text(in->w->names, name);
  for (uint32_t i = 0; i < in->builtin.n; i++)
    if (strcmp(text, in->builtin.at[i]->name) == 0) return in->builtin.at[i];
  return NULL;
}

// -- learners and stale copies --------------------------------------------------------------------
bool is_learner(const Def *d) { return d->kind == DEF_LEARNER || d->kind == DEF_STALE; }

const Def *learner_of(const Def *d) {
  while (d && d->kind == DEF_STALE) d = d->of;
  return d;
}

const char *followed_path(World *w, const Def *stale) {
  return arena_format(w->arena, "%s%s", name_text(w->names, stale->of->name),
                      stale->member ? stale->member : "");
}

const char *learner_path(World *w, const Def *d) {
  if (d->kind != DEF_STALE) return name_text(w->names, d->name);
  return arena_format(w->arena, "%s%s", learner_path(w, d->of), d->member ? d->member : "");
}

const char *path_after(const char *path, const char *begin) {
  size_t n = strlen(begin);
  bool inside = strncmp(path, begin, n) == 0 && (!path[n] || path[n] == '/' || path[n] == '.');
  return inside ? path + n : NULL;
}

const Syntax *family_of(const Def *d) {
  for (const Def *at = d; at && at->kind == DEF_STALE; at = at->of)
    if (stale_path(at->node)->kind == N_AT) return NULL; // it follows one member
  const Def *real = learner_of(d);
  return real && real->kind == DEF_LEARNER ? learner_family(real->node) : NULL;
}

// The environment of the learner's declaration, where the size of its family is evaluated.
Env *family_env(Body *b, Env *env, const Def *learner) {
  const Def *real = learner_of(learner);
  bool outside = real && real->scope && scope_find(real->scope, real->name) == real;
  return outside ? env_new(b->in, NULL, real->scope, b) : env;
}
