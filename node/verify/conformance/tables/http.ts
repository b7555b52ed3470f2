/** HTTP: what all answers have in common. */

import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { answered, expectHttpRefusal, type Table } from "../harness/index.ts";

export const http: Table = {
  name: "HTTP",
  entries: {
    "says that there is nothing at other paths": async (context) => {
      for (const target of ["/nothing", "/auth", "/auth/token/", "/AUTH/token", "/%00", "/../auth/token", "/%FF"]) {
        expectHttpRefusal(await context.http(null).call("GET", target), "not_found");
      }
    },
    "says which methods a path has": async (context) => {
      for (const [method, target, allowed] of [
        ["GET", "/auth/token", "POST"],
        ["PUT", "/auth/token", "POST"],
        ["POST", "/livez", "GET, HEAD"],
        ["OPTIONS", "/openapi.json", "GET, HEAD"],
      ] as const) {
        const answer = await context.http(null).call(method, target);
        expectHttpRefusal(answer, "method_not_allowed");
        expect(answer.headers.allow).to.equal(allowed);
      }
    },
    "refuses parameters of a query that it does not know, and says which is meant, on every route": async (context) => {
      const log = `/logs/${randomUUID()}/events`;
      const watch = `/v1/watch/keys?namespace=${context.namespace}`;
      for (const [target, name, meant] of [
        [`${watch}&prefx=steps/`, "prefx", "prefix"],
        [`${watch}&startRevision=612`, "startRevision", "start_revision"],
        [`/v1/watch/locks?namspace=${context.namespace}`, "namspace", "namespace"],
        [`${log}?fromsequence=15`, "fromsequence", "from_sequence"],
        ["/keys?Limit=1", "Limit", "limit"],
        ["/readyz?verbos", "verbos", "verbose"],
      ] as const) {
        for (const headers of [{}, { Accept: "text/event-stream" }]) {
          const answer = await context.http().call("GET", target, { headers });
          const message = expectHttpRefusal(answer, "invalid_request");
          expect(message, target).to.equal(`${name} is unknown; did you mean ${meant}?`);
        }
      }
      for (const target of ["/metrics", "/openapi.json", "/docs", "/.well-known/jwks.json", `/logs/${randomUUID()}`]) {
        const answer = await context.http().call("GET", `${target}?x=1`);
        expect(expectHttpRefusal(answer, "invalid_request"), target).to.equal("x is unknown");
      }
      for (const target of [`${watch}&prefix=a&prefix=b`, `${log}?limit=1&%6Cimit=1`]) {
        const answer = await context.http().call("GET", target);
        expect(expectHttpRefusal(answer, "invalid_request")).to.match(/^(prefix|limit) is given 2 times/);
      }
    },
    "refuses fields of a body that it does not know, and says which is meant": async (context) => {
      for (const [target, json, problem] of [
        ["/keys", { name: "x", expiresInDays: 5 }, "expiresInDays is unknown; did you mean expires_in_days?"],
        ["/keys", { nme: "x" }, "nme is unknown; did you mean name?"],
        [
          "/logs",
          { name: "x", settings: { "retention.max_byte": 5 } },
          "settings.retention.max_byte is unknown; did you mean retention.max_bytes?",
        ],
      ] as const) {
        const answer = await context.http().call("POST", target, { json });
        expect(expectHttpRefusal(answer, "invalid_request")).to.equal(problem);
      }
      for (const [method, json, problem] of [
        ["GetKey", { key: "k", consistncy: "LINEARIZABLE" }, "consistncy is unknown; did you mean consistency?"],
        ["PutKey", { guard: { lockNam: "l" } }, "guard.lockNam is unknown; did you mean lockName?"],
      ] as const) {
        const answer = await context.http().call("POST", `/coordination.v1.KeyValueService/${method}`, { json });
        expect([answer.status, JSON.parse(answer.body.toString()).message]).to.deep.equal([400, `field ${problem}`]);
      }
    },
    "refuses fields of a body that are given twice, in any spelling": async (context) => {
      const headers = { "Content-Type": "application/json" };
      for (const [target, body, problem] of [
        ["/keys", '{"name":"x","expires_in_days":5,"expires_in_days":null}', "expires_in_days is given twice"],
        [
          "/logs",
          '{"name":"x","settings":{"retention.max_bytes":5,"retention.max_bytes":6}}',
          "settings.retention.max_bytes is given twice",
        ],
      ] as const) {
        const answer = await context.http().call("POST", target, { headers, body });
        expect(expectHttpRefusal(answer, "invalid_request")).to.equal(problem);
      }
      for (const [body, problem] of [
        ['{"valueText":"a","value\\u0054ext":"b"}', "field valueText is given twice"],
        ['{"guard":{"rw":true,"rw":false}}', "field guard.rw is given twice"],
        ['{"ttlSeconds":1,"ttl_seconds":2}', "field ttl_seconds is given twice, as ttl_seconds and as ttlSeconds"],
      ] as const) {
        const answer = await context.http().call("POST", "/coordination.v1.KeyValueService/PutKey", { headers, body });
        expect([answer.status, JSON.parse(answer.body.toString()).message]).to.deep.equal([400, problem]);
      }
    },
    "answers HEAD as GET, without a body": async (context) => {
      const { status, headers, body } = await context.http(null).call("HEAD", "/openapi.json");
      expect([status, headers["api-version"], body.length]).to.deep.equal([200, "v1", 0]);
    },
    "describes itself": async (context) => {
      const document = answered(await context.http(null).call("GET", "/openapi.json"));
      expect(document.openapi).to.match(/^3\.1\./);
      expect(Object.keys(document.paths as object)).to.include.members(["/auth/token", "/livez", "/openapi.json"]);
    },
  },
};
