"""The environment that the model's commands get: what programs need, and no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_SECRET_WORDS: Final = re.compile(
    r"(?:\A|_|\d)(?:API|APP|AUTH|ACCESS|PRIVATE|SIGNING|ENCRYPTION|DEPLOY|SECRET)?_?"
    r"(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|CREDS?|AUTH"
    r"|COOKIES?|PAT|DSN|APIKEY|SESSION)(?:\Z|_|\d)"
)
_SECRET_PARTS: Final = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "APIKEY", "PRIVATE")
_SECRET_PREFIXES: Final = (
    "AWS_",
    "AZURE_",
    "GITHUB_",
    "GITLAB_",
    "GH_",
    "GOOGLE_",
    "GCLOUD_",
    "OPENAI_",
    "ANTHROPIC_",
    "VAULT_",
    "GPG_",
    "SSH_",
    "KUBE",
    "DOCKER_",
    "CI_JOB_",
    "TWINE_",
    "NPM_CONFIG_//",
)
_SERVICES: Final = frozenset(
    # Sockets of the person's desktop, agents and services.
    [
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "DBUS_SESSION_BUS_ADDRESS",
        "XDG_RUNTIME_DIR",
        "WSL_INTEROP",
        "NOTIFY_SOCKET",
        "SUDO_ASKPASS",
    ]
)
_STEERING: Final = frozenset(
    # They make a program run another one first.
    [
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "PS4",
        "PYTHONSTARTUP",
        "PYTHONBREAKPOINT",
        "LESSOPEN",
        "LESSCLOSE",
        "SHELLOPTS",
        "BASHOPTS",
        "BROWSER",
    ]
)
_OF_GIT: Final = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CEILING_DIRECTORIES")
_HARMLESS: Final = frozenset(["PWD", "OLDPWD", "XDG_SESSION_TYPE", "XDG_SESSION_CLASS"])
_WITH_PASSWORD: Final = re.compile(r"\A[a-z][a-z0-9+.-]*://[^/\s@]*:[^/\s@]*@", re.IGNORECASE)

_SET: Final = {
    # Nobody is there: no questions, no watching for changes, no animation.
    "CI": "true",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "npm_config_update_notifier": "false",
    # An editor takes the text as it is, so that "git rebase --continue" goes on.
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
}


def is_secret(name: str, value: str = "") -> bool:
    """Whether a variable is kept from commands: by its name, or because its value is an address
    with a password in it."""
    upper = name.upper()
    if upper in _HARMLESS:
        return False
    return (
        upper.startswith(_SECRET_PREFIXES)
        or any(part in upper for part in _SECRET_PARTS)
        or _SECRET_WORDS.search(upper) is not None
        or _WITH_PASSWORD.search(value) is not None
    )


def without_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` for a command of the model's: without secrets, sockets of services and what makes
    programs run others; and told that nobody is there to answer."""
    kept = {
        name: value
        for name, value in environ.items()
        if not (
            is_secret(name, value)
            or name in _SERVICES
            or name in _STEERING
            # Functions of bash, which replace programs.
            or name.startswith("BASH_FUNC_")
            # Where git looks, set by a git that has started gemma-local; not where it must not.
            or (name.startswith("GIT_") and not name.startswith(_OF_GIT))
        )
    }
    return kept | {name: value for name, value in _SET.items() if name != "CI" or "CI" not in kept}
