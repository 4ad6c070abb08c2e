"""Examples for raters."""
