"""The pages that explain the REST interface work under the site's strict content security policy."""

from django.conf import settings


def test_docs_show_every_address_open_one_and_load_nothing_foreign(sit_down):
    person = sit_down()
    hosts = set()
    person.page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    answer = person.page.goto("/api/v1/docs/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    person.page.wait_for_selector(".opblock-tag")
    stages = person.page.locator(".opblock-tag").evaluate_all("all => all.map((one) => one.dataset.tag)")
    assert set(settings.STAGES) <= set(stages), "every stage has its section"
    assert stages.index("collection") < stages.index("labeling") < stages.index("publication")
    person.page.locator(".opblock-tag[data-tag=adjudication]").click()
    person.page.wait_for_selector(".opblock")
    addresses = person.page.locator(".opblock-summary-path").all_inner_texts()
    assert any(address.replace("\u200b", "").endswith("/disputes/") for address in addresses)
    assert len(hosts) == 1
    person.page.locator(".opblock-get .opblock-summary-control").first.click()
    person.page.wait_for_selector(".opblock.is-open .responses-table")
    assert "application/problem+json" in person.page.locator(".opblock.is-open").inner_text()
