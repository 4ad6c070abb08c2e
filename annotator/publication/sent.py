"""Files of a release on their way out: one, or all of them in an archive."""

import zipfile
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotator.publication.keeping import pieces_of
from annotator.publication.models import Release
from annotator.publication.reading import file_of, refuse_names, tells_names

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
}
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that an archive knows: the same bytes whenever it is made


def file_response(request: HttpRequest, release: Release, path: str) -> HttpResponseBase:
    """Never another content at the same address, so readers may keep it."""
    if tells_names(path):
        refuse_names(request.user, release.study)
    found = file_of(release, path)
    sha256 = found.sha256
    response: HttpResponse | StreamingHttpResponse = HttpResponseNotModified()
    if request.headers.get("If-None-Match") != f'"{sha256}"':
        type_ = TYPES.get(path.rpartition(".")[2], "application/octet-stream")
        response = StreamingHttpResponse(pieces_of(sha256), content_type=type_)
        response["Content-Length"] = str(found.bytes)
        response["Content-Disposition"] = f'attachment; filename="{path.rpartition("/")[2]}"'
    response["ETag"] = f'"{sha256}"'
    response["Cache-Control"] = f"{'public' if release.is_public else 'private'}, no-cache"
    return response


def archive_response(request: HttpRequest, release: Release) -> StreamingHttpResponse:
    refuse_names(request.user, release.study)
    name = f"{release.study.slug}-{release.number}"
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingHttpResponse(archive(release, name), content_type="application/zip", headers=headers)


class _Drain:
    """Takes what is written, until it is asked for."""

    def __init__(self) -> None:
        self.held: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self.held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits anywhere else."""

    def close(self) -> None:
        """The archive is over."""

    def taken(self) -> bytes:
        piece = b"".join(self.held)
        self.held.clear()
        return piece


def archive(release: Release, folder: str) -> Iterator[bytes]:
    drain = _Drain()
    with zipfile.ZipFile(drain, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in release.manifest:
            entry = zipfile.ZipInfo(f"{folder}/{file['path']}", LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with packed.open(entry, "w", force_zip64=True) as place:
                for piece in pieces_of(file["sha256"]):
                    place.write(piece)
                    yield drain.taken()
    yield drain.taken()
