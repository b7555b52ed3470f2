package quoin

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "quoin.dev/client/internal/coordination/v1"
)

// How long a request for a hold waits by default.
const defaultWait = 30 * time.Second

// The label of the holds of this process, so that the description of a lock shows different holders.
var processOwner = newUUID()

type lockKind int

const (
	exclusive lockKind = iota
	readWrite
	permits
)

// lock is a lock of any kind, by its name.
type lock struct {
	client          *Client
	kind            lockKind
	namespace, name string
}

// Mutex is an exclusive lock. Its other operations are those of Client.Locks, such as DescribeLock and ForceReleaseLock.
type Mutex struct{ lock }

// RWMutex is a read-write lock: any number of readers, or one writer. No reader overtakes a writer that waits. Its names
// are apart from those of other locks. Client.Locks has its other operations.
type RWMutex struct{ lock }

// Semaphore is a lock with a number of permits, of which each hold has some. A request for many permits is not overtaken by
// later ones for few. Client.Locks has its other operations.
type Semaphore struct{ lock }

// Lock returns the exclusive lock of this name. It sends no request.
func (c *Client) Lock(namespace, name string) *Mutex {
	return &Mutex{lock{c, exclusive, namespace, name}}
}

// RWLock returns the read-write lock of this name. It sends no request.
func (c *Client) RWLock(namespace, name string) *RWMutex {
	return &RWMutex{lock{c, readWrite, namespace, name}}
}

// Semaphore returns the semaphore of this name. It sends no request.
func (c *Client) Semaphore(namespace, name string) *Semaphore {
	return &Semaphore{lock{c, permits, namespace, name}}
}

// Create creates the lock, with a name of 1 to 256 bytes. It takes WithTTL, how long a hold lasts without renewal and
// without its own (1 s to a day, default 30 s), and WithLockDelay. It fails with AlreadyExists / LockExists.
func (m *Mutex) Create(ctx context.Context, opts ...Option) error {
	o := gather("lock.create", opts, eachCall+" ttl lock_delay")
	request := &pb.CreateLockRequest{Namespace: m.namespace, Name: m.name, TtlSeconds: o.ttl, LockDelaySeconds: o.lockDelay}
	_, err := m.client.Locks.CreateLock(ctx, request, o.sent()...)
	return err
}

// Create creates the lock like Mutex.Create.
func (m *RWMutex) Create(ctx context.Context, opts ...Option) error {
	o := gather("rw_lock.create", opts, eachCall+" ttl lock_delay")
	request := &pb.CreateRWLockRequest{Namespace: m.namespace, Name: m.name, TtlSeconds: o.ttl, LockDelaySeconds: o.lockDelay}
	_, err := m.client.Locks.CreateRWLock(ctx, request, o.sent()...)
	return err
}

// Create creates the semaphore with 1 to 10,000 permits, all of them free. It takes WithTTL, and fails with AlreadyExists /
// LockExists.
func (s *Semaphore) Create(ctx context.Context, permits int, opts ...Option) error {
	o := gather("semaphore.create", opts, eachCall+" ttl")
	request := &pb.CreateSemaphoreRequest{Namespace: s.namespace, Name: s.name, Permits: s.permitsOf(permits, o), TtlSeconds: o.ttl}
	_, err := s.client.Locks.CreateSemaphore(ctx, request, o.sent()...)
	return err
}

// Lock waits for the lock, and renews the hold until it is released or lost. The context ends the wait, not the hold. It
// takes WithTTL, WithOwner, WithWait and WithValue. It fails with FailedPrecondition / NotAcquired if others held the lock
// all the time, and NotFound / LockNotFound.
func (m *Mutex) Lock(ctx context.Context, opts ...Option) (*Hold, error) {
	o := gather("lock", opts, eachCall+" ttl owner wait value")
	return m.hold(ctx, lockRequest{value: o.value}, o)
}

// TryLock is Lock without a wait.
func (m *Mutex) TryLock(ctx context.Context, opts ...Option) (*Hold, error) {
	return m.Lock(ctx, append(opts[:len(opts):len(opts)], WithWait(0))...)
}

// Do runs work under the lock, and releases it. The context of the work ends when the hold is lost, with the error as its
// cause; Do then returns that error, unless the work has one of its own. It takes the options of Lock.
func (m *Mutex) Do(ctx context.Context, work func(ctx context.Context, hold *Hold) error, opts ...Option) error {
	hold, err := m.Lock(ctx, opts...)
	return hold.run(ctx, err, work)
}

// Lock waits for the lock as the writer. It takes WithTTL, WithOwner and WithWait, and fails like Mutex.Lock.
func (m *RWMutex) Lock(ctx context.Context, opts ...Option) (*Hold, error) {
	return m.hold(ctx, lockRequest{mode: pb.RWMode_WRITE}, gather("rw_lock", opts, eachCall+" ttl owner wait"))
}

// RLock waits for the lock as a reader, like Lock.
func (m *RWMutex) RLock(ctx context.Context, opts ...Option) (*Hold, error) {
	return m.hold(ctx, lockRequest{mode: pb.RWMode_READ}, gather("rw_lock", opts, eachCall+" ttl owner wait"))
}

// Do runs work as the writer, like Mutex.Do.
func (m *RWMutex) Do(ctx context.Context, work func(ctx context.Context, hold *Hold) error, opts ...Option) error {
	hold, err := m.Lock(ctx, opts...)
	return hold.run(ctx, err, work)
}

// RDo runs work as a reader, like Mutex.Do.
func (m *RWMutex) RDo(ctx context.Context, work func(ctx context.Context, hold *Hold) error, opts ...Option) error {
	hold, err := m.RLock(ctx, opts...)
	return hold.run(ctx, err, work)
}

// Acquire waits for permits, and renews the hold. It takes WithTTL, WithOwner and WithWait. It fails like Mutex.Lock, and
// with InvalidArgument / BadField for more permits than the semaphore has.
func (s *Semaphore) Acquire(ctx context.Context, permits int, opts ...Option) (*Hold, error) {
	o := gather("semaphore", opts, eachCall+" ttl owner wait")
	return s.hold(ctx, lockRequest{permits: s.permitsOf(permits, o)}, o)
}

// Do runs work with permits, like Mutex.Do.
func (s *Semaphore) Do(ctx context.Context, permits int, work func(ctx context.Context, hold *Hold) error, opts ...Option) error {
	hold, err := s.Acquire(ctx, permits, opts...)
	return hold.run(ctx, err, work)
}

func (s *Semaphore) permitsOf(count int, o *options) int32 {
	if count < 1 || count > 1<<31-1 {
		o.fail(badField("permits", fmt.Sprintf("must be 1 or more, not %d", count)))
	}
	return int32(count)
}

// lockRequest asks for a hold, or with a token for its renewal.
type lockRequest struct {
	owner      string
	ttl, token int64
	waitMs     int64
	mode       pb.RWMode
	permits    int32
	value      []byte
}

// grant is a hold that was granted.
type grant struct {
	token, ttl int64
	// When it ends without renewal. It errs early.
	deadline time.Time
}

// hold asks for a hold and renews it.
func (l lock) hold(ctx context.Context, request lockRequest, o *options) (*Hold, error) {
	wait := defaultWait
	if o.wait != nil {
		wait = *o.wait
	}
	request.owner, request.ttl, request.waitMs = o.owner, o.ttl, milliseconds(wait)
	if request.owner == "" {
		request.owner = processOwner
	}
	granted, err := l.ask(ctx, request, o, usual)
	if err != nil {
		return nil, err
	}
	return newHold(l, request.owner, request.mode, granted), nil
}

// ask sends a request for a hold. It fails with NotAcquired if others have the lock.
func (l lock) ask(ctx context.Context, r lockRequest, o *options, p persistence) (*grant, error) {
	var method string
	var request proto.Message
	var response interface {
		proto.Message
		GetAcquired() bool
		GetFencingToken() int64
		GetTtlSeconds() int64
		GetWaitedMs() int64
		GetExpiresInMs() int64
	}
	switch l.kind {
	case exclusive:
		method, response = pb.LockService_AcquireLock_FullMethodName, &pb.AcquireLockResponse{}
		request = &pb.AcquireLockRequest{
			Namespace: l.namespace, Name: l.name, TtlSeconds: r.ttl, Owner: r.owner, WaitMs: r.waitMs, FencingToken: r.token, Value: r.value,
		}
	case readWrite:
		method, response = pb.LockService_AcquireRWLock_FullMethodName, &pb.AcquireRWLockResponse{}
		request = &pb.AcquireRWLockRequest{
			Namespace: l.namespace, Name: l.name, TtlSeconds: r.ttl, Owner: r.owner, WaitMs: r.waitMs, FencingToken: r.token, Mode: r.mode,
		}
	case permits:
		method, response = pb.LockService_AcquireSemaphore_FullMethodName, &pb.AcquireSemaphoreResponse{}
		request = &pb.AcquireSemaphoreRequest{
			Namespace: l.namespace, Name: l.name, TtlSeconds: r.ttl, Owner: r.owner, WaitMs: r.waitMs, FencingToken: r.token, Permits: r.permits,
		}
	}
	got, err := l.client.core.execute(ctx, method, request, response, o, p)
	if err != nil {
		return nil, err
	}
	if !response.GetAcquired() {
		return nil, l.notAcquired(response)
	}
	lives := time.Duration(response.GetWaitedMs()+response.GetExpiresInMs()) * time.Millisecond
	return &grant{token: response.GetFencingToken(), ttl: response.GetTtlSeconds(), deadline: got.sent.Add(lives)}, nil
}

func (l lock) notAcquired(response proto.Message) *Error {
	who := "its lock delay has not ended"
	switch answer := response.(type) {
	case interface{ GetHolder() *pb.LockHold }:
		if holder := answer.GetHolder(); holder != nil {
			who = holder.Owner + " holds it"
		}
	case interface{ GetHolders() []*pb.LockHold }:
		if holders := answer.GetHolders(); len(holders) > 0 {
			who = holders[0].Owner + " holds it"
		}
	}
	return &Error{
		Code: codes.FailedPrecondition, Reason: NotAcquired, Outcome: NotExecuted, Details: map[string]string{"lock": l.name},
		Message: fmt.Sprintf("lock %s/%s was not acquired: %s", l.namespace, l.name, who),
	}
}

// free releases a hold.
func (l lock) free(ctx context.Context, owner string, token int64, o *options) error {
	var err error
	switch l.kind {
	case exclusive:
		request := &pb.ReleaseLockRequest{Namespace: l.namespace, Name: l.name, Owner: owner, FencingToken: token}
		_, err = l.client.Locks.ReleaseLock(ctx, request, o.sent()...)
	case readWrite:
		request := &pb.ReleaseRWLockRequest{Namespace: l.namespace, Name: l.name, Owner: owner, FencingToken: token}
		_, err = l.client.Locks.ReleaseRWLock(ctx, request, o.sent()...)
	case permits:
		request := &pb.ReleaseSemaphoreRequest{Namespace: l.namespace, Name: l.name, Owner: owner, FencingToken: token}
		_, err = l.client.Locks.ReleaseSemaphore(ctx, request, o.sent()...)
	}
	return err
}
