"""What a script runs in: found interpreters, packages locked to exact versions, built once and kept by content."""
