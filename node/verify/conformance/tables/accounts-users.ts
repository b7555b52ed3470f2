/** Users: which roles may create, see, change and delete which users. */

import { randomUUID } from "node:crypto";
import { expect } from "chai";
import {
  answered,
  expectHttpRefusal,
  type HttpCode,
  type HttpConnection,
  isUuid,
  NotApplicable,
  type Table,
  type UserBody,
} from "../harness/index.ts";
import { refusesBadBodies } from "./accounts-login.ts";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const PASSWORD = "correct horse battery";

interface UserPage {
  readonly users: readonly UserBody[];
  readonly next_cursor: string | null;
}

async function everybody(connection: HttpConnection, limit: number): Promise<UserBody[]> {
  const users: UserBody[] = [];
  let cursor = "";
  do {
    const page = answered(await connection.call("GET", `/users?limit=${limit}${cursor}`)) as unknown as UserPage;
    expect(page.users.length).to.be.at.most(limit);
    users.push(...page.users);
    cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
  } while (cursor !== "");
  return users;
}

const creation: Table = {
  name: "POST /users",
  entries: {
    "creates a user that every member knows": async (context) => {
      const email = context.testRun.accounts.newEmail();
      const fields = { email, password: null, role: "viewer", namespaces: ["a", "*"] };
      const user = await context.testRun.accounts.make(context.http(), fields);
      expect({ ...user, user_id: "", created_at: "" }).to.deep.equal({
        user_id: "",
        email,
        role: "viewer",
        namespaces: ["a", "*"],
        status: "unverified",
        created_at: "",
      });
      expect([isUuid(user.user_id), INSTANT.test(user.created_at)]).to.deep.equal([true, true]);
      expect(answered(await context.httpElsewhere().call("GET", `/users/${user.user_id}`))).to.deep.equal(user);
      expect(await everybody(context.httpElsewhere(), 2)).to.deep.include(user);
      const again = { ...fields, email: email.toUpperCase() };
      expectHttpRefusal(await context.httpElsewhere().call("POST", "/users", { json: again }), "already_exists");
    },
    "keeps addresses as they are": async (context) => {
      const { accounts } = context.testRun;
      const email = `'or''='&#${accounts.newEmail()}`;
      const { user_id: userId } = await accounts.make(context.http(), { email, password: null });
      expect(answered(await context.httpElsewhere().call("GET", `/users/${userId}`)).email).to.equal(email);
    },
    "refuses what is no user, by the field": async (context) => {
      const right = {
        email: context.testRun.accounts.newEmail(),
        password: PASSWORD,
        role: "member",
        namespaces: ["*"],
      };
      for (const [field, value] of [
        ["email", undefined],
        ["email", null],
        ["email", ""],
        ["email", "nobody"],
        ["email", "<b>@example.com"],
        ["email", "a@b\r\nBcc: c@d"],
        ["email", `${"x".repeat(65)}@example.com`],
        ["password", "x".repeat(7)],
        ["password", "x".repeat(1_025)],
        ["password", "é".repeat(513)],
        ["password", 1],
        ["role", undefined],
        ["role", "root"],
        ["role", "constructor"],
        ["namespaces", undefined],
        ["namespaces", "prod-eu"],
        ["namespaces", [1]],
        ["namespaces", ["A"]],
        ["namespaces", ["a", "a"]],
        ["namespaces", ["a*"]],
        ["namespaces", ["x".repeat(64)]],
        ["namespaces", Array.from({ length: 1_001 }, (_, at) => `n${at}`)],
      ] as const) {
        const answer = await context.http().call("POST", "/users", { json: { ...right, [field]: value } });
        expect(expectHttpRefusal(answer, "invalid_request"), `${field} ${value}`).to.include(field);
      }
    },
    "gives no user rights that the creator does not hold": async (context) => {
      const { admin, adminNamespace } = context.users;
      const connection = context.http(admin.token);
      const email = context.testRun.accounts.newEmail();
      const attempt = (role: string, namespaces: readonly string[]) =>
        connection.call("POST", "/users", { json: { email, role, namespaces } });
      expectHttpRefusal(await attempt("owner", ["*"]), "insufficient_role");
      expectHttpRefusal(await attempt("member", ["*"]), "namespace_denied");
      expectHttpRefusal(await attempt("viewer", [adminNamespace, `${adminNamespace}x`]), "namespace_denied");
      await context.testRun.accounts.make(connection, { role: "admin", namespaces: [adminNamespace], password: null });
    },
    "refuses fields that it does not know, by name": async (context) => {
      const json = { email: context.testRun.accounts.newEmail(), role: "viewer", namespaces: [], namespace: "a" };
      const message = expectHttpRefusal(await context.http().call("POST", "/users", { json }), "invalid_request");
      expect(message).to.match(/^namespace is unknown; did you mean namespaces\?/);
    },
    "refuses bodies that are no JSON object, or too large": (context) =>
      refusesBadBodies(context.http(), "POST", "/users"),
  },
};

const others: Table = {
  name: "/users",
  entries: {
    "is for administrators alone, but for one's own record": async (context) => {
      const { viewer, member } = context.users;
      for (const { token, userId, email } of [viewer, member]) {
        const own = answered(await context.http(token).call("GET", `/users/${userId.toUpperCase()}`));
        expect(own).to.include({ user_id: userId, email });
        for (const [method, target] of [
          ["POST", "/users"],
          ["GET", "/users?limit=0"],
          ["GET", `/users/${context.testRun.claims.sub}`],
          ["GET", `/users/${randomUUID()}`],
          ["PATCH", "/users/1"],
          ["DELETE", "/users/1"],
        ] as const) {
          const request = method === "POST" || method === "PATCH" ? { body: "{" } : {};
          expectHttpRefusal(await context.http(token).call(method, target, request), "insufficient_role");
        }
      }
    },
    "distinguishes a path that is no id from the id of no user": async (context) => {
      const connection = context.http();
      for (const [method, json] of [
        ["GET", undefined],
        ["PATCH", {}],
        ["DELETE", undefined],
      ] as const) {
        for (const id of ["1", "%00", "%FF", `${randomUUID()}0`]) {
          expectHttpRefusal(await connection.call(method, `/users/${id}`, { json }), "invalid_request");
        }
        const id = randomUUID();
        expectHttpRefusal(await connection.call(method, `/users/${id}`, { json }), "user_not_found");
      }
      const bad = await connection.call("PATCH", `/users/${randomUUID()}`, { json: { role: "root" } });
      expectHttpRefusal(bad, "user_not_found");
    },
    "changes what is named, and leaves the rest": async (context) => {
      const { accounts } = context.testRun;
      const user = await context.newUser("member");
      const target = `/users/${user.userId}`;
      const before = answered(await context.http().call("GET", target));
      for (const [json, expected] of [
        [{}, {}],
        [{ role: null, namespaces: null, password: null, status: null, email: null }, {}],
        [{ role: "admin" }, { role: "admin" }],
        [{ namespaces: ["a", "b"] }, { namespaces: ["a", "b"] }],
        [{ status: "disabled" }, { status: "disabled" }],
        [{ status: "active", password: `${PASSWORD}2` }, { status: "active" }],
      ] as const) {
        Object.assign(before, expected);
        expect(answered(await context.http().call("PATCH", target, { json }))).to.deep.equal(before);
        expect(answered(await context.httpElsewhere().call("GET", target))).to.deep.equal(before);
      }
      const { email, password } = user;
      const old = await context.http(null).call("POST", "/auth/login", { json: { email, password } });
      expectHttpRefusal(old, "invalid_credentials");
      await accounts.logIn(context.httpElsewhere(null), { ...user, password: `${PASSWORD}2` });
      for (const [field, value] of [
        ["role", "root"],
        ["namespaces", ["A"]],
        ["status", "unverified"],
        ["password", "short"],
        ["email", accounts.newEmail()],
      ]) {
        const answer = await context.http().call("PATCH", target, { json: { [String(field)]: value } });
        expect(expectHttpRefusal(answer, "invalid_request")).to.include(field);
      }
      await refusesBadBodies(context.http(), "PATCH", target);
    },
    "does not activate a user before the address is verified": async (context) => {
      const { user_id: id } = await context.testRun.accounts.make(context.http(), { password: null });
      const change = (status: string) => context.http().call("PATCH", `/users/${id}`, { json: { status } });
      expect(expectHttpRefusal(await change("active"), "invalid_request")).to.include("status");
      expect(answered(await change("disabled"))).to.include({ status: "disabled" });
      expect(answered(await change("active")), "it is to be verified again").to.include({
        status: "unverified",
      });
    },
    "hides users who hold more": async (context) => {
      const { admin, adminNamespace, member } = context.users;
      const { testRun } = context;
      const connection = context.http(admin.token);
      const own = { role: "member", namespaces: [adminNamespace], password: null };
      const { user_id: weaker } = await testRun.accounts.make(connection, own);
      const owner = testRun.claims.sub;
      const refusals: readonly (readonly ["GET" | "PATCH" | "DELETE", string, object | undefined, HttpCode])[] = [
        ["GET", owner, undefined, "user_not_found"],
        ["PATCH", owner, { role: "viewer" }, "user_not_found"],
        ["PATCH", owner, { namespaces: [] }, "user_not_found"],
        ["PATCH", owner, { password: PASSWORD }, "user_not_found"],
        ["DELETE", owner, undefined, "user_not_found"],
        ["GET", member.userId, undefined, "user_not_found"],
        ["PATCH", member.userId, { status: "disabled" }, "user_not_found"],
        ["PATCH", member.userId, { namespaces: [] }, "user_not_found"],
        ["DELETE", member.userId, undefined, "user_not_found"],
        ["PATCH", weaker, { role: "owner" }, "insufficient_role"],
        ["PATCH", weaker, { namespaces: [adminNamespace, "*"] }, "namespace_denied"],
      ];
      for (const [method, id, json, code] of refusals) {
        const answer = await connection.call(method, `/users/${id}`, { json });
        expect(expectHttpRefusal(answer, code), `${method} ${JSON.stringify(json)}`).to.not.equal("");
      }
      const visible = (await everybody(connection, 1_000)).map(({ user_id }) => user_id);
      expect(visible).to.include.members([weaker, admin.userId]);
      expect(visible.filter((id) => id === owner || id === member.userId)).to.deep.equal([]);
      answered(await connection.call("PATCH", `/users/${weaker}`, { json: { role: "admin", namespaces: [] } }));
      expect(answered(await connection.call("DELETE", `/users/${weaker}`))).to.deep.equal({
        user_id: weaker,
        deleted: true,
      });
      expectHttpRefusal(await context.httpElsewhere().call("DELETE", `/users/${weaker}`), "user_not_found");
    },
    "refuses what is no page, by its name": async (context) => {
      for (const [query, name] of [
        ["limit=0", "limit"],
        ["limit=1001", "limit"],
        ["cursor=x", "cursor"],
      ]) {
        const answer = await context.http().call("GET", `/users?${query}`);
        expect(expectHttpRefusal(answer, "invalid_request")).to.include(name);
      }
      answered(await context.http().call("GET", "/users?limit=1000"));
    },
  },
};

const lastOwner: Table = {
  name: "The last owner",
  alone: true,
  entries: {
    "can be neither demoted, disabled nor deleted": async (context) => {
      const { sub } = context.testRun.claims;
      const owners = (await everybody(context.http(), 1_000)).filter(
        ({ role, status }) => role === "owner" && status === "active",
      );
      if (owners.length !== 1 || owners[0]?.user_id !== sub) {
        throw new NotApplicable("the user of the token is not the only owner");
      }
      const target = `/users/${sub}`;
      for (const json of [{ role: "admin" }, { role: "admin", namespaces: ["*"] }, { status: "disabled" }]) {
        expectHttpRefusal(await context.http().call("PATCH", target, { json }), "last_owner");
      }
      expectHttpRefusal(await context.http().call("DELETE", target), "last_owner");
      expect(answered(await context.httpElsewhere().call("GET", target))).to.deep.equal(owners[0]);
    },
  },
};

export const accountsUsers: readonly Table[] = [creation, others, lastOwner];
