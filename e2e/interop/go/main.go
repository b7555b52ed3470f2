// Command interop is a client in Go, on grpc-go, in two parts.
//
//	interop quoin SCENARIO HOST:PORT...   plays a scenario against the members of a cluster, each call through another one
//	interop reference CASE HOST:PORT      runs one test case of gRPC's own interop client against its TestService
//
// It exits with 0 if everything was as it should be. The messages of Quoin are made from the descriptors in the file that
// QUOIN_DESCRIPTORS names; the token is in QUOIN_TOKEN.
package main

import (
	"fmt"
	"os"
)

const usage = "usage: interop quoin SCENARIO HOST:PORT... | interop reference CASE HOST:PORT"

func main() {
	if len(os.Args) < 4 {
		fail(usage)
	}
	part, name, endpoints := os.Args[1], os.Args[2], os.Args[3:]
	switch part {
	case "quoin":
		scenario, isKnown := scenarios[name]
		if !isKnown {
			fail("there is no scenario %s", name)
		}
		scenario(openMembers(endpoints))
	case "reference":
		playReference(name, endpoints[0])
	default:
		fail(usage)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func expect(what string, actual, expected any) {
	if actual != expected {
		fail("%s: expected %v, got %v", what, expected, actual)
	}
}

func must(what string, err error) {
	if err != nil {
		fail("%s: %v", what, err)
	}
}
