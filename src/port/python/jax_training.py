

def flat(p, front=""):
    """A tree of dicts as one dict, {"enc.dense_1.b": array}."""
    all = {}
    for name, x in p.items():
        all.update(flat(x, front + name + ".") if isinstance(x, dict) else {front + name: x})
    return all


def tree(weights):
    """And back."""
    p = {}
    for name, x in weights.items():
        *above, last = name.split(".")
        branch = p
        for word in above:
            branch = branch.setdefault(word, {})
        branch[last] = x
    return p


def formed(x, form):
    return x.reshape(-1) if form == "row" else x.reshape(-1, x.shape[-1]) if form == "matrix" else x


def rule_of(how, name):
    if name in STATES:
        return None
    return next((rule for rule in how["rules"] if begins(name, rule[0])), None)


def begin(p, phase=0, steps=None, seed=0):
    """What `step` takes and gives: weights by name, what rules keep, clocks, and a key for noise.
    Schedules are planned for `steps` rounds, and hold their last value beyond them."""
    how, kept = PHASES[phase], {}
    for name, x in flat(p).items():
        rule = rule_of(how, name)
        if rule:
            kept[name] = {
                keep[0]: jnp.full(formed(x, rule[3]).shape if keep[2] else (), keep[1], REAL)
                for keep in rule[4] if not isinstance(keep, str)
            }
    clock = {"step": jnp.array(0.0, REAL), "steps": jnp.array(float(planned(how, steps)), REAL)}
    return {"weights": flat(p), "kept": kept, "clock": clock, "key": jax.random.PRNGKey(seed)}


def keeps_of(state, name, rule):
    kept, clock = state["kept"][name], state["clock"]
    return [clock[keep] if isinstance(keep, str) else kept[keep[0]] for keep in rule[4]]


def seen(state, how, name):
    """What the model sees in the place of a weight."""
    x, rule = state["weights"][name], rule_of(how, name)
    if not rule or not rule[2]:
        return x
    p = formed(x, rule[3])
    return rule[2](p, jnp.zeros_like(p), *keeps_of(state, name, rule)).reshape(x.shape)


def slopes_of(state, how, moved, batch, key):
    """What each goal shows, the slope of each weight that moves (a goal moves only its own), and states."""
    weights = {name: seen(state, how, name) for name in state["weights"]}
    weights.update({name: x for name, x in state["clock"].items() if name in weights})
    losses, states, slopes = {}, {}, {name: jnp.zeros_like(weights[name]) for name in moved}
    for goal in how["goals"]:
        f, fields, fronts, times, noisy, uses = GOALS[goal]
        own = [name for name in moved if begins(name, fronts)]
        if how["turns"] and not own:
            continue
        key, draw = jax.random.split(key)
        given = ([draw] if noisy else []) + [batch[field] for field in fields]

        def lost(part):
            made = f(tree(dict(weights, **part)), *given)
            shown, moving = made if isinstance(made, tuple) else (made, {})
            return times * shown, (shown, moving)

        part = {name: weights[name] for name in own}
        (_, (loss, moving)), found = jax.value_and_grad(lost, has_aux=True)(part) if own else (lost(part), {})
        for name in own:
            slopes[name] = slopes[name] + found[name]
        for name, x in moving.items():
            states.setdefault(name, []).append((x, uses.get(name, 1)))
        losses[goal] = loss
    return losses, slopes, {name: mean_over_uses(all) for name, all in states.items()}


def move(state, how, slopes):
    """Rules step the weights, all from where they are."""
    factor, weights, kept = 1, dict(state["weights"]), dict(state["kept"])
    if how["clip"]:
        norm = sum((slope * slope).sum() for slope in slopes.values()) ** 0.5
        factor = jnp.minimum(1, how["clip"] / (norm + 1e-6))
    for name, slope in slopes.items():
        x, rule = state["weights"][name], rule_of(how, name)
        slope = slope * factor
        if how["decay"]:
            slope = slope + how["decay"] * seen(state, how, name)
        made = rule[1](formed(x, rule[3]), formed(slope, rule[3]), *keeps_of(state, name, rule))
        made = made if isinstance(made, tuple) else (made,)
        weights[name] = made[0].reshape(x.shape)
        changed = [keep[0] for keep in rule[4] if not isinstance(keep, str) and keep[3]]
        kept[name] = dict(kept[name], **dict(zip(changed, made[1:])))
    return dict(state, weights=weights, kept=kept)


def step(state, batches, phase=0):
    """A round on a batch, a dict of arrays with samples in front: what each goal shows (its mean
    distance, before `times`), and the next state.

    A round is one step, or one for each turn and for each batch that is accumulated: then a list of
    batches may be given, one for each. It is pure: jax.jit(step, static_argnums=2)."""
    how, given, losses = PHASES[phase], batches, {}
    batches = iter(given) if isinstance(given, (list, tuple)) else iter(lambda: given, None)
    for fronts, times in how["turns"] or ((("",), 1),):
        moved = [name for name in state["weights"] if rule_of(how, name) and begins(name, fronts)]
        for _ in range(times):
            total = {name: jnp.zeros_like(state["weights"][name]) for name in moved}
            for left in reversed(range(how["accumulate"])):
                key, draw = jax.random.split(state["key"])
                lost, slopes, states = slopes_of(state, how, moved, next(batches), draw)
                total = {name: x + slopes[name] / how["accumulate"] for name, x in total.items()}
                losses.update(lost)
                state = dict(state if left else move(state, how, total), key=key)
                state["weights"] = dict(state["weights"], **states)
    weights, clock = dict(state["weights"]), state["clock"]
    for name, of, number, by in how["copies"]:
        copy, now = weights[name], weights[of]
        after = (clock["step"] + 1) % number == 0
        weights[name] = number * copy + (1 - number) * now if by else jnp.where(after, now, copy)
    return losses, dict(state, weights=weights, clock=dict(clock, step=clock["step"] + 1))


def train(p, data, phase=None, epochs=None, steps=None, batch=None, seed=0, say=print):
    """The program's training, phase by phase, on arrays by name, samples in front; each epoch goes through
    them in an order of its own. What is drawn may be left out."""
    rng = np.random.default_rng(seed)
    data = {name: np.asarray(x) for name, x in data.items()}
    data = {name: x.astype(REAL) if x.dtype.kind == "f" else x for name, x in data.items()}
    count = len(next(iter(data.values()))) if data else 0
    one = jax.jit(step, static_argnums=2)
    for number in range(len(PHASES)) if phase is None else [phase]:
        how = PHASES[number]
        size = int(batch or how["batch"])
        runs = int((sum(times for _, times in how["turns"]) or 1) * how["accumulate"])
        each = -(-(-(-count // size)) // runs)
        long = epochs or (0 if steps else how["epochs"])
        total = int(np.ceil(long * each - 1e-9)) if long else int(steps or how["steps"])
        if not total:
            raise ValueError("no data are given: say how many steps")
        state, order = begin(p, number, total, seed), []
        for at in range(total):
            batches = []
            for _ in range(runs):
                if not order:
                    rows = rng.permutation(count)
                    order = [rows[i:i + size] for i in range(0, count, size)]
                rows = order.pop(0) if order else None
                batches.append({name: x[rows] for name, x in data.items()} if data else {})
                for name, (kind, shape) in DRAWN.items():
                    draw = rng.normal if kind == "normal" else rng.uniform
                    shape = (len(rows) if data else size, *shape)
                    batches[-1].setdefault(name, draw(size=shape).astype(REAL))
            losses, state = one(state, batches, number)
            if say and (at + 1) % max(each if long else total // 10, 1) == 0:
                say(at + 1, " ".join("%s %.6g" % (name, float(x)) for name, x in losses.items()))
        p = tree(state["weights"])
    return p


def arrays(p):
    """Weights and states by name."""
    return flat(p)


def start(weights, seed):
    return load(weights) if weights else init(seed)
