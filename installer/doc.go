// Package installer is the home of starting Lamplighter at login and of the
// packages for Linux, Windows and macOS.
//
// It imports nothing else of this module, and neither the tray nor the model
// belongs here: what is installed is the finished program.
package installer
