package launch

import "testing"

func TestFates(t *testing.T) {
	for _, test := range []struct {
		lifetime Lifetime
		f        found
		want     fate
	}{
		{Session, found{readable: true, sameBoot: true, keeper: true, server: true}, endIt},
		{Session, found{readable: true, sameBoot: true}, endIt},
		{Session, found{readable: true}, forgetIt},
		{Shared, found{readable: true, sameBoot: true, keeper: true, server: true}, adoptIt},
		{Shared, found{readable: true, sameBoot: true, keeper: true}, endIt},
		{Shared, found{readable: true, sameBoot: true, server: true}, endIt},
		{Shared, found{readable: true, sameBoot: true}, endIt},
		{Shared, found{readable: true, keeper: true, server: true}, forgetIt}, // other processes have the pids
		{"", found{sameBoot: true}, endIt},
	} {
		if got := fateOf(&record{Lifetime: test.lifetime}, test.f); got != test.want {
			t.Errorf("%s %+v: %d, want %d", test.lifetime, test.f, got, test.want)
		}
	}
}
