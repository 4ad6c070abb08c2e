"""Pure functions on tables. No Django, nothing but the standard library; what is undefined is None with a reason."""
