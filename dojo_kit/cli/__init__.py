"""The command line: arguments in, one call, a table or JSON out.

Mistakes of the user end in one message on standard error and exit code 2.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the ``dojo`` command."""
    from dojo_kit.cli.app import app
    from dojo_kit.cli.explain import mark_negative_numbers
    from dojo_kit.cli.output import prepare_streams, report_error
    from dojo_kit.errors import DojoError

    prepare_streams()
    try:
        app(args=mark_negative_numbers(sys.argv[1:]))
    except DojoError as error:
        report_error(error)
        sys.exit(2)
