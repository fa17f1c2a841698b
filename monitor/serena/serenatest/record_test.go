//go:build record

package serenatest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRecord writes the transcripts anew, which takes minutes in each state that has
// changed. Look at the difference before you commit it:
//
//	go test -tags record -run TestRecord -timeout 1h ./monitor/serena/serenatest
func TestRecord(t *testing.T) {
	for _, version := range Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			// One exchange a line. No text of an answer holds this: its quotes are escaped.
			begin := []byte(`{"ask":`)
			text := append(bytes.ReplaceAll(encode(record(t, version)), begin, append([]byte("\n"), begin...)), '\n')
			if err := os.WriteFile(filepath.Join("testdata", "transcripts", version+".json"), text, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
