"""What the tests need beside Python: a database server, a broker, a browser. Each is real and ends with its user."""
