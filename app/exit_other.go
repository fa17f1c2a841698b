//go:build !windows

package main

import "os"

func exit(status int) { os.Exit(status) }
