/**
 * Reads backups back from the store after each snapshot: the newest snapshot, and the one before with its segments. So a
 * member reads each object once between two snapshots, before retention deletes the backups that could replace it.
 *
 * It reads every byte, each piece in its own turn, and does not rebuild the state. An unreachable store is not a failed
 * verification: the member tries again after the next snapshot.
 */

import {
  type BackupStore,
  type Catalog,
  type CatalogProblem,
  type ChainObjects,
  readCatalog,
  verifyChain,
} from "@quoin/backup";
import type { Clock } from "../replica/index.ts";
import type { ArchiveHost, BackupLog } from "./archive-host.ts";
import { requireFailure } from "./backup-runs.ts";
import type { BackupTarget } from "./backup-target.ts";

export interface BackupVerificationOptions {
  readonly host: Pick<ArchiveHost, "clusterId">;
  readonly target: BackupTarget;
  readonly clock: Clock;
  /** Resolves in a turn of its own, after the sockets were polled. */
  readonly nextTurn: () => Promise<void>;
  readonly log: BackupLog;
}

export class BackupVerification {
  readonly #options: BackupVerificationOptions;
  #running: Promise<void> | null = null;
  #isWanted = false;
  #isStopped = false;
  #succeededMs = 0;
  #failedMs = 0;
  #damaged: ReadonlySet<string> = new Set();

  constructor(options: BackupVerificationOptions) {
    this.#options = options;
  }

  /** End of the last verification without damage, in milliseconds since 1970; 0 = none. */
  get succeededMs(): number {
    return this.#succeededMs;
  }

  /** End of the last verification that found damage, in milliseconds since 1970; 0 = none. */
  get failedMs(): number {
    return this.#failedMs;
  }

  /** Names of the objects that the last verification found damaged. */
  get damaged(): ReadonlySet<string> {
    return this.#damaged;
  }

  /** Resolves when no verification runs. */
  get ended(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Verifies the backups; if a verification runs already, once more after it. Resolves at the end, with any result. */
  run(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#runWanted().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #runWanted(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      try {
        await this.#verify();
      } catch (error) {
        if (!(error instanceof Stopped)) {
          this.#options.log.warn({ reason: requireFailure(error).message }, "backups could not be read to verify them");
        }
      }
    }
  }

  async #verify(): Promise<void> {
    const { host, target, clock, log } = this.#options;
    const { store, keyRing } = await target.open();
    const catalog = await readCatalog(store, host.clusterId);
    const problems = new Map(missingAfterGap(catalog).map(({ name, message }) => [name, message]));
    for (const chain of partsOf(catalog.chains)) {
      const { problem } = await verifyChain(this.#paced(store), chain, { keyRing });
      if (problem !== undefined) {
        problems.set(problem.object ?? chain.snapshot.name, problem.message);
      }
    }
    const damaged = problems.size === 0 ? [] : await existingOf(store, host.clusterId, problems.keys());
    for (const object of damaged) {
      log.error({ object, reason: problems.get(object) }, "a backup in the store cannot be used");
    }
    this.#damaged = new Set(damaged);
    if (damaged.length > 0) {
      this.#failedMs = clock.wallMs();
    } else if (problems.size === 0) {
      this.#succeededMs = clock.wallMs();
    }
  }

  /** A store that reads each piece in its own turn, so that nothing else waits for long, and ends when the member stops. */
  #paced(store: BackupStore): Pick<BackupStore, "get"> {
    const { nextTurn } = this.#options;
    const isStopped = (): boolean => this.#isStopped;
    return {
      get: async (name, range) => {
        const stream = await store.get(name, range);
        return (async function* () {
          for await (const bytes of stream) {
            if (isStopped()) {
              throw new Stopped();
            }
            await nextTurn();
            yield bytes;
          }
        })();
      },
    };
  }
}

/** The member stops. */
class Stopped extends Error {}

/** Returns the names of objects that still exist. Retention or a person may have deleted the others meanwhile. */
async function existingOf(store: BackupStore, clusterId: string, names: Iterable<string>): Promise<string[]> {
  const { snapshots, segments } = await readCatalog(store, clusterId);
  const present = new Set([...snapshots, ...segments].map(({ name }) => name));
  return [...names].filter((name) => present.has(name));
}

/** Segments of the two newest chains after a lost one. */
function missingAfterGap({ problems, segments, chains }: Catalog): readonly CatalogProblem[] {
  const fromIndex = (chains.at(-2) ?? chains.at(-1))?.snapshot.index ?? 0;
  const recent = new Set(segments.filter(({ firstIndex }) => firstIndex > fromIndex).map(({ name }) => name));
  return problems.filter(({ kind, name }) => (kind === "missing-previous" || kind === "gap") && recent.has(name));
}

/** The newest snapshot, and the chain of the snapshot before it. */
function partsOf(chains: readonly ChainObjects[]): readonly ChainObjects[] {
  const newest = chains.at(-1);
  const before = chains.at(-2);
  if (newest === undefined || before === undefined) {
    return newest === undefined ? [] : [newest];
  }
  return [before, { snapshot: newest.snapshot, segments: [] }];
}
