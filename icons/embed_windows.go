package icons

import "embed"

//go:embed art/*.ico
var files embed.FS

const extension = ".ico"
