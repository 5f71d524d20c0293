"""The Model Context Protocol, spoken by ourselves: agents talk to the ledger through this package.

A newcomer reads `toolset.py` (what a tool layer must offer), then `protocol.py` (bytes in, events and bytes out; no
IO, no clock, no thread), then `stdio.py` (the carrier that moves the bytes). `versions.py` is the one table of
protocol revisions, `framing.py` cuts lines, `messages.py` reads and writes JSON-RPC, `fragments.py` finds out whom a
broken line came from, `schema.py` checks arguments, `dispatch.py` answers one call, `lanes.py` are the worker threads,
`streams.py` keeps stray output off the wire.
"""
