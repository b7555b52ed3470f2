package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const callTimeout = 20 * time.Second

// Members are the members of a cluster. Each call goes to another one than the call before.
type Members struct {
	connections []*grpc.ClientConn
	next        int
	files       *protoregistry.Files
}

// Answer is what came of a unary call.
type Answer struct {
	response *dynamicpb.Message
	trailers metadata.MD
	err      error
}

func openMembers(endpoints []string) *Members {
	encoded, err := os.ReadFile(os.Getenv("QUOIN_DESCRIPTORS"))
	must("read the descriptors", err)
	set := &descriptorpb.FileDescriptorSet{}
	must("decode the descriptors", proto.Unmarshal(encoded, set))
	files, err := protodesc.NewFiles(set)
	must("link the descriptors", err)
	members := &Members{files: files}
	for _, endpoint := range endpoints {
		connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
		must("connect", err)
		members.connections = append(members.connections, connection)
	}
	return members
}

// connection of the member whose turn it is.
func (m *Members) connection() *grpc.ClientConn {
	m.next++
	return m.connections[m.next%len(m.connections)]
}

// method finds service and method, such as KeyValueService and GetKey.
func (m *Members) method(service, name string) (string, protoreflect.MethodDescriptor) {
	found, err := m.files.FindDescriptorByName(protoreflect.FullName("coordination.v1." + service))
	must("find the service", err)
	method := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
	return fmt.Sprintf("/coordination.v1.%s/%s", service, name), method
}

// call sends a request that is given as JSON, with the metadata that every call carries.
func (m *Members) call(service, name, request string, options ...grpc.CallOption) Answer {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return m.callIn(ctx, m.connection(), service, name, request, options...)
}

func (m *Members) callIn(ctx context.Context, connection *grpc.ClientConn, service, name, request string, options ...grpc.CallOption) Answer {
	path, method := m.method(service, name)
	answer := Answer{response: dynamicpb.NewMessage(method.Output())}
	options = append(options, grpc.Trailer(&answer.trailers))
	answer.err = connection.Invoke(withMetadata(ctx), path, requestOf(method, request), answer.response, options...)
	return answer
}

// stream opens a stream of answers.
func (m *Members) stream(ctx context.Context, service, name, request string) (grpc.ClientStream, func() (*dynamicpb.Message, error)) {
	path, method := m.method(service, name)
	stream, err := m.connection().NewStream(withMetadata(ctx), &grpc.StreamDesc{ServerStreams: true}, path)
	must("open a stream", err)
	must("ask for a stream", stream.SendMsg(requestOf(method, request)))
	must("end the request", stream.CloseSend())
	return stream, func() (*dynamicpb.Message, error) {
		message := dynamicpb.NewMessage(method.Output())
		return message, stream.RecvMsg(message)
	}
}

func requestOf(method protoreflect.MethodDescriptor, request string) *dynamicpb.Message {
	message := dynamicpb.NewMessage(method.Input())
	must("make the request "+request, protojson.Unmarshal([]byte(request), message))
	return message
}

// field of a message, such as the value of an answer.
func field(message *dynamicpb.Message, name string) protoreflect.Value {
	return message.Get(message.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

func withMetadata(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx,
		"authorization", "Bearer "+os.Getenv("QUOIN_TOKEN"), "api-version", "v1", "request-id", uuid())
}

func uuid() string {
	bytes := make([]byte, 16)
	_, err := rand.Read(bytes)
	must("make a random number", err)
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}
