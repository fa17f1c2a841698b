package installer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lamplighter/monitor/statefile"
)

// Receipt is what an installation by hand has put where: install.json in the
// state directory. Taking it away goes by it.
type Receipt struct {
	Version     string    `json:"version"` // of the program
	InstalledAt time.Time `json:"installed_at"`
	// Program is the executable of the installation.
	Program string `json:"program,omitempty"`
	// Home is the home directory as it was then: what lay below it has moved
	// with it.
	Home     string `json:"home,omitempty"`
	Headless bool   `json:"headless,omitempty"`
	// Files are those that were written, in the order in which they were.
	Files []InstalledFile `json:"files"`
	// Directories are those that were made for them, the deepest first.
	Folders []string `json:"folders"`
	// Unfinished holds the changes that may or may not have been made when an
	// installation was interrupted, in words. It is read from the journal.
	Unfinished []string `json:"-"`
}

// InstalledFile is one file of an installation.
type InstalledFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"` // in hex; empty for a link
	Link   string `json:"link,omitempty"`   // where it leads
}

const (
	receiptName = "install.json"
	// receiptLimit bounds what is read of a receipt or a journal, in bytes.
	receiptLimit = 4 << 20
)

// errReceipt says that a file cannot be a receipt.
var errReceipt = errors.New("it is not what lamplighter install has written there")

func (i *Installer) receiptPath() string { return filepath.Join(i.o.StateDir, receiptName) }

// loadReceipt reads the receipt; nil when there is none. The digest is of its bytes.
func (i *Installer) loadReceipt() (r *Receipt, digest string, err error) {
	if i.o.StateDir == "" {
		return nil, "", nil
	}
	data, err := statefile.Read(i.receiptPath(), receiptLimit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("the receipt of the installation cannot be read: %w", err)
	}
	if isForeignReceipt(data) {
		return nil, "", fmt.Errorf("%s is in the way: %w. Move it away", shown(i.receiptPath()), ErrForeign)
	}
	r, err = parseReceipt(data)
	if err != nil {
		return nil, hashOf(data), fmt.Errorf("the receipt of the installation, %s, cannot be used: %w; run lamplighter install, which writes it anew", shown(i.receiptPath()), err)
	}
	r.move(i.o.Home)
	return r, hashOf(data), nil
}

// readReceipt is the receipt; nil for none.
func (i *Installer) readReceipt() (*Receipt, error) {
	r, _, err := i.loadReceipt()
	return r, err
}

// isForeignReceipt reports whether a file is whole, and is of somebody else: one of
// ours that was damaged is written anew.
func isForeignReceipt(data []byte) bool {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return json.Valid(data)
	}
	return object["files"] == nil && object["folders"] == nil
}

// parseReceipt takes only what can be a receipt: what it names is removed by it.
func parseReceipt(data []byte) (*Receipt, error) {
	r := new(Receipt)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%w (%w)", errReceipt, err)
	}
	paths := append([]string(nil), r.Folders...)
	for _, f := range r.Files {
		if f.SHA256 == "" && f.Link == "" {
			return nil, fmt.Errorf("%w: it does not say what %s is", errReceipt, shown(f.Path))
		}
		paths = append(paths, f.Path)
	}
	if r.Program != "" {
		paths = append(paths, r.Program)
	}
	if r.Home != "" {
		paths = append(paths, r.Home)
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return nil, fmt.Errorf("%w: %s is not a whole path", errReceipt, shown(path))
		}
	}
	return r, nil
}

// move makes the receipt one of a home directory that lies elsewhere now.
func (r *Receipt) move(home string) {
	if r.Home == "" || home == "" || r.Home == home {
		return
	}
	for n := range r.Files {
		r.Files[n].Path = moved(r.Files[n].Path, r.Home, home)
		r.Files[n].Link = moved(r.Files[n].Link, r.Home, home)
	}
	for n := range r.Folders {
		r.Folders[n] = moved(r.Folders[n], r.Home, home)
	}
	r.Program = moved(r.Program, r.Home, home)
	r.Home = home
}

func moved(path, from, to string) string {
	if rest, ok := strings.CutPrefix(path, from+string(filepath.Separator)); ok {
		return filepath.Join(to, rest)
	}
	return path
}

// file is the entry of a path, nil for none.
func (r *Receipt) file(path string) *InstalledFile {
	if r == nil {
		return nil
	}
	for n := range r.Files {
		if r.Files[n].Path == path {
			return &r.Files[n]
		}
	}
	return nil
}

// same reports whether two receipts remember the same, but for when it was, for
// directories and for the order of files.
func (r *Receipt) same(other *Receipt) bool {
	if r == nil || other == nil {
		return r == other
	}
	if r.Version != other.Version || r.Program != other.Program || r.Home != other.Home || r.Headless != other.Headless || len(r.Files) != len(other.Files) {
		return false
	}
	for _, f := range r.Files {
		if g := other.file(f.Path); g == nil || *g != f {
			return false
		}
	}
	return true
}

// encode is the receipt as it is written.
func (r *Receipt) encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digestFile is the digest of a regular file's content. A link is not followed.
func digestFile(path string) (string, error) {
	file, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
