package monitor

import (
	"bytes"
	"encoding/json"
)

// JSON writes a value for files and people, not for pages: <, > and & stay as they are.
// It ends with a line break; indent is that of a level, "" for all in one line.
func JSON(value any, indent string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(value)
	return text.Bytes(), err
}
