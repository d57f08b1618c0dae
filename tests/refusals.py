"""What every public function must refuse: function -> argument -> (a good value, bad values)."""

import refusals_longer
import refusals_numpy
import refusals_tasks
import refusals_torch

from lessons import attention_layer, per_layer, recipes, validate, validate_rows

TABLE = refusals_numpy.TABLE | refusals_longer.TABLE | refusals_torch.TABLE
TABLE |= refusals_tasks.TABLE
# Where an error does not call an argument by its parameter's name.
CALLED = {
    (validate_rows.row_positions, "value"): "positions",
    (validate_rows.row_angles, "value"): "angles",
    (validate.grid, "ids"): "positions",
    (recipes.build, "schemes"): "(name|schemes)",
    (attention_layer.fits, "term"): "mask",
    (per_layer.PerLayer, "each"): "(schemes?)",
}
