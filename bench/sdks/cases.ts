/** What is measured in each language: the same operations by several clients. */

import type { Language } from "./options.ts";

export type Operation = "put" | "get" | "lock" | "watch";

/** An operation, and the clients that do it. The first one is the SDK, and others are compared with it. */
export interface SdkCase {
  readonly what: Operation;
  readonly inFlight: number;
  readonly clients: readonly [string, ...string[]];
}

const MANY = 64;
/** More threads of Python only wait for each other. */
const THREADS = 16;

export const CASES: Readonly<Record<Language, readonly SdkCase[]>> = {
  go: [
    { what: "put", inFlight: 1, clients: ["sdk", "bare", "etcd"] },
    { what: "put", inFlight: MANY, clients: ["sdk", "bare", "etcd"] },
    { what: "get", inFlight: 1, clients: ["sdk", "bare", "etcd"] },
    { what: "get", inFlight: MANY, clients: ["sdk", "bare", "etcd"] },
    { what: "lock", inFlight: 1, clients: ["sdk", "etcd"] },
    { what: "lock", inFlight: MANY, clients: ["sdk", "etcd"] },
    { what: "watch", inFlight: MANY, clients: ["sdk", "etcd"] },
  ],
  python: [
    { what: "put", inFlight: 1, clients: ["sdk-threads", "bare-threads"] },
    { what: "put", inFlight: THREADS, clients: ["sdk-threads", "bare-threads"] },
    { what: "get", inFlight: THREADS, clients: ["sdk-threads", "bare-threads"] },
    { what: "put", inFlight: 1, clients: ["sdk-asyncio", "bare-asyncio"] },
    { what: "put", inFlight: MANY, clients: ["sdk-asyncio", "bare-asyncio"] },
    { what: "get", inFlight: MANY, clients: ["sdk-asyncio", "bare-asyncio"] },
    { what: "watch", inFlight: MANY, clients: ["sdk-asyncio"] },
  ],
};

/** The client that puts the keys that others watch. */
export function writerBeside(client: string): string {
  return client === "etcd" ? "etcd" : client.replace("sdk", "bare");
}
