/**
 * Service definitions for a server that decodes requests itself. The handler gets the bytes of the request. It can
 * refuse the call for its metadata before it reads the bytes, and it can hash them. A single response is encoded as in
 * the generated definition. Handlers give the responses of a stream as bytes, so that one encoding can serve many
 * streams.
 */

import type { ServiceDefinition } from "@grpc/grpc-js";

/** A generated service definition in which the requests, and the responses of streams, stay bytes. */
export type RawServiceDefinition<Definition> = {
  readonly [Method in keyof Definition]: Omit<Definition[Method], "requestDeserialize" | "responseSerialize"> & {
    readonly requestDeserialize: (bytes: Buffer) => Buffer;
    readonly responseSerialize: Definition[Method] extends { readonly responseStream: true }
      ? (bytes: Buffer) => Buffer
      : Definition[Method] extends { readonly responseSerialize: infer Serialize }
        ? Serialize
        : never;
  };
};

function keepBytes(bytes: Buffer): Buffer {
  return bytes;
}

/**
 * Converts a generated definition into the one to register on a server.
 *
 * @param definition one of serviceDefinitions.
 * @returns the same methods. Handlers get requests as a Buffer, for decodeRequest, and give the responses of streams as
 *   a Buffer.
 */
export function rawMethods<Definition extends ServiceDefinition>(
  definition: Definition,
): RawServiceDefinition<Definition> {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    {
      ...method,
      requestDeserialize: keepBytes,
      responseSerialize: method.responseStream ? keepBytes : method.responseSerialize,
    },
  ]);
  return Object.fromEntries(methods) as RawServiceDefinition<Definition>;
}
