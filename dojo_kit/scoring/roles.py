"""Party labels that name a role instead of somebody."""

from __future__ import annotations

from dojo_kit.text.tokens import tokens

ROLE_WORDS = frozenset(
    "shipper sponsor seller buyer company producer reseller licensee licensor party parties transporter customer "
    "client vendor purchaser lender borrower guarantor manufacturer distributor owner operator".split()
)
"""Words that name a party's role."""

MAX_ROLE_WORDS = 3


def is_only_roles(text: str) -> bool:
    """Tell whether a text is 1 to 3 role words and nothing else; any named party meets such a label.

    Examples:
        >>> is_only_roles("Seller."), is_only_roles("Acme Seller"), is_only_roles("")
        (True, False, False)
    """
    words = tokens(text)
    return 1 <= len(words) <= MAX_ROLE_WORDS and ROLE_WORDS.issuperset(words)
