"""The audit of a run record: does every stored number follow from the rows stored with it?

`verify_record` recomputes what it can, compares at the stored rounding, and says of everything else why rows
cannot give it. Nothing stored is passed over in silence.
"""

from dojo_kit.analysis.verify.audit import verify_record
from dojo_kit.analysis.verify.report import Difference, RowCheck, Unverifiable, VerifyReport

__all__ = ["Difference", "RowCheck", "Unverifiable", "VerifyReport", "verify_record"]
