"""The key/value cache of a decoder: rotated keys, their values, and their positions (lesson 09)."""

import torch

from lessons import scheme, validate


class KVCache:
    """Keys as they were after rotation, values, and positions, for every layer of a model.

    n_layers: at least 1.
    Each layer keeps its own copy of the positions: no layer counts for the others, and a forward
    that broke off half-way is noticed instead of continued.
    """

    def __init__(self, n_layers):
        self.n_layers = validate.count(n_layers, "n_layers")
        self._entries = self._empty()

    def __len__(self):
        """Keys held by every layer."""
        return 0 if self.positions is None else self.positions.shape[-1]

    @property
    def positions(self):
        """Positions of the cached keys, (seq,) or (batch, seq); None while the cache is empty.

        Raises ValueError where the layers hold different numbers of keys.
        """
        lengths = {0 if entry is None else entry[0].shape[-2] for entry in self._entries}
        if len(lengths) > 1:
            raise ValueError(
                f"the layers hold different numbers of keys, {sorted(lengths)}: a forward broke "
                "off between them, so start again with a new cache"
            )
        return None if self._entries[0] is None else self._entries[0][2]

    def next_positions(self, seq_len, device=None):
        """Positions of the next seq_len tokens: one past the farthest so far, row by row.

        Returns int64, (seq_len,) or (batch, seq_len).  Pads, which hold a position already in use,
        do not disturb the count; packed documents do, and need positions of their own.
        """
        steps = torch.arange(validate.count(seq_len, "seq_len", minimum=0), device=device)
        if len(self) == 0:
            return steps
        return self.positions.amax(-1, keepdim=True).to(steps) + 1 + steps

    def with_new(self, positions):
        """Positions of all keys once those of new tokens stand behind the cached ones.

        positions: (seq,) or (batch, seq), batched as the cached ones.
        Raises TypeError or ValueError that names positions.
        """
        scheme.whole(positions, "positions")
        held = self.positions
        if held is None:
            return positions
        _batched_alike(held, positions)
        return torch.cat([held, positions], -1)

    def append(self, layer, k, v, positions):
        """Add new keys, already rotated, and their values; all that this layer holds comes back.

        layer: 0 … n_layers − 1.  k, v: (batch, heads, seq, head_dim).
        positions: (seq,) or (batch, seq), of the same kind at every call.
        Returns (k, v, positions) with the cached ones in front.
        Raises TypeError or ValueError that names the argument.
        """
        layer = self._layer(layer)
        scheme.whole(positions, "positions")
        for name, tensor in (("k", k), ("v", v)):
            scheme.rows(tensor, name, positions, "positions")
            scheme.beside(tensor, name, positions, "positions")
        if k.ndim != 4 or v.shape[:-1] != k.shape[:-1]:
            raise ValueError(
                f"k and v must be (batch, heads, seq, head_dim) with the same batch, heads and "
                f"seq, got {scheme.shape(k)} and {scheme.shape(v)}"
            )
        held = self._entries[layer]
        if held is not None:
            _continues(held, k, v, positions)
            k, v = torch.cat([held[0], k], -2), torch.cat([held[1], v], -2)
            positions = torch.cat([held[2], positions], -1)
        self._entries[layer] = (k, v, positions)
        return k, v, positions

    def evict(self, keep):
        """Forget every key but those in the slots ``keep``, in that order, in all layers.

        keep: different slots 0 … len − 1, the same for every row of the batch.
        The keys keep the positions that they were rotated for; ``renumber`` closes the gaps.
        Raises TypeError or ValueError that names keep.
        """
        slots = validate.positions(keep, "keep", max_axes=1).astype(int)
        if slots.size and not 0 <= slots.min() <= slots.max() < len(self):
            raise ValueError(f"keep must lie in 0 … {len(self) - 1}, got {slots.tolist()}")
        if len(set(slots.tolist())) != slots.size:
            raise ValueError(f"keep must name each slot once, got {slots.tolist()}")
        if slots.size == 0:  # the next tokens may come in another batch
            self._entries = self._empty()
            return
        index = torch.from_numpy(slots).to(self.positions.device)
        self._entries = [
            (k[..., index, :], v[..., index, :], positions[..., index])
            for k, v, positions in self._entries
        ]

    def renumber(self, positions, schemes):
        """Move the cached keys to new positions: R_Δ k(m) = k(m + Δ), whatever Δ each key needs.

        positions: the new ones, of the shape of ``self.positions``.
        schemes: one PositionScheme a layer, as in ``TinyTransformer.schemes``.
        Raises TypeError or ValueError that names the argument, ValueError too for a scheme that
        adds vectors, for what they have written into a key cannot be moved.
        """
        scheme.whole(positions, "positions")
        if len(self) == 0 or positions.shape != self.positions.shape:
            raise ValueError(
                f"positions must be one for each of the {len(self)} cached keys, "
                f"got {scheme.shape(positions)}"
            )
        if len(schemes) != self.n_layers:
            raise ValueError(f"schemes must be one a layer ({self.n_layers}), got {len(schemes)}")
        for each in schemes:
            if not isinstance(each, scheme.PositionScheme):
                raise TypeError(f"schemes must be PositionSchemes, got {type(each).__name__}")
            each.check(positions)
        self._entries = [
            (each.shift(k, positions.long() - held), v, positions)
            for (k, v, held), each in zip(self._entries, schemes, strict=True)
        ]

    def _empty(self):
        return [None] * self.n_layers

    def _layer(self, layer):
        layer = validate.count(layer, "layer", minimum=0)
        if layer >= self.n_layers:
            raise ValueError(f"layer must lie in 0 … {self.n_layers - 1}, got {layer}")
        return layer


def _continues(held, k, v, positions):
    """Refuse new keys that do not fit behind the ones that are held."""
    for name, old, new in (("k", held[0], k), ("v", held[1], v)):
        if (*old.shape[:2], old.shape[-1]) != (*new.shape[:2], new.shape[-1]):
            raise ValueError(
                f"{name} must have the batch, heads and head_dim of the cached ones "
                f"{tuple(old.shape)}, got {scheme.shape(new)}"
            )
        if old.dtype != new.dtype:
            raise TypeError(f"{name} must be {old.dtype} like the cached ones, got {new.dtype}")
        scheme.beside(new, name, old, "the cache")
    _batched_alike(held[2], positions)


def _batched_alike(held, positions):
    if held.shape[:-1] != positions.shape[:-1]:
        raise ValueError(
            f"positions must be batched as the cached ones {tuple(held.shape)}, "
            f"got {scheme.shape(positions)}"
        )
