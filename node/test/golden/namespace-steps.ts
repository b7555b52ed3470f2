/** The part of the golden log about namespaces that are deleted: one is gone, and one is in the middle. */

import { Payloads } from "../../src/state/index.ts";
import { done, type GoldenLog, refusedWith } from "./golden-log.ts";
import { ANNA, OWNER } from "./identities.ts";

const ROWS_MAX = 3;
const SETTINGS = { duplicateWindowSecs: null, retentionMaxAgeSecs: null, retentionMaxBytes: null };

export function writeNamespaces(log: GoldenLog): void {
  const gone = "gone";
  fill(log, gone);
  const deletion = { kind: "delete-namespace", namespace: gone, recursive: true } as const;
  refusedWith("NOT_EMPTY", log.client({ ...deletion, recursive: false }));
  refusedWith("NAMESPACE_DENIED", log.client(deletion, ANNA));
  const request = log.newRequest();
  done(log.client(deletion, OWNER, request));
  log.client(deletion, OWNER, request);
  refusedWith("NAMESPACE_DELETING", log.client({ kind: "create-namespace", namespace: gone }));
  for (let step = 0; step < 20; step++) {
    log.cluster({ kind: "erase-namespaces", rowsMax: ROWS_MAX });
    log.cluster({ kind: "erase-memory", rowsMax: ROWS_MAX });
    log.cluster({ kind: "erase-logs", rowsMax: ROWS_MAX });
  }
  refusedWith("NAMESPACE_NOT_FOUND", log.client(deletion));
  done(log.client({ kind: "create-namespace", namespace: gone }));

  const going = "going";
  fill(log, going);
  done(log.client({ ...deletion, namespace: going }));
  // The locks are gone, the keys are not.
  log.cluster({ kind: "erase-namespaces", rowsMax: ROWS_MAX });
  log.cluster({ kind: "erase-namespaces", rowsMax: ROWS_MAX });
}

function fill(log: GoldenLog, namespace: string): void {
  done(log.client({ kind: "create-namespace", namespace }));
  for (const key of ["a", "b", "c"]) {
    const put = { kind: "put-key", namespace, expectedModRevision: undefined, returnPrevious: false } as const;
    done(log.client({ ...put, key: Buffer.from(key), value: Buffer.from("value"), ttlSeconds: 60 }));
  }
  const lock = { namespace, name: "held" } as const;
  done(log.client({ kind: "create-lock", ...lock, rw: false, ttlSeconds: 60, lockDelaySeconds: 1 }));
  const acquire = { kind: "acquire-lock", ...lock, mode: "exclusive", ttlSeconds: 0, owner: "" } as const;
  done(log.client({ ...acquire, waitMs: 0, fencingToken: 0 }));
  log.client({ ...acquire, waitMs: 60_000, fencingToken: 0 });
  const allocate = { kind: "allocate-memory", namespace, sizeBytes: 100, label: "" } as const;
  const { regionId } = done(log.client<"allocate-memory">(allocate));
  const region = { namespace, regionId, expectedVersion: undefined } as const;
  done(log.client({ kind: "write-memory", ...region, offset: 0, data: Buffer.from("bytes") }));
  const create = { kind: "create-log", namespace, name: "events", settings: SETTINGS } as const;
  const { logId } = done(log.client<"create-log">(create)).log;
  const append = { kind: "append-events", logId, expectedSequence: undefined, isBatch: false } as const;
  done(log.client({ ...append, idempotencyKey: "key", payloads: Payloads.of([Buffer.from("event")]) }));
}
