import { expect } from "chai";
import { AppliedLog } from "../../test/index.ts";
import { NamespaceSurvey } from "./namespace-survey.ts";

describe("the survey of namespaces", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  function set(name: string, value: number): void {
    const values = [{ name, value: String(value) }];
    log.lead({ kind: "put-settings", values, ifRevision: 0, subject: "admin", request: null });
  }

  function fill(namespace: string, keys: number): void {
    log.result({ kind: "create-namespace", namespace });
    for (let at = 0; at < keys; at++) {
      log.result({
        ...{ kind: "put-key", namespace, key: Buffer.from(`k${at}`), value: Buffer.from("v"), ttlSeconds: 0 },
        ...{ expectedModRevision: undefined, returnPrevious: false },
      });
    }
  }

  it("shows limits that are used by half or more, the fullest first, and above 1 what has too much", () => {
    set("quota.namespace.keys", 4);
    for (const [namespace, keys] of [
      ["a", 1],
      ["b", 2],
      ["c", 4],
      ["d", 3],
    ] as const) {
      fill(namespace, keys);
    }
    set("quota.namespace.a.bytes", 2);
    const survey = new NamespaceSurvey();
    expect(survey.scan(log.store)).deep.equal([
      [["a", "bytes"], 1.5],
      [["c", "keys"], 1],
      [["d", "keys"], 0.75],
      [["b", "keys"], 0.5],
    ]);
    set("quota.namespace.keys", 100);
    expect(survey.scan(log.store)).deep.equal([[["a", "bytes"], 1.5]]);
  });

  it("shows at most twenty, whatever there is, and of a round of several looks only what was found in all", () => {
    set("quota.namespace.keys", 2);
    for (let at = 0; at < 1_001; at++) {
      fill(`n${String(at).padStart(4, "0")}`, at % 50 === 0 ? 2 : 1);
    }
    fill("z", 3 - 1);
    const survey = new NamespaceSurvey();
    expect(survey.scan(log.store)).deep.equal([]);
    const shown = survey.scan(log.store);
    expect(shown.length).equal(20);
    expect(new Set(shown.map(([, share]) => share))).deep.equal(new Set([1]));
    expect(survey.scan(log.store)).equal(shown);
  });
});
