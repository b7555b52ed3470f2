package quoin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// A member without a leader refuses after 3 s: only one that does not answer at all takes longer to begin a stream.
const openTimeout = 4 * time.Second

// streamSource says what to request.
type streamSource[M any] struct {
	// What it is, for errors: such as "watch".
	title  string
	method string
	// The request that begins at a position: a revision or a sequence.
	request func(position int64) proto.Message
	// The position behind a message; a smaller one than before is ignored.
	behind func(*M) int64
	// How long a stream may be silent; 0 = as long as its connection lives.
	silence time.Duration
}

// continuedStream is one stream after the other, each from the position behind the last message, at any member. If a
// stream ends because there is no member or no leader, or is silent for too long, the next one begins, as often as
// necessary. It ends if the service refuses to continue, or the caller has lost its access. It is read one message at a
// time, and unread messages wait at the member.
type continuedStream[M any, P message[M]] struct {
	core     *core
	source   streamSource[M]
	ctx      context.Context
	cancel   context.CancelCauseFunc
	position atomic.Int64

	mu       sync.Mutex // of the reader; it guards what follows
	current  *stream
	endpoint string
	token    string
	hasToken bool
	// Failures since a stream last sent more than its first message, and those of them that reached no member.
	failures    int
	unreached   int
	isRefreshed bool
	end         error // why there is no further message
}

var (
	errEnded  = errors.New("the stream was closed by its reader")
	errSilent = errors.New("the stream is silent")
)

func newStream[M any, P message[M]](ctx context.Context, c *core, source streamSource[M], start int64) *continuedStream[M, P] {
	s := &continuedStream[M, P]{core: c, source: source}
	s.position.Store(start)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.ctx, func() { s.cancel(errClosed) })
	context.AfterFunc(s.ctx, func() { stop() })
	return s
}

// close ends it, also while it is read: the reader then gets an error, for which isEnded is true.
func (s *continuedStream[M, P]) close() { s.cancel(errEnded) }

// isEnded reports whether its reader has closed it.
func (s *continuedStream[M, P]) isEnded() bool { return context.Cause(s.ctx) == errEnded }

// next returns the next message, of the current or of a new stream. A zero time limit = none.
func (s *continuedStream[M, P]) next(attempts int, until time.Time) (*M, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.end == nil {
		isNew := s.current == nil
		var failure *Error
		if isNew {
			failure = s.open(until)
		}
		if failure == nil {
			limit := s.source.silence
			if isNew {
				limit = openTimeout
				if !until.IsZero() {
					limit = max(1, min(limit, time.Until(until)))
				}
			}
			var read *M
			if read, failure = s.read(limit); failure == nil {
				if !isNew {
					s.failures, s.unreached = 0, 0
				}
				return read, nil
			}
		}
		s.end = s.prepareNext(failure, attempts, until)
	}
	s.cancel(s.end)
	return nil, s.end
}

// open requests a stream. It is confirmed by its first message.
func (s *continuedStream[M, P]) open(until time.Time) *Error {
	s.endpoint, s.hasToken = "", false
	ctx, cancel := s.until(until)
	defer cancel()
	if ctx.Err() != nil {
		return ended(ctx, NotExecuted)
	}
	token, err := s.core.tokens.Token(ctx)
	if err != nil {
		return tokenError(err)
	}
	s.token, s.hasToken = token, true
	opened, endpoint, failure := s.core.openStream(s.ctx, ctx, &grpc.StreamDesc{ServerStreams: true}, s.source.method, token)
	if s.endpoint = endpoint; failure != nil {
		return failure
	}
	if err = opened.SendMsg(s.source.request(s.position.Load())); err == nil {
		err = opened.CloseSend()
	}
	if err != nil && err != io.EOF { // After EOF, the first read has the reason.
		opened.cancel(nil)
		return fromStatus(err, nil, endpoint, opened.sent())
	}
	s.current = opened
	return nil
}

// until is the context with this deadline; zero = none.
func (s *continuedStream[M, P]) until(deadline time.Time) (context.Context, context.CancelFunc) {
	if deadline.IsZero() {
		return s.ctx, func() {}
	}
	return context.WithDeadline(s.ctx, deadline)
}

// read reads the next message, and abandons the stream if none comes in time; 0 = no limit.
func (s *continuedStream[M, P]) read(silence time.Duration) (*M, *Error) {
	current, began := s.current, time.Now()
	if silence > 0 {
		timer := time.AfterFunc(silence, func() { current.cancel(errSilent) })
		defer timer.Stop()
	}
	next := new(M)
	err := current.RecvMsg(P(next))
	switch {
	case err == nil:
		s.isRefreshed = false
		s.position.Store(max(s.position.Load(), s.source.behind(next)))
		return next, nil
	case err == io.EOF:
		return nil, &Error{Code: codes.Unavailable, Outcome: Unknown, Message: "the stream has ended"}
	case context.Cause(current.ctx) == errSilent:
		current.target.noteSilence(began)
		message := fmt.Sprintf("%s has sent nothing for %v", s.endpoint, silence.Round(time.Millisecond))
		return nil, &Error{Code: codes.Unavailable, Outcome: Unknown, Message: message, cause: err}
	}
	return nil, asError(err)
}

// prepareNext prepares another stream, or returns the error if there must be none.
func (s *continuedStream[M, P]) prepareNext(failure *Error, attempts int, until time.Time) error {
	if s.current != nil {
		s.current.cancel(nil)
		s.current = nil
	}
	if s.ctx.Err() != nil {
		err := ended(s.ctx, NotExecuted)
		if err.Message == "the operation was cancelled" {
			err.Message = "the " + s.source.title + " was cancelled"
		}
		return err
	}
	s.failures++
	isUncounted := isUnreached(failure)
	if isUncounted {
		s.unreached++
	}
	if s.failures-s.unreached >= attempts {
		return failure
	}
	if failure.Code == codes.Unauthenticated && s.hasToken && !s.isRefreshed {
		s.isRefreshed = true
		ctx, cancel := s.until(until)
		defer cancel()
		token, err := s.core.tokens.Refresh(ctx, s.token)
		if err != nil {
			return s.prepareNext(tokenError(err), attempts, until)
		}
		if token == "" {
			return failure
		}
		return nil
	}
	// A connection that ends may cancel its streams.
	isPassing := failure.Code == codes.Unavailable || failure.Code == codes.Canceled ||
		failure.Reason == TooManyStreams || failure.Reason == RateLimited
	if !isPassing {
		return failure
	}
	if s.endpoint != "" {
		s.core.pool.leave(s.endpoint, failure.LeaderEndpoint)
	}
	pause := pauseAfter(s.failures, isUncounted)
	if !until.IsZero() && pause >= time.Until(until) {
		return failure
	}
	select {
	case <-s.ctx.Done():
	case <-time.After(pause):
	}
	return nil
}

// sequence yields what a function reads, until that fails; without an error if the reader has closed the stream.
func sequence[M any, P message[M], Item any](s *continuedStream[M, P], read func() (Item, error)) func(yield func(Item, error) bool) {
	return func(yield func(Item, error) bool) {
		defer s.close()
		for {
			item, err := read()
			if err != nil {
				if !s.isEnded() {
					yield(item, err)
				}
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}
