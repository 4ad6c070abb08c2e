from django.core.cache import caches


def test_the_cache_keeps_and_forgets():
    cache = caches["default"]
    cache.set("kept", 1, 60)
    assert cache.get("kept") == 1
    cache.clear()
    assert cache.get("kept") is None
