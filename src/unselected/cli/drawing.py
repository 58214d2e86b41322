"""The picture of an audit, in a module of its own because it needs matplotlib."""

from unselected.audit import SelectionAudit
from unselected.files.writing import write_text
from unselected.plots import SelectionAuditDisplay, inline_svg


def draw_audit(found: SelectionAudit, path: str, overwrite: bool) -> None:
    """Write the picture of an audit to an SVG file."""
    picture = inline_svg(SelectionAuditDisplay.from_audit(found))
    write_text(path, picture, overwrite=overwrite)
