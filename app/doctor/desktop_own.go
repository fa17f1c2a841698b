//go:build windows || darwin

package doctor

import "context"

// gatherDesktop: this system has a place for icons itself.
func gatherDesktop(context.Context, world) desktopFacts { return desktopFacts{own: true} }
