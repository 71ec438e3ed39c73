"""Where model files come from and lie: downloads, the library of what is here, checks, transfers.

Downloads go to the cache of huggingface_hub, which other programs share. Nothing here talks to the
network unless a file was asked for.
"""

import os

# huggingface_hub reads these when it is first imported, which only modules of this package do.
# With telemetry it would put more about the machine into its headers, and fetch a list to do so.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_UPDATE_CHECK"] = "1"
# It would print advice of its own (to make an account, for instance) into our progress.
os.environ.setdefault("HF_HUB_VERBOSITY", "error")
