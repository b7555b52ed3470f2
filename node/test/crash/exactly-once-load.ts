/**
 * A load that accounts for each operation. Concurrent clients put distinct values, each with a request id of its own. A
 * put of unknown outcome is sent again with the same id until it is answered. So in the end every put was executed
 * exactly once, and the state shows that.
 */

import { randomUUID } from "node:crypto";
import { GetKeyRequest, type GetKeyResponse, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { type CountedRequest, exactlyOnceCheck } from "../../verify/history/index.ts";
import { type Answer, GrpcCaller } from "../harness/index.ts";

interface Put {
  readonly key: string;
  readonly value: string;
  readonly requestId: string;
}

interface Acknowledged {
  readonly requestId: string;
  readonly value: string;
  readonly modRevision: number;
}

const { getKey, putKey } = serviceDefinitions.KeyValueService;
const NAMESPACE = "default";
const TIMEOUT_MS = 10_000;
/** The founding creates the namespace `default`, which takes the first revision. */
const FIRST_REVISION = 1;

/** The connection broke, or the member is stopping: the outcome is unknown. */
const GONE: ReadonlySet<string> = new Set(["UNAVAILABLE", "CANCELLED", "DEADLINE_EXCEEDED", "UNKNOWN"]);

export class ExactlyOnceLoad {
  readonly #random: (bound: number) => number;
  readonly #keys: number;
  readonly #byKey = new Map<string, Acknowledged[]>();
  /** Puts without an answer. */
  readonly #open = new Map<string, Put>();
  #count = 0;
  #acknowledged = 0;
  #replayed = 0;

  constructor(random: (bound: number) => number, keys: number) {
    this.#random = random;
    this.#keys = keys;
  }

  /** Puts that were acknowledged so far. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Puts with a replayed answer: they had been executed, and the acknowledgement was lost. */
  get replayed(): number {
    return this.#replayed;
  }

  /**
   * Keeps `clients` puts in flight until the member stops answering; calls `onAcknowledged` after each acknowledgement.
   */
  async run(endpoint: string, token: string, clients: number, onAcknowledged: () => void): Promise<void> {
    const client = connect(endpoint, token);
    const work = async (): Promise<void> => {
      for (;;) {
        const put = this.#next();
        this.#open.set(put.requestId, put);
        if (!(await this.#send(client, put))) {
          return;
        }
        onAcknowledged();
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    client.close();
  }

  /** Sends every open put again, with the same request id. Rejects if one is not answered now. */
  async resendOpen(endpoint: string, token: string): Promise<void> {
    const client = connect(endpoint, token);
    try {
      for (const put of [...this.#open.values()]) {
        if (!(await this.#send(client, put))) {
          throw new Error(`request ${put.requestId} is not answered by a member that is ready`);
        }
      }
    } finally {
      client.close();
    }
  }

  /**
   * Rejects unless the state is exactly that of all acknowledged puts, each once. Each key must have the last value by
   * revision and one version per put, and every revision must belong to a put.
   */
  async verify(endpoint: string, token: string): Promise<void> {
    const client = connect(endpoint, token);
    const present = new Map<string, GetKeyResponse>();
    try {
      for (const key of this.#byKey.keys()) {
        present.set(key, await get(client, key));
      }
    } finally {
      client.close();
    }
    const versions = new Map([...present].map(([key, { version }]) => [key, Number(version)]));
    const wrong = exactlyOnceCheck(this.#requests(), versions);
    if (wrong.length > 0) {
      throw new Error(wrong.join("\n"));
    }
    for (const [key, puts] of this.#byKey) {
      const found = present.get(key) as GetKeyResponse;
      const last = puts.reduce((newest, put) => (put.modRevision > newest.modRevision ? put : newest));
      equal(key, "mod_revision", Number(found.modRevision), last.modRevision);
      equal(key, "value", Buffer.from(found.value).toString(), last.value);
      equal(key, "the cluster's revision", Number(found.revision), FIRST_REVISION + this.#acknowledged);
    }
  }

  #requests(): CountedRequest[] {
    const acknowledged = [...this.#byKey].flatMap(([key, puts]) =>
      puts.map(({ requestId, modRevision: revision }): CountedRequest => {
        return { requestId, key, outcome: "acknowledged", revision };
      }),
    );
    const open = [...this.#open.values()].map(
      ({ requestId, key }): CountedRequest => ({ requestId, key, outcome: "unknown" }),
    );
    return [...acknowledged, ...open];
  }

  #next(): Put {
    this.#count++;
    const key = `key-${this.#random(this.#keys)}`;
    return { key, value: `value-${this.#count}`, requestId: randomUUID() };
  }

  /** Whether the put was acknowledged; false if the member is gone. */
  async #send(client: GrpcCaller, put: Put): Promise<boolean> {
    const request = PutKeyRequest.fromPartial({
      namespace: NAMESPACE,
      key: put.key,
      value: Buffer.from(put.value),
    });
    const metadata = new Map([["request-id", put.requestId]]);
    const answer = await client.call(putKey, request, { timeoutMs: TIMEOUT_MS, metadata });
    this.#replayed += answer.headers.get("replayed").length;
    if (GONE.has(answer.code)) {
      return false;
    }
    this.#acknowledge(put, Number(responseOf(answer).modRevision));
    return true;
  }

  #acknowledge(put: Put, modRevision: number): void {
    this.#acknowledged++;
    this.#open.delete(put.requestId);
    const puts = this.#byKey.get(put.key) ?? [];
    puts.push({ requestId: put.requestId, value: put.value, modRevision });
    this.#byKey.set(put.key, puts);
  }
}

function connect(endpoint: string, token: string): GrpcCaller {
  const metadata = new Map([
    ["authorization", `Bearer ${token}`],
    ["api-version", "v1"],
  ]);
  return new GrpcCaller(endpoint, metadata);
}

async function get(client: GrpcCaller, key: string): Promise<GetKeyResponse> {
  const request = GetKeyRequest.fromPartial({ namespace: NAMESPACE, key });
  return responseOf(await client.call(getKey, request, { timeoutMs: TIMEOUT_MS }));
}

/** @throws Error if the call failed. */
function responseOf<Response>({ response, code, message }: Answer<Response>): Response {
  if (response === undefined) {
    throw new Error(`${code}: ${message}`);
  }
  return response;
}

function equal(key: string, what: string, found: number | string, expected: number | string): void {
  if (found !== expected) {
    throw new Error(`${key}: ${what} is ${found} instead of ${expected}`);
  }
}
