"""The address where a program begins."""


def test_root_names_where_to_go_on(client, db):
    said = client.get("/api/v1/").json()
    assert said["studies"] == "http://testserver/api/v1/studies/"
    assert client.get(said["schema"]).status_code == 200
