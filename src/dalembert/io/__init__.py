"""Storage: checksummed journals that survive a kill, and netCDF4-readable HDF5 archives that appear whole or not at all."""

from dalembert.io.archive import Variable, read_archive, write_archive
from dalembert.io.atomic import Json, file_path
from dalembert.io.journal import Journal, JournalContent, is_locked, read_journal
from dalembert.io.stream import ArchiveReader, ArchiveStream, open_archive, streaming

__all__ = [
    "ArchiveReader",
    "ArchiveStream",
    "Journal",
    "JournalContent",
    "Json",
    "Variable",
    "file_path",
    "is_locked",
    "open_archive",
    "read_archive",
    "read_journal",
    "streaming",
    "write_archive",
]
