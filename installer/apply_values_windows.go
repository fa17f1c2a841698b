package installer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
	winreg "golang.org/x/sys/windows/registry"
)

// systemRegistry is the part of the registry that is the user's.
type systemRegistry struct{}

func keyPath(key string) (string, error) {
	path, ok := strings.CutPrefix(key, `HKCU\`)
	if !ok || path == "" {
		return "", fmt.Errorf("%s is not a key of the user's", shown(key))
	}
	return path, nil
}

func (systemRegistry) get(key, name string) (*value, error) {
	path, err := keyPath(key)
	if err != nil {
		return nil, err
	}
	k, err := winreg.OpenKey(winreg.CURRENT_USER, path, winreg.QUERY_VALUE)
	if errors.Is(err, winreg.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer k.Close()
	n, kind, err := k.GetValue(name, nil)
	if errors.Is(err, winreg.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &value{Type: kind, Data: make([]byte, n)}
	if n > 0 {
		if n, v.Type, err = k.GetValue(name, v.Data); err != nil {
			return nil, err
		}
		v.Data = v.Data[:n]
	}
	return v, nil
}

func (systemRegistry) set(key, name string, v *value) error {
	path, err := keyPath(key)
	if err != nil {
		return err
	}
	if v == nil {
		k, err := winreg.OpenKey(winreg.CURRENT_USER, path, winreg.SET_VALUE)
		if err == nil {
			defer k.Close()
			err = k.DeleteValue(name)
		}
		if errors.Is(err, winreg.ErrNotExist) {
			return nil
		}
		return err
	}
	k, _, err := winreg.CreateKey(winreg.CURRENT_USER, path, winreg.SET_VALUE)
	if err != nil {
		return err
	}
	defer k.Close()
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	// The registry package sets values of some types only, and what lay there
	// may be of another.
	return regSetValueEx(windows.Handle(k), wide, v.Type, v.Data)
}

func (systemRegistry) text(s string) (*value, error) {
	wide, err := windows.UTF16FromString(s)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, 2*len(wide))
	for _, unit := range wide {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return &value{Type: winreg.SZ, Data: data}, nil
}

// regSetValueEx is RegSetValueExW.
func regSetValueEx(key windows.Handle, name *uint16, kind uint32, data []byte) error {
	status, _, _ := windows.NewLazySystemDLL("advapi32.dll").NewProc("RegSetValueExW").Call(
		uintptr(key), uintptr(unsafe.Pointer(name)), 0, uintptr(kind),
		uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data)))
	if status != 0 {
		return windows.Errno(status)
	}
	return nil
}
