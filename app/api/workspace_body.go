package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"lamplighter/app/payload"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// member is one that a body may have.
type member struct {
	name string
	is   string // what it is, in words
	into any
}

// readMembers reads a body that has these members and no others, none of them
// null: what is misspelt in an order must not be overlooked. An empty body has
// none.
func readMembers(body []byte, like string, members ...member) error {
	if len(body) == 0 {
		body = []byte("{}")
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	values, err := payload.Object(body, names...)
	if err != nil {
		return fmt.Errorf("the body is not like %s: %s", like, monitor.Clean(err.Error()))
	}
	for _, m := range members {
		value, given := values[m.name]
		switch {
		case !given:
		case string(value) == "null":
			return fmt.Errorf("%s is null; leave it out", m.name)
		case json.Unmarshal(value, m.into) != nil:
			return fmt.Errorf("%s is not %s", m.name, m.is)
		}
	}
	return nil
}

// What members are.
const (
	isString  = "a string"
	isBool    = "true or false"
	isWhole   = "a whole number"
	isStrings = "a list of strings"
)

// The bounds of an order.
const (
	mostRetention = 10 * 366 * 24 * time.Hour
	mostListed    = 100 // directories to share or to scan
)

// createOrder is what is asked by POST /workspaces.
type createOrder struct {
	workspace.Request
	async bool
}

func parseCreate(body []byte) (createOrder, error) {
	const like = `{"kind":"temp","from":"/src/project","job":"fix the parser"}, with "ref", "in", "project", "share", "cleanup", "retention_seconds", "serve", "wait", "copy" or "async"`
	var o createOrder
	var kind, cleanup string
	var retention int64
	err := readMembers(body, like,
		member{"kind", isString, &kind}, member{"from", isString, &o.From}, member{"ref", isString, &o.Ref}, member{"in", isString, &o.In},
		member{"job", isString, &o.Job}, member{"project", isString, &o.Project}, member{"share", isStrings, &o.Share}, member{"cleanup", isString, &cleanup},
		member{"retention_seconds", isWhole, &retention}, member{"serve", isBool, &o.Serve}, member{"wait", isBool, &o.Wait}, member{"copy", isBool, &o.Copy},
		member{"async", isBool, &o.async},
	)
	if err != nil {
		return createOrder{}, err
	}
	o.Kind, o.Cleanup, o.Retention = workspace.Kind(kind), workspace.Cleanup(cleanup), time.Duration(retention)*time.Second
	switch {
	case !slices.Contains([]workspace.Kind{workspace.Temp, workspace.Persistent, workspace.Hybrid}, o.Kind):
		return createOrder{}, errors.New("kind has to be temp, persistent or hybrid")
	case !slices.Contains([]workspace.Cleanup{"", workspace.AtCompletion, workspace.AtRetention, workspace.ByHand, workspace.ToArchive}, o.Cleanup):
		return createOrder{}, errors.New("cleanup has to be completion, retention, manual or archive; leave it out for the usual one of the kind")
	case o.Job == "":
		return createOrder{}, errors.New("job is missing: the name of the job that the workspace is for")
	case retention < 0 || retention > int64(mostRetention/time.Second):
		return createOrder{}, errors.New("retention_seconds has to be from 0, which is the usual one, to ten years")
	case len(o.Share) > mostListed:
		return createOrder{}, fmt.Errorf("more than %d directories cannot be shared", mostListed)
	}
	for name, path := range map[string]string{"from": o.From, "in": o.In} {
		if path != "" && !filepath.IsAbs(path) {
			return createOrder{}, absolutely(name)
		}
	}
	return o, nil
}

func absolutely(name string) error {
	return fmt.Errorf("%s has to be an absolute path: nobody knows here where a relative one begins", name)
}

// parseNothing reads the body of an order that has nothing to say.
func parseNothing(body []byte) (struct{}, error) { return struct{}{}, readMembers(body, "{}") }

func parseMessage(body []byte) (message string, err error) {
	const like = `{"message":"the parser works"}`
	if err := readMembers(body, like, member{"message", isString, &message}); err != nil {
		return "", err
	}
	if message == "" {
		return "", errors.New("message is missing: what this version is, in words")
	}
	return message, nil
}

func parseRestore(body []byte) (version int, err error) {
	if err := readMembers(body, `{"version":2}`, member{"version", isWhole, &version}); err != nil {
		return 0, err
	}
	if version < 0 {
		return 0, errors.New("version is below 0; versions count from 1, and 0 brings an archived workspace back")
	}
	return version, nil
}

func parseScan(body []byte) (dirs []string, err error) {
	if err := readMembers(body, `{"dirs":["/home/me/src"]}`, member{"dirs", isStrings, &dirs}); err != nil {
		return nil, err
	}
	switch {
	case len(dirs) == 0:
		return nil, errors.New("dirs is missing: the directories to look in")
	case len(dirs) > mostListed:
		return nil, fmt.Errorf("more than %d directories are not looked at in one go", mostListed)
	case slices.ContainsFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) }):
		return nil, absolutely("each of dirs")
	}
	return dirs, nil
}

// staleOrder is what is asked by POST /workspaces/scan/remove.
type staleOrder struct {
	path string
	workspace.Removal
}

func parseStale(body []byte) (staleOrder, error) {
	var o staleOrder
	err := readMembers(body, `{"path":"/src/project/.claude/worktrees/fix","dry_run":true}, with "force"`,
		member{"path", isString, &o.path}, member{"force", isBool, &o.Force}, member{"dry_run", isBool, &o.DryRun})
	switch {
	case err != nil:
		return staleOrder{}, err
	case !filepath.IsAbs(o.path):
		return staleOrder{}, absolutely("path")
	}
	return o, nil
}

// query reads what follows the question mark: these names and no others, each
// once at most.
func query(req *http.Request, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return nil, errors.New("what follows the question mark cannot be read: " + monitor.Clean(err.Error()))
	}
	for name, list := range values {
		switch {
		case !slices.Contains(names, name):
			return nil, fmt.Errorf("%q: there is no such parameter here", monitor.Shorten(monitor.Clean(name), 40))
		case len(list) > 1:
			return nil, fmt.Errorf("%s is given more than once", name)
		}
	}
	return values, nil
}

// removalOf reads the parameters of DELETE /workspaces/{id}. A body is refused: an order
// to only say what would be done must not be overlooked there.
func removalOf(req *http.Request, body []byte) (q workspace.Removal, err error) {
	if len(body) > 0 {
		return q, errors.New("a DELETE takes no body; say ?dry_run=true and ?force=true")
	}
	values, err := query(req, "force", "dry_run")
	if err != nil {
		return q, err
	}
	for name, into := range map[string]*bool{"force": &q.Force, "dry_run": &q.DryRun} {
		if !values.Has(name) {
			continue
		}
		switch values.Get(name) {
		case "true":
			*into = true
		case "false":
		default:
			return q, fmt.Errorf("%s is neither true nor false", name)
		}
	}
	q.By = orderedBy(req)
	return q, nil
}

// versionsOf reads the parameters of GET /workspaces/{id}/diff; -1 is not given.
func versionsOf(req *http.Request) (from, to int, err error) {
	values, err := query(req, "from", "to")
	if err != nil {
		return 0, 0, err
	}
	from, to = -1, 0
	for name, into := range map[string]*int{"from": &from, "to": &to} {
		if !values.Has(name) {
			continue
		}
		if *into, err = strconv.Atoi(values.Get(name)); err != nil || *into < 0 || name == "from" && *into == 0 {
			return 0, 0, fmt.Errorf("%s is the number of a version; versions count from 1, and 0 as to is the tree as it is", name)
		}
	}
	return from, to, nil
}
