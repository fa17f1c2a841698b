package document

import "errors"

func parseJSON([]byte, [][]string) (editor, error) { return nil, errors.New("not built yet") }
