"""Every colour, size and template, and how text is made safe for a figure. Free of plotly."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Term:
    """Hold how a term is shown everywhere: its letter in the paper, formula (HTML) and identity colour."""

    letter: str
    formula: str
    colour: str


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # Okabe and Ito: told apart by colour-blind eyes
CURVES = (*COLOURS, "#E69F00", "#56B4E9")  # where there are more curves than terms

RELATIVE_TERMS = {
    "content": Term("a", "q<sub>i</sub> · k<sub>j</sub>", COLOURS[0]),
    "content_position": Term("b", "q<sub>i</sub> · W<sub>kR</sub>R<sub>d</sub>", COLOURS[1]),
    "u_bias": Term("c", "u · k<sub>j</sub>", COLOURS[2]),
    "v_bias": Term("d", "v · W<sub>kR</sub>R<sub>d</sub>", COLOURS[3]),
}
ABSOLUTE_TERMS = {
    "content": Term("a", "W<sub>q</sub>e<sub>i</sub> · W<sub>k</sub>e<sub>j</sub>", COLOURS[0]),
    "content_position": Term("b", "W<sub>q</sub>e<sub>i</sub> · W<sub>k</sub>p<sub>j</sub>", COLOURS[1]),
    "position_content": Term("c", "W<sub>q</sub>p<sub>i</sub> · W<sub>k</sub>e<sub>j</sub>", COLOURS[2]),
    "position_position": Term("d", "W<sub>q</sub>p<sub>i</sub> · W<sub>k</sub>p<sub>j</sub>", COLOURS[3]),
}


SEGMENT_TERMS = {
    "segment_content": Term("e", "q<sub>i</sub> · g<sub>ij</sub>", CURVES[4]),
    "segment_bias": Term("f", "r<sub>s</sub> · g<sub>ij</sub>", CURVES[5]),
}


def terms_of(positions: str, segments: bool = False) -> dict[str, Term]:
    """Give the terms of a model with relative ("learned", "sinusoid") or "absolute" positions, and of its segments."""
    if positions == "absolute":
        return ABSOLUTE_TERMS
    return RELATIVE_TERMS | (SEGMENT_TERMS if segments else {})


@dataclass(frozen=True)
class Theme:
    """Hold the colours that differ between the light and the dark theme."""

    dark: bool
    ink: str
    faint: str
    grid: str
    accent: str
    halo: str
    hatch: str
    alarm: str  # what is wrong, filled; the page shows through as the ink on it
    nan: str
    plus_inf: str
    minus_inf: str
    diverging: tuple[tuple[float, str], ...]
    sequential: tuple[tuple[float, str], ...]


LIGHT = Theme(
    dark=False,
    ink="#1b1f27",
    faint="#5c6470",
    grid="#e3e6ea",
    accent="#111418",
    halo="#ffffff",
    hatch="rgba(27,31,39,0.30)",
    alarm="#c0283c",
    nan="#d600d6",
    plus_inf="#e0b400",
    minus_inf="#86b8a8",
    diverging=((0, "#08306b"), (0.25, "#4a90c4"), (0.5, "#f7f7f5"), (0.75, "#dd7a52"), (1, "#7f1d0d")),
    sequential=((0, "#fbfbfd"), (0.25, "#c9cbe6"), (0.6, "#7d74b8"), (1, "#32106b")),
)
DARK = Theme(
    dark=True,
    ink="#e8eaee",
    faint="#a3abb8",
    grid="#2b313c",
    accent="#ffffff",
    halo="#0b0d11",
    hatch="rgba(232,234,238,0.28)",
    alarm="#ff7a85",
    nan="#ff4dff",
    plus_inf="#ffd84d",
    minus_inf="#2f6858",
    diverging=((0, "#b9dcff"), (0.25, "#3f83bf"), (0.5, "#171b22"), (0.75, "#c2603a"), (1, "#ffd3b8")),
    sequential=((0, "#171b22"), (0.3, "#443c86"), (0.65, "#a873b5"), (1, "#fde9d6")),
)

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}  # in a row above a chart
FONT = "Inter, 'Source Sans Pro', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
MONO = "'JetBrains Mono', 'Source Code Pro', 'Noto Sans Mono CJK SC', Menlo, Consolas, monospace"


def theme_of(dark: bool) -> Theme:
    return DARK if dark else LIGHT


def readable(colour: str, dark: bool) -> str:
    """Lighten an identity colour for text on the dark page, darken it for the light one, to a contrast of 4.5 to 1."""
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    if dark:
        return hex_colour([c + (255 - c) * 0.45 for c in channels])
    shades = (hex_colour([c * share / 100 for c in channels]) for share in range(78, 0, -4))
    return next(shade for shade in shades if 1.05 / (luminance(shade) + 0.05) >= 4.9)  # on the sidebar 4.5


def hex_colour(channels: list[float]) -> str:
    return "#" + "".join(f"{round(c):02x}" for c in channels)


def luminance(colour: str) -> float:
    """Give the relative luminance of a colour, 0 to 1. Source: WCAG 2.2."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def translucent(colour: str, share: float) -> str:
    """Let the page show through a colour, as a band round a curve does."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def layout(theme: Theme, **changes) -> dict:
    """Give the plotly layout that every figure starts from; the page shows through."""
    return {
        "font": {"family": FONT, "size": 13, "color": theme.ink},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 48, "r": 16, "t": 32, "b": 40},
        "showlegend": False,
        "hoverlabel": {"font": {"family": FONT, "size": 13}},
        "dragmode": "zoom",
        **changes,
    }


def axis(theme: Theme, title: str = "", **changes) -> dict:
    """Give the axis that every curve and bar chart starts from."""
    return {
        "title": {"text": title, "font": {"size": 13, "color": theme.faint}},
        "gridcolor": theme.grid,
        "zerolinecolor": theme.faint,
        "linecolor": theme.grid,
        "tickfont": {"color": theme.faint, "size": 12},
        **changes,
    }


def plot_text(text: str, longest: int = 24) -> str:
    """Make text safe for plotly, whose labels are a dialect of HTML: it shows exactly, never as markup."""
    if len(text) > longest:
        text = text[: longest // 2] + "…" + text[-(longest // 2 - 1) :]
    return escape(text, quote=False)


def number(value: float) -> str:
    """Show a number with three significant digits and a proper minus."""
    if value == 0:
        return "0"
    text = f"{value:.3g}" if 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"
    return text.replace("-", "−")


def percent(share: float) -> str:
    """Show a share as a whole percentage with a proper minus; one without a value as a dash."""
    return "–" if share != share else f"{round(100 * share)} %".replace("-", "−")


def signed(value: float) -> str:
    """Show a difference with its sign, three places, a proper minus and no negative zero."""
    return f"{value + 0.0:+.3f}".replace("-", "−")


def milliseconds(ms: float) -> str:
    """Show a time with three significant digits, in seconds from one on."""
    return f"{number(ms / 1000)} s" if ms >= 1000 else f"{number(ms)} ms"
