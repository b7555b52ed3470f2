// Command etcd is etcd as released, started by the benchmark. It differs from etcd's own main package in one way: it
// also ends when its standard input does, so that no member outlives a killed benchmark.
package main

import (
	"io"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// exitOrphaned is the exit code of a member whose benchmark is gone.
const exitOrphaned = 1

func main() {
	go func() {
		// An error ends the input as well.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitOrphaned)
	}()
	etcdmain.Main(os.Args)
}
