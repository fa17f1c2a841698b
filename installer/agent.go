package installer

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// agentLabel names the launch agent, agentName is its file.
const (
	agentLabel = "lamplighter"
	agentName  = agentLabel + ".plist"
)

// longestSocket is how long the path of a Unix socket may be on macOS.
//
// Source: sys/un.h, sun_path, with the zero at its end.
const longestSocket = 103

// launchAgent is the text of the property list with which launchd starts program
// at login. It also listens at socket for clients; "" for not.
//
// Source: launchd.plist(5).
func launchAgent(program, socket string) (string, error) {
	if err := nameable(program); err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n" +
		`<plist version="1.0">` + "\n<dict>\n")
	line := func(depth int, key, value string) {
		fmt.Fprintf(&text, "%[1]s<key>%[2]s</key>\n%[1]s%[3]s\n", strings.Repeat("\t", depth), key, value)
	}
	line(1, "Label", asString(agentLabel))
	line(1, "ProgramArguments", "<array>\n\t\t"+asString(program)+"\n\t\t"+asString("run")+"\n\t\t"+asString("--at-login")+"\n\t</array>")
	line(1, "RunAtLoad", "<true/>")
	// Ended by Quit, it stays away.
	line(1, "KeepAlive", "<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>")
	line(1, "LimitLoadToSessionType", asString("Aqua"))
	line(1, "ProcessType", asString("Interactive"))
	// The shared servers go on while it is restarted.
	line(1, "AbandonProcessGroup", "<true/>")
	if socket != "" {
		if err := nameable(socket); err != nil {
			return "", err
		}
		const mode = 0o600
		line(1, "Sockets", fmt.Sprintf("<dict>\n\t\t<key>share</key>\n\t\t<dict>\n\t\t\t<key>SockPathName</key>\n\t\t\t%s\n"+
			"\t\t\t<key>SockPathMode</key>\n\t\t\t<integer>%d</integer>\n\t\t</dict>\n\t</dict>", asString(socket), mode))
	}
	text.WriteString("</dict>\n</plist>\n")
	return text.String(), nil
}

func asString(text string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // memory takes all
	return "<string>" + escaped.String() + "</string>"
}

// agent is what counts of a property list of launchd.
type agent struct {
	label, program string
	disabled       bool
}

// parseAgent reads a property list in its form as XML.
func parseAgent(text string) (agent, error) {
	if strings.HasPrefix(text, "bplist") {
		return agent{}, errors.New("it is a binary property list; plutil -convert xml1 makes it one that can be read")
	}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return agent{}, errors.New("there is no dictionary in it")
		}
		if err != nil {
			return agent{}, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "dict" {
			value, err := plistValue(d, start, 0)
			if err != nil {
				return agent{}, err
			}
			return agentOf(value.(map[string]any)), nil
		}
	}
}

func agentOf(dict map[string]any) agent {
	a := agent{}
	a.label, _ = dict["Label"].(string)
	a.disabled, _ = dict["Disabled"].(bool)
	// Program is what is run where there is one.
	if a.program, _ = dict["Program"].(string); a.program != "" {
		return a
	}
	var words []string
	list, _ := dict["ProgramArguments"].([]any)
	for _, each := range list {
		word, _ := each.(string)
		words = append(words, word)
	}
	a.program = programOf(words)
	return a
}

// plistValue reads one value: a map[string]any, []any, string or bool, and nil
// for what else there is.
func plistValue(d *xml.Decoder, start xml.StartElement, depth int) (any, error) {
	const deepest = 32
	if depth > deepest {
		return nil, errors.New("it is nested too deep")
	}
	dict, list, text, key := map[string]any{}, []any{}, "", ""
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.CharData:
			text += string(t)
		case xml.StartElement:
			value, err := plistValue(d, t, depth+1)
			if err != nil {
				return nil, err
			}
			if t.Name.Local == "key" {
				key, _ = value.(string)
				continue
			}
			dict[key] = value
			list = append(list, value)
		case xml.EndElement:
			switch start.Name.Local {
			case "dict":
				return dict, nil
			case "array":
				return list, nil
			case "string", "key":
				return text, nil
			case "true", "false":
				return start.Name.Local == "true", nil
			}
			return nil, nil
		}
	}
}
