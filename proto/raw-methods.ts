/**
 * Service definitions for a server that decodes requests itself: the handler gets the bytes of the request, can refuse the
 * call for its metadata before it looks at them, and can hash them. Responses are encoded as in the generated definition.
 */

import type { ServiceDefinition } from "@grpc/grpc-js";

/** A generated service definition of which the requests stay bytes. */
export type RawServiceDefinition<Definition> = {
  readonly [Method in keyof Definition]: Omit<Definition[Method], "requestDeserialize"> & {
    readonly requestDeserialize: (bytes: Buffer) => Buffer;
  };
};

function keepBytes(bytes: Buffer): Buffer {
  return bytes;
}

/**
 * Makes the definition to register on a server from a generated one.
 *
 * @param definition one of serviceDefinitions.
 * @returns the same methods, with requests given to handlers as a Buffer, for decodeRequest.
 */
export function rawMethods<Definition extends ServiceDefinition>(
  definition: Definition,
): RawServiceDefinition<Definition> {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, requestDeserialize: keepBytes },
  ]);
  return Object.fromEntries(methods) as RawServiceDefinition<Definition>;
}
