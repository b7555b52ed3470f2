/** The library of server reflection. It is loaded with the first call of reflection. */

import type { Server, ServiceDefinition, UntypedServiceImplementation } from "@grpc/grpc-js";
import type { AnyDefinition, MessageTypeDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { readFileDescriptors } from "@quoin/proto";
import type { LibraryService } from "../quoin-host/index.ts";

/** Returns reflection, in both of its versions, for these services of the contract and for the health service. */
export function reflectionServices(names: readonly string[]): readonly LibraryService[] {
  // The library takes only the descriptors from a definition. Unchanged descriptors keep the names by which files
  // import each other. Converted to definitions and back, they would lose these names, and clients could not resolve
  // types.
  const contract: Pick<MessageTypeDefinition<object, object>, "fileDescriptorProtos"> = {
    fileDescriptorProtos: readFileDescriptors(),
  };
  const definitions = { contract: contract as AnyDefinition };
  const reflection = new ReflectionService(definitions, { services: [...names, "grpc.health.v1.Health"] });
  const services: LibraryService[] = [];
  const server: Pick<Server, "addService"> = {
    addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation) =>
      void services.push({ definition, handlers }),
  };
  // It only adds its services to the server.
  reflection.addToServer(server as Server);
  return services;
}
