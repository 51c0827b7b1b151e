// Systems as elab_system makes them, written by hand: only what a picture reads is filled in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/names.h"
#include "base/source.h"
#include "wiring_help.h"

Type kit_type(Kit *k, Base base, const char *axes) {
  Axis axis[4] = {{0}};
  uint32_t n = 0;
  for (; axes[n] && n < 4; n++) {
    char letter[2] = {axes[n], 0};
    axis[n].label = name_from(k->w->names, letter);
    axis[n].size = size_var(k->w, axis[n].label, VAR_AXIS, (Span){0});
  }
  return type_make(k->w, base, n, axis);
}

// The next word of a list, or NULL
static char *next_word(Kit *k, const char **at) {
  *at += strspn(*at, " ,");
  size_t n = strcspn(*at, " ,");
  char *word = n ? arena_text(k->arena, *at, n) : NULL;
  *at += n;
  return word;
}

// x, B:x (a bit), or x:k (with an axis k)
static Port port_of(Kit *k, char *word) {
  char *colon = strchr(word, ':');
  bool bit = colon && word[0] == 'B' && colon == word + 1;
  const char *name = bit ? word + 2 : word;
  if (colon && !bit) *colon = 0;
  return (Port){.name = name_from(k->w->names, name),
                .type = kit_type(k, bit ? BASE_BIT : BASE_R, colon && !bit ? colon + 1 : ""),
                .modes = UINT64_MAX};
}

System *kit_machine(Kit *k, const char *name, const char *in, const char *out, bool state) {
  System *s = NEW(k->arena, System);
  s->name = name_from(k->w->names, name);
  for (char *word; (word = next_word(k, &in));) vec_push(k->arena, &s->in, port_of(k, word));
  for (char *word; (word = next_word(k, &out));) vec_push(k->arena, &s->out, port_of(k, word));
  if (state) kit_state(k, s, "s", "", false);
  return s;
}

System *kit_wiring(Kit *k, const char *name, const char *in, const char *out) {
  System *s = kit_machine(k, name, in, out, false);
  s->wiring = true;
  return s;
}

void kit_part(Kit *k, System *s, const char *name, System *of) {
  Part part = {.name = name_from(k->w->names, name), .of = of};
  vec_push(k->arena, &s->part, part);
}

void kit_state(Kit *k, System *s, const char *name, const char *axes, bool learns) {
  OwnState own = {.name = name_from(k->w->names, name), .type = kit_type(k, BASE_R, axes)};
  own.learns = learns;
  vec_push(k->arena, &s->own, own);
}

// p.y, or y of the wiring itself; source: what gives, otherwise what takes
static bool find_port(Kit *k, const System *s, const char *text, bool source, PortEnd *out) {
  const char *dot = strchr(text, '.');
  const System *of = s;
  *out = (PortEnd){0};
  if (dot) {
    Name part = name_of(k->w->names, text, (size_t)(dot - text));
    while (out->part < s->part.n && s->part.at[out->part].name != part) out->part++;
    if (out->part == s->part.n) return false;
    of = s->part.at[out->part++].of, text = dot + 1;
  }
  Name name = name_from(k->w->names, text);
  bool outs = (dot != NULL) == source;
  uint32_t n = outs ? of->out.n : of->in.n;
  const Port *at = outs ? of->out.at : of->in.at;
  for (out->port = 0; out->port < n; out->port++)
    if (at[out->port].name == name) return true;
  return false;
}

void kit_wire(Kit *k, System *s, const char *text) {
  const char *arrow = strstr(text, " -> ");
  WireRoute r = {.plain = true};
  PortEnd from;
  assert_non_null(arrow);
  assert_true(find_port(k, s, arena_text(k->arena, text, (size_t)(arrow - text)), true, &from));
  assert_true(find_port(k, s, arrow + 4, false, &r.to));
  vec_push(k->arena, &r.from, from);
  vec_push(k->arena, &s->route, r);
}

void kit_wires(Kit *k, System *s, const char *text) {
  for (const char *end; *text; text = *end ? end + 2 : end) {
    end = strstr(text, ", ");
    if (!end) end = text + strlen(text);
    kit_wire(k, s, arena_text(k->arena, text, (size_t)(end - text)));
  }
}

const Syntax *kit_expression(Kit *k, const char *text) {
  const char *program = arena_format(k->arena, "box f = %s\n", text);
  uint32_t file = source_add(k->w->sources, "kit.limn", program, strlen(program));
  Front front = {k->arena, k->w->names, k->w->diags, k->w->sources};
  const Syntax *n = parse(&front, file);
  const Syntax *box = nodes_only(program_declarations(n));
  assert_true(box && box->kind == N_BOX);
  return box_body(box);
}

const Syntax *kit_guard(Kit *k, const char *text) {
  return when_cond(kit_expression(k, arena_format(k->arena, "1 when %s else 0", text)));
}

static void add_names(Kit *k, const System *s, const Syntax *n, WireRoute *r) {
  PortEnd end;
  const char *name;
  if (!n) return;
  if (n->kind == N_DOT) {
    const Syntax *base = dot_base(n);
    while (base->kind == N_AT) base = at_base(base);
    name = arena_format(k->arena, "%s.%s", name_text(k->w->names, base->name),
                        name_text(k->w->names, n->name));
    assert_true(find_port(k, s, name, true, &end));
    vec_push(k->arena, &r->from, end);
    return;
  }
  if (n->kind == N_NAME) {
    name = name_text(k->w->names, n->name);
    for (uint32_t i = 0; i < s->own.n; i++)
      if (s->own.at[i].name == n->name) vec_push(k->arena, &r->states, i);
    if (find_port(k, s, name, true, &end)) vec_push(k->arena, &r->from, end);
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) add_names(k, s, syntax_parts(n).at[i], r);
}

WireRoute *kit_route(Kit *k, System *s, const char *expression, const char *to) {
  WireRoute r = {.value = kit_expression(k, expression)};
  assert_true(find_port(k, s, to, false, &r.to));
  add_names(k, s, r.value, &r);
  vec_push(k->arena, &s->route, r);
  return &s->route.at[s->route.n - 1];
}

System *kit_share(Kit *k, const char *name, const char *ports) {
  System *s = kit_machine(k, name, ports, ports, true);
  s->shares = true;
  return s;
}

void kit_junction(Kit *k, System *s, const char *name, const char *members, bool outer) {
  Junction j = {.name = name_from(k->w->names, name), .outer = outer};
  for (char *word; (word = next_word(k, &members));) {
    PortEnd end;
    assert_true(find_port(k, s, word, false, &end));
    vec_push(k->arena, &j.member, (JunctionMember){.end = end});
  }
  vec_push(k->arena, &s->junction, j);
}

// -- systems --------------------------------------------------------------------------------------
System *kit_nand(Kit *k) { return kit_machine(k, "Nand", "B:a B:b", "B:y", false); }

System *kit_or(Kit *k) {
  System *not = kit_wiring(k, "Not", "B:a", "B:y"), *nand = kit_nand(k);
  System * or = kit_wiring(k, "Or", "B:a B:b", "B:y");
  kit_part(k, not, "n", nand);
  kit_wires(k, not, "a -> n.a, a -> n.b, n.y -> y");
  kit_part(k, or, "p", not ), kit_part(k, or, "q", not ), kit_part(k, or, "r", nand);
  kit_wires(k, or, "a -> p.a, b -> q.a, p.y -> r.a, q.y -> r.b, r.y -> y");
  return or ;
}

System *kit_full_adder(Kit *k) {
  System *s = kit_wiring(k, "FullAdder", "B:a B:b B:c", "B:sum B:carry"), *nand = kit_nand(k);
  for (uint32_t i = 1; i <= 9; i++) kit_part(k, s, arena_format(k->arena, "n%u", i), nand);
  kit_wires(k, s, "a -> n1.a, b -> n1.b, a -> n2.a, n1.y -> n2.b, n1.y -> n3.a, b -> n3.b");
  kit_wires(k, s,
            "n2.y -> n4.a, n3.y -> n4.b, n4.y -> n5.a, c -> n5.b, n4.y -> n6.a, n5.y -> n6.b");
  kit_wires(k, s,
            "n5.y -> n7.a, c -> n7.b, n6.y -> n8.a, n7.y -> n8.b, n5.y -> n9.a, n1.y -> n9.b");
  kit_wires(k, s, "n8.y -> sum, n9.y -> carry");
  return s;
}

System *kit_adder(Kit *k, uint32_t bits) {
  System *full = kit_full_adder(k);
  Buf in = buf_new(k->arena), out = buf_new(k->arena);
  for (uint32_t i = 0; i < bits; i++) buf_printf(&in, "B:a%u B:b%u ", i, i);
  buf_text(&in, "B:c");
  for (uint32_t i = 0; i < bits; i++) buf_printf(&out, "B:s%u ", i);
  buf_text(&out, "B:carry");
  System *s = kit_wiring(k, "Adder", in.at, out.at);
  for (uint32_t i = 0; i < bits; i++) kit_part(k, s, arena_format(k->arena, "f%u", i), full);
  for (uint32_t i = 0; i < bits; i++) {
    kit_wires(
        k, s,
        arena_format(k->arena, "a%u -> f%u.a, b%u -> f%u.b, f%u.sum -> s%u", i, i, i, i, i, i));
    kit_wire(k, s, i ? arena_format(k->arena, "f%u.carry -> f%u.c", i - 1, i) : "c -> f0.c");
  }
  kit_wire(k, s, arena_format(k->arena, "f%u.carry -> carry", bits - 1));
  return s;
}

System *kit_lotka(Kit *k) {
  System *s = kit_wiring(k, "Ecosystem", "rabbits foxes", "rabbits foxes");
  s->shares = true;
  kit_part(k, s, "", kit_share(k, "Growth", "r"));
  kit_part(k, s, "", kit_share(k, "Predation", "r f"));
  kit_part(k, s, "", kit_share(k, "Decline", "f"));
  Junction rabbits = {.name = name_from(k->w->names, "rabbits"), .outer = true};
  Junction foxes = {.name = name_from(k->w->names, "foxes"), .outer = true};
  vec_push(k->arena, &rabbits.member, (JunctionMember){.end = {1, 0}});
  vec_push(k->arena, &rabbits.member, (JunctionMember){.end = {2, 0}});
  vec_push(k->arena, &foxes.member, (JunctionMember){.end = {2, 1}});
  vec_push(k->arena, &foxes.member, (JunctionMember){.end = {3, 0}});
  vec_push(k->arena, &s->junction, rabbits);
  vec_push(k->arena, &s->junction, foxes);
  return s;
}

System *kit_house(Kit *k) {
  System *heater = kit_machine(k, "Heater", "out", "T fire", false);
  kit_state(k, heater, "T", "", false);
  vec_push(k->arena, &heater->mode, name_from(k->w->names, "burning"));
  vec_push(k->arena, &heater->mode, name_from(k->w->names, "idle"));
  heater->out.at[1].modes = 1;
  System *meter = kit_machine(k, "Meter", "fire", "used", true);
  System *s = kit_wiring(k, "House", "outside", "T used");
  kit_part(k, s, "heater", heater), kit_part(k, s, "meter", meter);
  kit_wires(k, s, "outside -> heater.out, heater.T -> T, meter.used -> used");
  kit_wire(k, s, "heater.fire -> meter.fire");
  s->route.at[s->route.n - 1].guard = kit_guard(k, "heater.is = burning");
  return s;
}

static void guard_by_link(Kit *k, System *s, const char *text) {
  WireRoute *r = &s->route.at[s->route.n - 1];
  r->guard = kit_guard(k, text);
  vec_push(k->arena, &r->asked, 0);
}

System *kit_handover(Kit *k) {
  System *phone = kit_machine(k, "Phone", "speed", "sig far", true);
  System *tower = kit_machine(k, "Tower", "sig", "served", true);
  System *s = kit_wiring(k, "Cell", "speed", "served link");
  kit_state(k, s, "link", "", false);
  kit_part(k, s, "p", phone), kit_part(k, s, "a", tower), kit_part(k, s, "b", tower);
  kit_wire(k, s, "speed -> p.speed");
  kit_wire(k, s, "p.sig -> a.sig");
  guard_by_link(k, s, "link = A");
  kit_wire(k, s, "p.sig -> b.sig");
  guard_by_link(k, s, "link = B");
  kit_wire(k, s, "a.served -> served");
  guard_by_link(k, s, "link = A");
  kit_wire(k, s, "b.served -> served");
  guard_by_link(k, s, "link = B");
  kit_route(k, s, "link", "link");
  return s;
}

System *kit_team(Kit *k) {
  System *worker = kit_machine(k, "Worker", "see hear:k truth", "say guess", false);
  kit_state(k, worker, "w", "k", true);
  System *s = kit_wiring(k, "Team", "see:k truth", "guess");
  Part part = {.name = name_from(k->w->names, "worker"), .of = worker, .axes = 1};
  part.axis[0].size = size_of(k->w, 3);
  vec_push(k->arena, &s->part, part);
  kit_state(k, s, "g", "kk", true), kit_state(k, s, "mu", "k", true);
  kit_route(k, s, "see[i]", "worker.see");
  kit_route(k, s, "g[i j] * worker[j].say when i != j else 0", "worker.hear");
  kit_wire(k, s, "truth -> worker.truth");
  kit_route(k, s, "mu[i] worker[i].guess", "guess");
  return s;
}

System *kit_fibonacci(Kit *k) {
  System *plus = kit_machine(k, "Plus", "a b", "y", false);
  System *late = kit_machine(k, "Delay", "x", "y", true);
  System *s = kit_wiring(k, "Fibonacci", "", "y");
  kit_part(k, s, "plus", plus), kit_part(k, s, "one", late), kit_part(k, s, "two", late);
  kit_wires(k, s, "plus.y -> one.x, one.y -> two.x, one.y -> plus.a, two.y -> plus.b, plus.y -> y");
  return s;
}

// Layers of neurons, each tied to all of the layer before; peers: those of a layer hear each other
System *kit_network(Kit *k, uint32_t inputs, const uint32_t *layer, uint32_t n, bool peers) {
  System *neuron = kit_machine(k, "Neuron", peers ? "x:n dy hear" : "x:n dy",
                               peers ? "y dx:n say" : "y dx:n", true);
  Buf in = buf_new(k->arena), out = buf_new(k->arena);
  for (uint32_t i = 1; i <= inputs; i++) buf_printf(&in, "x%u ", i), buf_printf(&out, "dx%u ", i);
  System *s = kit_wiring(k, "Net", arena_format(k->arena, "%s dy", in.at),
                         arena_format(k->arena, "y %s", out.at));
  static const char letter[] = "hijkl";
  for (uint32_t l = 0; l < n; l++)
    for (uint32_t i = 1; i <= layer[l]; i++)
      kit_part(k, s, arena_format(k->arena, "%c%u", letter[l], i), neuron);
  uint32_t first = 0, before = 0;
  for (uint32_t l = 0; l < n; l++, before = first, first += layer[l - 1])
    for (uint32_t i = 0; i < layer[l]; i++) {
      WireRoute forth = {.to = {first + i + 1, 0}}, back;
      for (uint32_t j = 0; j < (l ? layer[l - 1] : inputs); j++)
        vec_push(k->arena, &forth.from, l ? (PortEnd){before + j + 1, 0} : (PortEnd){0, j});
      vec_push(k->arena, &s->route, forth);
      back = (WireRoute){.to = {first + i + 1, 1}};
      for (uint32_t j = 0; l + 1 < n && j < layer[l + 1]; j++)
        vec_push(k->arena, &back.from, (PortEnd){first + layer[l] + j + 1, 1});
      if (l + 1 == n) vec_push(k->arena, &back.from, (PortEnd){0, inputs});
      vec_push(k->arena, &s->route, back);
      WireRoute hear = {.to = {first + i + 1, 2}};
      for (uint32_t j = 0; peers && j < layer[l]; j++)
        if (j + 1 == i || j == i + 1) vec_push(k->arena, &hear.from, (PortEnd){first + j + 1, 2});
      if (hear.from.n) vec_push(k->arena, &s->route, hear);
      if (l + 1 < n) continue;
      WireRoute shown = {.to = {0, 0}, .plain = true};
      vec_push(k->arena, &shown.from, (PortEnd){first + i + 1, 0});
      vec_push(k->arena, &s->route, shown);
    }
  return s;
}
