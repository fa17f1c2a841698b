"""A real MCP server over HTTP, for the tests of templates.

usage: notes.py PROJECT (--port PORT | --port-file FILE) [--json]

Without a port that is given it takes a free one, and writes it to FILE.
"""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn
from mcp.server import MCPServer

project = Path(sys.argv[1])
option, value = sys.argv[2:4]
server = MCPServer("notes")


@server.tool()
def names() -> list[str]:
    """The names of the files of the project."""
    return sorted(path.name for path in project.iterdir())


listener = socket.socket()
listener.bind(("127.0.0.1", int(value) if option == "--port" else 0))
if option == "--port-file":
    Path(value).write_text(str(listener.getsockname()[1]))
app = server.streamable_http_app(json_response="--json" in sys.argv)
asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener]))
