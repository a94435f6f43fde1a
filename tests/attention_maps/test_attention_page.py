"""The files: a picture of each kind and layer, and one page that needs nothing else."""

import base64
import re
from html.parser import HTMLParser

import pytest

from latimer.attention_maps import read_sentence, write_reading
from latimer.errors import LatimerError

PICTURES = [
    "cross_layer_1.png",
    "cross_layer_2.png",
    "decoder_layer_1.png",
    "decoder_layer_2.png",
    "encoder_layer_1.png",
]


class Page(HTMLParser):
    """The elements of a page in their order, their attributes, and all text."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def read(path):
    return Page(path.read_text(encoding="utf-8"))


def test_a_picture_of_each_kind_and_layer(written):
    names = sorted(path.name for path in written.parent.iterdir())
    assert names == ["attention.html", *PICTURES]


def test_the_page_holds_the_pictures_themselves(written):
    images = read(written).all("img")
    embedded = [base64.b64decode(i["src"].removeprefix("data:image/png;base64,")) for i in images]
    kinds = ["encoder_layer_1", "decoder_layer_1", "decoder_layer_2"]
    expected = [*kinds, "cross_layer_1", "cross_layer_2"]
    files = [(written.parent / f"{name}.png").read_bytes() for name in expected]
    assert embedded == files
    assert [image["alt"] for image in images][:2] == [
        "Encoder, layer 1: a heatmap for each head",
        "Decoder, layer 1: a heatmap for each head",
    ]


def test_the_page_needs_nothing_else(written):
    html = written.read_text(encoding="utf-8")
    page = Page(html)
    without_pictures = re.sub(r'src="data:image/png;base64,[^"]+"', "", html)
    assert not re.search(r"https?:|//|@import|url\(|src=", without_pictures)
    assert not page.all("script") + page.all("link") + page.all("iframe")
    for _, attributes in page.elements:
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))


def test_the_page_is_light_and_dark_wide_and_narrow(written):
    html = written.read_text(encoding="utf-8")
    assert "color-scheme: light dark" in html
    assert "prefers-color-scheme: dark" in html
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in Page(html).all(
        "meta"
    )


def test_links_lead_to_sections(written):
    page = read(written)
    links = [link["href"].removeprefix("#") for link in page.all("a")]
    assert links == [section["id"] for section in page.all("section")]
    assert links == ["encoder", "decoder", "cross"]


def test_the_page_says_what_was_read_by_whom(reading, written):
    page = read(written)
    for text in (
        "source (xx)",
        "the old boat",
        "given target (yy)",
        "a small red door",
        f"{reading.log_probability:.4f} nats",
        str(reading.loaded.path),
        reading.loaded.sha256,
        "100 updates",
    ):
        assert text in page.text


def test_what_a_person_types_is_text_and_not_html(loaded, tmp_path):
    typed = "the <script>alert(1)</script> & \"boat\" <img src='http://x'>"
    page = read(write_reading(read_sentence(loaded, typed, typed), tmp_path / "typed"))
    assert page.text.count(typed) == 3
    assert not page.all("script")
    assert len(page.all("img")) == 5


def test_without_a_folder_each_sentence_gets_its_own_in_the_run(loaded, reading):
    run = loaded.path.parents[1]
    pages = [write_reading(reading, None) for _ in range(2)]
    assert pages == [run / "attention" / number / "attention.html" for number in ("1", "2")]


def test_a_checkpoint_outside_of_a_run_gets_it_beside_itself(load_other, tmp_path):
    reading = read_sentence(load_other(), "the old boat", "a door")
    assert write_reading(reading, None) == tmp_path / "attention" / "1" / "attention.html"


def test_a_folder_that_cannot_be_made(reading, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(LatimerError, match=r"file.*cannot be written.*--output"):
        write_reading(reading, tmp_path / "file" / "folder")
