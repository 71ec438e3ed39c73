"""Tests of the model room: real bytes in temporary folders, never a mock."""
