package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"lamplighter/installer"
)

// Installer tells how this program came here and what starts it at login:
// *installer.Installer.
type Installer interface {
	Installed() (installer.Installation, error)
	Login() installer.Login
	PlanLogin(ctx context.Context, on bool) (installer.Plan, error)
}

// installedFacts are how this program came to where it is.
type installedFacts struct {
	installer.Installation
	err     error
	command string // what to type for this program
	gone    string // a file that the receipt names and that is not there; "" for none
}

func gatherInstalled(w world) installedFacts {
	f := installedFacts{Installation: w.installed, err: w.installedErr, command: w.command}
	if f.Receipt == nil {
		return f
	}
	for _, file := range f.Receipt.Files {
		if _, err := os.Lstat(file.Path); errors.Is(err, fs.ErrNotExist) && f.gone == "" {
			f.gone = file.Path
		}
	}
	return f
}

func judgeInstalled(f installedFacts) []Line {
	again := "Install again, which completes it: " + f.command + " install"
	var lines []Line
	switch {
	case f.err != nil:
		return []Line{{Mark: Broken, Text: f.err.Error(), Means: "What is installed is not known, and uninstall could not take it away.", Do: "Install again: " + f.command + " install"}}
	case f.Unfinished:
		lines = append(lines, Line{
			Mark: Broken, Text: "an installation was interrupted", Means: "Some of its files may be those of the version before.", Do: again,
		})
	case f.gone != "":
		lines = append(lines, Line{
			Mark: Warn, Text: "something that was installed is not there any more: " + f.gone, Means: "Somebody has removed it since.",
			Do: "Put it back: " + f.command + " install. Take the rest away: " + f.command + " uninstall",
		})
	}
	switch f.Kind {
	case installer.Package:
		lines = append(lines, Line{Mark: OK, Text: "it came with " + packageWords(f.How)})
	case installer.ByHand:
		lines = append(lines, Line{Mark: OK, Text: "it was installed by lamplighter install"})
	case installer.None:
		lines = append(lines, Line{Mark: OK, Text: "it is not installed: it runs from where it was built or unpacked"})
	}
	return lines
}

// packageWords names a kind of package.
func packageWords(how string) string {
	switch how {
	case "setup":
		return "its setup program"
	case "app":
		return "an application bundle"
	case "":
		return "a package"
	}
	return "a package (" + how + ")"
}
