"""The benchmark: each figure beside its floor, on this machine, in one run. See `make bench`."""
