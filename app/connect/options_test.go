package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	server, err := os.Executable() // an absolute path
	if err != nil {
		t.Fatal(err)
	}
	const needed = "--lifetime session --dir /d --alive /a "
	for _, test := range []struct {
		args string // PROGRAM stands for the program
		want options
		err  string
	}{
		{args: "keep " + needed + "-- PROGRAM", want: options{dir: "/d", alive: "/a", linger: defaultLinger, command: []string{server}}},
		{
			args: "keep --alive /a --linger 7 --dir /d --lifetime shared -- PROGRAM --dir x -- y",
			want: options{shared: true, dir: "/d", alive: "/a", linger: 7 * time.Second, command: []string{server, "--dir", "x", "--", "y"}},
		},
		{args: "keep " + needed + "--linger 0 -- PROGRAM", want: options{dir: "/d", alive: "/a", command: []string{server}}},
		{args: "keep " + needed + "--browsers spare -- PROGRAM", want: options{dir: "/d", alive: "/a", linger: defaultLinger, spare: true, command: []string{server}}},
		{args: "keep " + needed + "--browsers end -- PROGRAM", want: options{dir: "/d", alive: "/a", linger: defaultLinger, command: []string{server}}},
		{args: "", err: "mode"},
		{args: "serve -- PROGRAM", err: "mode"},
		{args: "keep -- PROGRAM", err: "--lifetime"},
		{args: "keep --lifetime long --dir /d --alive /a -- PROGRAM", err: "--lifetime"},
		{args: "keep --lifetime session --alive /a -- PROGRAM", err: "--dir"},
		{args: "keep --lifetime session --dir /d -- PROGRAM", err: "--alive"},
		{args: "keep " + needed, err: "absolute"},
		{args: "keep " + needed + "--", err: "absolute"},
		{args: "keep " + needed + "-- sleep", err: "absolute"},
		{args: "keep " + needed + "--linger", err: "value"},
		{args: "keep " + needed + "--linger soon -- PROGRAM", err: "seconds"},
		{args: "keep " + needed + "--linger -1 -- PROGRAM", err: "seconds"},
		{args: "keep " + needed + "--linger 86401 -- PROGRAM", err: "seconds"},
		{args: "keep " + needed + "--linger 99999999999 -- PROGRAM", err: "seconds"},
		{args: "keep " + needed + "--browsers some -- PROGRAM", err: "--browsers"},
		{args: "keep " + needed + "--colour red -- PROGRAM", err: `no option "--colour"`},
		{args: "keep PROGRAM", err: "value"},
	} {
		args := strings.Fields(test.args)
		for i := range args {
			if args[i] == "PROGRAM" {
				args[i] = server
			}
		}
		got, err := parse(args)
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v", test.args, err)
			}
		case err != nil:
			t.Errorf("%s: %v", test.args, err)
		case !slices.Equal(got.command, test.want.command) || got.shared != test.want.shared || got.spare != test.want.spare ||
			got.dir != test.want.dir || got.alive != test.want.alive || got.linger != test.want.linger:
			t.Errorf("%s: %+v", test.args, got)
		}
	}
}

func TestMainIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("./main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 40 {
		t.Errorf("main.go has %d lines", n)
	}
}
