package monitor

// Repeat is what servers have in common that are one server, started several times by
// one living client.
type Repeat struct {
	client  Identity
	kind    string
	project string
	entry   Entry  // or, where none is known,
	command string // what it runs
}

// Repeat says what the instance has in common with others like it, if it can have any: it
// is known for certain, and its client lives. A session is its client's own by agreement,
// and what clients share is there once.
func (in *Instance) Repeat() (Repeat, bool) {
	if !in.Recognised || in.Managed || in.Client == nil || in.Client.PID == 0 || in.Evidence.ClientGone || in.Evidence.Orphaned || in.Cause == CauseDefunct {
		return Repeat{}, false
	}
	r := Repeat{client: in.Client.Identity, kind: in.Kind, project: in.ProjectRoot, command: in.Command}
	switch {
	case in.Kind == KindSerena && r.project == "":
		return Repeat{}, false // it may be about to work on any
	case in.Kind == KindSerena:
		r.command = ""
	case in.Entry != nil:
		r.entry, r.command = Entry{Name: in.Entry.Name, File: in.Entry.File}, ""
	case r.command == "" && r.project == "":
		return Repeat{}, false
	}
	return r, true
}
