package launch

// Candidate is one way to run a server's program.
type Candidate struct {
	Command   []string // what to run, program first, absolute where it is known; the server's own arguments follow
	Source    string   // where it comes from, in words: "the settings", "the PATH of this process", "uvx"
	Env       []string // to set besides, KEY=VALUE
	Untrusted bool     // of the project itself: listed, run only when the settings name it

	project string  // whose it is, when it is the project's
	problem Problem // known without a check: there is no such program
	note    string  // then says where it was looked for
}

// Problem is why a candidate does not work, in one word.
type Problem string

// The problems. A candidate without one works.
const (
	NoProblem      Problem = ""
	NotFound       Problem = "not_found"
	NotExecutable  Problem = "not_executable"
	WrongVersion   Problem = "wrong_version" // Serena before 1.0, or not Serena at all
	ModuleNotFound Problem = "module_not_found"
	TimedOut       Problem = "timed_out"
	NotRun         Problem = "not_run" // the project's own
	Silent         Problem = "silent"  // the files do not answer: a network or a mount that hangs
	Failed         Problem = "failed"
)

// Verdict is what the check of a candidate found.
type Verdict struct {
	Candidate
	OK      bool
	Version string // "2.1.0"; empty when it is not known
	Problem Problem
	Detail  string   // a sentence: what happened, and what to do when there is something to do
	Stderr  []string // the last lines of it, cleaned, at most 10

	// With ModuleNotFound: how to have Serena there, the last sentence of Detail;
	// which interpreter ran, and where it looks.
	Advice      string
	Interpreter string
	SysPath     []string

	Cached bool // nothing was run: the same file was checked before
}

// Wanted says which command is looked for.
type Wanted struct {
	// Command is what the settings give. A program without a separator is looked
	// up; one with a separator that is not absolute lies in the project. Nil is
	// Serena, found by itself.
	Command []string
	Project string // absolute
	// Serena says that Command starts a Serena although it does not look so: a
	// script of the user.
	Serena bool
}

// Resolution is the candidate that works.
type Resolution struct {
	Chosen Verdict
	Tried  []Verdict // those before it that do not
}
