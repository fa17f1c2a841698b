// Command gen writes what lies around the programs in packages: man pages and
// completions made from the command line itself, systemd units, the menu entry
// and the mark by which the program knows how it was installed.
//
//	go run ./installer/gen --kind deb --version 1.2.3 DIR
//
// DIR stands for /usr, or for the top of an archive. The same arguments and
// SOURCE_DATE_EPOCH give the same bytes. It is for build/package.sh and is in no
// package itself.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/cli"
	"lamplighter/installer"
)

func main() {
	if err := run(os.Args[1:], os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string) error {
	set := flag.NewFlagSet("gen", flag.ContinueOnError)
	kind := set.String("kind", "", "deb, rpm or archive")
	version := set.String("version", "", "of the package")
	if err := set.Parse(args); err != nil {
		return err
	}
	if !slices.Contains([]string{"deb", "rpm", "archive"}, *kind) || *version == "" || set.NArg() != 1 {
		return errors.New("want --kind deb|rpm|archive, --version VERSION and a directory to write to")
	}
	date, err := epoch(getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	files, err := around(*kind, *version, date)
	if err != nil {
		return err
	}
	return write(set.Arg(0), files)
}

// epoch is the time that the files speak of. Source:
// https://reproducible-builds.org/specs/source-date-epoch/
func epoch(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// around gives all files by their paths below the directory.
func around(kind, version string, date time.Time) (map[string][]byte, error) {
	root := cli.Command(version)
	files := map[string][]byte{"share/lamplighter/package": []byte(kind + "\n")}
	if err := completions(root, files); err != nil {
		return nil, err
	}
	pages(root, version, date, files)
	if kind == "archive" { // what installs from it writes these itself
		return files, nil
	}
	return files, entries("/usr/bin/lamplighter", files)
}

// entries are what starts the program: the units that users may enable, and the
// menu entry.
func entries(program string, files map[string][]byte) error {
	service, err := installer.ServiceUnit(program, false)
	if err != nil {
		return err
	}
	menu, err := installer.MenuEntry(program)
	if err != nil {
		return err
	}
	files["lib/systemd/user/lamplighter.service"] = []byte(service)
	files["lib/systemd/user/lamplighter.socket"] = []byte(installer.SocketUnit())
	files["share/applications/lamplighter.desktop"] = []byte(menu)
	return nil
}

func write(dir string, files map[string][]byte) error {
	for name, data := range files {
		if !fs.ValidPath(name) || strings.Contains(name, `\`) {
			return fmt.Errorf("%q is no path for a file of a package", name)
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
