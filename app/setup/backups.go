package setup

import (
	"bytes"
	"slices"

	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor/clients"
)

// Backups belong to steps of the record: each is the file as it was before one.

func isSum(content []byte, want string) bool { return sum(content) == want }

// happened is how many of the steps, the oldest first, have been taken: a file
// that is as it was before one of them never got it, or has been put back.
func happened(steps []step, content []byte) int {
	now := sum(content)
	if i := slices.IndexFunc(steps, func(st step) bool { return st.Before == now }); i >= 0 {
		return i
	}
	return len(steps)
}

// prune takes out of the record what has not happened or was put back by others.
func (r run) prune(file *foreignfile.File, c *Change) error {
	if r.w.DryRun {
		return nil
	}
	steps := r.rec.steps(file.Target)
	return r.forget(steps, happened(steps, file.Content), file.Content, c)
}

// forget drops the steps of a file from one on, the newest first. Of their backups
// it removes those whose text is the file's now, or was written by setup, so that
// nobody misses it. The others have a text that may be nowhere else: they stay, and
// are in c.Kept.
func (r run) forget(steps []step, from int, now []byte, c *Change) error {
	for _, st := range slices.Backward(steps[from:]) {
		if err := r.rec.drop(st); err != nil {
			return err
		}
		_, there := backupOf(st)
		switch {
		case !there: // or somebody's own by now
		case isSum(now, st.Before), slices.ContainsFunc(steps, func(other step) bool { return other.After == st.Before }):
			r.removeBackup(st)
		default:
			c.Kept = append(c.Kept, st.Backup)
		}
	}
	return nil
}

// forgetReplaced drops the steps of a file that has been replaced by another since:
// their backup is not there any more, and no entry of theirs runs
// lamplighter-connect. Undo could make nothing of them, and would take the backup
// that comes next for theirs.
func (r run) forgetReplaced(set settings) error {
	for _, st := range slices.Backward(r.rec.steps(set.file.Target)) {
		if _, there := backupOf(st); there || r.remains(reversal{}, st, set.entries) {
			continue
		}
		if err := r.rec.drop(st); err != nil {
			return err
		}
	}
	return nil
}

// removeBackup removes the backup of a step that is undone, unless somebody has
// changed it. One that cannot be removed is in nobody's way.
func (r run) removeBackup(st step) {
	if content, ok := backupOf(st); ok {
		_ = foreignfile.RemoveBackup(st.Backup, content)
	}
}

// backupOf reads the backup of a step, if it is there and as it was.
func backupOf(st step) ([]byte, bool) {
	if st.Backup == "" {
		return nil, false
	}
	file, err := foreignfile.Read(st.Backup)
	if err != nil || !isSum(file.Content, st.Before) {
		return nil, false
	}
	return bytes.Clone(file.Content), true
}

// lost is the oldest backup of a place whose file has gone, "" for none.
func (r run) lost(p place) string {
	for _, st := range r.rec.steps(targetOf(p.Path)) {
		if clients.IsThere(st.Backup) {
			return st.Backup
		}
	}
	return ""
}

// mayBeOurs reports whether there may be something of ours in a file that cannot be
// understood; file is nil when it cannot even be read.
func (r run) mayBeOurs(p place, file *foreignfile.File) bool {
	return len(r.rec.steps(targetOf(p.Path))) > 0 || file != nil && bytes.Contains(bytes.ToLower(file.Content), []byte(mainProgram))
}
