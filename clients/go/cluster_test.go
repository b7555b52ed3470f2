//go:build unix

package quoin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	quoin "quoin.dev/client"
	"quoin.dev/client/quointest"
)

const namespace = "default"

// cluster is one for all tests that disturb no other one.
var cluster = sync.OnceValue(func() *quointest.Cluster { return quointest.Start(suite, 3) })

var spaces atomic.Int32

// space makes a namespace for a test.
func space(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("go-%d", spaces.Add(1))
	client := cluster().Client(t)
	defer client.Close()
	_, err := client.KeyValue.CreateNamespace(t.Context(), &quoin.CreateNamespaceRequest{Namespace: name})
	must(t, err)
	return name
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantReason(t testing.TB, err error, reason quoin.Reason, code codes.Code) *quoin.Error {
	t.Helper()
	var own *quoin.Error
	if !errors.Is(err, reason) || !errors.As(err, &own) || own.Code != code {
		t.Fatalf("expected %s / %s, got %v", code, reason, err)
	}
	return own
}

func TestKeys(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	kv, ctx := cluster().Client(t).KV, t.Context()
	put, err := kv.Put(ctx, namespace, "keys/a", []byte("one"), quoin.IfModRevision(0))
	must(t, err)
	if !put.Created || put.ModRevision == 0 {
		t.Errorf("unexpected %v", put)
	}
	again, err := kv.Put(ctx, namespace, "keys/a", []byte{}, quoin.WithPrevious(), quoin.WithTTL(time.Minute))
	must(t, err)
	if string(again.Previous.GetValue()) != "one" {
		t.Errorf("unexpected %v", again)
	}
	got, err := kv.Get(ctx, namespace, "keys/a", quoin.Serializable())
	must(t, err)
	if got.Version != 2 || got.ExpiresInMs < 50_000 || len(got.Value) != 0 {
		t.Errorf("unexpected %v", got)
	}
	touched, err := kv.Touch(ctx, namespace, "keys/a")
	must(t, err)
	if touched.ExpiresInMs != 0 {
		t.Errorf("unexpected %v", touched)
	}
	swapped, err := kv.CompareAndSwap(ctx, namespace, "keys/a", []byte("two"), quoin.IfValue([]byte{}))
	must(t, err)
	if !swapped.Success {
		t.Errorf("unexpected %v", swapped)
	}
	missed, err := kv.CompareAndSwap(ctx, namespace, "keys/a", []byte("three"))
	must(t, err)
	if missed.Success || string(missed.CurrentValue) != "two" {
		t.Errorf("unexpected %v", missed)
	}
	for at := range 25 {
		_, err := kv.Put(ctx, namespace, fmt.Sprintf("keys/page/%02d", at), []byte(strconv.Itoa(at)))
		must(t, err)
	}
	var keys []string
	pages := 0
	for page, err := range kv.Pages(ctx, namespace, "keys/page/", quoin.WithPageSize(10)) {
		must(t, err)
		pages++
		for _, item := range page.Items {
			keys = append(keys, item.Key)
		}
	}
	if pages != 3 || len(keys) != 25 || !slices.IsSorted(keys) {
		t.Errorf("unexpected %d pages of %v", pages, keys)
	}
	counted, err := kv.Count(ctx, namespace, "keys/page/")
	must(t, err)
	if counted.Keys != 25 {
		t.Errorf("unexpected %v", counted)
	}
	_, err = kv.Delete(ctx, namespace, "keys/a")
	must(t, err)
	_, err = kv.Get(ctx, namespace, "keys/a")
	refused := wantReason(t, err, quoin.KeyNotFound, codes.NotFound)
	if refused.Outcome != quoin.NotExecuted || refused.Retryable() || refused.RequestID == "" {
		t.Errorf("unexpected %+v", refused)
	}
	_, err = kv.Put(ctx, namespace, "keys/b", nil, quoin.IfModRevision(1))
	wantReason(t, err, quoin.RevisionMismatch, codes.FailedPrecondition)
}

func TestBadArgumentsNameTheField(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	for field, call := range map[string]func() error{
		"ttl": func() error {
			_, err := client.KV.Put(ctx, namespace, "k", nil, quoin.WithTTL(1500*time.Millisecond))
			return err
		},
		"ttl_seconds": func() error {
			_, err := client.KV.Put(ctx, namespace, "k", nil, quoin.WithTTL(-time.Second))
			return err
		},
		"key": func() error { _, err := client.KV.Get(ctx, namespace, "\xff"); return err },
		"permits": func() error {
			_, err := client.KV.Get(ctx, namespace, "")
			if err == nil {
				return nil
			}
			return client.Semaphore(namespace, "s").Create(ctx, 0)
		},
		"request_id": func() error { _, err := client.KV.Get(ctx, namespace, "k", quoin.WithRequestID("7")); return err },
		"timeout":    func() error { _, err := client.KV.Get(ctx, namespace, "k", quoin.WithTimeout(0)); return err },
		"wait":       func() error { _, err := client.KV.Get(ctx, namespace, "k", quoin.WithWait(time.Second)); return err },
		"page_size":  func() error { _, err := client.KV.List(ctx, namespace, "", quoin.WithPageSize(0)); return err },
		"guard": func() error {
			_, err := client.KV.Put(ctx, namespace, "k", nil, quoin.WithGuard(quoin.Guard{Namespace: "other", LockName: "l", FencingToken: 1}))
			return err
		},
	} {
		refused := wantReason(t, call(), quoin.BadField, codes.InvalidArgument)
		if refused.Details["field"] != field || refused.Outcome != quoin.NotExecuted {
			t.Errorf("expected the field %s, got %+v", field, refused)
		}
	}
}

func TestLockProtectsAWrite(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	mutex := client.Lock(namespace, "do")
	must(t, mutex.Create(ctx, quoin.WithTTL(5*time.Second)))
	must(t, mutex.Do(ctx, func(ctx context.Context, hold *quoin.Hold) error {
		_, err := client.KV.Put(ctx, namespace, "do/key", []byte("v"), quoin.WithGuard(hold))
		if err != nil {
			return err
		}
		_, err = client.Lock(namespace, "do").TryLock(ctx)
		wantReason(t, err, quoin.NotAcquired, codes.FailedPrecondition)
		return nil
	}))
	hold, err := mutex.TryLock(ctx, quoin.WithValue([]byte("shown")))
	must(t, err)
	guard := hold.Guard()
	if isReleased, err := hold.Release(ctx); !isReleased || err != nil {
		t.Errorf("expected a release, got %v, %v", isReleased, err)
	}
	if isReleased, err := hold.Release(ctx); isReleased && err != nil {
		t.Errorf("unexpected %v, %v", isReleased, err)
	}
	_, err = client.KV.Put(ctx, namespace, "do/key", nil, quoin.WithGuard(guard))
	wantReason(t, err, quoin.Fenced, codes.Aborted)
	failure := errors.New("of the work")
	if err := mutex.Do(ctx, func(context.Context, *quoin.Hold) error { return failure }); err != failure {
		t.Errorf("unexpected %v", err)
	}
}

func TestHoldIsRenewedAndLost(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	mutex := client.Lock(namespace, "lost")
	must(t, mutex.Create(ctx))
	began := time.Now()
	err := mutex.Do(ctx, func(ctx context.Context, hold *quoin.Hold) error {
		select {
		case <-ctx.Done():
			t.Errorf("lost after %v: %v", time.Since(began), context.Cause(ctx))
		case <-time.After(2500 * time.Millisecond):
		}
		forced, err := client.Locks.ForceReleaseLock(ctx, &quoin.ForceReleaseLockRequest{Namespace: namespace, Name: "lost"})
		must(t, err)
		if !forced.Released {
			t.Error("the hold was not live")
		}
		<-ctx.Done()
		wantReason(t, context.Cause(ctx), quoin.LockLost, codes.FailedPrecondition)
		if hold.IsLive() || hold.Err() == nil {
			t.Error("the hold looks live")
		}
		return ctx.Err()
	}, quoin.WithTTL(time.Second))
	wantReason(t, err, quoin.LockLost, codes.FailedPrecondition)
}

func TestReadWriteLock(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	lock := client.RWLock(namespace, "rw")
	must(t, lock.Create(ctx))
	one, err := lock.RLock(ctx)
	must(t, err)
	two, err := lock.RLock(ctx, quoin.WithOwner("two"))
	must(t, err)
	wantReason(t, one.Upgrade(ctx), quoin.UpgradeWouldDeadlock, codes.FailedPrecondition)
	_, err = two.Release(ctx)
	must(t, err)
	before := one.FencingToken()
	must(t, one.Upgrade(ctx))
	if one.Mode() != quoin.RWMode_WRITE || one.FencingToken() <= before {
		t.Errorf("unexpected %v with token %d after %d", one.Mode(), one.FencingToken(), before)
	}
	_, err = client.KV.Put(ctx, namespace, "rw/key", nil, quoin.WithGuard(one))
	must(t, err)
	_, err = lock.RLock(ctx, quoin.WithWait(0))
	wantReason(t, err, quoin.NotAcquired, codes.FailedPrecondition)
	must(t, one.Downgrade(ctx))
	must(t, lock.RDo(ctx, func(context.Context, *quoin.Hold) error { return nil }, quoin.WithOwner("other")))
	_, err = one.Release(ctx)
	must(t, err)
	must(t, lock.Do(ctx, func(context.Context, *quoin.Hold) error { return nil }))
}

func TestSemaphore(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	semaphore := client.Semaphore(namespace, "permits")
	must(t, semaphore.Create(ctx, 3))
	hold, err := semaphore.Acquire(ctx, 2)
	must(t, err)
	_, err = semaphore.Acquire(ctx, 2, quoin.WithWait(0), quoin.WithOwner("other"))
	wantReason(t, err, quoin.NotAcquired, codes.FailedPrecondition)
	_, err = semaphore.Acquire(ctx, 4)
	wantReason(t, err, quoin.BadField, codes.InvalidArgument)
	must(t, semaphore.Do(ctx, 1, func(context.Context, *quoin.Hold) error { return nil }, quoin.WithOwner("other")))
	_, err = hold.Release(ctx)
	must(t, err)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	var sessions []*quoin.Session
	for at := range 3 {
		session, err := client.Session(ctx, namespace, quoin.WithTTL(time.Second), quoin.WithValue([]byte("m")))
		must(t, err)
		_, err = client.KV.Put(ctx, namespace, fmt.Sprintf("session/%d", at), nil, quoin.WithSession(session.ID()), quoin.WithGuard(session))
		must(t, err)
		sessions = append(sessions, session)
	}
	time.Sleep(2500 * time.Millisecond)
	for _, session := range sessions {
		if err := session.Err(); err != nil {
			t.Errorf("unexpected %v", err)
		}
	}
	if isEnded, err := sessions[0].End(ctx); !isEnded || err != nil {
		t.Errorf("unexpected %v, %v", isEnded, err)
	}
	_, err := client.KV.Get(ctx, namespace, "session/0")
	wantReason(t, err, quoin.KeyNotFound, codes.NotFound)
	_, err = client.Sessions.EndSession(ctx, &quoin.EndSessionRequest{Namespace: namespace, SessionId: sessions[1].ID()})
	must(t, err)
	<-sessions[1].Lost()
	wantReason(t, sessions[1].Err(), quoin.SessionLost, codes.FailedPrecondition)
	if !sessions[2].IsLive() {
		t.Error("the other session was lost")
	}
}

func TestElection(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	election := client.Election(namespace, "election")
	if leader, err := election.Leader(ctx); leader != nil || err != nil {
		t.Errorf("unexpected %v, %v", leader, err)
	}
	seen := make(chan string, 10)
	observing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		for leader, err := range election.Observe(observing) {
			switch {
			case err != nil:
				done <- err
			case leader == nil:
				seen <- ""
			default:
				seen <- leader.Value
			}
		}
	}()
	expect := func(value string) {
		t.Helper()
		select {
		case got := <-seen:
			if got != value {
				t.Fatalf("expected the leader %q, got %q", value, got)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("the leader %q was not observed", value)
		}
	}
	expect("")
	one, err := election.Campaign(ctx, "one")
	must(t, err)
	expect("one")
	elected := make(chan *quoin.Leadership, 1)
	go func() {
		two, err := cluster().Client(t).Election(namespace, "election").Campaign(ctx, "two")
		if err != nil {
			t.Error(err)
		}
		elected <- two
	}()
	_, err = election.Campaign(ctx, "three", quoin.WithWait(time.Millisecond))
	_ = err
	must(t, one.Proclaim(ctx, "one again"))
	expect("one again")
	if isLed, err := one.Resign(ctx); !isLed || err != nil {
		t.Errorf("unexpected %v, %v", isLed, err)
	}
	two := <-elected
	if two.FencingToken() <= one.FencingToken() {
		t.Error("a later leader has a smaller token")
	}
	for got := range seen {
		if got == "two" {
			break
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("unexpected %v", err)
	}
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	txn := client.Txn(namespace).If(quoin.KeyMissing("txn/a")).Then(quoin.OpPut("txn/a", []byte("1"), 0), quoin.OpIncrement("txn/n", 5)).Else(quoin.OpGet("txn/a"))
	done, err := txn.Commit(ctx)
	must(t, err)
	if !done.Succeeded || done.Results[1].GetIncrement().Value != 5 {
		t.Errorf("unexpected %v", done)
	}
	done, err = txn.Commit(ctx)
	must(t, err)
	if done.Succeeded || done.GetFailedCompare() != 0 || string(done.Results[0].GetGet().Kv.Value) != "1" {
		t.Errorf("unexpected %v", done)
	}
	touch := &quoin.TransactionOperation{Operation: &quoin.TransactionOperation_Touch{Touch: &quoin.TouchOperation{Key: "txn/none"}}}
	_, err = client.Txn(namespace).Then(quoin.OpPut("txn/b", nil, 0), touch).Commit(ctx)
	if refused := wantReason(t, err, quoin.KeyNotFound, codes.NotFound); refused.Details["operation"] != "success[1]" {
		t.Errorf("unexpected %v", refused.Details)
	}
	const clients, each = 4, 5
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			own := cluster().Client(t)
			for range each {
				must(t, own.Transact(ctx, namespace, func(ctx context.Context, tx *quoin.Tx) error {
					value, err := tx.Get(ctx, "txn/count")
					if err != nil {
						return err
					}
					count, _ := strconv.Atoi(string(value))
					return tx.Put("txn/count", []byte(strconv.Itoa(count+1)), 0)
				}, quoin.WithMaxRuns(100), quoin.WithTimeout(30*time.Second)))
			}
		})
	}
	wait.Wait()
	got, err := client.KV.Get(ctx, namespace, "txn/count")
	must(t, err)
	if string(got.Value) != strconv.Itoa(clients*each) {
		t.Errorf("%s of %d increments took effect", got.Value, clients*each)
	}
	err = client.Transact(ctx, namespace, func(ctx context.Context, tx *quoin.Tx) error {
		if _, err := tx.List(ctx, "txn/list/"); err != nil {
			return err
		}
		_, err := client.KV.Put(ctx, namespace, "txn/list/x", nil)
		return err
	}, quoin.WithMaxRuns(2))
	wantReason(t, err, quoin.TransactionConflict, codes.Aborted)
}

func TestWatch(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	watch, err := client.WatchKeys(ctx, namespace, "watch/", quoin.WithPrevious())
	must(t, err)
	for at := range 3 {
		_, err := client.KV.Put(ctx, namespace, "watch/k", []byte(strconv.Itoa(at)))
		must(t, err)
	}
	_, err = client.KV.Delete(ctx, namespace, "watch/k")
	must(t, err)
	var seen []string
	for batch, err := range watch.Batches() {
		must(t, err)
		for _, event := range batch.Events {
			seen = append(seen, fmt.Sprintf("%s %s %s", event.Type, event.Kv.Value, event.Previous.GetValue()))
		}
		if len(seen) == 4 {
			break
		}
	}
	if expected := []string{"PUT 0 ", "PUT 1 0", "PUT 2 1", "DELETE 2 2"}; !slices.Equal(seen, expected) {
		t.Errorf("expected %q, got %q", expected, seen)
	}
	for range watch.Batches() {
		t.Error("a closed watch has an item")
	}
	shared, err := client.WatchKeys(ctx, namespace, "shared/")
	must(t, err)
	var count atomic.Int32
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			for batch, err := range shared.Batches() {
				must(t, err)
				if count.Add(int32(len(batch.Events))) == 20 {
					return
				}
			}
		})
	}
	for at := range 20 {
		_, err := client.KV.Put(ctx, namespace, fmt.Sprintf("shared/%d", at), nil)
		must(t, err)
	}
	wait.Wait()
	if count.Load() != 20 {
		t.Errorf("three loops have seen %d of 20 changes", count.Load())
	}
	ending, cancel := context.WithCancel(ctx)
	watch, err = client.WatchKey(ending, namespace, "watch/k")
	must(t, err)
	time.AfterFunc(50*time.Millisecond, cancel)
	for _, err := range watch.Batches() {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("unexpected %v", err)
		}
	}
	_, err = client.WatchKeys(ctx, "none", "")
	wantReason(t, err, quoin.NamespaceNotFound, codes.NotFound)
}

func TestEventLogs(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	_, err := client.Logs.CreateLog(ctx, &quoin.CreateLogRequest{Namespace: namespace, Name: "events"})
	must(t, err)
	log, err := client.FindLog(ctx, namespace, "events")
	must(t, err)
	_, err = client.FindLog(ctx, namespace, "none")
	wantReason(t, err, quoin.LogNotFound, codes.NotFound)
	appended, err := log.Append(ctx, []byte("1"), quoin.IfSequence(0), quoin.WithIdempotencyKey("k"))
	must(t, err)
	again, err := log.Append(ctx, []byte("1"), quoin.WithIdempotencyKey("k"))
	must(t, err)
	if appended.Replayed || !again.Replayed || again.LastSequence != 1 {
		t.Errorf("unexpected %v, %v", appended, again)
	}
	batch, err := log.AppendBatch(ctx, [][]byte{[]byte("2"), []byte("3")})
	must(t, err)
	if !slices.Equal(batch.Sequences, []int64{2, 3}) {
		t.Errorf("unexpected %v", batch)
	}
	page, err := log.Read(ctx, quoin.WithStart(2), quoin.WithPageSize(1))
	must(t, err)
	if len(page.Events) != 1 || string(page.Events[0].Payload) != "2" {
		t.Errorf("unexpected %v", page)
	}
	go func() {
		time.Sleep(100 * time.Millisecond)
		_, err := log.Append(ctx, []byte("4"))
		if err != nil {
			t.Error(err)
		}
	}()
	page, err = log.Read(ctx, quoin.WithStart(4), quoin.WithWait(10*time.Second))
	must(t, err)
	if len(page.Events) != 1 {
		t.Errorf("unexpected %v", page)
	}
	var seen []int64
	for event, err := range log.Tail(ctx) {
		must(t, err)
		if seen = append(seen, event.Sequence); len(seen) == 4 {
			break
		}
	}
	if !slices.Equal(seen, []int64{1, 2, 3, 4}) {
		t.Errorf("unexpected %v", seen)
	}
}

func TestRegion(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	client, ctx := cluster().Client(t), t.Context()
	const size = 9 << 20
	made, err := client.Memory.AllocateMemory(ctx, &quoin.AllocateMemoryRequest{Namespace: namespace, SizeBytes: size})
	must(t, err)
	region := client.Region(namespace, made.RegionId)
	data := slices.Repeat([]byte("quoin"), size/5)
	version, err := region.WriteAt(ctx, 0, data, quoin.IfVersion(made.Version))
	must(t, err)
	if version <= made.Version {
		t.Errorf("unexpected version %d", version)
	}
	read, err := region.ReadAt(ctx, 0, len(data))
	must(t, err)
	if !slices.Equal(read, data) {
		t.Error("other bytes were read")
	}
	_, err = region.ReadAt(ctx, size, 1)
	wantReason(t, err, quoin.MemoryBounds, codes.OutOfRange)
	_, err = region.WriteAt(ctx, 0, []byte("x"), quoin.IfVersion(1))
	wantReason(t, err, quoin.VersionMismatch, codes.FailedPrecondition)
	found := 0
	for page, err := range quoin.Pages(ctx, client.Memory.ListMemoryRegions, &quoin.ListMemoryRegionsRequest{Namespace: namespace, PageSize: 1}) {
		must(t, err)
		found += len(page.Regions)
	}
	if found == 0 {
		t.Error("the region is not listed")
	}
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	namespace := space(t)
	running, ctx := cluster(), t.Context()
	client := running.Client(t)
	created, err := client.Accounts.CreateApiKey(ctx, &quoin.CreateApiKeyRequest{Name: "go"})
	must(t, err)
	anonymous, err := quoin.New(running.Endpoints, quoin.Anonymous())
	must(t, err)
	defer anonymous.Close()
	token, err := anonymous.Accounts.ExchangeToken(ctx, &quoin.ExchangeTokenRequest{ApiKey: created.Key})
	must(t, err)
	other, err := quoin.New(running.Endpoints, quoin.Token(token.AccessToken))
	must(t, err)
	defer other.Close()
	_, err = other.Cluster.GetCluster(ctx, &quoin.GetClusterRequest{})
	must(t, err)
	_, err = client.Accounts.RevokeApiKey(ctx, &quoin.RevokeApiKeyRequest{ApiKeyId: created.ApiKey.ApiKeyId})
	must(t, err)
	_, err = anonymous.Accounts.ExchangeToken(ctx, &quoin.ExchangeTokenRequest{ApiKey: created.Key})
	wantReason(t, err, quoin.InvalidAPIKey, codes.Unauthenticated)
	_, err = other.KV.Get(ctx, namespace, "k")
	wantReason(t, err, quoin.TokenRevoked, codes.Unauthenticated)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token.AccessToken), 0o600))
	renewed, err := quoin.New(running.Endpoints, quoin.TokenFile(file))
	must(t, err)
	defer renewed.Close()
	_, err = renewed.KV.Get(ctx, namespace, "k")
	wantReason(t, err, quoin.TokenRevoked, codes.Unauthenticated)
	valid, err := client.TokenSource().Token(ctx)
	must(t, err)
	must(t, os.WriteFile(file, []byte(valid), 0o600))
	_, err = renewed.KV.Get(ctx, namespace, "k")
	wantReason(t, err, quoin.KeyNotFound, codes.NotFound)
	status, err := client.Admin.ListMembers(ctx, &quoin.ListMembersRequest{})
	must(t, err)
	if len(status.Members) != 3 {
		t.Errorf("unexpected %v", status)
	}
}

// The leader is killed while a client, which knew only the leader, writes, and has a lock, a session, a watch and a tail.
func TestLeaderIsKilled(t *testing.T) {
	t.Parallel()
	running, ctx := quointest.Start(t, 3), t.Context()
	members, err := running.Client(t).Cluster.GetCluster(ctx, &quoin.GetClusterRequest{})
	must(t, err)
	at := slices.IndexFunc(members.Members, func(one *quoin.Member) bool { return one.Leader })
	leader := members.Members[at].GrpcEndpoint
	// Everything is at the leader. The client learns the other members.
	client, err := quoin.New([]string{leader}, quoin.APIKey(running.APIKey))
	must(t, err)
	defer client.Close()
	time.Sleep(1100 * time.Millisecond)
	mutex := client.Lock(namespace, "survives")
	must(t, mutex.Create(ctx))
	hold, err := mutex.Lock(ctx, quoin.WithTTL(10*time.Second))
	must(t, err)
	session, err := client.Session(ctx, namespace, quoin.WithTTL(10*time.Second))
	must(t, err)
	watch, err := client.WatchKeys(ctx, namespace, "n/")
	must(t, err)
	made, err := client.Logs.CreateLog(ctx, &quoin.CreateLogRequest{Namespace: namespace, Name: "events"})
	must(t, err)
	const writes = 60
	var wait sync.WaitGroup
	wait.Go(func() {
		expected := 0
		for batch, err := range watch.Batches() {
			if err != nil {
				t.Error(err)
				return
			}
			for _, event := range batch.Events {
				if string(event.Kv.Value) != strconv.Itoa(expected) || event.Kv.Version != 1 {
					t.Errorf("expected the write %d, got %v", expected, event)
					return
				}
				expected++
			}
			if expected == writes {
				return
			}
		}
	})
	wait.Go(func() {
		expected := int64(1)
		for event, err := range client.Log(made.Log.LogId).Tail(ctx) {
			if err != nil || event.Sequence != expected || string(event.Payload) != strconv.FormatInt(expected-1, 10) {
				t.Errorf("expected the event %d, got %v, %v", expected, event, err)
				return
			}
			if expected++; expected > writes {
				return
			}
		}
	})
	for at := range writes {
		if at == 20 {
			running.Signal(t, leader, syscall.SIGKILL)
		}
		// Without WithTimeout, an election may take longer.
		value := []byte(strconv.Itoa(at))
		_, err := client.KV.Put(ctx, namespace, fmt.Sprintf("n/%03d", at), value, quoin.WithGuard(hold), quoin.IfModRevision(0), quoin.WithTimeout(20*time.Second))
		must(t, err)
		_, err = client.Log(made.Log.LogId).Append(ctx, value, quoin.WithTimeout(20*time.Second))
		must(t, err)
	}
	wait.Wait()
	if hold.Err() != nil || session.Err() != nil {
		t.Errorf("lost: %v, %v", hold.Err(), session.Err())
	}
}
