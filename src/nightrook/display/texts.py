"""The agent's texts: each as one line or whole, and whether a text was shown whole."""

from collections.abc import Callable, Iterator, Sequence

from nightrook.display import words
from nightrook.display.words import Line


class ShownTexts:
    """Turns texts into lines: the first line of each, or all of it with `verbose`."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._last: str | None = None  # the last text, if it was shown whole
        self._all_whole = True

    def lines(self, text: str, redact: Callable[[str], str]) -> Iterator[Line]:
        """The lines of the next text; `redact` gets all of it where a secret could be split."""
        is_whole = self._verbose or words.is_shown_whole(text)
        self._last = text.strip() if is_whole else None
        self._all_whole = self._all_whole and is_whole
        if self._verbose:
            yield from words.whole_text(redact(text) if "\n" in text else text)
        else:
            yield words.text(text)

    def include(self, answer: str, texts: Sequence[str]) -> bool:
        """Whether an answer was shown whole; without one of its own it is all texts together."""
        return answer.strip() == self._last or (self._all_whole and answer == "".join(texts))
