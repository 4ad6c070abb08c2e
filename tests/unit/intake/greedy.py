"""Stands in for the reader of workbooks: asks for more memory than it may have."""

import json
import sys

from annotator.intake import apart

apart.limit()
apart.tabs_in = lambda data, **asked: [bytearray(2 * apart.MEMORY)]
json.dump(apart.answer_to({}, sys.stdin.buffer.read()), sys.stdout)
