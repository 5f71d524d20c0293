"""Writes a lost store id anew from the records beside it: the one thing of a store that is said in every record."""

from __future__ import annotations

from tallystick.errors import Refusal, Where
from tallystick.journal.home import Home
from tallystick.journal.journals import read_store_id
from tallystick.journal.log import FileLog
from tallystick.journal.membership import MEMBERSHIP, parse_store_id
from tallystick.journal.record import Unreadable, authentic, open_line
from tallystick.system.durable import replace_file, spare
from tallystick.system.files import Files


def restore_store_id(files: Files, store: str, home: Home, version: int) -> tuple[str, ...]:
    """Write `store-id` anew when it is gone or unreadable and every record here names the same store.

    Only records sealed with this user's key are believed. Returns notes; raises `Refusal` "store.damaged" when the
    records do not agree, and leaves everything as it is then.
    """
    path = f"{store}/store-id"
    data = read_store_id(files, path)
    log = FileLog(files, f"{store}/journal", store)
    if data is not None:
        try:
            parse_store_id(data, path, version)
        except Refusal as refusal:
            if refusal.code != "store.damaged":
                raise
        else:
            return ()
    elif not log.features():
        return ()
    key = home.key()
    named: set[str] = set()
    for feature in (MEMBERSHIP, *log.features()):
        for writer in log.writers(feature):
            first = b"".join(log.read(feature, writer, 0)).split(b"\n", 1)[0]
            opened = open_line(first, version)
            if not isinstance(opened, Unreadable) and key is not None and authentic(*opened, key):
                named.add(opened[0].store)
    if len(named) != 1:
        raise Refusal(
            "store.damaged",
            f"{path} cannot be written anew: {'no record' if not named else 'records of several stores'} with this key",
            "put the file back from a backup",
            Where(path),
        )
    text = f"tallystick {version} {named.pop()}\n".encode()
    replace_file(files, path, text, sync=True, beside=spare(store))
    return (f"{path} was written anew from the records",)
