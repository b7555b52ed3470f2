/** Drives the backup controllers through a world: makes passes over all objects of these kinds. */
import { BACKUP_KINDS, BackupControllers, backupKey } from "../../src/backups/index.ts";
import { type Connection, type EventContent, KubeClient } from "../../src/kube/index.ts";
import { MemberClient } from "../../src/members/index.ts";
import type { Any } from "../api-server/index.ts";
import type { Drive } from "./drive.ts";

const ROUNDS_MAX = 300;
const ROUND_MS = 1_000;

export class BackupDrive {
  readonly #drive: Drive;
  #connection: Connection | null = null;
  #members = new MemberClient();
  #controllers: BackupControllers | null = null;
  readonly events: EventContent[] = [];
  /** Schedules that were notified of the end of a backup. */
  readonly reported: string[] = [];
  mayWrite = true;
  crashes = 0;

  constructor(drive: Drive) {
    this.#drive = drive;
  }

  async begin(): Promise<void> {
    const { world } = this.#drive;
    this.#members = new MemberClient();
    this.#connection = world.api.connection();
    this.#controllers = new BackupControllers({
      client: new KubeClient(this.#connection),
      members: this.#members,
      endpointOf: ({ metadata }) => {
        const port = world.portOf(metadata?.uid ?? "");
        return port === null ? null : `127.0.0.1:${port}`;
      },
      now: () => world.now,
      mayWrite: () => this.mayWrite,
      event: (_subject, content) => this.events.push(content),
      onFinished: (_namespace, schedule) => this.reported.push(schedule),
    });
  }

  async end(): Promise<void> {
    this.#members.close();
    await this.#connection?.close();
  }

  create(kind: (typeof BACKUP_KINDS)[number], name: string, spec: object): void {
    const object = { apiVersion: "quoin.dev/v1alpha1", kind, metadata: { name }, spec };
    this.#drive.world.api.store.create(pluralOf(kind), "default", object);
  }

  get(kind: (typeof BACKUP_KINDS)[number], name: string): Any {
    return this.#drive.world.api.store.get(pluralOf(kind), "default", name);
  }

  list(kind: (typeof BACKUP_KINDS)[number]): Any[] {
    return this.#drive.world.api.store.list(pluralOf(kind));
  }

  reconcile(kind: (typeof BACKUP_KINDS)[number], name: string): Promise<number | null> {
    return this.#controllers?.reconcile(backupKey(kind, "default", name)) ?? Promise.reject(new Error("not begun"));
  }

  /** Makes passes until the condition holds. After a crash, another operator continues. */
  async until(what: string, condition: () => boolean): Promise<void> {
    const { world } = this.#drive;
    for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
      for (const kind of BACKUP_KINDS) {
        for (const { metadata } of this.list(kind)) {
          await this.reconcile(kind, metadata.name).catch(() => null);
        }
      }
      if (world.isDown) {
        this.crashes++;
        await this.end();
        world.revive();
        await this.begin();
      } else if (condition()) {
        return;
      }
      world.advance(ROUND_MS);
    }
    throw new Error(`${what}: not there after ${ROUNDS_MAX} rounds`);
  }
}

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}
