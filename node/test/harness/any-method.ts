/** Methods of services as values, for tests that cover all of them. */

import type { ServiceDefinition } from "@grpc/grpc-js";

/** A method of the contract with any messages. Requests are fields by their TypeScript names. */
export interface AnyMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
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
