package quoin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "quoin.dev/client/internal/coordination/v1"
)

// Version is that of this module.
const Version = "0.1.0"

// DefaultTimeout is the time limit of calls without their own: that of the service.
const DefaultTimeout = 5 * time.Second

var errClosed = errors.New("the client is closed")

// Services has the methods of the contract, each with its messages. A call of a method is an operation like any other of
// this package: it is repeated with one request id, and its error is an *Error. Methods with a stream make one attempt.
type Services struct {
	KeyValue     KeyValueServiceClient
	Locks        LockServiceClient
	Sessions     SessionServiceClient
	Memory       MemoryServiceClient
	Logs         EventLogServiceClient
	Transactions TransactionServiceClient
	Watches      WatchServiceClient
	Accounts     AccountServiceClient
	Cluster      ClusterServiceClient
	Admin        ClusterAdminServiceClient
}

// Client is a client of a cluster. It connects on first use. An application creates one and shares it: all methods may be
// called at the same time.
type Client struct {
	// Services has every method of the service, for what the rest of the client does not cover.
	Services
	// KV reads and writes keys.
	KV *KV

	core     *core
	renewals renewals
}

// ClientOption is an option of New.
type ClientOption func(*settings)

type settings struct {
	timeout time.Duration
	tls     *TLS
	dial    []grpc.DialOption
	isFixed bool
}

// WithTLS encrypts connections. Without it they are not encrypted.
func WithTLS(tls TLS) ClientOption { return func(s *settings) { s.tls = &tls } }

// WithDefaultTimeout sets the time limit of calls without their own.
func WithDefaultTimeout(limit time.Duration) ClientOption {
	return func(s *settings) { s.timeout = limit }
}

// WithDialOptions passes options to grpc-go, such as grpc.WithStatsHandler(otelgrpc.NewClientHandler()), which sends the
// headers of traces and makes a span for each attempt.
func WithDialOptions(options ...grpc.DialOption) ClientOption {
	return func(s *settings) { s.dial = append(s.dial, options...) }
}

// WithOneMember stays with the given endpoint, whichever member leads: for Admin.GetStatus, and for the admin port of a
// member with its admin token.
func WithOneMember() ClientOption { return func(s *settings) { s.isFixed = true } }

// New returns a client of the members at these endpoints, each as host:port, at least one. Any member serves every call:
// the client begins with a random one, and learns of the other members by itself. It makes no connection. It fails with
// InvalidArgument / BadField for unusable arguments.
func New(endpoints []string, credentials Credentials, opts ...ClientOption) (*Client, error) {
	s := settings{timeout: DefaultTimeout}
	for _, apply := range opts {
		apply(&s)
	}
	switch {
	case s.timeout <= 0:
		return nil, badField("timeout", fmt.Sprintf("must be more than 0, not %v", s.timeout))
	case len(endpoints) == 0:
		return nil, badField("endpoints", "must name at least one host:port")
	case credentials == nil:
		return nil, badField("credentials", "are missing")
	case s.isFixed && len(endpoints) > 1:
		return nil, badField("endpoints", "must be one with WithOneMember")
	}
	if wrong := slices.IndexFunc(endpoints, func(one string) bool { return !isEndpoint(one) }); wrong >= 0 {
		return nil, badField("endpoints", fmt.Sprintf("must be host:port, not %q", endpoints[wrong]))
	}
	var encrypted *currentTLS
	if s.tls != nil {
		var err error
		if encrypted, err = newTLS(*s.tls); err != nil {
			return nil, err
		}
	}
	c := &core{timeout: s.timeout, followsLeader: !s.isFixed, pool: newPool(endpoints, dialer(encrypted, s.dial))}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	var err error
	if c.tokens, err = credentials.tokens(c); err != nil {
		return nil, err
	}
	if c.followsLeader {
		c.onAnswer = (&discovery{core: c, due: time.Now().Add(discoveryDelay)}).onAnswer
	}
	client := &Client{core: c, Services: Services{
		pb.NewKeyValueServiceClient(c), pb.NewLockServiceClient(c), pb.NewSessionServiceClient(c),
		pb.NewMemoryServiceClient(c), pb.NewEventLogServiceClient(c), pb.NewTransactionServiceClient(c),
		pb.NewWatchServiceClient(c), pb.NewAccountServiceClient(c), pb.NewClusterServiceClient(c),
		pb.NewClusterAdminServiceClient(c),
	}}
	client.KV = &KV{client}
	return client, nil
}

// Close closes the connections, and returns when nothing of the client runs any more. Calls in flight fail with Canceled;
// those that were sent have an unknown outcome. New calls fail, watches end, and holds and sessions are not renewed any
// more: they count as lost. Further calls of Close do nothing.
func (c *Client) Close() error {
	c.core.close()
	return nil
}

// TokenSource returns the tokens of this client, for other clients: quoin.Tokens(client.TokenSource()).
func (c *Client) TokenSource() TokenSource { return c.core.tokens }

const (
	// How old a client is before it asks for the members: short-lived programs do not need it.
	discoveryDelay    = time.Second
	discoveryInterval = time.Minute
	discoveryTimeout  = 2 * time.Second
)

// discovery asks for the members of the cluster at intervals, so that a client knows more than its configured endpoints,
// which may disappear one day. It runs beside the operations of the client, and only while there are any.
type discovery struct {
	core *core

	mu       sync.Mutex
	due      time.Time
	isAsking bool
}

func (d *discovery) onAnswer() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); !d.isAsking && now.After(d.due) {
		d.isAsking = d.core.start(d.ask)
		d.due = now.Add(discoveryInterval)
	}
}

// ask fails silently: it is repeated after a later operation.
func (d *discovery) ask(ctx context.Context) {
	answer := &pb.GetClusterResponse{}
	_, err := d.core.execute(ctx, pb.ClusterService_GetCluster_FullMethodName, &pb.GetClusterRequest{}, answer,
		&options{timeout: discoveryTimeout}, persistence{attempts: 1, countsUnreached: true})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isAsking = false
	if err != nil {
		return
	}
	var endpoints []string
	for _, member := range answer.Members {
		switch {
		case member.Leader:
			endpoints = slices.Insert(endpoints, 0, member.GrpcEndpoint)
		case !member.Learner:
			endpoints = append(endpoints, member.GrpcEndpoint)
		}
	}
	d.core.pool.learn(endpoints)
}
