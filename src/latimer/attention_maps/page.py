"""One page that shows everything, and needs no other file and no network."""

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from latimer.attention_maps.reading import Reading
from latimer.html_page import make_document

STYLE = """
figure { margin: 1rem 0; overflow-x: auto; border-top: 1px solid var(--line); padding-top: .5rem; }
img { display: block; max-width: none; }
@media (prefers-color-scheme: dark) { img { filter: invert(.92) hue-rotate(180deg); } }
"""
KINDS = {
    "encoder": (
        "Encoder",
        "Each piece of the source (row) gathers from all pieces of the source (columns).",
    ),
    "decoder": (
        "Decoder",
        "Before it writes its next piece (row), the decoder gathers from what stands there so far "
        "(columns). What comes later weighs exactly zero: the empty upper triangle is the mask.",
    ),
    "cross": (
        "Cross-attention",
        "Before it writes its next piece (row), the decoder gathers from the source (columns).",
    ),
}


class Picture(NamedTuple):
    """A heatmap; its width is in CSS pixels, of which an inch has 96."""

    kind: str
    layer: int
    png: bytes
    width: int


def make_page(reading: Reading, pictures: Sequence[Picture]) -> str:
    """The page's HTML; the pictures are in it."""
    sections = [_section(kind, [p for p in pictures if p.kind == kind]) for kind in KINDS]
    links = [f'<a href="#{kind}">{name}</a>' for kind, (name, _) in KINDS.items()]
    body = f"""<h1>Attention</h1>
<dl>
{_terms(reading)}
</dl>
<p>A picture has a panel for each head. In a row, the colours say how much the piece on the left
gathers from each piece below; the weights of a row sum to one. Darker is more (on a dark page:
lighter), on a scale of square roots that is the same in all pictures.
▁ is a space, &lt;s&gt; the beginning of the sentence and &lt;/s&gt; its end.</p>
<nav>{"".join(links)}</nav>
{"".join(sections)}"""
    return make_document(f"Attention: {reading.source}", body, STYLE)


def _terms(reading: Reading) -> str:
    """What was read, what was written, and by whom."""
    loaded = reading.loaded
    pieces = len(reading.maps.cross.queries)
    terms = {
        f"source ({loaded.source_language})": (loaded.source_language, reading.source),
        f"{'given target' if reading.given else 'translation'} ({loaded.target_language})": (
            loaded.target_language,
            reading.target,
        ),
        "log-probability": ("en", f"{reading.log_probability:.4f} nats, {pieces} pieces with eos"),
        "checkpoint": ("en", f"{loaded.path.absolute()}, {loaded.updates:,} updates"),
        "SHA-256": ("en", loaded.sha256),
    }
    return "\n".join(
        f'<dt>{escape(name)}</dt><dd lang="{escape(lang)}" dir="auto">{escape(text)}</dd>'
        for name, (lang, text) in terms.items()
    )


def _section(kind: str, pictures: Sequence[Picture]) -> str:
    name, explanation = KINDS[kind]
    figures = "".join(_figure(name, picture) for picture in pictures)
    return f'<section id="{kind}">\n<h2>{name}</h2>\n<p>{explanation}</p>\n{figures}</section>\n'


def _figure(name: str, picture: Picture) -> str:
    data = b64encode(picture.png).decode("ascii")
    alt = f"{name}, layer {picture.layer}: a heatmap for each head"
    return (
        f'<figure tabindex="0"><img alt="{alt}" width="{picture.width}" '
        f'src="data:image/png;base64,{data}"></figure>\n'
    )
