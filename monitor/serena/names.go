package serena

import (
	"fmt"
	"slices"
	"strings"
)

// version is what differs between the versions of Serena in what their logs tell. What
// threads, loggers and functions are called in those that are known is the same, and no
// promise of Serena's: what is called otherwise tells nothing.
type version struct {
	major, minor int    // the first that is so
	failed       string // before what a failed call says
	blocks       bool   // who waits cannot be seen while a tool runs
}

// versions are those that are known, the newest first.
var versions = []version{{2, 0, "", false}, {1, 6, "", true}, {1, 5, "Error executing tool: ", true}}

// versionOf reads one such as "2.1.0-abcdef12"; it is false for a version before the
// first that is known, and for a major version that is not.
func versionOf(text string) (version, bool) {
	var major, minor int
	if n, _ := fmt.Sscanf(text, "%d.%d", &major, &minor); n < 2 {
		return version{}, false
	}
	i := slices.IndexFunc(versions, func(v version) bool { return v.major == major && v.minor <= minor })
	if i < 0 {
		return version{}, false
	}
	return versions[i], true
}

// IsInit reports whether a task starts the language servers of a project: the former
// from 1.7 on.
func IsInit(task string) bool {
	return strings.HasSuffix(task, ":init_project_services") || strings.HasSuffix(task, ":init_language_server_manager")
}

// needsLanguageServer reports whether a call, by the name of its task, asks a
// language server.
func needsLanguageServer(task string) bool {
	tool := toolOf(task)
	return !strings.HasPrefix(tool, "JetBrains") && (strings.Contains(tool, "Symbol") || strings.HasPrefix(tool, "GetDiagnostics") ||
		tool == "FindImplementationsTool" || tool == "FindDeclarationTool")
}

// isREPL reports whether a task runs code of the client, which may ask anything,
// and whose failures Serena counts as success.
func isREPL(task string) bool { return strings.HasSuffix(task, ":SerenaReplTool") }

// ofLanguageServer reports whether an exception, by its class, tells of a language
// server.
func ofLanguageServer(class string) bool {
	return class == timeoutError || class == lspException || class == crashedInside || strings.HasPrefix(class, "LanguageServer")
}

// What Serena calls some exceptions, and what one of them says.
const (
	timeoutError   = "TimeoutError"
	lspException   = "SolidLSPException" // of a language server that has ended, too
	crashedInside  = "TypeScriptServerCrashedError"
	notInitialised = "The language server manager is not initi"
)

// isFault reports whether a call failed by a fault of the server, and not by one of
// the model such as a file that does not exist.
func isFault(class, text string) bool {
	switch class {
	case "RuntimeError", "OSError", "BrokenPipeError", "ConnectionError", "ConnectionResetError", "ConnectionRefusedError", "ConnectionAbortedError":
		return true
	}
	return ofLanguageServer(class) || strings.Contains(text, notInitialised)
}

// classOf is the class of the exception of a call that failed, "" when the record
// tells of something else.
func (v *version) classOf(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if v.failed == "" {
		class, _, ok := strings.Cut(first, ": ")
		if !ok || strings.ContainsAny(class, " ()") {
			return ""
		}
		return class
	}
	said, ok := strings.CutPrefix(first, v.failed)
	if !ok {
		return ""
	}
	for _, line := range slices.Backward(strings.Split(rest, "\n")) { // the traceback names it at its end
		class, _, _ := strings.Cut(line, ":")
		class = class[strings.LastIndexByte(class, '.')+1:]
		if !strings.Contains(class, " ") && (strings.HasSuffix(class, "Error") || strings.HasSuffix(class, "Exception")) {
			return class
		}
	}
	if strings.HasPrefix(said, "Request timed out") {
		return timeoutError
	}
	return "Exception"
}
