"""Which layer of a model has which scheme, where each scheme is registered once (lesson 07).

torch lets a module stand at two places of a model and then trips over it: ``torch.func`` swaps the
tensors of every place, and swaps the second place's back to what the first had put there.  So a
scheme that several layers share, or that another scheme wraps, is registered at the first place
that has it, and the others refer to that place.
"""

import copy

import torch
from torch import nn

from lessons.scheme import PositionScheme


class PerLayer(nn.Module):
    """A sequence of schemes, one a layer.

    each: the PositionSchemes, the same one as often as layers share it.
    ``paths`` names the place of each layer's scheme: equal paths, one scheme.
    Raises TypeError for what is no list, or holds what is no PositionScheme.
    """

    def __init__(self, each):
        super().__init__()
        if not isinstance(each, (list, tuple, nn.ModuleList, PerLayer)):
            got = type(each).__name__
            raise TypeError(f"schemes must be a list of PositionSchemes, one a layer, got {got}")
        each = list(each)
        for one in each:
            if not isinstance(one, PositionScheme):
                raise TypeError(f"scheme must be a PositionScheme, got {type(one).__name__}")
        self._repeated, places = {}, {}
        for layer, one in enumerate(each):
            if one in places:
                self._repeated[str(layer)] = places[one]
            else:
                self.add_module(str(layer), self._once(one, str(layer), places))
        self.paths = tuple(places[one] for one in each)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, layer):
        return self.get_submodule(self.paths[layer])

    def by_path(self):
        """{path: scheme}, each scheme once, in the order of the layers."""
        return {path: self.get_submodule(path) for path in self.paths}

    def _once(self, one, path, places):
        """The scheme; or, if it wraps one that has its place, a twin that does not register it."""
        places[one] = path
        inside, refers = {}, {}
        for name, inner in one.named_children():
            if inner in places:
                self._repeated[f"{path}.{name}"] = places[inner]
                refers[name] = inner
            else:
                inside[name] = self._once(inner, f"{path}.{name}", places)
        if refers or inside != dict(one.named_children()):
            one = copy.copy(one)
            one._modules = inside
            vars(one).update(refers)
        return one

    def _load_from_state_dict(self, state_dict, prefix, *given):
        # Saved before each scheme had one place, a model names the weights of every layer.
        for again, path in self._repeated.items():
            again, first = f"{prefix}{again}.", f"{prefix}{path}."
            for name in [name for name in state_dict if name.startswith(again)]:
                twin = state_dict.get(first + name.removeprefix(again))
                if twin is not None and torch.equal(twin, state_dict[name]):
                    del state_dict[name]
        super()._load_from_state_dict(state_dict, prefix, *given)
