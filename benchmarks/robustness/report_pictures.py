"""Pictures of a report for the documentation: light, dark, and on a phone.

    python -m benchmarks.robustness.report_pictures --report embeddings/aligned/fr-en.html
        --out docs/pages/pictures

It needs the extra `dev`, and Debian's chromium. `muse report` writes the report.
"""

from __future__ import annotations

import argparse
import shutil
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from benchmarks.robustness.explorer_pictures import smaller

SHARPNESS = 1.0  # pixels of a picture for one of the page


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the screen, and the section at its top."""

    name: str
    screen: tuple[int, int]
    scheme: str = "light"
    section: str = ""


SHOTS = (
    Shot("report", (1100, 1000)),
    Shot("report-dark", (1100, 1010), "dark", "#accuracy"),
    Shot("report-run", (1100, 1150), "light", "#run"),
    Shot("report-phone", (390, 1400)),
)


def take(browser: Browser, report: Path, shot: Shot) -> bytes:
    """The picture as a PNG with few colours."""
    width, height = shot.screen
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if shot.scheme == "dark" else "light",
        device_scale_factor=SHARPNESS,
    )
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    if shot.section:
        page.evaluate(f"document.querySelector('{shot.section}').scrollIntoView()")
        page.wait_for_timeout(200)
    shown = page.screenshot()
    context.close()
    return smaller(Image.open(BytesIO(shown)).convert("RGB"))


def main() -> None:
    """Takes all pictures, and prints their sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in SHOTS:
            content = take(browser, options.report, shot)
            (options.out / f"{shot.name}.png").write_bytes(content)
            print(f"{shot.name}.png {len(content) / 1e3:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
