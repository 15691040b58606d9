"""The card of the checkpoint that is looked at: short in the sidebar, longer on the first page."""

import streamlit as st

from relxl.census import describe
from relxl.checkpoint import OWN, Checkpoint
from relxl.config import TrainConfig
from relxl.language import _, translated
from relxl.ui.show import escape
from relxl.ui.view import View

USUAL_MASK = {name: getattr(TrainConfig, name) for name in ("mask_order", "mask_fill", "mask_fault")}


def position_name(checkpoint: Checkpoint) -> str:
    names = {
        "learned": _("relative, learned table"),
        "sinusoid": _("relative, sinusoid"),
        "absolute": _("absolute, sinusoid"),
    }
    return names[checkpoint.config.positions]


def show_card(checkpoint: Checkpoint) -> None:
    """Show what the checkpoint is, in a few lines."""
    config, training = checkpoint.config, checkpoint.training
    lines = [] if checkpoint.opened.family is OWN else [escape(translated(checkpoint.opened.family.title))]
    lines += [
        _("{layers} × {heads} heads, d_model {width}, {count} parameters").format(
            layers=_("1 layer") if config.n_layer == 1 else _("{n} layers").format(n=config.n_layer),
            heads=config.n_head,
            width=config.d_model,
            count=f"{checkpoint.n_parameters:,}".replace(",", " "),
        ),
        _("positions: {positions}; segment {segment}, memory {memory}").format(
            positions=position_name(checkpoint), segment=config.segment_len, memory=config.mem_len
        )
        if config.n_token
        else _("positions: {positions}; reads hidden states").format(positions=position_name(checkpoint)),
    ]
    loss = training.get("validation", {}).get("loss")
    if loss is not None:
        lines.append(
            _("{text}: validation loss {loss:.3f} nats per token").format(
                text=escape(training.get("text", {}).get("name", "–")), loss=loss
            )
        )
    train = training.get("train", {})
    mask = [train.get(name, usual) for name, usual in USUAL_MASK.items()]
    if mask != list(USUAL_MASK.values()):
        lines.append(_("trained with a mask that leaks: {mask}").format(mask=escape(", ".join(mask))))
    assumed = [setting.ask.name for setting in checkpoint.opened.settings if setting.origin == "assumed"]
    if assumed:
        lines.append(_("assumed, see Checkpoint: {names}").format(names=escape(", ".join(assumed))))
    st.caption("  \n".join(lines))


def model_card(view: View) -> None:
    """Show what the loaded checkpoint is: family, sizes, positions, what it was trained on, its validation loss."""
    checkpoint = view.checkpoint
    facts = describe(checkpoint)
    loss = facts["validation_loss"]
    rows = {
        _("checkpoint"): checkpoint.name,
        _("family"): translated(checkpoint.opened.family.title),
        _("size"): _(
            "{n_layer} layers × {n_head} heads of {d_head}, d_model {d_model}, {parameters} parameters"
        ).format(**facts),
        _("positions"): position_name(checkpoint),
        _("lengths"): _("segment {segment_len}, memory {mem_len}, vocabulary {n_token}").format(**facts)
        if facts["n_token"]
        else _("reads hidden states"),
        _("trained on"): "–" if facts["trained_on"] is None else _("{trained_on}, {steps} steps").format(**facts),
        _("validation loss"): "–" if loss is None else _("{loss:.3f} nats per token").format(loss=loss),
        "sha256": checkpoint.digest[:16],
    }
    st.markdown("##### " + _("The loaded checkpoint"))
    lines = [f"| {escape(name)} | {escape(value)} |" for name, value in rows.items()]
    st.markdown("\n".join(["| | |", "|---|---|", *lines]))
