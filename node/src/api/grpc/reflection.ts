/** Server reflection: tools such as grpcurl learn the services and messages from the server itself. Needs no token. */

import type { Server } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { readDescriptorSet } from "@quoin/proto";
import { protoPath as healthProtoPath } from "grpc-health-check";

/** Adds reflection of the named services of the contract and of the health service. */
export function addReflection(server: Server, services: readonly string[]): void {
  const definitions = { ...loadFileDescriptorSetFromBuffer(readDescriptorSet()), ...loadSync(healthProtoPath) };
  new ReflectionService(definitions, { services: [...services, "grpc.health.v1.Health"] }).addToServer(server);
}
