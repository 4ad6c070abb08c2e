"""Installs what the tests need and the machine lacks, where apt may; else says what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services import browser, engine, postgres, slurm

FONTS = Path("/usr/share/fonts")
QUIET = {"stdout": subprocess.DEVNULL, "env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}}


def missing() -> list[str]:
    """Debian packages of which the programs or files are not here."""
    there = {
        "postgresql": postgres.program("initdb"),
        "chromium": browser.program(),
        "bubblewrap": shutil.which("bwrap"),
        "docker.io": engine.program(),
        "slurm-wlm": slurm.program(),
        "munge": slurm.program(),
        "nodejs": shutil.which("node"),
        "npm": shutil.which("npm"),
        "texlive-latex-recommended": shutil.which("pdflatex") and booktabs(),
        "poppler-utils": shutil.which("pdftotext"),
        "fonts-liberation": next(FONTS.rglob("Liberation*"), None),  # whether a page fits depends on its letters
    }
    return [package for package, found in there.items() if not found]


def booktabs() -> str:
    """Where TeX finds what the analysis's tables are set with; empty where it does not."""
    return subprocess.run(["kpsewhich", "booktabs.sty"], check=False, capture_output=True, text=True).stdout.strip()


def everything() -> None:
    packages = missing()
    if packages and may_install():
        print(f"Installing {', '.join(packages)} …", flush=True)
        apt("update", "-q")
        apt("install", "-q", "-y", "--no-install-recommends", *packages)
    if still := missing():
        sys.exit(f"The tests need {', '.join(still)}: install them (Debian, Ubuntu: apt install {' '.join(still)}).")


def may_install() -> bool:
    return bool(shutil.which("apt-get")) and (os.geteuid() == 0 or sudo_asks_nothing())


def sudo_asks_nothing() -> bool:
    sudo = shutil.which("sudo")
    if not sudo:
        return False
    return subprocess.run([sudo, "-n", "true"], check=False, capture_output=True).returncode == 0


def apt(*arguments: str) -> None:
    before = [] if os.geteuid() == 0 else ["sudo", "-n"]
    subprocess.run([*before, "apt-get", *arguments], check=False, **QUIET)
