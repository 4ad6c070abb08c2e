"""The pages that explain the REST interface work under the site's strict content security policy."""


def test_docs_show_every_address_open_one_and_load_nothing_foreign(sit_down):
    person = sit_down()
    hosts = set()
    person.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    answer = person.page.goto("/api/v1/docs/", timeout=180_000)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    person.page.wait_for_selector(".opblock", timeout=180_000)  # the others are drawn bit by bit
    addresses = person.page.locator(".opblock-summary-path").all_inner_texts()
    assert addresses
    assert len(hosts) == 1
    person.page.locator(".opblock-get .opblock-summary-control").first.click(timeout=180_000)
    person.page.wait_for_selector(".opblock.is-open .responses-table", timeout=180_000)
    assert "application/problem+json" in person.page.locator(".opblock.is-open").inner_text()
