//go:build windows || darwin

package tray

import "context"

// bus stands where other systems have a session bus. Here the desktop itself
// keeps the icon, and the library puts it back when the shell restarts.
type bus struct{}

func openBus(func(string)) (*bus, error) { return &bus{}, nil }

func (*bus) lost() <-chan struct{} { return nil }

// newMenu is nil: the menu is the library's.
func (*bus) newMenu(<-chan struct{}, chan<- int, chan<- menuEvent) lines { return nil }

func (*bus) replaceMenu(context.Context) {}
