/** Server reflection: tools such as grpcurl learn the services and messages from the server itself. Needs no token. */

import type { Server, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { AnyDefinition, MessageTypeDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { readFileDescriptors } from "@quoin/proto";
import type { GrpcHost } from "../calls/index.ts";

/** Adds reflection of the named services of the contract and of the health service. */
export function addReflection(host: Pick<GrpcHost, "addLibraryService">, services: readonly string[]): void {
  // The library takes nothing but the descriptors from a definition. Passed as they are, they keep the names by which
  // files import each other; made into definitions and back they would not, and clients could not resolve types.
  const contract: Pick<MessageTypeDefinition<object, object>, "fileDescriptorProtos"> = {
    fileDescriptorProtos: readFileDescriptors(),
  };
  const definitions = { contract: contract as AnyDefinition };
  const reflection = new ReflectionService(definitions, { services: [...services, "grpc.health.v1.Health"] });
  const server: Pick<Server, "addService"> = {
    addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation) =>
      host.addLibraryService(definition, handlers),
  };
  // It adds its services, and does nothing else with a server.
  reflection.addToServer(server as Server);
}
