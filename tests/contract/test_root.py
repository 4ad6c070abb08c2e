"""The address where a program begins."""


def test_root_names_where_to_go_on(client, db):
    here = "http://testserver/api/v1/"
    said = client.get("/api/v1/").json()
    assert said == {"studies": f"{here}studies/", "schema": f"{here}schema/", "docs": f"{here}docs/"}
