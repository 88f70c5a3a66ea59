"""Settings as people write them: YAML and TOML files, and single values in the environment or a command."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from dojo_kit.errors import InputError


def read_settings_file(source: str | Path) -> dict[str, Any]:
    """Read the sections of a settings file.

    Args:
        source: YAML, or TOML by its ending; ``~`` is the home folder.

    Raises:
        InputError: The file cannot be read, or a key is given twice or is not text.
    """
    import yaml

    path = Path(os.path.expanduser(source))
    if not str(source).strip():
        raise InputError("the path of the settings file is empty", expected="a YAML or TOML file")
    try:
        text = path.read_text(encoding="utf-8-sig")
        value = tomllib.loads(text) if path.suffix.lower() == ".toml" else _load_yaml(text)
    except UnicodeDecodeError:
        raise InputError("settings are not UTF-8 text", file=path, expected="YAML or TOML") from None
    except RecursionError:
        raise InputError("settings are nested too deeply", file=path, expected="sections with keys") from None
    except OSError as error:
        raise InputError(f"cannot read settings: {error.strerror}", file=path) from None
    except (yaml.YAMLError, *_UNREADABLE) as error:
        reason = " ".join(str(error).split()).replace('in "<unicode string>",', "at")
        raise InputError(f"cannot parse settings: {reason}", file=path, expected="YAML or TOML") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"settings are a {type(value).__name__}", file=path, expected="sections with keys")
    return value


_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What reading YAML and TOML runs into besides their own errors: dates and numbers out of range, and the like."""


@cache
def _yaml_loader() -> Any:
    """Make a YAML loader that refuses a key given twice or not written as text, and reads ``1e-3`` as a number."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            seen = set()
            for key_node, _ in node.value:
                key = self.construct_object(key_node, deep=True)
                if key_node.tag == "tag:yaml.org,2002:merge":
                    continue
                fault = None if isinstance(key, str) else f"key {key!r} is not text; quote it"
                if fault or key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, fault or f"key {key!r} is given twice", key_node.start_mark
                    )
                seen.add(key)
            return super().construct_mapping(node, deep)

    exponent = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", exponent, list("-+.0123456789"))
    return Loader


def _load_yaml(text: str) -> Any:
    import yaml

    return yaml.load(text, Loader=_yaml_loader())  # noqa: S506 - a safe loader


def parse_value(text: str) -> Any:
    """Read a setting's value as written on a command line or in the environment (a YAML scalar or list).

    Examples:
        >>> parse_value("0.7"), parse_value("[a, b]"), parse_value("none")
        (0.7, ['a', 'b'], 'none')
    """
    import yaml

    try:
        return _load_yaml(text)
    except (yaml.YAMLError, RecursionError, *_UNREADABLE):
        return text
