"""What the code of a model type adds to its config.json (10).

Read in transformers 5.24.0; tests build every type below, run it, and watch its queries turn.
"""

from types import MappingProxyType
from typing import NamedTuple

FULL, SLIDING = "full_attention", "sliding_attention"
CHUNKED, INDEXED, LINEAR = "chunked_attention", "indexed_attention", "linear_attention"
HYBRID, HYBRID_SLIDING = "hybrid", "hybrid_sliding"
COMPRESSED = ("compressed_sparse_attention", "heavily_compressed_attention")
STATE = ("conv", LINEAR)
WINDOWED = (CHUNKED, HYBRID_SLIDING, SLIDING)


class Legacy(NamedTuple):
    """Where older files keep the base of one kind of layer.

    base: its key.  otherwise: the code's own base, where the file has none.
    scaled: whether rope_scaling is for these layers.
    """

    base: str
    otherwise: float
    scaled: bool


class Code(NamedTuple):
    """What the code of a type does that its config does not say.

    scheme: "rope", "added", "bias" or "none".  kinds: the kinds of layer that it has.
    everywhere: a sliding_window is every layer's.
    asked: windows are there only if use_sliding_window is true.
    latent: a head has two parts, qk_nope_head_dim and qk_rope_head_dim, and turns in the second.
    shares: a share of the channels is read; elsewhere all turn, whatever a file says.
    share: the one where a file names none; None: then there is a count.
    rotary_dim: a count of turning channels is read where there is no share; that many where the
    file has no count either, and all of them for 0.
    base, part: the keys of the base and of the share outside rope_parameters.
    fixed: a base that no file changes.  rules: those that it takes; (): any.
    held: without rope_parameters the code takes a whole set of its own, base and rule.
    nested: the names of the sets in rope_parameters, one a kind of layer.
    legacy: by kind, where files without rope_parameters have its base.
    still: kinds that do not turn.  turns_alone: they do in a model without a window.
    interval: every such layer does not turn, where a file has no list no_rope_layers.
    bases: layer_rope_theta is read; "all": its numbers are bases, "zero": only its zeros count.
    """

    scheme: str = "rope"
    kinds: tuple = (FULL,)
    everywhere: bool = False
    asked: bool = False
    latent: bool = False
    shares: bool = False
    share: float | None = 1.0
    rotary_dim: int | None = None
    base: str = "rope_theta"
    part: str = "partial_rotary_factor"
    fixed: float | None = None
    rules: tuple = ()
    held: bool = False
    nested: tuple = ()
    legacy: MappingProxyType = MappingProxyType({})
    still: tuple = ()
    turns_alone: bool = False
    interval: int | None = None
    bases: str | None = None


BOTH = (FULL, SLIDING)
MIXED = Code(kinds=BOTH)
ASKED = Code(kinds=BOTH, asked=True)
WINDOW = Code(everywhere=True)
PHI3 = Code(everywhere=True, rules=("default", "longrope"))
SHARED = Code(shares=True)
HALF, QUARTER = Code(shares=True, share=0.5), Code(shares=True, share=0.25)
APART = Code(kinds=BOTH, nested=BOTH)
STILL = Code(kinds=BOTH, still=(FULL,))
DELTA = Code(kinds=(FULL, LINEAR))
HELD = Code(held=True)
LATENT, SPARSE = Code(latent=True), Code(kinds=(INDEXED,), latent=True)
NEOX = Code(base="rotary_emb_base", part="rotary_pct", shares=True)
GEMMA3 = APART._replace(
    legacy=MappingProxyType(
        {
            FULL: Legacy("rope_theta", 1_000_000.0, True),
            SLIDING: Legacy("rope_local_base_freq", 10_000.0, False),
        }
    )
)
OLMO3 = APART._replace(
    legacy=MappingProxyType(
        {
            FULL: Legacy("rope_theta", 500_000.0, True),
            SLIDING: Legacy("rope_theta", 500_000.0, False),
        }
    )
)
MODERNBERT = APART._replace(
    legacy=MappingProxyType(
        {
            FULL: Legacy("global_rope_theta", 160_000.0, True),
            SLIDING: Legacy("local_rope_theta", 10_000.0, True),
        }
    )
)

TYPES = MappingProxyType(
    {
        **dict.fromkeys(("bert", "gpt2", "opt"), Code("added")),
        **dict.fromkeys(("bloom", "mpt", "t5"), Code("bias")),
        "inkling_text": Code("bias", (HYBRID, HYBRID_SLIDING)),
        "glm5_next_text": Code("none", (INDEXED, LINEAR), latent=True),
        "jamba": Code("none", (FULL, LINEAR)),
        "kimi_linear": Code("none", (FULL, LINEAR), latent=True),
        **dict.fromkeys(
            (
                *("arcee", "aria_text", "bitnet", "cohere", "diffllama", "emu3_text_model"),
                *("ernie4_5", "ernie4_5_moe", "esmc", "eurobert", "flex_olmo", "gemma", "granite"),
                *("granite4_vision_text", "granite_docling_text", "granitemoe"),
                *("granitemoeshared", "gte", "helium", "hunyuan_v1_dense", "hunyuan_v1_moe"),
                *("hy_v3", "hyperclovax", "jais2", "jina_embeddings_v3", "llama", "nanochat"),
                *("nomic_bert", "olmo", "olmo2", "olmoe", "paddleocr_vl_text", "qwen3_vl_text"),
                *("qwen3_omni_moe_text", "qwen3_vl_moe_text", "seed_oss", "solar_open"),
            ),
            Code(),
        ),
        **dict.fromkeys(("apertus", "apertus1p5_text", "higgs_audio_v2"), HELD),
        "ministral3": WINDOW._replace(held=True),
        **dict.fromkeys(("cwm", "gpt_oss"), MIXED._replace(held=True)),
        **dict.fromkeys(("mistral", "mixtral", "starcoder2"), WINDOW),
        "phi3": PHI3._replace(shares=True),
        "phimoe": PHI3,
        "qwen3_moe": WINDOW._replace(asked=True),
        **dict.fromkeys(("gemma2", "ministral", "vaultgemma"), MIXED),
        **dict.fromkeys(("qwen2", "qwen2_moe", "qwen3", "qwen2_5_omni_text"), ASKED),
        **dict.fromkeys(("qwen2_5_vl_text", "qwen2_vl_text"), ASKED),
        **dict.fromkeys(("glm4v_text", "glm_image_text", "glm_ocr_text"), SHARED),
        **dict.fromkeys(("glm", "glm4", "glm4_moe", "nemotron", "persimmon", "phi"), HALF),
        "stablelm": QUARTER,
        "gpt_neox": NEOX._replace(share=0.25),
        "gpt_neox_japanese": NEOX,
        "minimax_m2": Code(shares=True, share=None, rotary_dim=0),
        **dict.fromkeys(("codegen", "gptj"), Code(fixed=10_000.0, share=None, rotary_dim=64)),
        "roformer": Code(fixed=10_000.0),
        **dict.fromkeys(("axk1", "deepseek_v2", "deepseek_v3", "glm4_moe_lite"), LATENT),
        **dict.fromkeys(("minicpm3", "youtu"), LATENT),
        **dict.fromkeys(("axk2", "deepseek_v32", "glm_moe_dsa", "hy_v4"), SPARSE),
        **dict.fromkeys(("lfm2", "lfm2_moe"), Code(kinds=(FULL, "conv"))),
        "olmo_hybrid": DELTA,
        "minimax": DELTA._replace(everywhere=True),
        **dict.fromkeys(
            ("qwen3_5_text", "qwen3_5_moe_text", "qwen3_next"),
            DELTA._replace(shares=True, share=0.25),
        ),
        **dict.fromkeys(("afmoe", "cohere2", "flint", "kolibri1"), STILL),
        **dict.fromkeys(("exaone4", "exaone_moe"), STILL._replace(turns_alone=True)),
        "lara_mini": Code(kinds=(*BOTH, LINEAR), still=(FULL,)),
        **dict.fromkeys(("gemma3_text", "gemma3n_text"), GEMMA3),
        "olmo3": OLMO3,
        "modernbert-decoder": MODERNBERT,
        **dict.fromkeys(("beam", "gemma4_text", "gemma4_unified_text", "mellum"), APART),
        "laguna": APART._replace(shares=True),
        "mimo_v2_flash": APART._replace(shares=True, share=0.334, rules=("default",)),
        "lfm3": APART._replace(kinds=(*BOTH, "conv")),
        "zaya": Code(kinds=(HYBRID, HYBRID_SLIDING), nested=(HYBRID, HYBRID_SLIDING), shares=True),
        "deepseek_v4": Code(
            kinds=(*COMPRESSED, SLIDING), nested=("compress", "main"), shares=True, share=None
        ),
        "smollm3": ASKED._replace(interval=4),
        "llama4_text": Code(kinds=(FULL, CHUNKED), interval=4),
        "mistral_large4_text": SPARSE._replace(interval=4, held=True),
        **dict.fromkeys(("granite_swa", "granitemoe_swa"), MIXED._replace(bases="all")),
        **dict.fromkeys(("muse_glimmer_text", "muse_spark_text"), MIXED._replace(bases="zero")),
    }
)
KNOWN = tuple(sorted(TYPES))
