"""Machine-readable descriptions of a release: Croissant 1.0, and a data package for Frictionless."""

from typing import Any

from annotator.publication.citing import Named, bibtex
from annotator.publication.columns import NUMBER, TEXT, TIME, WHOLE, YES_NO, Column, Table
from annotator.publication.contents import HOLDS
from annotator.publication.files import File
from annotator.publication.formats import CSV, JSONL, PARQUET
from annotator.publication.writing import FIGURES, TableFiles, Written

# what a word of the vocabulary stands for: most for themselves
WORDS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{word: f"cr:{word}" for word in WORDS},
}
MEDIA = {CSV: "text/csv", JSONL: "application/jsonlines", PARQUET: "application/x-parquet", "json": "application/json"}
MEDIA |= {"py": "text/x-python", "md": "text/markdown", "svg": "image/svg+xml", "pdf": "application/pdf"}
OF_CROISSANT = {TEXT: "sc:Text", WHOLE: "sc:Integer", NUMBER: "sc:Float", YES_NO: "sc:Boolean", TIME: "sc:DateTime"}
OF_FRICTIONLESS = {TEXT: "string", WHOLE: "integer", NUMBER: "number", YES_NO: "boolean", TIME: "datetime"}
MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"


def croissant(named: Named, written: Written) -> dict[str, Any]:
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": named.about["study"],
        "alternateName": named.title,
        "description": named.about["description"],
        "license": named.about["licence"]["url"],
        "url": f"urn:sha256:{named.sha256}",
        "citeAs": bibtex(named),
        "creator": [{"@type": "sc:Person", "name": each["name"]} for each in named.people],
        "datePublished": named.day.isoformat(),
        "version": f"{named.number}.0.0",
        "distribution": [file_object(file) for file in written.files],
        "recordSet": [record_set(each) for each in written.tables],
    }


def file_object(file: File) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": media_type(file.path),
        "sha256": file.sha256,
    }


def media_type(path: str) -> str:
    return MEDIA.get(path.rpartition(".")[2], "application/octet-stream")


def record_set(written: TableFiles) -> dict[str, Any]:
    table = written.table
    source = written.files[PARQUET].path
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": HOLDS[table.name],
        "field": [field_of(table, column, place, source) for place, column in enumerate(table.columns)],
    }


def field_of(table: Table, column: Column, place: int, source: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{place}",
        "name": column.name,
        "description": column.says or column.name,
        "dataType": OF_CROISSANT[column.kind],
        "source": {"fileObject": {"@id": source}, "extract": {"column": column.name}},
    }


# --- data package


def datapackage(named: Named, written: Written) -> dict[str, Any]:
    licence = named.about["licence"]
    return {
        "profile": "data-package",
        "name": named.about["study"],
        "id": f"sha256:{named.sha256}",
        "title": named.title,
        "description": named.about["description"],
        "version": f"{named.number}.0.0",
        "created": f"{named.day.isoformat()}T00:00:00Z",
        "licenses": [{"name": licence["id"], "title": licence["name"], "path": licence["url"]}],
        "contributors": [{"title": each["name"], "role": "author"} for each in named.people],
        "resources": [
            *(resource(each) for each in written.tables),
            *(picture(file) for file in written.files if file.path.startswith(f"{FIGURES}/")),
        ],
    }


def resource(written: TableFiles) -> dict[str, Any]:
    table, file = written.table, written.files[CSV]
    return {
        "name": table.name,
        "description": HOLDS[table.name],
        "profile": "tabular-data-resource",
        "path": file.path,
        "format": CSV,
        "mediatype": MEDIA[CSV],
        "encoding": "utf-8",
        "dialect": {"delimiter": ",", "quoteChar": '"', "doubleQuote": True, "header": True},
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
        "schema": {"fields": [schema_field(column) for column in table.columns], "missingValues": [""]},
    }


def picture(file: File) -> dict[str, Any]:
    name, _, ending = file.path.rpartition("/")[2].partition(".")
    return {
        "name": f"{FIGURES}.{name}.{ending}",
        "profile": "data-resource",
        "path": file.path,
        "format": ending,
        "mediatype": media_type(file.path),
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
    }


def schema_field(column: Column) -> dict[str, Any]:
    field = {"name": column.name, "type": OF_FRICTIONLESS[column.kind], "description": column.says or column.name}
    return field | ({"format": MOMENT} if column.kind == TIME else {})
