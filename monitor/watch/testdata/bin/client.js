// A client as most assistants are: a Node program that holds a server's pipes,
// which with Node are sockets.
const { spawn } = require("node:child_process");
spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "ignore"] });
setInterval(() => {}, 1 << 30);
