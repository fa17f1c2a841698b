package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lamplighter/monitor"
)

const someID = "01234567-89ab-4cde-8f01-23456789abcd"

func someRecord() record {
	return record{
		Version: recordVersion, ID: someID, Lifetime: Shared, BootID: "boot", Keeper: "12-34", Server: "56-78", Port: 1234, DashboardPort: 24282,
		Path: "/mcp", Project: "/tmp/a b", Name: "serena", Kind: "serena", Command: []string{"/bin/serena", "x\ny"}, Key: "key",
		StartedAt: time.Unix(1, 500).UTC(), AskedBy: &asker{PID: 7, Start: 8, Name: "Claude Code"},
	}
}

func TestRecordsAreReadAsWritten(t *testing.T) {
	dir := t.TempDir()
	want := someRecord()
	for range 2 { // the second replaces the first
		if err := writeRecord(dir, &want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readRecord(dir, someID)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if ids := got.identities(); ids.keeper != (monitor.Identity{PID: 12, Start: 34}) || ids.server != (monitor.Identity{PID: 56, Start: 78}) {
		t.Errorf("%+v", ids)
	}
	if c := got.client(); c.PID != 7 || c.Start != 8 || c.Name != "Claude Code" {
		t.Errorf("%+v", c)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := readRecord(t.TempDir(), someID); !errors.Is(err, fs.ErrNotExist) || isUnreadable(err) {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, recordFile), make([]byte, maxRecord+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecord(dir, someID); err == nil || !strings.Contains(err.Error(), "larger than") || isUnreadable(err) {
		t.Error(err)
	}
}

func TestBrokenRecordsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                                       "unexpected end",
		`[]`:                                     "cannot unmarshal array",
		`{"version": 2}`:                         "version 2",
		`{"version": 1, "id": "x"}`:              "another server",
		`{"version": 1, "id": "` + someID + `"}`: "lifetime",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "port": 65536}`:         "port",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "port": -1}`:            "port",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "keeper": "1"}`:         "instance id",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "server": "1-1"}`:       "without its keeper",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "keeper": "0-1"}`:       "not an instance id",
		`{"version": 1, "id": "` + someID + `", "lifetime": "shared", "started_at": "today"}`: "parsing time",
	} {
		if _, err := parseRecord(someID, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestIDs(t *testing.T) {
	if id := uuid.NewString(); !isID(id) {
		t.Error(id)
	}
	for _, name := range []string{"", "..", "record.json", strings.ToUpper(someID), someID + "0", "0123456789abcdef0123456789abcdef0123", "\x00" + someID[1:], "{" + someID + "}", "urn:uuid:" + someID, strings.ReplaceAll(someID, "-", "")} {
		if isID(name) {
			t.Errorf("%q is taken for an id", name)
		}
	}
}
