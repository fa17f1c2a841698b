"""A client: starts the command line it is given over a pair of pipes, as
assistants do, prints the server's pid and what the server prints first, and
waits."""
import subprocess
import sys
import threading

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(server.pid, server.stdout.readline().decode().strip(), flush=True)
threading.Event().wait()
