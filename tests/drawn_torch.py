"""What the property tests of the torch half draw: tensors of any dtype, anyhow in memory."""

import numpy as np
import torch
from drawn import normal, seeds
from hypothesis import strategies as st

dtypes = st.sampled_from([torch.float64, torch.float32, torch.bfloat16, torch.float16])
whole_dtypes = st.sampled_from([torch.int64, torch.int32])
sizes = st.integers(1, 3)
shapes = st.lists(sizes, min_size=0, max_size=3).map(tuple)
LAYOUTS = {
    "as it comes": lambda x: x,
    "with gaps": lambda x: torch.stack([x, x], -1)[..., 0],
    "from the middle": lambda x: torch.cat([x[..., :1], x, x[..., :1]], -1)[..., 1:-1],
    "by columns": lambda x: x.mT.contiguous().mT,
    "heads after rows": lambda x: x.transpose(0, -2).contiguous().transpose(0, -2),
}


def tensor(draw, *shape, dtype):
    """Random numbers of any dtype, anyhow in memory."""
    x = torch.from_numpy(normal(draw(seeds), *shape)).to(dtype)
    return LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))](x)


def places(draw, batch, seq, last):
    """Positions (seq,) or (batch, seq), int64 or int32, up to ``last``."""
    shape = (batch, seq) if draw(st.booleans()) else (seq,)
    n = int(np.prod(shape))
    found = draw(st.lists(st.integers(0, last), min_size=n, max_size=n))
    return torch.tensor(found, dtype=draw(whole_dtypes)).view(shape)


def refuses(call):
    try:
        call()
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
