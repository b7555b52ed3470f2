/** Something that a client does to a cluster, within its rights or without any. */

/** The ports of a member, each `host:port`. */
export interface TargetPorts {
  readonly grpc: string;
  readonly http: string;
  readonly peer: string;
  readonly admin: string;
  readonly health: string;
}

export interface NoiseTarget {
  /** The leader first. */
  readonly members: readonly TargetPorts[];
  /** Namespace of the noisy tenant, and a token of a member there. */
  readonly namespace: string;
  readonly token: string;
  /** Id of a log of the noisy tenant, and of a region. */
  readonly logId: string;
  readonly regionId: string;
  readonly seconds: number;
}

/** A noise that goes on until the signal; resolves to what it did, in words. */
export interface Noise {
  readonly name: string;
  run(target: NoiseTarget, over: AbortSignal): Promise<string>;
}

/** What was answered, and what was refused or failed. */
export class Tally {
  #answered = 0;
  #refused = 0;

  /** Counts an answer; `isGood` is false for a refusal and for a failure. */
  add(isGood: boolean): void {
    if (isGood) {
      this.#answered++;
    } else {
      this.#refused++;
    }
  }

  toString(): string {
    return `${this.#answered} answered, ${this.#refused} refused`;
  }
}

/** Repeats `work` with this many at once, until the signal. A `work` that throws is counted as refused. */
export async function repeat(count: number, over: AbortSignal, work: (at: number) => Promise<boolean>): Promise<Tally> {
  const tally = new Tally();
  const worker = async (at: number): Promise<void> => {
    while (!over.aborted) {
      let isGood = false;
      try {
        isGood = await work(at);
      } catch {
        // What a client gets that asks for too much.
      }
      if (!over.aborted) {
        tally.add(isGood);
      }
      if (!isGood) {
        // A client that is refused at once must not do its worst to itself.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  await Promise.all(Array.from({ length: count }, (_, at) => worker(at)));
  return tally;
}

/** Resolves when the time of the noise is over. */
export function untilOver(over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (over.aborted) {
      resolve();
    }
    over.addEventListener("abort", () => resolve(), { once: true });
  });
}
