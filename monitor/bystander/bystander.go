// Package bystander knows the programs that people work in. They are never part
// of a server, whoever started them: a page that Serena opened in a browser that
// did not run yet makes that browser its child.
//
// It is pure, and small enough for the keeper above each server to use it.
package bystander

import (
	"strings"

	"lamplighter/monitor"
)

// Each word is the program's name, or its name up to the first dot
// ("soffice.bin").
var (
	browsers = words(`firefox librewolf waterfox chrome google-chrome chromium chromium-browser brave brave-browser vivaldi vivaldi-bin opera
		msedge microsoft-edge epiphany konqueror falkon qutebrowser safari xdg-open x-www-browser sensible-browser`)
	desktops = words(`code code-insiders codium vscodium cursor windsurf kiro zed zed-editor idea idea64 pycharm pycharm64 goland goland64
		webstorm webstorm64 emacs vim nvim gvim nano gedit kate kwrite subl sublime_text soffice libreoffice evince okular
		gnome-terminal gnome-terminal-server konsole xterm alacritty kitty wezterm wezterm-gui foot tilix xfce4-terminal terminator
		tmux screen claude claude-desktop codex gemini opencode`)
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// Browses tells whether a browser below a server of this kind is one that people
// work in. One that a server other than Serena has started, as Playwright's does,
// is its tool and goes with it.
func Browses(kind string) bool { return kind == monitor.KindSerena }

// Is tells whether a process is a program that people work in: an editor, a
// terminal and the like, or, where browsers count, a browser. Of the path of its
// executable and its short name each may be empty, when it is not known.
func Is(exe, name string, browsersCount bool) bool {
	for _, path := range []string{exe, name} {
		program := monitor.ProgramName(path)
		stem, _, _ := strings.Cut(program, ".")
		for _, word := range []string{program, stem} {
			if desktops[word] || browsersCount && browsers[word] {
				return true
			}
		}
	}
	return false
}
