"""Holds that secrets of known shapes are masked in texts and JSON values, that look-alikes stay byte for byte, that
masking twice is masking once, and that no text takes forever. The secrets are put together at run time: none of them
stands in this file."""

from __future__ import annotations

import json
import random
import string
from base64 import b64encode
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.canonical import Json
from tallystick.masking import secrets
from tallystick.masking.shapes import SHAPES

UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
BASE62 = string.ascii_letters + string.digits
BASE64URL = BASE62 + "-_"
BASE64 = BASE62 + "+/"


def chance(size: int, alphabet: str = BASE62, seed: int = 7) -> str:
    """Always the same random characters, as a service would make them: a digit and both cases are among them."""
    return "".join(random.Random(f"{seed} {size} {alphabet}").choices(alphabet, k=size))


def masked(text: str) -> secrets.Masked:
    """By our own table alone, whatever else is installed."""
    return secrets.masked(text, ())


def masked_value(value: Json) -> tuple[Json, dict[str, int]]:
    return secrets.masked_value(value, ())


def pem(kind: str = "RSA ", end: str = "\n", lines: int = 6) -> str:
    rows = [f"-----BEGIN {kind}PRIVATE KEY-----", *(chance(64, BASE64, n) for n in range(lines)), "cGFydA=="]
    return end.join([*rows, f"-----END {kind}PRIVATE KEY-----"])


def jwt(parts: int = 3) -> str:
    header = b64encode(b'{"alg":"RS256","typ":"JWT"}').decode().rstrip("=")
    return ".".join([header, *(chance(48, BASE64URL, n) for n in range(parts - 1))])


class Planted(NamedTuple):
    """A secret, what it is called, and what stands before and after it and must stay."""

    name: str
    secret: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.before[:30]!r}"


KEY = chance(32)
PLANTED = [
    Planted("aws-key-id", "AKIA" + chance(16, UPPER)),
    Planted("aws-key-id", "ASIA" + chance(16, UPPER)),
    *(Planted("github-token", f"gh{kind}_" + chance(36)) for kind in "pousr"),
    Planted("github-token", "github_pat_" + chance(22) + "_" + chance(59)),
    Planted("github-token", "ghs_" + "123456_" + jwt()),
    Planted("gitlab-token", "glpat-" + chance(20, BASE64URL)),
    Planted("gitlab-token", "glpat-" + chance(27, BASE64URL) + ".01." + chance(9, LOWER)),
    Planted("slack-token", "xoxb-" + "123456789012-" + chance(24)),
    Planted("stripe-key", "sk_live_" + chance(24)),
    Planted("stripe-key", "rk_live_" + chance(99)),
    Planted("openai-key", "sk-" + chance(48)),
    Planted("openai-key", "sk-proj-" + chance(120, BASE64URL)),
    Planted("anthropic-key", "sk-ant-" + "api03-" + chance(95, BASE64URL)),
    Planted("model-provider-key", "sk-or-v1-" + chance(64, "0123456789abcdef")),
    Planted("google-key", "AIza" + chance(35, BASE64URL)),
    Planted("npm-token", "npm_" + chance(36)),
    Planted("pypi-token", "pypi-AgEI" + chance(150, BASE64URL)),
    Planted("huggingface-token", "hf_" + chance(34, string.ascii_letters)),
    Planted("sendgrid-key", "SG." + chance(22, BASE64URL) + "." + chance(43, BASE64URL)),
    Planted("docker-token", "dckr_pat_" + chance(27, BASE64URL)),
    Planted("digitalocean-token", "dop_v1_" + chance(64, "0123456789abcdef")),
    Planted("shopify-token", "shpat_" + chance(32, "0123456789abcdef")),
    Planted("vault-token", "hvs." + chance(90)),
    Planted("grafana-token", "glsa_" + chance(32) + "_" + chance(8, "0123456789abcdef")),
    Planted("atlassian-token", "ATATT3" + chance(180, BASE64URL)),
    Planted("age-key", "AGE-SECRET-KEY-" + "1" + chance(58, UPPER)),
    Planted("jwt", jwt()),
    Planted("jwt", jwt(5)),
    *(Planted("private-key", pem(kind)) for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")),
    Planted("private-key", pem(end="\r\n")),
    Planted("private-key", pem(end="\\n")),
    Planted("private-key", pem(end="\\\\n")),
    Planted("private-key", pem().rpartition("\ncGF")[0], "", "\n(the rest was cut off)"),
    Planted("slack-webhook", f"T{chance(10, UPPER)}/B{chance(10, UPPER)}/{KEY}", "https://hooks.slack.com/services/"),
    Planted("discord-webhook", chance(68, BASE64URL), "https://discord.com/api/webhooks/123456789012345678/"),
    Planted("url-password", "s3cr3t", "postgres://admin:", "@db.internal:5432/shop?sslmode=require"),
    Planted("url-password", "p@ss:w0rd", "mongodb+srv://root:", "@cluster0.example.net"),
    Planted("url-password", "hunter2", "redis://:", "@localhost:6379/0"),
    Planted("url-password", "s3cr3t", r"mysql:\/\/admin:", r"@db\/shop"),
    Planted("connection-password", "S3cret!9", "Server=db;User Id=sa;Password=", ";Encrypt=true"),
    Planted("connection-password", "b1rthday", "jdbc:mysql://db/shop?user=sa&password=", "&useSSL=true"),
    Planted("bearer-token", chance(40), "Authorization: Bearer "),
    Planted("bearer-token", chance(40), "curl -H 'authorization: bearer ", "' https://api.example.com"),
    Planted("basic-auth", b64encode(b"joe:secret").decode(), "Authorization: Basic "),
    Planted("azure-key", chance(86, BASE64) + "==", "AccountName=shop;AccountKey=", ";EndpointSuffix=core.windows.net"),
    Planted("url-signature", chance(43, BASE62) + "%3D", "https://shop.blob.core.windows.net/a?sv=2024&sig=", "&se=1"),
    Planted("registry-token", "9d2a1f3c-0b7e-4c55-8a61-2f0e7d9b1c34", "//npm.example.com/:_authToken="),
    *(
        Planted("aws-secret-key", chance(40, BASE64), before, after)
        for before, after in (
            ("aws_secret_access_key = ", ""),
            ("AWS_SECRET_ACCESS_KEY=", "\n"),
            ('"SecretAccessKey": "', '"'),
        )
    ),
    *(
        Planted("assigned-secret", KEY, before, after)
        for before, after in (
            ("password=", ""),
            ("DB_PASSWORD: ", "\n"),
            ('{"access_token": "', '", "expires_in": 3600}'),
            ('{\\"refreshToken\\":\\"', '\\"}'),
            ("config['api_key'] = '", "'"),
            ("X-Api-Key: ", "\r\n"),
            ("export CLIENT_SECRET='", "'; make"),
            ("https://example.com/cb?token=", "&state=1"),
            ("SECRET_KEY_BASE=", " rails s"),
            ("<password>", "</password>"),
        )
    ),
    Planted("assigned-secret", "x7:Kq&9Tz#4=Rm2Lp", 'password: "', '"'),
    Planted("option-secret", KEY, "deploy --token ", " --dry-run"),
]

#: What may stand around a secret, as it is printed, escaped, coloured, or sent.
AROUND = [
    ("", ""), ("the key is ", ", keep it."), ("\t", "\r\n"), ('["', '"]'), ("=", ";"), ("\\n", "\\n"), ("%20", "%20"),
    ("\\u0026", "\\u0022"), ("\x1b[31m", "\x1b[0m"), ("カート", "。"), ("🛒", "🛒"), ("`", "`"), ("(", ")"),
]  # fmt: skip

LOOK_ALIKES = [
    "550e8400-e29b-41d4-a716-446655440000",
    '"token": "550e8400-e29b-41d4-a716-446655440000"',
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main)",
    "sha256:" + chance(64, "0123456789abcdef"),
    '"integrity": "sha512-' + chance(86, BASE64) + '=="',
    "pypi.org/simple --hash=sha256:" + chance(64, "0123456789abcdef"),
    "data:image/png;base64," + chance(4000, BASE64) + "==",
    "//# sourceMappingURL=data:application/json;base64," + b64encode(b'{"version":3,"sources":["a.js"]}').decode(),
    "-----BEGIN CERTIFICATE-----\n" + chance(64, BASE64) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + chance(64, BASE64) + "\n-----END PUBLIC KEY-----",
    "A file from -----BEGIN PRIVATE KEY----- to -----END PRIVATE KEY----- holds a key.",
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + chance(43, BASE64) + " joe@example.com",
    "The password must have 12 characters or more; the token expires after 3600s. Secret: none.",
    "password: correct horse battery staple",
    "the task-force made a risk-free, desk-bound, ask-me-anything-about-it-in-a-very-long-chat tool",
    "sk-circle-fade-dot sk-estimator-doc-link-with-a-long-tail sk-SK",
    "<YOUR_TOKEN> ${TOKEN} $TOKEN {{ token }} %TOKEN% *** xxxxxxxx",
    "Authorization: Bearer <YOUR_TOKEN>",
    "Authorization: Bearer ${GITHUB_TOKEN}",
    "Authorization: Bearer your-token-goes-here-2",
    "Bearer authentication-with-opaque-values is a bearer of tests/unit/auth/oauth2/test_bearer1.py",
    "Basic authentication, basic understanding, Basic dXNlcg==",
    "ghp_" + "x" * 36,
    "sk-ant-api03-" + "your-key-goes-here",
    "sk-ant-api03-" + "X" * 40,
    "api_key=" + "your_api_key_goes_here_12345",
    "password=${DB_PASSWORD_FROM_VAULT_2} token=$(cat /run/token1) secret=%(SECRET_1A2B3C4D5E6F)s",
    "API_KEY = os.environ['SERVICE_API_KEY_V2'] or process.env.SERVICE_API_KEY_V2",
    'token = hashlib.sha256(b"x1y2z3a4b5").hexdigest()',
    "password: str = Field(min_length=12), token: Optional[AccessTokenV2] = None",
    "postgres://${DB_USER}:${DB_PASS}@db/shop postgres://user:<password>@db postgres://user:{password}@db",
    "https://user:***@example.com https://user:$PASS@example.com https://user:xxxx@example.com",
    "git@github.com:joe/shop.git ssh://git@example.com:22/shop http://localhost:8080/@scope/pkg",
    "docker://alpine:3.19@sha256:" + chance(64, "0123456789abcdef"),
    '"NextToken": "' + chance(40) + '" next_page_token=' + chance(40) + " publicKeyToken=" + chance(16, LOWER),
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestDatabaseSecret-a1b2c3",
    "version 1.24.3-beta.4+build.5678 of 2026-05-21T00:00:00.000Z",
    "tests/unit/handoff/test_secrets.py::test_a_planted_secret_is_masked[aws-key-id-01]",
    "password=tests/fixtures/passwords_v2/list1.txt secret_file: ./secrets/prod1/db-password2.txt",
    "secret=test_password_is_rejected_when_too_short1",
    "token: getAccessTokenForServiceAccount2",
    "secretName: shop-tls-certificate tokenizer=BertWordPieceTokenizer2 max_tokens=128000 password_hash=$2b$12$abc",
    "a_very_long_identifier_with_npm_config_registry_and_hf_home_and_ghs_values_and_so_on",
    "SG.jpg xoxo-hugs-and-kisses-from-all AKIAPOLITIKA eyJ eyJhbGciOiJIUzI1NiJ9 SG.SG.SG.",
    ";password=e.target.value;a=1&password=e1&token=t",
    "|-------|--token--|------|\n===== passwords =====",
    "[masked:github-token]: [masked:assigned-secret] Bearer [masked:bearer-token] postgres://u:[masked:url-password]@h",
    "",
]


@pytest.mark.requirement("P19")
@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_planted_secret_is_masked_and_nothing_else(planted: Planted) -> None:
    name, secret, before, after = planted
    found = masked(f"{before}{secret}{after}")
    assert found == (f"{before}[masked:{name}]{after}", {name: 1})


def test_every_row_of_the_table_has_a_planted_secret() -> None:
    assert {shape.name for shape in SHAPES} == {planted.name for planted in PLANTED}


@pytest.mark.requirement("P19")
@pytest.mark.parametrize("around", AROUND, ids=repr)
def test_a_secret_is_found_whatever_stands_around_it(around: tuple[str, str]) -> None:
    left, right = around
    for name, secret, before, after in PLANTED:
        if not before and not after:
            assert masked(f"{left}{secret}{right}") == (f"{left}[masked:{name}]{right}", {name: 1})


@pytest.mark.requirement("P19")
@pytest.mark.parametrize("text", LOOK_ALIKES, ids=lambda text: repr(text[:40]))
def test_a_look_alike_stays_byte_for_byte(text: str) -> None:
    found = masked(text)
    assert found.counts == {}
    assert found.text is text


@pytest.mark.parametrize(
    ("before", "secret", "name"),
    [
        ("GITHUB_TOKEN=", "ghp_" + chance(36), "github-token"),
        ("Authorization: Bearer ", jwt(), "jwt"),
        ("https://joe:", "glpat-" + chance(20), "gitlab-token"),
        ("api_key: ", "sk-ant-" + "api03-" + chance(90), "anthropic-key"),
    ],
)
def test_its_own_look_names_a_secret_before_its_place_does(before: str, secret: str, name: str) -> None:
    assert masked(f"{before}{secret}@h.example") == (f"{before}[masked:{name}]@h.example", {name: 1})


def test_all_are_counted() -> None:
    text = "\n".join([f"{before}{secret}{after}" for _, secret, before, after in PLANTED * 3])
    counts = masked(text).counts
    assert counts == {name: 3 * [planted.name for planted in PLANTED].count(name) for name in counts}
    assert sum(counts.values()) == 3 * len(PLANTED)


# Any text at all

FRAGMENTS = st.one_of(
    st.sampled_from([f"{planted.before}{planted.secret}{planted.after}" for planted in PLANTED]),
    st.sampled_from([planted.secret for planted in PLANTED]),
    st.sampled_from([needle for shape in SHAPES for needle in shape.needles]),
    st.sampled_from(LOOK_ALIKES),
    st.sampled_from([*" \n\"'\\=:;&@/-_.[]<>", "\\n", "%20", "\x1b[31m", "a", "Z", "9", "é", "user:", "{16}"]),
    st.text(max_size=8),
)
TEXTS = st.lists(FRAGMENTS, max_size=12).map("".join)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.one_of(TEXTS, st.none(), st.booleans(), st.integers()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.requirement("P19")
@given(TEXTS)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = masked(text)
    again = masked(once.text)
    assert again.text is once.text
    assert again.counts == {}


@given(TEXTS)
def test_a_text_is_the_same_object_or_something_was_counted(text: str) -> None:
    found = masked(text)
    assert (found.text is text) == (found.counts == {})
    assert found.text.count("[masked:") >= sum(found.counts.values())


@given(st.text())
def test_words_are_left_alone(text: str) -> None:
    assert masked(text).text is text


@pytest.mark.requirement("P19")
@given(st.lists(st.sampled_from([planted for planted in PLANTED if not planted.before and not planted.after])), TEXTS)
def test_no_secret_survives_among_others(planted: list[Planted], text: str) -> None:
    whole = " ".join([text, *(each.secret for each in planted), ""])
    left = masked(whole).text
    assert not [each for each in planted if f" {each.secret} " in left]


def test_secrets_without_a_gap_are_one_and_nothing_is_laid_bare_behind_it() -> None:
    found = masked("AKIA" + chance(16, UPPER) + "sk-" + chance(48) + " ghp_" + chance(36) + "sk-" + chance(48))
    assert masked(found.text).counts == {}
    assert found.text.startswith("[masked:aws-key-id]-")
    assert "[masked:github-token]-" in found.text


@given(VALUES)
def test_a_value_is_masked_once_and_for_all(value: Json) -> None:
    once, counts = masked_value(value)
    again, nothing = masked_value(once)
    assert (once is value) == (counts == {})
    assert again is once
    assert nothing == {}


# JSON values


@pytest.mark.requirement("P19")
def test_every_string_and_every_key_of_a_value_is_masked() -> None:
    token, key = "ghp_" + chance(36), "AKIA" + chance(16, UPPER)
    value = {"a": [1, None, True, {"b": f"see {token}"}], key: {"c": [key, "plain"]}}
    found, counts = masked_value(value)
    assert found == {
        "a": [1, None, True, {"b": "see [masked:github-token]"}],
        "[masked:aws-key-id]": {"c": ["[masked:aws-key-id]", "plain"]},
    }
    assert counts == {"github-token": 1, "aws-key-id": 2}
    assert value["a"] == [1, None, True, {"b": f"see {token}"}]  # what came in is as it was


@pytest.mark.requirement("P19")
def test_a_pem_block_is_found_in_a_text_of_json_and_in_the_value_it_says() -> None:
    value = {"files": {"id_rsa": f"first\n{pem()}\nlast\n"}}
    wanted = {"files": {"id_rsa": "first\n[masked:private-key]\nlast\n"}}
    text = json.dumps(value)
    assert masked_value(value) == (wanted, {"private-key": 1})
    assert masked(text) == (json.dumps(wanted), {"private-key": 1})
    assert masked(json.dumps({"inside": text})) == (json.dumps({"inside": json.dumps(wanted)}), {"private-key": 1})


@pytest.mark.parametrize("key", ["password", "DB_PASSWORD", "accessToken", "api-key", "client_secret", "secrets.token"])
def test_a_key_speaks_for_its_value(key: str) -> None:
    assert masked_value({key: KEY}) == ({key: "[masked:assigned-secret]"}, {"assigned-secret": 1})
    assert masked_value([{key: [KEY]}]) == ([{key: ["[masked:assigned-secret]"]}], {"assigned-secret": 1})


def test_a_key_speaks_for_nothing_else() -> None:
    value = {
        "password": "short",
        "token": "a sentence about tokens",
        "digest": KEY,
        "secret": {"name": KEY},
        "api_key": 5,
    }
    assert masked_value(value)[0] is value


def test_a_key_that_speaks_and_is_a_secret_itself() -> None:
    token = "ghp_" + chance(36)
    found, counts = masked_value({f"{token} password": KEY, f"token {token}": "plain"})
    assert found == {
        "[masked:github-token] password": "[masked:assigned-secret]",
        "token [masked:github-token]": "plain",
    }
    assert counts == {"github-token": 2, "assigned-secret": 1}


def test_keys_that_become_one_stay_apart() -> None:
    value = {f"ghp_{chance(36, seed=n)}": n for n in range(3)}
    value["[masked:github-token] (2)"] = 9
    found, counts = masked_value(value)
    assert sorted(found.values()) == [0, 1, 2, 9]
    assert found["[masked:github-token] (2)"] == 9
    assert counts == {"github-token": 3}
    assert not [key for key in found if "ghp_" in key]


def test_a_key_is_counted_each_time_it_comes() -> None:
    assert masked_value([{"ghp_" + chance(36): 1}] * 3)[1] == {"github-token": 3}


def test_a_tuple_is_a_list() -> None:
    assert masked_value(("ghp_" + chance(36), 1))[0] == ["[masked:github-token]", 1]


# Size

LARGE = 5_000_000
REPEATED = [
    *(needle for shape in SHAPES for needle in shape.needles if not shape.name.startswith("assigned")),
    "A", "a", "0", "-", "_", " ", "\n", "\\", "/", ":", "=", '"', "@", "é", "🛒", "token=", "password: ", 'secret":"',
    "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\\nAAAAAAAAAAAAAAAAA", "eyJaaaaaaaa.", "://a:",
    "Bearer a1", "sk-ant-your-1", "ghs_1_eyJ", "?password=", "SG.aaaaaaaaaaaaaaaaaaaaaa.", "secretKey:", "[0m", "%20",
]  # fmt: skip


@pytest.mark.parametrize("fragment", ["a", " ", "eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "token="])
def test_a_large_text_of_one_thing_comes_to_an_end(fragment: str) -> None:
    """Were any row to look at a text again and again, this would take hours."""
    text = fragment * (LARGE // len(fragment))
    assert masked(text).text is text


def test_a_large_text_of_everything_comes_to_an_end() -> None:
    size = LARGE // len(REPEATED)
    text = "\n".join(fragment * (size // len(fragment)) for fragment in REPEATED)
    once = masked(text).text
    assert masked(once).text is once


def test_a_secret_at_the_end_of_a_large_text_is_found() -> None:
    text = "an ordinary line about a token, a secret and a password\n" * (LARGE // 56)
    assert masked(text + "ghp_" + chance(36)) == (text + "[masked:github-token]", {"github-token": 1})
