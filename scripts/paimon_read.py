"""Prints the rows of a table of a Paimon warehouse as JSON lines, sorted; used by scripts/paimon-read.

Decimals are strings, bytes are hexadecimal, days and times are ISO 8601. With --schema, prints the columns instead.
The table `*` means all of the database: one object a table, with its columns and its rows.
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


def schema_of(table):
    """Columns, keys and comment."""
    schema = table.table_schema
    keys = {"primaryKeys": schema.primary_keys, "partitionKeys": schema.partition_keys}
    fields = [{"name": f.name, "type": str(f.type), "comment": f.description} for f in schema.fields]
    return {"fields": fields, **keys, "comment": schema.comment}


def rows_of(table):
    """The rows, each an object."""
    builder = table.new_read_builder()
    splits = builder.new_scan().plan().splits()
    rows = builder.new_read().to_arrow(splits).to_pylist() if splits else []
    return [{k: plain(v) for k, v in row.items()} for row in rows]


def main(warehouse, database, table, *flags):
    catalog = CatalogFactory.create({"warehouse": warehouse})
    if table == "*":
        for name in sorted(catalog.list_tables(database)):
            whole = catalog.get_table(Identifier(database, name))
            out = {"table": name, **schema_of(whole), "rows": rows_of(whole)}
            print(json.dumps(out, ensure_ascii=False))
        return
    table = catalog.get_table(Identifier(database, table))
    if "--schema" in flags:
        print(json.dumps(schema_of(table), ensure_ascii=False))
        return
    for line in sorted(json.dumps(row, ensure_ascii=False) for row in rows_of(table)):
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
