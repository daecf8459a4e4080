"""kubectl against a session: what it prints, beside what the studio shows."""

from __future__ import annotations

import base64
import html
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Page

from scripts.pictures.session import Session

SHOWN = (1280, 844)  # the studio's size, before the picture shrinks it
SHARE = 1000 / 1280
WIDTH = 1600
PAGE = """<!doctype html><style>
body {{ margin: 0; display: flex; height: 100vh; background: #10141c }}
pre {{ margin: 0; flex: 1; padding: 18px 16px; overflow: hidden; color: #dde4ee; font: 11px/1.5 "DejaVu Sans Mono", monospace }}
b {{ color: #7fb2ff; font-weight: 600 }}
img {{ width: {width}px; height: {height}px }}
</style><pre>{text}</pre><img alt="" src="data:image/png;base64,{image}">"""


def record(session: Session, commands: Sequence[str]) -> str:
    """Run kubectl with a session's kubeconfig; the commands and what they print."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config"
        config.write_text(session.get("kubeconfig"))
        _run("kubectl get namespaces", str(config), folder)  # the session follows the clock from its first request on
        time.sleep(3)
        return "\n".join(_run(command, str(config), folder) for command in commands)


def beside(text: str) -> Callable[[Page], None]:
    """Show a terminal on the left of the studio."""

    def act(page: Page) -> None:
        page.set_viewport_size({"width": SHOWN[0], "height": SHOWN[1]})
        page.wait_for_timeout(600)
        image = base64.b64encode(page.screenshot()).decode()
        page.goto("about:blank")  # the studio's content security policy allows no style of ours
        width, height = (int(each * SHARE) for each in SHOWN)
        page.set_viewport_size({"width": WIDTH, "height": height})
        page.set_content(PAGE.format(text=text, image=image, width=width, height=height))

    return act


def _run(command: str, config: str, home: str) -> str:
    done = subprocess.run(
        ["kubectl", f"--kubeconfig={config}", *command.split()[1:]],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return f"<b>$ {html.escape(command)}</b>\n{html.escape(done.stdout + done.stderr)}"
