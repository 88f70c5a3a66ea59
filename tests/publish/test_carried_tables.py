"""What a published notebook keeps of a widget: its tables and its links, and only while it is published."""

from __future__ import annotations

import pytest
import traitlets

from dojo_kit.publish.run_environment import PUBLISHING, run_environment
from dojo_widgets import base, link
from dojo_widgets.base import Precomputed, Widget


class Pane(Widget):
    """A widget whose text follows from its span."""

    span = traitlets.Unicode().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)

    def precomputed(self) -> tuple[Precomputed, ...]:
        return (Precomputed("span", "text", {"a": "one"}),)


def test_tables_are_carried_while_publishing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A widget that is shown puts its tables into its state; in a notebook at work it does not."""
    monkeypatch.delenv(PUBLISHING, raising=False)
    pane = Pane()
    pane._repr_mimebundle_()
    assert pane.get_state()["_tables"] == []

    monkeypatch.setenv(PUBLISHING, "1")
    pane._repr_mimebundle_()
    assert pane.get_state()["_tables"] == [{"source": "span", "target": "text", "values": {"a": "one"}}]


def test_links_are_named_alike() -> None:
    """Linked widgets have a name in common that ends in the trait; others have none."""
    left, right, alone = Pane(), Pane(), Pane()
    links = link(left, right, traits=("span", "unknown"))

    assert len(links) == 1
    assert left._linked == right._linked
    assert [name.partition(":")[2] for name in left._linked] == ["span"]
    assert alone._linked == []


def test_both_packages_mean_the_same_variable() -> None:
    """The widgets know nothing of publishing but the name of its variable."""
    assert base.PUBLISHING == PUBLISHING
    assert run_environment()[PUBLISHING] == "1"
