package document

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

// jsonDocument is JSON with comments and trailing commas, as the syntax tree of
// hujson, which packs to the bytes that it was parsed from.
type jsonDocument struct {
	bom   bool          // there is a byte order mark
	root  *hujson.Value // nil when there is no value at all
	blank []byte        // the text without the mark, when there is no value

	servers []jsonServer   // in the order of the file
	at      map[string]int // key of a path → index in servers
	edited  bool           // since the offsets in the tree were found
}

const jsonBOM = "\uFEFF"

// jsonEnd is put behind the text while it is parsed: hujson wants a line break
// behind the last comment, which clients do not.
const jsonEnd = "\n"

func parseJSON(text []byte, tables [][]string) (editor, error) {
	d := &jsonDocument{at: map[string]int{}}
	text, d.bom = bytes.CutPrefix(text, []byte(jsonBOM))
	if fault := jsonBounds(text); fault != nil {
		return nil, wrongAt(text, fault.offset, fault.text)
	}
	// The tree points into what it was parsed from, so this is a copy.
	parsed := slices.Concat(text, []byte(jsonEnd))
	if hujson.Extra(parsed).IsValid() {
		d.blank = parsed[:len(text)]
		return d, nil
	}
	root, err := hujson.Parse(parsed)
	if err != nil {
		fault := jsonSyntaxFault(parsed, err)
		return nil, wrongAt(text, fault.offset, fault.text)
	}
	servers, fault := jsonServers(&root, tables)
	if fault != nil {
		return nil, wrongAt(text, fault.offset, fault.text)
	}
	d.root, d.servers = &root, servers
	for i, s := range servers {
		d.at[jsonKey(s.path)] = i
	}
	return d, nil
}

func (d *jsonDocument) Bytes() []byte {
	text := d.blank
	if d.root != nil {
		text = bytes.TrimSuffix(d.root.Pack(), []byte(jsonEnd))
	}
	if d.bom {
		return append([]byte(jsonBOM), text...)
	}
	return slices.Clone(text)
}

func (d *jsonDocument) Entries() []Entry {
	if len(d.servers) == 0 {
		return nil
	}
	if d.edited {
		d.root.UpdateOffsets()
		d.edited = false
	}
	text := d.root.Pack()
	entries := make([]Entry, 0, len(d.servers))
	line, counted := 1, 0
	for _, s := range d.servers {
		line += bytes.Count(text[counted:s.name.StartOffset], []byte("\n"))
		counted = s.name.StartOffset
		e := jsonEntry(s.value)
		e.Path, e.Line = slices.Clone(s.path), line
		entries = append(entries, e)
	}
	return entries
}

func (d *jsonDocument) Source(path []string) (Source, error) {
	object, err := d.entry(path)
	if err != nil {
		return Source{}, err
	}
	command := object.Members[jsonMember(object, "command")].Value
	s := Source{Command: string(command.Value.(hujson.Literal))}
	if at := jsonMember(object, "args"); at >= 0 {
		s.Args = string(hujson.Value{Value: object.Members[at].Value.Value}.Pack())
		s.HasArgs = true
	}
	return s, nil
}

func (d *jsonDocument) Set(path []string, command string, args []string) error {
	object, err := d.entry(path)
	if err != nil {
		return err
	}
	if err := writable(command, args); err != nil {
		return fmt.Errorf("%s cannot be changed: %w", entryName(path), err)
	}
	d.edited = true
	at := jsonMember(object, "command")
	if was, _ := jsonString(object.Members[at].Value.Value); was != command {
		object.Members[at].Value.Value = hujson.String(command)
	}
	spaced := jsonSpaced(object.Members[at])
	if at := jsonMember(object, "args"); at >= 0 {
		jsonRefill(object.Members[at].Value.Value.(*hujson.Array), args, spaced)
		return nil
	}
	if len(args) > 0 {
		list := &hujson.Array{}
		jsonRefill(list, args, spaced)
		jsonInsertArgs(object, list)
	}
	return nil
}

func (d *jsonDocument) Restore(path []string, s Source) error {
	object, err := d.entry(path)
	if err != nil {
		return err
	}
	command, args, err := jsonSource(s)
	if err != nil {
		return fmt.Errorf("%s cannot be put back: %w", entryName(path), err)
	}
	d.edited = true
	object.Members[jsonMember(object, "command")].Value.Value = command
	switch at := jsonMember(object, "args"); {
	case args != nil && at >= 0:
		object.Members[at].Value.Value = args
	case args != nil:
		jsonInsertArgs(object, args)
	case at >= 0:
		jsonRemove(object, at)
	}
	return nil
}

// entry is the object of a server that has a command and is not odd.
func (d *jsonDocument) entry(path []string) (*hujson.Object, error) {
	at, found := d.at[jsonKey(path)]
	if !found {
		return nil, fmt.Errorf("%s is not in the settings", entryName(path))
	}
	value := d.servers[at].value
	switch e := jsonEntry(value); {
	case e.Odd != "":
		return nil, fmt.Errorf("%s cannot be edited: %s", entryName(path), e.Odd)
	case e.Command == "":
		return nil, fmt.Errorf("%s cannot be edited: it has no command", entryName(path))
	case e.List:
		return nil, fmt.Errorf("%s cannot be edited: its command is a list", entryName(path))
	}
	return value.(*hujson.Object), nil
}

// jsonSource are the values that a Source holds; args is nil when it has none.
func jsonSource(s Source) (command hujson.Literal, args *hujson.Array, err error) {
	value, err := jsonValue(s.Command)
	if err != nil {
		return nil, nil, fmt.Errorf("the command from before: %w", err)
	}
	if word, ok := jsonString(value); !ok || word == "" {
		return nil, nil, fmt.Errorf("the command from before is no string that a command can be")
	}
	command = value.(hujson.Literal)
	if !s.HasArgs {
		return command, nil, nil
	}
	if value, err = jsonValue(s.Args); err != nil {
		return nil, nil, fmt.Errorf("the args from before: %w", err)
	}
	if _, ok := jsonStrings(value); !ok {
		return nil, nil, fmt.Errorf("the args from before are no list of strings")
	}
	return command, value.(*hujson.Array), nil
}

// jsonValue parses a value that has nothing around it.
func jsonValue(text string) (hujson.ValueTrimmed, error) {
	if fault := jsonBounds([]byte(text)); fault != nil {
		return nil, wrongAt([]byte(text), fault.offset, fault.text)
	}
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		fault := jsonSyntaxFault([]byte(text), err)
		return nil, wrongAt([]byte(text), fault.offset, fault.text)
	}
	if v.BeforeExtra != nil || v.AfterExtra != nil {
		return nil, fmt.Errorf("there is more than a value")
	}
	return v.Value, nil
}

// jsonKey tells paths apart whatever their names hold.
func jsonKey(path []string) string {
	var b []byte
	for _, name := range path {
		b = strconv.AppendQuote(b, name)
	}
	return string(b)
}
