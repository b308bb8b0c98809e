"""Prices: looked up by every spelling, dated, exact, and unknown when nobody knows them."""

from pathlib import Path

import pytest

from nightrook.model.events import Usage
from nightrook.model.price import Price, Rates, dollars, nano, round_pico
from nightrook.prices import (
    PriceBook,
    PriceFileError,
    price_file_path,
    price_file_problem,
    read_price_file,
)
from nightrook.prices.names import spellings
from tests.recorded import REAL, name_of, results
from tests.rules import each

SONNET = Rates(
    input=3_000_000,
    output=15_000_000,
    cache_read=300_000,
    cache_write_5m=3_750_000,
    cache_write_1h=6_000_000,
    web_search=10_000_000_000,
)


@pytest.fixture(scope="module")
def book() -> PriceBook:
    return PriceBook()


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5",
        "claude-sonnet-4-5@20250929",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic/claude-sonnet-4.5",
        "claude-sonnet-4-5[1m]",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ],
)
def test_every_provider_s_spelling_finds_the_same_price(book: PriceBook, name: str) -> None:
    price = book(name)
    assert price is not None
    assert price.rates == SONNET


def test_an_unknown_model_is_unknown(book: PriceBook) -> None:
    assert book("nobodys-model-7") is None
    assert book("") is None


def test_a_model_that_is_free_is_not_priced_as_the_paid_one(book: PriceBook) -> None:
    for name in ("deepseek/deepseek-chat-v3.1:free", "nobodys-model-7:free"):
        price = book(name)
        assert price is not None
        assert price.cost(Usage(input=1_000_000, output=1_000, cache_read=5)) == 0


def test_a_long_input_has_its_own_price(book: PriceBook) -> None:
    price = book("claude-sonnet-4-5")
    assert price is not None
    at_most = Usage(input=100_000, cache_read=100_000, output=1000)
    beyond = Usage(input=100_000, cache_read=100_001, output=1000)
    assert price.cost(at_most) == nano(0.3 + 0.03 + 0.015)
    assert price.cost(beyond) == nano(0.6 + 0.0600006 + 0.0225)


def test_input_without_a_special_price_costs_what_input_costs(book: PriceBook) -> None:
    price = book("gpt-5", 1_793_620_800.0)
    assert price is not None
    written = Usage(input=100, cache_read=400, cache_write_5m=50, cache_write_1h=50, output=10)
    assert price.cost(written) == nano((200 * 1.25 + 400 * 0.125 + 10 * 10) / 1e6)


def test_prices_are_dated() -> None:
    asked: list[str] = []

    class Dated(PriceBook):
        def _look_up(self, model: str, moment: object) -> Price | None:
            asked.append(str(moment)[:10])
            return None

    book = Dated()
    book("m", 0.0)
    book("m", 60.0)
    book("m", 86_400.0)
    assert asked == ["1970-01-01", "1970-01-02"]


def test_the_user_s_own_price_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text('["claude-sonnet-4-5-20250929"]\ninput = 1.5\noutput = 2\nweb_search = 0.01\n')
    price = PriceBook(read_price_file(path))("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert price == Price(Rates(input=1_500_000, output=2_000_000, web_search=10_000_000_000))
    assert price.cost(Usage(cache_read=1)) is None
    assert price.cost(Usage(input=2, output=1, web_searches=3)) == nano(0.000005 + 0.03)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "nonsense"),
        ('m = "x"', r"\[m\] must be a table"),
        ("[m]\ninputs = 3", "inputs: unknown; the keys are input, output"),
        ("[m]\ninput = -3", "must be a price in dollars"),
        ("[m]\ninput = true", "must be a price in dollars"),
        ('[m]\ninput = "3"', "must be a price in dollars"),
        ("[m]\ninput = inf", "must be a price in dollars"),
        ("[m]\ninput = nan", "must be a price in dollars"),
        ("[m]\ninput = 1e300", "must be a price in dollars"),
        (f"[m]\ninput = {'9' * 5000}", "has a number with too many digits"),
    ],
)
def test_a_wrong_price_file_says_where_and_why(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(PriceFileError, match=words if text != "nonsense" else str(path)):
        read_price_file(path)


def test_a_price_file_that_is_not_text_says_so(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(b"[m]\ninput = '\xff'")
    with pytest.raises(PriceFileError, match="is not UTF-8"):
        read_price_file(path)


def test_a_missing_price_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match="No such file"):
        read_price_file(tmp_path / "none.toml")


def test_a_model_is_looked_up_once(book: PriceBook) -> None:
    assert book("claude-haiku-4-5") is book("claude-haiku-4-5")


def test_spellings_take_off_the_least_first() -> None:
    assert list(spellings("us.anthropic.claude-x-v2:0")) == [
        "us.anthropic.claude-x-v2:0",
        "anthropic.claude-x-v2:0",
        "anthropic.claude-x",
        "claude-x",
    ]


def test_money_is_rounded_to_the_nearest_nano_dollar() -> None:
    assert [round_pico(p) for p in (0, 499, 500, 1499, -499, -1499)] == [0, 0, 1, 1, 0, -1]
    assert dollars(nano(0.0010517999999999999)) == 0.0010518


@each("path", REAL, ids=name_of)
def test_our_price_of_every_model_equals_what_the_agent_computed(
    book: PriceBook, path: Path
) -> None:
    for result in results(path):
        for model, used in (result.get("modelUsage") or {}).items():
            price = book(model)
            if used.get("costBasis") == "unknown":
                assert price is None  # the agent guessed
                continue
            assert price is not None
            split = "cacheCreationEphemeral5mInputTokens"
            usage = Usage(
                input=used["inputTokens"],
                output=used["outputTokens"],
                cache_read=used["cacheReadInputTokens"],
                cache_write_5m=used.get(split, used["cacheCreationInputTokens"]),
                cache_write_1h=used.get("cacheCreationEphemeral1hInputTokens"),
                web_searches=used["webSearchRequests"],
            )
            # A sum of calls is not a call: the price of long inputs is not meant for it.
            flat = Price(price.rates)
            assert flat.cost(usage) == nano(used["costUSD"]), model


# The user's own file, in the folder of the settings.


@pytest.fixture
def price_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = price_file_path()
    path.parent.mkdir(parents=True)
    return path


def test_the_user_s_price_file_is_read_when_a_price_is_asked_for(price_file: Path) -> None:
    book = PriceBook()
    price_file.write_text('["my-model"]\ninput = 1.5\n')
    assert book("my-model") == Price(Rates(input=1_500_000))
    assert book("claude-sonnet-4-5") is not None
    assert price_file_problem() is None


def test_the_setting_prices_file_names_another_price_file(
    price_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = price_file.parent / "rook.toml"
    settings.write_text('[prices]\nfile = "mine.toml"\n')
    (price_file.parent / "mine.toml").write_text('["my-model"]\ninput = 2.5\n')
    price_file.write_text('["my-model"]\ninput = 1.5\n')
    assert PriceBook()("my-model") == Price(Rates(input=2_500_000))
    other = price_file.parent / "other.toml"
    other.write_text('["my-model"]\ninput = 3.5\n')
    monkeypatch.setenv("ROOK_PRICES_FILE", str(other))
    assert PriceBook()("my-model") == Price(Rates(input=3_500_000))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[prices]\nfile = "none.toml"\n', "none.toml"),
        ("[prices]\nfile = 3\n", "prices_file takes a file, not 3"),
    ],
)
def test_a_price_file_that_the_settings_name_in_vain_is_reported(
    price_file: Path, text: str, words: str
) -> None:
    (price_file.parent / "rook.toml").write_text(text)
    assert PriceBook()("claude-sonnet-4-5") is None
    assert words in (price_file_problem() or "")


def test_without_a_price_file_the_list_is_used(price_file: Path) -> None:
    assert (PriceBook()("my-model"), price_file_problem()) == (None, None)


def test_an_invalid_price_file_is_reported_and_no_price_is_guessed(price_file: Path) -> None:
    price_file.write_text('["my-model"]\ninput = "much"\n')
    assert PriceBook()("claude-sonnet-4-5") is None
    problem = price_file_problem()
    assert problem is not None
    assert problem.startswith(str(price_file))
    assert problem.endswith("must be a price in dollars; costs are not estimated")
