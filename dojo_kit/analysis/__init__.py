"""Questions asked of scored runs and of stored records: diagnostics and the audit of published numbers.

Everything here groups and counts what `dojo_kit.scoring` decided; nothing scores again.
"""
