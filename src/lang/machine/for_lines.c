// `for` in machines and wirings: the loop is unrolled first, substituting the loop variable.
//
//   for i in 0..2 { p[i] : Stage[i] }     is     p[0] : Stage[0], p[1] : Stage[1], p[2] : Stage[2]
//
// Parts and lines made so have the number in their names, `p[2]`. They are read like members of an
// array of parts, but each may be of another kind.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

#include <math.h>

enum { FOR_LIMIT = 100000 }; // lines after unrolling

typedef VEC(Syntax *) ForLines;

// -- numbers --------------------------------------------------------------------------------------
// Folds 2+1 to 3, so that indices are literals.
static Syntax *fold_number(World *w, Syntax *n) {
  double sum = 0;
  if (n->kind == N_PAREN && paren_inner(n)->kind == N_NUM) return paren_inner(n);
  if (n->kind == N_NEG && neg_operand(n)->kind == N_NUM)
    return syntax_number(w->arena, -neg_operand(n)->num, n->span);
  if (n->kind != N_SUM && n->kind != N_PROD) return n;
  Nodes term = chain_terms(n);
  for (uint32_t i = 0; i < term.n; i++) {
    SyntaxSign sign = i ? chain_sign(n, i) : SIGN_PLUS;
    if (term.at[i]->kind != N_NUM) return n;
    if (n->kind == N_PROD && i && sign != SIGN_TIMES) return n;
    double k = term.at[i]->num;
    sum = !i ? k : n->kind == N_PROD ? sum * k : sign == SIGN_MINUS ? sum - k : sum + k;
  }
  return syntax_number(w->arena, sum, n->span);
}

typedef struct {
  World *w;
  Name name;
  double k;
} LoopNumber;

static Syntax *with_number(void *context, const Syntax *n) {
  const LoopNumber *c = context;
  if (n->kind == N_NAME && n->name == c->name) return syntax_number(c->w->arena, c->k, n->span);
  if (n->kind == N_FOR && n->name == c->name) return (Syntax *)n; // shadowed by an inner loop
  return fold_number(c->w, syntax_map(c->w->arena, n, with_number, context));
}

Syntax *with_loop_number(World *w, const Syntax *n, Name name, double k) {
  return with_number(&(LoopNumber){w, name, k}, n);
}

static bool is_named(void *name, const Syntax *n) {
  return n->kind == N_NAME && n->name == *(Name *)name;
}

// -- names of members -----------------------------------------------------------------------------
Name member_name(MachineBuilder *m, Name base, const Syntax *brackets) {
  World *w = m->w;
  Nodes item = brackets_items(brackets);
  Buf b = buf_new(w->arena);
  buf_printf(&b, "%s[", name_text(w->names, base));
  for (uint32_t i = 0; i < item.n; i++) {
    double k;
    if (item.at[i]->kind == N_NUM)
      k = item.at[i]->num;
    else if (!static_number(m->b, m->env, item.at[i], &k))
      return 0;
    buf_printf(&b, "%s%.17g", i ? " " : "", k);
  }
  buf_text(&b, "]");
  return item.n ? name_from(w->names, b.at) : 0;
}

// Puts the number into the names on the left side of a line. y[i], where y is a port or a state,
// stays an element of it.
static Syntax *named_members(MachineBuilder *m, Name loop, const Syntax *lhss, Syntax *copy) {
  World *w = m->w;
  Nodes was = lhss_in(lhss), lhs = lhss_in(copy);
  Syntax **now = NEW_ARRAY(w->arena, Syntax *, lhs.n + 1);
  for (uint32_t i = 0; i < lhs.n; i++) {
    now[i] = lhs.at[i];
    bool own = port_named(m->s->out.at, m->s->out.n, lhs.at[i]->name) >= 0 ||
               own_state(m, lhs.at[i]->name) >= 0 || lhs_is_rate(lhs.at[i]);
    if (own || !syntax_any(lhs_brackets(was.at[i]), is_named, &loop)) continue;
    Name name = member_name(m, lhs.at[i]->name, lhs_brackets(lhs.at[i]));
    if (!name) {
      Id e = diag_error(w->diags, lhs.at[i]->span, "a `for` makes one `%s` for each number",
                        name_text(w->names, lhs.at[i]->name));
      diag_help(w->diags, e, "its brackets have numbers only, as in `%s[%s]`",
                name_text(w->names, lhs.at[i]->name), name_text(w->names, loop));
      continue;
    }
    now[i] = syntax_named(node_lhs(w->arena, lhs.at[i]->span, (LhsParts){0}), name,
                          lhs.at[i]->name_span);
    table_put(m->members, &name, sizeof name, 1);
  }
  return node_lhss(w->arena, copy->span, (LhssParts){{lhs.n, now}});
}

// -- unrolling ------------------------------------------------------------------------------------
static Syntax *copy_of_line(MachineBuilder *m, const Syntax *n, const LoopNumber *number) {
  World *w = m->w;
  Syntax *copy = with_number((void *)number, n);
  if (n->kind == N_PART) {
    Syntax *lhss = named_members(m, number->name, part_lhss(n), part_lhss(copy));
    copy = syntax_copy(w->arena, copy);
    part_set_lhss(copy, lhss);
    return copy;
  }
  if (n->kind != N_EQUATION) return copy;
  Syntax *lhss = named_members(m, number->name, equation_lhss(n), equation_lhss(copy));
  return node_equation(w->arena, n->span,
                       (EquationParts){.lhss = lhss,
                                       .value = equation_value(copy),
                                       .pad = equation_pad(copy),
                                       .cond = equation_cond(copy)});
}

static bool may_be_copied(MachineBuilder *m, const Syntax *n) {
  static const SyntaxKind not_so[] = {N_MODE, N_STATES, N_CONSTS, N_AXES, N_LEARN};
  for (uint32_t i = 0; i < COUNT(not_so); i++)
    if ((SyntaxKind)n->kind == not_so[i])
      return diag_refuse(m->w->diags, n->span,
                         "a `for` in a machine copies parts, wires, equations and calls of shares");
  return true;
}

static void copy_lines(MachineBuilder *, Nodes, ForLines *);

static void copy_loop(MachineBuilder *m, const Syntax *n, ForLines *out) {
  LoopNumbers numbers = {0};
  Nodes line = block_statements(for_body(n));
  uint32_t errors = m->w->diags->met;
  for (uint32_t i = 0; i < line.n; i++)
    if (!may_be_copied(m, line.at[i])) return;
  if (!loop_numbers(m->b, m->env, for_range(n), &numbers)) {
    m->open_loops |= m->w->diags->met == errors;
    return;
  }
  for (uint32_t t = 0; t < numbers.n && out->n <= FOR_LIMIT; t++) {
    int64_t k = numbers.at[for_is_down(n) ? numbers.n - 1 - t : t];
    LoopNumber number = {m->w, n->name, (double)k};
    for (uint32_t i = 0; i < line.n; i++) {
      Syntax *copy = line.at[i]->kind == N_FOR ? with_number(&number, line.at[i])
                                               : copy_of_line(m, line.at[i], &number);
      copy_lines(m, NODES(copy), out);
    }
  }
  if (out->n > FOR_LIMIT && m->w->diags->met == errors)
    diag_error(m->w->diags, n->span, "written out, this is more than %d lines", FOR_LIMIT);
}

static Syntax *block_of(MachineBuilder *, const Syntax *block);

static void copy_lines(MachineBuilder *m, Nodes line, ForLines *out) {
  for (uint32_t i = 0; i < line.n; i++) {
    Syntax *n = line.at[i];
    if (n->kind == N_FOR) {
      copy_loop(m, n, out);
      continue;
    }
    if (n->kind == N_MODE && mode_block(n)->kind == N_BLOCK) {
      Syntax *block = block_of(m, mode_block(n));
      n = syntax_copy(m->w->arena, n);
      mode_set_block(n, block);
    }
    vec_push(m->w->arena, out, n);
  }
}

static Syntax *block_of(MachineBuilder *m, const Syntax *block) {
  ForLines all = {0};
  copy_lines(m, block_statements(block), &all);
  return node_block(m->w->arena, block->span, (BlockParts){{all.n, all.at}});
}

// Replaces t[2] by the name `t[2]` if a `for` has made it.
static Syntax *with_members(void *context, const Syntax *n) {
  MachineBuilder *m = context;
  if (n->kind == N_AT && at_base(n)->kind == N_NAME) {
    Name name = member_name(m, at_base(n)->name, at_brackets(n));
    if (name && table_get(m->members, &name, sizeof name))
      return syntax_name(m->w->arena, name, n->span);
  }
  return syntax_map(m->w->arena, n, with_members, m);
}

static bool is_for(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_FOR;
}

bool write_out_loops(MachineBuilder *m) {
  if (!syntax_any(m->h.body, is_for, NULL)) return true;
  uint32_t errors = m->w->diags->met;
  Syntax *block = block_of(m, m->h.body);
  m->h.body = m->members ? with_members(m, block) : block;
  return m->w->diags->met == errors && !m->open_loops;
}
