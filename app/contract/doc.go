// Package contract holds Lamplighter to what its users rely on: routes, verbs,
// files, the menu, and which processes end. It runs the two finished programs
// as anybody would and imports nothing of them, so that everything behind the
// contracts may change while the suite stays as it is. It is data in testdata, as far
// as that goes: what has a row for each of its kind is a table, and what happens step
// by step is a script, in scripts or, where that disturbs others, in alone.
//
// Run it where nothing else is disturbed:
//
//	go test -exec build/isolated.sh -tags contract ./app/contract
//
// Only here belongs what a user, a client or another program can see and relies
// on. Internal records, the frames between shim and daemon, wording and layout
// do not, and neither does what takes longer than a few seconds.
package contract
