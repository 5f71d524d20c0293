"""Which parts of a user's home hold tools, and stay readable where the home is hidden."""

from __future__ import annotations

import os

#: Below the home. No folder with tokens or settings in it: of ~/.cargo the programs and sources, not the credentials.
TOOL_FOLDERS = (
    ".pyenv", ".local/bin", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise/installs",
    ".asdf/installs", ".asdf/shims", ".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", "go/bin", "go/pkg/mod",
    "sdk", ".nvm/versions", ".volta/bin", ".volta/tools", ".fnm", ".local/share/fnm", ".local/share/pnpm", ".bun/bin",
    ".deno/bin", ".sdkman/candidates", ".rbenv", ".rvm/rubies", ".nix-profile", "miniconda3", "anaconda3", "miniforge3",
)  # fmt: skip


def tool_folders(home: str) -> tuple[str, ...]:
    """Those of `TOOL_FOLDERS` that are there: for `Rules.read_only`."""
    return tuple(path for name in TOOL_FOLDERS if os.path.isdir(path := os.path.join(home, name)))
