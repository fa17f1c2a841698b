package installer

import "bytes"

// value is one of the registry, as it lies there.
type value struct {
	Type uint32 `json:"type"`
	Data []byte `json:"data"`
}

func (v *value) equal(other *value) bool {
	if v == nil || other == nil {
		return v == other
	}
	return v.Type == other.Type && bytes.Equal(v.Data, other.Data)
}

// registry is where values lie. A key is written as "HKCU\…"; a nil value is
// none. Setting one makes its key, and setting none deletes it.
type registry interface {
	get(key, name string) (*value, error)
	set(key, name string, v *value) error
	text(s string) (*value, error) // a value that is a text
}
