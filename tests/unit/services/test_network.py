import socket

import pytest


def test_a_test_cannot_reach_another_machine():
    with socket.socket() as client, pytest.raises(PermissionError, match=r"192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))


def test_a_test_can_reach_this_machine():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
