package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"
)

const (
	mebibyte = 1024 * 1024
	// In a lock request, far above the deadline of the client.
	longWaitMs = 60_000
	shortTime  = 300 * time.Millisecond
)

var scenarios = map[string]func(*Members){
	"put":             put,
	"refusal":         refusal,
	"gzip":            compressed,
	"large":           large,
	"binary-metadata": binaryMetadata,
	"deadline":        deadline,
	"cancellation":    cancellation,
	"transaction":     transaction,
	"accounts":        accounts,
	"session":         session,
	"semaphore":       semaphore,
	"watch":           watch,
	"drain":           drain,
}

// name is that of a new key or lock, as JSON.
func newName(field string) string {
	return fmt.Sprintf(`"namespace": "default", %q: "interop/go/%s"`, field, uuid())
}

func value(bytes []byte) string {
	return base64.StdEncoding.EncodeToString(bytes)
}

func putAndGet(m *Members, bytes []byte, options ...grpc.CallOption) {
	key := newName("key")
	must("put", m.call("KeyValueService", "PutKey", fmt.Sprintf(`{%s, "value": %q}`, key, value(bytes)), options...).err)
	found := m.call("KeyValueService", "GetKey", "{"+key+"}", options...)
	must("get", found.err)
	expect("the value", string(field(found.response, "value").Bytes()), string(bytes))
}

func put(m *Members) {
	for range 3 {
		putAndGet(m, []byte("grüße"))
	}
}

func refusal(m *Members) {
	answer := m.call("KeyValueService", "GetKey", "{"+newName("key")+"}")
	told := status.Convert(answer.err)
	expect("the code", told.Code(), codes.NotFound)
	expect("the reason", strings.Join(answer.trailers["error-reason"], ","), "KEY_NOT_FOUND")
	expect("the outcome", strings.Join(answer.trailers["outcome"], ","), "not-executed")
	var info *errdetails.ErrorInfo
	for _, detail := range told.Details() {
		if found, isInfo := detail.(*errdetails.ErrorInfo); isInfo {
			info = found
		}
	}
	if info == nil {
		fail("the status has no ErrorInfo: %v", told.Details())
	}
	expect("the reason in the details", info.Reason, "KEY_NOT_FOUND")
	// A message that must be percent-encoded names what the client has sent.
	unknown := m.call("KeyValueService", "GetKey", `{"namespace": "grüße 100%", "key": "k"}`)
	message := status.Convert(unknown.err).Message()
	if message == "" || strings.Contains(message, "%2") || strings.Contains(message, "%C3") {
		fail("the message is not decoded: %q", message)
	}
}

func compressed(m *Members) {
	putAndGet(m, []byte(strings.Repeat("compressed ", 10_000)), grpc.UseCompressor(gzip.Name))
}

func large(m *Members) {
	putAndGet(m, []byte(strings.Repeat("v", mebibyte)))
	// One more byte is refused by the rules of the contract, and more than a message may have by the host.
	above := fmt.Sprintf(`{%s, "value": %q}`, newName("key"), value(make([]byte, mebibyte+1)))
	expect("a value above the limit", status.Code(m.call("KeyValueService", "PutKey", above).err), codes.InvalidArgument)
	beyond := fmt.Sprintf(`{%s, "value": %q}`, newName("key"), value(make([]byte, 5*mebibyte)))
	for _, options := range [][]grpc.CallOption{nil, {grpc.UseCompressor(gzip.Name)}} {
		refused := m.call("KeyValueService", "PutKey", beyond, options...)
		expect("a message above the limit", status.Code(refused.err), codes.ResourceExhausted)
	}
	putAndGet(m, []byte("after that"))
}

func binaryMetadata(m *Members) {
	for size := range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		ctx = metadata.AppendToOutgoingContext(ctx, "trace-bin", string(make([]byte, size)))
		must("list", m.callIn(ctx, m.connection(), "KeyValueService", "ListKeys", `{"namespace": "default"}`).err)
		cancel()
	}
}

// held is a lock that another owner has, as JSON.
func held(m *Members) string {
	name := newName("name")
	must("create", m.call("LockService", "CreateLock", fmt.Sprintf(`{%s, "ttlSeconds": 60}`, name)).err)
	must("acquire", m.call("LockService", "AcquireLock", fmt.Sprintf(`{%s, "owner": "first"}`, name)).err)
	return fmt.Sprintf(`{%s, "owner": "second", "waitMs": %d}`, name, longWaitMs)
}

func deadline(m *Members) {
	wait := held(m)
	for range len(m.connections) {
		ctx, cancel := context.WithTimeout(context.Background(), shortTime)
		answer := m.callIn(ctx, m.connection(), "LockService", "AcquireLock", wait)
		cancel()
		expect("the code", status.Code(answer.err), codes.DeadlineExceeded)
	}
	putAndGet(m, []byte("after that"))
}

func cancellation(m *Members) {
	wait := held(m)
	for range len(m.connections) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(shortTime, cancel)
		answer := m.callIn(ctx, m.connection(), "LockService", "AcquireLock", wait)
		expect("the code", status.Code(answer.err), codes.Canceled)
	}
	putAndGet(m, []byte("after that"))
}

func transaction(m *Members) {
	key := "interop/go/" + uuid()
	request := fmt.Sprintf(`{
		"namespace": "default",
		"compare": [{"key": {"key": %[1]q, "operator": "LESS", "version": 2}}],
		"success": [{"increment": {"key": %[1]q, "delta": 5}}, {"get": {"key": %[1]q}}],
		"failure": [{"delete": {"key": %[1]q}}]
	}`, key)
	for turn := range 2 {
		done := m.call("TransactionService", "Transact", request)
		must("transact", done.err)
		expect("succeeded", field(done.response, "succeeded").Bool(), true)
		results := field(done.response, "results").List()
		expect("the number of results", results.Len(), 2)
		first := results.Get(0).Message().Interface().(*dynamicpb.Message)
		sum := field(first, "increment").Message().Interface().(*dynamicpb.Message)
		expect("the number", field(sum, "value").Int(), int64(5*(turn+1)))
	}
	done := m.call("TransactionService", "Transact", request)
	must("transact", done.err)
	expect("succeeded", field(done.response, "succeeded").Bool(), false)
	refused := m.call("TransactionService", "Transact", fmt.Sprintf(`{
		"namespace": "default", "success": [{"put": {"key": %[1]q}}, {"touch": {"key": "%[1]s/none"}}]
	}`, key))
	expect("the code", status.Code(refused.err), codes.NotFound)
	expect("the key", status.Code(m.call("KeyValueService", "GetKey", fmt.Sprintf(`{"namespace": "default", "key": %q}`, key)).err), codes.NotFound)
}

// accounts moves money from one account to the other as long as the first has enough: five of seven transfers.
func accounts(m *Members) {
	from, to := "interop/go/"+uuid(), "interop/go/"+uuid()
	put := fmt.Sprintf(`{"namespace": "default", "success": [
		{"put": {"key": %q, "value": %q}}, {"put": {"key": %q, "value": %q}}
	]}`, from, value([]byte("50")), to, value([]byte("0")))
	must("open the accounts", m.call("TransactionService", "Transact", put).err)
	transfer := fmt.Sprintf(`{
		"namespace": "default",
		"compare": [{"key": {"key": %[1]q, "operator": "NOT_EQUAL", "value": %[3]q}}],
		"success": [{"increment": {"key": %[1]q, "delta": -10}}, {"increment": {"key": %[2]q, "delta": 10}}],
		"failure": [{"get": {"key": %[1]q}}, {"get": {"key": %[2]q}}]
	}`, from, to, value([]byte("0")))
	for turn := range 7 {
		done := m.call("TransactionService", "Transact", transfer)
		must("transfer", done.err)
		expect("succeeded", field(done.response, "succeeded").Bool(), turn < 5)
	}
	for key, balance := range map[string]string{from: "0", to: "50"} {
		found := m.call("KeyValueService", "GetKey", fmt.Sprintf(`{"namespace": "default", "key": %q}`, key))
		must("get", found.err)
		expect("the balance", string(field(found.response, "value").Bytes()), balance)
	}
}

func session(m *Members) {
	created := m.call("SessionService", "CreateSession", `{"namespace": "default", "ttlSeconds": 60, "owner": "go"}`)
	must("create", created.err)
	id := field(created.response, "session_id").Int()
	key := newName("key")
	must("put", m.call("KeyValueService", "PutKey", fmt.Sprintf(`{%s, "sessionId": "%d"}`, key, id)).err)
	renew := fmt.Sprintf(`{"namespace": "default", "sessions": [{"sessionId": "%d"}]}`, id)
	renewed := m.call("SessionService", "RenewSessions", renew)
	must("renew", renewed.err)
	expect("the remaining time", remaining(renewed), int64(60_000))
	must("get", m.call("KeyValueService", "GetKey", "{"+key+"}").err)
	ended := m.call("SessionService", "EndSession", fmt.Sprintf(`{"namespace": "default", "sessionId": "%d"}`, id))
	must("end", ended.err)
	expect("the objects that ended", field(ended.response, "ended_objects").Int(), int64(1))
	expect("the key", status.Code(m.call("KeyValueService", "GetKey", "{"+key+"}").err), codes.NotFound)
	renewed = m.call("SessionService", "RenewSessions", renew)
	must("renew what has ended", renewed.err)
	expect("the remaining time", remaining(renewed), int64(0))
}

// remaining is how long the first session of a renewal lives, in milliseconds.
func remaining(renewed Answer) int64 {
	first := field(renewed.response, "sessions").List().Get(0).Message().Interface().(*dynamicpb.Message)
	return field(first, "expires_in_ms").Int()
}

func semaphore(m *Members) {
	name := newName("name")
	must("create", m.call("LockService", "CreateSemaphore", fmt.Sprintf(`{%s, "permits": 3, "ttlSeconds": 60}`, name)).err)
	acquire := func(owner string, waitMs int64) Answer {
		request := fmt.Sprintf(`{%s, "permits": 2, "owner": %q, "waitMs": %d}`, name, owner, waitMs)
		answer := m.call("LockService", "AcquireSemaphore", request)
		must("acquire", answer.err)
		return answer
	}
	first := acquire("first", 0)
	expect("acquired", field(first.response, "acquired").Bool(), true)
	expect("the held permits", field(first.response, "held_permits").Int(), int64(2))
	for _, waitMs := range []int64{0, shortTime.Milliseconds()} {
		expect("acquired by the second", field(acquire("second", waitMs).response, "acquired").Bool(), false)
	}
	must("release", m.call("LockService", "ReleaseSemaphore", fmt.Sprintf(`{%s, "owner": "first"}`, name)).err)
	second := acquire("second", 0)
	expect("acquired after the release", field(second.response, "acquired").Bool(), true)
	older, newer := field(first.response, "fencing_token").Int(), field(second.response, "fencing_token").Int()
	expect("whether tokens grow", newer > older, true)
}

func watch(m *Members) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	prefix := "interop/go/" + uuid() + "/"
	_, next := m.stream(ctx, "WatchService", "WatchKeys", fmt.Sprintf(`{"namespace": "default", "prefix": %q}`, prefix))
	created, err := next()
	must("begin to watch", err)
	expect("created", field(created, "created").Bool(), true)
	for number := range 3 {
		request := fmt.Sprintf(`{"namespace": "default", "key": "%s%d"}`, prefix, number)
		must("put", m.call("KeyValueService", "PutKey", request).err)
	}
	for seen := 0; seen < 3; {
		message, err := next()
		must("watch", err)
		seen += field(message, "events").List().Len()
	}
	cancel()
	_, err = next()
	expect("the end of the stream", status.Code(err), codes.Canceled)
	putAndGet(m, []byte("after that"))
}

// drain calls the first member, which is stopped when it has printed that it does: each call is answered, until the member is
// gone; then another one answers.
func drain(m *Members) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*callTimeout)
	defer cancel()
	const list = `{"namespace": "default", "prefix": "interop/go/"}`
	leaving, staying := m.connections[0], m.connections[1]
	must("list", m.callIn(ctx, leaving, "KeyValueService", "ListKeys", list).err)
	fmt.Println("calling")
	for {
		err := m.callIn(ctx, leaving, "KeyValueService", "ListKeys", list).err
		if err == nil {
			continue
		}
		expect("the code of a member that stops", status.Code(err), codes.Unavailable)
		if strings.Contains(err.Error(), "connection refused") {
			break
		}
	}
	must("list elsewhere", m.callIn(ctx, staying, "KeyValueService", "ListKeys", list).err)
}
