"""Make .venv/ and install a requirements file into it; quick when nothing changed.

Runs on a bare Python: standard library only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"


def main(requirements: str) -> None:
    started = time.monotonic()
    files = with_included(ROOT / requirements)
    if PYTHON.exists() and all(is_installed(file) for file in files):
        return
    if not os.access(ROOT, os.W_OK) or (VENV.exists() and not os.access(VENV, os.W_OK)):
        sys.exit(f"Cannot write to {ROOT}: put the project where you may write, then try again.")
    print(f"Setting up .venv with Python {sys.version.split()[0]} …", flush=True)
    if not works(PYTHON):
        make_venv()
    install(files[0])
    for file in files:
        stamp(file).write_text(digest(file))
    print(f"Environment ready in {time.monotonic() - started:.0f} s.", flush=True)


def with_included(file: Path) -> list[Path]:
    """The file and those that it includes by -r."""
    included = [line[3:].strip() for line in file.read_text().splitlines() if line.startswith("-r ")]
    return [file, *(nested for name in included for nested in with_included(file.parent / name))]


def digest(file: Path) -> str:
    content = b"".join(part.read_bytes() for part in with_included(file))
    return hashlib.sha256(content + os.fsencode(PYTHON.resolve())).hexdigest()


def stamp(file: Path) -> Path:
    return VENV / f"{file.name}.sha256"


def is_installed(file: Path) -> bool:
    return stamp(file).exists() and stamp(file).read_text() == digest(file)


def works(program: Path) -> bool:
    return program.exists() and subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode == 0


def make_venv() -> None:
    arguments = ["--clear"] if VENV.exists() else []
    arguments += ["--without-pip"] if uv_on_path() else []
    run([sys.executable, "-m", "venv", *arguments, str(VENV)], otherwise="cannot make .venv")


def install(file: Path) -> None:
    """By uv, which is ten times as fast, where it can be had; else by pip."""
    uv = uv_on_path() or uv_from_index()
    if uv and attempt([uv, "pip", "install", "-q", "--python", str(PYTHON), *indexes(), "-r", str(file)]):
        return
    if not works_with_pip():
        run([str(PYTHON), "-m", "ensurepip"], otherwise="cannot install pip")
    run([str(PYTHON), "-m", "pip", "install", "-q", "-r", str(file)], otherwise="cannot install the packages")


def uv_on_path() -> str | None:
    uv = shutil.which("uv")
    return uv if uv and attempt([uv, "--version"]) else None


def uv_from_index() -> str | None:
    uv = VENV / "bin" / "uv"
    if not uv.exists():
        attempt([str(PYTHON), "-m", "pip", "install", "-q", "uv"])
    return str(uv) if uv.exists() else None


def indexes() -> list[str]:
    """pip's own package index, which uv does not read from pip's settings."""
    index = os.environ.get("PIP_INDEX_URL")
    return ["--index-url", index] if index and "UV_INDEX_URL" not in os.environ else []


def works_with_pip() -> bool:
    return attempt([str(PYTHON), "-m", "pip", "--version"])


def attempt(command: list[str]) -> bool:
    return subprocess.run(command, check=False, capture_output=True, cwd=ROOT).returncode == 0


def run(command: list[str], *, otherwise: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        sys.exit(f"Setup: {otherwise}: {lines[-1] if lines else f'exit {done.returncode}'}")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except KeyboardInterrupt:
        sys.exit("Setup was interrupted; run it again to finish.")
    except OSError as error:
        sys.exit(f"Setup: {error}")
