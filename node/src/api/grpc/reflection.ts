/** Server reflection: tools such as grpcurl learn the services and messages from the server itself. Needs no token. */

import type { Server } from "@grpc/grpc-js";
import type { AnyDefinition, MessageTypeDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { readFileDescriptors } from "@quoin/proto";

/** Adds reflection of the named services of the contract and of the health service. */
export function addReflection(server: Server, services: readonly string[]): void {
  // The library takes nothing but the descriptors from a definition. Passed as they are, they keep the names by which
  // files import each other; made into definitions and back they would not, and clients could not resolve types.
  const contract: Pick<MessageTypeDefinition<object, object>, "fileDescriptorProtos"> = {
    fileDescriptorProtos: readFileDescriptors(),
  };
  const definitions = { contract: contract as AnyDefinition };
  new ReflectionService(definitions, { services: [...services, "grpc.health.v1.Health"] }).addToServer(server);
}
