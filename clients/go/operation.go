package quoin

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "quoin.dev/client/internal/coordination/v1"
)

const (
	// Attempts of one operation that reach a member, with the first one: enough for a change of the leader, few enough
	// not to worsen an overload.
	attemptsMax = 4
	unlimited   = math.MaxInt

	firstPause = 50 * time.Millisecond
	pauseMax   = time.Second
)

// persistence is how long an operation continues while members fail.
type persistence struct {
	attempts int
	// Whether attempts that reach no member count.
	countsUnreached bool
	// How long a member may take for one attempt before the next one is tried; only for requests with an immediate
	// answer. 0 = as long as the operation.
	attemptTimeout time.Duration
}

var usual = persistence{attempts: attemptsMax}

// core is what the operations of one client share.
type core struct {
	pool   *pool
	tokens TokenSource
	// The time limit of operations without their own.
	timeout time.Duration
	// Whether an attempt may go to the leader; not for calls of one particular member.
	followsLeader bool
	// Called after each operation that was answered.
	onAnswer func()

	ctx    context.Context // ends when the client is closed
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	work   sync.WaitGroup
}

// start runs work of the client beside its operations. Its context ends when the client is closed, which waits for it.
// It does nothing after that.
func (c *core) start(work func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		work(c.ctx)
	}()
	return true
}

func (c *core) close() {
	c.mu.Lock()
	c.cancel(errClosed)
	c.mu.Unlock()
	c.pool.close()
	c.work.Wait()
}

// within returns a context that ends also when the client is closed.
func (c *core) within(ctx context.Context) (context.Context, context.CancelFunc) {
	merged, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { cancel(errClosed) })
	return merged, func() {
		stop()
		cancel(nil)
	}
}

// answer is what is known of an answer besides its message.
type answer struct {
	// Whether it repeats the answer to an earlier attempt or request, and nothing was executed now.
	replayed bool
	// When the attempt began that was answered: its request was not sent earlier.
	sent time.Time
}

// operation is one operation from the caller's point of view: up to four attempts with one request id, within one
// deadline, with the endpoints and tokens that it takes. Unavailable is repeated, at the leader if the member named it,
// else at the next endpoint. That is safe for changes, because the service executes a request id once. Unauthenticated is
// repeated once, with a new token. RateLimited is repeated after the pause that the service wants, at the same endpoint.
type operation struct {
	*core
	method      string
	request     proto.Message
	response    proto.Message
	opts        []grpc.CallOption
	persistence persistence

	requestID   string
	deadline    time.Time
	token       string
	hasToken    bool
	isRefreshed bool
	counted     int
	outcome     Outcome
}

var uuidPattern = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// Invoke implements grpc.ClientConnInterface: so each method of a service is an operation.
func (c *core) Invoke(ctx context.Context, method string, request, response any, opts ...grpc.CallOption) error {
	o := &options{}
	for _, one := range opts {
		own, isOwn := one.(Option)
		switch {
		case !isOwn:
		case own.name == "timeout", own.name == "request_id", own.name == "gathered":
			own.set(o)
		default:
			o.fail(badField(own.name, "is not an option of a method of a service, which takes "+eachCall))
		}
	}
	p := usual
	if method == pb.AccountService_VerifyEmail_FullMethodName {
		p.attempts = 1 // A token works once.
	}
	_, err := c.execute(ctx, method, request.(proto.Message), response.(proto.Message), o, p, opts...)
	if created, isKey := response.(*pb.CreateApiKeyResponse); err == nil && isKey && created.Key == "" {
		id := created.GetApiKey().GetApiKeyId()
		return &Error{
			Code: codes.DataLoss, Reason: APIKeyLost, Outcome: Unknown, Details: map[string]string{"api_key_id": id},
			Message: "the API key " + id + " was created, but the answer with the key was lost: revoke it, and create another",
		}
	}
	return err
}

// execute runs one operation. Its error is an *Error with the request id, and the outcome over all attempts.
//
// A request that waits for a lock or for events has this time besides its time limit. It is repeated until then, whatever
// happens to members: so a request for a lock keeps its place in the queue, and gets one hold.
func (c *core) execute(ctx context.Context, method string, request, response proto.Message, o *options, p persistence, opts ...grpc.CallOption) (answer, error) {
	if o.err != nil {
		return answer{}, o.err
	}
	timeout := c.timeout
	if o.timeout != 0 {
		timeout = o.timeout
	}
	switch waiting := request.(type) {
	case interface{ GetWaitMs() int64 }:
		if wait := waiting.GetWaitMs(); wait > 0 {
			timeout += time.Duration(wait) * time.Millisecond
			p = persistence{attempts: unlimited}
		}
	case interface{ GetWaitSeconds() int64 }:
		timeout += max(0, time.Duration(waiting.GetWaitSeconds())*time.Second)
	}
	op := &operation{
		core: c, method: method, request: request, response: response, opts: opts, persistence: p, outcome: NotExecuted,
		requestID: strings.ToLower(o.requestID), deadline: time.Now().Add(timeout),
	}
	if op.requestID == "" {
		op.requestID = newUUID()
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	ctx, cancelDeadline := context.WithDeadline(ctx, op.deadline)
	defer cancelDeadline()
	op.deadline, _ = ctx.Deadline()
	return op.run(ctx)
}

func (op *operation) run(ctx context.Context) (answer, error) {
	for attempt := 1; ; attempt++ {
		got, endpoint, failure := op.try(ctx)
		if (failure == nil || isDecided(failure)) && op.onAnswer != nil {
			op.onAnswer()
		}
		if failure == nil {
			return got, nil
		}
		isUncounted := isUnreached(failure) && op.followsLeader && !op.persistence.countsUnreached
		if err := op.prepareNext(ctx, attempt, endpoint, op.conclude(failure), isUncounted); err != nil {
			return answer{}, err
		}
	}
}

// try makes one attempt. The endpoint is empty if there was no token for it.
func (op *operation) try(ctx context.Context) (answer, string, *Error) {
	op.hasToken = false
	if ctx.Err() != nil {
		return answer{}, "", ended(ctx, NotExecuted)
	}
	token, err := op.tokens.Token(ctx)
	if err != nil {
		return answer{}, "", tokenError(err)
	}
	op.token, op.hasToken = token, true
	// Only now: the exchange of an API key may have left an endpoint that fails.
	target, err := op.pool.acquire()
	if err != nil {
		return answer{}, "", asError(err)
	}
	got, failure := op.attempt(ctx, target, token)
	return got, target.endpoint, failure
}

func (op *operation) attempt(ctx context.Context, target *target, token string) (answer, *Error) {
	began := time.Now()
	if limit := op.persistence.attemptTimeout; limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = limited
	}
	if err := target.connect(ctx); err != nil {
		target.release(true)
		return answer{}, asError(err)
	}
	sent := time.Now()
	ctx, wasSent := withSent(outgoing(ctx, token, op.requestID))
	var header, trailer metadata.MD
	opts := append(slices.Clone(op.opts), grpc.Header(&header), grpc.Trailer(&trailer))
	err := target.conn.Invoke(ctx, op.method, op.request, op.response, opts...)
	if err == nil || isAnswer(trailer) {
		target.noteAnswer()
	}
	if err == nil {
		target.release(false)
		return answer{replayed: len(header["replayed"]) > 0, sent: sent}, nil
	}
	failure := fromStatus(err, trailer, target.endpoint, wasSent())
	switch {
	case isAnswer(trailer):
	case failure.Code == codes.Internal && strings.Contains(failure.Message, "invalid UTF-8"):
		failure = invalidText(op.request.ProtoReflect(), failure)
	case failure.Code == codes.ResourceExhausted && strings.Contains(failure.Message, "to send message larger"):
		failure = badField("request", fmt.Sprintf("has more than %d bytes", sentBytesMax))
		failure.Reason = TooLarge
	case failure.Code == codes.DeadlineExceeded:
		target.noteSilence(began)
	case ctx.Err() != nil:
		failure = ended(ctx, failure.Outcome)
	}
	target.release(isUnreached(failure))
	return answer{}, failure
}

// invalidText names the field that cannot be sent because it is not UTF-8.
func invalidText(request protoreflect.Message, failure *Error) *Error {
	request.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Kind() == protoreflect.StringKind && !field.IsList() && !field.IsMap() && !utf8.ValidString(value.String()) {
			failure = badField(string(field.Name()), "is not valid UTF-8")
		}
		return failure.Reason == ""
	})
	return failure.with("", NotExecuted)
}

// prepareNext prepares another attempt, or returns the error if there must be none.
func (op *operation) prepareNext(ctx context.Context, attempt int, endpoint string, err *Error, isUncounted bool) error {
	isLate := err.Code == codes.DeadlineExceeded && op.persistence.attemptTimeout > 0 && ctx.Err() == nil
	isPassing := err.Code == codes.Unavailable || isLate
	isLimited := err.Reason == RateLimited && err.RetryDelay > 0
	// Also after the last attempt: the next operation then begins elsewhere.
	if isPassing && endpoint != "" {
		leader := ""
		if op.followsLeader {
			leader = err.LeaderEndpoint
		}
		op.pool.leave(endpoint, leader)
	}
	if !isUncounted {
		op.counted++
	}
	if op.counted >= op.persistence.attempts {
		return err
	}
	if err.Code == codes.Unauthenticated && op.hasToken && !op.isRefreshed {
		op.isRefreshed = true
		token, failure := op.tokens.Refresh(ctx, op.token)
		if failure != nil {
			// Without a new token, the reason of this failure is the missing token.
			refused := tokenError(failure)
			return op.prepareNext(ctx, attempt, "", op.conclude(refused), isUnreached(refused))
		}
		if token == "" {
			return err
		}
		return nil
	}
	if !isPassing && !isLimited {
		return err
	}
	pause := pauseAfter(attempt, isUncounted)
	if isLimited {
		pause += err.RetryDelay
	}
	// The earlier error says more than a deadline that has passed.
	if pause >= time.Until(op.deadline) {
		return err
	}
	select {
	case <-ctx.Done():
		if context.Cause(ctx) == context.DeadlineExceeded {
			return err
		}
		return op.conclude(ended(ctx, NotExecuted))
	case <-time.After(pause):
		return nil
	}
}

// conclude returns the error with the certain outcome of all attempts. Only an answer from the execution settles an
// unknown outcome; one from before that point, such as Unauthenticated, does not.
func (op *operation) conclude(err *Error) *Error {
	if op.outcome != Unknown || isDecided(err) || err.Reason == Quota {
		op.outcome = err.Outcome
	}
	return err.with(op.requestID, op.outcome)
}

// isDecided reports whether an error comes from where the request is executed.
func isDecided(err *Error) bool {
	switch err.Code {
	case codes.NotFound, codes.AlreadyExists, codes.FailedPrecondition, codes.Aborted, codes.OutOfRange:
		return true
	}
	return false
}

// pauseAfter is the pause after a failed attempt, from 1: exponential with full jitter, so that clients that fail
// together do not come back together. After one that reached no member it is at least half of the maximum.
func pauseAfter(attempt int, isUnreached bool) time.Duration {
	most := pauseMax
	if attempt < 6 {
		most = min(pauseMax, firstPause<<(attempt-1))
	}
	share := mathrand.Float64()
	if isUnreached {
		share = 0.5 + share/2
	}
	return time.Duration(share * float64(most))
}

// stream is one stream of one member; its errors are those of this package.
type stream struct {
	grpc.ClientStream
	target *target
	ctx    context.Context
	cancel context.CancelCauseFunc
	sent   func() bool
}

// NewStream implements grpc.ClientConnInterface: it makes one attempt, and its stream does not continue at another member.
func (c *core) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	for _, one := range opts {
		if own, isOwn := one.(Option); isOwn {
			return nil, badField(own.name, "is not an option of a stream; its context ends it")
		}
	}
	token, err := c.tokens.Token(ctx)
	if err != nil {
		return nil, tokenError(err)
	}
	opened, _, failure := c.openStream(ctx, ctx, desc, method, token, opts...)
	if failure != nil {
		return nil, failure
	}
	return opened, nil
}

// openStream connects within a context, and opens a stream that lasts until the other one, or the client, ends. It also
// returns the endpoint; empty = it did not get that far.
func (c *core) openStream(ctx, connecting context.Context, desc *grpc.StreamDesc, method, token string, opts ...grpc.CallOption) (*stream, string, *Error) {
	target, err := c.pool.acquire()
	if err != nil {
		return nil, "", asError(err)
	}
	if err := target.connect(connecting); err != nil {
		target.release(true)
		return nil, target.endpoint, asError(err)
	}
	opened := &stream{target: target}
	opened.ctx, opened.cancel = context.WithCancelCause(ctx)
	sending, wasSent := withSent(outgoing(opened.ctx, token, newUUID()))
	opened.sent = wasSent
	opened.ClientStream, err = target.conn.NewStream(sending, desc, method, opts...)
	if err != nil {
		opened.cancel(nil)
		failure := fromStatus(err, nil, target.endpoint, wasSent())
		target.release(isUnreached(failure))
		return nil, target.endpoint, failure
	}
	stop := context.AfterFunc(c.ctx, func() { opened.cancel(errClosed) })
	context.AfterFunc(opened.Context(), func() {
		stop()
		target.release(false)
	})
	return opened, target.endpoint, nil
}

// RecvMsg reads the next message. After the end of a stream without an error it returns io.EOF.
func (s *stream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == nil {
		s.target.noteAnswer()
	}
	if err == nil || err == io.EOF {
		return err
	}
	failure := fromStatus(err, s.Trailer(), s.target.endpoint, s.sent())
	if s.ctx.Err() != nil && !isAnswer(s.Trailer()) {
		failure = ended(s.ctx, failure.Outcome)
	}
	return failure
}

// outgoing adds the metadata of every call. Other metadata of the caller stays, such as the headers of its trace.
func outgoing(ctx context.Context, token, requestID string) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	md = md.Copy()
	if token != "" {
		md.Set("authorization", "Bearer "+token)
	}
	md.Set("api-version", "v1")
	md.Set("request-id", requestID)
	return metadata.NewOutgoingContext(ctx, md)
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// message is a pointer to a message of the contract.
type message[T any] interface {
	*T
	proto.Message
}
