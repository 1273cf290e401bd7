"""The report in a real browser: it opens, sorts, filters, shows a case; no error, no request, no code of others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.report.page.conftest import HOSTILE, PLAIN

LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium here (Debian package chromium)")
    with sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Opened:
    """A page and everything that it should not have done."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def column(self, place: int) -> list[str]:
        return self.page.locator(f"#list tbody tr > :nth-child({place})").all_inner_texts()

    def plots(self) -> int:
        """Bring every chart into view; how many were drawn."""
        plots = self.page.locator(".plot")
        for index in range(plots.count()):
            plots.nth(index).scroll_into_view_if_needed()
            plots.nth(index).locator("svg.main-svg").first.wait_for()
        return plots.count()


def opened(browser: Browser, out: Path, address: str = "", **settings: Any) -> Opened:
    page = browser.new_context(**{**LAPTOP, **settings}).new_page()
    found = Opened(page)
    page.on("console", lambda message: found.troubles.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.troubles.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (found.troubles.append("a dialog"), dialog.dismiss()))
    file = (out / "report.html").as_uri()
    page.on("request", lambda request: None if _own(request.url, file) else found.troubles.append(request.url[:90]))
    page.goto(file + address)
    return found


def _own(url: str, file: str) -> bool:
    return url.split("#")[0] == file or url.startswith(("data:", "blob:"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_demo_opens_without_error_and_fits_the_screen(
    browser: Browser, demo: Path, device: dict[str, Any], scheme: str
) -> None:
    found = opened(browser, demo, color_scheme=scheme, **device)
    assert found.page.locator("h2").all_inner_texts()[0] == "Core"
    assert found.plots() == 2
    width = device["viewport"]["width"]
    assert found.page.evaluate("document.documentElement.scrollWidth") <= width
    found.page.locator("#list a").first.click()
    assert found.page.locator("dialog .strip img").count() == 16  # eight of the clip, eight of the source
    assert found.page.locator("dialog .timeline .wave").count() == 1
    assert found.page.evaluate("document.querySelector('dialog').scrollWidth") <= width
    assert found.page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)")
    found.page.context.close()
    assert found.troubles == []


def test_the_page_follows_the_system_and_then_its_button(browser: Browser, judged: Path) -> None:
    found = opened(browser, judged, color_scheme="light")

    def read() -> str:
        return str(found.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = read()
    found.page.emulate_media(color_scheme="dark")
    assert read() != light
    found.page.get_by_role("button", name="Light").click()
    assert read() == light
    found.page.context.close()
    assert found.troubles == []


def test_thousands_of_cases_are_sorted_filtered_and_turned_over(browser: Browser, large: Path) -> None:
    found = opened(browser, large)
    page = found.page
    assert page.locator("#found").inner_text() == "5000 of 5000 cases, page 1 of 100"
    page.locator("#list").get_by_role("button", name="ssim").press(
        "Enter"
    )  # charts that are drawn meanwhile move a click
    rising = [float(text) for text in found.column(4)]
    assert rising == sorted(rising)
    page.locator("#list").get_by_role("button", name="ssim").press("Enter")
    falling = [float(text) for text in found.column(4)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > rising[-1]
    assert page.locator("#list th[aria-sort=descending]").count() == 1
    page.get_by_role("button", name="Next page").click()
    assert float(found.column(4)[0]) <= falling[-1]
    page.locator("select[name=system]").select_option(label="cirrus")
    page.locator("select[name=category]").select_option(label="sound")
    assert page.locator("#found").inner_text() == "250 of 5000 cases, page 1 of 5"
    assert set(found.column(2)) == {"cirrus"}
    page.locator("select[name=outcome]").select_option(label="something failed")
    assert all("failed" in text for text in page.locator("#list tbody tr").all_inner_texts())
    page.locator("input[name=text]").fill("no such case")
    assert page.locator("#found").inner_text() == "0 of 5000 cases"
    assert found.plots() == 4
    page.context.close()
    assert found.troubles == []


def test_an_address_leads_to_a_case_and_the_keyboard_away_from_it(browser: Browser, large: Path) -> None:
    found = opened(browser, large, "#case=00003%2Fdelta")
    page = found.page
    title = page.locator("#case-title")
    assert title.inner_text() == "00003/delta"
    assert page.evaluate("document.activeElement.id") == "case-title"
    assert page.locator("dialog tbody tr").count() == 8
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#case=00003%2Fecho")
    assert title.inner_text() == "00003/echo"
    page.keyboard.press("Escape")
    page.wait_for_url("**#cases")
    assert not page.locator("dialog").is_visible()
    page.evaluate("location.hash = '#case=nobody'")
    assert "no case of that name" in page.locator("dialog .body").inner_text()
    page.context.close()
    assert found.troubles == []


def test_a_static_table_is_sorted_by_its_heads(browser: Browser, large: Path) -> None:
    found = opened(browser, large)
    page = found.page
    page.locator("summary", has_text="All figures").click()
    table = page.locator("table.sortable", has=page.get_by_role("columnheader", name="Median"))
    table.get_by_role("button", name="Mean").click()
    means = [float(text) for text in table.locator("tbody td:nth-child(6)").all_inner_texts()]
    assert means == sorted(means)
    page.context.close()
    assert found.troubles == []


def test_hostile_text_is_shown_and_never_obeyed(browser: Browser, judged: Path) -> None:
    found = opened(browser, judged)
    page = found.page
    assert found.plots() >= 2
    page.locator("#list a").first.click()
    told = page.locator("dialog").inner_text()
    assert HOSTILE.replace("\u202e", "[U+202E]") in told
    assert "[U+202E]&.mp4" in told
    page.get_by_role("button", name="Close").click()
    page.locator("select[name=category]").select_option(index=1)
    assert page.evaluate("document.querySelectorAll('[onerror], main b, dialog b, img[src=x]').length") == 0
    assert "\u202e" not in page.locator("body").inner_text()
    page.context.close()
    assert found.troubles == []


def test_a_case_shows_what_the_judge_was_asked_and_saw(browser: Browser, judged: Path) -> None:
    found = opened(browser, judged, "#case=" + PLAIN.replace("/", "%2F").replace(" ", "%20"))
    question = found.page.locator("dialog .question")
    assert question.count() == 1
    assert f"{PLAIN}/prompt_following" in question.inner_text()
    assert "A picture." in question.inner_text()
    assert "margin" in question.inner_text()
    assert question.locator(".strip img").count() == 8
    assert question.locator("meter").count() == 2
    found.page.context.close()
    assert found.troubles == []


def test_without_scripts_the_tables_are_there(browser: Browser, judged: Path) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((judged / "report.html").as_uri())
    assert "ssim" in page.locator("table.systems").inner_text()
    assert page.locator("noscript").count() == 1
    page.context.close()
