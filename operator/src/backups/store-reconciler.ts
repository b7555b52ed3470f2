/**
 * One pass over a CoordinationBackupStore: checks whether members can use it. The operator does not watch Secrets, so
 * the pass repeats at intervals.
 */
import type { CoordinationBackupStore, StoreStatus } from "../generated/coordination-backup-store.ts";
import { locationOf } from "../render/index.ts";
import { type BackupsContext, RETRY_MS } from "./context.ts";
import { conditionsOf, writeStatus } from "./object-status.ts";
import { storeProblemOf } from "./store-check.ts";

const READY_MS = 60_000;
const UNREADY_MS = 10_000;
const WELL = { reason: "Usable", message: "the Secrets exist and have valid contents" };

export class StoreReconciler {
  readonly #context: BackupsContext;

  constructor(context: BackupsContext) {
    this.#context = context;
  }

  /**
   * @returns milliseconds until the next pass; null if the store is gone
   * @throws KubeError
   */
  async reconcile(namespace: string, name: string): Promise<number | null> {
    const { client, now } = this.#context;
    const kind = "CoordinationBackupStore";
    const store = await client.get<CoordinationBackupStore>({ kind, namespace, name });
    if (store === null || store.metadata.deletionTimestamp !== undefined) {
      return null;
    }
    const problem = await storeProblemOf(client, store);
    const status = problem === null ? "True" : "False";
    const verdict = { type: "Ready", status, ...(problem ?? WELL) } as const;
    const told: StoreStatus = {
      observedGeneration: store.metadata.generation ?? 0,
      location: locationOf(store.spec),
      encrypted: store.spec.encryption !== undefined,
      conditions: conditionsOf(store, [verdict], now()),
    };
    const before = store.status?.conditions?.[0];
    if (!(await writeStatus(this.#context, kind, store, told))) {
      return RETRY_MS;
    }
    if (problem !== null && before?.reason !== problem.reason) {
      const { reason, message: note } = problem;
      this.#context.event(store, { type: "Warning", reason, action: "Check", note });
    }
    return problem === null ? READY_MS : UNREADY_MS;
  }
}
