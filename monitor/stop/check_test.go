package stop

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheck(t *testing.T) {
	fine := func(change func(*Facts)) Facts {
		f := Facts{Label: "4 - alpha", Recognised: true, Work: Idle}
		change(&f)
		return f
	}
	someone := []Process{{PID: 7, Name: "claude"}}
	for _, c := range []struct {
		name string
		f    Facts
		kind error // nil = it may be ended
		hard bool
	}{
		{"idle", fine(func(*Facts) {}), nil, false},
		{"cannot tell", fine(func(f *Facts) { f.Work = CannotTell }), nil, false},
		{"hung", fine(func(f *Facts) { f.Work, f.Red = Silent, true }), nil, false},
		{"silent", fine(func(f *Facts) { f.Work = Silent }), ErrUnknown, false},
		{"busy", fine(func(f *Facts) { f.Work = Busy }), ErrBusy, false},
		{"busy and red", fine(func(f *Facts) { f.Work, f.Red = Busy, true }), ErrBusy, false},
		{"pinned", fine(func(f *Facts) { f.Pinned = true }), ErrPinned, false},
		{"nobody knows who is pinned", fine(func(f *Facts) { f.PinsUnknown = errors.New("no file") }), ErrUnknown, false},
		{"a container", fine(func(f *Facts) { f.Contained = true }), ErrContained, false},
		{"a service", fine(func(f *Facts) { f.Service = "x.service" }), ErrService, false},
		{"used", fine(func(f *Facts) { f.Users = someone }), ErrInUse, false},
		{"used by nobody knows whom", fine(func(f *Facts) { f.Users = []Process{{}} }), ErrInUse, false},
		{"uncertain", fine(func(f *Facts) { f.Uncertain = errors.New("no bus") }), ErrUnknown, false},
		{"not recognised", fine(func(f *Facts) { f.Recognised = false }), ErrNotRecognised, true},
		{"ours", fine(func(f *Facts) { f.Ours = someone }), ErrOurs, true},
		{"above us", fine(func(f *Facts) { f.Above = someone }), ErrAncestor, true},
		{"another user's", fine(func(f *Facts) { f.Foreign = someone }), ErrOtherUser, true},
	} {
		got := Check(c.f, Order{})
		if (got == nil) != (c.kind == nil) || got != nil && !errors.Is(got, c.kind) {
			t.Errorf("%s: %v", c.name, got)
			continue
		}
		forced := Check(c.f, Order{Force: true})
		if (forced != nil) != c.hard {
			t.Errorf("%s, forced: %v", c.name, forced)
		}
		if got == nil {
			continue
		}
		if got.Forceable() == c.hard {
			t.Errorf("%s: force is offered: %v", c.name, got.Forceable())
		}
		text := got.Error()
		if !strings.HasPrefix(text, "Not ended: 4 - alpha ") || !strings.HasSuffix(text, ".") || strings.Contains(text, "..") {
			t.Errorf("%s: %q is no sentence", c.name, text)
		}
		if !c.hard && !strings.Contains(strings.ToLower(text), "force") && c.kind != nil {
			t.Errorf("%s: %q does not say what to do", c.name, text)
		}
	}
}

// A policy is refused more than a user, and force does not help it.
func TestCheckAutomatic(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Facts
		kind error // nil = it may be ended
	}{
		{"idle", Facts{Work: Idle}, nil},
		{"cannot tell", Facts{Work: CannotTell}, ErrUnknown},
		{"cannot tell, and red", Facts{Work: CannotTell, Red: true}, ErrUnknown},
		{"cannot tell, orphaned", Facts{Work: CannotTell, Orphaned: true}, nil},
		{"silent", Facts{Work: Silent}, ErrUnknown},
		{"silent, and red", Facts{Work: Silent, Red: true}, ErrUnknown},
		{"silent, orphaned", Facts{Work: Silent, Orphaned: true, Red: true}, nil},
		{"busy, orphaned", Facts{Work: Busy, Orphaned: true, Red: true}, ErrBusy},
		{"orphaned, in use", Facts{Orphaned: true, Users: []Process{{}}}, ErrInUse},
		{"orphaned, a service", Facts{Orphaned: true, Service: "x.service"}, ErrService},
		{"orphaned, in a container", Facts{Orphaned: true, Contained: true}, ErrContained},
		{"orphaned, pinned", Facts{Orphaned: true, Pinned: true}, ErrPinned},
		{"orphaned, uncertain", Facts{Orphaned: true, Uncertain: errors.New("no bus")}, ErrUnknown},
		{"orphaned, another user's", Facts{Orphaned: true, Foreign: []Process{{PID: 7}}}, ErrOtherUser},
	} {
		c.f.Label, c.f.Recognised = "4 - alpha", true
		for _, force := range []bool{false, true} {
			got := Check(c.f, Order{Automatic: true, Force: force})
			if (got == nil) != (c.kind == nil) || got != nil && !errors.Is(got, c.kind) {
				t.Errorf("%s, force %v: %v", c.name, force, got)
			}
		}
	}
	changed := &Refusal{Label: "4 - alpha", Kind: ErrChanged, Why: "its client runs."}
	if got := changed.Error(); got != "Not ended: 4 - alpha: its client runs." || !errors.Is(changed, ErrChanged) {
		t.Errorf("%q", got)
	}
}

// What a policy may end, a user may.
func TestAutomaticAllowsLess(t *testing.T) {
	some := rapid.SliceOfN(rapid.Just(Process{PID: 7}), 0, 1)
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{
			Recognised: rapid.Bool().Draw(t, "recognised"), Pinned: rapid.Bool().Draw(t, "pinned"), Red: rapid.Bool().Draw(t, "red"),
			Orphaned: rapid.Bool().Draw(t, "orphaned"), Contained: rapid.Bool().Draw(t, "contained"),
			Foreign: some.Draw(t, "foreign"), Users: some.Draw(t, "users"),
			Work: rapid.SampledFrom([]Work{CannotTell, Idle, Busy, Silent}).Draw(t, "work"),
		}
		// Red is what the state says: a proven orphan is.
		f.Red = f.Red || f.Orphaned
		automatic := Check(f, Order{Automatic: true, Force: rapid.Bool().Draw(t, "force")})
		if automatic == nil && (Check(f, Order{}) != nil || f.Work != Idle && !f.Orphaned) {
			t.Fatalf("allowed: %+v", f)
		}
	})
}

func TestCheckProperties(t *testing.T) {
	some := rapid.SliceOfN(rapid.Just(Process{PID: 7}), 0, 20)
	rapid.Check(t, func(t *rapid.T) {
		f := Facts{
			Recognised: rapid.Bool().Draw(t, "recognised"), Pinned: rapid.Bool().Draw(t, "pinned"), Red: rapid.Bool().Draw(t, "red"),
			Ours: some.Draw(t, "ours"), Above: some.Draw(t, "above"), Foreign: some.Draw(t, "foreign"), Users: some.Draw(t, "users"),
			Service: rapid.SampledFrom([]string{"", "x.service"}).Draw(t, "service"),
			Work:    rapid.SampledFrom([]Work{CannotTell, Idle, Busy, Silent}).Draw(t, "work"),
		}
		forced := Check(f, Order{Force: true})
		if never := !f.Recognised || len(f.Ours)+len(f.Above)+len(f.Foreign) > 0; (forced != nil) != never {
			t.Fatalf("forced: %v", forced)
		}
		plain := Check(f, Order{})
		if forced != nil && plain == nil {
			t.Fatal("force forbids what is allowed without")
		}
		if plain == nil && (f.Pinned || f.Service != "" || len(f.Users) > 0 || f.Work == Busy) {
			t.Fatalf("allowed: %+v", f)
		}
	})
}

func TestCallName(t *testing.T) {
	for in, want := range map[string]string{
		"Task-22:FindSymbolTool": "find_symbol", "Task-1:init_project_services": "init_project_services", "ReadFileTool": "read_file",
		"": "", "Task-1:Tool": "Tool", "Task-1:\x1b[31mEvilTool": "[31m_evil", strings.Repeat("x", 400): strings.Repeat("x", 20) + "…" + strings.Repeat("x", 19),
	} {
		if got := callName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOwnTask(t *testing.T) {
	for name, want := range map[string]bool{
		"Task-1:init_project_services": true, "Task-1:init_language_server_manager": true, "BackgroundTask:_get_config_overview": true,
		"Task-2:FindSymbolTool": false, "Task-9:SaveMemory": false, "Task-5:run": false, "": false, "init_project_services": false,
	} {
		if ownTask(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
