// Package setup puts lamplighter-connect into the settings of MCP clients, in
// front of the servers that they start, and takes it out again.
//
// What is to be changed is decided by pure functions over entries: judge.go says
// what becomes of one, wrap.go and pageoption.go what its command is then,
// secrets.go how it is shown. machine.go and lookpath.go look at what they are to
// know of this machine, pageopens.go at Serena's settings.
//
// Where clients have settings, in which format, and which of them run is for
// monitor/clients to say; place.go tells which files are meant. settings.go reads
// one, and files are only touched through app/setup/foreignfile.
//
// list.go looks, do.go changes, undo.go takes it back. What undo needs is in
// record.go and backups.go.
package setup

import (
	"strings"
	"time"

	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// State is what a client does with an entry.
type State string

// The states.
const (
	Direct State = "direct" // starts the server itself
	Shared State = "shared" // runs lamplighter-connect of this installation
	Other  State = "other"  // runs lamplighter-connect of another installation, which is there
	Gone   State = "gone"   // runs a lamplighter-connect that is not there
	Remote State = "remote" // connects to an address
	Odd    State = "odd"    // cannot be understood
)

// Entry is an MCP server in the settings of a client. All texts are safe to show,
// with what looks like a secret left out. No list that this package returns is
// nil.
type Entry struct {
	Name   string   `json:"name"`
	Path   []string `json:"path"` // of names in the file, the last is Name
	Line   int      `json:"line"` // in the file, from 1
	State  State    `json:"state"`
	Serena bool     `json:"serena"`
	Off    bool     `json:"off"` // the client is told not to use it

	// Runs is the command that starts the server, without lamplighter-connect; for
	// Remote the address. It is for people.
	Runs string `json:"runs"`
	// Now are the servers that run from it, by their labels: "4711 - alpha (shared, 3
	// clients), 4712 - beta"; "" when none does, or nobody has told: see NoteRunning.
	Now string `json:"now"`
	// Becomes is the command that Do would write, "" when it would not change the
	// entry.
	Becomes string `json:"becomes"`
	// Why says why Do would leave the entry alone, as a sentence; "" when it would
	// not, or when there is nothing to do.
	Why string `json:"why"`
	// Alone says why its server cannot be shared, as a part of a sentence; "" when
	// it can as far as the command tells.
	Alone string `json:"alone"`
	// Broken says what is wrong with the lamplighter-connect of one that is Gone, as a
	// part of a sentence: "is not there".
	Broken string `json:"broken"`
	// Missing is the program that is not found, "" for none.
	Missing string `json:"missing"`
	// OpensPage tells that each of its servers opens Serena's own page.
	OpensPage bool `json:"opens_page"`
	// PageStops tells that this is so behind lamplighter-connect as well, and that
	// NoPage would stop it.
	PageStops bool `json:"page_stops"`
}

// IsAlone reports whether it runs through lamplighter-connect of this installation, and its
// server is its client's alone all the same.
func (e Entry) IsAlone() bool { return e.State == Shared && e.Alone != "" }

// Folder is the directory that the entry counts for, "" for all: a file may have a table
// for each.
func (e Entry) Folder() string {
	for _, table := range e.Path[:max(len(e.Path)-1, 0)] {
		if strings.ContainsAny(table, `/\`) {
			return table
		}
	}
	return ""
}

// File is a file of settings, there or not.
type File struct {
	Path   string `json:"path"`
	Scope  Scope  `json:"scope"`
	Exists bool   `json:"exists"`
	// Problem says why it cannot be read or understood, as a sentence; "" when it can.
	Problem string `json:"problem"`
	// Note says what its client does with it that nobody expects, as a sentence; "" for
	// nothing.
	Note    string  `json:"note"`
	Entries []Entry `json:"entries"`
	// Changed is when setup has last changed it, nil when it has not or when that
	// was undone.
	Changed *time.Time `json:"changed"`
	Backup  string     `json:"backup"` // path of the latest one that is there, "" for none
}

// Scope is whom settings are for.
type Scope = clients.Scope

// The scopes.
const (
	User    = clients.User
	Project = clients.Project
)

// Client is a program whose settings are known.
type Client struct {
	ID      string `json:"id"`      // claude-code
	Name    string `json:"name"`    // Claude Code
	Running []int  `json:"running"` // pids of it that run now
	Files   []File `json:"files"`
}

// Found reports whether any of its files is there.
func (c Client) Found() bool {
	for _, f := range c.Files {
		if f.Exists {
			return true
		}
	}
	return false
}

// Wanted is what Do is to do.
type Wanted struct {
	Client  string   // its ID; "" for all
	File    string   // this file alone, whosever it is; absolute
	Servers []string // names of entries; none: every Serena
	Project bool     // files of the project too, which others may share

	Undo   bool
	DryRun bool // nothing is written
	// Uninstall is for Undo before this installation goes: what would run a program
	// that is not there is taken out, whoever wrote it, and what runs another
	// installation stays.
	Uninstall bool

	Contents bool // Change.Before and Change.After are wanted

	NoPage bool // Serena's own page does not open

	// Expect is what was shown before: Change.Sum by Change.Path. When it is not nil,
	// files that differ, and others in which something would change, are left as
	// they are: the Err of their Change Is ErrOutdated.
	Expect map[string]string
}

// Change is what became of one file.
type Change struct {
	Client string `json:"client"` // its name; "" for a file that is nobody's
	Path   string `json:"path"`
	// Sum is the SHA-256 of the file as it was before, in hexadecimal digits, for
	// Wanted.Expect; "" when it could not be read.
	Sum string `json:"sum"`
	// Entries are the ones that were changed, or would be, as they are then.
	Entries []Entry `json:"entries"`
	// Left are those that were meant and are left alone, with Why.
	Left []Entry `json:"left"`
	// Backup is the path of the file as it was before; "" when there is none.
	Backup string `json:"backup"`
	// Kept are the paths of older backups that undo no longer knows, but that hold a
	// text of the file that may be nowhere else.
	Kept []string `json:"kept"`
	// Whole tells that undoing gave back the file from before, byte for byte.
	Whole bool `json:"whole"`
	// Problem says why nothing was done, or with Written what went wrong after that,
	// as a sentence; "" when there is no problem.
	Problem string `json:"problem"`
	// Written tells that the file was written though there is a Problem.
	Written bool `json:"written"`

	// Before and After are the content of the file; nil with Problem, and unless
	// Wanted.Contents says so.
	Before, After []byte `json:"-"`
	Err           error  `json:"-"` // behind Problem
}

// Result is what Do has done, file by file, in the order of List. Files in which
// there is nothing to do and nothing is wrong are left out.
type Result struct {
	Changes []Change `json:"changes"`
	// Running are the names of clients that run and will see the change only when
	// they are started again.
	Running []string `json:"running"`
	// Page tells that entries remain whose servers open Serena's own page, and that
	// NoPage would stop it.
	Page bool `json:"page"`
	// Notes are sentences about what was done otherwise than one would expect.
	Notes []string `json:"notes"`
}

// Failed reports whether a file could not be changed, or not all that belongs to it.
func (r Result) Failed() bool {
	for _, c := range r.Changes {
		if c.Problem != "" {
			return true
		}
	}
	return false
}

// Options are what a Setup needs.
type Options struct {
	Home    string              // the user's; needed
	Getenv  func(string) string // needed
	Dir     string              // where the user is, whose project's files count; "" for none
	State   string              // directory of our own for what Undo needs; needed
	Connect string              // path of lamplighter-connect; "" when it is not there
	// Socket is where lamplighter-connect is to connect to, as entries have to say
	// it; "" when it finds that without being told. What an entry says then stays.
	Socket string

	// Programs lists the programs that run, to find clients. Default: those of the
	// process table.
	Programs func() ([]process.Info, error)
	// LookPath finds the program of a command, as a client would. Default: that of
	// os/exec, and the places where installers put programs.
	LookPath func(command string) (string, error)
	// PageOpens reports whether Serena opens its own page unless it is told otherwise.
	// Default: what Serena's settings say.
	PageOpens func() bool
	Now       func() time.Time // default: time.Now
}

// Setup knows the settings of MCP clients. It is safe for concurrent use, also by
// several processes.
type Setup struct {
	o       Options
	written func(path string) // called after a file was written; for tests
}

// New returns a Setup. It looks at nothing yet.
func New(o Options) *Setup { return &Setup{o: o} }

func (s *Setup) now() time.Time {
	if s.o.Now != nil {
		return s.o.Now()
	}
	return time.Now()
}
