// The program that keeps the namespaces of a pod alive: it only waits for a signal to end.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGINT, syscall.SIGTERM)
	// As the first process of a pod it inherits orphans, where containers share their processes.
	orphan := make(chan os.Signal, 1)
	signal.Notify(orphan, syscall.SIGCHLD)
	for {
		select {
		case <-end:
			return
		case <-orphan:
			for {
				if id, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || id <= 0 {
					break
				}
			}
		}
	}
}
