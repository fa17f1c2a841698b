package setup

import (
	"path/filepath"

	"lamplighter/app/config"
)

// serenaOpensPage reports whether a Serena that is told nothing else opens its own
// page: what its settings say, which are below SERENA_HOME or the home.
func serenaOpensPage(home string, getenv func(string) string) bool {
	dir := config.Find("", getenv, config.Base{Home: home}).SerenaHome
	return dir == "" || config.ReadSerenaPage(filepath.Join(dir, config.SerenaFile)).OpensPage()
}
