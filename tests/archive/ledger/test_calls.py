"""Neither the order of lines, files and batches nor reading one twice changes a report."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook.adapter.history import Call, Finding, Session
from nightrook.archive.ledger.runs import RunFigures
from tests.archive.ledger.samples import Reading, differing_sums, filled, report, sessions, source

SESSIONS = ("a", "b", "c", "d")
TIMES = st.none() | st.integers(1_000, 1_006).map(lambda n: n * 450.0)
FEW = st.sampled_from((0, 1, 7))

calls = st.builds(
    Call,
    id=st.sampled_from(("1", "2", "3")),
    session=st.sampled_from(SESSIONS),
    at=TIMES,
    model=st.sampled_from((None, "priced", "other")),
    input=FEW,
    output=FEW,
    cache_read=FEW,
    cost_usd=st.sampled_from((None, 0.0, 0.5, 2.0)),
    subagent=st.sampled_from((None, "x")),
    project=st.sampled_from((None, "p", "q")),
    branch=st.sampled_from((None, "main")),
    copied=st.booleans(),
    fallback=st.booleans(),
)
lineage_calls = st.builds(
    Call,
    id=st.sampled_from(("l1", "l2")),
    session=st.sampled_from(SESSIONS),
    at=TIMES,
    model=st.just("priced"),
    input=FEW,
    output=st.integers(1, 3),
    lineage=st.just(True),
)
sums = st.builds(
    Call,
    id=st.sampled_from(("s1", "s2")),
    session=st.sampled_from(SESSIONS),
    at=TIMES,
    model=st.just("priced"),
    input=FEW,
    output=st.integers(1, 3),
    summed=st.just(True),
    fallback=st.booleans(),
)
facts = st.builds(
    Session,
    id=st.sampled_from(SESSIONS),
    at=TIMES,
    project=st.sampled_from((None, "p", "r")),
    title=st.sampled_from((None, "one", "two")),
    parent=st.sampled_from((None, *SESSIONS)),
    forked_from=st.sampled_from((None, *SESSIONS)),
)
findings: st.SearchStrategy[Finding] = calls | lineage_calls | sums | facts
readings = st.lists(
    st.tuples(st.sampled_from(("f", "g", "h")), st.lists(findings, max_size=4)), max_size=6
)
RUNS = (
    RunFigures(name="r1", agent="test", session="a", started_at=450_000, ended_at=451_000,
               native_usd=1.0, input=20, output=3, cache_read=0, cache_write=0, model="priced"),
    RunFigures(name="r2", agent="test", session="b", started_at=450_500, ended_at=452_000,
               input=5, output=5, cache_read=None, cache_write=0, model="other"),
)  # fmt: skip


@settings(max_examples=60)
@given(readings, st.randoms(use_true_random=False), st.booleans())
def test_any_order_gives_the_same_report(
    found: list[Reading], random: object, with_runs: bool
) -> None:
    single = [(path, [finding]) for path, lines in found for finding in lines]
    again = single + single[:3]
    random.shuffle(again)  # type: ignore[attr-defined]
    cut = len(again) // 2
    runs = RUNS if with_runs else ()
    with TemporaryDirectory() as folder:
        one = filled(Path(folder, "one.db"), found, runs=runs)
        two = filled(Path(folder, "two.db"), again[:cut], again[cut:], (), runs=runs)
        three = filled(Path(folder, "three.db"), runs=runs)
        with one, two, three:
            for path, lines in again:
                with three.batch() as batch:
                    batch.add(source(path), lines)
            assert [differing_sums(ledger) for ledger in (one, two, three)] == [[], [], []]
            assert report(two) == report(one)
            assert report(three) == report(one)
            assert sessions(two) == sessions(one)
            assert sessions(three) == sessions(one)
