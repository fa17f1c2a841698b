package workspace

import "strings"

// partLength is how much of a project's and of a job's name is in a directory's.
const partLength = 24

// nameOf is the name of a workspace's directory, <project>-<job>-<short id>, and
// of its branch: what every file system, shell and git takes as it is.
func nameOf(project, job, id string) string {
	return part(project, "project") + "-" + part(job, "job") + "-" + id[len(id)-8:]
}

// part is what of a text may be in a directory's name: lower case letters, digits
// and single hyphens of ASCII, which begins and ends with no hyphen. What has none is otherwise.
func part(text, otherwise string) string {
	var b strings.Builder
	gap := false
	for _, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			gap = b.Len() > 0
			continue
		}
		need := 1
		if gap {
			need = 2
		}
		if b.Len()+need > partLength {
			break
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(c)
	}
	if b.Len() == 0 {
		return otherwise
	}
	return b.String()
}
