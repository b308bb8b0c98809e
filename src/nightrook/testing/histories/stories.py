"""The stories of made-up sessions: a prompt, the agent's texts and commands, and its answer."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import NamedTuple

from nightrook.testing.histories.sessions import StoredCommand


class Step(NamedTuple):
    """One call: the agent's text, and the command that it runs then."""

    text: str
    command: StoredCommand | None = None


class Story(NamedTuple):
    """A conversation: the prompt is its title, too."""

    prompt: str
    steps: tuple[Step, ...]
    answer: str

    def spread(self, count: int) -> Iterator[Step]:
        """The steps of a session with so many calls: the last one has the answer."""
        yield from islice(cycle((*self.steps, *_CHECKS)), count - 1)
        yield Step(self.answer)


def _ran(text: str, command: str, output: str, exit_code: int = 0) -> Step:
    return Step(text, StoredCommand(command, output, exit_code))


_CHECKS = (
    _ran("The whole suite next.", "python -m pytest -q", "184 passed in 6.31s"),
    _ran("Types and style, too.", "mypy . && ruff check .", "Success: no issues found"),
    _ran("What did I change?", "git diff --stat", "2 files changed, 14 insertions(+)"),
)
STORIES = (
    Story(
        "Fix the failing checkout test",
        (
            _ran(
                "I'll run the test first, to see how it fails.",
                "python -m pytest -q tests/test_checkout.py",
                "E  assert -8.0 == 0.0\n1 failed, 11 passed in 0.74s",
                1,
            ),
            _ran(
                "A negative total: three coupons of 40 % add up to more than the price.",
                "grep -rn 'discount' shop/",
                "shop/cart.py:41:    total -= total * sum(c.discount for c in coupons)",
            ),
            _ran(
                "I'll cap the discount at the price.",
                "sed -i 's/sum(c.discount for c in coupons)/min(1, &)/' shop/cart.py",
                "",
            ),
        ),
        "The checkout test passes: a cart's coupons take off at most its whole price.",
    ),
    Story(
        "Add a search field to the product list",
        (
            _ran(
                "I'll look at how the list is rendered.",
                "ls web/products && head -40 web/products/list.tsx",
                "filters.tsx  list.tsx  row.tsx\nexport function ProductList({ products }) {",
            ),
            _ran(
                "The field goes above the filters, and waits 200 ms before it asks the server.",
                "npm run build",
                "dist/products.js  48.2 kB",
            ),
        ),
        "The product list has a search field. It keeps its words in the address, so links work.",
    ),
    Story(
        "Explain why the import is slow",
        (
            _ran(
                "I'll profile it with the file from the report.",
                "python -X importtime -m shop.importer sample.csv 2>&1 | tail -3",
                "48210 rows in 94.1 s, 71 % of it in Session.commit",
            ),
            _ran(
                "It commits once for each row.",
                "grep -n 'commit' shop/importer.py",
                "67:            session.commit()",
            ),
        ),
        "The import commits after each of its 48,210 rows. One commit per 1,000 rows takes 6 s.",
    ),
    Story(
        "Write the release notes",
        (
            _ran(
                "What has changed since the last tag?",
                "git log --oneline v2.3.0..HEAD",
                "9f31c02 Cap discounts at the price\n51be77d Retry the payment API with backoff",
            ),
        ),
        "CHANGELOG.md has a section for 2.4.0: two fixes, and the retry with backoff.",
    ),
    Story(
        "Move the settings page to the new layout",
        (
            _ran(
                "Which pages use the new layout already?",
                "grep -rl 'PageLayout' web/ | sort",
                "web/account.tsx\nweb/orders.tsx",
            ),
            _ran("Build it and look.", "npm run build", "dist/settings.js  31.0 kB"),
        ),
        "The settings page uses PageLayout now. Its tests needed no change.",
    ),
    Story(
        "Find the memory leak in the worker",
        (
            _ran(
                "I'll watch the worker while it handles 1,000 jobs.",
                "python tools/soak.py --jobs 1000",
                "start 84 MB, end 412 MB",
            ),
            _ran(
                "Memory grows with every retry.",
                "grep -n 'retries' shop/worker.py",
                "23:retries: dict[str, list[Job]] = {}\n58:    retries[job.id].append(job)",
            ),
            _ran(
                "Jobs that succeed stay in that dictionary.",
                "python tools/soak.py --jobs 1000",
                "start 84 MB, end 87 MB",
            ),
        ),
        "The leak was the retry list: finished jobs were kept for ever. They are dropped now.",
    ),
)
EXPLORE = Story(
    "Explore the code",
    (
        _ran("First the tree.", "git ls-files | head -20", "shop/cart.py\nshop/worker.py"),
        _ran("Then who calls it.", "grep -rn 'Cart(' shop/", "shop/views.py:19:    cart = Cart()"),
    ),
    "Carts are made in shop/views.py alone; everything else gets one passed.",
)
AGAIN = Story("Try it another way", (), "Done in the other way, with fewer lines.")
