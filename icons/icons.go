// Package icons holds the artwork of the tray and its menu, one small file per
// state, drawn by the generator in icons/gen and embedded here in the form the
// platform shows: PNG, on Windows ICO. Beside it, in app, are the pictures of the
// application for menus and packages, of which a program holds one.
//
// What a state is and which of them is worst is decided elsewhere; this
// package only knows their names, which are those of the JSON interface.
package icons

//go:generate go run ./gen

import "cmp"

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

// Item is the icon of a menu entry, 32 px (ICO: 16 and 32 px). The caller must not
// change the bytes.
func Item(m Mark) []byte { return art("item-" + m.picture()) }

// Tray is the icon in the panel, 32 px (ICO: 16, 24 and 32 px): a lantern in
// the given style, "" for Auto, with the worst state as a badge in its corner, none
// when all is well, and unlit when there is no state. The caller must not change the
// bytes.
func Tray(style string, worst Mark) []byte {
	return art("tray-" + cmp.Or(style, StyleAuto) + "-" + worst.picture())
}

// TrayTemplate is the icon for the menu bar of macOS: black on transparent, to
// be coloured by the system.
func TrayTemplate(worst Mark) []byte { return art("template-" + worst.picture()) }

// picture names the picture of a mark.
func (m Mark) picture() string {
	switch m {
	case None:
		return "none"
	case Live:
		return string(Project)
	}
	return string(m)
}

// art reads an embedded file; nil when there is none of that name.
func art(name string) []byte {
	b, _ := files.ReadFile("art/" + name + extension)
	return b
}
