package installer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lamplighter/monitor/statefile"
)

// phase is how far an installation has come.
type phase string

const (
	staging    phase = "staging"    // nothing is in its place yet
	committing phase = "committing" // what is in its place is to be taken back
	committed  phase = "committed"  // all is in its place, what was set aside is to go
)

const (
	journalName = "install.journal"
	journalForm = 1 // no other has ever been written
)

// journal says what is under way, so that whoever finds it can take it back or
// finish it: install.journal in the state directory.
type journal struct {
	Form    int      `json:"form"`
	Phase   phase    `json:"phase"`
	Home    string   `json:"home,omitempty"` // as in Receipt
	Words   []string `json:"words"`          // the changes
	Folders []string `json:"folders"`        // that are made, a directory before what is in it
	Steps   []step   `json:"steps"`
	// What is done once all is in its place.
	Receipt *Receipt `json:"receipt,omitempty"` // nil: it stays as it is
	Forget  bool     `json:"forget,omitempty"`  // it goes instead
	Gone    []string `json:"gone,omitempty"`    // directories that go with it when they are empty
}

// step is one change of a file or a value, and what is needed to take it back.
type step struct {
	Change  int    `json:"-"` // in the plan
	Op      Op     `json:"op"`
	Path    string `json:"path"`
	Staged  string `json:"staged,omitempty"` // what is to be put there, written already; "" for nothing
	Existed bool   `json:"existed,omitempty"`
	Aside   string `json:"aside,omitempty"` // where what was there is
	Was     string `json:"was,omitempty"`   // what was there, as found has it; "" for not known
	Backup  bool   `json:"backup,omitempty"`
	SHA256  string `json:"sha256,omitempty"` // as in InstalledFile, of what is put there
	Link    string `json:"link,omitempty"`
	Name    string `json:"name,omitempty"` // of a value
	Before  *value `json:"before,omitempty"`
	After   *value `json:"after,omitempty"`
}

// tree is a directory that is to go. No journal names one: whoever finds that of an
// uninstallation that was killed has perhaps written there since, and is asked anew.
type tree struct {
	Path  string
	Keep  []string
	Known bool
}

// corruptSuffix ends the names of journals that could not be read.
const corruptSuffix = ".corrupt"

// unreadable reports whether a journal was put aside that could not be read. What
// installations have set aside may be all that is left of it then.
func (i *Installer) unreadable() bool { return there(i.journalPath() + corruptSuffix) }

func (i *Installer) journalPath() string { return filepath.Join(i.o.StateDir, journalName) }

// interrupted reports whether there is a journal: something is under way, or was.
func (i *Installer) interrupted() bool {
	if i.o.StateDir == "" {
		return false
	}
	_, err := os.Lstat(i.journalPath())
	return err == nil
}

// journal reads the journal; nil for none.
func (i *Installer) journal() (*journal, error) {
	if i.o.StateDir == "" {
		return nil, nil
	}
	data, err := statefile.Read(i.journalPath(), receiptLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure("it cannot be read:", i.journalPath(), err)
	}
	j, err := parseJournal(data)
	if err != nil {
		return nil, err
	}
	j.move(i.o.Home)
	return j, nil
}

// errJournal says that a file cannot be a journal.
var errJournal = errors.New("it is not what lamplighter install has written there")

func parseJournal(data []byte) (*journal, error) {
	j := new(journal)
	if err := json.Unmarshal(data, j); err != nil {
		return nil, fmt.Errorf("%w (%w)", errJournal, err)
	}
	if j.Form != journalForm || j.Phase != staging && j.Phase != committing && j.Phase != committed {
		return nil, fmt.Errorf("%w: its form is not known", errJournal)
	}
	paths := append(append([]string(nil), j.Folders...), j.Gone...)
	for _, s := range j.Steps {
		if s.Op == OpSetValue || s.Op == OpDeleteValue {
			continue
		}
		paths = append(paths, s.Path)
		// What is removed beside a file has a name that only an installation makes.
		for name, ok := range map[string]bool{
			s.Staged: s.Staged == beside(s.Path, stagedSuffix),
			s.Aside:  isAside(s.Aside, s.Path),
		} {
			if name != "" && !ok {
				return nil, fmt.Errorf("%w: %s does not belong to %s", errJournal, shown(name), shown(s.Path))
			}
		}
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return nil, fmt.Errorf("%w: %s is not a whole path", errJournal, shown(path))
		}
	}
	if j.Receipt != nil {
		data, err := j.Receipt.encode()
		if err != nil {
			return nil, err
		}
		if _, err := parseReceipt(data); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// move makes the journal one of a home directory that lies elsewhere now. Perhaps
// that is a copy: what lies outside of it belongs to the other one then, and stays.
func (j *journal) move(home string) {
	if j.Home == "" || home == "" || j.Home == home {
		return
	}
	from := j.Home
	for n := range j.Steps {
		s := &j.Steps[n]
		for _, path := range []*string{&s.Path, &s.Staged, &s.Aside, &s.Link} {
			*path = moved(*path, from, home)
		}
	}
	for _, list := range [][]string{j.Folders, j.Gone} {
		for n := range list {
			list[n] = moved(list[n], from, home)
		}
	}
	outside := func(path string) bool { return !within(path, home) }
	j.Steps = slices.DeleteFunc(j.Steps, func(s step) bool {
		return s.Op != OpSetValue && s.Op != OpDeleteValue && outside(s.Path)
	})
	j.Folders, j.Gone = slices.DeleteFunc(j.Folders, outside), slices.DeleteFunc(j.Gone, outside)
	if j.Receipt != nil {
		j.Receipt.move(home)
	}
	j.Home = home
}

// save writes the journal. After an error the one from before stands.
func (t *transaction) save() error {
	if err := t.i.at("journal " + string(t.j.Phase)); err != nil {
		return err
	}
	data, err := json.MarshalIndent(t.j, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(t.i.journalPath(), append(data, '\n'))
}

// replaceFile writes a file of ours, see statefile.Replace.
func replaceFile(path string, data []byte) error {
	if err := statefile.Replace(path, data); err != nil {
		return failure("it cannot be written:", path, err)
	}
	// The new one stands, whether or not the system has written that down yet.
	_ = statefile.SyncDir(filepath.Dir(path))
	return nil
}
