// Command load puts a load of unary gRPC calls on the members of a cluster, and reports how long each call took. It knows
// no message of any system: it sends given bytes, with its own number in them.
//
// It reads one Order as JSON from its standard input, so that its arguments contain no token, and writes one Report as
// JSON. The first failed call ends it, with the reason on its standard error.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

// Order describes the load: the calls, their targets, and the duration.
type Order struct {
	// Endpoints are the members, as host:port. Each gets the same share of the connections.
	Endpoints []string `json:"endpoints"`
	// Connections to each member.
	Connections int `json:"connections"`
	InFlight    int `json:"inFlight"`
	// The load ends after Ms milliseconds or Operations calls, whichever comes first; 0 operations mean no bound.
	Ms         float64 `json:"ms"`
	Operations int64   `json:"operations"`
	// Method is the full name of the method, such as /package.Service/Method.
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	// RequestIDHeader gets a random UUID with each call; empty = none.
	RequestIDHeader string `json:"requestIdHeader"`
	// Body is the message of each call, in base64 within JSON.
	Body []byte `json:"body"`
	// NumberAt is the position in Body of Digits decimal digits, the number of the call.
	NumberAt int `json:"numberAt"`
	Digits   int `json:"digits"`
	// The first call has the number First; with Numbers above 0 they restart after that many.
	First   int64 `json:"first"`
	Numbers int64 `json:"numbers"`
}

// Report contains the results.
type Report struct {
	DurationMs float64 `json:"durationMs"`
	// CPUMs is the processor time of this process, in milliseconds.
	CPUMs float64 `json:"cpuMs"`
	// LatenciesMs of all calls, unordered.
	LatenciesMs []float64 `json:"latenciesMs"`
}

// asIs passes messages on as plain bytes.
type asIs struct{}

func (asIs) Marshal(message any) ([]byte, error)       { return *message.(*[]byte), nil }
func (asIs) Unmarshal(bytes []byte, message any) error { *message.(*[]byte) = bytes; return nil }
func (asIs) Name() string                              { return "proto" }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var order Order
	if err := json.NewDecoder(os.Stdin).Decode(&order); err != nil {
		return err
	}
	connections, err := connectAll(order)
	if err != nil {
		return err
	}
	report, err := load(order, connections)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// connectAll connects to the members in turn, so that calls that use the connections in turn are spread over them.
func connectAll(order Order) ([]*grpc.ClientConn, error) {
	var connections []*grpc.ClientConn
	for range order.Connections {
		for _, endpoint := range order.Endpoints {
			connection, err := grpc.NewClient("passthrough:///"+endpoint,
				grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithDefaultCallOptions(grpc.ForceCodec(asIs{})))
			if err != nil {
				return nil, err
			}
			connection.Connect()
			connections = append(connections, connection)
		}
	}
	return connections, nil
}

func load(order Order, connections []*grpc.ClientConn) (*Report, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var begun atomic.Int64
	latencies := make([][]float64, order.InFlight)
	cpuBefore := cpuMs()
	started := time.Now()
	end := started.Add(time.Duration(order.Ms * float64(time.Millisecond)))
	var workers sync.WaitGroup
	for worker := range order.InFlight {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for time.Now().Before(end) && ctx.Err() == nil {
				number := begun.Add(1) - 1
				if order.Operations > 0 && number >= order.Operations {
					return
				}
				sent := time.Now()
				if err := call(ctx, order, connections[number%int64(len(connections))], number); err != nil {
					cancel(err)
					return
				}
				latencies[worker] = append(latencies[worker], ms(time.Since(sent)))
			}
		}()
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	report := &Report{DurationMs: ms(time.Since(started)), CPUMs: cpuMs() - cpuBefore}
	for _, values := range latencies {
		report.LatenciesMs = append(report.LatenciesMs, values...)
	}
	return report, nil
}

func call(ctx context.Context, order Order, connection *grpc.ClientConn, at int64) error {
	number := order.First + at
	if order.Numbers > 0 {
		number = order.First + at%order.Numbers
	}
	body := append([]byte(nil), order.Body...)
	copy(body[order.NumberAt:order.NumberAt+order.Digits], fmt.Sprintf("%0*d", order.Digits, number))
	headers := metadata.New(order.Headers)
	if order.RequestIDHeader != "" {
		headers.Set(order.RequestIDHeader, uuid())
	}
	var answer []byte
	return connection.Invoke(metadata.NewOutgoingContext(ctx, headers), order.Method, &body, &answer,
		grpc.WaitForReady(true))
}

// uuid is a random UUID of version 4.
func uuid() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:])
	bytes[6] = bytes[6]&0x0f | 0x40
	bytes[8] = bytes[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}

func ms(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

func cpuMs() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	of := func(value syscall.Timeval) float64 { return float64(value.Sec)*1e3 + float64(value.Usec)/1e3 }
	return of(usage.Utime) + of(usage.Stime)
}
