package main

import "os"

// leaveDrain does nothing: nothing goes on without the keeper here.
func leaveDrain(*os.File) {}
