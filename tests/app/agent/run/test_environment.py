"""What commands get to know from the environment."""

from __future__ import annotations

import pytest

from gemma_local.app.agent.run.environment import is_secret, without_secrets


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "AWS_PROFILE",
        "MY_SECRET",
        "DB_PASSWORD",
        "DB_PASS",
        "PGPASSWORD",
        "npm_config__authToken",
        "HF_TOKEN",
        "STRIPE_KEY",
        "SSH_AUTH_SOCK",
        "GPG_AGENT_INFO",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SIGNING_KEY_2",
        "SENTRY_DSN",
        "SESSION_COOKIE",
        "AZURE_CLIENT_ID",
        "Api_Key",
        "GITLAB_PAT",
    ],
)
def test_secrets_by_their_names(name: str) -> None:
    assert is_secret(name)
    assert name not in without_secrets({name: "x"})


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "USER",
        "SHELL",
        "PWD",
        "OLDPWD",
        "TZ",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "JAVA_HOME",
        "GOPATH",
        "CARGO_HOME",
        "NODE_ENV",
        "PYTHONPATH",
        "CMAKE_ARGS",
        "CUDA_VISIBLE_DEVICES",
        "KEYBOARD",
        "MONKEYS",
        "COMPASS",
        "PATTERN",
        "AUTHOR",
        "GIT_AUTHOR_NAME",
        "CI",
        "DATABASE_URL",
    ],
)
def test_what_programs_need_stays(name: str) -> None:
    assert without_secrets({name: "x"})[name] == "x"


def test_an_address_with_a_password_is_a_secret() -> None:
    given = {"DATABASE_URL": "postgres://me:secret@host/db", "PROXY": "http://host:80"}
    kept = without_secrets(given)
    assert "DATABASE_URL" not in kept
    assert kept["PROXY"] == "http://host:80"


def test_nothing_steers_programs_or_asks() -> None:
    given = {
        "BASH_ENV": "x",
        "BASH_FUNC_ls%%": "() { evil; }",
        "GIT_DIR": "x",
        "DBUS_SESSION_BUS_ADDRESS": "x",
        "EDITOR": "vim",
    }
    kept = without_secrets(given)
    assert not kept.keys() & {"BASH_ENV", "BASH_FUNC_ls%%", "GIT_DIR", "DBUS_SESSION_BUS_ADDRESS"}
    assert kept["EDITOR"] == kept["GIT_EDITOR"] == "true"
    assert kept["CI"] == "true"
    assert without_secrets({"CI": ""})["CI"] == ""
