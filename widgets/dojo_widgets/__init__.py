"""Interactive views over dojo_kit results."""
