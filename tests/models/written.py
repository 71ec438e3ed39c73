"""Prompts as the text that they stand for."""

from __future__ import annotations

from gemma_local.models.prompt import Control, Ids, Markup, Prompt, Text


def written(prompt: Prompt) -> str:
    """All pieces in one string; token ids as ``[7 8]``."""
    return "".join(map(_text, prompt))


def _text(piece: Control | Text | Markup | Ids) -> str:
    match piece:
        case Control(token):
            return token
        case Text(text) | Markup(text):
            return text
        case Ids(ids):
            return f"[{' '.join(map(str, ids))}]"
