// Command nats is the NATS server as released, started by the benchmark. It differs from the server's own main package in
// one way: it also ends when its standard input does, so that no member outlives a killed benchmark.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

// exitOrphaned is the exit code of a member whose benchmark is gone.
const exitOrphaned = 1

func main() {
	go func() {
		// An error ends the input as well.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitOrphaned)
	}()
	if err := serve(os.Args[1:]); err != nil {
		server.PrintAndDie(fmt.Sprintf("nats: %s", err))
	}
}

// serve runs the server with these arguments and returns when it has shut down.
func serve(args []string) error {
	flags := flag.NewFlagSet("nats", flag.ExitOnError)
	options, err := server.ConfigureOptions(flags, args, server.PrintServerAndExit, flags.Usage, server.PrintTLSHelpAndDie)
	if err != nil {
		return err
	}
	instance, err := server.NewServer(options)
	if err != nil {
		return err
	}
	instance.ConfigureLogger()
	if err := server.Run(instance); err != nil {
		return err
	}
	instance.WaitForShutdown()
	return nil
}
