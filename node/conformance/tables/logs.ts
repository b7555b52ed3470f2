/** Event logs: creation, listing, description, change and deletion, and who may see them. */

import { expect } from "chai";
import {
  answered,
  expectHttpRefusal,
  isUuid,
  newLog,
  newLogPath,
  type Place,
  readEvents,
  type Table,
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
async function listed(place: Place, limit: number, token?: string): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: unknown = "";
  do {
    const page = answered(await place.http(token).call("GET", `/logs?limit=${limit}&cursor=${cursor}`));
    expect(page).to.have.all.keys("logs", "next_cursor");
    const logs = page.logs as { name: string }[];
    expect(logs.length).to.be.at.most(limit);
    names.push(...logs.map(({ name }) => name));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return names.filter((name) => name.startsWith(place.prefix));
}

const creating: Table = {
  name: "POST /logs",
  entries: {
    "answers the whole log": async (place) => {
      const name = place.name();
      const log = await newLog(place, { name, ignored: { of: "no account" } });
      expect(log).to.deep.equal({
        ...{ log_id: log.log_id, name, namespace: "default", first_sequence: 1, last_sequence: 0 },
        ...{ event_count: 0, size_bytes: 0, created_at: log.created_at },
        ...{ created_by: place.visit.claims.sub, settings: NO_SETTINGS },
      });
      expect(isUuid(String(log.log_id)), String(log.log_id)).to.equal(true);
      expect(log.created_at).to.match(TIMESTAMP);
      expect(answered(await place.httpElsewhere().call("GET", `/logs/${log.log_id}`))).to.deep.equal(log);
    },
    "takes a namespace and settings": async (place) => {
      const settings = { "queue.duplicate_window_secs": 60, "retention.max_bytes": 1000, "no.such_setting": "x" };
      const log = await newLog(place, { namespace: place.namespace, settings });
      expect(log).to.deep.include({
        namespace: place.namespace,
        settings: { ...NO_SETTINGS, "queue.duplicate_window_secs": 60, "retention.max_bytes": 1000 },
      });
      expect(await newLog(place, { namespace: null, settings: null })).to.deep.include({
        namespace: "default",
        settings: NO_SETTINGS,
      });
    },
    "S19: gives names back as they are": async (place) => {
      const prefix = place.name();
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
        const { log_id } = await newLog(place, { name });
        const answer = await place.httpElsewhere().call("GET", `/logs/${log_id}`);
        expect(answered(answer).name).to.equal(name);
        expect([answer.headers["x-content-type-options"], answer.body.includes("\n")]).to.deep.equal([
          "nosniff",
          false,
        ]);
        const found = answered(await place.http().call("GET", `/logs?name=${encodeURIComponent(name)}`));
        expect((found.logs as { log_id: string }[]).map((log) => log.log_id)).to.deep.equal([log_id]);
      }
    },
    "refuses what is no name": async (place) => {
      for (const name of [undefined, null, "", 7, ["a"], "x".repeat(NAME_BYTES_MAX + 1), "é".repeat(129)]) {
        const answer = await place.http().call("POST", "/logs", { json: { name } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("name");
      }
      const surrogate = Buffer.from('{"name":"\\ud800"}');
      const headers = { "Content-Type": "application/json" };
      const answer = await place.http().call("POST", "/logs", { headers, body: surrogate });
      expect(expectHttpRefusal(answer, "invalid_request")).to.include("name");
    },
    "refuses what is no JSON object of its type": async (place) => {
      const headers = { "Content-Type": "application/json" };
      for (const body of ["", "{", "[]", "null", "1", '"name"', '{"name":"a"}x', Buffer.from([0xff])]) {
        expectHttpRefusal(await place.http().call("POST", "/logs", { headers, body }), "invalid_request");
      }
      for (const type of ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
        const answer = await place.http().call("POST", "/logs", { headers: { "Content-Type": type }, body: "{}" });
        expectHttpRefusal(answer, "unsupported_media_type");
      }
      const untyped = { headers: { "Content-Type": null }, body: JSON.stringify({ name: place.name() }) };
      expect((await place.http().call("POST", "/logs", untyped)).status, "without a type").to.equal(201);
      const large = Buffer.from(JSON.stringify({ name: "x".repeat(JSON_BYTES_MAX) }));
      for (const body of [large, [large]]) {
        expectHttpRefusal(await place.http().call("POST", "/logs", { headers, body }), "payload_too_large");
      }
    },
    "takes settings at their bounds, and refuses others by name": async (place) => {
      for (const [name, minimum, maximum] of BOUNDS) {
        for (const value of [minimum, maximum, null]) {
          expect((await newLog(place, { settings: { [name]: value } })).settings).to.have.own.property(name, value);
        }
        for (const value of [minimum - 1, maximum + 1, minimum + 0.5, String(minimum), true, [minimum]]) {
          const json = { name: place.name(), settings: { [name]: value } };
          const answer = await place.http().call("POST", "/logs", { json });
          expect(expectHttpRefusal(answer, "invalid_request")).to.include(name);
        }
      }
      for (const settings of [[], "x", 1]) {
        const answer = await place.http().call("POST", "/logs", { json: { name: place.name(), settings } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("settings");
      }
    },
    "refuses a name that a live log has, and no other": async (place) => {
      const name = place.name();
      const first = await newLog(place, { name });
      const again = () => place.httpElsewhere().call("POST", "/logs", { json: { name } });
      expectHttpRefusal(await again(), "already_exists");
      answered(await place.http().call("DELETE", `/logs/${first.log_id}`));
      const second = await newLog(place, { name });
      expect(second.log_id).to.not.equal(first.log_id);
      expectHttpRefusal(await again(), "already_exists");
    },
    "takes a name that a log of another namespace has, whatever its users may see": async (place) => {
      const adminNamespace = await place.newNamespace();
      const admin = await place.newUser("admin", [adminNamespace]);
      const log = await newLog(place);
      const json = { name: log.name, namespace: adminNamespace };
      const same = answered(await place.http(admin.token).call("POST", "/logs", { json }), 201);
      place.atEnd(() => place.http().call("DELETE", `/logs/${same.log_id}`));
      expect(same).to.include({ name: log.name, namespace: adminNamespace, created_by: admin.userId });
      expectHttpRefusal(await place.http(admin.token).call("POST", "/logs", { json }), "already_exists");
      const named = encodeURIComponent(String(log.name));
      const found = async (query: string, token?: string) =>
        (answered(await place.http(token).call("GET", `/logs?name=${named}${query}`)).logs as { log_id: string }[]).map(
          ({ log_id }) => log_id,
        );
      expect(await found("")).to.have.members([log.log_id, same.log_id]);
      expect(await found("&namespace=default")).to.deep.equal([log.log_id]);
      expect(await found("", admin.token)).to.deep.equal([same.log_id]);
    },
    "says why it refuses a request without a namespace to users without the namespace default": async (place) => {
      const { admin } = place.users;
      const answer = await place.http(admin.token).call("POST", "/logs", { json: { name: place.name() } });
      expect(expectHttpRefusal(answer, "namespace_denied")).to.include('belongs to "default"');
    },
    "refuses a namespace that is none, or not there": async (place) => {
      for (const namespace of ["", "Upper", "-a", "a/b", "x".repeat(64), 7]) {
        const answer = await place.http().call("POST", "/logs", { json: { name: place.name(), namespace } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("namespace");
      }
      const json = { name: place.name(), namespace: place.freeNamespaceName() };
      expectHttpRefusal(await place.http().call("POST", "/logs", { json }), "not_found");
    },
  },
};

const listing: Table = {
  name: "GET /logs",
  entries: {
    "S16: lists in the order of names, page by page": async (place) => {
      const prefix = place.name();
      const names = ["a", "b", "ä", "\uffff", "\u{1F600}"].map((ending) => prefix + ending);
      for (const name of names.toReversed()) {
        await newLog(place, { name });
      }
      expect(await listed(place, 1000)).to.deep.equal(names);
      expect(await listed(place, 2)).to.deep.equal(names);
    },
    "finds one by its name": async (place) => {
      const log = await newLog(place);
      const find = async (name: unknown) =>
        answered(await place.httpElsewhere().call("GET", `/logs?name=${encodeURIComponent(String(name))}`));
      expect(await find(log.name)).to.deep.equal({ logs: [log], next_cursor: null });
      expect(await find(`${log.name}x`)).to.deep.equal({ logs: [], next_cursor: null });
    },
    "S18: refuses what is no page": async (place) => {
      const refused = ["limit=0", "limit=1001", "limit=-1", "limit=1e2", "limit=x", "limit=", "limit=1&limit=1"];
      for (const query of [...refused, "cursor=x", "cursor=%FF", "cursor=a&cursor=a", "name=%FF", "name=%"]) {
        const message = expectHttpRefusal(await place.http().call("GET", `/logs?${query}`), "invalid_request");
        expect(message).to.include(query.split("=")[0]);
      }
      answered(await place.http().call("GET", "/logs?limit=1&other=%FF&other=2"));
    },
    "shows no log of a namespace that its users do not hold, and hides all that is done with it": async (place) => {
      const { admin } = place.users;
      const [first, second] = [await newLog(place), await newLog(place, { namespace: place.namespace })];
      expect(await listed(place, 1000)).to.include.members([first.name, second.name]);
      expect(await listed(place, 1, admin.token)).to.deep.equal([]);
      for (const { log_id: id, name, namespace } of [first, second]) {
        const http = place.http(admin.token);
        expect(answered(await http.call("GET", `/logs?name=${encodeURIComponent(String(name))}`))).to.deep.equal({
          ...{ logs: [], next_cursor: null },
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
    "refuses a namespace that is none": async (place) => {
      for (const namespace of ["", "A", "-"]) {
        const answer = await place.http().call("GET", `/logs?namespace=${namespace}`);
        expect(expectHttpRefusal(answer, "invalid_request")).to.include("namespace");
      }
    },
  },
};

const describing: Table = {
  name: "GET, PATCH, DELETE /logs/{log_id}",
  entries: {
    "describes the log, in any case of its id": async (place) => {
      const log = await newLog(place);
      const path = `/logs/${String(log.log_id).toUpperCase()}`;
      expect(answered(await place.httpElsewhere().call("GET", path))).to.deep.equal(log);
    },
    "changes the settings that are given": async (place) => {
      const log = await newLog(place, { settings: { "retention.max_bytes": 10 } });
      const path = `/logs/${log.log_id}`;
      const settings = { "queue.duplicate_window_secs": 0, "no.such_setting": 1 };
      const changed = answered(await place.http().call("PATCH", path, { json: { settings, name: "ignored" } }));
      expect(changed).to.deep.equal({
        ...log,
        settings: { ...NO_SETTINGS, "queue.duplicate_window_secs": 0, "retention.max_bytes": 10 },
      });
      expect(answered(await place.httpElsewhere().call("GET", path))).to.deep.equal(changed);
      const none = { "queue.duplicate_window_secs": null, "retention.max_bytes": null };
      const reset = answered(await place.httpElsewhere().call("PATCH", path, { json: { settings: none } }));
      expect(reset.settings).to.deep.equal(NO_SETTINGS);
      expect(answered(await place.http().call("PATCH", path, { json: { settings: {} } }))).to.deep.equal(reset);
    },
    "refuses settings that are out of bounds, or missing": async (place) => {
      const path = await newLogPath(place);
      for (const [name, minimum, maximum] of BOUNDS) {
        for (const value of [minimum - 1, maximum + 1, "1", 1.5]) {
          const answer = await place.http().call("PATCH", path, { json: { settings: { [name]: value } } });
          expect(expectHttpRefusal(answer, "invalid_request")).to.include(name);
        }
      }
      for (const json of [{}, { settings: null }, { settings: [] }]) {
        expectHttpRefusal(await place.http().call("PATCH", path, { json }), "invalid_request");
      }
      expect(answered(await place.httpElsewhere().call("GET", path)).settings).to.deep.equal(NO_SETTINGS);
    },
    "is for the creator and for admins": async (place) => {
      const user = await place.newUser("member");
      const own = answered(await place.http(user.token).call("POST", "/logs", { json: { name: place.name() } }), 201);
      place.atEnd(() => place.http().call("DELETE", `/logs/${own.log_id}`));
      const other = place.http(place.users.member.token);
      expectHttpRefusal(
        await other.call("PATCH", `/logs/${own.log_id}`, { json: { settings: {} } }),
        "insufficient_role",
      );
      expectHttpRefusal(await other.call("DELETE", `/logs/${own.log_id}`), "insufficient_role");
      answered(await place.http(user.token).call("PATCH", `/logs/${own.log_id}`, { json: { settings: {} } }));
      answered(await place.http(user.token).call("DELETE", `/logs/${own.log_id}`));
      const byOwner = await newLog(place);
      expectHttpRefusal(await place.http(user.token).call("DELETE", `/logs/${byOwner.log_id}`), "insufficient_role");
    },
    "deletes the log with its events, once": async (place) => {
      const log = await newLog(place);
      const path = `/logs/${log.log_id}`;
      answered(await place.http().call("POST", `${path}/append`, { body: "x" }));
      expect(answered(await place.http().call("DELETE", path))).to.deep.equal({ log_id: log.log_id, deleted: true });
      expectHttpRefusal(await place.httpElsewhere().call("DELETE", path), "log_not_found");
      expectHttpRefusal(await place.httpElsewhere().call("GET", path), "log_not_found");
      expectHttpRefusal(await place.httpElsewhere().call("GET", `${path}/events`), "log_not_found");
      expectHttpRefusal(await place.httpElsewhere().call("POST", `${path}/append`), "log_not_found");
      const next = await newLog(place, { name: log.name });
      expect(await readEvents(place.http(), `/logs/${next.log_id}`)).to.deep.equal({ events: [], last_sequence: 0 });
    },
    "says which methods there are": async (place) => {
      for (const [method, path, allowed] of [
        ["DELETE", "/logs", "GET, POST, HEAD"],
        ["POST", ABSENT, "GET, PATCH, DELETE, HEAD"],
        ["GET", `${ABSENT}/append`, "POST"],
        ["PUT", `${ABSENT}/append_batch`, "POST"],
        ["POST", `${ABSENT}/events`, "GET, HEAD"],
      ] as const) {
        const answer = await place.http(null).call(method, path);
        expectHttpRefusal(answer, "method_not_allowed");
        expect(answer.headers.allow).to.equal(allowed);
      }
    },
  },
};

export const logs: readonly Table[] = [creating, listing, describing];
