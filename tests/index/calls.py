# Axes at a call, part 3 (b), (d), (e), (f): small boxes against numpy.  Weights are saved by limn and read here by name.
import sys
import numpy as np
import harness

rng = np.random.default_rng(5)
CASES = []


def case(name, text, shapes, want, box="f"):
    arrays = {}
    for k, s in shapes.items():
        arrays[k] = rng.integers(0, s[0], s[1:]).astype(float) if isinstance(s, list) else rng.normal(size=s)
    CASES.append((name, text, arrays, want, box))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


ein = np.einsum
DOT = "box dot(x: R[a], y: R[a]) -> R[] = sum[a](x * y)\n"
MAT = "box mat(x: R[i], W: R[i o]) -> R[o] {\n  return y[o] = x[i] W[i o]\n}\n"
NORM = "box unit[x](s: R[x]) -> R[x] = s / sqrt(sum[x](s * s))\n"
MEAN = "box centre(x: R[a b]) -> R[a b] = x - mean[a b](x)\n"
TWO = "box two(x: R[a], y: R[b]) -> R[b a] {\n  return z[b a] = y[b] * x[a] + x[a]\n}\n"

# consume the last axes; the rest passes over
case("consume", DOT + "box f(x: R[3], y: R[3]) -> R[] = dot(x, y)", dict(x=(3,), y=(3,)), lambda x, y: x @ y)
case("pass_one", DOT + "box f(x: R[t a], y: R[t a]) -> R[t] = dot(x, y)", dict(x=(2, 3), y=(2, 3)), lambda x, y: (x * y).sum(-1))
case("pass_two", DOT + "box f(x: R[s t a], y: R[s t a]) -> R[s t] = dot(x, y)", dict(x=(2, 3, 4), y=(2, 3, 4)), lambda x, y: (x * y).sum(-1))
case("pass_three", DOT + "box f(x: R[r s t a], y: R[r s t a]) -> R[r s t] = dot(x, y)", dict(x=(2, 3, 2, 2), y=(2, 3, 2, 2)), lambda x, y: (x * y).sum(-1))
case("pass_unlabelled", DOT + "box f(x: R[2 3 4], y: R[2 3 4]) -> R[2 3] = dot(x, y)", dict(x=(2, 3, 4), y=(2, 3, 4)), lambda x, y: (x * y).sum(-1))
case("repeat_second", DOT + "box f(x: R[t a], y: R[a]) -> R[t] = dot(x, y)", dict(x=(2, 3), y=(3,)), lambda x, y: x @ y)
case("repeat_first", DOT + "box f(x: R[a], y: R[t a]) -> R[t] = dot(x, y)", dict(x=(3,), y=(2, 3)), lambda x, y: y @ x)
case("sub_list", DOT + "box f(x: R[s t a], y: R[s a]) -> R[s t] = dot(x, y)", dict(x=(2, 2, 3), y=(2, 3)), lambda x, y: ein("sta,sa->st", x, y))
case("sub_list_inner", DOT + "box f(x: R[s t a], y: R[t a]) -> R[s t] = dot(x, y)", dict(x=(2, 2, 3), y=(2, 3)), lambda x, y: ein("sta,ta->st", x, y))
case("sub_list_first", DOT + "box f(x: R[t a], y: R[s t a]) -> R[s t] = dot(x, y)", dict(x=(2, 3), y=(2, 2, 3)), lambda x, y: ein("ta,sta->st", x, y))
case("sub_list_unlabelled", DOT + "box f(x: R[2 2 3], y: R[2 3]) -> R[2 2] = dot(x, y)", dict(x=(2, 2, 3), y=(2, 3)), lambda x, y: ein("sta,ta->st", x, y))
case("matrix", MAT + "box f(x: R[t i], W: R[i o]) -> R[t o] = mat(x, W)", dict(x=(2, 3), W=(3, 4)), lambda x, W: x @ W)
case("matrix_each", MAT + "box f(x: R[t i], W: R[t i o]) -> R[t o] = mat(x, W)", dict(x=(2, 3), W=(2, 3, 4)), lambda x, W: ein("ti,tio->to", x, W))
case("matrix_two", MAT + "box f(x: R[h t i], W: R[h i o]) -> R[h t o] = mat(x, W)", dict(x=(2, 2, 3), W=(2, 3, 4)), lambda x, W: ein("hti,hio->hto", x, W))
case("scalar_box", "box sq(x: R[]) -> R[] = x * x + 1\nbox f(x: R[a b]) -> R[a b] = sq(x)", dict(x=(2, 3)), lambda x: x * x + 1)
case("two_outputs_first", TWO + "box f(x: R[t a], y: R[b]) -> R[t b a] = two(x, y)", dict(x=(2, 3), y=(4,)), lambda x, y: ein("b,ta->tba", y, x) + x[:, None, :])
case("two_both", TWO + "box f(x: R[t a], y: R[t b]) -> R[t b a] = two(x, y)", dict(x=(2, 3), y=(2, 4)), lambda x, y: ein("tb,ta->tba", y, x) + x[:, None, :])
case("two_over", TWO + "box f(x: R[a t], y: R[t b]) -> R[t b a] = two(x, y) over t", dict(x=(3, 2), y=(2, 4)), lambda x, y: ein("tb,at->tba", y, x) + x.T[:, None, :])
case("inside", DOT + "box g(x: R[n a]) -> R[n n] {\n  return y[i j] = x[i a] x[j a]\n}\nbox f(x: R[t n a]) -> R[t n n] = g(x)", dict(x=(2, 3, 2)), lambda x: ein("tia,tja->tij", x, x))
case("nested", DOT + "box g(x: R[n a], y: R[a]) -> R[n] = dot(x, y)\nbox f(x: R[t n a], y: R[t a]) -> R[t n] = g(x, y)", dict(x=(2, 3, 4), y=(2, 4)), lambda x, y: ein("tna,ta->tn", x, y))
case("eval_passes", DOT + "box f(x: R[3], y: R[3]) -> R[] = dot(x, y)", dict(x=(2, 4, 3), y=(4, 3)), lambda x, y: ein("sta,ta->st", x, y))

# over
case("over_front", DOT + "box f(x: R[h a], y: R[h a]) -> R[h] = dot(x, y) over h", dict(x=(2, 3), y=(2, 3)), lambda x, y: (x * y).sum(-1))
case("over_middle", MAT + "box f(x: R[t h i], W: R[i o]) -> R[t h o] = mat(x, W) over h", dict(x=(2, 3, 4), W=(4, 2)), lambda x, W: ein("thi,io->tho", x, W))
case("over_last", MAT + "box f(x: R[i h], W: R[i o]) -> R[h o] = mat(x, W) over h", dict(x=(4, 3), W=(4, 2)), lambda x, W: ein("ih,io->ho", x, W))
case("over_both", MAT + "box f(x: R[i h], W: R[i h o]) -> R[h o] = mat(x, W) over h", dict(x=(4, 3), W=(4, 3, 2)), lambda x, W: ein("ih,iho->ho", x, W))
case("over_two", MAT + "box f(x: R[g i h], W: R[i o]) -> R[g h o] = mat(x, W) over (g h)", dict(x=(2, 4, 3), W=(4, 2)), lambda x, W: ein("gih,io->gho", x, W))
case("over_same_places", MEAN + "box f(x: R[a h b]) -> R[a h b] = centre(x) over h", dict(x=(2, 3, 4)), lambda x: x - x.mean((0, 2), keepdims=True))
case("attend_heads", "box f(Q: R[y h k], K: R[x h k], V: R[x h d]) -> R[h y d] = attend(Q, K, V) over h", dict(Q=(2, 3, 4), K=(5, 3, 4), V=(5, 3, 2)), lambda Q, K, V: ein("hyx,xhd->hyd", softmax(ein("yhk,xhk->hyx", Q, K) / 2, -1), V))
case("attend", "box f(Q: R[y k], K: R[x k], V: R[x d]) -> R[y d] = attend(Q, K, V)", dict(Q=(2, 4), K=(5, 4), V=(5, 3)), lambda Q, K, V: softmax(Q @ K.T / 2, -1) @ V)
case("attend_passes", "box f(Q: R[t y k], K: R[t x k], V: R[t x d]) -> R[t y d] = attend(Q, K, V)", dict(Q=(2, 2, 4), K=(2, 5, 4), V=(2, 5, 3)), lambda Q, K, V: softmax(ein("tyk,txk->tyx", Q, K) / 2, -1) @ V)

# along an axis
case("along_last", "box f(s: R[y x]) -> R[y x] = softmax[x](s)", dict(s=(2, 3)), lambda s: softmax(s, 1))
case("along_first", "box f(s: R[y x]) -> R[y x] = softmax[y](s)", dict(s=(2, 3)), lambda s: softmax(s, 0))
case("along_middle", NORM + "box f(s: R[a b c]) -> R[a b c] = unit[b](s)", dict(s=(2, 3, 4)), lambda s: s / np.sqrt((s * s).sum(1, keepdims=True)))
case("along_wire", "box f(a: R[y k], b: R[x k]) -> R[y x] {\n  S[y x] = a[y k] b[x k]\n  return softmax[y](S)\n}", dict(a=(2, 3), b=(4, 3)), lambda a, b: softmax(a @ b.T, 0))
case("along_reduces", "box f(s: R[a b c]) -> R[a c] = logsumexp[b](s)", dict(s=(2, 3, 4)), lambda s: np.log(np.exp(s).sum(1)))
case("keeps_places", "box f(x: R[a b]) -> R[a b] = relu(x) + leaky_relu(x)", dict(x=(3, 2)), lambda x: np.maximum(x, 0) + np.where(x > 0, x, 0.01 * x))
case("sum_labels", "box f(x: R[a b], y: R[a b]) -> R[b] = sum[a](x * y)", dict(x=(2, 3), y=(2, 3)), lambda x, y: (x * y).sum(0))
case("reduce_all", "box f(x: R[a b]) -> R[] = max(x) - min(x) + mean(x) + sum(x) * prod(x)", dict(x=(2, 3)), lambda x: x.max() - x.min() + x.mean() + x.sum() * x.prod())
case("reduce_two", "box f(x: R[a b c]) -> R[b] = mean[a c](x) - max[c a](x)", dict(x=(2, 3, 4)), lambda x: x.mean((0, 2)) - x.max((0, 2)))

# R[...s]
case("all_axes", "box g(x: R[...s], y: R[...s]) -> R[] = sum(x * y)\nbox f(x: R[a b], y: R[a b]) -> R[] = g(x, y)", dict(x=(2, 3), y=(2, 3)), lambda x, y: (x * y).sum())
case("all_axes_keep", "box g(x: R[...s]) -> R[...s] = x - sum(x)\nbox f(x: R[a b]) -> R[a b] = g(x)", dict(x=(2, 3)), lambda x: x - x.sum())
case("flatten", "box f(x: R[a b c]) -> R[24] = flatten(x)", dict(x=(2, 3, 4)), lambda x: x.ravel())
case("flatten_over", "box f(x: R[a b c]) -> R[b 8] = flatten(x) over b", dict(x=(2, 3, 4)), lambda x: x.transpose(1, 0, 2).reshape(3, 8))
case("residual", "box f(x: R[a b]) -> R[a b] = residual[relu ; square](x)", dict(x=(2, 3)), lambda x: x + np.maximum(x, 0) ** 2)

# arithmetic
case("by_label", "box f(x: R[a b c], y: R[b]) -> R[a b c] = x + y", dict(x=(2, 3, 3), y=(3,)), lambda x, y: x + y[:, None])
case("by_two_labels", "box f(x: R[a b c], y: R[a c]) -> R[a b c] = y * x", dict(x=(2, 3, 4), y=(2, 4)), lambda x, y: x * y[:, None, :])
case("from_the_right", "box f(x: R[2 3 4], y: R[3 4]) -> R[2 3 4] = x - y", dict(x=(2, 3, 4), y=(3, 4)), lambda x, y: x - y)
case("scalar_wire", "box f(x: R[a b], y: R[]) -> R[a b] = x / y", dict(x=(2, 3), y=()), lambda x, y: x / y)
case("row_over_column", "box f(x: R[a b]) -> R[a b] = x / sum[a](x) + mean[b](x)", dict(x=(2, 3)), lambda x: x / x.sum(0) + x.mean(1, keepdims=True))
case("choice", "box f(x: R[a b], y: R[b]) -> R[a b] = x when x > y else y", dict(x=(2, 3), y=(3,)), lambda x, y: np.maximum(x, y))
case("concat_last", "box f(x: R[a b], y: R[a c]) -> R[a 5] = concat(x, y)", dict(x=(2, 3), y=(2, 2)), lambda x, y: np.concatenate([x, y], 1))
case("concat_first", "box f(x: R[a b], y: R[c b]) -> R[5 b] = concat[a](x, y)", dict(x=(3, 2), y=(2, 2)), lambda x, y: np.concatenate([x, y], 0))
case("concat_passes", "box g(x: R[b], y: R[c]) -> R[5] = concat(x, y)\nbox f(x: R[t b], y: R[c]) -> R[t 5] = g(x, y)", dict(x=(2, 3), y=(2,)), lambda x, y: np.concatenate([x, np.tile(y, (2, 1))], 1))

# tuples and composition
case("pipe", "box g(x: R[a]) -> R[a], R[] = (x, sum(x))\nbox h(x: R[a], s: R[]) -> R[a] = x * s\nbox f(x: R[3]) -> R[3] = (g ; h)(x)", dict(x=(3,)), lambda x: x * x.sum())
case("pipe_text", "box f : R[3] -> R[3] = relu ; tanh ; square", dict(x=(3,)), lambda x: np.tanh(np.maximum(x, 0)) ** 2)
case("fan", "box f(x: R[4]) -> R[4] = (relu & tanh ; add)(x)", dict(x=(4,)), lambda x: np.maximum(x, 0) + np.tanh(x))
case("fan_three", "box g(a, b, c: R[]) -> R[] = a - b * c\nbox f(x: R[4]) -> R[4] = (relu & tanh & sin ; g)(x)", dict(x=(4,)), lambda x: np.maximum(x, 0) - np.tanh(x) * np.sin(x))
case("side_by_side", "box f(x: R[4], y: R[4]) -> R[4] = ((tanh, sin) ; swap ; (exp, id) ; add)(x, y)", dict(x=(4,), y=(4,)), lambda x, y: np.exp(np.sin(y)) + np.tanh(x))
case("tuple_argument", "box g(x: R[a]) -> R[a], R[a] = (tanh(x), sin(x))\nbox h(a, b, c: R[]) -> R[] = a * b - c\nbox f(x: R[3]) -> R[3] = h(g(x), x)", dict(x=(3,)), lambda x: np.tanh(x) * np.sin(x) - x)
case("tuple_names", "box g(x: R[a]) -> R[a], R[a] = (tanh(x), sin(x))\nbox f(x: R[3]) -> R[3] {\n  a, b = g(x)\n  b, a = swap(a, b)\n  return a - 2 * b\n}", dict(x=(3,)), lambda x: np.tanh(x) - 2 * np.sin(x))
case("copy_swap", "box f(x: R[3], y: R[3]) -> R[3] = ((copy, id) ; (id, swap) ; (add, id) ; add)(x, y)", dict(x=(3,), y=(3,)), lambda x, y: 2 * x + y)
case("space_tuple", "space P = R[2], R[2]\nbox g(x: R[2]) -> P = (x + 1, x * 2)\nbox h(p: P) -> R[2] {\n  a, b = p\n  return a - b\n}\nbox f(x: R[2]) -> R[2] = (g ; h)(x)", dict(x=(2,)), lambda x: x + 1 - 2 * x)
case("parts_have_their_own_indices", "box g(x: R[3], y: R[4]) -> R[3], R[4], R[] {\n  return x[2-i] * 2, y[i] * 3, x[i] x[i]\n}\nbox h(x: R[a], y: R[b], z: R[]) -> R[a+b] = concat(x, y) * z\nbox f(x: R[3], y: R[4]) -> R[7] = (g ; h)(x, y)", dict(x=(3,), y=(4,)), lambda x, y: np.concatenate([2 * x[::-1], 3 * y]) * (x @ x))
case("parts_in_an_equation", "box f(x: R[3], y: R[4]) -> R[] {\n  a, b = (x[i] * i, y[i] / 2)\n  return sum(a) * sum(b)\n}", dict(x=(3,), y=(4,)), lambda x, y: (x @ np.arange(3.0)) * (y / 2).sum())
case("pipe_passes", DOT + "box f(x: R[t a]) -> R[t] = (copy ; dot ; sqrt)(x)", dict(x=(2, 3)), lambda x: np.sqrt((x * x).sum(-1)))

# repetition, loops, kept wires
case("power", "box g(x: R[]) -> R[] = x + 0.5 * sin(x)\nbox f(x: R[3]) -> R[3] = (g ^ 4)(x)", dict(x=(3,)), lambda x: [x := x + 0.5 * np.sin(x) for _ in range(4)][-1])
case("power_pair", "box g(a, b: R[]) -> R[], R[] = (b, a + b)\nbox h(a, b: R[]) -> R[] = b\nbox f(a: R[], b: R[]) -> R[] = (g ^ 5 ; h)(a, b)", dict(a=(), b=()), lambda a, b: 5 * a + 8 * b)
case("power_option", "box g[n](x: R[]) -> R[] = (scale[2] ^ n)(x)\nbox f(x: R[3]) -> R[3] = g[3](x)", dict(x=(3,)), lambda x: 8 * x)
case("loop", "box f(x: R[3]) -> R[3] {\n  for l in 1..3 {\n    x2 = x * l\n    Z[l] = x2 + l\n  }\n  return Z[1] * Z[2] - Z[3]\n}", dict(x=(3,)), lambda x: (x + 1) * (2 * x + 2) - (3 * x + 3))
case("loop_down", "box f(x: R[3]) -> R[3] {\n  Y = x\n  for l in 1..3 {\n    K[l] = Y\n    Y = sin(Y) * l\n  }\n  for l in 1..3 down {\n    Y = Y - l * K[l]\n  }\n  return Y\n}", dict(x=(3,)), lambda x: (lambda a, b, c: c - 3 * b - 2 * a - x)(np.sin(x), 2 * np.sin(np.sin(x)), 3 * np.sin(2 * np.sin(np.sin(x)))))
case("loop_index", "box f(x: R[4 3]) -> R[3] {\n  Y = x[0 m]\n  for l in 1..3 {\n    Y = tanh(Y) + x[l m]\n  }\n  return Y\n}", dict(x=(4, 3)), lambda x: x[3] + np.tanh(x[2] + np.tanh(x[1] + np.tanh(x[0]))))
case("loop_option", "box g[n](x: R[a]) -> R[a] {\n  Y = x\n  for l in 0..n-1 {\n    Y = Y * 2 + l\n  }\n  return Y\n}\nbox f(x: R[2]) -> R[2] = g[3](x)", dict(x=(2,)), lambda x: 8 * x + 4)

# options
case("default", "box g[k: 2, j: 3](x: R[]) -> R[] = k * x + j\nbox f(x: R[2]) -> R[2] = g(x) - g[5](x) + g[j: 7](x) * g[1, 1](x)", dict(x=(2,)), lambda x: 2 * x + 3 - (5 * x + 3) + (2 * x + 7) * (x + 1))
case("box_option", "box g[h: relu](x: R[]) -> R[] = h(x) + 1\nbox f(x: R[3]) -> R[3] = g(x) * g[tanh](x) - g[sin ; square](x)", dict(x=(3,)), lambda x: (np.maximum(x, 0) + 1) * (np.tanh(x) + 1) - (np.sin(x) ** 2 + 1))
case("box_option_axes", "box g[h](x: R[a b]) -> R[a b] = h(x) + 1\nbox f(x: R[t a b]) -> R[t a b] = g[softmax[a]](x)", dict(x=(2, 3, 2)), lambda x: softmax(x, 1) + 1)
case("size_condition", "box g[s](x: R[a]) -> R[a] = x when s = 1 else x * s\nbox f(x: R[2]) -> R[2] = g[1](x) + g[3](x)", dict(x=(2,)), lambda x: 4 * x)
case("size_as_number", "box g(x: R[k]) -> R[] = sum(x) / sqrt(k)\nbox f(x: R[t 4]) -> R[t] = g(x)", dict(x=(2, 4)), lambda x: x.sum(-1) / 2)
case("output_size", "box g[o](x: R[i]) -> R[i*o] {\n  return y[(i j:o)] = x[i] * (j + 1)\n}\nbox f(x: R[t 3]) -> R[t 6] = g[2](x)", dict(x=(2, 3)), lambda x: np.stack([x, 2 * x], -1).reshape(2, 6))

# labels
case("embed", "box f(x: {5}[t], E: R[5 m]) -> R[t m] = E[x[i] m]", dict(x=[5, 4], E=(5, 3)), lambda x, E: E[x.astype(int)])
case("one_hot", "box f(x: {5}[t]) -> R[t 5] = one_hot(x)", dict(x=[5, 4]), lambda x: np.eye(5)[x.astype(int)])
case("label_passes", "box g(E: R[n m], x: {n}) -> R[m] = E[x m]\nbox f(E: R[5 m], x: {5}[t]) -> R[t m] = g(E, x)", dict(E=(5, 3), x=[5, 4]), lambda E, x: E[x.astype(int)])

# weights are shared along passed axes, fresh at each written use, one for each learner
case("dense_passes", "box f(x: R[t u i]) -> R[t u 4] = dense[4](x)", dict(x=(2, 3, 5)), lambda x, w: x @ w["dense/linear/W"] + w["dense/b"])
case("dense_axes", "box f(x: R[t i]) -> R[t h k] = linear[h: 2 k: 3](x)", dict(x=(2, 5)), lambda x, w: ein("ti,ihk->thk", x, w["linear/W"]))
case("fresh", "box f : R[3] -> R[3] = linear[3] ; linear[3]", dict(x=(3,)), lambda x, w: x @ w["linear.1/W"] @ w["linear.2/W"])
case("fresh_power", "box f : R[3] -> R[3] = linear[3] ^ 3", dict(x=(3,)), lambda x, w: x @ w["linear.1/W"] @ w["linear.2/W"] @ w["linear.3/W"])
case("one_learner", "learn g : R[3] -> R[3] = linear[3]\nlearn f : R[3] -> R[3] = g ; g ^ 2", dict(x=(3,)), lambda x, w: x @ w["g/linear/W"] @ w["g/linear/W"] @ w["g/linear/W"])
case("local_learner", "box blk(x: R[a]) -> R[a] {\n  learn g : R[a] -> R[a] = linear[a]\n  return g(g(x)) - x\n}\nlearn f : R[3] -> R[3] = blk ; blk", dict(x=(3,)), lambda x, w: local(x, w))
case("family", "learn g[3] : R[2] -> R[2] = linear[2]\nlearn f : R[2] -> R[2] = g[0] ; g[2] ; g[0]", dict(x=(2,)), lambda x, w: x @ w["g.0/linear/W"] @ w["g.2/linear/W"] @ w["g.0/linear/W"])
case("family_sum", "learn g[3] : R[2] -> R[2] = linear[2]\nlearn f(x: R[2]) -> R[2] {\n  Y = 0 * x\n  for l in 0..2 { Y = Y + g[l](x) * (l + 1) }\n  return Y\n}", dict(x=(2,)), lambda x, w: sum((l + 1) * x @ w[f"g.{l}/linear/W"] for l in range(3)))
case("weight", "box f(x: R[t i]) -> R[t i] {\n  learn W : R[i o:i] = normal\n  return y[t o] = x[t i] W[i o]\n}", dict(x=(2, 3)), lambda x, w: x @ w["W"])


# scan
def scanned(cell, X, h):
    out = []
    for x in X:
        h = cell(x, h)
        out.append(h)
    return np.stack(out)


CELL = "box cell(x: R[s], h: R[s]) -> R[s] = tanh(x + 0.5 * h)\n"
step = lambda x, h: np.tanh(x + 0.5 * h)
case("scan", CELL + "box f(X: R[t s]) -> R[t s] = scan[t, cell](X)", dict(X=(4, 3)), lambda X: scanned(step, X, 0 * X[0]))
case("scan_start", CELL + "box f(X: R[t s], h: R[s]) -> R[t s] = scan[t, cell](X, h)", dict(X=(4, 3), h=(3,)), lambda X, h: scanned(step, X, h))
case("scan_start_number", CELL + "box f(X: R[t s]) -> R[t s] = scan[t, cell](X, 1)", dict(X=(4, 3)), lambda X: scanned(step, X, 0 * X[0] + 1))
case("scan_scalar", "box cell(x: R[], h: R[]) -> R[] = x + 0.5 * h\nbox f(X: R[t]) -> R[t] = scan[t, cell](X)", dict(X=(5,)), lambda X: scanned(lambda x, h: x + 0.5 * h, X, 0.0))
case("scan_inner_axis", CELL + "box f(X: R[s t]) -> R[s t] = scan[t, cell](X)", dict(X=(3, 4)), lambda X: scanned(step, X.T, 0 * X.T[0]).T)
case("scan_box_passes", CELL + "box g(X: R[t s]) -> R[t s] = scan[t, cell](X)\nbox f(X: R[n t s]) -> R[n t s] = g(X)", dict(X=(2, 4, 3)), lambda X: np.stack([scanned(step, x, 0 * x[0]) for x in X]))
case("scan_start_passes", CELL + "box g(X: R[t s], h: R[s]) -> R[t s] = scan[t, cell](X, h)\nbox f(X: R[n t s], h: R[s]) -> R[n t s] = g(X, h)", dict(X=(2, 4, 3), h=(3,)), lambda X, h: np.stack([scanned(step, x, h) for x in X]))
case("scan_starts_pass", CELL + "box g(X: R[t s], h: R[s]) -> R[t s] = scan[t, cell](X, h)\nbox f(X: R[t s], h: R[n s]) -> R[n t s] = g(X, h)", dict(X=(4, 3), h=(2, 3)), lambda X, h: np.stack([scanned(step, X, k) for k in h]))
case("scan_two_rows", "box cell(x: R[s], y: R[s], h: R[s]) -> R[s] = x * h + y\nbox f(X: R[t s], Y: R[t s]) -> R[t s] = scan[t, cell](X, Y, 1)", dict(X=(4, 3), Y=(4, 3)), lambda X, Y: scanned(lambda xy, h: xy[0] * h + xy[1], list(zip(X, Y)), np.ones(3)))
case("scan_two_carries", "box cell(x: R[s], h: R[s], c: R[s]) -> R[s], R[s] = (x + c, h * 0.5)\nbox f(X: R[t s]) -> R[t s] {\n  H, C = scan[t, cell](X, 1, 2)\n  return H - 3 * C\n}", dict(X=(4, 3)), lambda X: np.stack([h - 3 * c for h, c in scan_pair(X)]))
case("scan_weights", "box cell(x: R[m], h: R[s]) -> R[s] {\n  learn W : R[m s] = normal, U : R[s s2:s] = normal\n  Z[s] = x[m] W[m s] + h[q] U[q s]\n  return tanh(Z)\n}\nbox f(X: R[t m]) -> R[t 3] = scan[t, cell](X)", dict(X=(4, 2)), lambda X, w: scanned(lambda x, h: np.tanh(x @ w["scan/cell/W"] + h @ w["scan/cell/U"]), X, np.zeros(3)))
case("scan_far_axis", "box cell(x: R[s], h: R[s]) -> R[s] = tanh(x + 0.5 * h)\nbox f(X: R[t n s]) -> R[t n s] = scan[t, cell](X)", dict(X=(4, 2, 3)), lambda X: scanned(step, X, 0 * X[0]))
case("scan_option", "box cell[k: 2](x: R[s], h: R[s]) -> R[s] = x + k * h\nbox g[c](X: R[t s]) -> R[t s] = scan[t, c](X)\nbox f(X: R[t s]) -> R[t s] = g[cell[0.5]](X) - scan[t, cell](X)", dict(X=(3, 2)), lambda X: scanned(lambda x, h: x + 0.5 * h, X, 0 * X[0]) - scanned(lambda x, h: x + 2 * h, X, 0 * X[0]))
case("over_two_inside", "box g(x: R[p q]) -> R[q] = sum[p](x)\nbox f(x: R[h p k q]) -> R[h k q] = g(x) over (h k)", dict(x=(2, 3, 2, 4)), lambda x: x.sum(1))
case("over_a_pipe", "box f(x: R[a h]) -> R[a h] = (tanh ; softmax[a])(x) over h", dict(x=(2, 3)), lambda x: softmax(np.tanh(x), 0))
case("choice_by_label", "box f(x: R[a b], y: R[a]) -> R[a b] = x when y > 0 else y", dict(x=(3, 3), y=(3,)), lambda x, y: np.where(y[:, None] > 0, x, y[:, None]))
case("constant_array", "const K = [1, 0, -1]\nbox f(x: R[3]) -> R[3] {\n  return Y[i] = x[i+p-1] K[p]   pad 0\n}", dict(x=(3,)), lambda x: np.array([-x[1], x[0] - x[2], x[1]]))
case("index_in_loop", "box f(x: R[3]) -> R[3] {\n  Y = x\n  for l in 0..2 { Y[i] = Y[i] + x[l] * i }\n  return Y\n}", dict(x=(3,)), lambda x: x + x.sum() * np.arange(3))
case("scan_along_passing", CELL + "box f(X: R[n t s]) -> R[n t s] = scan[t, cell](X)", dict(X=(2, 4, 3)), lambda X: np.stack([scanned(step, x, 0 * x[0]) for x in X]))


def scan_pair(X):
    h, c, out = np.ones(3), 2 * np.ones(3), []
    for x in X:
        h, c = x + c, h * 0.5
        out.append((h, c))
    return out


def local(x, w):
    g = sorted(k for k in w)
    assert len(g) == 2, g
    for k in g:
        x = x @ w[k] @ w[k] - x
    return x


REFUSED = [
    (DOT + "box f(x: R[t a], y: R[u a]) -> R[t u] = dot(x, y)", "outer product"),
    (DOT + "box f(x: R[3], y: R[4]) -> R[] = dot(x, y)", "3"),
    ("axis row = 3, col = 3\n" + "box g(x: R[row col]) -> R[] = sum(x)\nbox f(x: R[col row]) -> R[] = g(x)", "row"),
    ("box f(x: R[a b], y: R[b a]) -> R[a b] = x + y", "fit together"),
    ("box f(x: R[2 3], y: R[1 3]) -> R[2 3] = x + y", "does not stretch"),
    ("box f(x: R[a a]) -> R[a a] = softmax[a](x)", "a"),
    ("box f(x: R[a b]) -> R[a b] = softmax[c](x)", "c"),
    (DOT + "box f(x: R[a], y: R[a]) -> R[] = dot(x, y) over h", "h"),
    ("box g[k](x: R[]) -> R[] = k * x\nbox f(x: R[]) -> R[] = g(x)", "k"),
    ("box g(x: R[...s], y: R[...s]) -> R[] = sum(x * y)\nbox f(x: R[2 3], y: R[3]) -> R[] = g(x, y)", ""),
    ("box f(x: R[a]) -> R[a] = f(x)", "f"),
    ("learn g : R[3] -> R[3] = linear[3]\nbox f(x: R[4]) -> R[3] = g(x)", "4"),
]


def slopes_differ(value, arrays, grads):
    """Gradients of the sum of the result, along one direction for each input, by differences."""
    for name, a in arrays.items():
        if name not in grads:
            continue
        v = rng.normal(size=np.shape(a))
        up, down = (np.sum(value(dict(arrays, **{name: a + h * v}))) for h in (1e-6, -1e-6))
        slope, got = (up - down) / 2e-6, np.sum(grads[name] * v)
        if not abs(got - slope) <= 1e-6 * (1 + abs(slope)):
            return f"slope along {name}: {got}, wanted {slope}"
    return None


def main():
    pending = []

    def settle():
        name, text, arrays, want, finish = pending.pop(0)
        try:
            got, grads, weights = finish()
            weights = {k[2:] if k.startswith("f/") else k: v for k, v in weights.items()}
            wants_weights = "w" in want.__code__.co_varnames[: want.__code__.co_argcount]
            value = lambda a: want(*a.values(), weights) if wants_weights else want(*a.values())
            problem = harness.differs(got, value(arrays)) or slopes_differ(value, arrays, grads)
        except (harness.Failed, AssertionError, KeyError) as e:
            problem = repr(e) if not isinstance(e, harness.Failed) else e
        harness.report("call_" + name, problem, text)

    for name, text, arrays, want, box in CASES:
        pending.append((name, text, arrays, want, harness.start(text + "\n", box, arrays, name, save=True, ones=True)))
        if len(pending) > 3:
            settle()
    while pending:
        settle()
    for i, (text, said) in enumerate(REFUSED):
        try:
            harness.check(text + "\n", f"refused_{i}")
            problem = "it is not refused"
        except harness.Failed as e:
            problem = None if said in str(e) else e
        harness.report(f"call_refused_{i}", problem, text)
    sys.exit(harness.failures > 0)


if __name__ == "__main__":
    main()
