/** Event logs: creation, listing, description, change and deletion, and who may see them. */

import { expect } from "chai";
import {
  answered,
  expectHttpRefusal,
  isUuid,
  newLog,
  newLogPath,
  readEvents,
  type Table,
  type TestContext,
} from "../harness/index.ts";

const NAME_BYTES_MAX = 256;
const JSON_BYTES_MAX = 64 * 1024;
const ABSENT = "/logs/00000000-0000-4000-8000-000000000000";
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NO_SETTINGS = {
  "queue.duplicate_window_secs": null,
  "retention.max_age_secs": null,
  "retention.max_bytes": null,
};
/** Lowest and highest value of each setting. */
const BOUNDS = [
  ["queue.duplicate_window_secs", 0, 604_800],
  ["retention.max_age_secs", 1, 315_360_000],
  ["retention.max_bytes", 1, Number.MAX_SAFE_INTEGER],
] as const;

/** The names of this entry's logs in the listing, page by page. */
async function listed(context: TestContext, limit: number, token?: string): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: unknown = "";
  do {
    const page = answered(await context.http(token).call("GET", `/logs?limit=${limit}&cursor=${cursor}`));
    expect(page).to.have.all.keys("logs", "next_cursor");
    const logs = page.logs as { name: string }[];
    expect(logs.length).to.be.at.most(limit);
    names.push(...logs.map(({ name }) => name));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return names.filter((name) => name.startsWith(context.prefix));
}

const creating: Table = {
  name: "POST /logs",
  entries: {
    "answers the whole log": async (context) => {
      const name = context.name();
      const log = await newLog(context, { name });
      expect(log).to.deep.equal({
        log_id: log.log_id,
        name,
        namespace: "default",
        first_sequence: 1,
        last_sequence: 0,
        event_count: 0,
        size_bytes: 0,
        created_at: log.created_at,
        created_by: context.testRun.claims.sub,
        settings: NO_SETTINGS,
      });
      expect(isUuid(String(log.log_id)), String(log.log_id)).to.equal(true);
      expect(log.created_at).to.match(TIMESTAMP);
      expect(answered(await context.httpElsewhere().call("GET", `/logs/${log.log_id}`))).to.deep.equal(log);
    },
    "takes a namespace and settings": async (context) => {
      const settings = { "queue.duplicate_window_secs": 60, "retention.max_bytes": 1000 };
      const log = await newLog(context, { namespace: context.namespace, settings });
      expect(log).to.deep.include({
        namespace: context.namespace,
        settings: { ...NO_SETTINGS, "queue.duplicate_window_secs": 60, "retention.max_bytes": 1000 },
      });
      expect(await newLog(context, { namespace: null, settings: null })).to.deep.include({
        namespace: "default",
        settings: NO_SETTINGS,
      });
    },
    "S19: gives names back as they are": async (context) => {
      const prefix = context.name();
      const longest = prefix + "x".repeat(NAME_BYTES_MAX - prefix.length);
      for (const ending of [
        `'; DROP TABLE logs; --`,
        `<script>alert("é")</script>&amp;`,
        "__proto__",
        "constructor",
        "../%2e%2e/\u0000\n\u{1F600}",
        longest.slice(prefix.length),
      ]) {
        const name = prefix + ending;
        const { log_id } = await newLog(context, { name });
        const answer = await context.httpElsewhere().call("GET", `/logs/${log_id}`);
        expect(answered(answer).name).to.equal(name);
        expect([answer.headers["x-content-type-options"], answer.body.includes("\n")]).to.deep.equal([
          "nosniff",
          false,
        ]);
        const found = answered(await context.http().call("GET", `/logs?name=${encodeURIComponent(name)}`));
        expect((found.logs as { log_id: string }[]).map((log) => log.log_id)).to.deep.equal([log_id]);
      }
    },
    "refuses what is no name": async (context) => {
      for (const name of [undefined, null, "", 7, ["a"], "x".repeat(NAME_BYTES_MAX + 1), "é".repeat(129)]) {
        const answer = await context.http().call("POST", "/logs", { json: { name } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("name");
      }
      const surrogate = Buffer.from('{"name":"\\ud800"}');
      const headers = { "Content-Type": "application/json" };
      const answer = await context.http().call("POST", "/logs", { headers, body: surrogate });
      expect(expectHttpRefusal(answer, "invalid_request")).to.include("name");
    },
    "refuses what is no JSON object of its type": async (context) => {
      const headers = { "Content-Type": "application/json" };
      for (const body of ["", "{", "[]", "null", "1", '"name"', '{"name":"a"}x', Buffer.from([0xff])]) {
        expectHttpRefusal(await context.http().call("POST", "/logs", { headers, body }), "invalid_request");
      }
      for (const type of ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
        const answer = await context.http().call("POST", "/logs", { headers: { "Content-Type": type }, body: "{}" });
        expectHttpRefusal(answer, "unsupported_media_type");
      }
      const untyped = { headers: { "Content-Type": null }, body: JSON.stringify({ name: context.name() }) };
      expect((await context.http().call("POST", "/logs", untyped)).status, "without a type").to.equal(201);
      const large = Buffer.from(JSON.stringify({ name: "x".repeat(JSON_BYTES_MAX) }));
      for (const body of [large, [large]]) {
        expectHttpRefusal(await context.http().call("POST", "/logs", { headers, body }), "payload_too_large");
      }
    },
    "takes settings at their bounds, and refuses others by name": async (context) => {
      for (const [name, minimum, maximum] of BOUNDS) {
        for (const value of [minimum, maximum, null]) {
          expect((await newLog(context, { settings: { [name]: value } })).settings).to.have.own.property(name, value);
        }
        for (const value of [minimum - 1, maximum + 1, minimum + 0.5, String(minimum), true, [minimum]]) {
          const json = { name: context.name(), settings: { [name]: value } };
          const answer = await context.http().call("POST", "/logs", { json });
          expect(expectHttpRefusal(answer, "invalid_request")).to.include(name);
        }
      }
      for (const settings of [[], "x", 1]) {
        const answer = await context.http().call("POST", "/logs", { json: { name: context.name(), settings } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("settings");
      }
    },
    "refuses a name that a live log has, and no other": async (context) => {
      const name = context.name();
      const first = await newLog(context, { name });
      const again = () => context.httpElsewhere().call("POST", "/logs", { json: { name } });
      expectHttpRefusal(await again(), "already_exists");
      answered(await context.http().call("DELETE", `/logs/${first.log_id}`));
      const second = await newLog(context, { name });
      expect(second.log_id).to.not.equal(first.log_id);
      expectHttpRefusal(await again(), "already_exists");
    },
    "takes a name that a log of another namespace has, whatever its users may see": async (context) => {
      const adminNamespace = await context.newNamespace();
      const admin = await context.newUser("admin", [adminNamespace]);
      const log = await newLog(context);
      const json = { name: log.name, namespace: adminNamespace };
      const same = answered(await context.http(admin.token).call("POST", "/logs", { json }), 201);
      context.atEnd(() => context.http().call("DELETE", `/logs/${same.log_id}`));
      expect(same).to.include({ name: log.name, namespace: adminNamespace, created_by: admin.userId });
      expectHttpRefusal(await context.http(admin.token).call("POST", "/logs", { json }), "already_exists");
      const named = encodeURIComponent(String(log.name));
      const found = async (query: string, token?: string) =>
        (
          answered(await context.http(token).call("GET", `/logs?name=${named}${query}`)).logs as { log_id: string }[]
        ).map(({ log_id }) => log_id);
      expect(await found("")).to.have.members([log.log_id, same.log_id]);
      expect(await found("&namespace=default")).to.deep.equal([log.log_id]);
      expect(await found("", admin.token)).to.deep.equal([same.log_id]);
    },
    "says why it refuses a request without a namespace to users without the namespace default": async (context) => {
      const { admin } = context.users;
      const answer = await context.http(admin.token).call("POST", "/logs", { json: { name: context.name() } });
      expect(expectHttpRefusal(answer, "namespace_denied")).to.include('belongs to "default"');
    },
    "refuses a namespace that is none, or not there": async (context) => {
      for (const namespace of ["", "Upper", "-a", "a/b", "x".repeat(64), 7]) {
        const answer = await context.http().call("POST", "/logs", { json: { name: context.name(), namespace } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("namespace");
      }
      const json = { name: context.name(), namespace: context.freeNamespaceName() };
      expectHttpRefusal(await context.http().call("POST", "/logs", { json }), "not_found");
    },
  },
};

const listing: Table = {
  name: "GET /logs",
  entries: {
    "S16: lists in the order of names, page by page": async (context) => {
      const prefix = context.name();
      const names = ["a", "b", "ä", "\uffff", "\u{1F600}"].map((ending) => prefix + ending);
      for (const name of names.toReversed()) {
        await newLog(context, { name });
      }
      expect(await listed(context, 1000)).to.deep.equal(names);
      expect(await listed(context, 2)).to.deep.equal(names);
    },
    "finds one by its name": async (context) => {
      const log = await newLog(context);
      const find = async (name: unknown) =>
        answered(await context.httpElsewhere().call("GET", `/logs?name=${encodeURIComponent(String(name))}`));
      expect(await find(log.name)).to.deep.equal({ logs: [log], next_cursor: null });
      expect(await find(`${log.name}x`)).to.deep.equal({ logs: [], next_cursor: null });
    },
    "S18: refuses what is no page": async (context) => {
      const refused = ["limit=0", "limit=1001", "limit=-1", "limit=1e2", "limit=x", "limit=", "limit=1&limit=1"];
      const unknown = ["Limit=1", "nam=x&nam=%FF"];
      for (const query of [
        ...refused,
        ...unknown,
        "cursor=x",
        "cursor=%FF",
        "cursor=a&cursor=a",
        "name=%FF",
        "name=%",
      ]) {
        const message = expectHttpRefusal(await context.http().call("GET", `/logs?${query}`), "invalid_request");
        expect(message).to.include(query.split("=")[0]);
      }
    },
    "shows no log of a namespace that its users do not hold, and hides all that is done with it": async (context) => {
      const { admin } = context.users;
      const [first, second] = [await newLog(context), await newLog(context, { namespace: context.namespace })];
      expect(await listed(context, 1000)).to.include.members([first.name, second.name]);
      expect(await listed(context, 1, admin.token)).to.deep.equal([]);
      for (const { log_id: id, name, namespace } of [first, second]) {
        const http = context.http(admin.token);
        expect(answered(await http.call("GET", `/logs?name=${encodeURIComponent(String(name))}`))).to.deep.equal({
          logs: [],
          next_cursor: null,
        });
        expectHttpRefusal(await http.call("GET", `/logs?namespace=${namespace}`), "namespace_denied");
        for (const [method, path, json] of [
          ["GET", `/logs/${id}`, undefined],
          ["GET", `/logs/${id}/events`, undefined],
          ["POST", `/logs/${id}/append`, undefined],
          ["PATCH", `/logs/${id}`, { settings: {} }],
          ["DELETE", `/logs/${id}`, undefined],
        ] as const) {
          expectHttpRefusal(await http.call(method, path, { json }), "log_not_found");
        }
      }
    },
    "refuses a namespace that is none": async (context) => {
      for (const namespace of ["", "A", "-"]) {
        const answer = await context.http().call("GET", `/logs?namespace=${namespace}`);
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("namespace");
      }
    },
  },
};

const describing: Table = {
  name: "GET, PATCH, DELETE /logs/{log_id}",
  entries: {
    "describes the log, in any case of its id": async (context) => {
      const log = await newLog(context);
      const path = `/logs/${String(log.log_id).toUpperCase()}`;
      expect(answered(await context.httpElsewhere().call("GET", path))).to.deep.equal(log);
    },
    "changes the settings that are given": async (context) => {
      const log = await newLog(context, { settings: { "retention.max_bytes": 10 } });
      const path = `/logs/${log.log_id}`;
      const settings = { "queue.duplicate_window_secs": 0 };
      const changed = answered(await context.http().call("PATCH", path, { json: { settings } }));
      expect(changed).to.deep.equal({
        ...log,
        settings: { ...NO_SETTINGS, "queue.duplicate_window_secs": 0, "retention.max_bytes": 10 },
      });
      expect(answered(await context.httpElsewhere().call("GET", path))).to.deep.equal(changed);
      const none = { "queue.duplicate_window_secs": null, "retention.max_bytes": null };
      const reset = answered(await context.httpElsewhere().call("PATCH", path, { json: { settings: none } }));
      expect(reset.settings).to.deep.equal(NO_SETTINGS);
      expect(answered(await context.http().call("PATCH", path, { json: { settings: {} } }))).to.deep.equal(reset);
    },
    "refuses settings that are out of bounds, or missing": async (context) => {
      const path = await newLogPath(context);
      for (const [name, minimum, maximum] of BOUNDS) {
        for (const value of [minimum - 1, maximum + 1, "1", 1.5]) {
          const answer = await context.http().call("PATCH", path, { json: { settings: { [name]: value } } });
          expect(expectHttpRefusal(answer, "invalid_request")).to.include(name);
        }
      }
      for (const json of [{}, { settings: null }, { settings: [] }]) {
        expectHttpRefusal(await context.http().call("PATCH", path, { json }), "invalid_request");
      }
      for (const [json, name] of [
        [{ settings: { "retention.max_byte": 5 } }, "settings.retention.max_byte is unknown; .* retention.max_bytes"],
        [{ settings: {}, name: "x" }, "name is unknown: .*settings"],
      ] as const) {
        const answer = await context.http().call("PATCH", path, { json });
        expect(expectHttpRefusal(answer, "invalid_request")).to.match(new RegExp(`^${name}`));
      }
      expect(answered(await context.httpElsewhere().call("GET", path)).settings).to.deep.equal(NO_SETTINGS);
    },
    "is for the creator and for admins": async (context) => {
      const user = await context.newUser("member");
      const own = answered(
        await context.http(user.token).call("POST", "/logs", { json: { name: context.name() } }),
        201,
      );
      context.atEnd(() => context.http().call("DELETE", `/logs/${own.log_id}`));
      const other = context.http(context.users.member.token);
      expectHttpRefusal(
        await other.call("PATCH", `/logs/${own.log_id}`, { json: { settings: {} } }),
        "insufficient_role",
      );
      expectHttpRefusal(await other.call("DELETE", `/logs/${own.log_id}`), "insufficient_role");
      answered(await context.http(user.token).call("PATCH", `/logs/${own.log_id}`, { json: { settings: {} } }));
      answered(await context.http(user.token).call("DELETE", `/logs/${own.log_id}`));
      const byOwner = await newLog(context);
      expectHttpRefusal(await context.http(user.token).call("DELETE", `/logs/${byOwner.log_id}`), "insufficient_role");
    },
    "deletes the log with its events, once": async (context) => {
      const log = await newLog(context);
      const path = `/logs/${log.log_id}`;
      answered(await context.http().call("POST", `${path}/append`, { body: "x" }));
      expect(answered(await context.http().call("DELETE", path))).to.deep.equal({ log_id: log.log_id, deleted: true });
      expectHttpRefusal(await context.httpElsewhere().call("DELETE", path), "log_not_found");
      expectHttpRefusal(await context.httpElsewhere().call("GET", path), "log_not_found");
      expectHttpRefusal(await context.httpElsewhere().call("GET", `${path}/events`), "log_not_found");
      expectHttpRefusal(await context.httpElsewhere().call("POST", `${path}/append`), "log_not_found");
      const next = await newLog(context, { name: log.name });
      expect(await readEvents(context.http(), `/logs/${next.log_id}`)).to.deep.equal({ events: [], last_sequence: 0 });
    },
    "says which methods there are": async (context) => {
      for (const [method, path, allowed] of [
        ["DELETE", "/logs", "GET, POST, HEAD"],
        ["POST", ABSENT, "GET, PATCH, DELETE, HEAD"],
        ["GET", `${ABSENT}/append`, "POST"],
        ["PUT", `${ABSENT}/append_batch`, "POST"],
        ["POST", `${ABSENT}/events`, "GET, HEAD"],
      ] as const) {
        const answer = await context.http(null).call(method, path);
        expectHttpRefusal(answer, "method_not_allowed");
        expect(answer.headers.allow).to.equal(allowed);
      }
    },
  },
};

export const logs: readonly Table[] = [creating, listing, describing];
