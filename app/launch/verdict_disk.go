package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"lamplighter/monitor/statefile"
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

func verdictsAt(path string) statefile.File[map[string]remembered] {
	return statefile.File[map[string]remembered]{
		Path: path, Limit: mostVerdictBytes, Broken: errors.New("it does not say what checks have found"),
		Parse: decodeVerdicts, Format: encodeVerdicts,
	}
}

var (
	isKey     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	isVersion = regexp.MustCompile(`^\d{1,9}(\.\d{1,9}){0,5}$`)
)

func decodeVerdicts(data []byte) (map[string]remembered, error) {
	var file verdictFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("it has version %d", file.Version)
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
	return known, nil
}

// encodeVerdicts writes the good ones.
func encodeVerdicts(known map[string]remembered) ([]byte, error) {
	file := verdictFile{Version: 1, Verdicts: map[string]verdictLine{}}
	for key, r := range known {
		if r.verdict.OK {
			file.Verdicts[key] = verdictLine{Program: r.verdict.Command[0], Version: r.verdict.Version, At: r.at}
		}
	}
	data, err := json.Marshal(file)
	return append(data, '\n'), err
}
