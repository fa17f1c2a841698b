// Package installer puts Lamplighter on the machine of one user, without root:
// its programs where they stay, and what starts it at login. It takes both away
// again.
//
// What is to be done is a Plan (plan.go), made from what lies there already and
// shown by a dry run word for word. A plan is carried out whole or not at all
// (apply.go), and a receipt (receipt.go) remembers what was put where. Start at
// login is a systemd user unit with its socket and an autostart entry on Linux,
// a launch agent on macOS and a value below HKCU\…\Run on Windows (login*.go).
//
// It imports nothing else of this module, and neither the tray nor the model
// belongs here: what is installed is the finished program. Ending and starting
// the running one, the settings of clients, and what is said are in app/cli.
package installer
