package quoin

import (
	"context"
	"errors"
	"iter"
	"time"

	pb "quoin.dev/client/internal/coordination/v1"
)

// The longest wait of one request for a lock: with its time limit, less than the hour that is allowed.
const longestWait = 50 * time.Minute

// Election is a leader election: the exclusive lock of this name decides who leads, and the value of its hold shows the
// leader to everyone else. Two leaders never hold the lock at the same time, but a paused leader may still believe that it
// leads: it must use WithGuard(leadership) for everything that it must not do then.
type Election struct{ mutex *Mutex }

// Leader is the leader of an election.
type Leader struct {
	// Value is its information about itself, such as its address.
	Value string
	// FencingToken of its hold: a later leader has a greater one.
	FencingToken int64
}

// Leadership is the hold of a candidate that leads, until it resigns or loses the lock.
type Leadership struct{ *Hold }

// Election returns the election of this name. It sends no request.
func (c *Client) Election(namespace, name string) *Election {
	return &Election{c.Lock(namespace, name)}
}

// Campaign waits until this candidate leads, with at most 1,024 bytes about itself for others. It creates the lock if it is
// missing. It takes WithTTL, how long a dead leader remains the leader, and WithWait; without the latter only the context
// ends the wait. It fails with FailedPrecondition / NotAcquired if others led for all of the wait.
func (e *Election) Campaign(ctx context.Context, value string, opts ...Option) (*Leadership, error) {
	o := gather("election.campaign", opts, "timeout ttl wait")
	isLimited := o.wait != nil
	if !isLimited {
		wait := longestWait
		o.wait = &wait
	}
	for {
		hold, err := e.mutex.hold(ctx, lockRequest{value: []byte(value)}, o)
		switch {
		case err == nil:
			return &Leadership{hold}, nil
		case errors.Is(err, LockNotFound):
			if err := e.mutex.Create(ctx); err != nil && !errors.Is(err, LockExists) {
				return nil, err
			}
		// Others led all the time, or its own hold had ended before it heard of its election.
		case isLimited || !errors.Is(err, NotAcquired) && !errors.Is(err, LockLost):
			return nil, err
		}
	}
}

// Leader returns the current leader; nil = there is none.
func (e *Election) Leader(ctx context.Context, opts ...Option) (*Leader, error) {
	leader, _, err := e.read(ctx, gather("election.leader", opts, "timeout"))
	return leader, err
}

// Observe yields the leader: first the current one, then every change; nil = no leader. Changes that come together are one,
// but the order is that of the elections. It continues at another member by itself, until the context ends.
func (e *Election) Observe(ctx context.Context) iter.Seq2[*Leader, error] {
	return func(yield func(*Leader, error) bool) {
		var told *Leader
		isFirst := true
		for {
			err := e.follow(ctx, func(leader *Leader) bool {
				isSame := leader == told || leader != nil && told != nil && *leader == *told
				if isSame && !isFirst {
					return true
				}
				told, isFirst = leader, false
				return yield(leader, nil)
			})
			if errors.Is(err, Compacted) {
				continue // The history since then is no longer kept: the state is read again.
			}
			if err != nil {
				yield(nil, err)
			}
			return
		}
	}
}

// follow tells the leader now, and after each change; nil = its caller wants no more.
func (e *Election) follow(ctx context.Context, tell func(*Leader) bool) error {
	watch, err := e.mutex.client.WatchLocks(ctx, e.mutex.namespace, e.mutex.name)
	if err != nil {
		return err
	}
	defer watch.Close()
	leader, revision, err := e.read(ctx, &options{})
	if err != nil {
		return err
	}
	if !tell(leader) {
		return nil
	}
	for batch, err := range watch.Batches() {
		if err != nil {
			return err
		}
		for _, event := range batch.Events {
			switch {
			case event.Revision <= revision || event.LockKey != e.mutex.name || event.Rw || event.Permits != 0:
			case event.Action == pb.LockEvent_ACQUIRED:
				leader = &Leader{string(event.Value), event.FencingToken}
			case leader != nil && leader.FencingToken == event.FencingToken:
				leader = nil
			}
		}
		if !tell(leader) {
			return nil
		}
	}
	return nil
}

// read returns the leader, and the revision at which it is true; 0 = the lock does not exist, whose later events all count.
func (e *Election) read(ctx context.Context, o *options) (*Leader, int64, error) {
	request := &pb.DescribeLockRequest{Namespace: e.mutex.namespace, Name: e.mutex.name}
	found, err := e.mutex.client.Locks.DescribeLock(ctx, request, o.sent()...)
	switch {
	case errors.Is(err, LockNotFound):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case found.Holder == nil:
		return nil, found.Revision, nil
	}
	return &Leader{string(found.Holder.Value), found.Holder.FencingToken}, found.Revision, nil
}

// Proclaim replaces the information about this leader. It fails with FailedPrecondition / LockLost if it no longer leads.
func (l *Leadership) Proclaim(ctx context.Context, value string, opts ...Option) error {
	o := gather("leadership.proclaim", opts, "timeout")
	_, err := l.lock.client.Locks.SetLockValue(ctx, &pb.SetLockValueRequest{
		Namespace: l.lock.namespace, Name: l.lock.name, FencingToken: l.FencingToken(), Owner: l.owner, Value: []byte(value),
	}, o.sent()...)
	return err
}

// Resign ends the leadership, and lets the next candidate lead at once, like Release.
func (l *Leadership) Resign(ctx context.Context, opts ...Option) (bool, error) {
	return l.Release(ctx, opts...)
}
