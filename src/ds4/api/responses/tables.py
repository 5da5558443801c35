"""The tables of kept responses: SQL on an open connection, inside whatever transaction is open.

Items are kept once per caller, however many responses share them: a history grows by its new items only.
"""

import sqlite3
from hashlib import blake2b

from ds4.api.responses.store import Item, Stored
from ds4.storage.sqlite_file import bytes_used, number

VERSION = 2
"""Raise it with every change."""
_EARLIER, _INPUT, _OUTPUT = range(3)
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS responses (
    key INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id TEXT NOT NULL,
    body BLOB NOT NULL, used INTEGER NOT NULL, UNIQUE (namespace, id)
);
CREATE INDEX IF NOT EXISTS by_use ON responses (used);
CREATE TABLE IF NOT EXISTS items (
    key INTEGER PRIMARY KEY, namespace TEXT NOT NULL, id TEXT NOT NULL,
    digest BLOB NOT NULL, json BLOB NOT NULL, UNIQUE (namespace, id, digest)
);
CREATE TABLE IF NOT EXISTS places (
    response INTEGER NOT NULL, number INTEGER NOT NULL, part INTEGER NOT NULL, item INTEGER NOT NULL,
    PRIMARY KEY (response, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_item ON places (item);
CREATE TABLE IF NOT EXISTS calls (
    namespace TEXT NOT NULL, id TEXT NOT NULL, response INTEGER NOT NULL, PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_response ON calls (response);
PRAGMA user_version = {VERSION};
COMMIT;
"""


def find(connection: sqlite3.Connection, namespace: str, response_id: str) -> tuple[int, bytes] | None:
    found: tuple[int, bytes] | None = connection.execute(
        "SELECT key, body FROM responses WHERE namespace = ? AND id = ?", (namespace, response_id)
    ).fetchone()
    return found


def load(connection: sqlite3.Connection, response_id: str, key: int, body: bytes) -> Stored:
    parts: tuple[list[Item], ...] = ([], [], [])
    rows = connection.execute(
        "SELECT part, id, json FROM places JOIN items ON key = item WHERE response = ? ORDER BY number",
        (key,),
    )
    for part, item_id, json in rows:
        parts[part].append(Item(item_id, json))
    earlier, given, output = map(tuple, parts)
    return Stored(response_id, body, earlier, given, output)


def touch(connection: sqlite3.Connection, key: int) -> None:
    try:
        connection.execute(
            "UPDATE responses SET used = (SELECT max(used) + 1 FROM responses) WHERE key = ?", (key,)
        )
    except sqlite3.OperationalError:
        # What was read is good, though nobody will know that it was.
        return


def insert(connection: sqlite3.Connection, namespace: str, stored: Stored) -> None:
    key = connection.execute(
        "INSERT INTO responses (namespace, id, body, used)"
        " VALUES (?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM responses))",
        (namespace, stored.id, stored.body),
    ).lastrowid
    parts = ((_EARLIER, stored.earlier), (_INPUT, stored.input), (_OUTPUT, stored.output))
    items = [(part, item) for part, found in parts for item in found]
    for position, (part, item) in enumerate(items):
        place = (key, position, part, _item_key(connection, namespace, item))
        connection.execute("INSERT INTO places (response, number, part, item) VALUES (?, ?, ?, ?)", place)
    connection.executemany(
        "INSERT OR REPLACE INTO calls (namespace, id, response) VALUES (?, ?, ?)",
        [(namespace, call_id, key) for call_id in stored.calls],
    )


def _item_key(connection: sqlite3.Connection, namespace: str, item: Item) -> int:
    """Clients give ids as they like: the same id with other words is another item."""
    name = (namespace, item.id, blake2b(item.json, digest_size=16).digest())
    connection.execute(
        "INSERT INTO items (namespace, id, digest, json) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (*name, item.json),
    )
    (key,) = connection.execute(
        "SELECT key FROM items WHERE namespace = ? AND id = ? AND digest = ?", name
    ).fetchone()
    return int(key)


def drop(connection: sqlite3.Connection, key: int) -> None:
    """With the items that no other response has."""
    connection.execute(
        "DELETE FROM items WHERE key IN (SELECT item FROM places WHERE response = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM places WHERE item = items.key AND response <> ?1)",
        (key,),
    )
    connection.execute("DELETE FROM places WHERE response = ?", (key,))
    connection.execute("DELETE FROM calls WHERE response = ?", (key,))
    connection.execute("DELETE FROM responses WHERE key = ?", (key,))


def find_item(connection: sqlite3.Connection, namespace: str, item_id: str) -> tuple[int, Item] | None:
    """With the response that brought it last."""
    found = connection.execute(
        "SELECT response, json FROM items JOIN places ON item = key"
        " WHERE namespace = ? AND id = ? AND part <> ? ORDER BY response DESC LIMIT 1",
        (namespace, item_id, _EARLIER),
    ).fetchone()
    return None if found is None else (found[0], Item(item_id, found[1]))


def find_call(connection: sqlite3.Connection, namespace: str, call_id: str) -> str | None:
    """The id of the response that was answered with it."""
    found = connection.execute(
        "SELECT responses.id FROM calls JOIN responses ON key = response"
        " WHERE calls.namespace = ? AND calls.id = ?",
        (namespace, call_id),
    ).fetchone()
    return None if found is None else str(found[0])


def shrink(connection: sqlite3.Connection, max_responses: int, max_bytes: int) -> None:
    """Drops what was used longest ago, until all is within the bounds. `max_bytes` counts whole pages."""
    while _is_over(connection, max_responses, max_bytes):
        (oldest,) = connection.execute("SELECT key FROM responses ORDER BY used LIMIT 1").fetchone()
        drop(connection, oldest)


def _is_over(connection: sqlite3.Connection, max_responses: int, max_bytes: int) -> bool:
    count = number(connection, "SELECT count(*) FROM responses")
    return count > max_responses or (count > 0 and bytes_used(connection) > max_bytes)
