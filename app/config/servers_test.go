package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"lamplighter/monitor/rules"
)

func TestParseServers(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []rules.Rule
	}{
		"none": {"servers: []\n", []rules.Rule{}},
		"block": {
			"servers:\n  - name: notes\n    program: node\n    arguments:\n      - my-notes/dist/index.js\n      - --stdio\n" +
				"  - name: git\n    disabled: true\ntray_icon: dark\n",
			[]rules.Rule{
				{Name: "notes", Program: "node", Arguments: []string{"my-notes/dist/index.js", "--stdio"}},
				{Name: "git", Disabled: true},
			},
		},
		"flow":       {"servers: [{name: a b, program: acme-mcp}]\n", []rules.Rule{{Name: "a b", Program: "acme-mcp"}}},
		"as written": {"servers:\n- {name: 1.10, program: acme, arguments: [08, true, '@x']}\n", []rules.Rule{{Name: "1.10", Program: "acme", Arguments: []string{"08", "true", "@x"}}}},
		"not disabled": {
			"servers:\n- name: x\n  disabled: false\n  program: python\n  arguments: [-m, acme]\n",
			[]rules.Rule{{Name: "x", Program: "python", Arguments: []string{"-m", "acme"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := parse([]byte(test.text))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if !reflect.DeepEqual(got.Servers, test.want) {
				t.Errorf("got  %+v\nwant %+v", got.Servers, test.want)
			}
		})
	}
}

func TestParseRefusesServers(t *testing.T) {
	many := "servers:\n"
	for i := range maxItems + 1 {
		many += fmt.Sprintf("- {name: n%d, program: acme-mcp}\n", i)
	}
	for name, test := range map[string]struct {
		text string
		line int
		want string // part of the problem
	}{
		"no value":        {"tray_icon: dark\nservers:\n", 2, "servers has no value"},
		"a word":          {"servers: notes\n", 1, "servers wants a list"},
		"a mapping":       {"servers:\n  name: x\n", 2, "servers wants a list"},
		"list of words":   {"servers:\n- notes\n", 2, "servers wants lines of the form name: value"},
		"list in list":    {"servers:\n- - a\n", 2, "servers wants lines of the form name: value"},
		"empty entry":     {"servers:\n- name: x\n  program: acme-mcp\n-\n", 4, "servers has no value"},
		"unknown":         {"servers:\n- name: x\n  progam: node\n", 3, `servers: unknown setting "progam"; did you mean "program"?`},
		"far off":         {"servers:\n- colour: x\n", 2, "known are name, program, arguments, disabled"},
		"name is a list":  {"servers:\n- name: [x]\n", 2, "servers: name wants one plain value"},
		"arguments":       {"servers:\n- name: x\n  program: node\n  arguments: stdio\n", 4, "servers: arguments wants a list"},
		"argument":        {"servers:\n- name: x\n  program: node\n  arguments:\n  - a: b\n", 5, "servers: arguments wants one plain value"},
		"disabled":        {"servers:\n- name: git\n  disabled: perhaps\n", 3, `servers: disabled: "perhaps" is not one of true, false`},
		"no name":         {"servers:\n- name: x\n  program: acme-mcp\n- program: node\n  arguments: [acme]\n", 4, "servers: has no name; add name:"},
		"no program":      {"servers:\n\n- name: x\n", 3, "servers: has no program; add program:"},
		"generic":         {"servers:\n- name: x\n  program: node\n  arguments: [index.js]\n", 4, "such as my-server/index.js"},
		"Serena":          {"servers:\n- program: acme-mcp\n  name: serena\n", 3, "recognised without a rule"},
		"not built in":    {"servers:\n- {name: gti, disabled: true}\n", 2, "nothing to disable"},
		"twice":           {"servers:\n- {name: Notes, program: acme-mcp}\n- name: notes\n  program: b-mcp\n", 3, `"notes" stands on line 2 already`},
		"a key twice":     {"servers:\n- name: x\n  name: y\n", 3, "already defined"},
		"too many":        {many, 2, "servers has 101 entries; 100 are allowed"},
		"alias":           {"servers:\n- &a {name: x, program: acme-mcp}\n", 2, "servers wants lines of the form name: value"},
		"several in one":  {"servers:\n- name: x\n  program: acme-mcp\n  args: [a]\n", 4, "known are name, program, arguments"},
		"escape in value": {"servers:\n- name: \"a\\e[1m\"\n  program: acme-mcp\n", 2, "cannot be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := parse([]byte(test.text))
			if len(problems) != 1 {
				t.Fatalf("want one problem, got %+v", problems)
			}
			if problems[0].Line != test.line || !strings.Contains(problems[0].Text, test.want) {
				t.Errorf("got %+v, want line %d and %q", problems[0], test.line, test.want)
			}
			if !reflect.DeepEqual(got, Default()) {
				t.Errorf("settings %+v are not the defaults", got)
			}
		})
	}
}
