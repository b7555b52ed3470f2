/**
 * AccountService: users, who may create, see, change and delete them, and the retries of these calls.
 *
 * Tables whose entries hash several passwords run alone: many hashes at a time keep a small machine busy for seconds.
 */

import { randomUUID } from "node:crypto";
import { type CreateUserRequest, type User, UserRole, UserStatus } from "@quoin/proto";
import { expect } from "chai";
import {
  answered,
  createUser,
  deleteUser,
  expectFields,
  expectHttpRefusal,
  expectReplay,
  getUser,
  isPositive,
  isUnixMs,
  isUuid,
  listUsers,
  login,
  type Table,
  type TestContext,
  updateUser,
} from "../harness/index.ts";

const PASSWORD = "correct horse battery";
const PASSWORD_BYTES_MAX = 1_024;
const NAMESPACES_MAX = 1_000;
const PAGE_MAX = 1_000;
const ABSENT_ID = "00000000-0000-4000-8000-000000000000";
const ROLES = { 0: "", 1: "viewer", 2: "member", 3: "admin", 4: "owner" };
const STATUSES = { 0: "", 1: "unverified", 2: "active", 3: "disabled" };

/** Creates a user without a password, by the member under test. */
async function newUser(context: TestContext, fields: Partial<CreateUserRequest> = {}): Promise<User> {
  const usual = { email: context.testRun.accounts.newEmail(), role: UserRole.VIEWER };
  const { user } = await context.ask(createUser, { ...usual, ...fields });
  return user as User;
}

/** The user as `GET /users/{user_id}` answers it. */
function bodyOf(user: User): object {
  return {
    user_id: user.userId,
    email: user.email,
    role: ROLES[user.role as keyof typeof ROLES],
    namespaces: user.namespaces,
    status: STATUSES[user.status as keyof typeof STATUSES],
    created_at: new Date(Number(user.createdAtMs)).toISOString(),
  };
}

const creating: Table = {
  name: "CreateUser",
  alone: true,
  entries: {
    "creates a user that every member knows": async (context) => {
      const email = context.testRun.accounts.newEmail();
      const fields = { email, role: UserRole.MEMBER, namespaces: ["a", "*"] };
      const made = await context.ask(createUser, fields);
      expectFields(made, { user: () => true, revision: isPositive });
      expectFields(made.user as User, {
        userId: isUuid,
        email,
        role: UserRole.MEMBER,
        namespaces: ["a", "*"],
        status: UserStatus.UNVERIFIED,
        createdAtMs: isUnixMs,
      });
      const found = await context.askElsewhere(getUser, { userId: made.user?.userId ?? "" });
      expectFields(found, { user: made.user, revision: isPositive });
      const again = { ...fields, email: email.toUpperCase() };
      await context.refuses(createUser, again, "USER_EXISTS", { connection: context.elsewhere });
    },
    "refuses what is no user, by the field": async (context) => {
      const right = { email: context.testRun.accounts.newEmail(), password: PASSWORD, role: UserRole.MEMBER };
      for (const [field, wrong] of [
        ["email", { email: "" }],
        ["email", { email: "nobody" }],
        ["email", { email: "a@b\r\nBcc: c@d" }],
        ["password", { password: "" }],
        ["password", { password: "x".repeat(7) }],
        ["password", { password: "x".repeat(PASSWORD_BYTES_MAX + 1) }],
        ["password", { password: "é".repeat(PASSWORD_BYTES_MAX / 2 + 1) }],
        ["role", { role: UserRole.USER_ROLE_UNSPECIFIED }],
        ["role", { role: 5 as UserRole }],
        ["namespaces", { namespaces: ["A"] }],
        ["namespaces", { namespaces: [""] }],
        ["namespaces", { namespaces: ["a", "a"] }],
        ["namespaces", { namespaces: ["a*"] }],
        ["namespaces", { namespaces: ["x".repeat(64)] }],
        ["namespaces", { namespaces: Array.from({ length: NAMESPACES_MAX + 1 }, (_, at) => `n${at}`) }],
      ] as const) {
        await context.refuses(createUser, { ...right, ...(wrong as object) }, "BAD_FIELD", { field });
      }
      const namespaces = Array.from({ length: NAMESPACES_MAX }, (_, at) => `n${at}`);
      expect((await newUser(context, { namespaces })).namespaces).to.deep.equal(namespaces);
    },
    "takes passwords of 8 and of 1,024 bytes": async (context) => {
      const { accounts } = context.testRun;
      for (const password of ["x".repeat(8), "é".repeat(PASSWORD_BYTES_MAX / 2)]) {
        const { email } = await newUser(context, { password });
        const token = await accounts.mailedToken(email);
        answered(await context.httpElsewhere(null).call("POST", "/auth/verify", { json: { token } }));
        const { user } = await context.askElsewhere(login, { email, password });
        expect([user?.email, user?.status]).to.deep.equal([email, UserStatus.ACTIVE]);
      }
    },
    "gives no user rights that the creator does not have": async (context) => {
      const { admin, adminNamespace } = context.users;
      const connection = context.testRun.at(context.here.endpoint, admin.token);
      const email = context.testRun.accounts.newEmail();
      const owner = { email, role: UserRole.OWNER, namespaces: [adminNamespace] };
      await context.refuses(createUser, owner, "ACCESS_DENIED", { connection });
      for (const namespaces of [["*"], [adminNamespace, `${adminNamespace}x`]]) {
        const fields = { email, role: UserRole.MEMBER, namespaces };
        await context.refuses(createUser, fields, "NAMESPACE_DENIED", { connection });
      }
      const own = { email, role: UserRole.ADMIN, namespaces: [adminNamespace] };
      expect((await connection.call(createUser, own)).code).to.equal("OK");
    },
  },
};

const seeing: Table = {
  name: "GetUser",
  entries: {
    "answers one's own user with any token, in any case of the id": async (context) => {
      const { viewer, member } = context.users;
      const connection = context.testRun.at(context.here.endpoint, viewer.token);
      const { response } = await connection.call(getUser, { userId: viewer.userId.toUpperCase() });
      expectFields(response?.user as User, {
        userId: viewer.userId,
        email: viewer.email,
        role: UserRole.VIEWER,
        namespaces: ["*"],
        status: UserStatus.ACTIVE,
        createdAtMs: isUnixMs,
      });
      for (const userId of [member.userId, ABSENT_ID]) {
        await context.refuses(getUser, { userId }, "ACCESS_DENIED", { connection });
      }
    },
    "hides users who have more, as all calls do": async (context) => {
      const { admin, member } = context.users;
      const connection = context.testRun.at(context.here.endpoint, admin.token);
      for (const userId of [context.testRun.claims.sub, member.userId]) {
        await context.refuses(getUser, { userId }, "USER_NOT_FOUND", { connection });
        await context.refuses(updateUser, { userId, role: UserRole.VIEWER }, "USER_NOT_FOUND", { connection });
        await context.refuses(deleteUser, { userId }, "USER_NOT_FOUND", { connection });
      }
    },
    "answers as GET /users/{user_id} does, whichever interface made the user": async (context) => {
      const byHttp = await context.testRun.accounts.make(context.http(), { password: null, role: "admin" });
      const byCall = await newUser(context, { role: UserRole.OWNER, namespaces: ["*"] });
      const disabled = await newUser(context, { namespaces: ["a", "b"] });
      await context.ask(updateUser, { userId: disabled.userId, status: UserStatus.DISABLED });
      for (const userId of [byHttp.user_id, byCall.userId, disabled.userId, context.users.member.userId]) {
        const { user } = await context.ask(getUser, { userId });
        const body = answered(await context.httpElsewhere().call("GET", `/users/${userId}`));
        expect(body).to.deep.equal(bodyOf(user as User));
      }
    },
  },
};

const listing: Table = {
  name: "ListUsers",
  entries: {
    "lists users by their ids, page by page": async (context) => {
      const made = await Promise.all([newUser(context), newUser(context), newUser(context)]);
      const found: User[] = [];
      let pageToken = "";
      do {
        const page = await context.askElsewhere(listUsers, { pageSize: 5, pageToken });
        expectFields(page, { users: () => true, nextPageToken: () => true, revision: isPositive });
        expect(page.users.length).to.be.at.most(5);
        found.push(...page.users);
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      const ids = found.map(({ userId }) => userId);
      expect(ids).to.deep.equal(ids.toSorted());
      for (const user of made) {
        expect(found).to.deep.include(user);
      }
      const { nextPageToken } = await context.ask(listUsers, { pageSize: 1 });
      for (const token of ["x", `${nextPageToken}x`]) {
        await context.refuses(listUsers, { pageToken: token }, "BAD_FIELD", { field: "page_token" });
      }
      for (const pageSize of [-1, PAGE_MAX + 1]) {
        await context.refuses(listUsers, { pageSize }, "BAD_FIELD", { field: "page_size" });
      }
    },
    "shows only users whose role and namespaces the caller has": async (context) => {
      const { admin, adminNamespace, member } = context.users;
      const visible = await newUser(context, { namespaces: [adminNamespace] });
      const connection = context.testRun.at(context.here.endpoint, admin.token);
      const { response } = await connection.call(listUsers, { pageSize: PAGE_MAX });
      const ids = response?.users.map(({ userId }) => userId) ?? [];
      expect(ids).to.include.members([visible.userId, admin.userId]);
      expect(ids).to.not.include(member.userId).and.not.include(context.testRun.claims.sub);
    },
  },
};

const changing: Table = {
  name: "UpdateUser",
  alone: true,
  entries: {
    "changes what is given, and leaves the rest": async (context) => {
      const { accounts } = context.testRun;
      const user = await context.newUser("member");
      const { userId, email } = user;
      let expected = (await context.ask(getUser, { userId })).user as User;
      for (const [fields, change] of [
        [{}, {}],
        [{ role: UserRole.ADMIN }, { role: UserRole.ADMIN }],
        [{ namespaces: { names: ["a", "b"] } }, { namespaces: ["a", "b"] }],
        [{ namespaces: { names: [] } }, { namespaces: [] }],
        [{ status: UserStatus.DISABLED }, { status: UserStatus.DISABLED }],
        [{ status: UserStatus.ACTIVE, password: `${PASSWORD}2` }, { status: UserStatus.ACTIVE }],
      ] as const) {
        expected = { ...expected, ...(change as object) };
        const changed = await context.ask(updateUser, { userId, ...(fields as object) });
        expectFields(changed, { user: expected, revision: isPositive });
        expect((await context.askElsewhere(getUser, { userId })).user).to.deep.equal(expected);
      }
      await accounts.logIn(context.httpElsewhere(null), { ...user, password: `${PASSWORD}2` });
      await context.refuses(login, { email, password: user.password }, "INVALID_CREDENTIALS");
      for (const [field, wrong] of [
        ["role", { role: 5 as UserRole }],
        ["namespaces", { namespaces: { names: ["A"] } }],
        ["status", { status: UserStatus.UNVERIFIED }],
        ["password", { password: "short" }],
      ] as const) {
        await context.refuses(updateUser, { userId, ...(wrong as object) }, "BAD_FIELD", { field });
      }
    },
    "does not activate a user before the address is verified": async (context) => {
      const { userId } = await newUser(context);
      const active = { userId, status: UserStatus.ACTIVE };
      await context.refuses(updateUser, active, "BAD_FIELD", { field: "status" });
      const { user } = await context.ask(updateUser, { userId, status: UserStatus.DISABLED });
      expect(user?.status).to.equal(UserStatus.DISABLED);
      expect((await context.ask(updateUser, active)).user?.status).to.equal(UserStatus.UNVERIFIED);
    },
    "changes one's own password with any token, if the present one is given": async (context) => {
      const { userId, email, password, token } = await context.newUser("viewer");
      const connection = context.testRun.at(context.here.endpoint, token);
      const next = `${PASSWORD}, changed`;
      for (const wrong of [{}, { currentPassword: `${password}x` }]) {
        const refusal = { connection, field: "current_password" };
        await context.refuses(updateUser, { userId, password: next, ...wrong }, "BAD_FIELD", refusal);
      }
      const role = { userId, role: UserRole.MEMBER };
      await context.refuses(updateUser, role, "ACCESS_DENIED", { connection });
      const changed = await connection.call(updateUser, { userId, password: next, currentPassword: password });
      expect(changed.response?.user?.email, changed.message).to.equal(email);
      const elsewhere = context.testRun.at(context.elsewhere.endpoint, token);
      await context.refuses(getUser, { userId }, "TOKEN_REVOKED", { connection: elsewhere });
      expect((await context.askElsewhere(login, { email, password: next })).user?.userId).to.equal(userId);
    },
    "gives no rights that the caller does not have": async (context) => {
      const { admin, adminNamespace } = context.users;
      const { userId } = await newUser(context, { namespaces: [adminNamespace] });
      const connection = context.testRun.at(context.here.endpoint, admin.token);
      await context.refuses(updateUser, { userId, role: UserRole.OWNER }, "ACCESS_DENIED", { connection });
      const namespaces = { names: [adminNamespace, "*"] };
      await context.refuses(updateUser, { userId, namespaces }, "NAMESPACE_DENIED", { connection });
      const other = { userId, role: UserRole.ADMIN };
      expect((await connection.call(updateUser, other)).response?.user?.role).to.equal(UserRole.ADMIN);
    },
  },
};

const deleting: Table = {
  name: "DeleteUser",
  alone: true,
  entries: {
    "deletes the user, whose tokens end at every member": async (context) => {
      const { userId, token, email, password } = await context.newUser("member");
      expectFields(await context.ask(deleteUser, { userId }), { revision: isPositive });
      const connection = context.testRun.at(context.elsewhere.endpoint, token);
      await context.refuses(getUser, { userId }, "TOKEN_REVOKED", { connection });
      await context.refuses(getUser, { userId }, "USER_NOT_FOUND");
      await context.refuses(deleteUser, { userId }, "USER_NOT_FOUND", { connection: context.elsewhere });
      await context.refuses(login, { email, password }, "INVALID_CREDENTIALS");
      expectHttpRefusal(await context.http().call("GET", `/users/${userId}`), "user_not_found");
    },
  },
};

const repeating: Table = {
  name: "Replay by request id of operations on users",
  alone: true,
  entries: {
    "answers as the first time did, at any member": async (context) => {
      const { accounts } = context.testRun;
      await expectReplay(context, createUser, { email: accounts.newEmail(), role: UserRole.ADMIN, namespaces: ["a"] });
      await expectReplay(context, createUser, {
        email: accounts.newEmail(),
        password: PASSWORD,
        role: UserRole.VIEWER,
      });
      const { userId } = await newUser(context);
      await expectReplay(context, updateUser, { userId, namespaces: { names: ["b"] }, status: UserStatus.DISABLED });
      await expectReplay(context, updateUser, { userId, password: PASSWORD });
      await expectReplay(context, deleteUser, { userId });
    },
    "S13: refuses the id with another payload or for another operation, and does nothing": async (context) => {
      const options = { metadata: { "request-id": randomUUID() } };
      const fields = { email: context.testRun.accounts.newEmail(), role: UserRole.VIEWER };
      const { user } = await context.ask(createUser, fields, options);
      const userId = user?.userId ?? "";
      for (const connection of [context.here, context.elsewhere]) {
        const there = { ...options, connection };
        await context.refuses(createUser, { ...fields, role: UserRole.MEMBER }, "REQUEST_ID_REUSED", there);
        await context.refuses(createUser, { ...fields, password: PASSWORD }, "REQUEST_ID_REUSED", there);
        await context.refuses(deleteUser, { userId }, "REQUEST_ID_REUSED", there);
      }
      expect((await context.ask(getUser, { userId })).user).to.deep.equal(user);
    },
  },
};

export const accountService: readonly Table[] = [creating, seeing, listing, changing, deleting, repeating];
