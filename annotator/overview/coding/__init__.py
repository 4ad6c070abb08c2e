"""Open coding: codes that raters propose, and the board on which they become categories."""
