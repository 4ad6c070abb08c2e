"""Rounds: which bugs go in, opening and closing."""
