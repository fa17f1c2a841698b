package launch

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"lamplighter/monitor/plainfile"
)

// verdictsName is the file of good verdicts in the state directory.
const verdictsName = "verdicts.json"

const mostVerdictBytes = 64 << 10

type verdictFile struct {
	Version  int                    `json:"version"`
	Verdicts map[string]verdictLine `json:"verdicts"`
}

type verdictLine struct {
	Program string    `json:"program"` // for people
	Version string    `json:"serena"`
	At      time.Time `json:"at"`
}

// loadVerdicts reads what is there. A file that is no such file is worth
// nothing: everything is asked again then.
func loadVerdicts(path string) map[string]remembered {
	if path == "" {
		return nil
	}
	file, err := plainfile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, mostVerdictBytes+1))
	if err != nil || len(data) > mostVerdictBytes {
		return nil
	}
	return decodeVerdicts(data)
}

var (
	isKey     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	isVersion = regexp.MustCompile(`^\d{1,9}(\.\d{1,9}){0,5}$`)
)

func decodeVerdicts(data []byte) map[string]remembered {
	var file verdictFile
	if json.Unmarshal(data, &file) != nil || file.Version != 1 {
		return nil
	}
	known := map[string]remembered{}
	for key, line := range file.Verdicts {
		if !isKey.MatchString(key) || !isVersion.MatchString(line.Version) || CompareVersions(line.Version, oldest) < 0 {
			continue
		}
		v := Verdict{OK: true, Version: line.Version, Detail: "Serena " + line.Version}
		v.Command = []string{line.Program}
		known[key] = remembered{verdict: v, at: line.At}
	}
	return known
}

// saveVerdicts writes the good ones, so that whoever reads sees the old file or
// the new one. It makes no directory.
func saveVerdicts(path string, known map[string]remembered) (err error) {
	file := verdictFile{Version: 1, Verdicts: map[string]verdictLine{}}
	for key, r := range known {
		if r.verdict.OK {
			file.Verdicts[key] = verdictLine{Program: r.verdict.Command[0], Version: r.verdict.Version, At: r.at}
		}
	}
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	// What one that was killed has left; it is tried again with the next.
	_ = plainfile.Sweep(path)
	fresh, err := os.CreateTemp(filepath.Dir(path), "."+verdictsName+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = fresh.Close() // it may be closed already
			_ = os.Remove(fresh.Name())
		}
	}()
	if _, err = fresh.Write(append(data, '\n')); err != nil {
		return err
	}
	if err = fresh.Close(); err != nil {
		return err
	}
	return plainfile.Rename(fresh.Name(), path)
}
