"""A text under construction that remembers where its sentences and labelled spans stand."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence

from dojo_kit.samples.contracts import Mark, Range


class Draft:
    r"""A text with the ranges of its sentences and labels.

    Attributes:
        text: The text so far.
        sentences: Where its sentences stand; the number and heading of a section are one.
        marks: Its labels.

    Examples:
        >>> draft = Draft()
        >>> draft.line("TITLE", ("Document Name",))
        Range(start=0, end=5)
        >>> draft.text, draft.marks[0].category
        ('TITLE\n', 'Document Name')
    """

    def __init__(self) -> None:
        self.text = ""
        self.sentences: list[Range] = []
        self.marks: list[Mark] = []
        self._articles = 0
        self._sections = 0

    def line(self, text: str, categories: Iterable[str] = ()) -> Range:
        """Add a line of its own."""
        at = self._append(text)
        self._mark(at, categories)
        self.text += "\n"
        return at

    def gap(self) -> None:
        """Leave a line blank."""
        self.text += "\n"

    def article(self, caption: str) -> None:
        """Start a numbered article."""
        self._articles += 1
        self._sections = 0
        self.line(f"ARTICLE {self._articles}. {caption.upper()}")
        self.gap()

    def section(self, heading: str = "") -> str:
        """Start a numbered section and return how other parts of the text refer to it."""
        self._sections += 1
        number = f"{self._articles}.{self._sections}"
        self.sentences.append(self._append(f"{number} {heading}." if heading else number))
        return f"Section {number}"

    def sentence(self, text: str, categories: Iterable[str] = ()) -> Range:
        """Add a sentence to the current paragraph."""
        self._space()
        at = self._append(text)
        self.sentences.append(at)
        self._mark(at, categories)
        return at

    def fill(self, template: str, values: Mapping[str, str], labelled: Mapping[str, Sequence[str]]) -> None:
        """Add a sentence with slots, some of which are labelled.

        Args:
            template: Text with ``{slot}`` places.
            values: Slot -> text.
            labelled: Slot -> categories its text is labelled under.
        """
        self._space()
        start = len(self.text)
        for literal, slot, _, _ in string.Formatter().parse(template):
            self._append(literal)
            if slot:
                self._mark(self._append(values[slot]), labelled.get(slot, ()))
        self.sentences.append(Range(start, len(self.text)))

    def end(self) -> None:
        """End the paragraph and leave a line blank."""
        self.text += "\n\n"

    def _append(self, text: str) -> Range:
        start = len(self.text)
        self.text += text
        return Range(start, len(self.text))

    def _space(self) -> None:
        if self.text and not self.text.endswith("\n"):
            self.text += " "

    def _mark(self, at: Range, categories: Iterable[str]) -> None:
        self.marks.extend(Mark(category, at) for category in categories)
