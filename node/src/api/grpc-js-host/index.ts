/** gRPC with the library grpc-js, on the HTTP/2 of Node. */

export { GrpcJsHost } from "./grpc-js-host.ts";
