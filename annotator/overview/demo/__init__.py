"""The demo study: made-up bugs of made-up frameworks, and how they come into a study."""
