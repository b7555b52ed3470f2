//go:build unix

// Package quointest starts a cluster on this machine for a test: with `npx quoin start`, or the command that the variable
// QUOIN_START names, such as "quoin start".
package quointest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	quoin "quoin.dev/client"
)

const (
	startLimit = 2 * time.Minute // The first run of npx downloads the package.
	stopLimit  = 20 * time.Second
	// Below the ports that systems use for outgoing connections. A member uses five ports of ten.
	portMin, portMax, portsPerMember = 12_000, 31_000, 10
)

// Cluster is a running cluster. Every member is a process.
type Cluster struct {
	// Endpoints are those of the members for gRPC.
	Endpoints []string
	// APIKey is that of the owner.
	APIKey string

	pids map[string]int
}

// Start starts a cluster of one, three or five members with an empty namespace "default". It ends with the test, and
// leaves nothing. A failure ends the test.
func Start(t testing.TB, members int) *Cluster {
	t.Helper()
	start := strings.Fields(os.Getenv("QUOIN_START"))
	if len(start) == 0 {
		start = []string{"npx", "--yes", "quoin", "start"}
	}
	directory := t.TempDir()
	args := append(start[1:], "--members", strconv.Itoa(members), "--base-port", strconv.Itoa(freePorts(t, members)), "--data-dir", directory)
	cmd := exec.Command(start[0], args...)
	// A group of its own, so that a signal reaches the cluster and not only npx.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatalf("the cluster does not start: %v", err)
	}
	lines, ended := make(chan string), make(chan error, 1)
	go func() {
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
		close(lines)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		kill := time.AfterFunc(stopLimit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer kill.Stop()
		for range lines {
		}
		<-ended
	})
	cluster := &Cluster{pids: map[string]int{}}
	late := time.After(startLimit)
	for isReady := false; !isReady; {
		select {
		case line, isOpen := <-lines:
			if !isOpen {
				t.Fatalf("the cluster ended: %s", complaint.String())
			}
			isReady = line == "Quoin is ready"
			cluster.note(strings.Fields(line))
		case <-late:
			t.Fatalf("the cluster was not ready in %v", startLimit)
		}
	}
	var known struct {
		GRPC   []string `json:"grpc"`
		APIKey string   `json:"apiKey"`
	}
	content, err := os.ReadFile(filepath.Join(directory, "endpoints.json"))
	if err == nil {
		err = json.Unmarshal(content, &known)
	}
	if err != nil {
		t.Fatalf("the cluster has no endpoints: %v", err)
	}
	cluster.Endpoints, cluster.APIKey = known.GRPC, known.APIKey
	return cluster
}

// note reads a row of the table of members: name, process, gRPC, HTTP, state.
func (c *Cluster) note(words []string) {
	if len(words) >= 5 && strings.HasPrefix(words[0], "q-") {
		if pid, err := strconv.Atoi(words[1]); err == nil {
			c.pids[words[2]] = pid
		}
	}
}

// Client returns a client of the cluster, which is closed with the test.
func (c *Cluster) Client(t testing.TB, opts ...quoin.ClientOption) *quoin.Client {
	t.Helper()
	client, err := quoin.New(c.Endpoints, quoin.APIKey(c.APIKey), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// Signal sends a signal to the member at an endpoint, such as syscall.SIGKILL or syscall.SIGSTOP.
func (c *Cluster) Signal(t testing.TB, endpoint string, signal syscall.Signal) {
	t.Helper()
	pid, isKnown := c.pids[endpoint]
	if !isKnown {
		t.Fatalf("no member has the endpoint %s", endpoint)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatal(err)
	}
}

func freePorts(t testing.TB, members int) int {
	for range 200 {
		base := portMin + rand.IntN(portMax-portMin)
		isFree := true
		for port := base; isFree && port < base+members*portsPerMember; port++ {
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if isFree = err == nil; isFree {
				listener.Close()
			}
		}
		if isFree {
			return base
		}
	}
	t.Fatal("there are no free ports")
	return 0
}
