"""A notebook as it ran, as one HTML file that opens anywhere, without a network."""

from dojo_kit.publish.failures import NotebookError
from dojo_kit.publish.notebook_page import notebook_page, publish_notebook

__all__ = ["NotebookError", "notebook_page", "publish_notebook"]
