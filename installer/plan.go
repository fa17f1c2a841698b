package installer

import (
	"context"
	"io/fs"
)

// Op is what a change does.
type Op string

// What changes do.
const (
	OpWrite       Op = "write"        // Content into the file Path
	OpCopy        Op = "copy"         // the file From to Path
	OpLink        Op = "link"         // make Path a symbolic link to From
	OpRemove      Op = "remove"       // the file or link Path
	OpRemoveTree  Op = "remove_tree"  // the directory Path with all that is in it
	OpSetValue    Op = "set_value"    // Windows: the text Content as the value Name of the registry key Path, "HKCU\…"
	OpDeleteValue Op = "delete_value" // Windows: the value Name of the registry key Path
	OpRun         Op = "run"          // the command Command
)

// Change is one thing that a plan does.
type Change struct {
	Op      Op
	Path    string
	From    string
	Name    string
	Content []byte
	Mode    fs.FileMode // of a file that is written or copied, 0 for 0o644
	Command []string
	// GUI: the copy of a Windows program is made one without a console, by its
	// subsystem. Source: "Optional Header Windows-Specific Fields" of the PE
	// format.
	GUI bool
	// Backup keeps what lay there, which is not ours, as Path + BackupSuffix.
	Backup bool
	// Optional: that it fails is told and stops nothing, as where no manager
	// runs that could be told of a new unit.
	Optional bool
	// Keep are the names right below the directory Path that OpRemoveTree leaves, and
	// the directory with them. Workspaces are left only when there are any.
	Keep []string
	// Known makes OpRemoveTree remove only what Lamplighter has written, as far as
	// that can be told, where the directory is one that the user chose.
	Known bool
	// Why is the reason in words, for a dry run: "so that it starts with the desktop".
	Why string
	// was is what lay at Path when the plan was made, as found has it; "" for not
	// known.
	was string
}

// BackupSuffix ends the names of files that were put aside for ours.
const BackupSuffix = ".lamplighter-backup"

// Plan is a list of changes, and what the user should know about them. It is
// carried out in its order, except that trees are removed last, and commands run
// once the files are in place. A plan without changes says that all is as it
// should be.
type Plan struct {
	Changes []Change
	Notes   []string // sentences
	// receipt is what is remembered once the plan is carried out; nil: what is
	// remembered already.
	receipt *Receipt
	// forget removes the receipt instead.
	forget bool
	// base is the digest of the receipt that the plan was made from, and remake
	// makes the plan again when that is not the one any more.
	base   string
	remake func(ctx context.Context) (Plan, error)
}
