package registry

import (
	"bytes"
	"encoding/json"
	"errors"
)

// object is a JSON object that keeps what it does not understand as it was
// written: the order of its members, keys that occur twice, the spelling of
// numbers and strings.
type object []member

type member struct {
	key   string          // decoded
	raw   json.RawMessage // the key as it was written, quotes included
	value json.RawMessage
}

// parseObject splits data, which is valid JSON, into its members.
func parseObject(data []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var o object
	for dec.More() {
		before := dec.InputOffset()
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		raw := data[before:dec.InputOffset()]
		start := bytes.IndexByte(raw, '"')
		if !ok || start < 0 {
			return nil, errors.New("an object's key is not a string")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, member{key, bytes.Clone(raw[start:]), value})
	}
	return o, nil
}

// parseArray splits data, which is valid JSON, into its elements.
func parseArray(data []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	return list, nil
}

// last is the position of the member that counts: of a key that occurs twice
// every reader takes the last. It is -1 when there is none.
func (o object) last(key string) int {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return i
		}
	}
	return -1
}

func (o object) get(key string) json.RawMessage {
	if i := o.last(key); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o *object) set(key string, value json.RawMessage) {
	if i := o.last(key); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, literal(key), value})
}

func (o object) append(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.raw)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
}

// literal is v in JSON. It is for values that always have one: strings,
// numbers, lists of strings.
func literal(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
