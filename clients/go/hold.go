package quoin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "quoin.dev/client/internal/coordination/v1"
)

const (
	// Part of its life after which a hold or a session is renewed: two thirds are left for retries.
	renewAt = 1.0 / 3
	// Part of the remaining life that one member has to answer a renewal: others must have their turn too. Less than the
	// minimum would abandon members that are only a little slow.
	attemptShare      = 1.0 / 4
	attemptTimeoutMin = 250 * time.Millisecond
	// Minimum pause before a renewal that was refused. Retries come faster as the deadline comes nearer.
	renewalPauseMin = 100 * time.Millisecond
)

// Guard names a live hold or a session, for writes that must take effect only while it lives.
type Guard struct {
	// Namespace is that of the lock or the session; empty = that of the request.
	Namespace    string
	LockName     string
	FencingToken int64
	// RW: it is a hold of a read-write lock, which must be that of the writer.
	RW bool
	// SessionID, if it is not 0, is a session instead of a hold.
	SessionID int64
}

// Guard returns the guard itself, for WithGuard.
func (g Guard) Guard() Guard { return g }

func (g Guard) message() *pb.Guard {
	if g.SessionID != 0 {
		return &pb.Guard{SessionId: &g.SessionID}
	}
	return &pb.Guard{LockName: g.LockName, FencingToken: g.FencingToken, Rw: g.RW}
}

// life is how long a hold or a session lives for certain, as its client knows it. The deadline is measured on the clock of
// this process from before the request, so it errs early: the client sees the loss before the cluster ends the hold. A
// process that was paused still sees it late: it must guard what must not happen then.
type life struct {
	lossOf func(cause *Error) *Error

	mu       sync.Mutex
	deadline time.Time
	failure  *Error // of the last renewal
	timer    *time.Timer

	ended  context.Context // of the renewals: ends at a release, and at the loss
	end    context.CancelFunc
	lost   context.Context
	report context.CancelCauseFunc
}

func (l *life) begin(c *core, deadline time.Time, lossOf func(*Error) *Error) {
	l.lossOf, l.deadline = lossOf, deadline
	l.ended, l.end = context.WithCancel(context.Background())
	l.lost, l.report = context.WithCancelCause(context.Background())
	l.mu.Lock()
	l.timer = time.AfterFunc(time.Until(deadline), func() { l.lose(nil) })
	l.mu.Unlock()
	stop := context.AfterFunc(c.ctx, func() {
		l.lose(&Error{Code: codes.Canceled, Outcome: NotExecuted, Message: errClosed.Error(), cause: errClosed})
	})
	context.AfterFunc(l.ended, func() { stop() })
}

// Remaining is how long it lives without renewal; 0 = it has ended, or may have.
func (l *life) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Err() != nil {
		return 0
	}
	return max(0, time.Until(l.deadline))
}

// IsLive reports whether it certainly lives now.
func (l *life) IsLive() bool { return l.Remaining() > 0 }

// Lost is closed when it is lost: it has ended, or could not be renewed until its deadline. A release does not close it.
func (l *life) Lost() <-chan struct{} { return l.lost.Done() }

// Err is why it is lost, an *Error with the reason LockLost or SessionLost; nil = it is not. It looks at the clock: it
// does not wait for the timer of a process that was busy beyond the deadline.
func (l *life) Err() error {
	l.mu.Lock()
	isOver := l.ended.Err() == nil && time.Until(l.deadline) <= 0
	l.mu.Unlock()
	if isOver {
		l.lose(nil)
	}
	return context.Cause(l.lost)
}

// Context returns a context that ends when it is lost, with the error as its cause, or with its parent.
func (l *life) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(l.lost, func() { cancel(context.Cause(l.lost)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (l *life) renewed(deadline time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Err() == nil {
		l.failure, l.deadline = nil, deadline
		l.timer.Reset(time.Until(deadline))
	}
}

func (l *life) notRenewed(failure *Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure = failure
}

// stop ends the renewals, and reports whether it was the first to do so.
func (l *life) stop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Err() != nil {
		return false
	}
	l.timer.Stop()
	l.end()
	return true
}

// lose reports the loss, unless it has ended before. Without a cause it was not renewed in time.
func (l *life) lose(cause *Error) {
	l.mu.Lock()
	if cause == nil {
		cause = l.failure
	}
	l.mu.Unlock()
	if l.stop() {
		l.report(l.lossOf(cause))
	}
}

// attempts are those of a renewal: as many as fit before the deadline.
func (l *life) attempts() (time.Duration, persistence) {
	timeout := max(time.Millisecond, l.Remaining())
	return timeout, persistence{
		attempts: unlimited, attemptTimeout: max(attemptTimeoutMin, time.Duration(float64(timeout)*attemptShare)),
	}
}

// lossError is the error of a hold or a session that is lost.
func lossError(reason Reason, what string, details map[string]string, cause *Error) *Error {
	why := "it was not renewed in time"
	lost := &Error{Code: codes.FailedPrecondition, Reason: reason, Outcome: NotExecuted, Details: details}
	if cause != nil {
		why, lost.cause = cause.Message, cause
	}
	lost.Message = fmt.Sprintf("%s has ended: %s", what, why)
	return lost
}

// Reasons that show for certain that a hold has ended.
var lossReasons = map[Reason]bool{LockLost: true, NotLockHolder: true, LockNotFound: true, NamespaceNotFound: true}

// Hold is a hold of a lock of any kind, which renews itself until it is released or lost: after a third of its life, and
// until its deadline also at other members. So a missing leader never ends it before its time.
type Hold struct {
	life
	lock      lock
	owner     string
	releaseID string
	// Renewals and changes, one after the other: a renewal that overtook a change would undo it.
	changing   chan struct{}
	isReleased bool // guarded by changing

	state sync.Mutex
	token int64
	ttl   int64
	mode  pb.RWMode
}

// newHold renews a hold that was granted.
func newHold(of lock, owner string, mode pb.RWMode, granted *grant) *Hold {
	h := &Hold{lock: of, owner: owner, releaseID: newUUID(), changing: make(chan struct{}, 1), mode: mode}
	h.token, h.ttl = granted.token, granted.ttl
	h.begin(of.client.core, granted.deadline, func(cause *Error) *Error {
		what := fmt.Sprintf("the hold of lock %s with token %d", of.name, h.FencingToken())
		details := map[string]string{"lock": of.name, "fencing_token": strconv.FormatInt(h.FencingToken(), 10)}
		return lossError(LockLost, what, details, cause)
	})
	of.client.core.start(h.renew)
	return h
}

// FencingToken is greater than those of all earlier holds of any lock.
func (h *Hold) FencingToken() int64 {
	h.state.Lock()
	defer h.state.Unlock()
	return h.token
}

// Owner is the label of the hold.
func (h *Hold) Owner() string { return h.owner }

// Mode is that of a hold of a read-write lock: RWMode_READ or RWMode_WRITE.
func (h *Hold) Mode() RWMode {
	h.state.Lock()
	defer h.state.Unlock()
	return h.mode
}

// Guard makes a write take effect only while this hold is live: quoin.WithGuard(hold).
func (h *Hold) Guard() Guard {
	return Guard{Namespace: h.lock.namespace, LockName: h.lock.name, FencingToken: h.FencingToken(), RW: h.lock.kind == readWrite}
}

// Upgrade makes a reader of a read-write lock the writer, under a new token; what it has read is still valid. On a writer
// it only renews the hold. It fails with FailedPrecondition / UpgradeWouldDeadlock if others read or wait, and the hold
// does not change; and with LockLost if it has ended.
func (h *Hold) Upgrade(ctx context.Context) error { return h.changeMode(ctx, pb.RWMode_WRITE) }

// Downgrade lets readers in: a writer becomes a reader with the same token, and no other writer gets the lock in between.
// It fails with LockLost if the hold has ended.
func (h *Hold) Downgrade(ctx context.Context) error { return h.changeMode(ctx, pb.RWMode_READ) }

func (h *Hold) changeMode(ctx context.Context, mode pb.RWMode) error {
	if h.lock.kind != readWrite {
		return badField("mode", "is only of read-write locks")
	}
	return h.change(ctx, mode)
}

func (h *Hold) renew(ctx context.Context) {
	for {
		pause := max(renewalPauseMin, time.Duration(float64(h.Remaining())*renewAt))
		select {
		case <-time.After(pause):
		case <-h.ended.Done():
			return
		}
		// It is repeated until the deadline; the loss then reports the last failure. A repetition cannot help a caller
		// without rights.
		var refused *Error
		if err := h.change(ctx, pb.RWMode_RW_MODE_UNSPECIFIED); errors.As(err, &refused) && refused.Code == codes.PermissionDenied {
			return
		}
	}
}

// change asks for the hold again, in a mode; without one in its own.
func (h *Hold) change(ctx context.Context, mode pb.RWMode) error {
	select {
	case h.changing <- struct{}{}:
		defer func() { <-h.changing }()
	case <-ctx.Done():
		return ended(ctx, NotExecuted)
	}
	if err := h.Err(); err != nil {
		return err
	}
	if h.ended.Err() != nil {
		return h.lossOf(&Error{Message: "it was released"})
	}
	asked := mode
	if mode == pb.RWMode_RW_MODE_UNSPECIFIED {
		asked = h.Mode()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ended, cancel)()
	timeout, p := h.attempts()
	granted, err := h.lock.ask(ctx, lockRequest{owner: h.owner, ttl: h.ttl, token: h.FencingToken(), mode: asked}, &options{timeout: timeout}, p)
	if err != nil {
		failure := asError(err)
		if h.notRenewed(failure); lossReasons[failure.Reason] {
			h.lose(failure)
		}
		return failure
	}
	h.state.Lock()
	h.token, h.mode = granted.token, asked
	h.state.Unlock()
	h.renewed(granted.deadline)
	return nil
}

// Release releases the lock: the next waiter gets it at once. It reports whether the lock was held until then. Further
// calls do nothing, unless no member answered: then the hold is not renewed any more, and Release may be called again.
func (h *Hold) Release(ctx context.Context, opts ...Option) (bool, error) {
	o := gather("release", opts, "timeout")
	if h.Err() != nil {
		return false, nil
	}
	h.stop()
	// A change in progress may give the hold another token.
	h.changing <- struct{}{}
	defer func() { <-h.changing }()
	if h.isReleased {
		return true, nil
	}
	o.requestID = h.releaseID
	err := h.lock.free(ctx, h.owner, h.FencingToken(), o)
	if h.isReleased = err == nil; h.isReleased {
		return true, nil
	}
	if failure := asError(err); lossReasons[failure.Reason] {
		h.report(h.lossOf(failure))
		return false, nil
	}
	return false, err
}

// run runs work under a hold that was granted, and releases it.
func (h *Hold) run(ctx context.Context, err error, work func(context.Context, *Hold) error) error {
	if err != nil {
		return err
	}
	held, cancel := h.Context(ctx)
	defer cancel()
	// If no member answers, the hold ends at its deadline: a longer wait of others must not make done work a failure.
	release := sync.OnceFunc(func() { h.Release(context.WithoutCancel(ctx)) })
	defer release()
	err = work(held, h)
	release()
	if lost := h.Err(); lost != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return lost
	}
	return err
}
