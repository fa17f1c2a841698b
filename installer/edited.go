package installer

import (
	"bytes"
	"fmt"
)

// keepEdited puts what is ours by its mark, and was edited since, aside where the
// plan would replace or remove it: known are the digests of what was put there.
func (i *Installer) keepEdited(p *Plan, known map[string]bool) {
	for n := range p.Changes {
		c := &p.Changes[n]
		if c.Backup || c.Op != OpWrite && c.Op != OpRemove || !isPlain(c.Path) {
			continue
		}
		text, err := readSmall(c.Path)
		if err != nil || !isOurs(text) || known[hashOf(text)] || i.wouldWrite(text) {
			continue
		}
		c.Backup = true
		p.note(fmt.Sprintf("%s was changed since it was written, and is put aside as %s.", shown(c.Path), shown(c.Path+BackupSuffix)))
	}
}

// wouldWrite reports whether a text is one that this version writes for the program
// that it names: by that what is in no receipt is known. Settings of desktops that
// switch an entry change no more than two keys, and drop comments.
func (i *Installer) wouldWrite(text []byte) bool {
	same := func(want string, err error) bool { return err == nil && bytes.Equal(text, marked(want)) }
	if same(SocketUnit(), nil) {
		return true
	}
	if a, err := parseAgent(string(text)); err == nil {
		for _, socket := range []string{"", i.userSocket()} {
			if want, err := launchAgent(a.program, socket); err == nil && bytes.Equal(text, markedList(want)) {
				return true
			}
		}
		return false
	}
	if program := serviceProgram(parseUnit(string(text)), i.o.Home).program; program != "" {
		return same(ServiceUnit(program, false)) || same(ServiceUnit(program, true))
	}
	keys := parseEntry(string(text))
	program := entryProgram(keys["Exec"])
	if same(MenuEntry(program)) {
		return true
	}
	switched := func(want string, err error) bool {
		if err != nil {
			return false
		}
		other := parseEntry(want)
		for _, key := range []string{"Hidden", "X-GNOME-Autostart-enabled"} {
			delete(other, key)
			delete(keys, key)
		}
		if len(other) != len(keys) {
			return false
		}
		for key, value := range other {
			if keys[key] != value {
				return false
			}
		}
		return bytes.Count(text, []byte("\n#")) == 0 && bytes.Count(text, []byte("\n[")) <= 1
	}
	return switched(hiddenEntry(), nil) || switched(autostartEntry(program, true)) || switched(autostartEntry(program, false))
}
