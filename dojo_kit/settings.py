"""One frozen settings object: defaults < file < environment < call.

A file is YAML or TOML with the sections of `Settings`; the taxonomy layout of other tools
(``field_scoring:``, ``cost_models:`` and a list of ``doc_classes`` with ``field_types``) is read as well.
Unknown keys are refused with the closest known name, because a misspelt threshold that silently stays at its
default is a wrong score.

Environment variables are named ``DOJO_KIT__SECTION__KEY``; ``DOJO_KIT_CONFIG`` names a file. Their values, like
those of ``--set``, are read as YAML; in a file and in a call a number is a number, never text or a truth value.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from dojo_kit.errors import SettingsError, closest
from dojo_kit.prices import packaged_prices
from dojo_kit.schema import DocumentClass, document_class, document_classes, make_document_class
from dojo_kit.settings_files import parse_value as parse_value
from dojo_kit.settings_files import read_settings_file

ENV_PREFIX = "DOJO_KIT__"
ENV_CONFIG = "DOJO_KIT_CONFIG"

_ALIASES = {
    "field_scoring": {
        "bipartite_match_threshold": "match_threshold",
        "verification_token_coverage": "coverage_threshold",
        "token_coverage": "coverage_threshold",
        "presence_embedding_threshold": "presence_threshold",
        "embedding_enabled": "embedding_enabled",
    }
}
"""Names of the same settings in the taxonomy layout."""


def _real(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"must be a number, not {_short(value)}")
    return value


_NUMBER = BeforeValidator(_real)
Share = Annotated[float, Field(ge=0, le=1), _NUMBER]
Count = Annotated[int, Field(ge=1), _NUMBER]
Whole = Annotated[int, Field(ge=0), _NUMBER]


def _price(value: Any) -> Any:
    if isinstance(value, Mapping):
        known = {"input", "output", "in", "out", "input_per_million", "output_per_million"}
        unknown = set(value) - known
        if unknown:
            raise ValueError(f"price keys are input and output, not {', '.join(sorted(map(str, unknown)))}")
        pick = {key.split("_")[0].replace("input", "in").replace("output", "out"): v for key, v in value.items()}
        return (pick.get("in"), pick.get("out"))
    return tuple(value) if isinstance(value, list) else value


_Dollars = Annotated[float, Field(ge=0), _NUMBER]
Price = Annotated[tuple[_Dollars, _Dollars], BeforeValidator(_price)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class FieldScoring(_Section):
    """How values and lists are compared.

    Attributes:
        match_threshold: Similarity from which an item matches a label.
        embedding_enabled: Ask for the embedding rescue where no embedder is named.
        embedding_rescue_below: String similarity under which an embedding is asked.
        presence_threshold: Cosine from which a category counts as present.
        coverage_threshold: Share of tokens from which text counts as covered or grounded.
        ambiguous_band: Scores in this closed interval ask for a judge.
        partial_gt_fields: List fields whose labels are a sample, scored by coverage of the labels.
        containment_fields: Fields compared by containment whatever their declared type.
        day_first: Order of ``1/2/2024``; None reads month first and flags it.
        two_digit_year_pivot: Two-digit years below it belong to 20xx.
        pair_floor: Label-item pairs whose string similarity and coverage are both lower are not kept.
    """

    match_threshold: Share = 0.6
    embedding_enabled: bool = False
    embedding_rescue_below: Share = 0.7
    presence_threshold: Share = 0.7
    coverage_threshold: Share = 0.7
    ambiguous_band: tuple[Share, Share] = (0.5, 0.85)
    partial_gt_fields: frozenset[str] = frozenset({"parties", "key_obligations", "termination_clauses"})
    containment_fields: frozenset[str] = frozenset({"governing_law", "term_length", "renewal_terms"})
    day_first: bool | None = None
    two_digit_year_pivot: Annotated[int, Field(ge=0, le=100), _NUMBER] = 50
    pair_floor: Share = 0.2

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.ambiguous_band[0] > self.ambiguous_band[1]:
            raise ValueError(f"ambiguous_band runs from low to high, not {self.ambiguous_band}")
        return self


class Statistics(_Section):
    """How intervals are computed.

    Attributes:
        n_resamples: Bootstrap replicates.
        seed: Seed of the resampling stream.
        confidence: Confidence level of intervals.
    """

    n_resamples: Count = 2000
    seed: Whole = 42
    confidence: Annotated[float, Field(gt=0, lt=1), _NUMBER] = 0.95


class Chunking(_Section):
    """How long documents are cut for extraction.

    Attributes:
        chunk_chars: Characters per window.
        chunk_overlap: Characters shared by neighbouring windows.
    """

    chunk_chars: Count = 90_000
    chunk_overlap: Whole = 8_000


class Embedding(_Section):
    """Which embedding model is used when one is asked for.

    Attributes:
        model: Model name.
    """

    model: str = "all-MiniLM-L6-v2"


class Settings(_Section):
    """All settings of the package; immutable.

    Attributes:
        field_scoring: How values and lists are compared.
        statistics: How intervals are computed.
        chunking: How long documents are cut.
        embedding: Which embedding model is used.
        cost_models: Model slug -> (input, output) price in US dollars per million tokens; by default the packaged
            table (see `dojo_kit.prices`).
        doc_classes: Document class -> field -> type, added to or replacing the packaged classes.

    Examples:
        >>> Settings.load(env={}, overrides={"field_scoring.match_threshold": 0.7}).field_scoring.match_threshold
        0.7
    """

    field_scoring: FieldScoring = FieldScoring()
    statistics: Statistics = Statistics()
    chunking: Chunking = Chunking()
    embedding: Embedding = Embedding()
    cost_models: Mapping[str, Price] = Field(default_factory=lambda: dict(packaged_prices().prices))
    doc_classes: Mapping[str, Mapping[str, str]] = {}

    @model_validator(mode="after")
    def _known_types(self) -> Self:
        for key, fields in self.doc_classes.items():
            make_document_class(key, fields)
        return self

    def document_class(self, key: str) -> DocumentClass:
        """Return a document class, the settings' own definition before the packaged one.

        Raises:
            SettingsError: No class has this key.
        """
        if key not in self.doc_classes:
            return document_class(key)
        packaged = document_classes().get(key)
        return make_document_class(
            key,
            self.doc_classes[key],
            packaged.label if packaged else "",
            packaged.subclasses if packaged else (),
        )

    @classmethod
    def load(
        cls,
        path: str | Path | None = None,
        *,
        env: Mapping[str, str] | None = None,
        overrides: Mapping[str, Any] | None = None,
        where: str = "call",
    ) -> Settings:
        """Merge defaults, a file, the environment and a call's overrides.

        Args:
            path: YAML or TOML file; without one, ``DOJO_KIT_CONFIG`` is asked.
            env: Environment variables; the process's own by default.
            overrides: ``{"section.key": value}`` or ``{"section": {"key": value}}``.
            where: What messages call the overrides' origin, such as ``--set``.

        Raises:
            SettingsError: A key is unknown or given twice, or a value impossible.
            InputError: The file cannot be read.
        """
        env = os.environ if env is None else env
        path = (env.get(ENV_CONFIG) or None) if path is None else path
        merged: dict[str, Any] = {}
        if path is not None:
            _merge(merged, _normalise(read_settings_file(path), where=str(path)))
        _merge(merged, _normalise(_from_env(env), where="environment"))
        _merge(merged, _normalise(_nest(overrides or {}, where=where), where=where))
        return cls._validated(merged)

    def override(self, changes: Mapping[str, Any], *, where: str = "call") -> Settings:
        """Return a copy with ``{"section.key": value}`` or ``{"section": {"key": value}}`` changed."""
        merged = self.model_dump()
        _merge(merged, _normalise(_nest(changes, where=where), where=where))
        return self._validated(merged)

    @classmethod
    def _validated(cls, merged: Mapping[str, Any]) -> Settings:
        try:
            return cls.model_validate(merged)
        except ValidationError as error:
            raise SettingsError("; ".join(map(_fault, error.errors()))) from None


_WANTED = {
    "frozen_set_type": "a list of names",
    "tuple_type": "two numbers",
    "too_short": "two numbers",
    "too_long": "two numbers",
    "missing": "two numbers",
    "mapping_type": "keys with values",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
}


def _fault(error: Mapping[str, Any]) -> str:
    """Say in our words what a validator of a setting found."""
    place = ".".join(map(str, error["loc"]))
    raised = error.get("ctx", {}).get("error")
    if raised is not None:
        message = str(raised)
    else:
        wanted = _WANTED.get(error["type"]) or error["msg"].removeprefix("Input should be ")
        message = f"must be {wanted}, not {_short(error['input'])}"
    return f"{place}: {message}" if place else message


def _short(value: Any) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    return short.repr(value)


def _from_env(env: Mapping[str, str]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key in sorted(env):
        if key.startswith(ENV_PREFIX):
            name = key.removeprefix(ENV_PREFIX).lower().replace("__", ".")
            if name in flat:
                raise SettingsError(f"environment: {name} is given twice")
            flat[name] = parse_value(env[key])
        elif key.startswith(ENV_PREFIX[:-1]):
            _refuse_misspelt(key)
    return _nest(flat, where="environment")


def _refuse_misspelt(variable: str) -> None:
    """Refuse a variable that was meant for a setting; one of another part of the package passes."""
    name = variable.removeprefix(ENV_PREFIX[:-1]).lower()
    if variable in (ENV_CONFIG, "DOJO_KIT_CACHE") or name.startswith("embedding_"):
        return
    if name.endswith(("_base_url", "_api_key")):
        return
    known = {"config": ENV_CONFIG, "cache": "DOJO_KIT_CACHE"}
    for section, info in Settings.model_fields.items():
        keys = getattr(info.annotation, "model_fields", {})
        known |= {key: f"{ENV_PREFIX}{section}__{key}".upper() for key in keys if key != "model"}
        known |= {f"{section}_{key}": f"{ENV_PREFIX}{section}__{key}".upper() for key in keys}
    near = get_close_matches(name.replace("__", "_"), known, n=1, cutoff=0.8)
    sections = [section for section in Settings.model_fields if name.startswith(section)]
    if near or sections:
        right = known[near[0]] if near else f"{ENV_PREFIX}{sections[0]}__KEY".upper()
        raise SettingsError(f"environment: {variable} is not read (did you mean {right}?)")


def _nest(flat: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        section, dot, key = str(name).partition(".")
        if dot:
            given = nested.get(section)
            if isinstance(given, Mapping) and key in given:
                raise SettingsError(f"{where}: {name} is given twice")
            _merge(nested, {section: {key: value}})
        else:
            _merge(nested, {section: dict(value) if isinstance(value, Mapping) else value})
    return nested


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), Mapping):
            into[key] = {**into[key], **value}
        else:
            into[key] = value


def _normalise(raw: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Bring the taxonomy layout to ours and refuse unknown names."""
    result: dict[str, Any] = {}
    for section, value in raw.items():
        if not isinstance(section, str):
            raise SettingsError(f"{where}: section {section!r} is not text; known: {', '.join(Settings.model_fields)}")
        if section not in Settings.model_fields:
            raise SettingsError(
                f"{where}: unknown section {section!r}{closest(section, Settings.model_fields)}; "
                f"known: {', '.join(Settings.model_fields)}"
            )
        if section == "doc_classes":
            result[section] = _doc_classes(value, where=where)
        elif section == "cost_models":
            result[section] = value
        else:
            result[section] = _section(section, value, where=where)
    return result


def _section(section: str, value: Any, *, where: str) -> dict[str, Any]:
    model = Settings.model_fields[section].annotation
    assert model is not None  # noqa: S101 - a section's annotation is its class
    known = set(model.model_fields)
    aliases = _ALIASES.get(section, {})
    if isinstance(value, BaseModel):
        value = value.model_dump()
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"{where}: section {section!r} is {_short(value)}, expected keys among {', '.join(sorted(known))}"
        )
    result: dict[str, Any] = {}
    given: dict[str, str] = {}
    for key, setting in value.items():
        name = aliases.get(str(key), str(key))
        if name not in known:
            raise SettingsError(
                f"{where}: unknown setting {section}.{key}{closest(str(key), known | set(aliases))}; "
                f"known: {', '.join(sorted(known))}"
            )
        if name in given:
            both = key if key == given[name] else f"{given[name]} and as {key}"
            raise SettingsError(f"{where}: {section}.{name} is given twice, as {both}")
        result[name], given[name] = setting, str(key)
    return result


def _doc_classes(value: Any, *, where: str) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, list):
        raise SettingsError(f"{where}: doc_classes is {_short(value)}, expected a mapping or a list of classes")
    allowed = ("key", "name", "label", "description", "field_types", "subclasses")
    result = {}
    for entry in value:
        if not isinstance(entry, Mapping) or not ({"key", "name"} & set(entry)):
            raise SettingsError(f"{where}: a doc_classes entry needs a key and field_types, not {_short(entry)}")
        for key in entry:
            if key not in allowed:
                raise SettingsError(f"{where}: unknown doc_classes key {key!r}{closest(str(key), allowed)}")
        name = str(entry.get("key") or entry.get("name"))
        if name in result:
            raise SettingsError(f"{where}: document class {name!r} is given twice")
        if entry.get("field_types"):
            result[name] = entry["field_types"]
    return result


_current: ContextVar[Settings | None] = ContextVar("dojo_kit_settings", default=None)


class _Configured(AbstractContextManager[Settings]):
    """Return value of `configure`: in a ``with`` block the previous settings come back at its end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._token = _current.set(settings)

    def __enter__(self) -> Settings:
        return self.settings

    def __exit__(self, *exc: object) -> None:
        _current.reset(self._token)


def configure(changes: Mapping[str, Any] | None = None, /, **sections: Any) -> _Configured:
    """Change the current context's settings, for good or for a ``with`` block.

    Args:
        changes: ``{"section.key": value}``.
        **sections: A section as a mapping, e.g. ``field_scoring={"match_threshold": 0.7}``.

    Examples:
        >>> with configure({"statistics.seed": 7}):
        ...     get_settings().statistics.seed
        7
        >>> get_settings().statistics.seed
        42
    """
    return _Configured(get_settings().override({**(changes or {}), **sections}))


def load_settings(path: str | Path) -> Settings:
    """Load a settings file and make it the current context's settings."""
    settings = Settings.load(path)
    _current.set(settings)
    return settings


def get_settings() -> Settings:
    """Return the current context's settings, loading defaults and environment on first use."""
    settings = _current.get()
    if settings is None:
        settings = Settings.load()
        _current.set(settings)
    return settings


def clear_settings_cache() -> None:
    """Forget the current context's settings, so that the next use loads them again."""
    _current.set(None)


def resolve(settings: Settings | None) -> Settings:
    """Return the settings given, else the current ones."""
    return get_settings() if settings is None else settings


def iter_settings(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield every setting as (``section.key``, value) in a fixed order, sets as sorted lists.

    Examples:
        >>> dict(iter_settings(Settings()))["statistics.seed"]
        42
    """
    for section in Settings.model_fields:
        value = getattr(settings, section)
        if isinstance(value, BaseModel):
            for key in type(value).model_fields:
                item = getattr(value, key)
                yield f"{section}.{key}", sorted(item) if isinstance(item, frozenset) else item
        else:
            yield section, value
