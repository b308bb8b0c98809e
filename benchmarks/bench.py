"""What decoding and running cost, as ratios to named references that ran in turn with it."""

import argparse
import platform
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

import msgspec
from acp_corpus import AcpCorpus
from app_server_corpus import AppServerCorpus
from codex_corpus import CodexCorpus
from corpus import Corpus
from costs import costs
from listing import listing, short_commands
from more_corpora import (
    AmpCorpus,
    ClineCorpus,
    CopilotCorpus,
    DroidCorpus,
    GeminiCorpus,
    GooseCorpus,
    KimiCorpus,
    QwenCorpus,
)
from opencode_corpus import KiloCorpus, OpenCodeCorpus
from running import cpu, latency, many
from sdk import Sdk
from searching import searching
from showing import redaction, show, viewer
from starting import start, whole_run
from timing import HEAD, Row, columns, dearer, faster, laid_out, peak_memory, race
from watching import watching
from web import web

import nightrook
from nightrook.model import fold as told

MB = 1_000_000
CHUNK = 256 * 1024
PIPE = 64 * 1024  # what a pipe holds, so the most that a reader gets at once
SHORT_OUTPUT = 2000

AT_LEAST = 0.9
"""How fast an agent's file must become records, against `PLAIN`."""

AT_LEAST_SHORT = 0.5
"""The same where outputs are short: a record costs more than its few bytes."""

PLAIN = "for line in file: msgspec.json.decode(line)"
SPLIT = "for line in lines: msgspec.json.decode(line)"
HEAVY = ("asyncio", "click", "genai_prices", "rich")


class Lines(Protocol):
    """A corpus of one agent."""

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""


class Setting:
    """The corpora, and how often things are run."""

    def __init__(self, folder: Path, *, quick: bool) -> None:
        self.folder = folder
        self.quick = quick
        self.rounds = 3 if quick else 15
        self.starts = 3 if quick else 21
        self.memory = (10 * MB, (50 if quick else 1000) * MB)

    @cached_property
    def corpora(self) -> Mapping[str, list[bytes]]:
        """The lines of both corpora."""
        return self.make()

    def make(self, *, unknown: float = 0.0) -> Mapping[str, list[bytes]]:
        """Make both corpora."""
        stream, deltas = (4 * MB, MB) if self.quick else (64 * MB, 8 * MB)
        return {
            "stream": list(Corpus(unknown=unknown).lines(stream)),
            "deltas": list(Corpus(unknown=unknown).deltas(deltas)),
        }

    def file(self, name: str) -> Path:
        """Give a file that holds a corpus."""
        path = self.folder / name
        path.write_bytes(b"".join(self.corpora[name]))
        return path


def file(setting: Setting) -> Iterator[Row]:
    """A file's bytes to records, and to mere dicts in the plainest way."""
    for name, required in (("stream", 1.2), ("deltas", None)):
        path = setting.file(name)
        (ratio,) = race(setting.rounds, partial(decode_file, path), partial(load_file, path))
        yield faster(f"file → records, {name} corpus", PLAIN, ratio, required)


def lines(setting: Setting) -> Iterator[Row]:
    """Lines to records one by one, as a run gets them, and to dicts."""
    for name in ("stream", "deltas"):
        yield one_by_one(setting, "claude", name, setting.corpora[name])


def codex(setting: Setting) -> Iterator[Row]:
    """The same for Codex, which reports every byte: with outputs of all sizes, and short ones.

    Its app server reports most of it twice: in pieces, and whole.
    """
    for name, corpus in (("codex", CodexCorpus), ("app-server", AppServerCorpus)):
        yield from own_lines(setting, "codex", name, corpus(), AT_LEAST)
        yield from own_lines(
            setting, "codex", f"short {name}", corpus(largest=SHORT_OUTPUT), AT_LEAST_SHORT
        )


def others(setting: Setting) -> Iterator[Row]:
    """The same for the other agents; some report most outputs twice."""
    for agent, corpus in (
        ("opencode", OpenCodeCorpus),
        ("gemini", GeminiCorpus),
        ("qwen", QwenCorpus),
        ("amp", AmpCorpus),
        ("kilo", KiloCorpus),
        ("droid", DroidCorpus),
        ("goose", GooseCorpus),
        ("acp", AcpCorpus),
        ("cline", ClineCorpus),
        ("copilot", CopilotCorpus),
        ("kimi", KimiCorpus),
    ):
        yield from own_lines(setting, agent, agent, corpus(), AT_LEAST)
        yield from own_lines(
            setting, agent, f"short {agent}", corpus(largest=SHORT_OUTPUT), AT_LEAST_SHORT
        )


def fold(setting: Setting) -> Iterator[Row]:
    """The same with everything folded into a state and its ledger."""
    path = setting.file("stream")
    (ratio,) = race(setting.rounds, partial(fold_file, path), partial(load_file, path))
    yield faster("file → state, stream corpus", PLAIN, ratio, 0.7)


def sdk(setting: Setting) -> Iterator[Row]:
    """The same pieces of bytes to records, and to the messages of the SDK."""
    try:
        other = Sdk()
    except ImportError:
        yield Row("bytes → records", "claude-agent-sdk, which is not installed", "?", "≥ 3.50×")
        return
    for name, least_parser, least_whole in (("stream", 3.5, 7.0), ("deltas", None, None)):
        chunks = cut(other.readable(setting.corpora[name]), PIPE)
        actions = (partial(act, chunks) for act in (decode, other.parse, other.receive))
        parse, receive = race(setting.rounds, *actions)
        what = f"bytes → records, {name} corpus"
        yield faster(what, f"{other.name}, its parser alone", parse, least_parser)
        yield faster(what, f"{other.name}, its whole way", receive, least_whole)


def unknown(setting: Setting) -> Iterator[Row]:
    """The cost per byte when every hundredth line is of a type that nobody knows."""
    strange = setting.make(unknown=0.01)
    for name, known in setting.corpora.items():
        mixed, pure = cut(strange[name], CHUNK), cut(known, CHUNK)
        (ratio,) = race(setting.rounds, partial(decode, pure), partial(decode, mixed))
        ratio *= size(pure) / size(mixed)
        yield dearer(f"1 % unknown lines, {name} corpus", "no unknown lines", ratio, 1.3)


def long(setting: Setting) -> Iterator[Row]:
    """The cost per byte of a very long line."""
    corpus = Corpus()
    init = next(corpus.lines(1))
    single = cut([init, corpus.tool_result(96 * MB // 10)], CHUNK)
    many = cut([init, *(corpus.tool_result(96_000) for _ in range(100))], CHUNK)
    (ratio,) = race(setting.rounds, partial(decode, many), partial(decode, single))
    ratio *= size(many) / size(single)
    yield dearer("a line of 10 MB, per MB", "lines of 100 kB", ratio, 2.0)


def memory(setting: Setting) -> Iterator[Row]:
    """How much more memory a long stream takes at its peak than a short one."""
    short, tall = setting.memory
    more = (peak_memory(tall) - peak_memory(short)) / MB
    what, against = f"peak memory, {tall // MB} MB stream", f"{short // MB} MB stream"
    yield Row(what, against, f"{more:+.1f} MB", "≤ +40 MB", more <= 40)


def imports(_: Setting) -> Iterator[Row]:
    """What `import nightrook` must not import."""
    code = f"import nightrook, sys; print(*(set({HEAVY}) & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE)
    names = found.stdout.decode().split()
    yield Row(
        "import nightrook", f"imports {', '.join(HEAVY)}", " ".join(names) or "no", "no", not names
    )


BENCHES: Mapping[str, Callable[[Setting], Iterator[Row]]] = {
    each.__name__: each
    for each in (
        *(file, lines, codex, others, fold, sdk, unknown, long, memory, imports),
        *(start, whole_run, listing, short_commands, latency, cpu, many),
        *(show, redaction, viewer, costs, watching, searching, web),
    )
}


def own_lines(
    setting: Setting, agent: str, name: str, corpus: Lines, required: float
) -> Iterator[Row]:
    """Race an agent's decoder over its own lines: from a file, and one by one."""
    split = list(corpus.lines((1 if setting.quick else 64) * MB))
    path = setting.folder / name
    path.write_bytes(b"".join(split))
    actions = partial(decode_file, path, agent), partial(load_file, path)
    (ratio,) = race(setting.rounds, *actions)
    path.unlink()
    yield faster(f"file → records, {name} corpus", PLAIN, ratio, required)
    yield one_by_one(setting, agent, name, split)


def one_by_one(setting: Setting, agent: str, name: str, split: Sequence[bytes]) -> Row:
    """Race an agent's decoder over lines that somebody else has split, given one by one."""
    (ratio,) = race(setting.rounds, partial(feed, split, agent), partial(load, split))
    return faster(f"line by line → records, {name} corpus", SPLIT, ratio)


def decode(chunks: Iterable[bytes], agent: str = "claude") -> None:
    """Decode pieces of bytes and let the records go."""
    deque(nightrook.decode(chunks, agent), maxlen=0)


def feed(lines: Iterable[bytes], agent: str = "claude") -> None:
    """Decode lines one by one, as they come from an agent at work, and let the records go."""
    decoder = nightrook.decoder(agent)
    for line in lines:
        decoder.feed(line)
    decoder.close()


def decode_file(path: Path, agent: str = "claude") -> None:
    """Decode an open file and let the records go."""
    with open(path, "rb") as file:
        deque(nightrook.decode(file, agent), maxlen=0)


def fold_file(path: Path) -> None:
    """Decode an open file and fold it."""
    with open(path, "rb") as file:
        told.fold(nightrook.decode(file, "claude"))


def load(lines: Iterable[bytes]) -> None:
    """Decode lines as JSON of any shape."""
    for line in lines:
        msgspec.json.decode(line)


def load_file(path: Path) -> None:
    """Decode the lines of an open file as JSON of any shape."""
    with open(path, "rb") as file:
        for line in file:
            msgspec.json.decode(line)


def cut(lines: Iterable[bytes], size: int) -> list[bytes]:
    """Cut a stream into pieces of one size."""
    data = b"".join(lines)
    return [data[at : at + size] for at in range(0, len(data), size)]


def size(pieces: Sequence[bytes]) -> int:
    """Give the size of all pieces together."""
    return sum(map(len, pieces))


def main() -> int:
    """Run the benchmarks and print each row of one table as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small corpora and few rounds")
    parser.add_argument("--only", choices=BENCHES, metavar="NAME", help=f"one of {[*BENCHES]}")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a figure misses")
    args = parser.parse_args()
    chosen = [BENCHES[args.only]] if args.only else BENCHES.values()
    with tempfile.TemporaryDirectory() as folder:
        setting = Setting(Path(folder), quick=args.quick)
        versions = f"Python {platform.python_version()}, msgspec {msgspec.__version__}"
        print(f"CPU time, and lags by the clock; {versions}\n")
        print(columns(HEAD), flush=True)
        missed = False
        for row in (row for bench in chosen for row in bench(setting)):
            print(laid_out(row), flush=True)
            missed = missed or row.ok is False
    return int(args.strict and missed)


if __name__ == "__main__":
    sys.exit(main())
