/** The backups of one member, for its API and its metrics. */

import {
  type BackupStore,
  type Catalog,
  deletePlanned,
  listClusters,
  newObjectId,
  openStore,
  planRetention,
  type RetentionPolicy,
  readCatalog,
  type StoreLocation,
} from "@quoin/backup";
import type { Clock, Scheduler, StateExport } from "../replica/index.ts";
import type { ArchiveHost, BackupLog } from "./archive-host.ts";
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from "./archive-limits.ts";
import { Archiver } from "./archiver.ts";
import { BackupRuns, openExport, requireFailure } from "./backup-runs.ts";
import { BackupTarget } from "./backup-target.ts";
import { BackupVerification } from "./backup-verification.ts";

/** The backup flags. */
export interface BackupConfiguration {
  readonly location: StoreLocation;
  /** The key file for encryption; null = backups are not encrypted. */
  readonly keyFile: string | null;
  /** Whether this member takes part in the continuous archive. */
  readonly archives: boolean;
  /** Time between two snapshots of the archive, in milliseconds. */
  readonly intervalMs: number;
  /** Which backups the archiver keeps; null = all. */
  readonly retention: RetentionPolicy | null;
}

export interface MemberBackupsOptions {
  readonly host: ArchiveHost;
  /** Null without a store. */
  readonly configuration: BackupConfiguration | null;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: BackupLog;
  readonly limits?: ArchiveLimits;
  readonly openStore?: (location: StoreLocation) => Promise<BackupStore>;
  /** Makes the id of each object: 32 hexadecimal digits, which no other object has. */
  readonly newId?: () => string;
  /** Whether the member reads its backups back after each snapshot; true by default. */
  readonly verifies?: boolean;
}

function openExisting(location: StoreLocation): Promise<BackupStore> {
  return openStore(location, { create: false });
}

/** The backups of a cluster in a store, and the ids of all clusters there. */
export interface ListedBackups {
  readonly catalog: Catalog;
  readonly clusterIds: string[];
}

async function listStore(target: BackupTarget, clusterId: string): Promise<ListedBackups> {
  const { store } = await target.open();
  return { catalog: await readCatalog(store, clusterId), clusterIds: await listClusters(store) };
}

/** How often the archiver looks for work, in milliseconds. */
const TICK_MS = 250;

export class MemberBackups {
  readonly #options: MemberBackupsOptions;
  readonly target: BackupTarget | null;
  /** Null without a store. */
  readonly runs: BackupRuns | null;
  /** Null without a store. */
  readonly verification: BackupVerification | null;
  /** Null unless this member takes part in the archive. */
  readonly archiver: Archiver | null;
  readonly #stopTimer: () => void;
  /** Readings of the store that have not ended, by the id of the cluster. */
  readonly #listings = new Map<string, Promise<ListedBackups>>();

  constructor(options: MemberBackupsOptions) {
    this.#options = options;
    const { host, configuration, clock, scheduler, log } = options;
    const { limits = DEFAULT_ARCHIVE_LIMITS, openStore: open = openExisting } = options;
    const { newId = newObjectId, verifies = true } = options;
    const nextTurn = (): Promise<void> => new Promise((resolve) => scheduler.immediate(resolve));
    this.target = configuration === null ? null : new BackupTarget({ ...configuration, log, openStore: open });
    const { target } = this;
    const shared = { host, clock, log };
    this.verification = target === null || !verifies ? null : new BackupVerification({ ...shared, target, nextTurn });
    const onTaken = () => void this.verification?.run();
    this.runs = target === null ? null : new BackupRuns({ ...shared, target, newId, onTaken });
    const { runs } = this;
    this.archiver =
      configuration === null || target === null || runs === null || !configuration.archives
        ? null
        : new Archiver({
            ...shared,
            target,
            runs,
            nextTurn,
            limits,
            newId,
            intervalMs: configuration.intervalMs,
            onSnapshot: () => this.#prune(),
          });
    const { archiver } = this;
    this.#stopTimer = archiver === null ? () => undefined : scheduler.every(TICK_MS, () => archiver.onTick());
  }

  get host(): ArchiveHost {
    return this.#options.host;
  }

  /**
   * Opens the current state of this member, for a stream to a client. Raises a CoordinationError.
   *
   * @param isLeaderless whether it may miss acknowledged writes
   */
  openExport(isLeaderless: boolean): Promise<StateExport> {
    return openExport(this.#options.host, this.#options.clock, isLeaderless);
  }

  /**
   * The backups of a cluster in the store, and the ids of all clusters there; null without a store. Raises a
   * StoreFailure or BackupError. Calls at the same time share one reading of the store.
   */
  list(clusterId: string): Promise<ListedBackups | null> {
    const { target } = this;
    if (target === null) {
      return Promise.resolve(null);
    }
    const running = this.#listings.get(clusterId);
    if (running !== undefined) {
      return running;
    }
    const listing = listStore(target, clusterId).finally(() => this.#listings.delete(clusterId));
    this.#listings.set(clusterId, listing);
    return listing;
  }

  async stop(): Promise<void> {
    this.#stopTimer();
    this.archiver?.stop();
    this.verification?.stop();
    await this.target?.close();
  }

  /** Deletes backups beyond the retention. If a deletion fails, it is retried after the next snapshot. */
  async #prune(): Promise<void> {
    const { configuration, host, clock, log } = this.#options;
    const retention = configuration?.retention ?? null;
    if (this.target === null || retention === null) {
      return;
    }
    try {
      // A damaged snapshot must not replace an older one.
      await this.verification?.ended;
      const { damaged } = this.verification ?? {};
      const { store } = await this.target.open();
      const plan = planRetention(await readCatalog(store, host.clusterId), { ...retention, damaged }, clock.wallMs());
      await deletePlanned(store, plan);
      await store.sweep(clock.wallMs());
      if (plan.deletions.length > 0) {
        log.info({ objects: plan.deletions.length, bytes: plan.bytes }, "old backups were deleted");
      }
    } catch (error) {
      log.warn({ reason: requireFailure(error).message }, "old backups could not be deleted");
    }
  }
}
