"""Stands in for the reader of workbooks: tells what it knows."""

import json
import os
import sys

json.dump({"refused": os.environ.get("SECRET_KEY", "nothing")}, sys.stdout)
