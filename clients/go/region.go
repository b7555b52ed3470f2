package quoin

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"

	pb "quoin.dev/client/internal/coordination/v1"
)

// The most bytes of one call: the limit of the service, 64 KiB less than its largest message.
const regionCallBytesMax = 4<<20 - 64<<10

// Region is a memory region, for reads and writes of any length. A transfer that is too long for one call is divided. Each
// call is atomic; all together are not. Client.Memory has its other operations, such as AllocateMemory.
type Region struct {
	client        *Client
	namespace, id string
}

// Region returns the region with this id. It sends no request.
func (c *Client) Region(namespace, id string) *Region { return &Region{c, namespace, id} }

// ReadAt reads bytes from an offset on, all of them. It takes Serializable. It fails with OutOfRange / MemoryBounds, and
// Aborted / VersionMismatch if the region was changed between two calls.
func (r *Region) ReadAt(ctx context.Context, offset int64, length int, opts ...Option) ([]byte, error) {
	o := gather("region.read", opts, "timeout serializable")
	var data []byte
	var version int64
	for isFirst := true; isFirst || len(data) < length; isFirst = false {
		part, err := r.client.Memory.ReadMemory(ctx, &pb.ReadMemoryRequest{
			Namespace: r.namespace, RegionId: r.id, Offset: offset + int64(len(data)),
			Length: int64(min(length-len(data), regionCallBytesMax)), Consistency: o.serializable,
		}, o.sent()...)
		if err != nil {
			return nil, err
		}
		if !isFirst && part.Version != version {
			return nil, &Error{
				Code: codes.Aborted, Reason: VersionMismatch, Outcome: NotExecuted,
				Message: fmt.Sprintf("region %s was changed while it was read: its version was %d and is %d", r.id, version, part.Version),
			}
		}
		data, version = append(data, part.Data...), part.Version
	}
	return data, nil
}

// WriteAt writes bytes from an offset on, and returns the version of the region. It takes IfVersion, by which it fails if
// another client writes meanwhile, and WithGuard. If one of several calls fails, those before it have written.
func (r *Region) WriteAt(ctx context.Context, offset int64, data []byte, opts ...Option) (int64, error) {
	o := gather("region.write", opts, "timeout expected_version guard")
	expected := o.ifVersion
	for done := 0; ; {
		part := data[done:min(len(data), done+regionCallBytesMax)]
		written, err := r.client.Memory.WriteMemory(ctx, &pb.WriteMemoryRequest{
			Namespace: r.namespace, RegionId: r.id, Offset: offset + int64(done), Data: part,
			ExpectedVersion: expected, Guard: o.guardOf(r.namespace),
		}, o.sent()...)
		if err != nil {
			return 0, err
		}
		if o.ifVersion != nil {
			expected = &written.Version
		}
		if done += len(part); done == len(data) {
			return written.Version, nil
		}
	}
}
