package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
)

type testCase = func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption)

// cases are those of gRPC's own client, which ends the process when one fails. Initial metadata are the host's own, so
// custom_metadata is not here; neither are the cases of compression by the server, which the host does not do.
var cases = map[string]testCase{
	"empty_unary":                 interop.DoEmptyUnaryCall,
	"large_unary":                 interop.DoLargeUnaryCall,
	"client_streaming":            interop.DoClientStreaming,
	"server_streaming":            interop.DoServerStreaming,
	"ping_pong":                   interop.DoPingPong,
	"empty_stream":                interop.DoEmptyStream,
	"timeout_on_sleeping_server":  interop.DoTimeoutOnSleepingServer,
	"cancel_after_begin":          interop.DoCancelAfterBegin,
	"cancel_after_first_response": interop.DoCancelAfterFirstResponse,
	"status_code_and_message":     interop.DoStatusCodeAndMessage,
	"special_status_message":      interop.DoSpecialStatusMessage,
}

func playReference(name, endpoint string) {
	connection, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must("connect", err)
	defer connection.Close()
	ctx := context.Background()
	if name == "unimplemented_method" {
		interop.DoUnimplementedMethod(ctx, connection)
	} else if name == "unimplemented_service" {
		interop.DoUnimplementedService(ctx, testgrpc.NewUnimplementedServiceClient(connection))
	} else if play, isKnown := cases[name]; isKnown {
		play(ctx, testgrpc.NewTestServiceClient(connection))
	} else {
		fail("there is no case %s", name)
	}
}
