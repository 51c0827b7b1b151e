# exact.awk: writes a random program whose numbers are small integers, so that its products and sums are exact in every
# precision: PROGRAM and TABLE are files, SEED says which. Products of ragged shapes, convolutions, what is made of their
# cells one by one, sums, and all of their gradients.
function below(n) {
  state = (state * 16807) % 2147483647
  return int(state / 2147483647 * n)
}
function one_of(text,  part, n) {
  n = split(text, part, " ")
  return part[below(n) + 1]
}
# ragged sizes: any, odd ones, multiples and what stands beside them
function size(most,  n) {
  n = below(3) ? one_of("4 8 16 32 64 96 128 192") + one_of("0 0 0 1 -1") : 1 + below(most)
  return n > most ? 1 + below(most) : n
}
function say(line) { body = body "  " line "\n" }
function is_now(text) { n = split(text, at, " ") }

# A weight of this shape, NAMES of its axes beside SIZES: about eight cells of each sum of K are not 0.
function weight(names, sizes, k,  w, i, name, length_of, ranks, type, mix, thin) {
  w = ++weights
  ranks = split(names, name, " ")
  split(sizes, length_of, " ")
  for (i = 1; i <= ranks; i++) {
    type = type (i > 1 ? " " : "") name[i] ":" length_of[i]
    mix = mix (1 + below(9)) "*" name[i] "*" name[i] " + " (1 + below(30)) "*" name[i] " + "
    if (i > 1) mix = mix (1 + below(9)) "*" name[i - 1] "*" name[i] " + "
  }
  thin = int(k / 8) + 1
  head = head "box start" w "(any: R[]) -> R[" type "] {\n" \
    "  W[" names "] = mod(mod(" mix below(30) ", 101), 3) - 1 when mod(mod(" mix below(30) ", 97), " thin ") < 1 else 0\n  return W\n}\n" \
    "learn W" w " : R[" type "] = start" w "(0)\n"
  return "W" w
}

# X is what the last line made. What is made of its cells one by one:
function point(  names, i, w, which) {
  names = "a b c"
  names = n == 1 ? "a" : n == 2 ? "a b" : names
  for (i = 1 + below(3); i > 0; i--) {
    which = below(7)
    was = last
    last = "X" (++lines)
    if (which == 0) {
      w = weight("o", at[n], 1)
      say(last "[" names "] = " was "[" names "] + " w "[" substr(names, length(names)) "]")
    } else if (which == 1)
      say(last "[" names "] = relu(" was "[" names "])")
    else if (which == 2)
      say(last "[" names "] = " one_of("2 0.5 -1") " * " was "[" names "]")
    else if (which == 3)
      say(last "[" names "] = " was "[" names "] when mod(" (n > 1 ? "a + b" : "a") ", 3) < 2 else 0")
    else if (which == 4 && whole != "" && n == whole_n && at[1] " " at[2] " " at[3] == whole_at)
      say(last "[" names "] = " was "[" names "] + " whole "[" names "]")
    else
      say(last "[" names "] = min(max(" was "[" names "], -4), 4)")
  }
  if (below(4)) return
  whole = last
  whole_n = n
  whole_at = at[1] " " at[2] " " at[3]
}

# Of the same rows two products, a large one and a small one: whose factors lie in memory how is asked of each of them.
function two_products(  w, m, i, a) {
  i = at[n]
  a = n == 2 ? "a " : ""
  m = one_of("64 96 127 192")
  w = weight("i o", i " " m, i)
  say(last "l[" a "o] = " was "[" a "i] " w "[i o]")
  w = weight("i o", i " " one_of("2 4 6 8 12"), i)
  say(last "s[" a "o] = " was "[" a "i] " w "[i o]")
  say(last "t = sum(min(max(" last "s, -2), 2))")
  say(last "[" a "o] = " last "l[" a "o] + " last "t")
  is_now((n == 2 ? at[1] " " : "") m)
}
function vector_step(  w, m) {
  if (below(4) == 0) {
    two_products()
    return
  }
  if (at[1] <= 220 && at[1] >= 12 && below(3) == 0) { # rows of a matrix, or a picture
    if (at[1] % 16 == 0 && below(2)) is_now(below(2) ? "4 4 " at[1] / 16 : at[1] / 16 " 4 4")
    else if (at[1] % 3 == 0) is_now("3 " at[1] / 3)
    else if (at[1] % 4 == 0) is_now(at[1] / 4 " 4")
    else return
    say(last "[" (n == 3 ? "a:" at[1] " b:" at[2] " c:" at[3] : "a:" at[1] " b:" at[2]) "] = " was "[(" (n == 3 ? "a b c" : "a b") ")]")
    return
  }
  if (at[1] > 8 && at[1] % 2 == 0 && below(5) == 0) { # two pieces of a whole
    m = at[1] / 2
    say(last "w[s:2 a:" m "] = " was "[(s a)]")
    say(last "a[a] = " last "w[0 a]")
    say(last "b[a] = " last "w[1 a]")
    say(last "[a] = " (below(2) ? last "a[a] + 2 * " last "b[a]" : "min(max(" last "a[a] * " last "b[a], -4), 4)"))
    is_now(m "")
    return
  }
  m = size(200)
  if (below(2)) {
    w = weight("i o", at[1] " " m, at[1])
    say(last "[o] = " was "[i] " w "[i o]")
  } else {
    w = weight("o i", m " " at[1], at[1])
    say(last "[o] = " was "[i] " w "[o i]")
  }
  is_now(m "")
}
function matrix_step(  w, m, which) {
  which = below(13)
  m = size(at[1] > 30 ? 40 : 100)
  if (which > 10) {
    if (at[1] <= 40) two_products()
    return
  }
  if (which == 8) { # along rows or columns
    w = below(2)
    say(last "[" (w ? "a" : "b") "] = " one_of("sum sum max") "[" (w ? "b" : "a") "](" was "[a b])")
    is_now((w ? at[1] : at[2]) "")
    return
  }
  if (which > 8 && at[1] <= 60) { # three pieces of one product, of which two are multiplied by each other
    m = one_of("3 4 8 16 17")
    w = weight("i s o", at[2] " 3 " m, at[2])
    say(last "p[a s o] = " was "[a i] " w "[i s o]")
    say(last "k[a s o] = min(max(" last "p[a s o], -2), 2)")
    say(last "s[a b] = " last "k[a 0 o] " last "k[b 1 o]")
    say(last "t[a b] = " (below(2) ? "min(max(" last "s[a b], -1), 1)" : "min(max(" last "s[a b], -1), 1) when b <= a else 0"))
    say(last "[a o] = " last "t[a b] " last "k[b 2 o]")
    is_now(at[1] " " m)
    return
  }
  if (which < 2) {
    w = weight("i o", at[2] " " m, at[2])
    say(last "[a o] = " was "[a i] " w "[i o]")
    is_now(at[1] " " m)
  } else if (which == 2) {
    w = weight("o i", m " " at[2], at[2])
    say(last "[o a] = " was "[a i] " w "[o i]")
    is_now(m " " at[1])
  } else if (which == 3) { # a batch of matrices
    if (m > 24) m = size(24)
    w = weight("a i o", at[1] " " at[2] " " m, at[2])
    say(last "[a o] = " was "[a i] " w "[a i o]")
    is_now(at[1] " " m)
  } else if (which == 4) { # a sum over two axes
    w = weight("a i o", at[1] " " at[2] " " m, at[1] * at[2])
    say(last "[o] = " was "[a i] " w "[a i o]")
    is_now(m "")
  } else if (which == 5 && at[1] <= 60) { # data by data
    say(last "[a b] = " was "[a i] " was "[b i]")
    is_now(at[1] " " at[1])
  } else if (which == 6) {
    say(last "[b a] = " was "[a b]")
    is_now(at[2] " " at[1])
  } else {
    w = weight("i o", at[1] " " m, at[1])
    say(last "[o b] = " was "[i b] " w "[i o]")
    is_now(m " " at[2])
  }
}
function picture_step(  w, m, k, stride, h, v, inside, edge) {
  if (below(5) == 0 || at[1] * at[2] < 4) {
    say(last "[a (b c)] = " was "[a b c]")
    is_now(at[1] " " at[2] * at[3])
    return
  }
  m = one_of("1 3 8 16 5 24")
  k = one_of("1 3 3 2")
  stride = 1 + below(2)
  inside = below(2) && at[1] >= k && at[2] >= k
  edge = inside ? 0 : int(k / 2)
  h = inside ? int((at[1] - k) / stride) + 1 : int((at[1] - 1) / stride) + 1
  v = inside ? int((at[2] - k) / stride) + 1 : int((at[2] - 1) / stride) + 1
  w = weight("p q c o", k " " k " " at[3] " " m, k * k * at[3])
  say(last "[i:" h " j:" v " o] = " was "[" stride "*i+p-" edge " " stride "*j+q-" edge " c] " w "[p q c o]" (inside ? "" : "   pad 0"))
  is_now(h " " v " " m)
}

BEGIN {
  state = SEED * 7919 + 17
  for (i = 0; i < 9; i++) below(2)
  picture = below(3) == 0
  if (picture) {
    h = 3 + below(9)
    v = 3 + below(9)
    c = one_of("1 3 8 16")
    width = h * v * c
  } else
    width = size(200)
  batch = one_of("1 2 8 16 32 32 64 64 128")
  short = batch > 1 && below(2) ? one_of("1 2 4") : 0
  if (short >= batch) short = 1
  for (trained = batch + short; ; trained++) { # two tenths are for other things
    for (rows = trained; rows - 2 * int(rows / 10) < trained; rows++) {}
    left = (rows - 2 * int(rows / 10)) % batch
    if (left == 0 || left == 1 || left == 2 || left == 4 || left == 8) break
  }
  for (i = 1; i <= width; i++) printf "t%d%s", i, i < width ? "," : "\n" > TABLE
  for (r = 0; r < rows; r++)
    for (i = 1; i <= width; i++) printf "%d%s", below(3) ? 0 : below(5) - 2, i < width ? "," : "\n" > TABLE
  last = "x"
  if (picture) {
    say("X0[a:" h " b:" v " c:" c "] = x[(a b c)]")
    last = "X0"
    is_now(h " " v " " c)
  } else
    is_now(width "")
  more = 1 + below(3)
  for (turn = 0; turn < 40 && more > 0; turn++) {
    was = last
    last = "X" (++lines)
    before = body
    if (n == 1) vector_step()
    else if (n == 2) matrix_step()
    else picture_step()
    if (body == before) {
      last = was
      continue
    }
    if (index(substr(body, length(before)), " W") || below(3) == 0) more--
    if (below(5)) point()
    if (weights && n == 1 && below(3) == 0) {
      other = body
      other_last = last
    }
  }
  if (!weights) {
    was = last
    last = "X" (++lines)
    names = n == 1 ? "i" : n == 2 ? "j i" : "j k i"
    say(last "[" substr(names, 1, length(names) - 1) "o] = " was "[" names "] " weight("i o", at[n] " 12", at[n]) "[i o]")
    at[n] = 12
  }
  names = n == 1 ? "a" : n == 2 ? "a b" : "a b c"
  # no number goes into the loss as it is, so that gradients differ from place to place
  say("Z[" names "] = min(max(" last "[" names "], -4), 4) * (mod(" (n > 1 ? "2*a + 3*b" : "3*a + 1") ", 5) - 2)")
  print "# SEED " SEED > PROGRAM
  print "given x : R[" width "] from \"" TABLE "\"" > PROGRAM
  printf "%s", head > PROGRAM
  print "box f(x: R[" width "]) -> R[] {" > PROGRAM
  printf "%s", body > PROGRAM
  print "  return sum(Z)\n}" > PROGRAM
  if (other != "" && below(2)) { # a second loss, of a number on the way
    print "box g(x: R[" width "]) -> R[] {" > PROGRAM
    printf "%s", other > PROGRAM
    print "  return sum(min(max(" other_last ", -2), 2))\n}\ngoal other : minimise " batch " * g(x)" > PROGRAM
  }
  print "goal fit : minimise " one_of("1 2 " batch " " batch) " * f(x)" > PROGRAM
  print "train " (short ? 2 : one_of("1 2")) " steps, gd(" one_of("1 1 0.5 0.0625") "), batch " batch > PROGRAM
}
