"""Where the person writes: the text, its history, what completes it, and what waits to be sent."""
