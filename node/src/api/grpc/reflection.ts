/** Server reflection: tools such as grpcurl get the services and messages from the server itself. It needs no token. */

import type { Server, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { AnyDefinition, MessageTypeDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { readFileDescriptors } from "@quoin/proto";
import type { GrpcHost } from "../calls/index.ts";

/** Adds reflection for these services of the contract and for the health service. */
export function addReflection(host: Pick<GrpcHost, "addLibraryService">, services: readonly string[]): void {
  // The library takes only the descriptors from a definition. Unchanged descriptors keep the names by which files
  // import each other. Converted to definitions and back, they would lose these names, and clients could not resolve
  // types.
  const contract: Pick<MessageTypeDefinition<object, object>, "fileDescriptorProtos"> = {
    fileDescriptorProtos: readFileDescriptors(),
  };
  const definitions = { contract: contract as AnyDefinition };
  const reflection = new ReflectionService(definitions, { services: [...services, "grpc.health.v1.Health"] });
  const server: Pick<Server, "addService"> = {
    addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation) =>
      host.addLibraryService(definition, handlers),
  };
  // It only adds its services to the server.
  reflection.addToServer(server as Server);
}
