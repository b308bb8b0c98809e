"""Checks a built wheel: what it must hold, what it must not, and that its command works.

`python scripts/wheel.py dist/nightrook-….whl` installs the wheel into a fresh virtual environment,
which borrows the dependencies of the Python that runs this script: nothing is downloaded.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
REQUIRED = (
    *("demo.jsonl", "outline.json", "py.typed", "record.schema.json"),
    *("index.html", "lit-html.js", "uplot.js"),
)
"""Files of the package that no import would miss."""
VENDOR = ROOT / "src" / "nightrook" / "web" / "page" / "vendor"
INFORMATION = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
MANUAL = "data/share/man/man1/rook.1"


def problems(names: Iterable[str], package: Iterable[str]) -> list[str]:
    """What is missing or does not belong among the names of a wheel's files."""
    expected = {
        "nightrook": set(package),
        "dist-info": INFORMATION,
        "data": {MANUAL},
    }
    found: dict[str, set[str]] = {kind: set() for kind in expected}
    strays: set[str] = set()
    for name in names:
        folder, _, rest = name.partition("/")
        found.get(folder.rpartition(".")[2], strays).add(rest)
    missing = set(REQUIRED) - {name.rpartition("/")[2] for name in found["nightrook"]}
    for kind, files in expected.items():
        missing |= files - found[kind]
        strays |= found[kind] - files
    return [
        *(f"missing: {name}" for name in sorted(missing)),
        *(f"does not belong: {name}" for name in sorted(strays)),
    ]


def package_files() -> list[str]:
    """The files that git tracks or would track, and the libraries of the page, which it ignores."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "src/nightrook",
    ]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    libraries = [
        str(path.relative_to(ROOT)) for path in sorted(VENDOR.rglob("*")) if path.is_file()
    ]
    return [name.removeprefix("src/nightrook/") for name in [*names, *libraries]]


def inspect(wheel: Path) -> list[str]:
    """What is missing or does not belong in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return problems(archive.namelist(), package_files())


def try_out(wheel: Path, folder: Path) -> None:
    """Install the wheel into a fresh environment and run its command there."""
    environment = folder / "venv"
    venv.create(environment, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = environment / "bin" / "python"
    install = ["pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    _run([sys.executable, "-m", *install, str(wheel)], folder)
    where = _run([str(python), "-c", "import nightrook; print(nightrook.__file__)"], folder)
    if not Path(where.strip()).is_relative_to(environment):
        raise SystemExit(f"the environment imports nightrook from {where.strip()}")
    rook = str(environment / "bin" / "rook")
    _run([rook, "--version"], folder)
    _run([rook, "schema"], folder)
    _run([rook, "demo", "--speed", "1000"], folder)


def main() -> None:
    """Check the wheel that the command line names; exit with 1 if something is wrong."""
    wheel = Path(sys.argv[1]).resolve()
    if found := inspect(wheel):
        raise SystemExit("\n".join([f"{wheel.name}:", *found]))
    with tempfile.TemporaryDirectory() as folder:
        try_out(wheel, Path(folder))
    print(f"{wheel.name}: complete, nothing that does not belong, rook works")


def _run(command: list[str], folder: Path) -> str:
    """The output of a command that must succeed, away from this repository and the user's runs."""
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "ROOK_HOME": str(folder / "runs")}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} exited with {done.returncode}:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
