

class Training:
    """The training of a phase: `step` makes a round on a batch, a dict of arrays with samples in front.
    Schedules are planned for `steps` rounds, and hold their last value beyond them.

    A round is one step, or one for each turn and for each batch that is accumulated: then a list of
    batches may be given, one for each."""

    def __init__(self, model, phase=0, steps=None):
        self.model, self.phase = model, PHASES[phase]
        self.steps, self.rounds, self.kept = planned(self.phase, steps), 0, {}
        self.weights = dict(model.named_parameters())
        self.states = dict(self.weights, **dict(model.named_buffers()))

    def step(self, batches):
        """A round. Gives what each goal shows: its mean distance, before `times`."""
        given, losses, mode = batches, {}, self.model.training
        batches = iter(given) if isinstance(given, (list, tuple)) else iter(lambda: given, None)
        self.model.train()
        for fronts, times in self.phase["turns"] or ((("",), 1),):
            for _ in range(times):
                losses.update(self._turn(fronts, batches))
        self.model.train(mode)
        with torch.no_grad():
            self._follow()
        self.rounds += 1
        return losses

    def _turn(self, fronts, batches):
        moved = [name for name in self.weights if self._rule(name) and begins(name, fronts)]
        many, total = self.phase["accumulate"], {}
        for _ in range(many):
            losses, slopes = self._slopes(moved, next(batches))
            for name, slope in slopes.items():
                total[name] = total[name] + slope / many if name in total else slope / many
        with torch.no_grad():
            self._move(total)
        return losses

    def _slopes(self, moved, batch):
        """What each goal shows, and the slope of each weight that moves: a goal moves only its own."""
        held, losses, states = {}, {}, {}
        slopes = {name: torch.zeros_like(self.weights[name]) for name in moved}
        with torch.no_grad():
            for name in self.weights:
                if self._rule(name) and self._rule(name)[2]:
                    held[name] = self.weights[name].clone()
                    self.weights[name].copy_(self._seen(name))
            for name, value in self._clock().items():
                if name in self.states:
                    self.states[name].copy_(value)
        for goal in self.phase["goals"]:
            forward, fields, fronts, times, uses = GOALS[goal]
            own = [name for name in moved if begins(name, fronts)]
            if self.phase["turns"] and not own:
                continue
            made = forward(self.model, *[tensor_of(batch[field]) for field in fields])
            loss, state = made if isinstance(made, tuple) else (made, {})
            found = [None] * len(own)
            if own and loss.requires_grad:
                found = torch.autograd.grad(times * loss, [self.weights[name] for name in own], allow_unused=True)
            for name, slope in zip(own, found):
                slopes[name] = slopes[name] if slope is None else slopes[name] + slope
            for name, value in state.items():
                states.setdefault(name, []).append((value.detach(), uses.get(name, 1)))
            losses[goal] = loss.item()
        with torch.no_grad():
            for name, value in held.items():
                self.weights[name].copy_(value)
            for name, values in states.items():
                self.states[name].copy_(mean_over_uses(values))
        return losses, slopes

    def _move(self, slopes):
        clip, decay = self.phase["clip"], self.phase["decay"]
        factor = 1
        if clip:
            norm = sum((slope * slope).sum() for slope in slopes.values()) ** 0.5
            factor = torch.clamp(clip / (norm + 1e-6), max=1)
        moved = {}
        for name, slope in slopes.items():
            _, rule, _, form, keeps = self._rule(name)
            weight, slope = self.weights[name], slope * factor
            if decay:
                slope = slope + decay * self._seen(name)
            made = rule(formed(weight, form), formed(slope, form), *self._keeps(name, form, keeps))
            made = made if isinstance(made, tuple) else (made,)
            moved[name] = made[0].reshape(weight.shape)
            after = dict(zip([x[0] for x in keeps if not isinstance(x, str) and x[3]], made[1:]))
            self.kept.setdefault(name, {}).update(after)
        for name, value in moved.items():
            self.weights[name].copy_(value)

    def _follow(self):
        for name, of, number, by in self.phase["copies"]:
            copy, now = self.states[name], self.states[of]
            if by:
                copy.copy_(number * copy + (1 - number) * now)
            elif (self.rounds + 1) % number == 0:
                copy.copy_(now)

    def _rule(self, name):
        return next((rule for rule in self.phase["rules"] if begins(name, rule[0])), None)

    def _seen(self, name):
        """What the model sees in the place of a weight."""
        _, _, look, form, keeps = self._rule(name)
        weight = self.weights[name]
        if not look:
            return weight
        p = formed(weight, form)
        return look(p, torch.zeros_like(p), *self._keeps(name, form, keeps)).reshape(weight.shape)

    def _keeps(self, name, form, keeps):
        kept, clock = self.kept.setdefault(name, {}), self._clock()
        for keep in keeps:
            if not isinstance(keep, str) and keep[0] not in kept:
                shape = formed(self.weights[name], form).shape if keep[2] else ()
                kept[keep[0]] = torch.full(shape, keep[1], device=self.weights[name].device)
        return [clock[keep] if isinstance(keep, str) else kept[keep[0]] for keep in keeps]

    def _clock(self):
        return {"step": torch.tensor(float(self.rounds)), "steps": torch.tensor(float(self.steps))}


def tensor_of(x):
    """A tensor, or an array of numpy; reals are as precise as the weights."""
    x = x if isinstance(x, torch.Tensor) else torch.as_tensor(np.asarray(x))
    return x.to(torch.get_default_dtype()) if x.is_floating_point() else x


def formed(x, form):
    return x.reshape(-1) if form == "row" else x.reshape(-1, x.shape[-1]) if form == "matrix" else x


def train(model, data, phase=None, epochs=None, steps=None, batch=None, seed=0, say=print):
    """The program's training, phase by phase, on arrays by name, samples in front; each epoch goes through
    them in an order of its own. What is drawn may be left out."""
    rng = np.random.default_rng(seed)
    data = {name: tensor_of(x) for name, x in data.items()}
    count = len(next(iter(data.values()))) if data else 0
    for number in range(len(PHASES)) if phase is None else [phase]:
        how = PHASES[number]
        size = int(batch or how["batch"])
        turns = sum(times for _, times in how["turns"]) or 1
        runs = int(turns * how["accumulate"])
        each = -(-(-(-count // size)) // runs)
        long = epochs or (0 if steps else how["epochs"])
        total = int(np.ceil(long * each - 1e-9)) if long else int(steps or how["steps"])
        if not total:
            raise ValueError("no data are given: say how many steps")
        training, order = Training(model, number, total), []
        for step in range(total):
            batches = []
            for _ in range(runs):
                if not order:
                    rows = rng.permutation(count)
                    order = [rows[i:i + size] for i in range(0, count, size)]
                rows = torch.as_tensor(order.pop(0)) if order else None
                batches.append({name: x[rows] for name, x in data.items()} if data else {})
                for name, (kind, shape) in DRAWN.items():
                    draw = torch.randn if kind == "normal" else torch.rand
                    batches[-1].setdefault(name, draw((len(rows) if data else size, *shape)))
            losses = training.step(batches)
            if say and (step + 1) % max(each if long else total // 10, 1) == 0:
                say(step + 1, " ".join("%s %.6g" % x for x in losses.items()))
    return model


def arrays(model):
    """Weights and states by name."""
    return {name: x.detach().cpu().numpy() for name, x in model.state_dict().items()}


def start(weights, seed):
    torch.manual_seed(seed)
    return load(Goals(), weights) if weights else Goals()
