package launch

import "testing"

func TestCompareVersions(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"1.9.0", "1.10.0", -1}, {"2.1.0", "2.1.0", 0}, {"2.1", "2.1.0", 0}, {"2.1.0-1a2b", "2.1.0", 0}, {"2.1.0-1a2b", "2.1.1", -1}, {"", "1.0.0", -1}, {"10", "9.9", 1},
	} {
		if got := CompareVersions(test.a, test.b); got != test.want || CompareVersions(test.b, test.a) != -test.want {
			t.Errorf("%s, %s: %d", test.a, test.b, got)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, test := range []struct {
		version, than string
		want          bool
	}{
		{"1.7.0", "2.0", true}, {"1.7.0", "1.8", true}, {"1.8", "1.8", false}, {"1.8.0", "1.8", false}, {"2.1.0", "2.0", false}, {"0.1.4", "1.8", true},
		{"10.0.0", "2.0", false}, {"", "2.0", false}, {"2", "3.0", true}, {"2", "2.0", false}, {"dev", "2.0", false}, {"1.x.0", "2.0", true},
	} {
		if got := older(test.version, test.than); got != test.want {
			t.Errorf("%s < %s: %v", test.version, test.than, got)
		}
	}
}
