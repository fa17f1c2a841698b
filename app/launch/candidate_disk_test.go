package launch

import (
	"slices"
	"strings"
)

// madeDisk is a file system in memory: paths of files, and of links to others.
type madeDisk struct {
	files []string
	links map[string]string
}

func (d madeDisk) file(p string) bool { return slices.Contains(d.files, p) || d.links[p] != "" }

func (d madeDisk) names(dir string) []string {
	slash := "/"
	if strings.Contains(dir, `\`) {
		slash = `\`
	}
	var names []string
	for _, f := range d.files {
		rest, ok := strings.CutPrefix(f, strings.TrimRight(dir, slash)+slash)
		if name, _, _ := strings.Cut(rest, slash); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (d madeDisk) target(p string) string {
	for link, to := range d.links {
		if p == link || strings.HasPrefix(p, link+"/") {
			return d.target(to + p[len(link):])
		}
	}
	return p
}

func (d madeDisk) ahead([]string) {}

func (d madeDisk) silent() []string { return nil }

// anyCase is a disk of Windows.
type anyCase struct{ madeDisk }

func (d anyCase) file(p string) bool {
	return slices.ContainsFunc(d.files, func(f string) bool { return strings.EqualFold(f, p) })
}
