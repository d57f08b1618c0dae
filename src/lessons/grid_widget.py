"""A moving figure: what a patch of a picture sees, in four ways to give it a place (lesson 11)."""

import numpy as np
import traitlets
from anywidget import AnyWidget

from . import frequencies, rope, validate
from .widgets import _inside, _text

PAIRS = 64  # a head of 128 channels
SCHEMES = ("flattened", "axial", "M-RoPE blocks", "interleaved")


class Patches(AnyWidget):
    """A grid of patches, coloured by the mean score of each with the query patch.

    The mean is over the 64 pairs of a head, for equal query and key: the cosine of the difference
    of the two patches' angles. "flattened" numbers the patches row by row; "axial" gives half of
    the pairs to rows and half to columns; M-RoPE gives 16 of 64 (blocks) or 24 (interleaved) to
    time, which is the same for all patches.
    The reader drags the query, or moves it by the slider, and chooses the scheme; a kernel reads
    and sets ``row``, ``column`` (from 0) and ``scheme``.
    """

    _esm = _text("controls.js", "grid.js")
    _css = _text("figure.css", "grid.css")

    row = traitlets.Int(0).tag(sync=True)
    column = traitlets.Int(0).tag(sync=True)
    scheme = traitlets.Unicode(SCHEMES[0]).tag(sync=True)
    _rows = traitlets.Int().tag(sync=True)
    _columns = traitlets.Int().tag(sync=True)
    _schemes = traitlets.List(traitlets.Dict()).tag(sync=True)

    def __init__(self, row=5, column=13, scheme=SCHEMES[0], *, rows=14, columns=14):
        """row, column: the query patch, from 0. scheme: one of SCHEMES. rows, columns: 2 to 24.

        ValueError or TypeError for anything else.
        """
        rows = _inside(validate.count(rows, "rows"), "rows", 2, 24)
        columns = _inside(validate.count(columns, "columns"), "columns", 2, 24)
        row = _inside(validate.offset(row, "row"), "row", 0, rows - 1)
        column = _inside(validate.offset(column, "column"), "column", 0, columns - 1)
        super().__init__(
            _rows=rows,
            _columns=columns,
            _schemes=[
                {"name": name, "positions": positions.tolist(), "sections": sections.tolist()}
                | {"invFreq": inv_freq.tolist()}
                for name, (positions, sections, inv_freq) in schemes(rows, columns).items()
            ],
            row=row,
            column=column,
            scheme=validate.choice(scheme, "scheme", SCHEMES),
        )

    @traitlets.validate("row")
    def _row_is_inside(self, proposal):
        return _inside(proposal["value"], "row", 0, self._rows - 1)

    @traitlets.validate("column")
    def _column_is_inside(self, proposal):
        return _inside(proposal["value"], "column", 0, self._columns - 1)

    @traitlets.validate("scheme")
    def _scheme_is_known(self, proposal):
        return validate.choice(proposal["value"], "scheme", SCHEMES)

    def __repr__(self):
        size = f"{self._rows}×{self._columns}"
        return f"Patches({size}, row={self.row}, column={self.column}, scheme={self.scheme!r})"


def schemes(rows, columns):
    """Positions, sections and frequencies of each scheme, as ``rope.grid_angles`` takes them."""
    grid = np.indices((rows, columns)).reshape(2, -1)
    line = np.arange(rows * columns)
    still = np.vstack([np.zeros_like(line), grid])  # time stands still in a picture
    inv_freq = frequencies.inverse_frequencies(2 * PAIRS)
    both = np.tile(frequencies.inverse_frequencies(PAIRS), 2)
    dealt = rope.grid_sections([24, 20, 20], layout="interleaved")
    found = (
        (line[None], rope.grid_sections([PAIRS]), inv_freq),
        (grid, rope.grid_sections([PAIRS // 2] * 2), both),
        (still, rope.grid_sections([16, 24, 24]), inv_freq),
        (still, dealt, inv_freq),
    )
    return dict(zip(SCHEMES, found, strict=True))
