"""Prints the rows of a table of a Paimon warehouse as JSON lines, sorted; used by scripts/paimon-read.

Decimals are strings, bytes are hexadecimal, days and times are ISO 8601. With --schema, prints the columns instead.
"""

import datetime
import decimal
import json
import logging
import sys

logging.disable(logging.WARNING)

from pypaimon import CatalogFactory  # noqa: E402
from pypaimon.common.identifier import Identifier  # noqa: E402


def plain(value):
    """A value as JSON can hold it without loss."""
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value


def main(warehouse, database, table, *flags):
    catalog = CatalogFactory.create({"warehouse": warehouse})
    table = catalog.get_table(Identifier(database, table))
    if "--schema" in flags:
        schema = table.table_schema
        keys = {"primaryKeys": schema.primary_keys, "partitionKeys": schema.partition_keys}
        fields = [{"name": f.name, "type": str(f.type), "comment": f.description} for f in schema.fields]
        print(json.dumps({"fields": fields, **keys, "comment": schema.comment}, ensure_ascii=False))
        return
    builder = table.new_read_builder()
    splits = builder.new_scan().plan().splits()
    rows = builder.new_read().to_arrow(splits).to_pylist() if splits else []
    lines = [json.dumps({k: plain(v) for k, v in row.items()}, ensure_ascii=False) for row in rows]
    for line in sorted(lines):
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
