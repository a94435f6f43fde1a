"""A translator with random weights, and a reader of pages."""

from html.parser import HTMLParser

import pytest

from latimer.decoding import SearchSettings
from latimer.translation import Translator

VOID = {"meta", "br", "img", "link"}


class Page(HTMLParser):
    """The elements of a page in their order, their attributes, all text, and what is left open."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.open = [], "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data}\n"

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="session")
def read_page():
    return Page


@pytest.fixture(scope="session")
def make_translator(make_model, tiny_tokenizers):
    def make(settings=None, **hyperparameters):
        settings = settings or SearchSettings(beam_size=3, max_length_offset=4)
        model = make_model(**hyperparameters)
        return Translator(model, tiny_tokenizers, settings, max_tokens=2000)

    return make
