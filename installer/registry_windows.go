package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	winreg "golang.org/x/sys/windows/registry"
)

// rootOf parts the path of a key: "HKCU\Software\…".
func rootOf(path string) (winreg.Key, string, error) {
	root, rest, _ := strings.Cut(path, `\`)
	switch root + `\` {
	case forUser:
		return winreg.CURRENT_USER, rest, nil
	case forAll:
		return winreg.LOCAL_MACHINE, rest, nil
	}
	return 0, "", fmt.Errorf("%s is no key of the registry that is known here", path)
}

// openKey opens a key to read; nil without an error when there is none.
func openKey(path string) (*winreg.Key, error) {
	root, rest, err := rootOf(path)
	if err != nil {
		return nil, err
	}
	key, err := winreg.OpenKey(root, rest, winreg.QUERY_VALUE)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &key, err
}

// readRun reads the values that name lamplighter and that Windows starts at
// login: root is forUser or forAll.
func readRun(root string) ([]runValue, error) {
	key, err := openKey(root + runKey)
	if key == nil || err != nil {
		return nil, err
	}
	defer key.Close()
	names, err := key.ReadValueNames(0)
	if err != nil {
		return nil, err
	}
	var list []runValue
	for _, name := range names {
		if !strings.Contains(strings.ToLower(name), "lamplighter") {
			continue
		}
		v := runValue{root: root, name: name, off: switchedOff(root, name)}
		var kind uint32
		v.line, kind, v.err = key.GetStringValue(name)
		switch {
		case errors.Is(v.err, winreg.ErrUnexpectedType):
			v.err = errors.New("it is no text")
		case v.err == nil && kind == winreg.EXPAND_SZ:
			v.line, v.err = winreg.ExpandString(v.line)
		}
		list = append(list, v)
	}
	return list, nil
}

// switchedOff reports whether the Task Manager says so of a value.
func switchedOff(root, name string) bool {
	key, err := openKey(root + approvedKey)
	if key == nil || err != nil {
		return false
	}
	defer key.Close()
	said, _, err := key.GetBinaryValue(name)
	return err == nil && len(said) > 0 && said[0]%2 == 1
}
