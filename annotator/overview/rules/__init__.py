"""Path rules beside what they take and what was settled."""
