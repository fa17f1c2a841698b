package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/rules"
)

// What holds for sessions where the file says nothing.
const (
	defaultSessionPort  = 8888
	defaultSessionLimit = 20
	defaultSessionStart = 10 * time.Second
)

// SessionKeys is what the file says of sessions. A field is nil or empty where
// it says nothing; Settings.Sessions tells what holds.
type SessionKeys struct {
	SessionPort         *SessionPort  `yaml:"session_port"`
	SessionLimit        *SessionLimit `yaml:"session_limit"`
	SessionStartSeconds *StartSeconds `yaml:"session_start_seconds"`
	SessionTransport    Transport     `yaml:"session_transport"`
	SessionCommand      SerenaCommand `yaml:"session_command"`
	SessionArguments    Arguments     `yaml:"session_arguments"`
	SessionServer       string        `yaml:"session_server"`
	Templates           []Template    `yaml:"templates"`
}

// Sessions is what holds for the servers that are started for clients that ask
// for one. Its slices and maps are not to be changed.
type Sessions struct {
	Port       int           // of 127.0.0.1, where sessions are asked for; 0 = not there
	Limit      int           // how many may live at once
	StartLimit time.Duration // how long a server may take to be ready
	Server     string        // what is started by default: monitor.KindSerena or the name of a template
	Serena     Serena        // how Serena is started
	Templates  []Template    // how others are, with transport and path filled in
}

// Serena is how Serena is started for a session.
type Serena struct {
	Transport Transport
	Command   []string // nil: it is found by itself
	Arguments []string // beside those that every server gets
}

// Sessions is what holds, each setting being its default where nothing is said.
func (s Settings) Sessions() Sessions {
	all := Sessions{
		Port: defaultSessionPort, Limit: defaultSessionLimit, StartLimit: defaultSessionStart, Server: monitor.KindSerena,
		Serena: Serena{
			Transport: s.SessionTransport.or(StreamableHTTP), Command: s.SessionCommand,
			Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"},
		},
	}
	if s.SessionPort != nil {
		all.Port = int(*s.SessionPort)
	}
	if s.SessionLimit != nil {
		all.Limit = int(*s.SessionLimit)
	}
	if s.SessionStartSeconds != nil {
		all.StartLimit = time.Duration(*s.SessionStartSeconds) * time.Second
	}
	if s.SessionServer != "" {
		all.Server = s.SessionServer
	}
	if s.SessionArguments != nil {
		all.Serena.Arguments = s.SessionArguments
	}
	for _, t := range s.Templates {
		all.Templates = append(all.Templates, t.filled())
	}
	return all
}

// PortBeside is where sessions are asked for besides the global dashboard's
// port, 0 when they are not: its own port answers them in any case.
func (s Sessions) PortBeside(d Dashboard) int {
	if d.On && d.Port == s.Port {
		return 0
	}
	return s.Port
}

// Template is the one of this name, as it is written.
func (s Sessions) Template(name string) (Template, bool) {
	i := slices.IndexFunc(s.Templates, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Template{}, false
	}
	return s.Templates[i], true
}

// Check tells what does not fit together in the whole file. The error is a
// *rules.FieldError.
func (s Settings) Check() error {
	if err := s.checkSessions(); err != nil {
		return err
	}
	return s.checkPolicies()
}

func (s Settings) checkSessions() error {
	if s.SessionServer == "" || s.SessionServer == monitor.KindSerena {
		return nil
	}
	names := []string{monitor.KindSerena}
	for _, t := range s.Templates {
		if t.Name == s.SessionServer {
			return nil
		}
		names = append(names, t.Name)
	}
	const text = "no template is called %s; "
	if near := Nearest(s.SessionServer, names); near != "" {
		return rules.Wrong("session_server", text+"did you mean %s?", excerpt(s.SessionServer), excerpt(near))
	}
	for i, name := range names {
		names[i] = excerpt(name)
	}
	return rules.Wrong("session_server", text+"add one under templates:, or write one of %s", excerpt(s.SessionServer), strings.Join(names, ", "))
}

// Transport is how MCP is spoken over HTTP.
type Transport string

// The transports that a server may be asked for.
const (
	StreamableHTTP Transport = "streamable-http"
	SSE            Transport = "sse"
)

// UnmarshalText accepts the two words and nothing else.
func (t *Transport) UnmarshalText(text []byte) error {
	return setWord(t, text, StreamableHTTP, SSE)
}

func (t Transport) or(other Transport) Transport {
	if t == "" {
		return other
	}
	return t
}

// SessionPort is the port on which sessions are asked for; 0 is none.
type SessionPort int

// UnmarshalText accepts 0 and the numbers from 1024 to 65535.
func (p *SessionPort) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*p = 0
		return nil
	}
	var port Port
	if err := port.UnmarshalText(text); err != nil {
		return fmt.Errorf("%w, or 0 for none", err)
	}
	*p = SessionPort(port)
	return nil
}

// SessionLimit is how many sessions may live at once.
type SessionLimit int

// UnmarshalText accepts the numbers from 1 to 200.
func (l *SessionLimit) UnmarshalText(text []byte) error {
	n, err := between(text, 1, 200)
	*l = SessionLimit(n)
	return err
}

// StartSeconds is how long a server may take to be ready.
type StartSeconds int

// UnmarshalText accepts the numbers from 1 to 300.
func (s *StartSeconds) UnmarshalText(text []byte) error {
	n, err := between(text, 1, 300)
	*s = StartSeconds(n)
	return err
}

func between(text []byte, least, most int) (int, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", excerpt(string(text)), least, most)
	}
	return n, nil
}
