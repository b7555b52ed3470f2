package quoin

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	pb "quoin.dev/client/internal/coordination/v1"
)

func TestPausesGrowUpToASecond(t *testing.T) {
	for attempt, most := range map[int]time.Duration{1: 50, 2: 100, 3: 200, 4: 400, 5: 800, 6: 1000, 60: 1000} {
		for range 100 {
			if pause := pauseAfter(attempt, false); pause < 0 || pause > most*time.Millisecond {
				t.Errorf("attempt %d: %v", attempt, pause)
			}
			if pause := pauseAfter(attempt, true); pause < most*time.Millisecond/2 || pause > most*time.Millisecond {
				t.Errorf("attempt %d without a member: %v", attempt, pause)
			}
		}
	}
}

func TestOutcomeOverAllAttempts(t *testing.T) {
	lost := &Error{Code: codes.Unavailable, Outcome: Unknown}
	for _, test := range []struct {
		next *Error
		want Outcome
	}{
		{&Error{Code: codes.Unavailable, Outcome: NotExecuted}, Unknown},
		{&Error{Code: codes.Unauthenticated, Outcome: NotExecuted}, Unknown},
		{&Error{Code: codes.ResourceExhausted, Reason: RateLimited, Outcome: NotExecuted}, Unknown},
		{&Error{Code: codes.NotFound, Outcome: NotExecuted}, NotExecuted},
		{&Error{Code: codes.ResourceExhausted, Reason: Quota, Outcome: NotExecuted}, NotExecuted},
	} {
		op := &operation{outcome: NotExecuted}
		op.conclude(lost)
		if got := op.conclude(test.next); got.Outcome != test.want {
			t.Errorf("%v: expected %s, got %s", test.next.Code, test.want, got.Outcome)
		}
	}
}

func TestErrorsAreReasonsAndContexts(t *testing.T) {
	var err error = &Error{Code: codes.NotFound, Reason: KeyNotFound, Message: "the key does not exist"}
	if !errors.Is(err, KeyNotFound) || errors.Is(err, LockNotFound) || errors.Is(&Error{}, Reason("")) {
		t.Error("errors.Is does not compare reasons")
	}
	if text := err.Error(); text != "quoin: the key does not exist (KEY_NOT_FOUND)" {
		t.Error(text)
	}
	for _, retryable := range []*Error{
		{Code: codes.Unavailable}, {Code: codes.DeadlineExceeded},
		{Code: codes.ResourceExhausted, Reason: RateLimited}, {Code: codes.ResourceExhausted, Reason: TooManyStreams},
	} {
		if !retryable.Retryable() {
			t.Errorf("%v is not retryable", retryable)
		}
	}
	if (&Error{Code: codes.ResourceExhausted, Reason: Quota}).Retryable() {
		t.Error("a quota is retryable")
	}
}

func TestPoolLeavesMembers(t *testing.T) {
	p := newPool([]string{"a:1", "b:1"}, nil)
	p.index, p.current = 0, "a:1"
	step := func(failed, leader, want string) {
		t.Helper()
		if p.leave(failed, leader); p.current != want {
			t.Fatalf("after %s: expected %s, got %s", failed, want, p.current)
		}
	}
	step("b:1", "", "a:1") // Another call has left it already.
	step("a:1", "", "b:1")
	step("b:1", "c:1", "c:1")
	step("c:1", "no endpoint", "a:1")
	p.learn([]string{"a:1", "d:1", "bad", "e:1"})
	step("a:1", "a:1", "b:1")
	step("b:1", "", "d:1") // Once per round a learned one, which is forgotten if it fails.
	step("d:1", "", "a:1")
	step("a:1", "", "b:1")
	step("b:1", "", "e:1")
	step("e:1", "", "a:1")
	step("a:1", "", "b:1")
	step("b:1", "", "a:1")
}

func TestTokensAreSharedAndRenewedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var exchanges, failures atomic.Int32
		source := &exchangedToken{now: time.Now, start: func(work func(context.Context)) bool { go work(t.Context()); return true }}
		source.exchange = func(context.Context) (string, time.Duration, error) {
			time.Sleep(time.Second)
			if failures.Add(-1) >= 0 {
				return "", 0, &Error{Code: codes.DeadlineExceeded, Reason: Deadline, Outcome: NotExecuted}
			}
			return "token" + string('0'+rune(exchanges.Add(1))), 100 * time.Second, nil
		}
		want := func(token string) {
			t.Helper()
			if got, err := source.Token(t.Context()); got != token || err != nil {
				t.Fatalf("expected %s, got %s, %v", token, got, err)
			}
		}
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() { want("token1") })
		}
		wait.Wait()
		time.Sleep(78 * time.Second) // 79 s after the request.
		want("token1")
		synctest.Wait()
		if exchanges.Load() != 1 {
			t.Fatal("the token was replaced before 80 % of its life")
		}
		time.Sleep(2 * time.Second)
		failures.Store(1)
		want("token1") // It begins a replacement, and does not wait for it. That fails.
		time.Sleep(1500 * time.Millisecond)
		want("token1") // The next one is not begun at once.
		time.Sleep(time.Second)
		want("token1")
		time.Sleep(2 * time.Second)
		want("token2")
		for range 5 {
			wait.Go(func() {
				if got, err := source.Refresh(t.Context(), "token2"); got != "token3" || err != nil {
					t.Errorf("expected token3, got %s, %v", got, err)
				}
			})
		}
		wait.Wait()
		time.Sleep(200 * time.Second)
		failures.Store(1)
		// Of an expired token, the failure of the exchange is that of the call, which may try again elsewhere.
		if _, err := source.Token(t.Context()); asError(err).Code != codes.Unavailable {
			t.Errorf("unexpected %v", err)
		}
		limited, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := source.Token(limited); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("unexpected %v", err)
		}
		time.Sleep(2 * time.Second)
	})
}

func TestLifeEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing, cancel := context.WithCancel(t.Context())
		begin := func() *life {
			l := &life{}
			l.begin(&core{ctx: closing}, time.Now().Add(time.Second), func(cause *Error) *Error { return lossError(LockLost, "it", nil, cause) })
			return l
		}
		state := func(l *life, isLive, isLost bool) {
			t.Helper()
			synctest.Wait()
			if l.IsLive() != isLive || (l.lost.Err() != nil) != isLost || (l.Err() != nil) != isLost {
				t.Errorf("expected live %v, lost %v, got %v, %v", isLive, isLost, l.IsLive(), l.Err())
			}
		}
		renewed, forgotten, released, closed := begin(), begin(), begin(), begin()
		held, stop := forgotten.Context(t.Context())
		defer stop()
		time.Sleep(600 * time.Millisecond)
		renewed.renewed(time.Now().Add(time.Second))
		forgotten.notRenewed(&Error{Code: codes.Unavailable, Message: "no member"})
		released.stop()
		time.Sleep(600 * time.Millisecond)
		state(renewed, true, false)
		state(forgotten, false, true)
		state(released, false, false)
		if cause := context.Cause(held); !errors.Is(cause, LockLost) || !strings.Contains(cause.Error(), "no member") || held.Err() == nil {
			t.Errorf("unexpected %v", cause)
		}
		state(closed, false, true)
		released.renewed(time.Now().Add(time.Second))
		state(released, false, false)
		cancel()
		state(renewed, false, true)
	})
}

func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	source, err := TokenFile(path).tokens(nil)
	must(t, err)
	if _, err := source.Token(t.Context()); !errors.Is(err, NoToken) {
		t.Errorf("unexpected %v", err)
	}
	must(t, os.WriteFile(path, []byte("\n  first \nsecond\n"), 0o600))
	token, err := source.Token(t.Context())
	must(t, err)
	same, err := source.Refresh(t.Context(), token)
	must(t, err)
	must(t, os.WriteFile(path, []byte("third"), 0o600))
	kept, err := source.Token(t.Context())
	must(t, err)
	next, err := source.Refresh(t.Context(), token)
	must(t, err)
	if got := []string{token, same, kept, next}; !slices.Equal(got, []string{"first", "", "first", "third"}) {
		t.Errorf("unexpected %q", got)
	}
}

// A member in this process, whose answers a test decides.
type scriptedMember struct {
	pb.UnimplementedKeyValueServiceServer
	get func(context.Context) (*pb.GetKeyResponse, error)
}

func (m *scriptedMember) GetKey(ctx context.Context, _ *pb.GetKeyRequest) (*pb.GetKeyResponse, error) {
	return m.get(ctx)
}

func serve(t *testing.T, get func(context.Context) (*pb.GetKeyResponse, error), opts ...grpc.ServerOption) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer(opts...)
	pb.RegisterKeyValueServiceServer(server, &scriptedMember{get: get})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func found(context.Context) (*pb.GetKeyResponse, error) { return &pb.GetKeyResponse{Version: 1}, nil }

func newClient(t *testing.T, endpoints []string, opts ...ClientOption) *Client {
	client, err := New(endpoints, Token("t"), opts...)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// traceHandler is what a handler of OpenTelemetry does: it adds a header to the call.
type traceHandler struct{ sentHandler }

func (traceHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
}

func TestMetadataOfEachCall(t *testing.T) {
	var got metadata.MD
	endpoint := serve(t, func(ctx context.Context) (*pb.GetKeyResponse, error) {
		got, _ = metadata.FromIncomingContext(ctx)
		return found(ctx)
	})
	client := newClient(t, []string{endpoint}, WithDialOptions(grpc.WithStatsHandler(traceHandler{})))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer other", "baggage", "a=b")
	_, err := client.KV.Get(ctx, "n", "k", WithRequestID("6F9619FF-8B86-D011-B42D-00CF4FC964FF"))
	must(t, err)
	for name, want := range map[string]string{
		"authorization": "Bearer t", "api-version": "v1", "request-id": "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "baggage": "a=b",
	} {
		if values := got.Get(name); !slices.Equal(values, []string{want}) {
			t.Errorf("%s: expected %s once, got %q", name, want, values)
		}
	}
}

func TestNothingIsSentWithoutAConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	endpoint := listener.Addr().String()
	listener.Close()
	client := newClient(t, []string{endpoint})
	_, err = client.KV.Get(t.Context(), "n", "k", WithTimeout(300*time.Millisecond))
	failure := asError(err)
	if failure.Code != codes.Unavailable || failure.Outcome != NotExecuted || !strings.Contains(failure.Message, endpoint) {
		t.Errorf("unexpected %+v", failure)
	}
}

func TestAMemberThatHangs(t *testing.T) {
	// It takes connections, and says nothing.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	good := serve(t, found)
	for range 4 {
		client := newClient(t, []string{listener.Addr().String(), good})
		_, err := client.KV.Get(t.Context(), "n", "k", WithTimeout(20*time.Second))
		must(t, err)
	}
	// It takes calls, and does not answer: the call ends by its deadline, and the next one gets another connection.
	var calls atomic.Int32
	slow := serve(t, func(ctx context.Context) (*pb.GetKeyResponse, error) {
		if calls.Add(1) == 1 {
			<-t.Context().Done() // Beyond the deadline of the call.
		}
		return found(ctx)
	})
	client := newClient(t, []string{slow})
	_, err = client.KV.Get(t.Context(), "n", "k", WithTimeout(200*time.Millisecond))
	if failure := asError(err); !errors.Is(err, context.DeadlineExceeded) || failure.Outcome != Unknown || !failure.Retryable() {
		t.Errorf("unexpected %+v", failure)
	}
	_, err = client.KV.Get(t.Context(), "n", "k")
	must(t, err)
}

func TestCancelledCalls(t *testing.T) {
	entered := make(chan struct{}, 1)
	endpoint := serve(t, func(ctx context.Context) (*pb.GetKeyResponse, error) {
		entered <- struct{}{}
		<-ctx.Done()
		return found(ctx)
	})
	client := newClient(t, []string{endpoint})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	go func() {
		<-entered
		cancel(why)
	}()
	_, err := client.KV.Get(ctx, "n", "k", WithTimeout(time.Minute))
	if failure := asError(err); !errors.Is(err, context.Canceled) || !errors.Is(err, why) || failure.Outcome != Unknown {
		t.Errorf("unexpected %+v", failure)
	}
	_, err = client.KV.Get(ctx, "n", "k")
	if failure := asError(err); failure.Code != codes.Canceled || failure.Outcome != NotExecuted {
		t.Errorf("unexpected %+v", failure)
	}
	go func() {
		<-entered
		client.Close()
	}()
	_, err = client.KV.Get(t.Context(), "n", "k", WithTimeout(time.Minute))
	if failure := asError(err); failure.Code != codes.Canceled || failure.Outcome != Unknown || failure.Message != "the client is closed" {
		t.Errorf("unexpected %+v", failure)
	}
	_, err = client.Lock("n", "l").Lock(t.Context())
	if failure := asError(err); failure.Code != codes.Canceled || failure.Outcome != NotExecuted {
		t.Errorf("unexpected %+v", failure)
	}
	_, err = client.WatchKeys(t.Context(), "n", "")
	if failure := asError(err); failure.Code != codes.Canceled {
		t.Errorf("unexpected %+v", failure)
	}
}

func TestATooLargeRequestIsNotSent(t *testing.T) {
	client := newClient(t, []string{serve(t, found)})
	_, err := client.KV.Put(t.Context(), "n", "k", make([]byte, sentBytesMax))
	if failure := asError(err); !errors.Is(err, TooLarge) || failure.Code != codes.InvalidArgument || failure.Outcome != NotExecuted {
		t.Errorf("unexpected %+v", failure)
	}
	_, err = client.Log("l").AppendBatch(t.Context(), [][]byte{make([]byte, sentBytesMax)})
	if failure := asError(err); !errors.Is(err, TooLarge) || failure.Details["field"] != "payloads" {
		t.Errorf("unexpected %+v", failure)
	}
}

func TestBadOptionsOfClients(t *testing.T) {
	for field, make := range map[string]func() (*Client, error){
		"endpoints":   func() (*Client, error) { return New(nil, Token("t")) },
		"credentials": func() (*Client, error) { return New([]string{"a:1"}, nil) },
		"api_key":     func() (*Client, error) { return New([]string{"a:1"}, APIKey("")) },
		"token":       func() (*Client, error) { return New([]string{"a:1"}, Token("a b")) },
		"timeout":     func() (*Client, error) { return New([]string{"a:1"}, Token("t"), WithDefaultTimeout(0)) },
		"tls":         func() (*Client, error) { return New([]string{"a:1"}, Token("t"), WithTLS(TLS{CA: []byte("x")})) },
	} {
		if _, err := make(); !errors.Is(err, BadField) || asError(err).Details["field"] != field {
			t.Errorf("%s: unexpected %v", field, err)
		}
	}
	for _, endpoint := range []string{"a", "a:", ":1", "a:0", "a:65536", "a:x", "http://a:1", "a b:1", "a:1/x"} {
		if _, err := New([]string{endpoint}, Token("t")); !errors.Is(err, BadField) {
			t.Errorf("%q: unexpected %v", endpoint, err)
		}
	}
	for _, endpoint := range []string{"localhost:7400", "[::1]:7400", "10.0.0.1:1"} {
		if !isEndpoint(endpoint) {
			t.Errorf("%q is an endpoint", endpoint)
		}
	}
}

// certificate makes one for this machine that signs itself.
func certificate(t *testing.T, name string) (certificate, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

func TestTLSIsReadAgain(t *testing.T) {
	var current atomic.Pointer[tls.Certificate]
	use := func(certificate, key []byte) {
		pair, err := tls.X509KeyPair(certificate, key)
		must(t, err)
		current.Store(&pair)
	}
	first, firstKey := certificate(t, "first")
	second, secondKey := certificate(t, "second")
	use(first, firstKey)
	secure := credentials.NewTLS(&tls.Config{
		ClientAuth:     tls.RequireAnyClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil },
	})
	folder := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	options := TLS{CAFile: write("ca", first), CertificateFile: write("certificate", first), KeyFile: write("key", firstKey)}
	endpoint := serve(t, found, grpc.Creds(secure))
	client := newClient(t, []string{endpoint}, WithTLS(options))
	get := func() error {
		_, err := client.KV.Get(t.Context(), "n", "k", WithTimeout(5*time.Second))
		return err
	}
	wantUntrusted := func() {
		t.Helper()
		// At the deadline there may be another reason: that a connection takes too long.
		var failure *Error
		for range 5 {
			_, err := client.KV.Get(t.Context(), "n", "k", WithTimeout(500*time.Millisecond))
			if failure = asError(err); strings.Contains(failure.Message, "certificate") {
				break
			}
		}
		if failure.Code != codes.Unavailable || failure.Outcome != NotExecuted || !strings.Contains(failure.Message, "certificate") {
			t.Errorf("unexpected %+v", failure)
		}
	}
	reconnect := func() {
		client.core.pool.mu.Lock()
		defer client.core.pool.mu.Unlock()
		for _, one := range client.core.pool.targets {
			client.core.pool.abandon(one)
		}
	}
	must(t, get())
	use(second, secondKey)
	must(t, get()) // The connection stays.
	reconnect()
	wantUntrusted()
	write("ca", bytes.Join([][]byte{first, second}, nil))
	write("certificate", second) // Its key does not fit yet: what was usable before counts.
	wantUntrusted()
	write("key", secondKey)
	must(t, get())
	for _, wrong := range []TLS{{Certificate: first}, {Key: firstKey}, {Certificate: first, Key: secondKey}, {CAFile: folder}, {CA: first, CAFile: options.CAFile}} {
		if _, err := newTLS(wrong); !errors.Is(err, BadField) {
			t.Errorf("unexpected %v", err)
		}
	}
}
