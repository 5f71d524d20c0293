"""Agents that follow a script: no model, real edits, and the ledger by its real door, the MCP server over stdio."""
