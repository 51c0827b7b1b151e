"""Random small programs that train by a schedule: random_programs.py FOLDER [COUNT [FIRST]]. Prints their paths.

Each has a plan of a few steps, so that ten steps go beyond it; layers that are something else in training, as batch_norm; goals that share or
part the weights; optimisers with states, and settings that fall."""
import os
import random
import sys

FOLDER = sys.argv[1]
COUNT, FIRST = (int(x) for x in (sys.argv[2:] + ["3", "1"][len(sys.argv) - 2:]))
SCHEDULES = ["{r}", "fade({r})", "cosine({r})", "cool({r})", "cool[end: 0.1]({r})", "warmup[3](fade({r}))", "warmup[20]({r})", "stairs[4]({r})", "stairs[2, factor: 0.5](cosine({r}))", "own({r})", "left({r})"]
OPTIMISERS = ["gd({s})", "gd({s})", "nesterov({s})", "adam({s})", "adam({s}, b1: 0.8)", "adamw({s}, decay: 0.1)", "optimistic({s})"]


def one(seed):
    rng = random.Random(seed)
    def net(out): return " ; ".join(rng.choice(["dense[3] ; tanh", "linear[4] ; batch_norm ; relu", "dense[3] ; layer_norm", "batch_norm ; dense[4]"]) for _ in range(rng.randint(0, 1))) + f" ; dense[{out}]"
    def schedule(): return rng.choice(SCHEDULES).format(r=rng.choice(["0.1", "0.05", "0.3"]))
    def optimiser(): return rng.choice(OPTIMISERS).format(s=schedule())
    lines = ["box own(rate: R[]) -> R[] = rate * (1 - (step / steps) ^ 2) + 0.001 * (steps - step)", "box left(rate: R[]) -> R[] = rate * sqrt(steps - step - 1)",
             "given x, kind from iris", f"learn f : R[4] -> R[3] = {net(3).lstrip(' ;')}", f"learn g : R[4] -> R[2] = {net(2).lstrip(' ;')}",
             "goal fit : f(x) ~ kind by cross_entropy", "measure used_fit : f(x) ~ kind by cross_entropy on iris"]
    two = rng.random() < 0.5
    if two:
        goal, value, more = rng.choice([("small", "g(x) ~ 0 by l2", " times 0.5"), ("apart", "maximise mean(g(x)) - 0.5 * sum(g(x) * g(x))", " times 0.3"), ("late", "sum(g(x)) ~ step / steps by l2", "")])
        lines.append(f"goal {goal} : {value}{more}")
        if goal != "late": lines.append(f"measure used_{goal} : {value} on iris")  # no step is made where it is measured
    plan = rng.choice([f"{rng.randint(1, 9)} steps", f"{rng.randint(1, 9)} epochs, batch 150", f"{rng.randint(1, 3)} epochs, batch 64"])
    more = [x for x in ("clip 0.7", "decay 0.01", "accumulate 2") if rng.random() < 0.2]
    ways = [optimiser()] if not two or rng.random() < 0.5 else [f"f: {optimiser()}", f"g: {optimiser()}"]
    lines.append(f"train {', '.join([plan, *ways, *more])}")
    path = os.path.join(FOLDER, f"random{seed}.limn")
    with open(path, "w") as f: f.write("\n".join(lines) + "\n")
    return path


os.makedirs(FOLDER, exist_ok=True)
print(*[one(seed) for seed in range(FIRST, FIRST + COUNT)], sep="\n")
