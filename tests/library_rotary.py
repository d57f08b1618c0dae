"""No tests: what transformers' own code turns, seen by running a small model of each type.

A small model is run twice on the same tokens, once at positions 0, 1, 2, … and once with all
positions 0.  Attention hands on zeros, so that nothing differs but what the rotation did, and a
query's channels tell which of them turned, and how fast.
"""

import importlib
import inspect
import pkgutil

import torch
import transformers
from transformers.masking_utils import eager_mask

SEQ = 12
SIZES = {
    **dict.fromkeys(("vocab_size", "hidden_size", "n_embd", "d_model"), 64),
    **dict.fromkeys(("vocab_size_per_layer_input", "max_position_embeddings", "n_positions"), 64),
    **dict.fromkeys(("intermediate_size", "ffn_hidden_size", "mlp_hidden_size"), 32),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("head_dim", "q_lora_rank", "kv_lora_rank", "v_head_dim"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "rotary_dim"), 8),
    "global_head_dim": 32,
    "hidden_size_per_layer_input": 8,
    "num_experts_per_tok": 2,
    "sliding_window": 3,
    "attention_chunk_size": 5,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
SECTIONS = {"rope_theta": 1e6, "rope_type": "default", "mrope_section": [4, 2, 2]}
# What a type needs before its class, or the model at these sizes, can be built at all.
NEEDS = {
    **{
        model: {"rope_parameters": SECTIONS}
        for model in (
            *("glm4v_text", "glm_image_text", "glm_ocr_text", "paddleocr_vl_text"),
            *("qwen2_5_omni_text", "qwen2_5_vl_text", "qwen2_vl_text"),
        )
    },
    "deepseek_v2": {"topk_method": "greedy", "num_experts_per_tok": 2},
    "gemma3n_text": {"num_kv_shared_layers": 0, "laurel_rank": 4},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 4},
    "mimo_v2_flash": {"head_dim": 24},  # a share of 0.334 leaves 8 channels
    "zaya": {"num_experts_per_tok": 1},
}
# Attention that is not called through the library's interface, and so is not seen here.
UNSEEN = ("gpt_neox_japanese", "roformer")


def config_classes():
    """Every configuration class of the library: [(folder, file, class), …]."""
    found = []
    for folder in sorted(m.name for m in pkgutil.iter_modules(transformers.models.__path__)):
        package = importlib.import_module(f"transformers.models.{folder}")
        for file in sorted(m.name for m in pkgutil.iter_modules(package.__path__)):
            if not file.startswith("configuration_"):
                continue
            module = importlib.import_module(f"{package.__name__}.{file}")
            for kind in vars(module).values():
                if (
                    inspect.isclass(kind)
                    and issubclass(kind, transformers.PreTrainedConfig)
                    and kind.__module__ == module.__name__
                ):
                    found.append((folder, file.removeprefix("configuration_"), kind))
    return found


def small(kind, **changes):
    """A config of a class, with its own layers' kinds, at sizes that run in milliseconds."""
    default = kind().to_dict()
    sizes = {k: min(default[k], 8) for k in LAYERS if isinstance(default.get(k), int)}
    for key, size in SIZES.items():
        if isinstance(default.get(key), int) and not isinstance(default[key], bool):
            sizes[key] = size
    for key, size in (("head_dim", 16), ("num_key_value_heads", 4)):
        if key in default and default[key] is None:
            sizes[key] = size
    if "qk_rope_head_dim" in sizes:
        sizes.pop("head_dim", None)  # such a class makes its own
    return kind(**(sizes | NEEDS.get(kind.model_type, {}) | changes))


def modelling(folder, file):
    return importlib.import_module(f"transformers.models.{folder}.modeling_{file}")


def build(folder, file, config):
    """The model of a small config, in float64, ready to be watched."""
    config._attn_implementation = "watched"
    config._experts_implementation = "eager"
    module = modelling(folder, file)
    models = [
        kind
        for name, kind in vars(module).items()
        if inspect.isclass(kind)
        and issubclass(kind, transformers.PreTrainedModel)
        and kind.__module__ == module.__name__
        and getattr(kind, "config_class", None) is type(config)
        and not name.endswith("PreTrainedModel")
    ]
    models = [kind for kind in models if kind.__name__.endswith("Model")] or models
    torch.manual_seed(0)
    return models[0](config).eval().double()


_SEEN: list = []


def _watched(module, query, key, value, attention_mask=None, **_):
    _SEEN.append((module, query.detach()[0], attention_mask))
    batch, heads, seq, _ = query.shape
    return query.new_zeros(batch, seq, heads, value.shape[-1]), None


transformers.AttentionInterface.register("watched", _watched)
transformers.AttentionMaskInterface.register("watched", eager_mask)


def watch(model):
    """What each attention of a model did, in order: [(keys seen, turning, head_dim, inv_freq), …].

    keys seen: the most that one of SEQ queries may see; None: no mask.
    inv_freq: fastest first, in radians a token; None where nothing turns.
    """
    tokens = torch.randint(3, 60, (1, SEQ), generator=torch.Generator().manual_seed(0))
    runs = []
    for positions in (torch.arange(SEQ)[None], torch.zeros(1, SEQ, dtype=torch.long)):
        _SEEN.clear()
        with torch.no_grad():
            model(input_ids=tokens, position_ids=positions, use_cache=False)
        runs.append(list(_SEEN))
    found = []
    before = None
    for (module, turned, mask), (_, still, _) in zip(*runs, strict=True):
        if module is before:  # differential attention asks twice
            continue
        before, seen = module, None
        if mask is not None:
            may = mask if mask.dtype == torch.bool else mask == 0
            seen = int(may[0, 0].sum(-1).max())
        found.append((seen, *_turn(turned, still)))
    return found


def _turn(turned, still):
    """(channels, head_dim, inv_freq) from queries (heads, seq, head_dim) with and without turn."""
    head_dim = turned.shape[-1]
    ratio = (turned / still)[:, 1:]
    if (ratio - ratio[..., :1]).abs().amax() < 1e-6:
        return 0, head_dim, None  # a query that is only longer, or the same
    moved = ((turned - still).abs().amax((0, 1)) > 1e-9).nonzero()[:, 0]
    half = len(moved) // 2
    for first, second in ((moved[:half], moved[half:]), (moved[::2], moved[1::2])):
        after = torch.complex(turned[:, 1, first], turned[:, 1, second])
        before = torch.complex(still[:, 1, first], still[:, 1, second])
        angle = (after / before).angle()
        alike = (angle - angle[:1]).abs().amax() < 1e-4
        if alike and ((after / before).abs() - 1).abs().amax() < 1e-4:
            return len(moved), head_dim, angle.mean(0).abs().sort(descending=True).values.numpy()
    raise AssertionError(f"no pairing of the {len(moved)} moved channels turns them all alike")


def rotary_module(folder, file, config):
    """The rotary module of config's model, built from config alone, or None if it has none such."""
    try:
        module = modelling(folder, file)
    except ModuleNotFoundError:
        return None
    if config.model_type == "roformer":
        table = module.RoFormerEncoder(config).embed_positions
        table.weight.copy_(table.create_weight())  # as its model does when it is initialised
        return table
    name = type(config).__name__.removesuffix("Config")
    for stem in (name, name.removesuffix("Text"), name.removesuffix("Model")):
        found = getattr(module, f"{stem}RotaryEmbedding", None)
        if found is not None and "config" in inspect.signature(found).parameters:
            return found(config)
    return None


def frequencies_of(module, labels):
    """{label: its frequencies} of a rotary module; one set, or one table, is every label's."""
    held = {**dict(module.named_buffers()), **dict(module.named_parameters())}
    table = held.get("embed_positions", held.get("weight"))
    if table is not None:  # sines, then cosines, a row a position
        sin, cos = table[1].detach().double().chunk(2)
        return dict.fromkeys(labels, torch.atan2(sin, cos))
    named = {label: held.get(f"{label}_inv_freq") for label in labels}
    return {k: held.get("inv_freq") if v is None else v for k, v in named.items()}
