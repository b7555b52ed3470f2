import { founding, Scene, table } from "../../test/index.ts";

describe("planner", () => {
  /** A pod that waits for a volume, whose storage class has been corrected since. */
  const corrected = (changes: Parameters<Scene["claim"]>[1] = {}): Scene => {
    const storage = { size: "8Gi", storageClassName: "fast", whenDeleted: "Retain", whenScaled: "Delete" } as const;
    const scene = founding().spec({ storage });
    scene.set = scene.set && { ...scene.set, storageClassName: "fsat" };
    scene.gone(0).pod(0, { scheduled: false, node: null, readySince: null, runningSince: null, started: false });
    return scene.claim(0, { clusterId: null, memberId: null, bound: false, storageClassName: "fsat", ...changes });
  };
  table("ChangeStorageClass", [
    ["a claim without a volume", () => corrected(), "ChangeStorageClass: delete-claim data-demo-0"],
    ["once the claim is going", () => corrected({ terminating: true }), "ChangeStorageClass: delete-set demo"],
    [
      "once the claim is going, though a volume came for it that no pod has seen",
      () => corrected({ terminating: true, bound: true }),
      "ChangeStorageClass: delete-set demo",
    ],
    ["a claim with a volume", () => corrected({ bound: true }), "Found holds: WaitingForFounder demo-0"],
    [
      "a claim with a volume that is going, and a pod that may still write to it",
      () => corrected({ bound: true, terminating: true }).pod(0, { scheduled: true }),
      "Adopt holds: ClaimTerminating data-demo-0",
    ],
    [
      "another claim with a volume, also one that the set has not made",
      () => corrected().claim(1, { ours: false, clusterId: null, memberId: null }),
      "Found holds: StaleVolumes data-demo-1",
    ],
    ["a claim that was there before the set", () => corrected({ ours: false }), "ChangeStorageClass: delete-set demo"],
    [
      "a cluster that has an identity",
      () => Object.assign(corrected(), { identity: new Scene(1).identity }),
      "Found holds: WaitingForFounder demo-0",
    ],
    [
      "the class that the set has",
      () => Object.assign(corrected(), { set: { ...(founding().set as object), storageClassName: "fast" } }),
      "Found holds: WaitingForFounder demo-0",
    ],
    [
      "a claim that the set has made in its last moment",
      () => Object.assign(corrected({ ours: false, leftover: true }), { set: null }),
      "ChangeStorageClass: delete-claim data-demo-0",
    ],
    [
      "the same once it is going",
      () => Object.assign(corrected({ ours: false, leftover: true, terminating: true }), { set: null }),
      "Adopt holds: ClaimTerminating data-demo-0",
    ],
    [
      "a claim that was there before any set",
      () => Object.assign(corrected({ ours: false }), { set: null }),
      "Adopt: create-set demo",
    ],
    [
      "back to the default class",
      () => corrected().spec({ storage: { size: "8Gi", whenDeleted: "Retain", whenScaled: "Delete" } }),
      "ChangeStorageClass: delete-claim data-demo-0",
    ],
  ]);
});
