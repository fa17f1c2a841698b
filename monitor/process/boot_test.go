package process

import (
	"strings"
	"testing"
)

func TestBootID(t *testing.T) {
	first, err := BootID()
	if err != nil || first == "" || strings.ContainsAny(first, " \n\x00") {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := BootID(); again != first || err != nil {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
}
