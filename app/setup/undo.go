package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// recorded are the files that were changed and are no places any more, or were
// named: those that all lists are left out.
func recorded(rec *record, w Wanted, all []place) []place {
	if w.File != "" {
		return nil
	}
	var list []place
	for _, path := range rec.paths() {
		steps := rec.steps(path)
		client := ""
		if len(steps) > 0 {
			client = steps[len(steps)-1].Client
		}
		is := func(p place) bool { return targetOf(p.Path) == path }
		if w.Client != "" && client != w.Client || slices.ContainsFunc(all, is) {
			continue
		}
		list = append(list, guess(client, path, Project))
	}
	return list
}

// reversal is how a file comes back to what it was.
type reversal struct {
	cur     []byte             // the file, as far as it is reversed
	doc     *document.Document // of cur
	entries []clients.Server   // of cur, as it was parsed
	// done are the entries that are written: the words, or nil where the file's own
	// text was put back.
	done map[string][]string
	left map[string]Entry
	// asBefore are the entries that are as they were before setup has changed them.
	asBefore map[string]bool
	// byWords tells that entries were taken apart of which no text is known.
	byWords bool
}

// take takes lamplighter-connect out of a file.
func (r run) take(p place, c *Change) (edit, error) {
	set, err := r.read(p, c)
	if err != nil {
		return edit{}, err
	}
	steps := r.rec.steps(set.file.Target)
	r.others = map[string]bool{}
	for _, e := range set.entries {
		r.others[document.Key(e.Path)] = r.isOthers(e)
	}
	v := reversal{cur: set.file.Content, done: map[string][]string{}, left: map[string]Entry{}, asBefore: map[string]bool{}}
	if err := r.prune(set.file, c); err != nil {
		return edit{}, err
	}
	steps = steps[:happened(steps, set.file.Content)]
	back := len(steps) // those from here on are undone as a whole
	if r.allChosen(set.entries) {
		for ; back > 0 && isSum(v.cur, steps[back-1].After); back-- {
			content, ok := backupOf(steps[back-1])
			if !ok {
				break
			}
			v.cur = content
			for _, se := range steps[back-1].Entries {
				v.asBefore[document.Key(se.Path)] = true
			}
		}
	}
	if v.doc, err = document.Parse(p.Format, v.cur, p.Tables); err != nil {
		return edit{}, unparsed(p, err)
	}
	v.entries = p.servers(v.doc)
	r.bySources(&v, steps[:back])
	r.byWords(&v, p, steps[:back])
	e := edit{settings: set, after: v.doc.Bytes()}
	if e.final, err = check(p, e.after, v.entries, v.done); err != nil {
		return edit{}, err
	}
	if r.w.Uninstall {
		r.leaveRest(&v, e.final)
	}
	e.changed = differing(set.entries, e.final)
	for _, key := range slices.Sorted(maps.Keys(v.left)) {
		e.left = append(e.left, v.left[key])
	}
	if !bytes.Equal(e.after, set.file.Content) {
		if err := r.expected(p); err != nil {
			return e, err
		}
		if err := set.file.Writable(); err != nil {
			return e, err
		}
	}
	c.Whole = len(steps) > 0 && isSum(e.after, steps[0].Before)
	return e, r.finish(e, v, steps, back, c)
}

// finish writes what was reversed, then the record, and then removes the backups
// that nobody needs.
func (r run) finish(e edit, v reversal, steps []step, back int, c *Change) error {
	if !c.Whole {
		for _, st := range steps[:back] {
			if _, there := backupOf(st); there {
				c.Backup = st.Backup
				break
			}
		}
	}
	if r.w.DryRun {
		return nil
	}
	if !bytes.Equal(e.after, e.file.Content) {
		var err error
		// What is taken apart by its words may have had comments in it.
		made := v.byWords && c.Backup == "" && !c.Whole
		if made {
			if c.Backup, err = e.file.Backup(); err != nil {
				return err
			}
		}
		if err := r.replace(e.file, e.after); err != nil {
			if made {
				err = errors.Join(err, foreignfile.RemoveBackup(c.Backup, e.file.Content))
				c.Backup = ""
			}
			return err
		}
		written := map[string][]string{}
		for _, entry := range e.changed {
			written[document.Key(entry.Path)] = wordsOf(entry)
		}
		if err := r.still(e.place, written); err != nil {
			c.Written = true
			return err // what undo needs stays
		}
	}
	if err := r.dropUndone(e, v, steps, back, c); err != nil {
		c.Written = !bytes.Equal(e.after, e.file.Content)
		what := "there is nothing left to undo in " + monitor.Clean(e.Path)
		switch {
		case c.Written && c.Whole:
			what = monitor.Clean(e.Path) + " was put back as it was"
		case c.Written:
			what = "lamplighter-connect was taken out of " + monitor.Clean(e.Path)
		}
		return fmt.Errorf("%s, but that could not be noted: %w", what, err)
	}
	return nil
}

// dropUndone takes out of the record what is undone, the newest step first: those
// from back on with their backups.
func (r run) dropUndone(e edit, v reversal, steps []step, back int, c *Change) error {
	for _, st := range slices.Backward(steps[back:]) {
		if err := r.rec.drop(st); err != nil {
			return err
		}
		r.removeBackup(st)
	}
	if c.Whole {
		return r.forget(steps[:back], 0, e.after, c)
	}
	for _, st := range slices.Backward(steps[:back]) {
		if r.remains(v, st, e.final) {
			continue
		}
		if err := r.rec.drop(st); err != nil {
			return err
		}
	}
	return nil
}

// remains reports whether an entry of a step still runs lamplighter-connect, and did
// not before setup came.
func (r run) remains(v reversal, st step, entries []clients.Server) bool {
	return slices.ContainsFunc(entries, func(e clients.Server) bool {
		_, ours, _ := readConnection(r.m.goos, wordsOf(e))
		return ours && !v.asBefore[document.Key(e.Path)] && slices.ContainsFunc(st.Entries, func(se stepEntry) bool { return slices.Equal(se.Path, e.Path) })
	})
}

// allChosen reports whether all that is ours in a file is meant.
func (r run) allChosen(entries []clients.Server) bool {
	return !slices.ContainsFunc(entries, func(e clients.Server) bool {
		_, ours, _ := readConnection(r.m.goos, wordsOf(e))
		return ours && !r.chosen(e.Path)
	})
}

func (r run) chosen(path []string) bool {
	return !r.others[document.Key(path)] && (len(r.w.Servers) == 0 || r.named(path))
}

// isOthers reports whether an entry is left to another installation, which stays when
// this one goes.
func (r run) isOthers(e clients.Server) bool {
	c, ours, why := readConnection(r.m.goos, wordsOf(e))
	return r.w.Uninstall && ours && why == "" && r.m.stateOf(c) == Other
}

func (r run) named(path []string) bool { return slices.Contains(r.w.Servers, path[len(path)-1]) }

// bySources puts back the text of entries where it is still what a step has
// written, the newest step first.
func (r run) bySources(v *reversal, steps []step) {
	settled := maps.Clone(v.asBefore)
	for _, st := range slices.Backward(steps) {
		for _, se := range slices.Backward(st.Entries) {
			key := document.Key(se.Path)
			if len(se.Path) == 0 || !r.chosen(se.Path) {
				continue
			}
			now, err := v.doc.Source(se.Path)
			v.asBefore[key] = false // until the oldest step of it is undone
			switch {
			case err == nil && now == se.After:
				if err := v.doc.Restore(se.Path, se.Before); err != nil {
					v.left[key] = gone(se.Path, "How it was before cannot be put back: "+monitor.Clean(err.Error())+".")
					continue // with its words, it may be taken apart
				}
				v.done[key] = nil
				settled[key], v.asBefore[key] = true, true
			case err == nil && now == se.Before:
				settled[key], v.asBefore[key] = true, true // it is undone already
			case err != nil:
				v.left[key] = gone(se.Path, "It is no longer in the file, or cannot be understood.")
			default:
				v.left[key] = gone(se.Path, "It has been changed since, and no longer runs lamplighter-connect.")
			}
		}
	}
	for key := range settled {
		delete(v.left, key)
	}
}

// byWords takes apart what still is ours: the command behind connect is what the
// client would run. Where the record knows what setup has written, this is done
// for that alone, and for what is asked for; in a file that others may use always.
func (r run) byWords(v *reversal, p place, steps []step) {
	before := wordsBefore(p, v.doc.Bytes(), steps)
	asked := r.w.File != "" || r.w.Project && p.Scope == Project && !p.Above // for this file
	for _, e := range p.servers(v.doc) {
		c, ours, why := readConnection(r.m.goos, wordsOf(e))
		if !ours || !r.chosen(e.Path) || r.isOthers(e) {
			continue
		}
		key := document.Key(e.Path)
		delete(v.left, key)
		words, recorded := before[key]
		switch {
		case why != "":
			v.left[key] = r.leftAlone(e, monitor.Sentence(why))
			continue
		case !recorded && p.Scope == Project && !p.guessed && !asked:
			undo := "lamplighter setup --undo --project"
			if p.Above {
				undo = r.takesOut(p, e)
			}
			v.left[key] = r.leftAlone(e, "Others may use this file, and setup has not written this. "+undo+" takes it out all the same.")
			continue
		case r.whole && !r.named(e.Path) && !r.w.Uninstall && (v.asBefore[key] || !recorded && !asked):
			v.left[key] = r.leftAlone(e, "Setup did not write it, as far as its record goes. To take it out: "+r.takesOut(p, e)+".")
			continue
		}
		words = r.withoutSetup(c, words, r.named(e.Path))
		if err := v.doc.Set(e.Path, words[0], words[1:]); err != nil {
			v.left[key] = r.leftAlone(e, monitor.Sentence(monitor.Clean(err.Error())))
			continue
		}
		v.done[key] = words
		v.byWords = true
	}
}

// leaveRest notes the entries that still run a program of ours, in a way that cannot
// be taken apart: within a shell, or another verb of it.
func (r run) leaveRest(v *reversal, final []clients.Server) {
	for _, e := range final {
		words := wordsOf(e)
		if !runsUs(words) {
			continue
		}
		state := Shared
		if named := monitor.ProgramName(words[0]); named == mainProgram || named == connectProgram {
			state = r.m.stateOf(connection{program: words[0]})
		}
		if state == Other {
			continue
		}
		key := document.Key(e.Path)
		left, known := v.left[key]
		if !known {
			left = r.leftAlone(e, "It runs a program of Lamplighter, and would not start any more. Remove the entry, or what in it names Lamplighter.")
		}
		left.State = state
		v.left[key] = left
	}
}

// leftAlone is an entry that undo does not touch.
func (r run) leftAlone(e clients.Server, why string) Entry {
	shown := r.m.judge(e, Wanted{}, "").Entry
	shown.Becomes, shown.Why = "", why
	return shown
}

// gone is an entry of which nothing is known but its path.
func gone(path []string, why string) Entry {
	e := Entry{State: Odd, Why: why}
	for _, name := range path {
		e.Path = append(e.Path, monitor.Clean(name))
	}
	e.Name = e.Path[len(e.Path)-1]
	return e
}

// takesOut is the command that takes out an entry that setup has not written.
func (r run) takesOut(p place, e clients.Server) string {
	words := []string{"lamplighter", "setup", "--undo", "--server", nameOf(e)}
	if p.Client == "" || p.guessed || p.Scope == Project {
		return monitor.Quoted(append(words, "--file", p.Path))
	}
	return monitor.Quoted(slices.Insert(words, 2, p.Client))
}

// withoutSetup is a command of ours as it was before setup: before are its words
// then, nil when they are not known. Where it was behind another
// lamplighter-connect then, that comes back, unless all is to go.
func (r run) withoutSetup(c connection, before []string, all bool) []string {
	if before == nil {
		return c.unwrap()
	}
	other, ours, why := readConnection(r.m.goos, before)
	if ours && why == "" && !all && !(r.w.Uninstall && r.m.stateOf(other) != Other) {
		other.command = reopenPage(r.m.goos, c.command, other.command)
		return slices.Concat(other.shell, []string{other.program, connectVerb}, other.flags, []string{"--"}, other.command)
	}
	return reopenPage(r.m.goos, c.unwrap(), before)
}

// wordsBefore are the commands of the entries of steps before the oldest one, by
// their paths: nil for one whose text says none any more.
func wordsBefore(p place, content []byte, steps []step) map[string][]string {
	words, restored := map[string][]string{}, map[string]bool{}
	if len(steps) == 0 {
		return words
	}
	doc, err := document.Parse(p.Format, content, p.Tables)
	for _, st := range steps {
		for _, se := range st.Entries {
			key := document.Key(se.Path)
			if _, ok := words[key]; ok {
				continue
			}
			words[key] = nil
			restored[key] = err == nil && doc.Restore(se.Path, se.Before) == nil
		}
	}
	if err != nil {
		return words
	}
	for _, e := range doc.Servers() {
		if restored[document.Key(e.Path)] && e.Command != "" {
			words[document.Key(e.Path)] = wordsOf(e)
		}
	}
	return words
}
