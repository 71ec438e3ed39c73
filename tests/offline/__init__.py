"""What keeps the tests off the network."""
