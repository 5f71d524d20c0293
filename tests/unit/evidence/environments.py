"""Small environments of Python for tests: one of a few made-up files, or with copies of what is installed here."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

#: What pytest needs here, itself among it.
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


def virtual(folder: Path) -> Path:
    """A virtual environment with nothing in it; its folder of distributions."""
    site = folder / "lib" / f"python{_VERSION}" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(os.path.realpath(sys.executable))
    home = f"{sys.base_prefix}/bin"
    config = f"home = {home}\ninclude-system-site-packages = false\nversion = {_VERSION}.0\n"
    (folder / "pyvenv.cfg").write_text(config, encoding="utf-8")
    return site


def install(site: Path, name: str, version: str, files: dict[str, str], entry_points: str = "") -> Path:
    """Lay a distribution of these files into a folder as an installer does; its folder of metadata."""
    info = site / f"{name}-{version}.dist-info"
    texts = {**files, f"{info.name}/METADATA": f"Name: {name}\n", f"{info.name}/INSTALLER": "pip\n"}
    if entry_points:
        texts[f"{info.name}/entry_points.txt"] = entry_points
    rows = []
    for path, text in texts.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text, encoding="utf-8")
        rows.append(f"{path},sha256={digest(text.encode())},{len(text)}\n")
    (info / "RECORD").write_text("".join(rows) + f"{info.name}/RECORD,,\n", encoding="utf-8")
    return info


def digest(data: bytes) -> str:
    """A digest as a RECORD writes it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def copy_installed(site: Path, *names: str) -> None:
    """Copy distributions that are installed for this test run, without what lies outside the folder."""
    for name in names:
        for file in importlib.metadata.distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), site / file)


def ask(argv: tuple[str, ...]) -> bytes | None:
    """Run a command; what it printed, None where it did not end well."""
    done = subprocess.run(argv, capture_output=True, env={"PATH": os.environ["PATH"]})
    return done.stdout if done.returncode == 0 else None
