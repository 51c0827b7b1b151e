#!/usr/bin/env python3
"""Programs meant to hurt, written into a folder: make.py FOLDER

A function's name is the file's; what it returns is the text. Each must get an answer within a second."""
import os
import sys

MANY = 100_000
ALL = []


def program(f):
    ALL.append(f)
    return f


def lines(n, line):
    return "".join(line(i) for i in range(n))


# -- sizes
@program
def axis_2_40():
    return "axis a = 1099511627776\nbox f(x: R[a]) -> R[a] = x + 1\n"


@program
def product_overflow():
    return "axis a = 9000000000000000000\nbox f(x: R[a a]) -> R[(a a)] { return y[(i j)] = x[i j] }\nbox g(x: R[a]) -> R[a*a*a] = x\n"


@program
def huge_weight():
    return "learn W : R[4000000000 4000000000 4000000000]\nbox f(x: R[3]) -> R[3] = dense[9000000000000000000](x)\n"


@program
def huge_numbers():
    return "axis a = 99999999999999999999999999\naxis b = 1e300\naxis c = 2^63\naxis d = 2^64\naxis e = 2^-3\naxis f = 0-9223372036854775807-9\nconst k = 1e400\naxis g = k\nbox h[n: 1e300](x: R[n]) -> R[n] = x ^ 1e300\n"


@program
def power_tower():
    return "axis a = 2^2^2^2^2^2^2\naxis n\naxis b = (n+1)^64\naxis c = (n+b+1)^64^64\nbox f(x: R[n]) -> R[(n+1)^100000000] = x\n"


@program
def polynomial_terms():
    names = [f"n{i}" for i in range(40)]
    return "axis " + ", ".join(names) + "\nbox f(x: R[" + " ".join(names[:20]) + "]) -> R[(" + "+".join(names) + ")^64] = x\n"


@program
def nested_quotients():
    return "axis n\naxis q0 = n\n" + lines(60, lambda i: f"axis q{i+1} = q{i} // (q{i} + 1)\n") + "box f(x: R[q60]) -> R[q60] = x + 1\nbox g(x: R[3]) -> R[3] = f(x)\n"


@program
def constants_doubling():
    return "const c0 = 1\n" + lines(64, lambda i: f"const c{i+1} = c{i} + c{i}\n") + "axis a = c64 / c64\nbox f(x: R[a]) -> R[a] = x * c64\n"


@program
def spaces_doubling():
    return "space S0 = R[3]\n" + lines(64, lambda i: f"space S{i+1} = S{i}, S{i}\n") + "box f(x: S64) -> S64 = x\n"


@program
def label_types():
    return "box f(x: {" + ", ".join(f"l{i}" for i in range(MANY)) + "}) -> R[] = 1\n" + lines(1000, lambda i: f"box g{i}(x: {{a{i}, b{i}}}) -> R[] = 1\n")


# -- many
@program
def million_lines():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n" + lines(1_000_000, lambda i: "  y = y + 1\n") + "  return y\n}\n"


@program
def many_lines():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n" + lines(MANY, lambda i: "  y = y + 1\n") + "  return y\n}\n"


@program
def long_sum():
    return "box f(x: R[3]) -> R[3] = x" + " + x" * 200_000 + "\n"


@program
def many_boxes():
    return lines(MANY, lambda i: f"box b{i}(x: R[n]) -> R[n] = x + {i}\n")


@program
def many_learners():
    return "axis n = 3\n" + lines(20_000, lambda i: f"learn l{i} : R[n] -> R[n] = dense[n]\n")


@program
def many_goals():
    return "given x, y from mnist\nlearn f : R[28 28] -> R[10] = flatten ; linear[10]\n" + lines(2000, lambda i: "goal f(x) ~ y by cross_entropy\n")


@program
def many_errors():
    return lines(MANY, lambda i: f"box b{i}(x: R[n]) -> R[n] = nothing{i}(x)\n")


@program
def many_errors_in_one():
    return "box f(x: R[3]) -> R[3] {\n" + lines(MANY, lambda i: f"  x{i} = missing{i}(x)\n") + "  return x\n}\n"


@program
def many_errors_of_syntax():
    return lines(MANY, lambda i: "box ) = = (\n")


@program
def declared_twice():
    return lines(MANY, lambda i: "axis a = 3\n")


@program
def million_parameters():
    return "box f(" + ", ".join(f"x{i}: R[3]" for i in range(MANY)) + ") -> R[3] = x0\n"


@program
def many_options():
    return "box f[" + ", ".join(f"o{i}: 1" for i in range(500)) + "](x: R[3]) -> R[3] = x\nbox g(x: R[3]) -> R[3] = f[" + ", ".join("2" for i in range(500)) + "](x)\n"


@program
def many_axes():
    return "box f(x: R[" + "2 " * MANY + "]) -> R[2] = x\nbox g(x: R[" + " ".join(f"...s{i}" for i in range(200)) + "]) -> R[3] = x\nbox h(x: R[3]) -> R[3] = g(x)\n"


@program
def ranks_growing():
    return "box f(x: R[...s]) -> R[2 ...s] { return y[i:2 ...s] = x[...s] }\nbox g(x: R[2]) -> R[2] = f ^ 100 (x)\nbox h(x: R[2]) = (f ^ 100)(x)\n"


# -- long
@program
def megabyte_name():
    return f"box {'n' * 1_000_000}(x: R[3]) -> R[3] = x + {'m' * 1_000_000}\n"


@program
def ten_megabyte_line():
    return "box f(x: R[3]) -> R[3] = x" + " + x" * 2_500_000 + "\n"


@program
def ten_megabyte_comment():
    return "#" + "c" * 10_000_000 + "\nbox f(x: R[3]) -> R[3] = y\n"


@program
def ten_megabyte_string():
    return 'use "' + "s" * 10_000_000 + '"\n'


@program
def errors_on_a_long_line():
    return "box f(x: R[3]) -> R[3] = x" + "".join(f" + y{i}" for i in range(MANY)) + "\n"


@program
def zero_bytes():
    return "\0" * 1_000_000


@program
def bad_utf8():
    return b"box f\xff\xfe(x: R[3]) -> R[3] = \xc3\x28 x\n" * 10_000


@program
def product_of_many():
    return "box f(x: R[n]) -> R[] = " + " ".join("x[i]" for _ in range(3000)) + "\n"


@program
def many_indices():
    return "box f(x: R[3]) -> R[3] { return y[i] = " + " ".join(f"x[{chr(97 + i % 26)}{i}]" for i in range(300)) + " }\n"


# -- deep
def nested(open_, inner, close, n=MANY):
    return open_ * n + inner + close * n


@program
def deep_parentheses():
    return "box f(x: R[3]) -> R[3] = " + nested("(", "x", ")") + "\n"


@program
def deep_brackets():
    return "box f(x: R[3]) -> R[3] = " + nested("x[", "0", "]") + "\nconst k = " + nested("[", "1", "]") + "\n"


@program
def deep_blocks():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n" + nested("for l in 1..1 {\n", "y = y + 1\n", "}\n") + "return y\n}\n"


@program
def deep_calls():
    return "box f(x: R[3]) -> R[3] = " + nested("f(", "x", ")") + "\n"


@program
def deep_not():
    return "box f(x: R[3]) -> R[3] = " + "not " * MANY + "x\nbox g(x: R[3]) -> R[3] = " + "-" * MANY + "x\n"


@program
def deep_when():
    return "box f(x: R[3]) -> R[3] = " + "x when x > 0 else " * MANY + "x\n"


@program
def deep_power():
    return "axis a = " + "2^" * MANY + "1\n"


@program
def deep_types():
    return "space S = " + nested("(", "R[3]", ")") + "\nbox f(x: R[" + nested("(", "n", ")") + "]) -> R[3] = x\n"


@program
def nested_options():
    return "box f(x: R[3]) -> R[3] = " + nested("residual[", "relu", "]", 190) + "(x)\nbox g(x: R[3]) -> R[3] = " + nested("residual[", "relu", "]") + "(x)\n"


@program
def deep_in_deep():
    return lines(180, lambda i: f"box b{i}(x: R[3]) -> R[3] = " + nested("relu(", f"b{i+1}(x)", ")", 180) + "\n") + "box b180(x: R[3]) -> R[3] = x\n"


@program
def squares():
    return "box f(x: R[3]) -> R[3] = " + nested("(", "x", ")^2", 180) + "\nbox g(x: R[3]) -> R[3] { return y[i] = " + nested("(", "x[i]", ")^2", 180) + " }\n"


@program
def chain_of_boxes():
    return lines(MANY, lambda i: f"box b{i}(x: R[3]) -> R[3] = b{i+1}(x)\n") + f"box b{MANY}(x: R[3]) -> R[3] = x\n"


@program
def chain_of_bare_boxes():
    return lines(MANY, lambda i: f"box b{i} = b{i+1}\n") + f"box b{MANY} = relu\n"


@program
def chain_of_axes():
    return lines(MANY, lambda i: f"axis a{i} = a{i+1} + 1\n") + f"axis a{MANY} = 1\n"


@program
def chain_of_constants():
    return lines(MANY, lambda i: f"const c{i} = c{i+1} + 1\n") + f"const c{MANY} = 1\nbox f(x: R[3]) -> R[3] = x + c0\n"


@program
def starts_doubling():
    return "learn w0 : R[2] = [1, 2]\n" + lines(40, lambda i: f"learn w{i+1} : R[2] = w{i} + w{i}\n")


@program
def points_doubling():  # each start is looked at twice
    return "learn w0 : simplex[2]\n" + lines(40, lambda i: f"learn w{i+1} : simplex[2] = w{i}\n")


@program
def chain_of_spaces():
    return lines(MANY, lambda i: f"space S{i} = S{i+1}\n") + f"space S{MANY} = R[3]\n"


@program
def chain_of_stales():
    return "learn f : R[2] -> R[2] = dense[2]\nstale s0 = f by 0.9\n" + lines(MANY, lambda i: f"stale s{i+1} = s{i} every 3\n")


@program
def ring_of_stales():
    return lines(MANY, lambda i: f"stale s{i} = s{(i+1) % MANY} every 3\n")


@program
def derivatives_of_one_number():
    return "box g0(x: R[]) -> R[] = x * sin(x) * exp(x) / (1 + x * x)\n" + lines(40, lambda i: f"box g{i+1}(x: R[]) -> R[] = rev[g{i}](x, 1)\n")


@program
def derivatives_of_rows():
    return "box g0(x: R[n]) -> R[n] = softmax(x) * x\n" + lines(40, lambda i: f"box g{i+1}(x: R[n]) -> R[n] = rev[g{i}](x, x)\n")


@program
def copies_side_by_side():
    return "box f : R[] -> R[] = " + " & ".join(["relu"] * 100000) + "\n"


@program
def copies_doubling():
    return "box f0 : R[] -> R[] = sin\n" + lines(40, lambda i: f"box f{i+1} = f{i} & f{i}\n")


@program
def glued_to_itself():
    return (
        "space P = R[2] by l2\nlearn f : P -> P = dense[2]\ndiagram d0 {\n  space N = moons\n  space A = R[2] by l2\n  box x : N -> A = moons.x\n"
        "  box y : N -> A = moons.x ; f\n  x <= y\n}\n" + lines(16, lambda i: f"diagram d{i+1} = d{i} + d{i} as o along N\n")
    )


@program
def chain_of_learners():
    return "given x, y from mnist\n" + lines(MANY // 10, lambda i: f"learn l{i} : R[28 28] -> R[10] = l{i+1}\n") + f"learn l{MANY // 10} : R[28 28] -> R[10] = flatten ; linear[10]\ngoal l0(x) ~ y by cross_entropy trains l0\n"


@program
def chain_of_sizes():
    return "box f(x: R[n]) -> R[n] = x + 1\nbox g(x: R[m]) -> R[m] {\n  y = x\n" + lines(20_000, lambda i: "  y = f(y)\n") + "  return y\n}\n"


# -- round in circles
@program
def cycle_of_boxes():
    return "box a(x: R[3]) -> R[3] = b(x)\nbox b(x: R[3]) -> R[3] = c(x)\nbox c(x: R[3]) -> R[3] = a(x)\nbox d = d\nbox e = f ; e\nbox f = e & e\nbox g = (g, g)\n"


@program
def cycle_of_axes():
    return "axis a = b\naxis b = c + 1\naxis c = a\naxis d = d\nbox f(x: R[a]) -> R[d] = x\n"


@program
def cycle_of_constants():
    return "const a = b\nconst b = a + 1\nconst c = c\naxis n = a\nbox f(x: R[n]) -> R[n] = x + c + a\nconst k : R[3] = k\nbox g(x: R[3]) -> R[3] = x + k\n"


@program
def cycle_of_spaces():
    return "space A = B\nspace B = A, A\nspace C = C\nbox f(x: A) -> C = x\n"


@program
def cycle_of_learners():
    return "learn a : R[3] -> R[3] = b\nlearn b : R[3] -> R[3] = a\nstale c of c\nstale c = a\nlearn d : R[3] -> R[3] = d ; d\n"


@program
def cycle_of_options():
    return "box f[g](x: R[3]) -> R[3] = g[f](x)\nbox h(x: R[3]) -> R[3] = f[f](x)\nbox i[a: a](x: R[3]) -> R[a] = x\nbox j(x: R[3]) -> R[3] = i(x)\nbox k[b: k](x: R[3]) -> R[3] = b(x)\nbox l(x: R[3]) -> R[3] = k(x)\n"


@program
def long_path():
    return 'use "' + "a/" * 2100 + 'b.limn"\n'


@program
def cycle_of_files():
    return 'use "cycle_of_files.limn"\nuse "./cycle_of_files.limn"\nuse "././cycle_of_files.limn"\nbox f(x: R[3]) -> R[3] = x\n'


# -- repeated
@program
def long_loop():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n  for l in 1..1000000000 { y = y + l }\n  return y\n}\nbox g(x: R[3]) -> R[3] {\n  y = x\n  for l in 0-9000000000000000000..9000000000000000000 { y = y + l }\n  return y\n}\nbox h(x: R[3]) -> R[3] {\n  y = x\n  for l in [1e300, 2] { y = y + l }\n  return y\n}\nfor l in 0-9000000000000000000..9000000000000000000 { goal 1 ~ 1 }\n"


@program
def loops_in_loops():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n" + lines(8, lambda i: f"  for l{i} in 1..1000 {{\n") + "  y = y + 1\n" + "  }\n" * 8 + "  return y\n}\n"


@program
def large_power():
    return "box f(x: R[3]) -> R[3] = (relu ^ 100000000)(x)\nbox g(x: R[3]) -> R[3] = ((relu ^ 1000) ^ 1000 ^ 1000)(x)\n"


@program
def powers_of_powers():
    return "box a(x: R[3]) -> R[3] = (((((relu ^ 1000) ^ 1000) ^ 1000) ^ 1000) ^ 1000)(x)\n"


@program
def instances_doubling():
    return lines(40, lambda i: f"box b{i}(x: R[3]) -> R[3] = (b{i+1} ; b{i+1})(x)\n") + "box b40(x: R[3]) -> R[3] = x + 1\n"


@program
def bare_doubling():
    return lines(40, lambda i: f"box b{i} = b{i+1} ; b{i+1}\n") + "box b40 = relu\n"


@program
def tuples_doubling():
    return lines(60, lambda i: f"box b{i} = (b{i+1}, b{i+1})\n") + "box b60 = relu\n"


@program
def fans_doubling():
    return lines(60, lambda i: f"box b{i} = b{i+1} & b{i+1}\n") + "box b60 = relu\n"


@program
def weights_doubling():
    return lines(40, lambda i: f"box b{i}(x: R[3]) -> R[3] = (b{i+1} ; b{i+1})(x)\n") + "box b40(x: R[3]) -> R[3] = dense[3](x)\n"


@program
def learners_doubling():
    return "given x, y from mnist\nlearn f : R[28 28] -> R[10] = flatten ; linear[10] ; b0\n" + lines(40, lambda i: f"box b{i} = b{i+1} ; b{i+1}\n") + "box b40 = relu\ngoal f(x) ~ y by cross_entropy trains f\n"


@program
def sizes_doubling():
    return lines(60, lambda i: f"box b{i}(x: R[n]) -> R[2*n] {{ return concat(x, x) }}\n" if i == 0 else "") + "box f(x: R[3]) -> R[3] = (b0 ^ 70)(x)\nbox g(x: R[n]) = (b0 ^ 70)(x)\n"


@program
def concat_doubling():
    return "box f(x: R[3]) {\n  y = x\n" + lines(60, lambda i: "  y = concat(y, y)\n") + "  return y\n}\nbox h(x: R[n]) -> R[] {\n  y = x\n" + lines(40, lambda i: "  y = concat(y, y)\n") + "  return sum(y)\n}\nbox g(x: R[n]) -> R[n] = x + h(x)\n"


@program
def weight_of_what_doubles():
    return "given x, y from iris\nbox b(x: R[n]) {\n  y = x\n" + lines(60, lambda i: "  y = concat(y, y)\n") + "  return y\n}\nlearn f : R[4] -> R[3] = b ; dense[3]\ngoal f(x) ~ y by cross_entropy\ntrain 3 steps\n"


@program
def options_doubling():
    return "box g0[n: 1](x: R[3]) -> R[3] = x + n\n" + lines(40, lambda i: f"box g{i+1}[n: 1](x: R[3]) -> R[3] = g{i}[n: n*2](x) + g{i}[n: n*2+1](x)\n")


@program
def goals_of_a_family():
    return "given x, y from iris\nlearn f : R[4] -> R[3] = dense[3]\nlearn g[3000] : R[4] -> R[3] = dense[3]\nfor i in 0..2999 { goal g[i](x) ~ f(x) by l2 }\n"


def learners_with_goals(n):
    return "given x, y from iris\n" + lines(n, lambda i: f"learn f{i} : R[4] -> R[3] = dense[3]\ngoal f{i}(x) ~ y by cross_entropy\n") + "train 3 steps\n"


@program
def two_thousand_learners_with_goals():
    return learners_with_goals(2000)


@program
def ten_thousand_learners_with_goals():
    return learners_with_goals(10_000)


@program
def goal_of_what_doubles():
    return "given x, y from iris\nlearn f : R[4] -> R[3] = b0 ; dense[3]\n" + lines(20, lambda i: f"box b{i}(x: R[4]) -> R[4] = (b{i+1} ; b{i+1})(x)\n") + "box b20(x: R[4]) -> R[4] = sin(x)\ngoal f(x) ~ y by cross_entropy\ntrain 3 steps\n"


@program
def edges_between_all():
    return "diagram d {\n  space N = iris\n" + lines(70, lambda i: f"  space A{i} = R[4]\n") + "".join(f"  box e{i}_{j} : A{i} -> A{j} = id\n" for i in range(70) for j in range(i + 1, 70)) + "}\n"


@program
def many_named_lines():
    return "box f(x: R[3]) -> R[3] {\n" + lines(50_000, lambda i: f"  y{i} = sin({'y%d' % (i - 1) if i else 'x'})\n") + "  return y49999\n}\n"


@program
def expression_doubling():
    return "box f(x: R[3]) -> R[3] {\n  y = x\n" + lines(64, lambda i: "  y = y * y + y\n") + "  return y\n}\n"


# -- machines
LEAF = "machine M(x: R[]) -> (y: R[]) {\n  state s : R[] = 0\n  next s = x\n  y = s\n}\n"


@program
def machine_of_many_lines():
    return "machine M(x: R[]) -> (y: R[]) {\n" + lines(100000, lambda i: f"  a{i} = a{i-1} + x\n" if i else "  a0 = x\n") + "  y = a99999\n}\n"


@program
def machine_of_many_lines_backwards():
    return "machine M(x: R[]) -> (y: R[]) {\n  y = a0\n" + lines(3000, lambda i: f"  a{i} = a{i+1} + x\n") + "  a3000 = x\n}\n"


@program
def machine_of_many_states():
    return "machine M(x: R[]) -> (y: R[]) {\n" + lines(10000, lambda i: f"  state s{i} : R[] = 0\n  next s{i} = x\n") + "  y = s7\n}\n"


@program
def machine_of_many_modes():
    return "machine M(x: R[]) -> (y: R[]) {\n  state s : R[] = 0\n  y = s\n" + lines(10000, lambda i: f"  mode m{i} {{ next s = {i}, jump m{(i + 1) % 10000} when x > {i} }}\n") + "}\n"


@program
def machine_of_64_modes():
    return "machine M(x: R[]) -> (y: R[]) {\n  state s : R[] = 0\n  y = s\n" + lines(64, lambda i: f"  mode m{i}(z{i}: R[]) {{ next s = z{i}, jump m{(i + 1) % 64} when x > {i} }}\n") + "}\nwiring W(u: R[]) -> (y: R[]) {\n  m : M\n  u -> m.x\n" + lines(64, lambda i: f"  u -> m.z{i} when m.mode = m{i}\n") + "  y = m.y\n}\n"


@program
def wirings_nested_300_deep():
    return LEAF + lines(300, lambda i: f"wiring W{i}(x: R[]) -> (y: R[]) {{\n  p : {'W%d' % (i - 1) if i else 'M'}\n  x -> p.x\n  y = p.y\n}}\n") + "run W299(x: 1) for 3 ticks\n"


@program
def wirings_doubling():
    return LEAF + lines(40, lambda i: f"wiring W{i}(x: R[]) -> (y: R[]) {{\n  p, q : {'W%d' % (i - 1) if i else 'M'}\n  x -> p.x\n  p.y -> q.x\n  y = q.y\n}}\n")


@program
def wirings_in_a_ring():
    return lines(300, lambda i: f"wiring W{i}(x: R[]) -> (y: R[]) {{\n  p : W{(i + 1) % 300}\n  x -> p.x\n  y = p.y\n}}\n")


@program
def wiring_of_many_parts():
    return LEAF + "wiring W(x: R[]) -> (y: R[]) {\n" + lines(10000, lambda i: f"  p{i} : M\n  {'p%d.y' % (i - 1) if i else 'x'} -> p{i}.x\n") + "  y = p9999.y\n}\n"


def chain_of_parts(name, of, n):
    return f"wiring {name}(x: R[]) -> (y: R[]) {{\n  " + ", ".join(f"p{i}" for i in range(n)) + f" : {of}\n  x -> p0.x\n" + lines(n - 1, lambda i: f"  p{i}.y -> p{i+1}.x\n") + f"  y = p{n-1}.y\n}}\n"


@program
def parts_side_by_side():
    return "machine M(x: R[]) -> (y: R[]) {\n  state q = 0\n  next q = x\n  y = q\n}\nwiring W() -> (y: R[]) {\n" + lines(1 << 18, lambda i: f"  a{i} : M\n") + "  y = a9.y\n}\n"


@program
def parts_2_18():
    return LEAF + chain_of_parts("Row", "M", 512) + chain_of_parts("Sheet", "Row", 512) + "run Sheet(x: 1) for 2 ticks\n"


@program
def wiring_with_a_long_loop():
    return "machine M(x: R[]) -> (y: R[]) = 2 * x\nwiring W(x: R[]) -> (y: R[]) {\n" + lines(3000, lambda i: f"  p{i} : M\n  p{(i + 2999) % 3000}.y -> p{i}.x\n") + "  y = p0.y\n}\n"


@program
def wires_with_many_modes():
    return "machine M(x: R[]) -> (y: R[]) {\n  state s : R[] = 0\n  y = s\n  mode a { next s = x, jump b when x > 1 }\n  mode b { next s = 0, jump a when x < 1 }\n}\nwiring W(x: R[]) -> (y: R[]) {\n" + lines(60, lambda i: f"  p{i} : M\n  x -> p{i}.x\n") + "  q : M\n  x -> q.x when " + " and ".join(f"p{i}.mode = a" for i in range(60)) + "\n  y = q.y\n}\n"


@program
def many_wires_into_one_port():
    return LEAF + "wiring W(x: R[]) -> (y: R[]) {\n  p : M\n" + "  x -> p.x\n" * 3000 + "  y = p.y\n}\n"


@program
def arrays_of_arrays():
    return LEAF + lines(12, lambda i: f"wiring W{i}(x: R[]) -> (y: R[]) {{\n  p[3] : {'W%d' % (i - 1) if i else 'M'}\n  x -> p[i].x\n  y = p[0].y\n}}\n")


@program
def array_of_2_62():
    return LEAF + "wiring W(x: R[]) -> (y: R[]) {\n  p[4611686018427387904] : M\n  x -> p[i].x\n  y = p[0].y\n}\nrun W(x: 1) for 2 ticks\n"


@program
def machine_in_unicode():
    return "machine 機械(入: R[]) -> (出: R[]) {\n  state 状態 : R[] = 0\n  next 状態 = 入\n  出 = 状態\n  mode ö { jump ё when 入 > 1 }\n  mode ё { jump ö when 入 < 1 }\n}\nwiring Wiring(α: R[]) -> (ω: R[]) {\n  é : 機械\n  α -> é.入\n  ω = é.出\n}\nrun Wiring(α: 1) for 3 ticks\n"


@program
def machine_with_everything_wrong():
    return lines(500, lambda i: f"machine M{i}(x: R[], x: Q) -> (y, y: R[3]) {{ state s, s = z  s' = 1  next s = q  jump a when x  mode m {{ mode n {{ }} }} }}\n")


@program
def many_runs_and_checks():
    return LEAF + "run M(x: 1) for 3 ticks\ncheck last(y) = 1\n" * 3000


@program
def delays_of_many_ticks():
    return "machine M(x: R[]) -> (y: R[]) {\n" + lines(50, lambda i: f"  a{i} = delay[1000]({'a%d' % (i - 1) if i else 'x'})\n") + "  y = a49\n}\n"


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for f in ALL:
        text = f()
        with open(os.path.join(sys.argv[1], f.__name__ + ".limn"), "wb") as out:
            out.write(text if isinstance(text, bytes) else text.encode())


main()
