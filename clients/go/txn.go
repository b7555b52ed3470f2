package quoin

import (
	"context"
	"slices"
	"time"

	pb "quoin.dev/client/internal/coordination/v1"
)

// Txn is a transaction before it is sent: several operations on one namespace as one change. All of them take effect at
// one revision, or none. Each method returns a new one.
type Txn struct {
	client  *Client
	request *pb.TransactRequest
}

// Txn returns an empty transaction: client.Txn(namespace).If(…).Then(…).Else(…).Commit(ctx).
func (c *Client) Txn(namespace string) *Txn {
	return &Txn{c, &pb.TransactRequest{Namespace: namespace}}
}

func (t *Txn) with(change func(*pb.TransactRequest)) *Txn {
	from := t.request
	next := &pb.TransactRequest{
		Namespace: from.Namespace, Compare: slices.Clip(from.Compare), Success: slices.Clip(from.Success), Failure: slices.Clip(from.Failure),
	}
	change(next)
	return &Txn{t.client, next}
}

// If adds conditions. All of them must be true for the operations of Then to run. Errors call them compare.
func (t *Txn) If(conditions ...*Compare) *Txn {
	return t.with(func(r *pb.TransactRequest) { r.Compare = append(r.Compare, conditions...) })
}

// Then adds operations that run, in this order, if all conditions are true. Errors call them success.
func (t *Txn) Then(operations ...*TransactionOperation) *Txn {
	return t.with(func(r *pb.TransactRequest) { r.Success = append(r.Success, operations...) })
}

// Else adds operations that run, in this order, if a condition is not true. Errors call them failure.
func (t *Txn) Else(operations ...*TransactionOperation) *Txn {
	return t.with(func(r *pb.TransactRequest) { r.Failure = append(r.Failure, operations...) })
}

// Commit runs the transaction: at most 10,000 operations and 10,000 conditions, and 4 MiB in all. A condition that is not
// true is no error: Succeeded is false then. The error of an operation is that of the whole, and its detail "operation"
// names the operation, such as success[3]. If ValuesOmitted is true, which only a repeated attempt may get, the values in
// the results are empty. It takes WithGuard.
func (t *Txn) Commit(ctx context.Context, opts ...Option) (*TransactResponse, error) {
	o := gather("transaction.commit", opts, eachCall+" guard")
	next := t.with(func(r *pb.TransactRequest) { r.Guard = o.guardOf(r.Namespace) })
	return t.client.Transactions.Transact(ctx, next.request, o.sent()...)
}

func compareKey(key string, operator CompareOperator, expected *pb.CompareKey) *Compare {
	expected.Key, expected.Operator = key, operator
	return &pb.Compare{Condition: &pb.Compare_Key{Key: expected}}
}

// CompareOperator says how what there is must be in relation to what is expected.
type CompareOperator = pb.Compare_Operator

// KeyExists is true if the key exists.
func KeyExists(key string) *Compare {
	return compareKey(key, Compare_EQUAL, &pb.CompareKey{Expected: &pb.CompareKey_Exists{Exists: true}})
}

// KeyMissing is true if the key does not exist.
func KeyMissing(key string) *Compare {
	return compareKey(key, Compare_EQUAL, &pb.CompareKey{Expected: &pb.CompareKey_Exists{Exists: false}})
}

// CompareValue compares the value of a key byte by byte. Of a key that does not exist, only Compare_NOT_EQUAL is true.
func CompareValue(key string, operator CompareOperator, value []byte) *Compare {
	return compareKey(key, operator, &pb.CompareKey{Expected: &pb.CompareKey_Value{Value: value}})
}

// CompareModRevision compares the revision of the latest change of a key; 0 = it does not exist.
func CompareModRevision(key string, operator CompareOperator, revision int64) *Compare {
	return compareKey(key, operator, &pb.CompareKey{Expected: &pb.CompareKey_ModRevision{ModRevision: revision}})
}

// CompareCreateRevision compares the revision that created a key; 0 = it does not exist.
func CompareCreateRevision(key string, operator CompareOperator, revision int64) *Compare {
	return compareKey(key, operator, &pb.CompareKey{Expected: &pb.CompareKey_CreateRevision{CreateRevision: revision}})
}

// CompareVersion compares the number of changes of a key since its creation; 0 = it does not exist.
func CompareVersion(key string, operator CompareOperator, version int64) *Compare {
	return compareKey(key, operator, &pb.CompareKey{Expected: &pb.CompareKey_Version{Version: version}})
}

// PrefixUnchanged is true if no key with the prefix has changed since a revision, as far back as the service looks.
func PrefixUnchanged(prefix string, since int64) *Compare {
	return &pb.Compare{Condition: &pb.Compare_Prefix{Prefix: &pb.ComparePrefix{Prefix: prefix, UnchangedSince: since}}}
}

// IsLive is true if a hold or a session is live; of a read-write lock, the hold of the writer.
func IsLive(of interface{ Guard() Guard }) *Compare {
	guard := of.Guard()
	if guard.SessionID != 0 {
		return &pb.Compare{Condition: &pb.Compare_SessionId{SessionId: guard.SessionID}}
	}
	return &pb.Compare{Condition: &pb.Compare_Hold{Hold: guard.message()}}
}

// CompareLastSequence compares the last sequence of an event log; 0 = it has never had an event.
func CompareLastSequence(logID string, operator CompareOperator, last int64) *Compare {
	return &pb.Compare{Condition: &pb.Compare_Log{Log: &pb.CompareLog{LogId: logID, Operator: operator, LastSequence: last}}}
}

// OpPut creates or overwrites a key. A life of 0 = it does not expire. For its other fields, make the message yourself.
func OpPut(key string, value []byte, life time.Duration) *TransactionOperation {
	return &pb.TransactionOperation{Operation: &pb.TransactionOperation_Put{Put: &pb.PutOperation{Key: key, Value: value, TtlSeconds: int64(life / time.Second)}}}
}

// OpDelete deletes a key. One that does not exist is no error.
func OpDelete(key string) *TransactionOperation {
	return &pb.TransactionOperation{Operation: &pb.TransactionOperation_Delete{Delete: &pb.DeleteOperation{Key: key, MissingOk: true}}}
}

// OpGet reads a key. One that does not exist is no error.
func OpGet(key string) *TransactionOperation {
	return &pb.TransactionOperation{Operation: &pb.TransactionOperation_Get{Get: &pb.GetOperation{Key: key}}}
}

// OpIncrement adds to the number whose decimal text is the value of a key. A key that does not exist counts as 0.
func OpIncrement(key string, delta int64) *TransactionOperation {
	return &pb.TransactionOperation{Operation: &pb.TransactionOperation_Increment{Increment: &pb.IncrementOperation{Key: key, Delta: delta}}}
}

// OpAppend appends events to an event log. Several need a key.
func OpAppend(logID, idempotencyKey string, payloads ...[]byte) *TransactionOperation {
	return &pb.TransactionOperation{Operation: &pb.TransactionOperation_Append{Append: &pb.AppendOperation{LogId: logID, Payloads: payloads, IdempotencyKey: idempotencyKey}}}
}
