"""A job as JSON, before and after it is read."""

from collections.abc import Mapping
from typing import Any

Given = Mapping[str, Any]
"""What somebody wrote, in any dialect and with any mistake: looked at by nobody yet."""
Document = dict[str, Any]
"""A job's document as JSON, of a dialect that is named beside it: native where none is."""
FieldChanges = Mapping[str, Any]
"""New values of a document's fields by dotted path, such as ``roles.0.parameters.lr``, set before the checks."""
