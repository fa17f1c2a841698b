package serenatest

import (
	"path/filepath"
	"testing"
)

// The other MCP servers that the tools hold.
const (
	filesystemPackage = "@modelcontextprotocol/server-filesystem@2026.8.31"
	memoryPackage     = "@modelcontextprotocol/server-memory@2026.8.31"
	timePackage       = "mcp-server-time==2026.10.19"
)

// Filesystem is the command line of the reference filesystem server, through
// npx, for Options.Command.
func Filesystem(t testing.TB, dir string) []string {
	t.Helper()
	return []string{npx(t), "-y", filesystemPackage, dir}
}

// Memory is the command line of the reference memory server, through npx, for
// Options.Command.
func Memory(t testing.TB) []string {
	t.Helper()
	return []string{npx(t), "-y", memoryPackage}
}

// Time is the command line of the reference time server, which is in Python,
// through uvx, for Options.Command.
func Time(t testing.TB) []string {
	t.Helper()
	return []string{program(Tools(t), "venv", "uvx"), "--python", "3.11", timePackage}
}

func npx(t testing.TB) string {
	t.Helper()
	return filepath.Join(Tools(t), "node", "bin", "npx")
}
