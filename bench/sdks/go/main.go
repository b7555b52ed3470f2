// Command sdks measures what a client costs: the SDK for Go, bare calls of grpc-go, or etcd's client.
//
// It reads one order as JSON from its standard input, so that its arguments contain no secret, and writes one report. A
// watching client writes a line when its watches are active, and reports when its input ends. The first failed call ends it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	quoin "quoin.dev/client"
)

const namespace = "default"

// order is what to measure.
type order struct {
	// Client is "sdk", "bare" or "etcd".
	Client    string   `json:"client"`
	Endpoints []string `json:"endpoints"`
	APIKey    string   `json:"apiKey"`
	// Token is for bare calls.
	Token string `json:"token"`
	// What is "put", "get", "lock" or "watch".
	What     string  `json:"what"`
	InFlight int     `json:"inFlight"`
	Seconds  float64 `json:"seconds"`
	WarmUp   float64 `json:"warmUpSeconds"`
	// Keys that calls use in turn; watches of as many keys.
	Keys       int `json:"keys"`
	ValueBytes int `json:"valueBytes"`
}

type report struct {
	Operations int64   `json:"operations"`
	DurationMs float64 `json:"durationMs"`
	// CPUMs is the processor time of this process.
	CPUMs float64 `json:"cpuMs"`
}

// client is one of the three.
type client struct {
	put, get func(ctx context.Context, key string) error
	// lock acquires and releases.
	lock func(ctx context.Context, worker int) error
	// watch starts to watch a key, and calls seen for each change.
	watch func(ctx context.Context, key string, seen func()) error
	close func()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return err
	}
	var asked order
	if err := json.Unmarshal(line, &asked); err != nil {
		return err
	}
	ctx := context.Background()
	measured, err := connect(ctx, asked)
	if err != nil {
		return err
	}
	defer measured.close()
	var result report
	if asked.What == "watch" {
		result, err = watch(ctx, asked, measured, input)
	} else {
		result, err = load(ctx, asked, measured)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func connect(ctx context.Context, asked order) (*client, error) {
	value := bytes.Repeat([]byte("v"), asked.ValueBytes)
	switch asked.Client {
	case "sdk":
		return sdk(ctx, asked, value)
	case "bare":
		return bare(asked, value)
	case "etcd":
		return etcd(asked, value)
	}
	return nil, fmt.Errorf("there is no client %q", asked.Client)
}

func sdk(ctx context.Context, asked order, value []byte) (*client, error) {
	c, err := quoin.New(asked.Endpoints, quoin.APIKey(asked.APIKey))
	if err != nil {
		return nil, err
	}
	locks := make([]*quoin.Mutex, asked.InFlight)
	for at := range locks {
		locks[at] = c.Lock(namespace, fmt.Sprintf("bench-%d", at))
		if asked.What == "lock" {
			if err := locks[at].Create(ctx); err != nil && !errors.Is(err, quoin.LockExists) {
				return nil, err
			}
		}
	}
	return &client{
		put: func(ctx context.Context, key string) error {
			_, err := c.KV.Put(ctx, namespace, key, value)
			return err
		},
		get: func(ctx context.Context, key string) error {
			_, err := c.KV.Get(ctx, namespace, key)
			return err
		},
		lock: func(ctx context.Context, worker int) error {
			hold, err := locks[worker].Lock(ctx)
			if err != nil {
				return err
			}
			_, err = hold.Release(ctx)
			return err
		},
		watch: func(ctx context.Context, key string, seen func()) error {
			watched, err := c.WatchKey(ctx, namespace, key)
			if err != nil {
				return err
			}
			go func() {
				for batch, err := range watched.Batches() {
					if ctx.Err() != nil {
						return
					}
					if err != nil {
						fail(err)
					}
					for range batch.Events {
						seen()
					}
				}
			}()
			return nil
		},
		close: func() { c.Close() },
	}, nil
}

// bare calls the generated messages over grpc-go, with the headers that every call needs.
func bare(asked order, value []byte) (*client, error) {
	connection, err := grpc.NewClient("passthrough:///"+asked.Endpoints[0],
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	with := func(ctx context.Context) context.Context {
		return metadata.AppendToOutgoingContext(ctx,
			"authorization", "Bearer "+asked.Token, "api-version", "v1", "request-id", uuid())
	}
	return &client{
		put: func(ctx context.Context, key string) error {
			request := &quoin.PutKeyRequest{Namespace: namespace, Key: key, Value: value}
			return connection.Invoke(with(ctx), "/coordination.v1.KeyValueService/PutKey", request, &quoin.PutKeyResponse{})
		},
		get: func(ctx context.Context, key string) error {
			request := &quoin.GetKeyRequest{Namespace: namespace, Key: key}
			return connection.Invoke(with(ctx), "/coordination.v1.KeyValueService/GetKey", request, &quoin.GetKeyResponse{})
		},
		close: func() { connection.Close() },
	}, nil
}

func etcd(asked order, value []byte) (*client, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: asked.Endpoints, DialTimeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(c)
	if err != nil {
		return nil, err
	}
	mutexes := make([]*concurrency.Mutex, asked.InFlight)
	for at := range mutexes {
		mutexes[at] = concurrency.NewMutex(session, fmt.Sprintf("/bench-%d/", at))
	}
	text := string(value)
	return &client{
		put: func(ctx context.Context, key string) error {
			_, err := c.Put(ctx, key, text)
			return err
		},
		get: func(ctx context.Context, key string) error {
			_, err := c.Get(ctx, key)
			return err
		},
		lock: func(ctx context.Context, worker int) error {
			if err := mutexes[worker].Lock(ctx); err != nil {
				return err
			}
			return mutexes[worker].Unlock(ctx)
		},
		watch: func(ctx context.Context, key string, seen func()) error {
			responses := c.Watch(ctx, key, clientv3.WithCreatedNotify())
			if first := <-responses; first.Err() != nil {
				return first.Err()
			}
			go func() {
				for response := range responses {
					if response.Err() != nil && ctx.Err() == nil {
						fail(response.Err())
					}
					for range response.Events {
						seen()
					}
				}
			}()
			return nil
		},
		close: func() { c.Close() },
	}, nil
}

// load makes calls for a while, after a warm-up that does not count.
func load(ctx context.Context, asked order, measured *client) (report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun, done atomic.Int64
	call := func(worker int) error {
		number := begun.Add(1)
		if asked.Keys > 0 {
			number %= int64(asked.Keys)
		}
		key := keyOf(number)
		switch asked.What {
		case "put":
			return measured.put(ctx, key)
		case "get":
			return measured.get(ctx, key)
		}
		return measured.lock(ctx, worker)
	}
	if asked.What == "get" {
		for number := range asked.Keys {
			if err := measured.put(ctx, keyOf(int64(number))); err != nil {
				return report{}, err
			}
		}
	}
	started := time.Now()
	counted := started.Add(time.Duration(asked.WarmUp * float64(time.Second)))
	end := counted.Add(time.Duration(asked.Seconds * float64(time.Second)))
	var workers sync.WaitGroup
	for worker := range asked.InFlight {
		workers.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) {
				if err := call(worker); err != nil {
					cancel(err)
					return
				}
				done.Add(1)
			}
		})
	}
	time.Sleep(time.Until(counted))
	doneBefore, cpuBefore, from := done.Load(), cpuMs(), time.Now()
	time.Sleep(time.Until(end))
	result := report{Operations: done.Load() - doneBefore, DurationMs: ms(time.Since(from)), CPUMs: cpuMs() - cpuBefore}
	workers.Wait()
	return result, context.Cause(ctx)
}

// watch counts changes from the first line of its input after "ready" until the next one.
func watch(ctx context.Context, asked order, measured *client, input *bufio.Reader) (report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var seen atomic.Int64
	for number := range asked.Keys {
		if err := measured.watch(ctx, keyOf(int64(number)), func() { seen.Add(1) }); err != nil {
			return report{}, err
		}
	}
	fmt.Println("ready")
	if _, err := input.ReadBytes('\n'); err != nil {
		return report{}, err
	}
	seenBefore, cpuBefore, from := seen.Load(), cpuMs(), time.Now()
	if _, err := input.ReadBytes('\n'); err != nil && err != io.EOF {
		return report{}, err
	}
	return report{Operations: seen.Load() - seenBefore, DurationMs: ms(time.Since(from)), CPUMs: cpuMs() - cpuBefore}, nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func keyOf(number int64) string { return fmt.Sprintf("bench/sdk/%012d", number) }

// uuid is a random UUID of version 4.
func uuid() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:])
	bytes[6] = bytes[6]&0x0f | 0x40
	bytes[8] = bytes[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func ms(duration time.Duration) float64 { return float64(duration) / float64(time.Millisecond) }

func cpuMs() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	of := func(value syscall.Timeval) float64 { return float64(value.Sec)*1e3 + float64(value.Usec)/1e3 }
	return of(usage.Utime) + of(usage.Stime)
}
