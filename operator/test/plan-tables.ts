/** Tables of scenes with the resulting plans, and scenes of members whose processes have failed. */
import { expect } from "chai";
import { plan } from "../src/plan/index.ts";
import { NOW, Scene } from "./scene.ts";

const MINUTE_MS = 60_000;

/** The plan in one line: the rule with its action and target, or the hold. */
function told(scene: Scene): string {
  const { step, blocker } = plan(scene.observe());
  const waiting = blocker === null ? [] : [`${blocker.gate} holds: ${blocker.reason} ${blocker.target}`];
  const doing = step === null ? [] : [`${step.rule}: ${step.action.kind} ${step.target}`];
  return [...doing, ...waiting].join("; ") || "nothing";
}

type Row = readonly [what: string, scene: () => Scene, told: string];

export function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    for (const [what, scene, expected] of rows) {
      it(`${what}: ${expected}`, () => {
        expect(told(scene())).to.equal(expected);
      });
    }
  });
}

/** A running member whose process has ended before. */
export function failed(scene: Scene, ordinal: number, agoMs: number, reason = "OOMKilled"): Scene {
  const lastExit = { reason, exitCode: reason === "Completed" ? 0 : 137, at: NOW - agoMs };
  const created = NOW - 20 * MINUTE_MS;
  return scene.pod(ordinal, { created, restarts: 1, lastExit, failedExit: lastExit.exitCode === 0 ? null : lastExit });
}

/** Members whose processes fail again and again, since just now. */
export function crashing(scene: Scene, ...ordinals: number[]): Scene {
  for (const ordinal of ordinals) {
    failed(scene, ordinal, 1_000).silent(ordinal);
    scene.pod(ordinal, { stuck: true, runningSince: null, notRunningSince: NOW - 1_000, started: false });
  }
  return scene;
}

/** A cluster with nothing but one pod with an empty directory. */
export function founding(): Scene {
  const scene = Scene.beginning(3).emptyMember(0);
  scene.set = new Scene(1).set;
  scene.claim(0, { clusterId: null, memberId: null });
  return scene;
}
