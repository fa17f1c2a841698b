package config

import (
	"strings"
	"testing"
	"time"
)

func TestSharing(t *testing.T) {
	for text, want := range map[string]Sharing{
		"":                               {ParkAfter: defaultPark, HangLimit: defaultHang},
		"park_after_minutes: 45\n":       {ParkAfter: 45 * time.Minute, HangLimit: defaultHang},
		"park_after_minutes: 0.05\n":     {ParkAfter: 3 * time.Second, HangLimit: defaultHang},
		"park_after_minutes: none\n":     {HangLimit: defaultHang},
		"park_after_minutes: off\n":      {HangLimit: defaultHang},
		"park_after_minutes: null\n":     {HangLimit: defaultHang},
		"hang_limit_minutes: 0.5\n":      {ParkAfter: defaultPark, HangLimit: 30 * time.Second},
		"hang_limit_minutes: none\n":     {ParkAfter: defaultPark},
		"share_with_other_users: true\n": {ParkAfter: defaultPark, HangLimit: defaultHang, WithOtherUsers: true},
		"share_with_other_users: false\npark_after_minutes: 1\n": {ParkAfter: time.Minute, HangLimit: defaultHang},
	} {
		settings, problems := parse([]byte(text))
		if got := settings.Sharing(0); len(problems) > 0 || got != want {
			t.Errorf("%q: got %+v, want %+v, %v", text, got, want, problems)
		}
		want.ParkAfter = 7 * time.Second
		if got := settings.Sharing(7 * time.Second); got != want {
			t.Errorf("%q: the environment does not win: %+v", text, got)
		}
	}
}

func TestParseRefusesSharing(t *testing.T) {
	const minutes = "is not a number of minutes from 0.01 to 525600; write none to switch it off"
	for text, want := range map[string]string{
		"park_after_minutes: 0":            `park_after_minutes: "0" ` + minutes,
		"park_after_minutes: -1":           minutes,
		"park_after_minutes: soon":         minutes,
		"park_after_minutes: never":        minutes,
		"park_after_minutes: [10]":         "wants one plain value",
		"hang_limit_minutes: off":          minutes,
		"park_after_minuts: 10":            `did you mean "park_after_minutes"?`,
		"share_with_other_users: yes":      "is not one of true, false",
		"share_with_other_users:":          "has no value",
		"share_with_other_user: true":      `did you mean "share_with_other_users"?`,
		"SharingKeys: {}":                  `unknown setting "SharingKeys"`,
		"park_after_minutes: 999999999999": minutes,
	} {
		settings, problems := parse([]byte("# mine\n" + text + "\n"))
		if len(problems) != 1 || problems[0].Line != 2 || !strings.Contains(problems[0].Text, want) || settings.Sharing(0) != (Sharing{ParkAfter: defaultPark, HangLimit: defaultHang}) {
			t.Errorf("%s: got %v, want %q", text, problems, want)
		}
	}
}

func TestIdleShutdown(t *testing.T) {
	of := func(text string) (time.Duration, error) {
		return IdleShutdown(func(name string) string {
			if name != "LAMPLIGHTER_IDLE_SHUTDOWN_SECS" {
				t.Errorf("%s is asked for", name)
			}
			return text
		})
	}
	for text, want := range map[string]time.Duration{"": 0, "1": time.Second, "600": 10 * time.Minute, "31536000": 8760 * time.Hour} {
		if got, err := of(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "1.5", "10s", " 5", "31536001", "99999999999999999999", "soon", "\x1b[2J"} {
		if got, err := of(text); got != 0 || err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
