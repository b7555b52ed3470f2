//go:build unix

package quoin_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	quoin "quoin.dev/client"
)

// It is not parallel: no other test has goroutines meanwhile.
func TestNothingIsLeftAfterClose(t *testing.T) {
	running, namespace := cluster(), space(t)
	before := sockets(t)
	client, err := quoin.New(running.Endpoints, quoin.APIKey(running.APIKey))
	must(t, err)
	ctx := t.Context()
	must(t, client.Lock(namespace, "close").Create(ctx))
	hold, err := client.Lock(namespace, "close").Lock(ctx)
	must(t, err)
	session, err := client.Session(ctx, namespace)
	must(t, err)
	idle, err := client.WatchKeys(ctx, namespace, "close/")
	must(t, err)
	read, err := client.WatchLocks(ctx, namespace, "")
	must(t, err)
	made, err := client.Logs.CreateLog(ctx, &quoin.CreateLogRequest{Namespace: namespace, Name: "close"})
	must(t, err)
	var wait sync.WaitGroup
	wait.Go(func() {
		for _, err := range read.Batches() {
			wantCancelled(t, err)
		}
	})
	wait.Go(func() {
		for _, err := range client.Log(made.Log.LogId).Tail(ctx) {
			wantCancelled(t, err)
		}
	})
	wait.Go(func() {
		_, err := client.Lock(namespace, "close").Lock(ctx, quoin.WithOwner("other"))
		wantCancelled(t, err)
	})
	time.Sleep(300 * time.Millisecond)
	must(t, client.Close())
	must(t, client.Close())
	wait.Wait()
	wantReason(t, hold.Err(), quoin.LockLost, codes.FailedPrecondition)
	wantReason(t, session.Err(), quoin.SessionLost, codes.FailedPrecondition)
	if isReleased, err := hold.Release(ctx); isReleased || err != nil {
		t.Errorf("unexpected %v, %v", isReleased, err)
	}
	for _, err := range idle.Batches() {
		wantCancelled(t, err)
	}
	// The goroutines of grpc-go end a moment after its connections.
	var left string
	for range 100 {
		if left = leftovers(); left == "" && sockets(t) <= before {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d sockets before, %d after; goroutines:\n%s", before, sockets(t), left)
}

func wantCancelled(t *testing.T, err error) {
	t.Helper()
	var own *quoin.Error
	if !errors.As(err, &own) || own.Code != codes.Canceled {
		t.Errorf("expected Canceled, got %v", err)
	}
}

// leftovers are the goroutines of the SDK and of grpc-go.
func leftovers() string {
	buffer := make([]byte, 1<<22)
	var left []string
	for _, one := range strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		isOurs := strings.Contains(one, "quoin.dev/client.") || strings.Contains(one, "google.golang.org/grpc")
		if isOurs && !strings.Contains(one, "testing.") {
			left = append(left, one)
		}
	}
	return strings.Join(left, "\n\n")
}

// sockets of this process; 0 where the system does not show them.
func sockets(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	count := 0
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			count++
		}
	}
	return count
}
