"""What the pocket pair learns from: one module a ground, all of it made from seeds."""
