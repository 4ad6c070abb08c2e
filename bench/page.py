"""The labelling page as a browser with an empty cache loads it."""

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import sync_playwright

from tests.services import browser


@dataclass(frozen=True)
class Cold:
    requests: int
    bytes: int
    usable_s: float


def cold(url: str, session: str) -> Cold:
    """Everything that crosses the wire until the network is quiet, headers and the text fetched ahead included."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser.program(), args=browser.ARGUMENTS)
        context = chromium.new_context(viewport={"width": 1366, "height": 768})
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        seen: dict[str, float] = {}
        network = context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.requestWillBeSent", lambda event: note(seen, event, 0))
        network.on("Network.loadingFinished", lambda event: note(seen, event, event["encodedDataLength"]))
        page.goto(url, wait_until="networkidle")
        usable = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd / 1000")
        chromium.close()
    return Cold(len(seen), int(sum(seen.values())), usable)


def note(seen: dict[str, float], event: dict[str, Any], size: float) -> None:
    if not event.get("request", {}).get("url", "").startswith("data:"):
        seen[event["requestId"]] = seen.get(event["requestId"], 0) + size
