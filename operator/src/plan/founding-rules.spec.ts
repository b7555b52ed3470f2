import { CLUSTER_ID, founding, idOf, NOW, Scene, table } from "../../test/index.ts";
import type { Observed, RestoreView } from "./observed.ts";

const READY: RestoreView = { problem: null, isInForce: true };
const MISSING: RestoreView = { problem: { reason: "StoreNotFound", message: "no store" }, isInForce: false };

function restored(scene: Scene, restore: RestoreView, rest: Partial<Pick<Observed, "attempts">> = {}): Scene {
  scene.cluster = { ...scene.cluster, spec: { ...scene.cluster.spec, restoreFrom: { storeName: "store" } } };
  scene.rest = { ...scene.rest, ...rest, restore };
  return scene;
}

/** The identity names the one pod, whose directory is empty. */
function identified(): Scene {
  const identity = { clusterId: CLUSTER_ID, founder: "demo-0", founderIncarnation: "fresh-0" };
  return Object.assign(founding(), { identity });
}

function asked(agoMs: number, failure: string | null, podUid = "pod-0"): Pick<Observed, "attempts"> {
  const restore = { podUid, at: NOW - agoMs, failure };
  return { attempts: { failedTransfers: 0, refusedEviction: null, handover: null, restore } };
}

describe("founding from a backup", () => {
  table("waits for the backup", [
    ["nothing at all, and no store", () => restored(Scene.beginning(3), MISSING), "Adopt holds: RestoreNotReady demo"],
    ["nothing at all, and a store", () => restored(Scene.beginning(3), READY), "Adopt: create-set demo"],
    [
      "a set that was deleted, of members that have data",
      () => restored(Object.assign(new Scene(3), { set: null }), MISSING),
      "Adopt: create-set demo",
    ],
    ["an empty pod, and no store", () => restored(founding(), MISSING), "Found holds: RestoreNotReady demo"],
    [
      "a store that is gone after its flags came into force",
      () => restored(founding(), { ...MISSING, isInForce: true }),
      "Found: create-identity demo-0",
    ],
  ]);

  table("founds nothing empty", [
    [
      "a set without the flags",
      () => restored(identified(), { ...READY, isInForce: false }),
      "Found holds: RevisionNotObserved demo",
    ],
    [
      "a set whose controller is behind",
      () => {
        const scene = restored(identified(), READY);
        return Object.assign(scene, { set: scene.set && { ...scene.set, caughtUp: false } });
      },
      "Found holds: RevisionNotObserved demo",
    ],
    [
      "a set that others have changed",
      () => {
        const scene = restored(identified(), READY);
        return Object.assign(scene, { set: scene.set && { ...scene.set, isOverwritten: true } });
      },
      "Found holds: RevisionNotObserved demo",
    ],
    ["a pod with the flags before", () => restored(identified().outdated(0), READY), "Found: delete-pod demo-0"],
    [
      "such a pod that ends",
      () => restored(identified().outdated(0).pod(0, { terminating: true }), READY),
      "Found holds: WaitingForFounder demo-0",
    ],
    ["a pod with the flags", () => restored(identified(), READY), "Found: bootstrap demo-0"],
  ]);

  table("goes on", [
    ["just asked", () => restored(identified(), READY, asked(0, null)), "Found holds: Restoring demo-0"],
    ["asked ten seconds ago", () => restored(identified(), READY, asked(10_000, null)), "Found: bootstrap demo-0"],
    ["refused just now", () => restored(identified(), READY, asked(0, "no key")), "Found holds: RestoreFails demo-0"],
    [
      "refused ten seconds ago",
      () => restored(identified(), READY, asked(10_000, "no key")),
      "Found: bootstrap demo-0",
    ],
    ["another pod was asked", () => restored(identified(), READY, asked(0, null, "x")), "Found: bootstrap demo-0"],
    [
      "data that came meanwhile",
      () => restored(identified(), READY, asked(0, null)).claim(0, { memberId: idOf(0) }),
      "Freeze holds: NoLeader demo",
    ],
  ]);
});
