import { expect } from "chai";
import { AppliedLog } from "../../../test/index.ts";
import { COUNTED_QUOTAS } from "../../state/index.ts";
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
        kind: "put-key",
        namespace,
        key: Buffer.from(`k${at}`),
        value: Buffer.from("v"),
        ttlSeconds: 0,
        expectedModRevision: undefined,
        returnPrevious: false,
      });
    }
  }

  function shares(shown: ReturnType<NamespaceSurvey["scan"]>): Readonly<Record<string, number>> {
    return Object.fromEntries(shown.map(([[quota], share]) => [quota, share]));
  }

  it("shows the largest used share of each quota, above 1 where it is more than the limit, and no namespace", () => {
    set("quota.namespace.keys", 4);
    for (const [namespace, keys] of [
      ["a", 1],
      ["b", 3],
      ["c", 2],
    ] as const) {
      fill(namespace, keys);
    }
    set("quota.namespace.a.bytes", 2);
    const survey = new NamespaceSurvey();
    const first = shares(survey.scan(log.store));
    expect(first).to.include({ keys: 0.75, bytes: 1.5, locks: 0 });
    expect(Object.keys(first)).to.have.members([...COUNTED_QUOTAS]);
    set("quota.namespace.keys", 100);
    expect(shares(survey.scan(log.store))).to.include({ keys: 0.03, bytes: 1.5 });
  });

  it("shows, of a round of several looks, only what was found in all", () => {
    set("quota.namespace.keys", 4);
    for (let at = 0; at < 1_001; at++) {
      fill(`n${String(at).padStart(4, "0")}`, at === 0 ? 2 : 1);
    }
    fill("z", 3);
    const survey = new NamespaceSurvey();
    expect(survey.scan(log.store)).to.deep.equal([]);
    const shown = survey.scan(log.store);
    expect(shares(shown).keys).to.equal(0.75);
    expect(survey.scan(log.store)).to.equal(shown);
  });
});
