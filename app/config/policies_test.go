package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/policy"
)

// usualPolicies are the rules of a fresh install: only proven orphans end.
func usualPolicies() policy.Rules {
	return policy.Rules{OrphanGrace: 10 * time.Minute, ZombieAfter: 10 * time.Minute, MemoryOver: 2_000_000_000, Duplicates: true}
}

func spanOf(d time.Duration) *time.Duration { return &d }

func TestParsePolicies(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want func(*policy.Rules)
	}{
		"nothing":      {"", func(*policy.Rules) {}},
		"idle":         {"idle_shutdown_minutes: 30\n", func(r *policy.Rules) { r.IdleAfter = 30 * time.Minute }},
		"a fraction":   {"idle_shutdown_minutes: 0.05\n", func(r *policy.Rules) { r.IdleAfter = 3 * time.Second }},
		"quoted":       {"idle_shutdown_minutes: '30'\n", func(r *policy.Rules) { r.IdleAfter = 30 * time.Minute }},
		"idle is null": {"idle_shutdown_minutes: null\n", func(*policy.Rules) {}},
		"idle is none": {"idle_shutdown_minutes: none\n", func(*policy.Rules) {}},
		"all is off": {
			"idle_shutdown_minutes: ~\norphan_grace_minutes: none\nzombie_prune_minutes: null\nmemory_notify: none\nduplicates: off\n",
			func(r *policy.Rules) { *r = policy.Rules{} },
		},
		"all is said": {
			"idle_shutdown_minutes: 45\nidle_shutdown_attached: stop\nidle_shutdown_repl: true\norphan_grace_minutes: 2\nzombie_prune_minutes: 3\n" +
				"memory_notify: 1.5 GB\nmemory_action: stop\nduplicates: notify\nnotifications: true\n",
			func(r *policy.Rules) {
				*r = policy.Rules{
					IdleAfter: 45 * time.Minute, IdleAttached: true, IdleREPL: true, OrphanGrace: 2 * time.Minute, ZombieAfter: 3 * time.Minute,
					MemoryOver: 1_500_000_000, MemoryEnd: true, Duplicates: true,
				}
			},
		},
		"words of the defaults": {"idle_shutdown_attached: notify\nidle_shutdown_repl: false\nmemory_action: notify\n", func(*policy.Rules) {}},
		"memory":                {"memory_notify: 512MiB\n", func(r *policy.Rules) { r.MemoryOver = 512 << 20 }},
		"overrides": {
			"policies:\n- {project: alpha, client: Codex, idle_shutdown_minutes: 5, orphan_grace_minutes: none, memory_notify: 300 mb}\n" +
				"- project: alpha\n  never: true\n- client: Codex\n  idle_shutdown_minutes: null\n",
			func(r *policy.Rules) {
				memory := uint64(300_000_000)
				r.Overrides = []policy.Override{
					{Project: "alpha", Client: "Codex", IdleAfter: spanOf(5 * time.Minute), OrphanGrace: spanOf(0), MemoryOver: &memory},
					{Project: "alpha", Never: true},
					{Client: "Codex", IdleAfter: spanOf(0)},
				}
			},
		},
		"never, behind one about more": {
			"policies:\n- {project: alpha, idle_shutdown_minutes: 5}\n- {project: alpha, client: Codex, never: true}\n",
			func(r *policy.Rules) {
				r.Overrides = []policy.Override{{Project: "alpha", IdleAfter: spanOf(5 * time.Minute)}, {Project: "alpha", Client: "Codex", Never: true}}
			},
		},
		"attached by an override": {
			"idle_shutdown_minutes: none\nidle_shutdown_attached: stop\npolicies: [{client: Codex, idle_shutdown_minutes: 5}]\n",
			func(r *policy.Rules) {
				r.IdleAttached, r.Overrides = true, []policy.Override{{Client: "Codex", IdleAfter: spanOf(5 * time.Minute)}}
			},
		},
		// The minutes may be said by Serena's file or a flag.
		"attached alone": {"idle_shutdown_attached: stop\n", func(r *policy.Rules) { r.IdleAttached = true }},
	} {
		t.Run(name, func(t *testing.T) {
			settings, problems := parse([]byte(test.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			want := usualPolicies()
			test.want(&want)
			if got := settings.Policies(settings.Layer); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestParseRefusesPolicies(t *testing.T) {
	const minutes = "is not a number of minutes from 0.01 to 525600; write none to switch it off"
	for text, test := range map[string]struct {
		line int
		want string
	}{
		"idle_shutdown_minutes: 0":                                            {1, `idle_shutdown_minutes: "0" ` + minutes},
		"idle_shutdown_minutes: 0.0":                                          {1, minutes},
		"idle_shutdown_minutes: -5":                                           {1, `"-5" ` + minutes},
		"idle_shutdown_minutes: 0.001":                                        {1, minutes},
		"idle_shutdown_minutes: 1e3":                                          {1, minutes},
		"idle_shutdown_minutes: .inf":                                         {1, "wants one plain value"},
		"idle_shutdown_minutes: 525601":                                       {1, minutes},
		"idle_shutdown_minutes: 30 min":                                       {1, `"30 min" ` + minutes},
		"idle_shutdown_minutes: off":                                          {1, minutes},
		"idle_shutdown_minutes: true":                                         {1, minutes},
		"idle_shutdown_minutes: [30]":                                         {1, "wants one plain value"},
		"idle_shutdown_minuts: 30":                                            {1, `did you mean "idle_shutdown_minutes"?`},
		"orphan_grace_minutes: 0":                                             {1, minutes},
		"zombie_prune_minutes: soon":                                          {1, minutes},
		"idle_shutdown_attached: kill":                                        {1, `"kill" is not one of notify, stop`},
		"idle_shutdown_attached: null":                                        {1, "has no value"},
		"idle_shutdown_repl: yes":                                             {1, "is not one of true, false"},
		"memory_notify: 2":                                                    {1, `"2" is not an amount of memory of at least 1 MB, such as 500 MB or 2 GB; write none to switch it off`},
		"memory_notify: 2 TB":                                                 {1, "is not an amount of memory"},
		"memory_notify: -2 GB":                                                {1, "is not an amount of memory"},
		"memory_notify: 1 kB":                                                 {1, "is not an amount of memory"},
		"memory_notify: 0 GB":                                                 {1, "is not an amount of memory"},
		"memory_action: off":                                                  {1, `"off" is not one of notify, stop`},
		"duplicates: stop":                                                    {1, `"stop" is not one of notify, off`},
		"notifications: never":                                                {1, "is not one of true, false"},
		"policies: {project: a}":                                              {1, "policies wants a list"},
		"policies:\n- project: a":                                             {2, "policies: says nothing; add never: true"},
		"policies:\n- never: true":                                            {2, "policies: is about nobody; add project: or client:"},
		"policies:\n- {project: '*', never: true}":                            {2, "project: '*' is a wildcard, which is not possible here"},
		"policies:\n- {project: ~/a, never: true}":                            {2, "project: \"~/a\" is not a whole path"},
		"policies:\n- {project: a/b, never: true}":                            {2, "project: \"a/b\" is not a whole path"},
		"policies:\n- {project: a, idle: 3}":                                  {2, `unknown setting "idle"`},
		"policies:\n- project: a\n  never: maybe":                             {3, "is not one of true, false"},
		"policies:\n- project: a\n  never: true\n  idle_shutdown_minutes: 5":  {3, "policies: never: true contradicts the minutes beside it; remove one of them"},
		"policies:\n- project: ' a'\n  never: true":                           {2, "project: holds characters that cannot be shown"},
		"policies:\n- {project: a, never: true}\n- {project: A, never: true}": {3, "stands on line 2 already"},
		"policies:\n- {project: a, never: true}\n- {project: a, client: b, idle_shutdown_minutes: 5}":        {1, "entry 2 is never used, because entry 1 is about the same servers and more, and says that none of them is ended; remove one of them"},
		"policies:\n- {project: a, memory_notify: 9 GB}\n- {project: a, client: b, orphan_grace_minutes: 5}": {1, "entry 2 is never used, because entry 1 is about the same servers and more; put it above that one"},
		"idle_shutdown_minutes: none\nidle_shutdown_attached: stop":                                          {2, "does nothing while idle_shutdown_minutes is none; give that a number, or remove this line"},
		"idle_shutdown_repl: true\nidle_shutdown_minutes: null":                                              {1, "idle_shutdown_repl: true does nothing"},
		"log_level: info\nmemory_action: stop\nmemory_notify: none":                                          {2, "memory_action: stop does nothing while memory_notify is none"},
	} {
		settings, problems := parse([]byte(text + "\n"))
		if len(problems) != 1 || !strings.Contains(problems[0].Text, test.want) {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		// A list has the line of its first entry.
		if at := problems[0].Line; at != test.line && !(strings.Contains(text, "client: b") && at == 2) {
			t.Errorf("%q: line %d, want %d", text, at, test.line)
		}
		if !reflect.DeepEqual(settings, Default()) {
			t.Errorf("%q: %+v", text, settings)
		}
	}
}

// The first layer that says the minutes counts, also when it says none.
func TestIdleShutdownByLayer(t *testing.T) {
	says := func(minutes float64) Layer {
		m := Minutes(minutes * float64(time.Minute))
		return Layer{IdleShutdownMinutes: &m}
	}
	for name, test := range map[string]struct {
		layers []Layer
		want   time.Duration
	}{
		"nobody":             {[]Layer{{}, {}, {}}, 0},
		"Serena's":           {[]Layer{{}, {}, says(30)}, 30 * time.Minute},
		"ours":               {[]Layer{{}, says(20), says(30)}, 20 * time.Minute},
		"a flag":             {[]Layer{says(0.5), says(20), says(30)}, 30 * time.Second},
		"off by the flag":    {[]Layer{says(0), says(20), says(30)}, 0},
		"off by ours":        {[]Layer{{}, says(0), says(30)}, 0},
		"no layer is looked": {nil, 0},
	} {
		if got := (Settings{}).Policies(test.layers...).IdleAfter; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestNotificationsAreOnUnlessSaid(t *testing.T) {
	for text, want := range map[string]bool{"": true, "notifications: true\n": true, "notifications: false\n": false} {
		if settings, problems := parse([]byte(text)); len(problems) > 0 || settings.Notifications() != want {
			t.Errorf("%q: %v, %v", text, settings.Notifications(), problems)
		}
	}
}
