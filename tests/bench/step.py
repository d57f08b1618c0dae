"""A training step of the book's model as a multiple of a plain GPT's of the same size.

    OMP_NUM_THREADS=1 python tests/bench/step.py

The plain one is written the way small teaching models are: a learned table added to the embeddings,
`is_causal=True`, biases left out, AdamW. Ours gets masks from positions, whatever the scheme. All
take turns in every round, on the same tokens. Run it alone, with one thread as the long runs have.
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

from lessons import recipes

ROUNDS, STEPS = 7, 5
BATCH, SEQ_LEN, VOCAB = 32, recipes.TRAIN_LEN, 256
D_MODEL, N_HEADS, N_LAYERS = recipes.D_MODEL, recipes.N_HEADS, recipes.N_LAYERS
GOAL = 1.0  # of the plain step, for our model with the same scheme


class PlainBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = (nn.LayerNorm(D_MODEL, bias=False) for _ in range(2))
        self.q_k_v = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.out = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.up = nn.Linear(D_MODEL, 4 * D_MODEL, bias=False)
        self.down = nn.Linear(4 * D_MODEL, D_MODEL, bias=False)

    def forward(self, x):
        batch, seq_len, d_model = x.shape
        heads = [
            part.view(batch, seq_len, N_HEADS, -1).transpose(1, 2)
            for part in self.q_k_v(self.norm_1(x)).split(d_model, dim=2)
        ]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, seq_len, d_model))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class PlainGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCAB, D_MODEL), nn.Embedding(SEQ_LEN, D_MODEL)
        self.blocks = nn.Sequential(*(PlainBlock() for _ in range(N_LAYERS)))
        self.norm = nn.LayerNorm(D_MODEL, bias=False)
        self.head = nn.Linear(D_MODEL, VOCAB, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def steps(model):
    """A function that takes a few training steps, and how many parameters the model has."""
    adam = torch.optim.AdamW(model.parameters(), fused=True)
    tokens = torch.randint(VOCAB, (BATCH, SEQ_LEN + 1), generator=torch.Generator().manual_seed(1))

    def run():
        for _ in range(STEPS):
            loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
            adam.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()

    return run, sum(parameter.numel() for parameter in model.parameters())


def main():
    torch.manual_seed(1)
    models = {"plain GPT": PlainGPT()}
    for name in ("learned", "none", "sinusoidal", "rope", "alibi", "t5", "local_none"):
        recipe = recipes.TEXT[name]
        models[recipe.label] = recipes.build(recipes.text_config(recipe), recipe.schemes, 1)
    runs = {name: steps(model) for name, model in models.items()}
    taken = {name: [] for name in runs}
    for run, _ in runs.values():
        run()
    for _ in range(ROUNDS):
        for name, (run, _) in runs.items():
            started = time.perf_counter()
            run()
            taken[name].append((time.perf_counter() - started) / STEPS)
    plain = statistics.median(taken["plain GPT"])
    print(f"{torch.get_num_threads()} thread(s), {BATCH} × {SEQ_LEN} tokens a step")
    print(f"{'':<28}{'parameters':>11}{'ms a step':>11}{'of plain':>10}")
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        print(f"{name:<28}{runs[name][1]:11d}{1e3 * median:11.1f}{median / plain:10.2f}")
    ratio = statistics.median(taken["learned"]) / plain
    met = ratio <= GOAL + 0.02  # two in a hundred is what one model differs by between two runs
    print(f"{'met' if met else 'NOT MET'}: with a learned table, {ratio:.2f} of the plain step")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
