/** Server reflection: tools such as grpcurl get the services and messages from the server itself. It needs no token. */

import type { LibraryMethod, QuoinHost } from "../quoin-host/index.ts";

const METHODS: readonly LibraryMethod[] = ["v1", "v1alpha"].map((version) => ({
  path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

/** Adds reflection for these services of the contract and for the health service. */
export function addReflection(host: Pick<QuoinHost, "addLibrary">, services: readonly string[]): void {
  host.addLibrary(METHODS, async () => {
    const { reflectionServices } = await import("./reflection-library.ts");
    return reflectionServices(services);
  });
}
