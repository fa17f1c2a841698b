package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// activateTool is the tool of Serena by which a client changes the project of its
// server. No other tool, and no route of its dashboard, does. Source:
// serena/tools/config_tools.py of 1.5.3 to 2.1.0.
const activateTool = "activate_project"

// withoutProject are the tools of Serena that need no project and keep nothing: the only
// ones that a client without a project may call. Source: ToolMarkerDoesNotRequireActiveProject
// in serena/tools of 1.5.3 to 2.1.0, and get_current_config.
var withoutProject = []string{"get_current_config", "initial_instructions", "list_queryable_projects", "open_dashboard", "query_project", "serena_info"}

// noProject is what every other tool says until then.
const noProject = "No project is active. Call " + activateTool + " first, with the path of the project's directory."

// sameProject is what activateTool says to a client that may not change its project. Its
// server does not offer the tool, unless settings of Serena bring it back, and it would
// change the project of all its clients.
const sameProject = "The project cannot be changed here: this server is for one project."

// queryTool works in another project for a moment, and a call of it that runs into
// Serena's time limit leaves the server there until it ends, for all its clients. Source:
// active_project_context in serena/agent.py and serena/task_executor.py of 2.1.0.
const queryTool = "query_project"

// noQuery is what it says in a server for a project.
const noQuery = "The tool " + queryTool + " is not to be had in a shared server: when it takes too long it leaves the other clients in that project."

// errUnreadable says that a call may mean something else to the server than to us.
var errUnreadable = errors.New("the parameters cannot be read as those of a tool call")

// toolCall is a tools/call, with all that it holds.
type toolCall struct {
	name      string
	params    map[string]json.RawMessage
	arguments map[string]json.RawMessage
}

// readCall reads the parameters of a tools/call as Serena does: the case of names counts,
// and of two equal ones the last.
func readCall(params []byte) (c toolCall, err error) {
	if json.Unmarshal(params, &c.params) != nil || json.Unmarshal(c.params["name"], &c.name) != nil {
		return c, errUnreadable
	}
	if arguments := c.params["arguments"]; len(arguments) > 0 && json.Unmarshal(arguments, &c.arguments) != nil {
		return c, errUnreadable
	}
	return c, nil
}

// mayName reports whether a tools/call can be one of that tool, without reading all of it.
func mayName(params []byte, tool string) bool {
	return bytes.Contains(params, []byte(tool)) || bytes.Contains(params, []byte(`\u`))
}

// mayCall reports whether a tools/call is one of that tool, or may be one to the server.
func mayCall(params []byte, tool string) bool {
	if !mayName(params, tool) {
		return false
	}
	call, err := readCall(params)
	return err != nil || call.name == tool
}

// activates reports whether a request is a call of activateTool, or may be one.
func activates(m wire.Message) bool {
	return m.Method == "tools/call" && mayCall(m.Params, activateTool)
}

// whyNot says why a tools/call is not passed on, mostly because its client has no
// project, "" when it is.
func (s *Session) whyNot(ctx context.Context, it *item) (why string) {
	if s.project != "" && !s.askRoots {
		if mayCall(it.Params, queryTool) {
			return noQuery
		}
		return ""
	}
	if c, err := readCall(it.Params); err == nil && slices.Contains(withoutProject, c.name) {
		return ""
	}
	switch err := s.findProject(ctx, it); {
	case s.project != "":
		return ""
	case err != nil:
		return notActivated(err)
	}
	return noProject
}

// tellText answers a tools/call in place of the server.
func (s *Session) tellText(it *item, text string, isError bool) {
	quoted, _ := json.Marshal(shown(text)) // of which nothing can fail
	s.tell(it, resultLine(it.ID, fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":%t}`, quoted, isError)))
}

// activate passes on a call of activateTool to the server of the project that it names,
// which the client has from then on. Everything before it has been answered, and
// everything behind it waits for its answer: Serena runs one tool after the other.
// Until there is one it is not certain that the client knows which project it has, and
// it has none: after an error it has to ask again. It returns what request does.
func (s *Session) activate(ctx context.Context, it *item) (isSent bool) {
	before := s.project
	s.project = ""
	s.askRoots, s.o.Root = false, nil // from now on it says itself which one it has
	call, err := readCall(it.Params)
	var project string
	if err == nil && (json.Unmarshal(call.arguments["project"], &project) != nil || project == "") {
		err = errors.New(activateTool + " needs a project: the path of its directory, or its name in Serena's settings")
	}
	root, known := "", false
	if err == nil {
		root, known, err = s.move(ctx, it, project)
	}
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		it.leaves = before
		s.tellText(it, notActivated(err), true)
		return false
	case !known:
		it.leaves = root
		s.tellText(it, "The project at "+root+" is active.", false)
		return false
	}
	// Another name could be that of another project by now.
	call.arguments["project"], _ = json.Marshal(root)
	call.params["arguments"], _ = json.Marshal(call.arguments)
	it.Params, _ = json.Marshal(call.params)
	it.line = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), it.ID, []byte(`,"method":"tools/call","params":`), it.Params, []byte(`}`))
	return s.request(ctx, it)
}

// notActivated says why all is as it was.
func notActivated(err error) string {
	return "The project was not activated: " + strings.TrimSuffix(err.Error(), ".") + "."
}

// move gives the client the server of a project that a call of it needs, after that has been
// started. known tells whether that server knows activateTool: in some contexts it does not when it is
// started with a project. After an error all is as before.
func (s *Session) move(ctx context.Context, it *item, project string) (root string, known bool, err error) {
	var plan share.Plan
	s.outside(func() { plan, err = s.o.Plan(ctx, project) })
	switch {
	case err != nil:
		return "", false, err
	case plan.Alone != "":
		return "", false, errors.New(plan.Alone)
	}
	root = plan.Spec.Project
	back := func() {}
	old := s.link
	if root != s.o.Servers.Project() {
		before := s.o.Servers.Move(plan)
		back = func() { s.o.Servers.Move(before) }
	} else if old != nil {
		return root, s.compareTools(ctx, it, old), nil
	}
	defer s.o.Servers.Began()()
	lk, err := s.reopen(ctx)
	if err != nil {
		back()
		return "", false, err
	}
	if old != nil {
		s.retire(old)
	}
	return root, s.compareTools(ctx, it, lk), nil
}

// knownProject is the project that the client knows that it has, unless another
// activation was accepted whose fate was not told. The caller has out, and not the turn.
func (s *Session) knownProject() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.pending {
		if it.activates && it.accepted && !it.told {
			return ""
		}
	}
	return s.project
}

// compareTools tells the client, which waits for a call, when another server has other tools
// than those that it has listed, and reports whether activateTool is among them.
func (s *Session) compareTools(ctx context.Context, it *item, lk *link) (known bool) {
	ctx, cancel := context.WithTimeout(ctx, sideLimit)
	defer cancel()
	var answer []byte
	s.outside(func() {
		answer, _ = lk.session.Ask(ctx, []byte(`{"jsonrpc":"2.0","id":"lamplighter-tools","method":"tools/list"}`))
	})
	result := wire.Split(answer).Result
	list, ok := readMembers(result)
	if !ok {
		return true // it says itself whether it does
	}
	if !s.noteTools(result) {
		s.write(func() error {
			return s.o.Out.Deliver(it.seq, false, []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		})
	}
	for _, tool := range list.Tools {
		known = known || tool.Name == activateTool
	}
	return known
}

// noteTools notes the tools that the client knows, and reports whether it knew the same.
func (s *Session) noteTools(result []byte) (same bool) {
	listed := sha256.Sum256(result)
	same = s.listed == listed
	s.listed = listed
	return same
}
