"""DNS rebinding: another name that was made to point to this machine opens nothing."""

from tests.web.browser.harness import PATIENCE_S, Home, init, launched


def test_a_name_that_was_made_to_point_here_is_refused(home: Home) -> None:
    run = home.record(init())
    server = home.serve()
    port = server.base.rsplit(":", 1)[1]
    rules = f"--host-resolver-rules=MAP rebound.example 127.0.0.1:{port}"
    with launched(rules) as browser:
        page = browser.new_page()
        for address in (f"http://rebound.example:{port}", "http://rebound.example"):
            answer = page.goto(f"{address}/#token={server.token}", timeout=PATIENCE_S * 1000)
            assert answer is not None
            assert answer.status == 403
            read = page.evaluate(
                """async ([path, token]) => {
                    const headers = {Authorization: `Bearer ${token}`};
                    const response = await fetch(path, {headers});
                    return `${response.status} ${await response.text()}`;
                }""",
                [f"/api/runs/{run}", server.token],
            )
            assert read.startswith("403")
            assert run not in read
