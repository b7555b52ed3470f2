package quoin

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"
)

const (
	// Connections to endpoints that members have named, besides the configured ones: more than a cluster has members.
	hintedMax = 16
	// How long an attempt waits for a connection. Otherwise a host that never answers would use up the whole deadline,
	// although another member could have answered.
	connectTimeout   = time.Second
	keepaliveTime    = 10 * time.Second
	keepaliveTimeout = 5 * time.Second
	sentBytesMax     = 4 << 20
	// One event of a log may have 10 MiB.
	receivedBytesMax = 16 << 20
)

// The host of an endpoint: a name, an IPv4 address, or an IPv6 address without its brackets.
var hostPattern = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

func isEndpoint(text string) bool {
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.ParseUint(port, 10, 16)
	return err == nil && portErr == nil && number > 0 && hostPattern.MatchString(host)
}

// pool has the members that a client uses, one at a time. It stays with a member while that answers. Otherwise it goes to
// the next endpoint, or to the leader if a member names it. Once per round of the configured endpoints it tries a learned
// member, so that a client survives the replacement of all of them. A learned endpoint may be unreachable from here: one
// that fails is not tried again until it is learned again.
type pool struct {
	configured []string
	dial       func(endpoint string) (*grpc.ClientConn, error)

	mu       sync.Mutex
	targets  map[string]*target
	open     map[*target]bool // also those that were abandoned
	learned  []string
	index    int
	current  string
	isClosed bool
}

// target is an endpoint with its connection. A connection does not show that the other side has vanished, so one without
// an answer is abandoned: the next call gets another one, and this one is closed after its last call.
type target struct {
	pool     *pool
	endpoint string
	conn     *grpc.ClientConn

	calls int       // guarded by pool.mu
	heard time.Time // guarded by pool.mu
}

func newPool(endpoints []string, dial func(string) (*grpc.ClientConn, error)) *pool {
	index := rand.IntN(len(endpoints))
	return &pool{
		configured: slices.Clone(endpoints), dial: dial, index: index, current: endpoints[index],
		targets: map[string]*target{}, open: map[*target]bool{},
	}
}

// acquire returns the endpoint in use; the caller must release it.
func (p *pool) acquire() (*target, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil, &Error{Code: codes.Canceled, Outcome: NotExecuted, Message: "the client is closed", cause: errClosed}
	}
	found := p.targets[p.current]
	if found == nil {
		conn, err := p.dial(p.current)
		if err != nil {
			return nil, noConnection(p.current, err.Error(), err)
		}
		found = &target{pool: p, endpoint: p.current, conn: conn}
		p.targets[p.current], p.open[found] = found, true
		for _, surplus := range p.targets {
			isUsed := surplus == found || surplus.calls > 0 || slices.Contains(p.configured, surplus.endpoint)
			if len(p.targets) > len(p.configured)+hintedMax && !isUsed {
				p.abandon(surplus)
			}
		}
	}
	found.calls++
	return found, nil
}

// leave goes on from an endpoint that failed. If another call has left it already, this does nothing: many calls fail
// together, and must not skip untried endpoints.
func (p *pool) leave(failed, leader string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != failed {
		return
	}
	if leader != "" && leader != failed && isEndpoint(leader) {
		p.current = leader
		return
	}
	wasLearned := slices.Contains(p.learned, failed)
	p.learned = slices.DeleteFunc(p.learned, func(one string) bool { return one == failed })
	next := (p.index + 1) % len(p.configured)
	if next == 0 && !wasLearned && len(p.learned) > 0 {
		p.current = p.learned[0]
		return
	}
	p.index, p.current = next, p.configured[next]
}

// learn takes the endpoints of all members, in the order to try them. The endpoint in use stays.
func (p *pool) learn(endpoints []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learned = nil
	for _, endpoint := range endpoints {
		isNew := isEndpoint(endpoint) && !slices.Contains(p.configured, endpoint) && !slices.Contains(p.learned, endpoint)
		if isNew && len(p.learned) < hintedMax {
			p.learned = append(p.learned, endpoint)
		}
	}
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isClosed = true
	for one := range p.open {
		one.conn.Close()
	}
	clear(p.open)
	clear(p.targets)
}

// abandon lets the next call get another connection. It must be called with the lock.
func (p *pool) abandon(one *target) {
	if p.targets[one.endpoint] == one {
		delete(p.targets, one.endpoint)
	}
	p.closeUnused(one)
}

// closeUnused closes a connection that was abandoned, after its last call.
func (p *pool) closeUnused(one *target) {
	if one.calls == 0 && p.open[one] && p.targets[one.endpoint] != one {
		delete(p.open, one)
		one.conn.Close()
	}
}

// release ends a call. If there is no connection, the next call gets another one.
func (t *target) release(isUnreached bool) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if t.calls--; isUnreached {
		t.pool.abandon(t)
	}
	t.pool.closeUnused(t)
}

func (t *target) noteAnswer() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.heard = time.Now()
}

// noteSilence: since that time no answer came. The next call gets another connection, unless another call was answered.
func (t *target) noteSilence(since time.Time) {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if t.heard.Before(since) {
		t.pool.abandon(t)
	}
}

// connect waits until the connection is open or has failed: sending then fails at once, with the reason.
func (t *target) connect(ctx context.Context) error {
	if t.conn.GetState() == connectivity.Ready {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	t.conn.Connect()
	for {
		state := t.conn.GetState()
		if state != connectivity.Idle && state != connectivity.Connecting {
			return nil
		}
		if !t.conn.WaitForStateChange(limited, state) {
			if ctx.Err() == context.Canceled {
				return ended(ctx, NotExecuted)
			}
			return noConnection(t.endpoint, "no answer in time", context.DeadlineExceeded)
		}
	}
}

// dialer returns how to open a connection. It connects on first use.
func dialer(tls *currentTLS, extra []grpc.DialOption) func(string) (*grpc.ClientConn, error) {
	var security credentials.TransportCredentials = insecure.NewCredentials()
	if tls != nil {
		security = tls
	}
	options := append([]grpc.DialOption{
		grpc.WithTransportCredentials(security),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(sentBytesMax), grpc.MaxCallRecvMsgSize(receivedBytesMax)),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: connectTimeout}),
		// This package itself retries: it must count the attempts, and change the endpoint between them.
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithStatsHandler(sentHandler{}),
		grpc.WithUserAgent("quoin-go/" + Version),
	}, extra...)
	return func(endpoint string) (*grpc.ClientConn, error) {
		conn, err := grpc.NewClient("dns:///"+endpoint, options...)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be used: %w", endpoint, err)
		}
		return conn, nil
	}
}

// sentHandler notes whether a call was sent: then it may have been executed.
type sentHandler struct{}

type sentKey struct{}

// withSent returns a context for one call, and whether that call was sent.
func withSent(ctx context.Context) (context.Context, func() bool) {
	sent := &atomic.Bool{}
	return context.WithValue(ctx, sentKey{}, sent), sent.Load
}

func (sentHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (sentHandler) HandleRPC(ctx context.Context, event stats.RPCStats) {
	mark, isOurs := ctx.Value(sentKey{}).(*atomic.Bool)
	if !isOurs {
		return
	}
	switch event.(type) {
	case *stats.Begin:
		// Of an attempt that grpc-go repeats by itself, the member has seen nothing.
		mark.Store(false)
	case *stats.OutHeader:
		mark.Store(true)
	}
}

func (sentHandler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (sentHandler) HandleConn(context.Context, stats.ConnStats) {}
