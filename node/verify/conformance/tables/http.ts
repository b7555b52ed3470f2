/** HTTP: what all answers have in common. */

import { expect } from "chai";
import { answered, expectHttpRefusal, type Table } from "../harness/index.ts";

export const http: Table = {
  name: "HTTP",
  entries: {
    "says that there is nothing at other paths": async (context) => {
      for (const target of [
        "/",
        "/nothing",
        "/auth",
        "/auth/token/",
        "/AUTH/token",
        "/%00",
        "/../auth/token",
        "/%FF",
      ]) {
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
