"""Laws of what lessons 05, 07 and 08 build, train, save and measure, over drawn sizes and seeds."""

import dataclasses
import itertools
import linecache
import types

import numpy as np
import torch
from drawn import about, even_dims, near, normal, seeds, slow, thetas
from drawn_torch import sizes
from hypothesis import given
from hypothesis import strategies as st

from lessons import (
    atomic,
    checkpoint,
    extension,
    fingerprint,
    frequencies,
    layers,
    model,
    recall_task,
    recipes,
    results,
    rope,
    training,
    variants,
    workers,
)

PAIRS = {
    "NoPosition": {},
    "Sinusoidal": {"d_model": 8, "max_len": 40},
    "Learned": {"d_model": 8, "max_len": 40},
    "Rotary": {"inv_freq": [1.0, 0.1], "max_len": 40},
    "Alibi": {"n_heads": 2},
    "T5Bias": {"n_heads": 2},
    "LogQueries": {"inner": ("Alibi", {"n_heads": 2}), "original_max_len": 4},
}
pairs = st.sampled_from(list(PAIRS.items()))


@about(recipes.scheme, recipes.build)
@given(st.lists(pairs, min_size=1, max_size=3), seeds)
def test_a_model_is_made_of_the_named_schemes_and_of_its_seed_alone(schemes, seed):
    config = model.ModelConfig(11, 8, 2, len(schemes))
    state = torch.get_rng_state()
    one, other = (recipes.build(config, schemes, seed) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    for (name, arguments), made in zip(schemes, one.schemes, strict=True):
        assert type(made) is getattr(layers, name) is type(recipes.scheme(name, arguments))
    for key, value in one.state_dict().items():
        assert torch.equal(other.state_dict()[key], value)
    third = recipes.build(config, schemes, seed + 1)
    assert not torch.equal(third.embedding.weight, one.embedding.weight)


@about(recipes.rotary)
@given(even_dims, thetas, st.none() | st.floats(1, 1e6))
def test_a_rotary_pair_turns_its_ladder_but_for_waves_that_are_too_long(head_dim, theta, longest):
    name, arguments = recipes.rotary(head_dim, theta, longest)
    found = np.array(arguments["inv_freq"])
    w = frequencies.inverse_frequencies(head_dim, theta)
    turns = np.ones(len(w), bool) if longest is None else frequencies.wavelengths(w) < longest
    assert name == "Rotary" and found.tolist() == np.where(turns, w, 0).tolist()


@about(checkpoint.save, checkpoint.load, checkpoint.describe)
@slow()
@given(st.lists(pairs, min_size=1, max_size=2), seeds, st.none() | st.integers(1, 9))
def test_a_saved_model_comes_back_with_all_that_is_known(tmp_path_factory, schemes, seed, window):
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    config = model.ModelConfig(11, 8, 2, len(schemes), [window] * len(schemes))
    made = recipes.build(config, schemes, seed)
    checkpoint.save(path, made, schemes, seed=seed)
    checkpoint.describe(path, command="make")
    found, about_it = checkpoint.load(path)
    assert about_it == {"seed": seed, "command": "make"} and found.config == made.config
    for key, value in made.state_dict().items():
        assert torch.equal(found.state_dict()[key], value.half().float())


@about(atomic.replacing, atomic.beside)
@given(st.binary(), st.binary(), st.booleans())
def test_a_file_is_the_old_one_or_the_new_one(tmp_path_factory, old, new, fails):
    path = tmp_path_factory.mktemp("whole") / "file"
    path.write_bytes(old)
    try:
        with atomic.replacing(path) as written:
            assert written == atomic.beside(path) != path and written.parent == path.parent
            written.write_bytes(new)
            if fails:
                raise InterruptedError
    except InterruptedError:
        assert path.read_bytes() == old
    else:
        assert path.read_bytes() == new and list(path.parent.iterdir()) == [path]


def function(source, name):
    """A function of this source, which ``inspect`` can read again."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module = types.ModuleType("drawn")
    exec(compile(source, name, "exec"), vars(module))
    return module.f


LINES = ["def f(x, n={0}):", "    if n > {1}:", "        x = x + {2}", "    return x * n"]
remarks = st.lists(st.sampled_from(["", "# a remark", "    # within"]), max_size=2)
numbers = st.tuples(*[st.integers(0, 9)] * 3)


@about(fingerprint.code_hash)
@given(numbers, numbers, st.lists(remarks, min_size=4, max_size=4), st.booleans())
def test_remarks_leave_the_hash_and_constants_move_it(ours, other, between, documented):
    def written(values, remarks=((),) * 4):
        lines = [[line.format(*values), *more] for line, more in zip(LINES, remarks, strict=True)]
        if documented and any(remarks):
            lines[0].append('    """What it does."""')
        return "\n".join(itertools.chain(*lines)) + "\n"

    plain, remarked, changed = (
        function(source, f"<drawn {i}>")
        for i, source in enumerate((written(ours), written(ours, between), written(other)))
    )
    found = fingerprint.code_hash(plain)
    assert fingerprint.code_hash(remarked) == found
    assert (fingerprint.code_hash(changed) == found) == (ours == other)
    both = fingerprint.code_hash(plain, changed)
    assert (both == fingerprint.code_hash(changed, plain)) == (ours == other)


even_lengths = st.integers(24, 60).map(lambda half: 2 * half)


@about(recall_task.sequences, recall_task.share_right)
@given(st.integers(1, 8), even_lengths, seeds)
def test_every_asked_value_stood_behind_its_key_before(n, length, seed):
    tokens, targets = recall_task.sequences(n, length, torch.Generator().manual_seed(seed))
    assert tokens.shape == targets.shape == (n, length)
    asked = 2 * recall_task.PAIRS
    for row, wanted in zip(tokens.tolist(), targets.tolist(), strict=True):
        assert all(
            key < recall_task.SYMBOLS <= value for key, value in zip(*pairs_of(row), strict=True)
        )
        known = dict(zip(*pairs_of(row[:-asked]), strict=True))
        last = row[-asked::2]
        assert [known[key] for key in last] == row[1 - asked :: 2] == wanted[-asked::2]
        assert len(set(last)) == recall_task.PAIRS
        assert set(wanted[:-asked]) | set(wanted[1 - asked :: 2]) <= {training.IGNORED}

    def oracle(share):
        def answers(tokens):
            follows = tokens.roll(-1, 1)
            follows[int(share * len(tokens)) :] += 1  # wrong in the other rows
            return torch.nn.functional.one_hot(follows, 65).double()

        return answers

    assert recall_task.share_right(oracle(1), length, n=n, seed=seed) == 1
    assert recall_task.share_right(oracle(0), length, n=n, seed=seed) == 0


def pairs_of(row):
    return row[::2], row[1::2]


@about(recall_task.learn, training.fit, training.train)
@slow()
@given(seeds, st.integers(1, 2), st.sampled_from([0.0, 1e-3]))
def test_a_run_is_its_seed_and_a_rate_of_0_changes_nothing(seed, steps, rate):
    text = np.random.default_rng(seed).integers(0, 64, 40).astype(np.uint8).tobytes()

    def run(how):
        made, ticks = recipes.build(model.ModelConfig(65, 8, 2, 1), [recipes.NONE], seed), []
        given = {"steps": steps, "seed": seed, "lr": rate, "batch": 2}
        given["tick"] = lambda: ticks.append(1)
        before = made.embedding.weight.detach().clone()
        if how == "recall":
            loss = recall_task.learn(made, length=48, **given)
        elif how == "text":
            loss = training.train(made, text, seq_len=8, **given)
        else:
            batch = torch.full((2, 1, 3), seed % 65)
            given.pop("batch")
            loss = training.fit(made, lambda generator: batch, **given)
        assert len(ticks) == steps and np.isfinite(loss)
        assert torch.equal(made.embedding.weight, before) == (rate == 0)
        return loss, made.embedding.weight.detach().clone()

    for how in ("recall", "text", "fit"):
        (loss, weight), (again, same) = run(how), run(how)
        assert loss == again and torch.equal(weight, same)


@about(training.as_tokens, training.loss_by_length, training.position_losses)
@about(training.last_losses, training.defined)
@slow(2)
@given(st.binary(min_size=40, max_size=90), st.integers(1, 12), st.integers(1, 12), seeds)
def test_a_loss_is_the_same_for_every_model_that_knows_nothing(text, length, window, seed):
    tokens = training.as_tokens(text)
    assert bytes(tokens.tolist()) == text and tokens.dtype == torch.int64
    learned = ("Learned", {"d_model": 8, "max_len": 10})
    reader = recipes.build(model.ModelConfig(256, 8, 2, 1), [learned], seed)
    known = {"n_tokens": 12 * length}
    found = training.position_losses(reader, text, length, window=window, **known)
    by_length = training.loss_by_length(reader, text, [length], window=window, **known)
    last = training.last_losses(reader, text, length, reach=20, n_targets=5)
    if not training.defined(reader, length):
        assert length > 10 and found is last is by_length[length] is None
        return
    assert length <= 10 and found.shape == (min(12 * length, len(text) - 1) // length, length)
    near(by_length[length], found.mean(), 0)
    if window >= length:  # each position's loss is that of its prefix, read alone
        ids = tokens[: length + 1]
        logits = reader(ids[None, :-1]).detach()[0]
        one_by_one = torch.nn.functional.cross_entropy(logits, ids[1:], reduction="none")
        near(found[0], one_by_one, 1e-5)
    assert last.shape == (5,)
    torch.nn.init.zeros_(reader.embedding.weight)
    level = training.position_losses(reader, text, length, window=window, **known)
    near(level, np.full(level.shape, np.log(256)), 1e-5)


@about(extension.rescaled, extension.Rule)
@slow()
@given(st.sampled_from(sorted(extension.RULES)), seeds, st.floats(1, 16), st.integers(1, 256))
def test_a_rescaled_copy_turns_by_the_rule_and_a_factor_of_1_reads_as_before(
    rule, seed, factor, length
):
    made = recipes.build(model.ModelConfig(16, 96, 4, 1), [recipes.ROPE], seed)
    tokens = torch.from_numpy(np.random.default_rng(seed).integers(0, 16, (1, 9)))
    copied = extension.rescaled(made, rule, factor, length)
    near(copied.schemes[0].inv_freq, extension.RULES[rule].inv_freq(factor, length), 0)
    assert copied.schemes[0] is not made.schemes[0]
    assert torch.equal(copied.embedding.weight, made.embedding.weight)
    if rule not in ("theta", "truncated"):
        unscaled = extension.rescaled(made, rule, 1, min(length, 64))
        near(unscaled(tokens).detach(), made(tokens).detach(), 1e-5)


@about(results.by_seed)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.floats(-9, 9)), min_size=1))
def test_a_recipe_has_a_row_for_each_of_its_runs_in_order(drawn):
    runs = [{"recipe": name, "loss": {"64": x, "128": 1.0}} for name, x in drawn]
    for name in {name for name, _ in drawn}:
        wanted = [np.nan if x is None else x for other, x in drawn if other == name]
        np.testing.assert_array_equal(results.by_seed(runs, name, "loss", 64), wanted)
        table = results.by_seed(runs, name, "loss")
        np.testing.assert_array_equal(table, np.c_[wanted, np.ones(len(wanted))])


@about(variants.build, variants.tables, variants.matrices, variants.rotate_half)
@about(variants.full_width, variants.halves, variants.buffer, variants.complex_product)
@given(seeds, st.integers(1, 5), even_dims, thetas, sizes, sizes)
def test_every_variant_is_the_rotation_of_numpy(seed, seq, head_dim, theta, batch, heads):
    x = torch.from_numpy(normal(seed, batch, heads, seq, head_dim)).float()
    w = frequencies.inverse_frequencies(head_dim, theta)
    cos, sin = variants.tables(seq, head_dim, theta)
    for name, builder in variants.VARIANTS.items():
        if name == "compiled":
            continue
        pairing = "interleaved" if name in variants.INTERLEAVED else "half"
        wanted = rope.rotate(x.numpy(), range(seq), w, pairing=pairing)
        near(variants.build(name, cos, sin)(x), wanted, 1e-5)
        near(builder(cos, sin)(x), variants.build(name, cos, sin)(x), 0)
    assert torch.equal(variants.rotate_half(variants.rotate_half(x)), -x)


@about(variants.bytes_moved)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.sampled_from(["float16", "float64"]))
def test_as_many_bytes_are_moved_as_a_tensor_has_twice(shape, name):
    x = torch.zeros(shape, dtype=getattr(torch, name))
    assert variants.bytes_moved(shape, x.dtype) == 2 * x.numel() * x.element_size()


@about(workers.time_left)
@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**5))
def test_the_rest_takes_as_long_as_its_share(done, more, seconds):
    minutes, _, rest, _, _ = workers.time_left(done, done + more, seconds).split()
    assert abs(60 * int(minutes) + int(rest) - seconds * more / done) <= 0.5 and int(rest) < 60
    assert workers.time_left(0, more, seconds) == "time left unknown yet"
    assert workers.time_left(done + more, done, seconds) == "0 min 00 s left"


@about(recipes.Recipe, recipes.text_config)
@given(st.lists(pairs, min_size=1, max_size=3), st.none() | st.floats(0, 9))
def test_a_recipe_gives_its_sizes_to_its_model(schemes, scale):
    recipe = recipes.Recipe("drawn", tuple(schemes), windows=(1, 2, None), embedding_scale=scale)
    config = recipes.text_config(recipe)
    assert (config.windows, config.embedding_scale) == (recipe.windows, scale)
    assert dataclasses.replace(recipe, label=recipe.label) == recipe
