//go:build contract && linux

package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// shapes are JSON that stands for other JSON, by name. Strings are the types of what
// may be there: text, number, bool, object, time (RFC 3339), "@" and the name of a
// shape, a word after "=" for that text itself, or several with "|" between them; "?"
// at the end is for null as well. [X] is a list of X. A member whose name ends in "?"
// may be missing, and "..." are the members of another shape. Others than those named
// must not be there.
var shapes object

// fits compares a body with a shape, by its name or itself.
func fits(t testing.TB, what, shape string, body []byte) {
	t.Helper()
	want, got := any("@"+shape), any(nil)
	if strings.HasPrefix(shape, "{") {
		must(t, json.Unmarshal([]byte(shape), &want))
	}
	if err := json.Unmarshal(body, &got); err != nil {
		t.Errorf("%s: %v: %.300q", what, err, body)
		return
	}
	compare(t, what, want, got)
}

// compare says where a value is not as the shape.
func compare(t testing.TB, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case string:
		types, orNull := strings.CutSuffix(want, "?")
		name, named := strings.CutPrefix(types, "@")
		switch {
		case orNull && got == nil:
		case named:
			compare(t, at, shapes[name], got)
		default:
			check(t, isOf(types, got), "%s is %.300v, not %s", at, got, want)
		}
	case []any:
		list, ok := got.([]any)
		check(t, ok, "%s is %.300v, not a list", at, got)
		for i, element := range list {
			compare(t, fmt.Sprintf("%s[%d]", at, i), want[0], element)
		}
	case object:
		members, ok := got.(object)
		check(t, ok, "%s is %.300v, not an object", at, got)
		known := object{}
		for name, of := range membersOf(want) {
			name, optional := strings.CutSuffix(name, "?")
			member, there := members[name]
			if known[name] = of; there {
				compare(t, at+"."+name, of, member)
			} else {
				check(t, optional, "%s.%s is missing", at, name)
			}
		}
		for name := range members {
			check(t, known[name] != nil, "%s.%s is one more", at, name)
		}
	default:
		t.Errorf("%s: there is no such shape", at)
	}
}

// membersOf are those of a shape, and of the one that it extends.
func membersOf(shape object) object {
	all := maps.Clone(shape)
	if base, extends := shape["..."].(string); extends {
		maps.Copy(all, shapes[strings.TrimPrefix(base, "@")].(object))
		delete(all, "...")
	}
	return all
}

func isOf(types string, got any) bool {
	text, isText := got.(string)
	_, notTime := time.Parse(time.RFC3339, text)
	_, isNumber := got.(float64)
	_, isBool := got.(bool)
	_, isObject := got.(object)
	is := map[string]bool{"text": isText, "time": isText && notTime == nil, "number": isNumber, "bool": isBool, "object": isObject, "=" + text: isText}
	return slices.ContainsFunc(strings.Split(types, "|"), func(word string) bool { return is[word] })
}
