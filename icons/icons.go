// Package icons holds the artwork of the tray and its menu, one small file per
// state, drawn by the generator in icons/gen and embedded here in the form the
// platform shows: PNG, on Windows ICO. Beside it, in app, are the pictures of the
// application for menus and packages, of which a program holds one.
//
// What a state is and which of them is worst is decided elsewhere; this
// package only knows their names, which are those of the JSON interface.
package icons

//go:generate go run ./gen

import "path"

// Mark names what an icon says: a state of an instance, or "ended".
type Mark string

// The marks, told apart by shape and not by colour alone.
const (
	Project   Mark = "live_with_project" // filled disc, green
	NoProject Mark = "live_no_project"   // ring, yellow
	Live      Mark = "live"              // as Project: a server without projects
	Zombie    Mark = "zombie"            // triangle with an exclamation mark, red
	Starting  Mark = "starting"          // dashed ring, grey
	Parked    Mark = "parked"            // crescent, grey
	Ended     Mark = "ended"             // disc outline with a line through, grey
	None      Mark = ""                  // in the tray: no instance at all
)

// The styles of the tray icon. A panel does not say how dark it is, so Auto
// is readable on both; the other two are for people who like it plain.
const (
	StyleAuto  = "auto"
	StyleLight = "light" // dark ink for a light panel
	StyleDark  = "dark"  // light ink for a dark panel
)

// Marks lists the marks of instances, Ended last.
func Marks() []Mark { return []Mark{Project, NoProject, Zombie, Starting, Parked, Ended} }

// Item is the icon of a menu entry, 32 px (ICO: 16 and 32 px). An unknown mark
// gives the one of Ended. The caller must not change the bytes.
func Item(mark string) []byte {
	if mark == string(Live) {
		mark = string(Project)
	}
	if b := art("item-" + mark); b != nil {
		return b
	}
	return art("item-" + string(Ended))
}

// Tray is the icon in the panel, 32 px (ICO: 16, 24 and 32 px): a lantern in
// the given style with the worst state as a badge in its corner, none when all
// is well, and unlit when worst is empty. An unknown style is Auto, an unknown
// state has no badge. The caller must not change the bytes.
func Tray(style, worst string) []byte {
	for _, s := range []string{style, StyleAuto} {
		for _, w := range []string{trayName(worst), string(Project)} {
			if b := art("tray-" + s + "-" + w); b != nil {
				return b
			}
		}
	}
	return nil
}

// TrayTemplate is the icon for the menu bar of macOS: black on transparent, to
// be coloured by the system.
func TrayTemplate(worst string) []byte {
	if b := art("template-" + trayName(worst)); b != nil {
		return b
	}
	return art("template-" + string(Project))
}

func trayName(worst string) string {
	if worst == string(None) {
		return "none"
	}
	return worst
}

// art reads an embedded file; nil when there is none of that name.
func art(name string) []byte {
	b, err := files.ReadFile(path.Join("art", name+extension))
	if err != nil {
		return nil
	}
	return b
}
