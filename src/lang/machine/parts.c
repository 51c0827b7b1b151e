// Wirings: parts, and their ports as seen by the lens.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/machine/machine_own.h"

#include <math.h>

Name dotted_name(World *w, Name part, Name port) {
  return name_from(w->names, arena_format(w->arena, "%s.%s", name_text(w->names, part),
                                          name_text(w->names, port)));
}

// -- parts ----------------------------------------------------------------------------------------
// p : Name, p : Name[8], or p : gate, where the option `gate` stands for one of these.
Called machine_called(MachineBuilder *m, const Syntax *n) {
  Called c = {.env = m->env};
  Binding *bind = NULL;
  for (;;) {
    c.config = use_brackets(n);
    const Syntax *name = use_base(n);
    bind = name->kind == N_NAME ? env_meaning(c.env, name) : NULL;
    if (!bind || bind->kind != BIND_OPTION || !bind->box.node || c.config) {
      n = name;
      break;
    }
    n = bind->box.node;
    c.env = bind->box.env;
  }
  Def *d = n->kind == N_NAME && !bind ? scope_meaning(c.env->scope, n) : NULL;
  if (d && (d->kind == DEF_MACHINE || d->kind == DEF_BOX || d->kind == DEF_LEARNER)) {
    c.def = d;
  } else if (bind && bind->kind == BIND_OPTION && bind->open) {
    Id e =
        diag_error(m->w->diags, n->span, "option `%s` has no default, so its machine is not known",
                   name_text(m->w->names, n->name));
    diag_help(m->w->diags, e, "an option that is a part has a default: `%s: Name`",
              name_text(m->w->names, n->name));
  } else if (n->kind == N_NAME && !d && !bind) {
    unknown_name(m->b, c.env, n, "machine");
  } else {
    diag_error(m->w->diags, n->span, "a part is a machine, a box or a learner: `p : Name`");
  }
  return c;
}

// The type of a port as seen by the lens, with the axes of the array in front.
Type seen_type(MachineBuilder *m, const Part *p, const Type *own) {
  Axis axis[RANK_LIMIT * 2];
  uint32_t n = 0;
  for (; n < p->axes; n++) axis[n] = p->axis[n];
  for (uint32_t i = 0; i < own->rank; i++, n++) {
    axis[n] = own->axis[i];
    for (uint32_t k = 0; k < p->axes; k++)
      if (axis[n].label == p->axis[k].label) axis[n].label = 0;
  }
  return type_like(m->w, own, n, axis);
}

// Its output ports are inputs of the lens.
static void show_part(MachineBuilder *m, const Part *p) {
  World *w = m->w;
  for (uint32_t i = 0; i < p->of->out.n; i++) {
    Type own = seen_type(m, p, &p->of->out.at[i].type), full = full_type(m, &own);
    Name name = dotted_name(w, p->name, p->of->out.at[i].name);
    Id wire = diagram_input(w, m->b->d, full, name, origin_at(m->b, p->span));
    bind_port(m, name, wire, p->span);
  }
}

static bool array_axes(MachineBuilder *m, const Syntax *brackets, Part *to) {
  Nodes item = brackets_items(brackets);
  if (!item.n || item.n > PART_AXES)
    return diag_refuse(m->w->diags, brackets->span,
                       "an array of parts has 1 to %d sizes: `p[n] : Name`, `p[n m] : Name`",
                       PART_AXES);
  for (uint32_t i = 0; i < item.n; i++) {
    Axis *axis = &to->axis[i];
    int64_t n;
    bool index = item.at[i]->kind == N_SIZED; // p[i:3]
    const Syntax *size = index ? sized_value(item.at[i]) : item.at[i];
    *axis = (Axis){.size = size_eval(m->b, m->env, size, false)};
    if (!axis->size) return false;
    if (size_value(m->w, axis->size, &n) && n < 1)
      return diag_refuse(m->w->diags, item.at[i]->span,
                         "an array of parts has at least one member, not %lld", (long long)n);
    if (index || size->kind == N_NAME) axis->label = item.at[i]->name;
  }
  to->axes = item.n;
  return true;
}

System *part_system(MachineBuilder *m, const Called *c, const Part *array, PartLife life,
                    Span span) {
  Axis pass[RANK_LIMIT];
  uint32_t n = m->npass;
  memcpy(pass, m->pass, sizeof pass);
  if (!rank_fits(m->w, (uint64_t)n + array->axes, span)) return NULL;
  for (uint32_t i = 0; i < array->axes; i++, n++) {
    pass[n] = array->axis[i];
    pass[n].pass = FIRST_PASS + n;
  }
  MachineTime time = array->sampled ? TIME_TICKS : m->time;
  MachineUse use = {c->def, c->env, c->config, pass, n, m->b->generic, life, span, time};
  return system_of(m->in, &use);
}

void add_part(MachineBuilder *m, Part part) {
  World *w = m->w;
  Id other = table_get(m->parts, &part.name, sizeof part.name);
  if (other) {
    Id e =
        diag_error(w->diags, part.span, "there are two parts `%s`", name_text(w->names, part.name));
    if (other <= m->s->part.n)
      diag_note(w->diags, e, m->s->part.at[other - 1].span, "the other one");
    return;
  }
  m->flat += part.of->d->wire.n;
  if (m->flat > FLAT_LIMIT) return; // reported later; make no more
  vec_push(w->arena, &m->s->part, part);
  table_put(m->parts, &part.name, sizeof part.name, m->s->part.n);
  show_part(m, &m->s->part.at[m->s->part.n - 1]);
  for (uint32_t i = 0; i < part.of->in.n; i++) {
    LineTarget t = {
        .name = dotted_name(w, part.name, part.of->in.at[i].name), .part = m->s->part.n, .port = i};
    vec_push(w->arena, &m->target, t);
    table_put(m->targets, &t.name, sizeof t.name, m->target.n);
  }
}

static void named_parts(MachineBuilder *m, const Syntax *n) {
  Called c = machine_called(m, part_machine(n));
  Def *d = c.def;
  for (uint32_t i = 0; i < lhss_in(part_lhss(n)).n; i++) {
    const Syntax *lhs = lhss_in(part_lhss(n)).at[i];
    Part part = {.name = lhs->name, .span = lhs->name_span};
    use_of_name(m->in, lhs, lhs->name_span, NAMED_PART);
    read_period(m, n, &part);
    bool good = name_is_new(m->b, m->env, part.name, part.span);
    good = good && d && (!lhs_brackets(lhs) || array_axes(m, lhs_brackets(lhs), &part));
    if (good) part.of = part_system(m, &c, &part, part_life(m, n), part_machine(n)->span);
    if (part.of && part.of->shares) {
      Id e = diag_error(m->w->diags, part_machine(n)->span, "`%s` shares its variables",
                        name_text(m->w->names, d->name));
      diag_help(m->w->diags, e, "say which: `%s(x)`", name_text(m->w->names, d->name));
      part.of = NULL;
    }
    if (part.of && period_fits(m, &part)) {
      add_part(m, part);
      continue;
    }
    table_put(m->parts, &part.name, sizeof part.name, UINT32_MAX);
    m->open_loops |= d && d->open_loops;
    m->broken = true;
  }
}

// False: too many.
bool make_parts(MachineBuilder *m, const Syntax *block) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n && m->flat <= FLAT_LIMIT; i++) {
    if (line.at[i]->kind == N_PART) named_parts(m, line.at[i]);
    if (line.at[i]->kind == N_CALL) sharing_part(m, line.at[i]);
  }
  return flat_fits(m, m->flat);
}
