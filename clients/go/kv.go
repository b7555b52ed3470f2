package quoin

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "quoin.dev/client/internal/coordination/v1"
)

// KV reads and writes keys in namespaces. Keys are strings in UTF-8 of 1 to 1,024 bytes, and values have at most 1 MiB.
// All methods fail with NotFound / NamespaceNotFound.
type KV struct{ client *Client }

// Get reads a key. An empty value is a value; an absent key is NotFound / KeyNotFound. It takes Serializable.
func (kv *KV) Get(ctx context.Context, namespace, key string, opts ...Option) (*GetKeyResponse, error) {
	o := gather("kv.get", opts, eachCall+" serializable")
	request := &pb.GetKeyRequest{Namespace: namespace, Key: key, Consistency: o.serializable}
	return kv.client.KeyValue.GetKey(ctx, request, o.sent()...)
}

// Put creates or overwrites a key. It takes WithTTL, WithSession, IfModRevision, WithPrevious and WithGuard. Without
// WithTTL the key does not expire, and an earlier life ends.
func (kv *KV) Put(ctx context.Context, namespace, key string, value []byte, opts ...Option) (*PutKeyResponse, error) {
	o := gather("kv.put", opts, eachCall+" ttl session_id expected_mod_revision previous guard")
	return kv.client.KeyValue.PutKey(ctx, &pb.PutKeyRequest{
		Namespace: namespace, Key: key, Value: value, TtlSeconds: o.ttl, SessionId: o.session,
		ExpectedModRevision: o.ifRevision, ReturnPrevious: o.previous, Guard: o.guardOf(namespace),
	}, o.sent()...)
}

// Delete removes a key. It takes IfModRevision, WithPrevious and WithGuard, and fails with NotFound / KeyNotFound.
func (kv *KV) Delete(ctx context.Context, namespace, key string, opts ...Option) (*DeleteKeyResponse, error) {
	o := gather("kv.delete", opts, eachCall+" expected_mod_revision previous guard")
	return kv.client.KeyValue.DeleteKey(ctx, &pb.DeleteKeyRequest{
		Namespace: namespace, Key: key, ExpectedModRevision: o.ifRevision, ReturnPrevious: o.previous,
		Guard: o.guardOf(namespace),
	}, o.sent()...)
}

// Touch gives a key a new time to live from now on, by WithTTL; without it the key does not expire any more. Nothing else
// changes, and watches get no event. It takes IfModRevision and WithGuard too, and fails with NotFound / KeyNotFound.
func (kv *KV) Touch(ctx context.Context, namespace, key string, opts ...Option) (*TouchKeyResponse, error) {
	o := gather("kv.touch", opts, eachCall+" ttl expected_mod_revision guard")
	return kv.client.KeyValue.TouchKey(ctx, &pb.TouchKeyRequest{
		Namespace: namespace, Key: key, TtlSeconds: o.ttl, ExpectedModRevision: o.ifRevision, Guard: o.guardOf(namespace),
	}, o.sent()...)
}

// CompareAndSwap writes a key if it is as expected by IfValue and IfModRevision; without both it must not exist. A
// comparison that is not true is no error: Success is false then. It takes WithTTL, WithSession and WithGuard too.
func (kv *KV) CompareAndSwap(ctx context.Context, namespace, key string, value []byte, opts ...Option) (*CompareAndSwapResponse, error) {
	o := gather("kv.compare_and_swap", opts, eachCall+" expected_value expected_mod_revision ttl session_id guard")
	return kv.client.KeyValue.CompareAndSwap(ctx, &pb.CompareAndSwapRequest{
		Namespace: namespace, Key: key, NewValue: value, ExpectedValue: o.ifValue, ExpectedModRevision: o.ifRevision,
		TtlSeconds: o.ttl, SessionId: o.session, Guard: o.guardOf(namespace),
	}, o.sent()...)
}

// List reads one page of the keys with a prefix, in the order of their UTF-8 bytes. It takes WithPageSize, WithPageToken,
// KeysOnly and Serializable.
func (kv *KV) List(ctx context.Context, namespace, prefix string, opts ...Option) (*ListKeysResponse, error) {
	o := gather("kv.list", opts, eachCall+" page_size page_token keys_only serializable")
	return kv.client.KeyValue.ListKeys(ctx, kv.listing(namespace, prefix, o), o.sent()...)
}

// Pages reads all pages of the keys with a prefix, each when it is needed, with the options of List. Pages may have
// different revisions; a watch from the Revision of the first page + 1 misses nothing.
func (kv *KV) Pages(ctx context.Context, namespace, prefix string, opts ...Option) iter.Seq2[*ListKeysResponse, error] {
	o := gather("kv.pages", opts, "timeout page_size keys_only serializable")
	return Pages(ctx, kv.client.KeyValue.ListKeys, kv.listing(namespace, prefix, o), o.sent()...)
}

func (kv *KV) listing(namespace, prefix string, o *options) *pb.ListKeysRequest {
	return &pb.ListKeysRequest{
		Namespace: namespace, Prefix: prefix, PageSize: o.items, PageToken: o.token, KeysOnly: o.keysOnly, Consistency: o.serializable,
	}
}

// Count counts the keys with a prefix, up to 1,000,000; More tells whether there are more. It takes Serializable.
func (kv *KV) Count(ctx context.Context, namespace, prefix string, opts ...Option) (*CountKeysResponse, error) {
	o := gather("kv.count", opts, eachCall+" serializable")
	request := &pb.CountKeysRequest{Namespace: namespace, Prefix: prefix, Consistency: o.serializable}
	return kv.client.KeyValue.CountKeys(ctx, request, o.sent()...)
}

// Pages reads all pages of any listing, each when it is needed, as an operation of its own:
//
//	request := &quoin.ListLocksRequest{Namespace: "default"}
//	for page, err := range quoin.Pages(ctx, client.Locks.ListLocks, request) {
//
// The request must have a page token, and is not changed.
func Pages[Request, Response any, P message[Request], R message[Response]](
	ctx context.Context, list func(context.Context, P, ...grpc.CallOption) (R, error), request P, opts ...grpc.CallOption,
) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		next := proto.Clone(request).(P)
		for {
			page, err := list(ctx, next, opts...)
			if !yield(page, err) || err != nil {
				return
			}
			token := tokenField(page, "next_page_token")
			if token.String() == "" {
				return
			}
			next.ProtoReflect().Set(next.ProtoReflect().Descriptor().Fields().ByName("page_token"), token)
		}
	}
}

func tokenField(of proto.Message, name protoreflect.Name) protoreflect.Value {
	m := of.ProtoReflect()
	return m.Get(m.Descriptor().Fields().ByName(name))
}
