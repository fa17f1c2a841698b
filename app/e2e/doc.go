// Package e2e is what the tests of the finished program share: a home of its
// own for each, the program in it, and those it deals with.
//
// The tests themselves are in the packages below, which run side by side. Only
// tests import this package, and it has only what two of them need. What
// stands in for a server is app/mcptest's, real servers are
// monitor/serena/serenatest's, and a browser is app/browsertest's.
package e2e
