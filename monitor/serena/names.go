package serena

import (
	"slices"
	"strconv"
	"strings"
)

// names are what a version of Serena calls the things that its log tells of. They
// are no promise of Serena's: a name that is not in its table tells nothing.
type names struct {
	major, minor int // the first version that has them

	// Threads, before the language or after the number of the task.
	starts, reads, init string
	// Where records come from: logger and function.
	startFailed, exited, restarts, crashedInside, call, gaveUp, task, completed string

	failed string // before what a failed call says
	blocks bool   // who waits cannot be seen while a tool runs
}

// versions are the tables, the newest first.
var versions = func() []names {
	v15 := names{
		major: 1, minor: 5,
		starts: "StartLS:", reads: "LSP-stdout-reader:", init: ":init_language_server_manager",
		startFailed: "serena.ls_manager:_start_language_server", exited: "solidlsp.ls_process:_read_ls_process_stdout",
		restarts: "serena.ls_manager:_ensure_functional_ls",
		call:     "serena.tools.tools_base:task", gaveUp: "serena.tools.tools_base:apply_ex",
		task: "serena.task_executor:run_task", completed: "serena.task_executor:stop",
		failed: "Error executing tool: ", blocks: true,
	}
	v17 := v15
	v17.minor, v17.init, v17.failed = 7, ":init_project_services", ""
	v21 := v17
	v21.major, v21.minor, v21.blocks = 2, 0, false
	v21.crashedInside = "solidlsp.language_servers.typescript_language_server:window_log_message"
	return []names{v21, v17, v15}
}()

// namesOf are those of a version such as "2.1.0-abcdef12"; it is false for a version
// before the first that is known, and for a major version that is not.
func namesOf(version string) (names, bool) {
	number := strings.SplitN(version, ".", 3)
	if len(number) < 2 {
		return names{}, false
	}
	major, err := strconv.Atoi(number[0])
	if err != nil {
		return names{}, false
	}
	minor, err := strconv.Atoi(number[1])
	if err != nil {
		return names{}, false
	}
	i := slices.IndexFunc(versions, func(n names) bool { return n.major == major && n.minor <= minor })
	if i < 0 {
		return names{}, false
	}
	return versions[i], true
}

// needsLanguageServer reports whether a call, by the name of its task, asks a
// language server.
func needsLanguageServer(task string) bool {
	_, tool, _ := strings.Cut(task, ":")
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
func (n *names) classOf(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if n.failed == "" {
		class, _, ok := strings.Cut(first, ": ")
		if !ok || strings.ContainsAny(class, " ()") {
			return ""
		}
		return class
	}
	said, ok := strings.CutPrefix(first, n.failed)
	if !ok {
		return ""
	}
	lines := strings.Split(rest, "\n")
	slices.Reverse(lines)
	for _, line := range lines { // the traceback names it at its end
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
