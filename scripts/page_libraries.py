"""Puts the two libraries of the web page into the package: `make web` runs it after `npm ci`.

They are copied as npm delivers them, with their licences; none of their code is in this repository.
The folder is ignored by git and part of the wheel.
"""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = ROOT / "node_modules"
VENDOR = ROOT / "src" / "nightrook" / "web" / "page" / "vendor"
LIT_HTML = ("lit-html.js", "directive.js", "directive-helpers.js", "directives/repeat.js")
"""What the page imports; the imports between these files are relative."""

_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def copy(modules: Path, vendor: Path) -> None:
    """Copy the libraries from npm's folder, in place of those that are there."""
    shutil.rmtree(vendor, ignore_errors=True)
    for name in LIT_HTML:
        _write(vendor / "lit-html" / name, (modules / "lit-html" / name).read_text())
    # The small build defines a name; as a module it exports it.
    small = (modules / "uplot" / "dist" / "uPlot.iife.min.js").read_text()
    _write(vendor / "uplot" / "uplot.js", f"{small.rstrip()}\nexport default uPlot;\n")
    _write(
        vendor / "uplot" / "uplot.css", (modules / "uplot" / "dist" / "uPlot.min.css").read_text()
    )
    for library in ("lit-html", "uplot"):
        shutil.copy(modules / library / "LICENSE", vendor / library / "LICENSE")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_SOURCE_MAP.sub("", text))


if __name__ == "__main__":
    copy(MODULES, VENDOR)
    print(f"the libraries of the page are in {VENDOR.relative_to(ROOT)}")
