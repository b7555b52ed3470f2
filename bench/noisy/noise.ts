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

/**
 * Repeats `work` with this many at once, until the signal. A `work` that throws is counted as refused. Resolves to the
 * numbers, in words.
 */
export async function repeat(
  count: number,
  over: AbortSignal,
  work: (at: number) => Promise<boolean>,
): Promise<string> {
  let answered = 0;
  let refused = 0;
  const worker = async (at: number): Promise<void> => {
    while (!over.aborted) {
      const isGood = await work(at).catch(() => false);
      if (over.aborted) {
        return;
      }
      if (isGood) {
        answered++;
      } else {
        refused++;
        // A client that is refused at once must not do its worst to itself.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  };
  await Promise.all(Array.from({ length: count }, (_, at) => worker(at)));
  return `${answered} answered, ${refused} refused`;
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
