package cli

import (
	"errors"
	"testing"
)

func TestWrongAccount(t *testing.T) {
	alice := func(command string) sudo { return sudo{user: "alice", command: command} }
	const install = "/home/alice/.local/bin/lamplighter install"
	for name, test := range map[string]struct {
		account account
		sudo    sudo
		wrong   bool
	}{
		"a user":                  {account{1000, 1000}, sudo{}, false},
		"root":                    {account{0, 0}, sudo{}, false},
		"sudo":                    {account{0, 0}, alice(install), true},
		"sudo through a shell":    {account{0, 0}, alice("/bin/sh -c ./lamplighter install"), true},
		"sudo that does not tell": {account{0, 0}, alice(""), true},
		"sudo with alice's home":  {account{0, 1000}, alice(install), true},
		"sudo -i":                 {account{0, 0}, alice("/bin/bash"), false},
		"sudo -s":                 {account{0, 1000}, alice("/bin/bash"), true},
		"su with alice's home":    {account{0, 1000}, sudo{}, true},
		"root's sudo":             {account{0, 0}, sudo{"root", install}, false},
		"sudo -u bob":             {account{1001, 1001}, alice(install), false},
		"sudo -u bob, her home":   {account{1001, 1000}, alice(install), true},
		"a container":             {account{1001, 0}, sudo{}, false},
		"nobody knows whose home": {account{1000, -1}, sudo{}, false},
		"no such numbers":         {account{-1, -1}, alice(install), false},
	} {
		if err := test.account.wrong("/home/alice", test.sudo); (err != nil) != test.wrong || err != nil && !errors.Is(err, errAccount) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
