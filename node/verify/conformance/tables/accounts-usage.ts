/** GET /billing/usage: the usage. */

import { expect } from "chai";
import { answered, expectHttpRefusal, type KeyBody, putKey, type Table } from "../harness/index.ts";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SUMS = [
  ...["requests", "append_requests", "events_appended", "bytes_appended"],
  ...["kv_operations", "lock_operations", "memory_operations"],
] as const;
const LEVELS = ["bytes_stored", "memory_bytes"] as const;
const DAY_MS = 86_400_000;
const PUTS = 3;

type Numbers = Readonly<Record<(typeof SUMS)[number], number> & Record<(typeof LEVELS)[number], number | null>>;

interface Usage {
  readonly period: { readonly start: string; readonly end: string };
  readonly totals: Numbers;
  readonly buckets: readonly (Numbers & { readonly start: string })[];
  readonly by_key: readonly {
    readonly api_key_id: string;
    readonly requests: number;
    readonly events_appended: number;
    readonly bytes_appended: number;
  }[];
  readonly limits: { readonly requests_per_minute: number };
  readonly as_of: string;
}

export const accountsUsage: Table = {
  name: "GET /billing/usage",
  entries: {
    "counts every mutation of a key once, whichever member it came to": async (context) => {
      const created = await context.http().call("POST", "/keys", { json: { name: context.name() } });
      const { key, api_key_id: id } = answered(created, 201) as unknown as KeyBody;
      const exchanged = await context.http(null).call("POST", "/auth/token", { json: { api_key: key } });
      const token = String(answered(exchanged).access_token);
      const before = answered(await context.http(token).call("GET", "/billing/usage")) as unknown as Usage;
      for (let put = 0; put < PUTS; put++) {
        const { endpoint } = put % 2 === 0 ? context.here : context.elsewhere;
        const fields = { namespace: context.namespace, key: context.name() };
        expect((await context.testRun.at(endpoint, token).call(putKey, fields)).code).to.equal("OK");
      }
      const after = answered(await context.httpElsewhere(token).call("GET", "/billing/usage")) as unknown as Usage;
      const ofKey = after.by_key.find(({ api_key_id }) => api_key_id === id);
      expect(ofKey?.requests).to.be.at.least(PUTS);
      expect([ofKey?.events_appended, ofKey?.bytes_appended]).to.deep.equal([0, 0]);
      expect(after.totals.kv_operations - before.totals.kv_operations).to.be.at.least(PUTS);
    },
    "is of this month by days unless asked otherwise, and adds up": async (context) => {
      const { viewer } = context.users;
      for (const [query, unitMs] of [
        ["", DAY_MS],
        ["?granularity=day", DAY_MS],
        ["?granularity=hour", DAY_MS / 24],
      ] as const) {
        const answer = await context.http(viewer.token).call("GET", `/billing/usage${query}`);
        const usage = answered(answer) as unknown as Usage;
        const { period, totals, buckets, limits, as_of: asOf } = usage;
        expect(Object.keys(usage).sort()).to.deep.equal([
          ...["as_of", "buckets", "by_key", "limits", "namespaces", "period", "totals"],
        ]);
        const now = new Date(asOf);
        const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
        expect([period.start, period.end]).to.deep.equal([month, asOf]);
        expect(Object.keys(totals).sort()).to.deep.equal([...SUMS, ...LEVELS].sort());
        for (const name of SUMS) {
          expect(totals[name], name).to.equal(buckets.reduce((sum, bucket) => sum + bucket[name], 0));
        }
        for (const { start } of buckets) {
          expect(start).to.match(INSTANT);
          expect(Date.parse(start) % unitMs).to.equal(0);
        }
        expect(limits.requests_per_minute).to.be.a("number");
      }
    },
    "shows the keys of others to administrators alone": async (context) => {
      const user = await context.newUser("viewer");
      const own = answered(await context.http(user.token).call("GET", "/billing/usage")) as unknown as Usage;
      expect(own.by_key).to.deep.equal([]);
    },
    "has the totals of the cluster for readers of all namespaces, and their own for others": async (context) => {
      const user = await context.newUser("member", [context.namespace]);
      for (const connection of [context.here, context.testRun.at(context.here.endpoint, user.token)]) {
        const fields = { namespace: context.namespace, key: context.name() };
        expect((await connection.call(putKey, fields)).code).to.equal("OK");
      }
      const own = answered(await context.httpElsewhere(user.token).call("GET", "/billing/usage")) as unknown as Usage;
      expect(own.totals.kv_operations).to.equal(1);
      expect(own.totals.bytes_stored).to.be.at.least(1);
      for (const { bytes_stored: bytesStored, memory_bytes: memoryBytes } of own.buckets) {
        expect([bytesStored, memoryBytes]).to.deep.equal([null, null]);
      }
      const all = answered(await context.http().call("GET", "/billing/usage")) as unknown as Usage;
      expect(all.totals.kv_operations).to.be.at.least(2);
      expect(all.totals.bytes_stored).to.be.at.least(own.totals.bytes_stored ?? 0);
    },
    "refuses what is no period, by its name": async (context) => {
      for (const [query, name] of [
        ["from=yesterday", "from"],
        ["from=", "from"],
        ["to=1", "to"],
        ["from=2026-01-02&to=2026-01-01", "from"],
        ["from=2026-01-01&to=2026-04-12", "from"],
        ["granularity=week", "granularity"],
        ["granularity=day&granularity=day", "granularity"],
      ]) {
        const answer = await context.http().call("GET", `/billing/usage?${query}`);
        expect(expectHttpRefusal(answer, "invalid_request"), query).to.include(name);
      }
      for (const query of ["from=2026-01-01&to=2026-04-11", "from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00.000Z"]) {
        const usage = answered(await context.http().call("GET", `/billing/usage?${query}`)) as unknown as Usage;
        expect(usage.period.start).to.equal("2026-01-01T00:00:00.000Z");
      }
    },
  },
};
