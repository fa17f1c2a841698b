"""A client: starts the command line it is given over a pair of pipes, has the
server find a symbol, which starts its language server, prints that it has
answered, and waits."""
import json
import subprocess
import sys
import threading

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def send(method, number=None, **params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    while number is not None and json.loads(server.stdout.readline()).get("id") != number:
        pass


client = {"name": "caller", "version": "1"}
send("initialize", 1, protocolVersion="2025-03-26", capabilities={}, clientInfo=client)
send("notifications/initialized")
send("tools/call", 2, name="find_symbol", arguments={"name_path_pattern": "greet"})
print("answered", flush=True)
threading.Event().wait()
