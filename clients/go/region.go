package quoin

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/grpc/codes"

	pb "quoin.dev/client/internal/coordination/v1"
)

// The most bytes of one call: the limit of the service, 64 KiB less than its largest message.
const regionCallBytesMax = 4<<20 - 64<<10

// Region is a memory region as a file: reads and writes of any length, and a position. A transfer that is too long for one
// call is divided. Each call is atomic; all together are not. Client.Memory has its other operations, such as
// AllocateMemory. Calls that move the position must be made one after the other.
type Region struct {
	client        *Client
	namespace, id string
	position      int64
}

// Region returns the region with this id. It sends no request.
func (c *Client) Region(namespace, id string) *Region {
	return &Region{client: c, namespace: namespace, id: id}
}

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

// Seek moves the position, with io.SeekStart, io.SeekCurrent or io.SeekEnd, and returns it.
func (r *Region) Seek(ctx context.Context, offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.position
	case io.SeekEnd:
		found, err := r.client.Memory.DescribeMemory(ctx, &pb.DescribeMemoryRequest{Namespace: r.namespace, RegionId: r.id})
		if err != nil {
			return 0, err
		}
		offset += found.GetRegion().GetSizeBytes()
	}
	if offset < 0 {
		return 0, badField("offset", fmt.Sprintf("leads to %d", offset))
	}
	r.position = offset
	return offset, nil
}

// Read reads from the position on, and moves it. If it fails, the position stays.
func (r *Region) Read(ctx context.Context, length int, opts ...Option) ([]byte, error) {
	data, err := r.ReadAt(ctx, r.position, length, opts...)
	r.position += int64(len(data))
	return data, err
}

// Write writes from the position on, and moves it. If it fails, the position stays.
func (r *Region) Write(ctx context.Context, data []byte, opts ...Option) (int64, error) {
	version, err := r.WriteAt(ctx, r.position, data, opts...)
	if err == nil {
		r.position += int64(len(data))
	}
	return version, err
}
