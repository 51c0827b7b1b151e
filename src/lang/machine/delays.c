// The box `delay`: an earlier value, some time or some ticks ago.
//
// Its unit depends on the machine around it: time if that has rates, ticks if it steps. A machine
// with neither inherits the time of the wiring it is used in; until that is known its delays are
// open, and the machine is elaborated again when it is.
#include "base/diag.h"
#include "base/names.h"
#include "lang/machine/machine_own.h"

#include <math.h>

enum { TICKS_LATE = 1000 };

// Continuous time: the delayed value is an input of the system, and the simulator keeps the
// history, which before the start is the initial value.
static Val late_value(MachineBuilder *m, Val v, const Type *own, double time, Span span) {
  World *w = m->w;
  Id wire = fit_value(m, v, own, span, "a delayed value");
  const char *path = arena_format(w->arena, "lag.%u", ++m->lags);
  Param p = {.path = path, .role = ROLE_CLOCK, .init = {.kind = INIT_CONST}};
  uint32_t k = diagram_param(w, m->b->d, p, full_type(m, own), name_from(w->names, path),
                             origin_at(m->b, span));
  sync_sites(m->b);
  vec_push(w->arena, &m->s->lag,
           (SystemLag){.param = k, .value = wire, .time = time, .span = span});
  return val_wire(m->b, m->b->d->param.at[k].wire, span);
}

// Discrete time: a shift register of states.
static Val ticks_late(MachineBuilder *m, Val v, const Type *own, uint32_t ticks, Span span) {
  World *w = m->w;
  Id before = fit_value(m, v, own, span, "a delayed value");
  for (uint32_t i = 0; i < ticks; i++) {
    Name name = name_from(w->names, arena_format(w->arena, "delay.%u", ++m->lags));
    new_state(m, name, *own, (Init){.kind = INIT_CONST}, span);
    m->s->own.at[m->s->own.n - 1].late = true;
    add_change_always(m, CHANGE_NEXT, m->s->own.n - 1, before, span);
    before = m->held.at[m->held.n - 1].wire;
  }
  return val_wire(m->b, before, span);
}

static Value refuse_length(Body *b, Span span, MachineTime time, bool timeless) {
  Id e = diag_error(b->w->diags, span,
                    time == TIME_TICKS ? "a delay is a number of ticks, 1 to 1000: `delay[2](x)`"
                                       : "a delay is a number above 0: `delay[1.5](x)`");
  if (time == TIME_TICKS && timeless)
    diag_help(b->w->diags, e, "it has the time of what it is wired into, and nothing flows there");
  return value_error(b, span);
}

static Value delay_value(const BuiltinUse *u) {
  Body *b = u->b;
  Span span = u->span;
  MachineBuilder *m = b->maker;
  double by = 1;
  if (!m) {
    Id e = diag_error(b->w->diags, span, "`delay` is for machines: a box has no time");
    diag_help(b->w->diags, e, "a `machine` that is a part has it, or the line that calls the box");
    return value_error(b, span);
  }
  MachineTime time = m->flows ? TIME_FLOWS : m->waits ? m->time : TIME_TICKS;
  const Syntax *option = brackets_first(u->config);
  bool known = !option || static_number(b, u->env, option, &by);
  if (!known && uses_broken(u->env, option)) return value_error(b, span); // reported already
  bool ticks = by == floor(by) && by <= TICKS_LATE;
  if (u->args.n != 1 || !known || !(by > 0) || (time == TIME_TICKS && !ticks))
    return refuse_length(b, span, time, m->waits);
  Val v = u->args.at[0];
  if (v.error) return value_error(b, span);
  if (v.literal) return u->args;
  val_settle(b, &v);
  Type own = own_type(b->w, &v.type);
  if (time == TIME_FLOWS && (m->life.mortal || m->stopped))
    return value_refuse(
        b, span, span,
        "a delay goes on when `%s` does not: where time flows, what stops or dies has "
        "none",
        name_text(b->w->names, m->def->name));
  if (time == TIME_FLOWS && own.base != BASE_R)
    return value_refuse(b, span, span, "where time flows, only numbers can be delayed");
  m->s->timeless |= m->waits;
  m->s->flows |= time == TIME_FLOWS;
  return value_one(b, time == TIME_TICKS ? ticks_late(m, v, &own, (uint32_t)by, span)
                                         : late_value(m, v, &own, by, span));
}

static const BuiltinBox boxes[] = {{"delay", delay_value, false, 0, false},
                                   {"white", white_value, false, 0, false}};

void machine_builtins(Elab *in) { builtins_add(in, boxes, COUNT(boxes)); }
