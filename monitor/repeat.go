package monitor

// Repeat is what servers have in common that are one server, started several times by
// one living client.
type Repeat struct {
	client    Identity
	kind      string
	project   string
	directory string
	sum       uint64 // of the command line
	entry     string
}

// Repeat says what the instance has in common with others like it, if it can have any: it
// is known for certain, and its client lives. A session is its client's own by agreement,
// and what clients share is there once.
func (in *Instance) Repeat() (Repeat, bool) {
	if !in.Recognised || in.Managed || in.Sharing != nil || in.Client == nil || in.Client.PID == 0 || in.Evidence.ClientGone || in.Evidence.Orphaned || in.Cause == CauseDefunct {
		return Repeat{}, false
	}
	if in.Kind == KindSerena && in.ProjectRoot == "" {
		return Repeat{}, false // it may be about to work on any
	}
	r := Repeat{client: in.Client.Identity, kind: in.Kind, project: in.ProjectRoot, directory: in.Directory, sum: in.Sum}
	if in.Entry != nil {
		r.entry = in.Entry.File + "\n" + in.Entry.Name
	}
	return r, true
}
