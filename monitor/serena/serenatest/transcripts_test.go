//go:build contract

package serenatest

import "testing"

// TestTranscripts: real Serenas still answer what the unit tests replay. When one
// does not, look at what it means for the product before the transcripts are
// recorded anew, with TestRecord.
//
// No Lamplighter may run on the same machine: what it asks of a Serena is in the
// Serena's answers.
func TestTranscripts(t *testing.T) {
	for _, version := range Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			live := record(t, version)
			for _, difference := range Recorded(t, version).differences(live) {
				t.Error(difference)
			}
		})
	}
}
