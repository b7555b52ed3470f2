/** A client that writes and reads during attacks, one call after the other, and times each call. */
import { GetKeyRequest, PutKeyRequest, serviceDefinitions } from "@quoin/proto";
import { GrpcCaller, pause } from "../../harness/index.ts";
import { LARGE_KEY, NAMESPACE, WRITTEN_PREFIX } from "./requests.ts";

const { getKey, putKey } = serviceDefinitions.KeyValueService;
const LARGE_BYTES = 256 * 1024;
const VALUE_BYTES = 1_024;
const PAUSE_MS = 5;
const TIMEOUT_MS = 20_000;
const PERCENT_99 = 0.99;

/** What the client has seen since the last `take`. */
export interface Experience {
  readonly calls: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** The statuses of calls that failed. */
  readonly failures: readonly string[];
}

export class WellBehavedClient {
  readonly #caller: GrpcCaller;
  #latenciesMs: number[] = [];
  #failures: string[] = [];
  #isStopped = false;
  #working: Promise<void> = Promise.resolve();

  constructor(endpoint: string, token: string) {
    const metadata = new Map([
      ["authorization", `Bearer ${token}`],
      ["api-version", "v1"],
    ]);
    this.#caller = new GrpcCaller(endpoint, metadata);
  }

  /** Writes the value that attacks read, and begins. */
  async start(): Promise<void> {
    const large = { namespace: NAMESPACE, key: LARGE_KEY, value: Buffer.alloc(LARGE_BYTES, "v") };
    const { code, message } = await this.#caller.call(putKey, PutKeyRequest.fromPartial(large), {
      timeoutMs: TIMEOUT_MS,
    });
    if (code !== "OK") {
      throw new Error(`the large value was not written: ${code}, ${message}`);
    }
    this.#working = this.#work();
  }

  /** Returns what happened since the last call. */
  take(): Experience {
    const sorted = this.#latenciesMs.sort((a, b) => a - b);
    const failures = this.#failures;
    this.#latenciesMs = [];
    this.#failures = [];
    return {
      calls: sorted.length,
      p99Ms: sorted[Math.floor(sorted.length * PERCENT_99)] ?? Number.NaN,
      longestMs: sorted.at(-1) ?? Number.NaN,
      failures,
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#working;
    this.#caller.close();
  }

  async #work(): Promise<void> {
    for (let number = 0; !this.#isStopped; number++) {
      const name = { namespace: NAMESPACE, key: `${WRITTEN_PREFIX}${number % 100}` };
      const value = Buffer.alloc(VALUE_BYTES, String(number));
      await this.#time(() =>
        this.#caller.call(putKey, PutKeyRequest.fromPartial({ ...name, value }), { timeoutMs: TIMEOUT_MS }),
      );
      await this.#time(() => this.#caller.call(getKey, GetKeyRequest.fromPartial(name), { timeoutMs: TIMEOUT_MS }));
      await pause(PAUSE_MS);
    }
  }

  async #time(call: () => Promise<{ readonly code: string; readonly message: string }>): Promise<void> {
    const begunMs = performance.now();
    const { code, message } = await call();
    this.#latenciesMs.push(performance.now() - begunMs);
    if (code !== "OK") {
      this.#failures.push(`${code}: ${message}`);
    }
  }
}
