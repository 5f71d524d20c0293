"""What secrets look like: the one table `SHAPES`, and what tells a secret from what only looks like one. Pure.

A row is found in two steps, so that a text is looked through once whatever the number of rows: one of its `needles`
stands in the text, then its pattern matches from that needle on. Every pattern is linear: what may be long is of one
class of characters that cannot hold the same needle again, or it is bounded.

The table leans to silence where only a name tells (`password=`, `token:`): such a value must look random. Left alone on
purpose: a short or wordy password under such a name, a random value that no name or prefix tells, keys for test
systems, hashes of passwords, a secret cut in two or encoded once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import log2
from typing import NamedTuple

_PLACEHOLDER = re.compile(
    r"x{6}|X{6}|\*{3}|\.{3}|…|(?i:your[-_]|[-_]here\b|placeholder|change[-_]?me|redacted|example[-_.])"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_PATH = re.compile(r"[~.]{0,2}/?(?:[\w.@-]+/)+[\w.@-]*\.\w{1,5}")
#: Where one kind of character follows another: often in what is random, seldom in a name, even one with humps.
_CHANGE = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[^\w./-]")
_LETTER = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"[0-9]")
_KEY_MATERIAL = re.compile(r"[A-Za-z0-9+/]{12}")


def _filled_in(secret: str) -> bool:
    """Whether it is no placeholder, which shows soon; far behind, the same signs are chance."""
    return _PLACEHOLDER.search(secret, 0, 40) is None


def _named_only(secret: str) -> bool:
    """Whether a value is for sure no secret, but the name or place of something."""
    if "://" in secret or "::" in secret or not _filled_in(secret):
        return True
    return len(secret) < 200 and _PATH.fullmatch(secret) is not None


def _mixed(secret: str) -> bool:
    """Letters and digits: enough where the place says that a secret stands there."""
    return bool(_LETTER.search(secret) and _DIGIT.search(secret)) and not _named_only(secret)


def _random(secret: str) -> bool:
    """Whether a value looks like chance: where only the name beside it speaks for a secret."""
    if _named_only(secret) or _UUID.fullmatch(secret) or _LETTER.search(secret) is None:
        return False
    size, digits = len(secret), _DIGIT.search(secret) is not None
    if -sum(n / size * log2(n / size) for n in map(secret.count, set(secret))) < 3:  # bits for each character
        return False
    changes = len(_CHANGE.findall(secret))
    return (digits and 4 * changes >= size) or 3 * changes >= size or (digits and _HEX.fullmatch(secret) is not None)


def _user_and_password(secret: str) -> bool:
    """Whether base64 holds `user:password` in plain characters."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(secret.encode("ascii"), strict_mode=True).decode("ascii")
    except (Error, UnicodeDecodeError):
        return False
    return ":" in plain and plain.isprintable()


def _holds_a_key(secret: str) -> bool:
    """Whether a PEM block holds more than words and dots."""
    return _KEY_MATERIAL.search(secret) is not None


def _written(*words: str) -> tuple[str, ...]:
    """A name in the ways that names are written: api_key, API_KEY, api-key, Api-Key, apikey, apiKey, ApiKey …"""
    humps = [word.capitalize() for word in words]
    joined = {
        joint.join(parts)
        for joint in ("", "_", "-")
        for parts in (words, [word.upper() for word in words], humps, [words[0], *humps[1:]])
    }
    return tuple(sorted(joined))


class Shape(NamedTuple):
    """One kind of secret. `before` is what must come first and stays; `secret` is replaced by `[masked:NAME]`.

    A row without `before` is known by its own look, one with it by its place; `before` (or `secret`) begins with one
    of the `needles`. `real` has the last word: False for a placeholder, a path, a word.
    """

    name: str
    needles: tuple[str, ...]
    secret: str
    before: str = ""
    real: Callable[[str], bool] = _filled_in


#: Nothing of a word, a number or base64 comes before; the end of an escape, a colour or a percent sign's code may.
_FRESH = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv])|(?<=\\u[0-9a-f]{4})|(?<=%[0-9A-Fa-f]{2})|(?<=[\[;]\dm)|(?<=[\[;]\d\dm))"
_HOLDS_DIGIT = r"(?=[A-Za-z_-]{0,80}[0-9])"
_LINE_ENDS = r"(?:\\{1,3}[nr]|\s)++"
#: Between a name and its value, in JSON (also inside a string of JSON), YAML, code, shell, URLs, XML.
_IS = r"(?:\\{0,3}[\"']\]?)?[ \t]{0,8}(?:=>|:=|==|[=:>])[ \t]{0,8}(?:\\{0,3}[\"'`])?"

_PASSWORD = (*_written("password"), *_written("pwd"))
_NAMES = (
    *_PASSWORD,
    *(name for word in ("passwd", "passphrase", "secret", "token") for name in _written(word)),
    *(name for word in ("api", "access", "private", "auth", "signing", "encryption") for name in _written(word, "key")),
)
#: A page's mark, a public key and the name of a secret in an ARN are no secrets, though they are called so.
_NO_SECRET = r"(?<![0-9]:)(?<!ublicKey)(?<![Nn]ext)(?<![Nn]ext[_-])(?<![Pp]age)(?<![Pp]age[_-])"
#: The last words of an option, after its dashes.
_OPTIONS = ("password", "passphrase", "secret", "token", "api-key", "access-key", "secret-key", "auth-key")
#: In quotes anything up to the closing one, bare what no value in a URL, a list or code goes beyond.
_VALUE = (
    r"(?:(?<=[\"'`])[^\s\"'`<>(){}\[\]$\\][^\s\"'`<>(){}\\]{15,}+(?=\\{0,3}[\"'`])"
    r"|[A-Za-z0-9+/_~!@^*-][A-Za-z0-9+/_.~!@%^*$-]{15,}+={0,2}(?=[\s\"'`,;)\]}<|\\&#]|\Z))"
)
#: A password in a URL that somebody is to fill in: ${PASS}, {pass}, %PASS%, ***, xxx; and what is masked already.
_TO_FILL_IN = r"(?!\$[\w{(]|[{\[]|%(?:[s(]|[A-Z_]{3,}%)|[*.…]+@|[xX]+@)"


def _any(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


SHAPES = (
    Shape(
        "private-key",
        ("-----BEGIN ",),
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        rf"|(?:{_LINE_ENDS}[A-Za-z0-9+/=]{{16,}}+)++)",  # one that was cut off
        real=_holds_a_key,
    ),
    Shape("age-key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    Shape(
        "aws-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        _FRESH + r"(?:AKIA|(?:ASIA|ABIA|ACCA)(?=[A-Z]{0,15}[0-9]))[A-Z0-9]{16}",
    ),
    Shape(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"(?:gh[opsur]_(?:[A-Za-z0-9]{36,}|[0-9]+_eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2})"
        r"|github_pat_[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]+)?)",
    ),
    Shape(
        "gitlab-token",
        tuple(f"gl{kind}-" for kind in ("pat", "dt", "ft", "soat", "rt", "cbt", "imt", "ptt", "agent", "oas")),
        r"gl[a-z]{2,5}-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,})?",
    ),
    Shape(
        "slack-token",
        (*(f"xox{kind}-" for kind in "abeoprs"), "xapp-"),
        r"(?:xox[abeoprs]|xapp)-(?=[A-Za-z-]{0,48}[0-9])[A-Za-z0-9-]{10,}",
    ),
    Shape("stripe-key", ("sk_live_", "rk_live_"), r"[rs]k_live_[A-Za-z0-9]{16,}"),
    Shape("anthropic-key", ("sk-ant-",), _FRESH + rf"sk-ant-{_HOLDS_DIGIT}[A-Za-z0-9_-]{{20,}}"),
    Shape(
        "openai-key",
        ("sk-",),
        _FRESH + rf"sk-(?:(?:proj|svcacct|admin|None)-{_HOLDS_DIGIT}[A-Za-z0-9_-]{{20,}}|[A-Za-z0-9]{{32,}})",
    ),
    Shape(
        "model-provider-key",  # OpenRouter, Groq, xAI, Perplexity, Replicate
        ("sk-or-v1-", "gsk_", "xai-", "pplx-", "r8_"),
        _FRESH + r"(?:(?:sk-or-v1-|gsk_|xai-|pplx-)[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37,})",
    ),
    Shape("huggingface-token", ("hf_",), _FRESH + r"hf_[A-Za-z0-9]{30,}"),
    Shape(
        "google-key",
        ("AIza", "GOCSPX-", "ya29."),
        _FRESH + r"(?:AIza[A-Za-z0-9_-]{35,}|GOCSPX-[A-Za-z0-9_-]{24,}|ya29\.[A-Za-z0-9_-]{30,})",
    ),
    Shape("npm-token", ("npm_",), _FRESH + r"npm_[A-Za-z0-9]{36,}"),
    Shape("pypi-token", ("pypi-AgEI", "pypi-AgEN"), r"pypi-AgE[IN][A-Za-z0-9_-]{16,}"),
    Shape("sendgrid-key", ("SG.",), _FRESH + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}"),
    Shape("docker-token", ("dckr_pat_",), r"dckr_pat_[A-Za-z0-9_-]{20,}"),
    Shape("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{64}"),
    Shape("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    Shape("vault-token", ("hvs.", "hvb."), _FRESH + rf"hv[bs]\.{_HOLDS_DIGIT}[A-Za-z0-9_-]{{24,}}"),
    Shape("grafana-token", ("glsa_",), r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    Shape("atlassian-token", ("ATATT3",), r"ATATT3[A-Za-z0-9_=-]{40,}"),
    Shape(
        "jwt",  # the character before is none of its own, so that a long run of them is looked at once
        ("eyJ",),
        _FRESH + r"(?<![_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]++){0,2}",
    ),
    Shape(
        "slack-webhook",
        ("hooks.slack.com/services/",),
        r"T[A-Za-z0-9_]{6,64}/B[A-Za-z0-9_]{6,64}/[A-Za-z0-9_]{16,}",
        before=r"hooks\.slack\.com/services/",
    ),
    Shape(
        "discord-webhook",
        ("discord.com/api/webhooks/",),
        r"[A-Za-z0-9_-]{50,}",
        before=r"discord\.com/api/webhooks/[0-9]{1,24}/",
    ),
    Shape(
        "url-password",
        ("://", r":\/\/"),
        rf"{_TO_FILL_IN}[^\s/?#\"'<>\\`]+(?=@(?!sha[0-9]{{3}}:)[^\s\"'@])",
        before=r":(?://|\\/\\/)[^\s/?#:@\"'<>\\`{}\[\]$]{0,128}+:",
        real=lambda secret: True,
    ),
    Shape(
        "connection-password",
        tuple(f"{name}=" for name in _PASSWORD),
        r"[^\s;&\"'<>\\#(){}\[\]$%.][^\s;&\"'<>\\#(){}\[\].]{5,128}+(?=[;&\"'\s<\\#]|\Z)",
        before=rf"(?:(?<=[?&;])|(?<=; )){_any(_PASSWORD)}=",
        real=_mixed,
    ),
    Shape(
        "bearer-token",
        ("Bearer ", "bearer ", "BEARER "),
        r"[A-Za-z0-9._~+/-]{16,}+={0,2}",
        before=r"(?:Bearer|bearer|BEARER) {1,4}",
        real=_mixed,
    ),
    Shape(
        "basic-auth",
        ("Basic ", "basic "),
        r"[A-Za-z0-9+/]{6,}+={0,2}",
        before=r"[Bb]asic {1,4}",
        real=_user_and_password,
    ),
    Shape(
        "azure-key",
        ("AccountKey=", "SharedAccessKey="),
        r"[A-Za-z0-9+/]{40,}+={0,2}",
        before=r"(?:AccountKey|SharedAccessKey)=",
    ),
    Shape("url-signature", ("sig=",), r"[A-Za-z0-9%+/_-]{40,}+={0,2}", before=r"(?:(?<=[?&;])|(?<=\\u0026))sig="),
    Shape(
        "registry-token",
        (":_authToken=", ":_auth=", ":_password="),
        r"[A-Za-z0-9+/_.-]{16,}+={0,2}",
        before=r":_(?:authToken|auth|password)=[ \t]{0,4}[\"']?",
        real=_mixed,
    ),
    Shape(
        "aws-secret-key",
        _written("secret"),
        r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        before=rf"(?:secret|Secret|SECRET)[_-]?(?:access|Access|ACCESS)?[_-]?(?:key|Key|KEY){_IS}",
    ),
    Shape(
        "assigned-secret",
        _NAMES,
        _VALUE,
        before=rf"{_NO_SECRET}{_any(_NAMES)}(?:[_-]?(?:key|Key|KEY)(?:[_-](?:base|BASE))?)?[0-9]{{0,2}}{_IS}",
        real=_random,
    ),
    Shape(
        "option-secret",
        tuple(f"{name} " for name in _OPTIONS),
        _VALUE,
        before=rf"(?<=-){_NO_SECRET}{_any(_OPTIONS)} {{1,4}}[\"']?",
        real=_random,
    ),
)
