import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { SingleReplica } from "../../../test/harness/index.ts";
import { cheapHashing, FoundedCluster, secrets } from "../../../test/index.ts";
import {
  Access,
  accountName,
  type Caller,
  type LoginOutcome,
  Logins,
  type PasswordHashing,
  RateLimiter,
} from "../../access/index.ts";
import { CoordinationError, readApiKey, readUser } from "../../state/index.ts";
import { ApiKeyMethods, type CreatedKey, type ListedKeys, type ListKeysRequest } from "./api-key-methods.ts";
import type { Call, Reply } from "./call.ts";
import { Executor } from "./executor.ts";
import { MailedTokenMethods, type PasswordResetSender } from "./mailed-token-methods.ts";
import {
  type CreateUserRequest,
  type DescribedUser,
  type ListedUsers,
  type UpdateUserRequest,
  UserMethods,
  type VerificationSender,
} from "./user-methods.ts";

const DEADLINE_MS = 15_000;
const GUESSES = { requests: 5, windowSecs: 900, burst: 5 };
const PASSWORD = "correct horse battery";
const NO_CHANGES: UpdateUserRequest = {
  password: null,
  currentPassword: null,
  role: null,
  namespaces: null,
  status: null,
};
const OWN_KEYS: ListKeysRequest = { pageSize: 0, pageToken: "", includeRevoked: false, userId: "", all: false };

/** Everything between the HTTP routes and the rows: real tokens, a real state, and the answers that clients get. */
describe("account methods", () => {
  let cluster: FoundedCluster;
  let replica: SingleReplica;
  let access: Access;
  let keys: ApiKeyMethods;
  let users: UserMethods;
  let mailedTokens: MailedTokenMethods;
  let logins: Logins;
  let guesses: RateLimiter;
  /** The last token by address, and the addresses of all mails. */
  let mails: Map<string, string>;
  let sent: string[];
  let mail: VerificationSender & PasswordResetSender;

  beforeEach(() => {
    cluster = new FoundedCluster();
    replica = new SingleReplica(cluster);
    access = new Access(cluster, cluster.clock);
    mails = new Map();
    sent = [];
    const member = { replica };
    const executor = new Executor(member);
    keys = new ApiKeyMethods(executor);
    logins = new Logins(cluster, cluster.clock, cheapHashing);
    const send = (_userId: string, email: string, token: string): void => {
      mails.set(email, token);
      sent.push(email);
    };
    mail = { canSend: true, sendVerification: send, sendPasswordReset: send };
    guesses = new RateLimiter(
      () => GUESSES,
      () => 0,
    );
    users = new UserMethods({ member, executor, mail, passwords: logins, hashing: cheapHashing, guesses });
    mailedTokens = new MailedTokenMethods({ member, clock: cluster.clock, hashing: cheapHashing, mail });
  });

  function verify(token: string, password: string | null = null, methods = mailedTokens): Promise<null> {
    return answerOf((reply) => methods.verifyEmail({ deadlineMs: DEADLINE_MS }, { token, password }, reply));
  }

  function requestReset(email: string, methods = mailedTokens): Promise<null> {
    return answerOf((reply) => methods.requestPasswordReset({ deadlineMs: DEADLINE_MS }, email, reply));
  }

  function callOf(caller: Caller): Call {
    return {
      principal: caller.principal,
      deadlineMs: DEADLINE_MS,
      trace: null,
      isGone: false,
      authorize: (need) => access.authorize(caller, need, DEADLINE_MS),
      recheck: (need) => access.recheck(caller, need),
      charge: () => undefined,
      hasRequestId: false,
      requestId: () => expect.fail("HTTP requests have no request id"),
    };
  }

  /** The same caller with a request id, whose last byte is given. */
  function withId(call: Call, last = 1): Call {
    const requestId = new Uint8Array(16).fill(last, 15);
    return { ...call, hasRequestId: true, requestId: () => requestId };
  }

  /** A caller with a token for this API key. */
  async function caller(apiKey = secrets.apiKey): Promise<Call> {
    const issued = await access.exchangeApiKey(apiKey, null, DEADLINE_MS);
    return issued === null ? expect.fail("the API key is refused") : callOf(await authenticated(issued.accessToken));
  }

  async function authenticated(token: string): Promise<Caller> {
    return access.authenticate([`Bearer ${token}`], DEADLINE_MS);
  }

  /** Returns the answer of a method. */
  function answerOf<Response>(ask: (reply: Reply<Response>) => void): Promise<Response> {
    return new Promise((resolve, reject) => {
      ask((answer) => (answer instanceof Error ? reject(answer) : resolve(answer as Response)));
    });
  }

  /** Returns the reason of a refusal and the field that it names. */
  async function refusalOf(answer: Promise<unknown>): Promise<string> {
    try {
      await answer;
    } catch (error) {
      if (error instanceof CoordinationError) {
        return [error.reason, error.details.get("field")].filter((part) => part !== undefined).join(" ");
      }
      throw error;
    }
    return "none";
  }

  async function userOf(ask: (reply: Reply<DescribedUser>) => void) {
    const { passwordHash: _hash, passwordVersion: _version, ...user } = (await answerOf(ask)).user;
    return user;
  }

  function createUser(call: Call, email: string, changes: Partial<CreateUserRequest> = {}) {
    const request = { email, password: PASSWORD, role: "member", namespaces: ["default"], ...changes };
    return userOf((reply) => users.createUser(call, request, reply));
  }

  function userAnswer(call: Call, userId: string) {
    return userOf((reply) => users.getUser(call, userId, reply));
  }

  function logIn(email: string, password: string): Promise<LoginOutcome> {
    const order = { client: "192.0.2.1", account: accountName(email), deadlineMs: DEADLINE_MS };
    return logins.login(email, password, order);
  }

  /** A user who has verified the address and logged in. */
  async function loggedIn(email: string, changes: Partial<CreateUserRequest> = {}): Promise<Call> {
    await createUser(await caller(), email, changes);
    await verify(mails.get(email) ?? "");
    const outcome = await logIn(email, PASSWORD);
    return outcome.kind === "accepted"
      ? callOf(await authenticated(outcome.issued.accessToken))
      : expect.fail(outcome.kind);
  }

  function createKey(call: Call, name = "ci", expiresInDays = 0n) {
    return answerOf<CreatedKey>((reply) => keys.createKey(call, { name, expiresInDays }, reply));
  }

  function listKeys(call: Call, changes: Partial<ListKeysRequest> = {}) {
    return answerOf<ListedKeys>((reply) => keys.listKeys(call, { ...OWN_KEYS, ...changes }, reply));
  }

  function revokeKey(call: Call, apiKeyId: string) {
    return answerOf((reply: Reply<unknown>) => keys.revokeKey(call, apiKeyId, reply));
  }

  describe("API keys", () => {
    it("are shown once, work, are listed without the key, and never work again after their revocation", async () => {
      const owner = await caller();
      const created = await createKey(owner, "<b>'; DROP TABLE keys; --", 2n);
      const createdAtMs = cluster.clock.wall;
      const expiresAtMs = createdAtMs + 2 * 86_400_000;
      const { apiKeyId } = created.apiKey;
      const shown = { apiKeyId, name: "<b>'; DROP TABLE keys; --", createdAtMs, expiresAtMs };
      expect(created.apiKey).include(shown);
      expect(created.key).match(/^qk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
      const withKey = await caller(created.key);
      const { keys: listed } = await listKeys(withKey);
      expect(listed.find((key) => key.apiKeyId === apiKeyId)).include({
        ...shown,
        prefix: created.key.slice(0, 11),
        lastUsedAtMs: 0,
        revokedAtMs: 0,
      });
      expect(JSON.stringify(listed)).not.include(created.key);
      cluster.clock.wall += 1_000;
      const revoked = await revokeKey(owner, apiKeyId);
      const revokedAtMs = cluster.clock.wall;
      expect(revoked).include({ apiKeyId, revokedAtMs });
      cluster.clock.wall += 1_000;
      expect(await revokeKey(owner, apiKeyId.toUpperCase())).include({ apiKeyId, revokedAtMs });
      expect(await refusalOf(listKeys(withKey))).equal("TOKEN_REVOKED");
      expect(await refusalOf(createKey(withKey))).equal("TOKEN_REVOKED");
      expect(await access.exchangeApiKey(created.key, null, DEADLINE_MS)).equal(null);
      expect((await listKeys(owner)).keys.map(({ name }) => name)).deep.equal(["owner"]);
      const all = await listKeys(owner, { includeRevoked: true });
      // Keys that were created at the same instant are in the order of their ids, which are random.
      const ends = new Map(all.keys.map(({ name, revokedAtMs: atMs }) => [name, atMs]));
      expect([all.keys.length, ends.get("owner"), ends.get(shown.name)]).deep.equal([2, 0, revokedAtMs]);
    });

    it("have names of 1 to 128 characters and 1 to 3,650 days, and ids that are UUIDs", async () => {
      const owner = await caller();
      for (const name of ["", "x".repeat(129), "\ud800"]) {
        expect(await refusalOf(createKey(owner, name))).equal("BAD_FIELD name");
      }
      for (const days of [-1n, 3_651n]) {
        expect(await refusalOf(createKey(owner, "ci", days))).equal("BAD_FIELD expires_in_days");
      }
      expect((await createKey(owner, "\u{1F600}".repeat(128), 3_650n)).apiKey.name).have.length(256);
      for (const id of ["", "1", `${randomUUID()}0`, "__proto__"]) {
        expect(await refusalOf(revokeKey(owner, id))).equal("BAD_FIELD api_key_id");
      }
      expect(await refusalOf(revokeKey(owner, randomUUID()))).equal("API_KEY_NOT_FOUND");
    });

    it("are listed page by page, with a cursor that is valid for this listing only", async () => {
      const owner = await caller();
      for (const name of ["a", "b", "c"]) {
        cluster.clock.wall++;
        await createKey(owner, name);
      }
      const first = await listKeys(owner, { pageSize: 3 });
      expect(first.keys.map(({ name }) => name)).deep.equal(["owner", "a", "b"]);
      const { nextPageToken: pageToken } = first;
      const second = await listKeys(owner, { pageSize: 3, pageToken });
      expect([second.keys.map(({ name }) => name), second.nextPageToken]).deep.equal([["c"], ""]);
      for (const other of [{ all: true }, { includeRevoked: true }, { userId: randomUUID() }]) {
        expect(await refusalOf(listKeys(owner, { pageToken, ...other }))).equal("BAD_FIELD page_token");
      }
      for (const pageSize of [-1, 1_001]) {
        expect(await refusalOf(listKeys(owner, { pageSize }))).equal("BAD_FIELD page_size");
      }
    });

    it("of other users are visible to administrators only", async () => {
      const ada = await loggedIn("ada@quoin.local");
      const owner = await caller();
      const [own, theirs] = [(await createKey(ada)).apiKey, (await createKey(owner)).apiKey];
      expect((await listKeys(ada)).keys.map(({ apiKeyId }) => apiKeyId)).deep.equal([own.apiKeyId]);
      const named = await listKeys(ada, { userId: ada.principal.subject.toUpperCase() });
      expect(named.keys).have.length(1);
      expect(await refusalOf(listKeys(ada, { all: true }))).equal("ACCESS_DENIED");
      expect(await refusalOf(listKeys(ada, { userId: owner.principal.subject }))).equal("ACCESS_DENIED");
      expect(await refusalOf(revokeKey(ada, theirs.apiKeyId))).equal("API_KEY_NOT_FOUND");
      expect((await listKeys(owner, { all: true })).keys).have.length(3);
      expect((await listKeys(owner, { userId: ada.principal.subject })).keys).have.length(1);
      await revokeKey(owner, own.apiKeyId);
      expect(readApiKey(cluster.state, own.apiKeyId)?.revokedAtMs).equal(cluster.clock.wall);
    });

    it("are not created for viewers, who list and revoke those that they have", async () => {
      const eve = await loggedIn("eve@quoin.local");
      const { apiKeyId: leaked } = (await createKey(eve, "leaked")).apiKey;
      const demoted = { ...NO_CHANGES, role: "viewer", namespaces: [] };
      const owner = await caller();
      await answerOf((reply: Reply<unknown>) => users.updateUser(owner, eve.principal.subject, demoted, reply));
      expect(await refusalOf(createKey(eve))).equal("ACCESS_DENIED");
      expect((await listKeys(eve)).keys.map(({ name }) => name)).deep.equal(["leaked"]);
      expect(await refusalOf(revokeKey(eve, leaked))).equal("none");
      expect((await listKeys(eve)).keys).deep.equal([]);
    });

    it("of others stay, at a member that learns of them by the barrier, for a token that is not one of administrators", async () => {
      const [ada, owner] = [await loggedIn("ada@quoin.local"), await caller()];
      const { apiKey } = await createKey(ada);
      const limited: Call = {
        ...owner,
        recheck: (need) => {
          if (need?.access === "admin") {
            throw new CoordinationError("ACCESS_DENIED", "the token does not give the access");
          }
          owner.recheck(need);
        },
      };
      const learn = cluster.removeRowOf(apiKey.apiKeyId);
      cluster.onBarrier = (done) => {
        learn();
        done(null);
      };
      expect(await refusalOf(revokeKey(limited, apiKey.apiKeyId))).equal("API_KEY_NOT_FOUND");
      expect(readApiKey(cluster.state, apiKey.apiKeyId)?.revokedAtMs).equal(0);
      expect(await revokeKey(owner, apiKey.apiKeyId)).include({ apiKeyId: apiKey.apiKeyId });
    });

    it("of others are revoked by an administrator whose new role this member learns of by the barrier", async () => {
      const [ada, owner] = [await loggedIn("ada@quoin.local"), await caller()];
      const { apiKey } = await createKey(ada);
      cluster.changeOwner({ role: "member" });
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ role: "owner" });
        done(null);
      };
      expect(await revokeKey(owner, apiKey.apiKeyId)).include({ apiKeyId: apiKey.apiKeyId });
    });

    it("are shown to the caller whose own attempt is found in a snapshot, and to no later attempt", async () => {
      const owner = withId(await caller());
      replica.onPropose = (command, done) => {
        const outcome = replica.execute(command);
        queueMicrotask(() => done(null, { ...outcome, replayed: "yes" }));
      };
      const first = await createKey(owner);
      expect(first.key).match(/^qk_/);
      const later = await createKey(owner);
      expect([later.apiKey.apiKeyId, later.key]).deep.equal([first.apiKey.apiKeyId, ""]);
    });

    it("are listed from the state after the barrier", async () => {
      const owner = await caller();
      cluster.onBarrier = (done) => {
        cluster.changeOwner({ status: "disabled" });
        done(null);
      };
      expect(await refusalOf(listKeys(owner))).equal("TOKEN_REVOKED");
    });
  });

  describe("users", () => {
    it("are created, verify their address, log in, and are shown without the hash of their password", async () => {
      const owner = await caller();
      const created = await createUser(owner, "Ada@quoin.local");
      const shown = {
        userId: created.userId,
        email: "Ada@quoin.local",
        role: "member",
        namespaces: ["default"],
        status: "unverified",
        createdAtMs: cluster.clock.wall,
      };
      expect(created).deep.equal(shown);
      expect((await logIn("ada@quoin.local", PASSWORD)).kind).equal("email-not-verified");
      const token = mails.get("Ada@quoin.local") ?? "";
      expect(await verify(token)).equal(null);
      const again = verify(token);
      expect(await refusalOf(again)).equal("BAD_FIELD token");
      expect(await userAnswer(owner, created.userId)).deep.equal({ ...shown, status: "active" });
      const outcome = await logIn("ada@quoin.local", PASSWORD);
      expect(outcome.kind === "accepted" && outcome.issued.expiresInSecs).equal(3_600);
      expect(outcome.kind === "accepted" && outcome.user).deep.include({ ...shown, status: "active" });
    });

    it("set their password with the verification if none is set", async () => {
      await createUser(await caller(), "ada@quoin.local", { password: null });
      const token = mails.get("ada@quoin.local") ?? "";
      const verifyWith = (password: string | null) => verify(token, password);
      expect(await refusalOf(verifyWith(null))).equal("BAD_FIELD password");
      expect(await refusalOf(verifyWith("short"))).equal("BAD_FIELD password");
      await verifyWith("another battery");
      expect((await logIn("ada@quoin.local", "another battery")).kind).equal("accepted");
    });

    it("have fields that are checked before anything is hashed or sent", async () => {
      const owner = await caller();
      const bad: readonly (readonly [string, Partial<CreateUserRequest>])[] = [
        ["email", { email: "no address" }],
        ["email", { email: "a@b\r\nBcc: c@d" }],
        ["password", { password: "short" }],
        ["role", { role: "root" }],
        ["role", { role: "constructor" }],
        ["namespaces", { namespaces: ["Upper"] }],
        ["namespaces", { namespaces: ["a", "a"] }],
        ["namespaces", { namespaces: ["a*"] }],
        ["namespaces", { role: "owner", namespaces: ["default"] }],
      ];
      for (const [field, changes] of bad) {
        expect(await refusalOf(createUser(owner, "ada@quoin.local", changes))).equal(`BAD_FIELD ${field}`);
      }
      expect(mails.size).equal(0);
      const id = cluster.ownerId;
      for (const [field, userId, changes] of [
        ["user_id", "x", {}],
        ["role", id, { role: "" }],
        ["status", id, { status: "unverified" }],
        ["password", id, { password: "short" }],
        ["namespaces", id, { namespaces: [""] }],
      ] as const) {
        const request = { ...NO_CHANGES, ...changes };
        const answer = answerOf((reply: Reply<unknown>) => users.updateUser(owner, userId, request, reply));
        expect(await refusalOf(answer)).equal(`BAD_FIELD ${field}`);
      }
    });

    it("are changed and deleted by administrators; refusals have the reason from the state", async () => {
      const owner = await caller();
      const { userId } = await createUser(owner, "ada@quoin.local");
      expect(await refusalOf(createUser(owner, "ADA@quoin.local"))).equal("USER_EXISTS");
      expect(mails.size, "only one mail was sent").equal(1);
      await verify(mails.get("ada@quoin.local") ?? "");
      const update = (id: string, changes: Partial<UpdateUserRequest>) => {
        return userOf((reply) => users.updateUser(owner, id, { ...NO_CHANGES, ...changes }, reply));
      };
      expect(await update(userId, { role: "viewer", namespaces: ["x"] })).deep.include({ role: "viewer" });
      await update(userId, { password: "another battery", status: "disabled" });
      expect((await logIn("ada@quoin.local", "another battery")).kind).equal("invalid-credentials");
      expect(await refusalOf(update(cluster.ownerId, { role: "admin" }))).equal("LAST_OWNER");
      expect(await refusalOf(update(randomUUID(), {}))).equal("USER_NOT_FOUND");
      const remove = () => answerOf((reply: Reply<unknown>) => users.deleteUser(owner, userId, reply));
      expect(await remove()).include({ kind: "delete-user", userId });
      expect(await refusalOf(remove())).equal("USER_NOT_FOUND");
      expect(await refusalOf(userAnswer(owner, userId))).equal("USER_NOT_FOUND");
      expect(readUser(cluster.state, userId)).equal(undefined);
    });

    it("are listed page by page", async () => {
      const owner = await caller();
      for (const name of ["a", "b"]) {
        await createUser(owner, `${name}@quoin.local`, { password: null });
      }
      const seen: string[] = [];
      let pageToken = "";
      do {
        const asked = { pageSize: 2, pageToken };
        const page: ListedUsers = await answerOf<ListedUsers>((reply) => users.listUsers(owner, asked, reply));
        seen.push(...page.users.map(({ email }) => email));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen.sort()).deep.equal([secrets.email, "a@quoin.local", "b@quoin.local"].sort());
    });

    it("change their own password if they know the present one, and log in again", async () => {
      const ada = await loggedIn("ada@quoin.local");
      const userId = ada.principal.subject.toUpperCase();
      const change = (changes: Partial<UpdateUserRequest>, by = ada) => {
        const request = { ...NO_CHANGES, password: `${PASSWORD} 2`, ...changes };
        return userOf((reply) => users.updateUser(by, userId, request, reply));
      };
      expect(await refusalOf(change({}))).equal("BAD_FIELD current_password");
      expect(await refusalOf(change({ currentPassword: "wrong" }))).equal("BAD_FIELD current_password");
      expect(await refusalOf(change({ currentPassword: PASSWORD, password: "short" }))).equal("BAD_FIELD password");
      expect(await refusalOf(change({ currentPassword: PASSWORD, role: "owner" }))).equal("ACCESS_DENIED");
      const { key } = await createKey(ada);
      expect((await change({ currentPassword: PASSWORD })).email).equal("ada@quoin.local");
      expect(await refusalOf(userAnswer(ada, userId))).equal("TOKEN_REVOKED");
      expect(await refusalOf(createKey(ada))).equal("TOKEN_REVOKED");
      expect((await userAnswer(await caller(key), userId)).status).equal("active");
      expect((await logIn("ada@quoin.local", PASSWORD)).kind).equal("invalid-credentials");
      const again = await logIn("ada@quoin.local", `${PASSWORD} 2`);
      const { accessToken } = again.kind === "accepted" ? again.issued : expect.fail(again.kind);
      expect((await userAnswer(callOf(await authenticated(accessToken)), userId)).status).equal("active");
    });

    it("may give their own password wrong only a few times, whatever else they change", async () => {
      const ada = await loggedIn("ada@quoin.local");
      const { subject } = ada.principal;
      const guess = (currentPassword: string, id = subject) => {
        const request = { ...NO_CHANGES, password: `${PASSWORD} 2`, currentPassword };
        return refusalOf(userOf((reply) => users.updateUser(ada, id, request, reply)));
      };
      for (let attempt = 0; attempt < GUESSES.requests; attempt++) {
        expect(await guess("wrong", attempt === 0 ? subject.toUpperCase() : subject)).equal(
          "BAD_FIELD current_password",
        );
      }
      expect(await guess(PASSWORD)).equal("RATE_LIMITED");
      expect(guesses.allowance(subject)?.remaining).equal(0);
    });

    it("get the answer again if they change their own password twice with one request id", async () => {
      const ada = withId(await caller((await createKey(await loggedIn("ada@quoin.local"))).key));
      const change = (password: string) => {
        const request = { ...NO_CHANGES, password, currentPassword: PASSWORD };
        return userOf((reply) => users.updateUser(ada, ada.principal.subject, request, reply));
      };
      const changed = await change(`${PASSWORD} 2`);
      for (let retry = 0; retry <= GUESSES.requests; retry++) {
        expect(await change(`${PASSWORD} 2`)).deep.equal(changed);
      }
      expect(await refusalOf(change(`${PASSWORD} 3`))).equal("REQUEST_ID_REUSED");
      expect((await logIn("ada@quoin.local", `${PASSWORD} 2`)).kind).equal("accepted");
      const again = { ...NO_CHANGES, password: `${PASSWORD} 3`, currentPassword: PASSWORD };
      const other = answerOf((reply: Reply<unknown>) =>
        users.updateUser(withId(ada, 2), ada.principal.subject, again, reply),
      );
      expect(await refusalOf(other)).equal("BAD_FIELD current_password");
    });

    it("are created once, whatever password a retry has, and get a mail although the first answer was lost", async () => {
      const owner = withId(await caller());
      replica.onPropose = (command, done) => {
        replica.execute(command);
        queueMicrotask(() => done(new CoordinationError("DEADLINE", "too late", { outcome: "unknown" }), null));
      };
      expect(await refusalOf(createUser(owner, "ada@quoin.local"))).equal("DEADLINE");
      expect(sent).deep.equal([]);
      replica.onPropose = (command, done) => {
        const outcome = replica.execute(command);
        queueMicrotask(() => done(null, outcome));
      };
      const { userId } = await createUser(owner, "ada@quoin.local");
      expect(sent).deep.equal(["ada@quoin.local"]);
      expect(await refusalOf(createUser(owner, "ada@quoin.local", { password: "another one" }))).equal(
        "REQUEST_ID_REUSED",
      );
      await verify(mails.get("ada@quoin.local") ?? "");
      expect(readUser(cluster.state, userId)?.status).equal("active");
      expect((await createUser(owner, "ada@quoin.local")).userId).equal(userId);
      expect(sent, "no mail to a verified user").deep.equal(["ada@quoin.local"]);
    });

    it("are not shown in the answer to a retry of an administrator who may not manage them any more", async () => {
      const { userId } = await createUser(await caller(), "ada@quoin.local");
      const owner = withId(await caller());
      const change = () => userOf((reply) => users.updateUser(owner, userId, { ...NO_CHANGES, role: "viewer" }, reply));
      expect((await change()).role).equal("viewer");
      expect((await change()).role).equal("viewer");
      cluster.changeOwner({ role: "admin", namespaces: ["elsewhere"] });
      const refused = await change().catch((error: unknown) => error);
      expect(refused).include({ reason: "USER_NOT_FOUND", outcome: "unknown" });
    });

    it("get another password from an administrator, who need not know the present one", async () => {
      const [ada, owner] = [await loggedIn("ada@quoin.local"), await caller()];
      const request = { ...NO_CHANGES, password: `${PASSWORD} 2` };
      await userOf((reply) => users.updateUser(owner, ada.principal.subject, request, reply));
      expect(await refusalOf(listKeys(ada))).equal("TOKEN_REVOKED");
    });

    it("are hidden from callers who are not administrators, whether they exist or not (S43)", async () => {
      const ada = await loggedIn("ada@quoin.local");
      for (const userId of [cluster.ownerId, randomUUID(), "no UUID"]) {
        expect(await refusalOf(userAnswer(ada, userId))).equal("ACCESS_DENIED");
        const update = answerOf((reply: Reply<unknown>) => users.updateUser(ada, userId, NO_CHANGES, reply));
        expect(await refusalOf(update)).equal("ACCESS_DENIED");
      }
      expect(await refusalOf(createUser(ada, "no address"))).equal("ACCESS_DENIED");
      expect(mails.size).equal(1);
    });
  });

  describe("a forgotten password", () => {
    const email = "ada@quoin.local";
    const other = `${PASSWORD} 2`;

    async function resetToken(): Promise<string> {
      expect(await requestReset(email.toUpperCase())).equal(null);
      return mails.get(email) ?? expect.fail("there is no mail");
    }

    it("is replaced with the token of a mail, once, and ends the logins of the user", async () => {
      const ada = await loggedIn(email);
      const token = await resetToken();
      for (const [password, reason] of [
        [null, "BAD_FIELD password"],
        ["short", "BAD_FIELD password"],
      ] as const) {
        expect(await refusalOf(verify(token, password))).equal(reason);
      }
      expect(await verify(token, other)).equal(null);
      expect(await refusalOf(listKeys(ada))).equal("TOKEN_REVOKED");
      expect((await logIn(email, PASSWORD)).kind).equal("invalid-credentials");
      expect((await logIn(email, other)).kind).equal("accepted");
      const again = verify(token, PASSWORD);
      expect(await refusalOf(again)).equal("BAD_FIELD token");
      const next = await resetToken();
      expect(await verify(next, PASSWORD)).equal(null);
      expect((await logIn(email, PASSWORD)).kind).equal("accepted");
    });

    it("needs a token that was made for the user, within an hour, and unchanged", async () => {
      await loggedIn(email);
      await loggedIn("bob@quoin.local");
      const token = await resetToken();
      await requestReset("bob@quoin.local");
      const [userId = "", until = "", code = ""] = token.split(".");
      const [bobsId = ""] = mails.get("bob@quoin.local")?.split(".") ?? [];
      const later = (Number.parseInt(until, 36) + 1).toString(36);
      const changedCode = `${code.slice(0, -1)}${code.endsWith("A") ? "E" : "A"}`;
      for (const bad of [
        `${bobsId}.${until}.${code}`,
        `${userId}.${later}.${code}`,
        `${userId}.0${until}.${code}`,
        `${userId}.${until}.${changedCode}`,
        `${userId}.${code}`,
        `${token} `,
      ]) {
        const verified = verify(bad, other);
        expect(await refusalOf(verified), bad).equal("BAD_FIELD token");
      }
      cluster.clock.wall += 3_600_000;
      const late = verify(token, other);
      expect(await refusalOf(late)).equal("BAD_FIELD token");
      cluster.clock.wall -= 1;
      expect(await verify(token, other)).equal(null);
    });

    it("is not replaced if the user got another one or was disabled while the new one was hashed", async () => {
      const ada = await loggedIn(email);
      const owner = await caller();
      const change = (changes: Partial<UpdateUserRequest>) =>
        userOf((reply) => users.updateUser(owner, ada.principal.subject, { ...NO_CHANGES, ...changes }, reply));
      for (const changes of [{ password: other }, { status: "disabled" }]) {
        const token = await resetToken();
        const hashing: PasswordHashing = {
          run: async (lane, order, work) => {
            await change(changes);
            return await cheapHashing.run(lane, order, work);
          },
        };
        const slow = new MailedTokenMethods({ member: { replica }, clock: cluster.clock, hashing, mail });
        const verified = verify(token, `${PASSWORD} 3`, slow);
        expect(await refusalOf(verified)).equal("BAD_FIELD token");
      }
      expect((await logIn(email, `${PASSWORD} 3`)).kind).equal("invalid-credentials");
    });

    it("is answered the same for addresses without an active user, which get no mail (S42)", async () => {
      const owner = await caller();
      await createUser(owner, "unverified@quoin.local");
      const ada = await loggedIn(email);
      const disable = { ...NO_CHANGES, status: "disabled" };
      await userOf((reply) => users.updateUser(owner, ada.principal.subject, disable, reply));
      const before = sent.length;
      for (const address of ["nobody@quoin.local", "unverified@quoin.local", email]) {
        expect(await requestReset(address)).equal(null);
      }
      expect(sent.length).equal(before);
      expect(await refusalOf(requestReset("no address"))).equal("BAD_FIELD email");
    });

    it("causes three mails to an address in a quarter of an hour, with tokens that all work", async () => {
      await loggedIn(email);
      const before = sent.length;
      const tokens = [await resetToken(), await resetToken(), await resetToken(), await resetToken()];
      expect(sent.length - before).equal(3);
      cluster.clock.monotonic += 300_000;
      await resetToken();
      expect(sent.length - before).equal(4);
      const verified = verify(tokens[0] ?? "", other);
      expect(await verified).equal(null);
    });

    it("is refused by a member that sends no mail", async () => {
      mail = { ...mail, canSend: false };
      const options = { member: { replica }, clock: cluster.clock, hashing: cheapHashing, mail };
      const request = requestReset(email, new MailedTokenMethods(options));
      expect(await refusalOf(request)).equal("NOT_SERVED");
    });
  });

  it("answer NO_LEADER when this member serves no cluster", async () => {
    const owner = await caller();
    const nowhere = new ApiKeyMethods(new Executor({ replica: null }));
    const create = answerOf((reply: Reply<unknown>) =>
      nowhere.createKey(owner, { name: "a", expiresInDays: 0n }, reply),
    );
    expect(await refusalOf(create)).equal("NO_LEADER");
    const options = { member: { replica: null }, clock: cluster.clock, hashing: cheapHashing, mail };
    const mailed = new MailedTokenMethods(options);
    const verified = verify("", null, mailed);
    expect(await refusalOf(requestReset("ada@quoin.local", mailed))).equal("NO_LEADER");
    expect(await refusalOf(verified)).equal("NO_LEADER");
  });
});
