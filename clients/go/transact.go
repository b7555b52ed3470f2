package quoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	pb "quoin.dev/client/internal/coordination/v1"
)

const (
	runsDefault   = 10
	listedPerPage = 1_000
)

// Transact runs a function that reads and writes keys of a namespace, as one change: what it has read holds when its writes
// take effect. If another client was faster, nothing is written, and the function runs again, after a pause. So it may run
// several times, and must change nothing but by its parameter. If it fails, nothing is written, and its error is returned.
//
// It takes WithTimeout, for all runs together, WithMaxRuns and WithGuard. It fails with Aborted / TransactionConflict if
// others were faster in all runs. If the outcome of a commit is unknown, the function is not run again.
func (c *Client) Transact(ctx context.Context, namespace string, work func(ctx context.Context, tx *Tx) error, opts ...Option) error {
	o := gather("transact", opts, "timeout max_attempts guard")
	guard := o.guardOf(namespace)
	if o.err != nil {
		return o.err
	}
	if o.runs == 0 {
		o.runs = runsDefault
	}
	if o.timeout == 0 {
		o.timeout = c.core.timeout
	}
	deadline := time.Now().Add(o.timeout)
	for run := 1; ; run++ {
		tx := &Tx{client: c, namespace: namespace, deadline: deadline, keys: map[string][]byte{},
			prefixes: map[string]map[string][]byte{}, writes: map[string]*pb.TransactionOperation{}}
		if err := work(ctx, tx); err != nil {
			_ = tx.lock()
			tx.isOver = true
			tx.mu.Unlock()
			return err
		}
		changed, err := tx.commit(ctx, guard)
		if err != nil || changed == "" {
			return err
		}
		pause := pauseAfter(run, false)
		if run >= o.runs || pause >= time.Until(deadline) {
			return &Error{
				Code: codes.Aborted, Reason: TransactionConflict, Outcome: NotExecuted, Details: map[string]string{"attempts": strconv.Itoa(run)},
				Message: fmt.Sprintf("other clients changed %s in the last of %d attempts of the transaction", changed, run),
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ended(ctx, NotExecuted)
		case <-c.core.ctx.Done():
			return ended(c.core.ctx, NotExecuted)
		}
	}
}

// Tx is one run of the function of Transact: it reads, and collects writes. After the run it can do neither. Its methods
// may be called at the same time.
type Tx struct {
	client    *Client
	namespace string
	deadline  time.Time

	mu         sync.Mutex
	isOver     bool
	keys       map[string][]byte            // that were read; nil = it does not exist
	prefixes   map[string]map[string][]byte // that were listed
	conditions []*pb.Compare
	writes     map[string]*pb.TransactionOperation // the last one of each key
	order      []string                            // of the keys that are written
	appends    []*pb.TransactionOperation
}

// Get returns the value of a key; nil = it does not exist. A key that this run has written has the written value. A key is
// read once: later reads in the same run have the same value.
func (tx *Tx) Get(ctx context.Context, key string) ([]byte, error) {
	if err := tx.lock(); err != nil {
		return nil, err
	}
	defer tx.mu.Unlock()
	if written, isWritten := tx.writes[key]; isWritten {
		return valueOf(written), nil
	}
	// The condition on a prefix holds for the key, too.
	for prefix, listed := range tx.prefixes {
		if strings.HasPrefix(key, prefix) {
			return listed[key], nil
		}
	}
	if value, isRead := tx.keys[key]; isRead {
		return value, nil
	}
	found, err := tx.client.KV.Get(ctx, tx.namespace, key, tx.limit())
	switch {
	case errors.Is(err, KeyNotFound):
		found = &pb.GetKeyResponse{}
	case err != nil:
		return nil, err
	case found.Value == nil:
		found.Value = []byte{}
	}
	tx.keys[key] = found.Value
	tx.conditions = append(tx.conditions, CompareModRevision(key, Compare_EQUAL, found.ModRevision))
	return found.Value, nil
}

// List returns all keys with a prefix, with the writes of this run. The transaction is not committed if another client
// changes, creates or deletes any key with the prefix. So list few keys that seldom change: what the service cannot tell,
// after 4,000 changes of the cluster, counts as changed.
func (tx *Tx) List(ctx context.Context, prefix string) (map[string][]byte, error) {
	if err := tx.lock(); err != nil {
		return nil, err
	}
	defer tx.mu.Unlock()
	listed, isListed := tx.prefixes[prefix]
	if !isListed {
		// The pages share the time that is left: each of them alone would get all of it.
		ctx, cancel := context.WithDeadline(ctx, tx.deadline)
		defer cancel()
		listed = map[string][]byte{}
		since := int64(-1)
		for page, err := range tx.client.KV.Pages(ctx, tx.namespace, prefix, tx.limit(), WithPageSize(listedPerPage)) {
			if err != nil {
				return nil, err
			}
			// A change between two pages shows at the commit.
			if since < 0 {
				since = page.Revision
			}
			for _, item := range page.Items {
				listed[item.Key] = append([]byte{}, item.Value...)
			}
		}
		tx.prefixes[prefix] = listed
		tx.conditions = append(tx.conditions, PrefixUnchanged(prefix, since))
	}
	result := maps.Clone(listed)
	for key, written := range tx.writes {
		if value := valueOf(written); value == nil {
			delete(result, key)
		} else if strings.HasPrefix(key, prefix) {
			result[key] = value
		}
	}
	return result, nil
}

// Put creates or overwrites a key at the commit. A later write of the same key replaces this one. A life of 0 = the key does
// not expire.
func (tx *Tx) Put(key string, value []byte, life time.Duration) error {
	return tx.write(key, OpPut(key, append([]byte{}, value...), life))
}

// Delete deletes a key at the commit. One that does not exist is no error.
func (tx *Tx) Delete(key string) error { return tx.write(key, OpDelete(key)) }

func (tx *Tx) write(key string, operation *pb.TransactionOperation) error {
	if err := tx.lock(); err != nil {
		return err
	}
	defer tx.mu.Unlock()
	if _, isWritten := tx.writes[key]; !isWritten {
		tx.order = append(tx.order, key)
	}
	tx.writes[key] = operation
	return nil
}

// Append appends an event to an event log of the namespace at the commit, with an idempotency key; empty = none.
func (tx *Tx) Append(logID string, payload []byte, idempotencyKey string) error {
	if err := tx.lock(); err != nil {
		return err
	}
	defer tx.mu.Unlock()
	tx.appends = append(tx.appends, OpAppend(logID, idempotencyKey, bytes.Clone(payload)))
	return nil
}

// commit returns what another client has changed; empty = nothing, and the writes have taken effect.
func (tx *Tx) commit(ctx context.Context, guard *pb.Guard) (string, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.isOver = true
	request := &pb.TransactRequest{Namespace: tx.namespace, Compare: tx.conditions, Guard: guard}
	for _, key := range tx.order {
		request.Success = append(request.Success, tx.writes[key])
	}
	request.Success = append(request.Success, tx.appends...)
	if len(request.Compare) == 0 && len(request.Success) == 0 {
		return "", nil
	}
	done, err := tx.client.Transactions.Transact(ctx, request, tx.limit())
	switch {
	case err != nil:
		return "", err
	case done.Succeeded:
		return "", nil
	}
	failed := request.Compare[done.GetFailedCompare()]
	if key := failed.GetKey(); key != nil {
		return "the key " + key.Key, nil
	}
	return "keys with the prefix " + failed.GetPrefix().GetPrefix(), nil
}

// lock locks the run, unless it is over.
func (tx *Tx) lock() error {
	tx.mu.Lock()
	if tx.isOver {
		tx.mu.Unlock()
		return badField("transaction", "has ended: the function must wait for everything that it begins")
	}
	return nil
}

// limit is the time that is left for all runs.
func (tx *Tx) limit() Option { return WithTimeout(max(time.Millisecond, time.Until(tx.deadline))) }

// valueOf is the value that a write gives to its key; nil = it deletes it.
func valueOf(written *pb.TransactionOperation) []byte { return written.GetPut().GetValue() }
