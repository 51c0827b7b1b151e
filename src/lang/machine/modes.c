// Modes. The mode is a state, a label; the lines of a mode hold while it is active, and a jump sets
// it.
//
// Modes may be nested. The labels are the leaf modes, `on.hot`; lines of an outer mode hold in all
// its leaves, a contiguous range of labels. Entering an outer mode enters its first leaf. Outer
// lines come before inner ones, so an outer jump wins.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/machine/machine_own.h"

static uint32_t leaves_in(const Syntax *block) {
  uint32_t n = 0;
  Nodes line = lines_of_block(block);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind != N_MODE) continue;
    uint32_t inner = leaves_in(mode_block(line.at[i]));
    n += inner ? inner : 1;
  }
  return n;
}

// -- declarations ---------------------------------------------------------------------------------
uint64_t mode_bits(const MachineBuilder *m, int mode) {
  if (mode == ANY_MODE) return ~(uint64_t)0;
  const ModeLines *x = &m->modes.at[mode];
  return (x->many >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << x->many) - 1) << x->first;
}

static const char *full_name(const MachineBuilder *m, int mode) {
  const ModeLines *x = &m->modes.at[mode];
  const char *own = name_text(m->w->names, x->name);
  return x->around == ANY_MODE ? own
                               : arena_format(m->w->arena, "%s.%s", full_name(m, x->around), own);
}

const char *mode_words(MachineBuilder *m, int mode) {
  return mode == ANY_MODE ? "" : arena_format(m->w->arena, " in mode `%s`", full_name(m, mode));
}

static int mode_inside(const MachineBuilder *m, int around, Name name) {
  for (uint32_t i = 0; i < m->modes.n; i++)
    if (m->modes.at[i].around == around && m->modes.at[i].name == name) return (int)i;
  return ANY_MODE;
}

// Lists the modes of a block in preorder; `first` counts the leaves.
static void list_modes(MachineBuilder *m, const Syntax *block, int around, uint32_t *first) {
  World *w = m->w;
  Nodes line = lines_of_block(block);
  uint32_t level = around == ANY_MODE ? 1 : m->modes.at[around].level + 1;
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    if (n->kind != N_MODE) continue;
    int other = mode_inside(m, around, n->name);
    if (other != ANY_MODE) {
      Id e = diag_error(w->diags, n->name_span, "there are two modes `%s`",
                        name_text(w->names, n->name));
      diag_note(w->diags, e, m->modes.at[other].node->name_span, "the other one");
    } else {
      name_is_new(m->b, m->env, n->name, n->name_span);
    }
    use_of_name(m->in, n, n->name_span, NAMED_MODE);
    uint32_t inner = leaves_in(mode_block(n));
    bool stops = mode_stops(n);
    ModeLines x = {n->name, around, level, *first, inner ? inner : 1, stops, n, NULL};
    if (stops && inner)
      diag_error(w->diags, n->span, "mode `%s` stops, so there are no modes in it",
                 name_text(w->names, n->name));
    vec_push(w->arena, &m->modes, x);
    int mode = (int)m->modes.n - 1;
    if (stops) m->s->stops |= mode_bits(m, mode);
    if (m->s->shares && (mode_params(n) || mode_result(n)))
      diag_error(w->diags, n->name_span,
                 "`%s` shares its variables, so its modes have no ports of their own",
                 name_text(w->names, m->def->name));
    add_in_ports(m, m->env, mode_params(n), mode_bits(m, mode));
    add_out_ports(m, m->env, mode_result(n), mode_bits(m, mode));
    list_modes(m, mode_block(n), mode, first);
    if (inner) continue;
    vec_push(w->arena, &m->s->mode, name_from(w->names, full_name(m, mode)));
    ++*first;
  }
}

// A mode may not share its name with a part or value: `mode = hot` must be unambiguous.
static void check_mode_names(MachineBuilder *m, const Syntax *block) {
  Nodes line = lines_of_block(block);
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    Nodes lhs = n->kind == N_PART       ? lhss_in(part_lhss(n))
                : n->kind == N_EQUATION ? lhss_in(equation_lhss(n))
                                        : (Nodes){0, NULL};
    for (uint32_t k = 0; k < lhs.n; k++) {
      int other = lhs_is_rate(lhs.at[k]) ? ANY_MODE : mode_inside(m, ANY_MODE, lhs.at[k]->name);
      if (other == ANY_MODE) continue;
      Id e = diag_error(m->w->diags, lhs.at[k]->name_span, "there are two things called `%s` here",
                        name_text(m->w->names, lhs.at[k]->name));
      diag_note(m->w->diags, e, m->modes.at[other].node->name_span, "the other one");
    }
  }
}

bool add_modes(MachineBuilder *m, const Syntax *block) {
  World *w = m->w;
  uint32_t n = 0;
  if (leaves_in(block) > MODES_LIMIT)
    return diag_refuse(w->diags, m->def->span, "a machine has at most %d modes", MODES_LIMIT);
  list_modes(m, block, ANY_MODE, &n);
  if (!n) return true;
  check_mode_names(m, block);
  Ids names = {0};
  for (uint32_t i = 0; i < n; i++) vec_push(w->arena, &names, m->s->mode.at[i]);
  if (!w->label_names.n) vec_push(w->arena, &w->label_names, (Ids){0});
  vec_push(w->arena, &w->label_names, names);
  Type own = {.base = BASE_LABEL, .count = size_of(w, n), .names = w->label_names.n - 1};
  Name mode = name_from(w->names, "mode");
  if (!name_is_new(m->b, m->env, mode, m->modes.at[0].node->span)) return false;
  Val v = new_state(m, mode, own, (Init){.kind = INIT_CONST}, m->def->span);
  m->mode = m->held.at[m->held.n - 1].wire;
  env_bind(m->env, mode,
           (Binding){.kind = BIND_STATE, .value = value_one(m->b, v), .span = m->def->span});
  vec_push(w->arena, &m->s->out,
           (Port){.name = mode, .type = own, .modes = ~(uint64_t)0, .span = m->def->span});
  return true;
}

void make_modes(MachineBuilder *m) {
  for (uint32_t i = 0; i < m->modes.n; i++) {
    ModeLines *x = &m->modes.at[i];
    Env *around = x->around == ANY_MODE ? m->env : m->modes.at[x->around].env;
    x->env = env_new(m->in, around, m->env->scope, m->b);
    if (mode_block(x->node)) make_block(m, x->env, mode_block(x->node), (int)i);
  }
}

Val in_mode(MachineBuilder *m, int mode, Span span) {
  int at = own_state(m, name_from(m->w->names, "mode"));
  const Held *held = &m->held.at[at];
  const ModeLines *x = &m->modes.at[mode];
  Val any = {0};
  for (uint32_t i = 0; i < x->many; i++) {
    Val pair[2] = {val_wire(m->b, held->wire, span),
                   filled_value(m, x->first + i, &held->own, span)};
    Val one = val_fn(m->b, FN_eq, pair, 2, span, NULL);
    any = i ? val_fn(m->b, FN_or, (Val[2]){any, one}, 2, span, NULL) : one;
  }
  return any;
}

// -- jumps ----------------------------------------------------------------------------------------
// Resolves the target of a jump: a mode inside, beside, or beside an enclosing one; `on.hot` is a
// path from one of these.
static int mode_meant(const MachineBuilder *m, int from, Name name) {
  const char *text = name_text(m->w->names, name);
  for (int around = from;; around = m->modes.at[around].around) {
    int found = around;
    for (const char *at = text; *at;) {
      size_t n = strcspn(at, ".");
      found = mode_inside(m, found, name_of(m->w->names, at, n));
      at += n + (at[n] == '.');
      if (found == ANY_MODE) break;
    }
    if (found != ANY_MODE || around == ANY_MODE) return found;
  }
}

static void no_mode(MachineBuilder *m, const Syntax *n) {
  World *w = m->w;
  Nearest near = nearest_to(name_text(w->names, n->name));
  for (uint32_t i = 0; i < m->modes.n; i++) {
    nearest_try(&near, full_name(m, (int)i));
    nearest_try(&near, name_text(w->names, m->modes.at[i].name));
  }
  Id e = diag_error(w->diags, n->name_span, "there is no mode `%s` here", near.text);
  if (!diag_suggest(w->diags, e, near.best) && !m->modes.n)
    diag_help(w->diags, e, "`mode %s { … }` declares one", near.text);
}

void do_jump(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  World *w = m->w;
  int at = own_state(m, name_from(w->names, "mode")), meant = mode_meant(m, mode, n->name);
  if (at < 0 || meant == ANY_MODE) {
    no_mode(m, n);
    return;
  }
  use_of_name(m->in, n, m->modes.at[meant].node->name_span, NAMED_MODE);
  uint32_t k = m->modes.at[meant].first; // the first leaf
  Val to = filled_value(m, k, &m->held.at[at].own, n->span);
  Id value = val_to_wire(m->b, &to, 0);
  SystemEvent e = {.jump = m->s->mode.at[k], .span = n->span};
  e.level = mode == ANY_MODE ? 0 : m->modes.at[mode].level;
  if (m->flows || m->waits) {
    e.guard = guard_wire(m, env, (Condition){.cond = jump_cond(n), .mode = mode});
    add_event(m, e, (uint32_t)at, value, 0);
  }
  if (m->flows) return;
  Id when = condition_wire(m, env, (Condition){.cond = jump_cond(n)});
  if (when)
    add_change(m, (Change){.kind = CHANGE_NEXT,
                           .at = (uint32_t)at,
                           .mode = mode,
                           .value = value,
                           .when = when,
                           .jump = e.jump,
                           .level = e.level,
                           .span = n->span});
}
