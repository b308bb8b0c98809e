"""The search view: words, marked excerpts, filters in the address, the command that resumes."""

from tests.web.browser.harness import Home, Open
from tests.web.test_search import write_session


def test_words_are_found_marked_filtered_and_kept_in_the_address(home: Home, opened: Open) -> None:
    write_session(home.folder, "deploy <img src=x onerror=alert(1)> and 😀 deploy again")
    tab = opened(home.serve(), "/search")
    page = tab.page
    tab.until("document.activeElement.matches('.search-box input')")
    page.keyboard.type("deploy")
    tab.see(".found .excerpt")
    text = "deploy <img src=x onerror=alert(1)> and 😀 deploy again"
    assert page.inner_text(".found .excerpt") == text
    assert page.locator(".found mark").all_inner_texts() == ["deploy", "deploy"]
    assert "claude --resume aaaaaaaa" in page.inner_text(".found .command code")
    assert page.url.endswith("#/search?words=deploy")
    page.select_option(".search-filters label:has-text('Kind') select", "answer")
    tab.see(".search-view .none")
    assert page.url.endswith("#/search?words=deploy&kind=answer")
    page.reload()
    tab.see(".search-view .none")
    page.select_option(".search-filters label:has-text('Kind') select", "")
    tab.see(".found")
    page.locator("h1").click()
    page.keyboard.press("j")
    tab.until("document.activeElement.matches('article.found')")
    page.keyboard.press("Escape")
    tab.see(".now, .empty")
    assert tab.faults == []
    assert tab.elsewhere == []
