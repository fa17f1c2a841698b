package main

import "errors"

func helpHear() error { return errors.ErrUnsupported }
