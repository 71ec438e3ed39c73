"""Trouble with the hub: what is worth another attempt, and the sentence for what is not."""

from __future__ import annotations

import json

import httpx2
from huggingface_hub.errors import (
    DisabledRepoError,
    GatedRepoError,
    HfHubHTTPError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from gemma_local.models.store.errors import (
    HubRefused,
    HubUnreachable,
    NotOnHub,
    Offline,
    StoreError,
    WrongContent,
)
from gemma_local.models.store.patience import TRANSIENT_STATUSES, asked_wait

HUB_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled, json.JSONDecodeError)
"""What huggingface_hub and its HTTP client raise. HfHubHTTPError is an HTTPError."""


class WebPage(WrongContent):
    """HTML came where something else was asked for."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(
            f"{endpoint} answered with a web page where a file should come. Often that is the "
            "login page of the network (hotel, train, company): open a web page in a browser, sign "
            "in, and try again. Else see whether HF_ENDPOINT and the proxy settings are right."
        )


def is_transient(error: Exception) -> bool:
    """Whether the same request may succeed a little later."""
    if isinstance(error, HfHubHTTPError):
        return error.response.status_code in TRANSIENT_STATUSES
    if isinstance(error, httpx2.UnsupportedProtocol) or _is_untrusted(error):
        return False
    return isinstance(error, httpx2.TransportError)


def wait_asked_by(error: Exception) -> float | None:
    """Seconds after which the server wants to be asked again, if it said so."""
    return asked_wait(error.response.headers) if isinstance(error, HfHubHTTPError) else None


def reason(error: Exception) -> str:
    """A few words about trouble that may pass."""
    if isinstance(error, HfHubHTTPError):
        return _status(error)
    if isinstance(error, httpx2.TimeoutException):
        return "nothing came any more"
    if isinstance(error, httpx2.ProxyError):
        return f"the proxy refused ({error})"
    if isinstance(error, httpx2.ConnectError):
        return "no connection"
    return "the connection broke"


def explained(error: Exception, endpoint: str, repository: str, file: str = "") -> StoreError:
    """The error for a person, whatever ``error`` of HUB_ERRORS it was."""
    what = f"{repository}/{file}" if file else repository
    page = f"{endpoint}/{repository}"
    match error:
        case OfflineModeIsEnabled():
            return offline(what)
        case GatedRepoError():
            return HubRefused(
                f"{repository} is gated: its maker wants you to accept terms first. Sign in at "
                f"{page} and accept them, make a token with read access at "
                f"{endpoint}/settings/tokens, and give it in HF_TOKEN (or `hf auth login`)."
            )
        case DisabledRepoError():
            return NotOnHub(f"{repository} was taken down by the hub; choose another repository")
        case RevisionNotFoundError():
            return NotOnHub(
                f"{repository} has no such revision; see {page}/commits/main, or leave the "
                "revision out"
            )
        case RemoteEntryNotFoundError():
            return NotOnHub(f"there is no file {file!r} in {repository}; see {page}/tree/main")
        case RepositoryNotFoundError():
            return NotOnHub(
                f"the hub shows no repository {repository}. See whether the name is right at "
                f"{page}; if it is private, give a token with read access to it in HF_TOKEN."
            )
        case HfHubHTTPError() if error.response.status_code == 401:
            return HubRefused(
                "the hub does not accept the token (401). Make a new one at "
                f"{endpoint}/settings/tokens and give it in HF_TOKEN, or take HF_TOKEN away: "
                "public files need none."
            )
        case HfHubHTTPError() if error.response.status_code == 403:
            return HubRefused(
                f"the hub does not let this token read {what} (403). Give it read access at "
                f"{endpoint}/settings/tokens, or accept the terms at {page}."
            )
        case HfHubHTTPError() if error.response.status_code == 404:
            return NotOnHub(f"the hub has no {what} (404); see {page}/tree/main")
        case HfHubHTTPError():
            return HubUnreachable(
                f"the hub could not deliver {what} ({_status(error)}). Try again later: what has "
                "come stays."
            )
        case json.JSONDecodeError():
            return HubUnreachable(
                f"{endpoint} does not answer as a hub does. See whether HF_ENDPOINT is right and "
                "whether the network wants you to sign in."
            )
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL():
            return HubUnreachable(
                f"{endpoint} is no web address ({error}); correct HF_ENDPOINT or the proxy settings"
            )
        case _ if _is_untrusted(error):
            return HubUnreachable(
                f"the certificate of {endpoint} is not trusted on this machine ({error}). A proxy "
                "that looks into connections (company, school) shows one of its own: name the file "
                "with its certificate in SSL_CERT_FILE. Else set the machine's clock right, or "
                "leave the mirror out (HF_ENDPOINT)."
            )
    return HubUnreachable(
        f"{what} could not be fetched: {reason(error)}. See whether the network is up and whether "
        f"{endpoint} can be reached; what has come stays, and the same command goes on from there."
    )


def offline(what: str) -> Offline:
    """The error for whatever would need the network."""
    return Offline(
        f"{what} is not on this machine, and nothing may be fetched (HF_HUB_OFFLINE or --offline). "
        "Allow the network, or bring it with `gemma-local models import`."
    )


def _is_untrusted(error: Exception) -> bool:
    """Whether the other end's certificate was refused: it will be the next time, too."""
    # The HTTP client passes on the words of Python's ssl module, and nothing else.
    return isinstance(error, httpx2.ConnectError) and "CERTIFICATE_VERIFY_FAILED" in str(error)


def _status(error: HfHubHTTPError) -> str:
    code = error.response.status_code
    match code:
        case 429:
            return "too many requests (429)"
        case 408:
            return "it waited for us too long (408)"
        case _ if code >= 500:
            return f"trouble at its end ({code})"
    return f"status {code}"
