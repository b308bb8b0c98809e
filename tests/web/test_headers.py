"""What answers tell a browser."""

from tests.rules import each
from tests.web.served import Page, Served

_PAGES = ("/", "/app/app.js", "/nothing")
_DATA = ("/api/ping", "/api/hello", "/api/runs", "/api/runs/done", "/api/runs/nothere", "/api/x")


def test_the_policy_of_the_page_allows_its_own_files_alone(served: Served) -> None:
    policy = served.get("/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("img-src") == "'self' data:"
    assert rules.pop("trusted-types") == "lit-html"
    assert rules.pop("require-trusted-types-for") == "'script'"
    own = {name for name, value in rules.items() if value == "'self'"}
    none = {name for name, value in rules.items() if value == "'none'"}
    assert own == {"script-src", "style-src", "font-src", "connect-src", "manifest-src"}
    assert none == {"default-src", "base-uri", "form-action", "frame-ancestors"}
    assert own | none == set(rules)


@each("path", [*_PAGES, *_DATA])
def test_every_answer_tells_the_browser_to_guess_keep_and_pass_on_nothing(
    served: Served, path: str
) -> None:
    headers = served.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == ("no-store" if path in _DATA else "no-cache")
    assert not {"set-cookie", "server", "access-control-allow-origin"} & headers.keys()
    if path in _PAGES:
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"


def test_files_outside_the_page_are_not_served(served: Page) -> None:
    for path in ("/app/../serve.py", "/app/%2e%2e/serve.py", "/vendor/../../site.py", "/app/"):
        assert served.get(path).status in (400, 404), path
