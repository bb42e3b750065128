"""What all tables are made of: the schema they belong to, and the kinds of columns that differ by database."""

from typing import Final

from sqlalchemy import BigInteger, Integer, MetaData, String, Text

META: Final = MetaData()
BIG: Final = BigInteger().with_variant(Integer(), "sqlite")
"""In SQLite only INTEGER can be the row id itself."""
TEXT: Final = Text().with_variant(String(collation="C"), "postgresql")
"""Byte order everywhere: SQLite's default, and what prefix ranges and list cursors count on."""
