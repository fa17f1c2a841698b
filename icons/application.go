package icons

import _ "embed"

//go:embed app/lamplighter.svg
var application []byte

// Application is the picture of the application for menus, an SVG. The caller must
// not change the bytes.
func Application() []byte { return application }
