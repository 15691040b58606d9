"""What looks like relative attention and is not of this scheme: refused with the reason, rather than shown wrongly."""

WENET = "WeNet: it multiplies with the key's absolute position, since its shift was taken out"
LOOK_ALIKES = (  # has all names of a family and more, and these tell that it is another
    ("global_cmvn.mean", WENET),
    ("embed.pos_enc.pe", WENET),
)
REFUSED = (  # (what a name must end in, what it is and why it has no four terms), the first that fits counts
    ("distance_embedding.weight", "Shaw-like relative_key attention: it has no u, no v and no W_kR, only q · a_d"),
    (
        "rel_embeddings.weight",
        "DeBERTa: its position terms are content-to-position and position-to-content, without u, v",
    ),
    ("relative_attention_bias.weight", "T5-like attention: a learned bias a distance is added and nothing else"),
    ("r_kernel", "Funnel Transformer: its queries are pooled, so a row does not stand for one distance"),
    ("relative_k_proj.weight", "Parakeet in transformers: convert it back to NeMo's names, or open the .nemo file"),
    ("self_attn.in_proj.weight", "icefall: its in_proj is scaled by a factor that its training keeps elsewhere"),
    (
        "linear_pos.weight",
        "attention with linear_pos, and without pos_bias_u or projections beside it: a Zipformer, or a part of a file",
    ),
    ("rel_pos_bias", "Enformer: its positions are basis functions and not a sinusoid or a table"),
    ("_pos_proj._model.0.weight", "RLlib's GTrXL, which this version does not read"),
    ("project_pos.0.weight", "DI-engine's GTrXL, which this version does not read"),
    ("to_kv.weight", "lucidrains' memory transformer: it has no u and no v, only the terms (a) and (b)"),
    ("dec_attn.kv_net.weight", "Transformer-XL with absolute positions (attn_type 2 or 3): a score has no distance"),
    ("Er", "Music Transformer: it has no u and no v, only q · E_d"),
    (
        "pos_proj.linear.weight",
        "sooftware/conformer: files from before and after its pull request 55 differ only in code",
    ),
    (
        "attention.self.query.weight",
        "BERT-like attention: positions are added to the embeddings, a score has no distance",
    ),
    ("attn.c_attn.weight", "GPT-2-like attention: positions are added to the embeddings, a score has no distance"),
    ("self_attn.q_proj.weight", "attention without relative positions of this kind (rotary or absolute)"),
    ("self_attn.in_proj_weight", "plain nn.MultiheadAttention, such as torchaudio's Conformer: it knows no distance"),
    (
        "self_attn.linear_q.weight",
        "speech attention without pos_bias_u and pos_bias_v: rotary, absolute or no positions",
    ),
    ("in_proj_weight", "plain nn.MultiheadAttention, such as torchaudio's Conformer: it knows no distance"),
)


def reason_to_refuse(names, marks=REFUSED) -> str | None:
    """Say what a file is that is none of the families, or None if nothing is known of it."""
    for mark, reason in marks:
        if any(f".{name}".endswith(f".{mark}") for name in names):
            return reason
    return None
