//go:build !windows

package icons

import "embed"

//go:embed art/*.png
var files embed.FS

const extension = ".png"
