/** Methods of services as values, for tests that cover all of them. */

import type { ServiceDefinition } from "@grpc/grpc-js";

/** A method of the contract with any messages. Requests are fields by their TypeScript names. */
export interface AnyMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  /** Absent for a service that is not of the contract. */
  readonly requestCodec?: {
    readonly fromPartial: (fields: Readonly<Record<string, unknown>>) => unknown;
    readonly encode: (request: unknown) => { finish(): Uint8Array };
  };
  readonly requestSerialize: (request: Readonly<Record<string, unknown>>) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Readonly<Record<string, unknown>>;
  readonly responseSerialize: (response: unknown) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => unknown;
}

/** The methods of these services, by their names. */
export function methodsByName(
  services: readonly ServiceDefinition[],
  nameOf: (path: string) => string,
): ReadonlyMap<string, AnyMethod> {
  const methods = services.flatMap((service) => Object.values(service) as unknown as AnyMethod[]);
  return new Map(methods.map((method) => [nameOf(method.path), method]));
}

/** The request with these fields, also of the messages in it, as bytes; the others have their defaults. */
export function encodedRequest(method: AnyMethod, fields: Readonly<Record<string, unknown>>): Buffer {
  const { requestCodec: codec } = method;
  return codec === undefined
    ? method.requestSerialize({ ...method.requestDeserialize(Buffer.alloc(0)), ...fields })
    : Buffer.from(codec.encode(codec.fromPartial(fields)).finish());
}
