"""Greetings, thanks and the like."""

from __future__ import annotations

import random
from typing import Final

from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.words import Split

_TALK: Final = (
    (
        "Hello|Hi|Hey|Good morning|Good evening|Hello there|Hi there|Hey there|Good day|Moin|Hello!|Hi!|hey|hi"
        "|hello|Good afternoon|Greetings|Yo|Hello guide|Hi gemma",
        (
            "Hello! Ask me about gemma-local, or for a small Python function.",
            "Hi! I am the built-in guide. What would you like to know about gemma-local?",
        ),
    ),
    (
        "Thanks|Thank you|Thanks!|Thank you very much|thx|Great, thanks|Perfect, thank you|Thanks a lot"
        "|That helps, thanks|Cool, thanks|Many thanks|Nice, thank you|ok thanks|Thank you!",
        ("You're welcome.", "Glad to help."),
    ),
    (
        "Bye|Goodbye|See you|Good night|bye|See you later|That's all|I am done|Ciao|Until tomorrow",
        (
            "Goodbye! The conversation is saved.",
            "See you. `gemma-local --continue` goes on from here.",
        ),
    ),
    (
        "How are you?|How do you do?|Are you there?|How is it going?|test|Is anybody there?|ping|What's up?"
        "|Are you working?|hello?",
        ("I am here and ready. Ask me about gemma-local.", "Ready. What would you like to know?"),
    ),
    (
        "Ok|OK|Good|I see|Fine|Great|Understood|Nice|Cool|Alright|Got it|Makes sense|yes|no|Yes|No|Hm|Wow",
        ("Is there anything else about gemma-local?", "Good. Ask on whenever you like."),
    ),
)


def sample(rng: random.Random, split: Split) -> Sample:
    """Something said out of politeness, and the answer."""
    texts, answers = rng.choice(_TALK)
    text = rng.choice(texts.split("|"))
    if split == "train" and rng.random() < 0.3:
        text += rng.choice((".", "!", "...", " :)"))
    return Sample(
        "small_talk",
        (user(text), said(rng.choice(answers), "They are polite. So am I.")),
        judged_by={"answers": answers},
    )
