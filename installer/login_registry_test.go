package installer

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

func textValue(text string) (*value, error) {
	v := &value{Type: typeText}
	for _, unit := range utf16.Encode([]rune(text + "\x00")) {
		v.Data = binary.LittleEndian.AppendUint16(v.Data, unit)
	}
	return v, nil
}

func must(t interface{ Fatal(...any) }) func(Plan, error) Plan {
	return func(p Plan, err error) Plan {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func TestRunKeys(t *testing.T) {
	const tray = `C:\Users\Ünal 日本\lamplighter-tray.exe`
	line := `"` + tray + `" run --at-login`
	ours, err := textValue(line)
	if err != nil {
		t.Fatal(err)
	}
	other, err := textValue(`C:\old\lamplighter.exe run`)
	if err != nil {
		t.Fatal(err)
	}
	game, err := textValue(`"C:\Games\Lamplighter.exe\Lamplighter Game.exe"`)
	if err != nil {
		t.Fatal(err)
	}
	off, on := &value{Type: 3, Data: []byte{3, 0, 0, 0}}, &value{Type: 3, Data: []byte{2, 0, 0, 0}}
	set, del, approve := `set_value HKCU\`+runKey+` Lamplighter`, `delete_value HKCU\`+runKey+` Lamplighter`, `delete_value HKCU\`+approvedKey+` Lamplighter`
	mine := runValue{root: forAll, name: "My lamplighter", line: `"D:\x\lamplighter.exe" run`}
	for name, test := range map[string]struct {
		keys    runKeys
		on      bool
		program string   // of the first entry
		turnOn  []string // changes
		turnOff []string
		why     string // why it cannot be switched off
		foreign bool   // the value of our name is somebody else's
	}{
		"nothing":            {runKeys{}, false, "", []string{set}, nil, "", false},
		"ours":               {runKeys{own: ours}, true, tray, nil, []string{del}, "", false},
		"ours, approved":     {runKeys{own: ours, approved: on}, true, tray, nil, []string{del, approve}, "", false},
		"switched off":       {runKeys{own: ours, approved: off}, false, tray, []string{approve}, []string{del, approve}, "", false},
		"approved of before": {runKeys{approved: off}, false, "", []string{set, approve}, []string{approve}, "", false},
		"an empty approval":  {runKeys{own: ours, approved: &value{}}, true, tray, nil, []string{del, approve}, "", false},
		"stale":              {runKeys{own: other}, true, `C:\old\lamplighter.exe`, []string{set}, []string{del}, "", false},
		"no text":            {runKeys{own: &value{Type: 4, Data: []byte{1, 0, 0, 0}}}, false, "", []string{set}, nil, "", true},
		"half a character":   {runKeys{own: &value{Type: 1, Data: []byte{'a', 0, 'b'}}}, true, "a", []string{set}, nil, "Task Manager", true},
		"another's":          {runKeys{own: game, approved: on}, true, `C:\Games\Lamplighter.exe\Lamplighter Game.exe`, []string{set}, nil, "Task Manager", true},
		"for all":            {runKeys{elsewhere: []runValue{mine}}, true, `D:\x\lamplighter.exe`, []string{set}, nil, "Task Manager", false},
		"for all, off":       {runKeys{elsewhere: []runValue{{root: forAll, name: "lamplighter", line: "x", off: true}}}, false, "x", []string{set}, nil, "", false},
		"not to be read":     {runKeys{elsewhere: []runValue{{root: forAll, err: errors.New("no")}}}, false, "", []string{set}, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			test.keys.text = textValue
			list, _ := test.keys.entries()
			started, first := false, ""
			for n, e := range list {
				if started = started || e.On; n == 0 {
					first = e.Program
				}
				if own := n == 0 && test.keys.own != nil; e.How != howRegistry || e.Ours != (own && !test.foreign) || own && e.Path != forUser+runKey+`\`+valueName {
					t.Errorf("%+v", e)
				}
			}
			if started != test.on || first != test.program {
				t.Errorf("%+v", list)
			}
			same := func(what string, p Plan, want []string) {
				t.Helper()
				var got []string
				for _, c := range p.Changes {
					got = append(got, string(c.Op)+" "+c.Path+" "+c.Name)
					if c.Op == OpSetValue && string(c.Content) != line {
						t.Errorf("%s", c.Content)
					}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s: %q", what, got)
				}
			}
			programs := Programs{Main: `C:\x\lamplighter.exe`, Tray: tray}
			if _, err := test.keys.on(programs, InstallOptions{}); errors.Is(err, ErrForeign) != test.foreign {
				t.Error(err)
			}
			p := must(t)(test.keys.on(programs, InstallOptions{Replace: test.foreign}))
			same("on", p, test.turnOn)
			if (len(p.Notes) > 0) != test.foreign {
				t.Errorf("it says %q", p.Notes)
			}
			p = must(t)(test.keys.off())
			same("off", p, test.turnOff)
			if err := test.keys.silence(&p); (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
				t.Error(err)
			}
		})
	}
	broken := runKeys{ownErr: errors.New("no"), text: textValue}
	if list, _ := broken.entries(); len(list) != 1 || list[0].Err == nil || list[0].On {
		t.Errorf("%+v", list)
	}
	if _, err := broken.on(Programs{Main: "x"}, InstallOptions{}); err == nil {
		t.Error("on, without what there is")
	}
	if _, err := broken.off(); err == nil {
		t.Error("off, without what there is")
	}
	if _, err := (runKeys{text: textValue}).on(Programs{Main: "x"}, InstallOptions{Headless: true}); err == nil {
		t.Error("headless")
	}
}

func TestRunLine(t *testing.T) {
	for _, program := range []string{"", `C:\a"b.exe`, "C:\\a\nb.exe", `C:\` + strings.Repeat("x", 240) + `.exe`} {
		if line, err := runLine(program); err == nil || line != "" {
			t.Errorf("%s: %s", program, line)
		}
	}
	// It is counted as Windows counts.
	if _, err := runLine(`C:\` + strings.Repeat("日", 230) + `.exe`); err != nil {
		t.Error(err)
	}
	line, err := runLine(`C:\100% & more^\lamplighter-tray.exe`)
	if err != nil || runProgram(line) != `C:\100% & more^\lamplighter-tray.exe` {
		t.Errorf("%s, %v", line, err)
	}
}
