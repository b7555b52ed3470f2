import { expect } from "chai";
import { AppliedLog, requestOf } from "../../../test/index.ts";
import type { PutKey } from "../keys/index.ts";
import { CoordinationError } from "./coordination-error.ts";
import { isHistoryDue } from "./history.ts";
import { readHistoryBounds } from "./history-ledger.ts";
import { DEFAULT_STATE_LIMITS } from "./limits.ts";
import { SETTINGS_ROW } from "./rows.ts";
import { describeSettings, historyLimitsOf, rateLimitOf, readSettings, settingOf } from "./settings.ts";

const SUBJECT = "admin";
/** The defaults of a member. */
const LIMIT = { requests: 6_000, windowSecs: 60, burst: 200 };

describe("settings", () => {
  let log: AppliedLog;

  beforeEach(() => {
    log = new AppliedLog();
  });

  function put(values: Readonly<Record<string, string>>, ifRevision = 0, request = null as null | number) {
    const pairs = Object.entries(values).map(([name, value]) => ({ name, value }));
    const identity = request === null ? null : requestOf(request);
    const outcome = log.lead({ kind: "put-settings", values: pairs, ifRevision, subject: SUBJECT, request: identity });
    return outcome?.answer;
  }

  function refusal(values: Readonly<Record<string, string>>, ifRevision = 0): CoordinationError {
    const answer = put(values, ifRevision);
    return answer instanceof CoordinationError ? answer : expect.fail("it was not refused");
  }

  it("are the defaults until they are set", () => {
    expect(readSettings(log.store)).deep.equal({ revision: 0, values: new Map() });
    expect(settingOf(log.store, "queue.duplicate_window_secs")).equal(3_600);
    expect(settingOf(log.store, "token.lifetime_secs")).equal(3_600);
    expect(rateLimitOf(log.store, "http", LIMIT)).deep.equal(LIMIT);
    expect(rateLimitOf(log.store, "grpc", LIMIT)).deep.equal(LIMIT);
    expect(historyLimitsOf(log.store, DEFAULT_STATE_LIMITS.history)).equal(DEFAULT_STATE_LIMITS.history);
  });

  it("are described with the limits of single namespaces that are set, also of those that do not exist", () => {
    put({ "quota.namespace.keys": "9", "quota.namespace.a.b.keys": "2", "quota.namespace.a.locks": "0" });
    const described = describeSettings(log.store, DEFAULT_STATE_LIMITS);
    const all = described.map(({ name }) => name);
    const names = all.filter((name) => !name.startsWith("quota.namespace.a."));
    expect(names).deep.equal([...names].sort());
    expect(all.slice(names.length)).deep.equal(["quota.namespace.a.locks", "quota.namespace.a.b.keys"]);
    expect(described.at(-1)).deep.equal({
      name: "quota.namespace.a.b.keys",
      value: 2,
      whenUnset: 9,
      min: 0,
      max: 1_000_000_000_000_000,
    });
    expect(described.at(-2)).include({ value: 0, whenUnset: DEFAULT_STATE_LIMITS.namespaceLocksMax });
    put({ "quota.namespace.a.b.keys": "", "quota.namespace.a.locks": "" });
    expect(describeSettings(log.store, DEFAULT_STATE_LIMITS)).to.have.length(names.length);
  });

  it("take effect for every reader", () => {
    put({ "queue.duplicate_window_secs": "0", "token.lifetime_secs": "60", "ratelimit.grpc.burst": "7" });
    put({ "ratelimit.http.requests": "0", "ratelimit.http.window_secs": "10" });
    put({ "history.revisions": "1000", "history.age_secs": "60" });
    expect(settingOf(log.store, "queue.duplicate_window_secs")).equal(0);
    expect(settingOf(log.store, "token.lifetime_secs")).equal(60);
    expect(rateLimitOf(log.store, "grpc", LIMIT)).deep.equal({ ...LIMIT, burst: 7 });
    expect(rateLimitOf(log.store, "http", LIMIT)).deep.equal({ ...LIMIT, requests: 0, windowSecs: 10 });
    const expected = { revisionsMax: 1_000, ageMsMax: 60_000, bytesMax: DEFAULT_STATE_LIMITS.history.bytesMax };
    expect(historyLimitsOf(log.store, DEFAULT_STATE_LIMITS.history)).deep.equal(expected);
  });

  it("count their changes, and no command without an effect", () => {
    expect(put({ "token.lifetime_secs": "60" })).include({ settingsRevision: 1 });
    expect(put({ "token.lifetime_secs": "60" })).include({ settingsRevision: 1 });
    expect(put({})).include({ settingsRevision: 1 });
    expect(put({ "ratelimit.http.burst": "" })).include({ settingsRevision: 1 });
    expect(put({ "token.lifetime_secs": "61" })).include({ settingsRevision: 2 });
    expect(put({ "token.lifetime_secs": "" })).include({ settingsRevision: 3 });
    expect(readSettings(log.store)).deep.equal({ revision: 3, values: new Map() });
    expect(log.revision, "settings are not a visible change").equal(new AppliedLog().revision);
  });

  it("change only from the named revision", () => {
    put({ "token.lifetime_secs": "60" });
    const error = refusal({ "token.lifetime_secs": "70" }, 2);
    expect([error.code, error.reason]).deep.equal(["FAILED_PRECONDITION", "SETTINGS_CHANGED"]);
    expect(error.details.get("settings_revision")).equal("1");
    expect(settingOf(log.store, "token.lifetime_secs")).equal(60);
    expect(put({ "token.lifetime_secs": "70" }, 1)).include({ settingsRevision: 2 });
  });

  it("have names: an unknown one is refused by its name, and the command changes nothing", () => {
    for (const name of ["", "token.lifetime", "TOKEN.LIFETIME_SECS", "__proto__", "constructor", "x".repeat(10_000)]) {
      const error = refusal(
        Object.fromEntries([
          ["token.lifetime_secs", "60"],
          [name, "1"],
        ]),
      );
      expect([error.reason, error.details.get("field")]).deep.equal(["BAD_FIELD", `values[${name.slice(0, 64)}]`]);
      expect(error.message.length).lessThan(1_000);
    }
    expect(readSettings(log.store).revision).equal(0);
  });

  for (const [name, good, bad] of [
    ["queue.duplicate_window_secs", ["0", "604800"], ["604801"]],
    ["token.lifetime_secs", ["1", "86400"], ["0", "86401"]],
    ["ratelimit.http.requests", ["0", "1000000000"], ["1000000001"]],
    ["ratelimit.http.window_secs", ["1", "3600"], ["0", "3601"]],
    ["ratelimit.grpc.burst", ["1"], ["0", "1000000001"]],
    ["history.revisions", ["1000", "100000000"], ["999", "100000001"]],
    ["history.age_secs", ["60", "604800"], ["59", "604801"]],
    ["history.bytes", ["1048576"], ["1048575"]],
  ] as const) {
    it(`${name} may be ${good.join(" or ")}, and is refused by its name outside its bounds`, () => {
      for (const value of good) {
        expect(put({ [name]: value })).include({ kind: "put-settings" });
        expect(readSettings(log.store).values.get(name)).equal(Number(value));
      }
      for (const value of [...bad, "-1", "1e3", "0x10", "60.0", " 60", "060", "NaN", "9".repeat(40)]) {
        expect(refusal({ [name]: value }).details.get("field"), value).equal(`values[${name}]`);
      }
    });
  }

  it("answer a retry like the first request (S13)", () => {
    expect(put({ "token.lifetime_secs": "60" }, 0, 5)).include({ settingsRevision: 1 });
    put({ "token.lifetime_secs": "61" });
    expect(put({ "token.lifetime_secs": "60" }, 0, 5)).include({ settingsRevision: 1 });
    expect(settingOf(log.store, "token.lifetime_secs")).equal(61);
  });

  // These bytes are in the state of every member: a change here changes the storage format.
  it("have these bytes, in whatever order they were set", () => {
    put({ "token.lifetime_secs": "60", "history.bytes": "1048576" });
    const name = (text: string) => `${text.length.toString(16).padStart(8, "0")}${Buffer.from(text).toString("hex")}`;
    expect(log.store.get(SETTINGS_ROW)?.toHex()).equal(
      `000000000000000100000002${name("history.bytes")}0000000000100000${name("token.lifetime_secs")}000000000000003c`,
    );
  });

  it("decide in apply how much of the history is dropped, and for the leader when", () => {
    const operation: PutKey = {
      kind: "put-key",
      namespace: "default",
      key: Buffer.from("k"),
      value: Buffer.from("v"),
      ttlSeconds: 0,
      expectedModRevision: undefined,
      returnPrevious: false,
    };
    for (let at = 0; at < 10; at++) {
      log.execute(operation);
    }
    const isDue = () => {
      const slack = { revisions: 0, ageMs: 0 };
      return isHistoryDue(log.store, log.revision, log.tickMs, DEFAULT_STATE_LIMITS.history, slack);
    };
    const oldest = () => readHistoryBounds(log.store).oldestRevision;
    log.tickMs += 61_000;
    log.execute(operation);
    log.lead({ kind: "trim-history", countMax: 100 });
    expect([isDue(), oldest()]).deep.equal([false, 2]);
    put({ "history.age_secs": "60" });
    expect(isDue()).equal(true);
    log.lead({ kind: "trim-history", countMax: 100 });
    expect([isDue(), oldest()]).deep.equal([false, log.revision]);
  });
});
