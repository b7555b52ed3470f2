/**
 * AccountService: tokens from API keys and from passwords, API keys, and usage.
 *
 * Tables whose entries hash several passwords run alone: many hashes at a time keep a small machine busy for seconds.
 */

import { randomUUID } from "node:crypto";
import {
  type ApiKey,
  type CreateApiKeyResponse,
  type GetUsageResponse,
  UsageGranularity,
  type User,
} from "@quoin/proto";
import { expect } from "chai";
import {
  answered,
  appendEvents,
  type Connection,
  claimsOf,
  createApiKey,
  createdLog,
  exchangeToken,
  expectFields,
  expectReplay,
  getCluster,
  getUsage,
  getUser,
  isPositive,
  isUnixMs,
  isUuid,
  listApiKeys,
  login,
  putKey,
  replayed,
  requestPasswordReset,
  revokeApiKey,
  succeeded,
  type Table,
  type TestContext,
  verifyEmail,
} from "../harness/index.ts";

const WITHOUT_TOKEN = { metadata: { authorization: null } };
const API_KEY = /^qk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/;
const LIFE_SECONDS = 3_600n;
const DAY_SECONDS = 86_400n;
const MS_PER_DAY = 86_400_000n;
const NAME_CHARACTERS_MAX = 128;
const DAYS_MAX = 3_650n;
/** In a minute, with an unchanged configuration. */
const LOGIN_FAILURES_MAX = 10;
const PAGE_MAX = 1_000;
const ABSENT_ID = "00000000-0000-4000-8000-000000000000";

async function newKey(
  context: TestContext,
  fields: object = {},
  connection: Connection = context.here,
): Promise<ApiKey & { readonly key: string }> {
  const { apiKey, key } = succeeded(await connection.call(createApiKey, { name: context.name(), ...fields }));
  return { ...(apiKey as ApiKey), key };
}

const exchanging: Table = {
  name: "ExchangeToken",
  entries: {
    "gives without a token one that every member takes": async (context) => {
      const { key } = await newKey(context);
      const given = await context.ask(exchangeToken, { apiKey: key }, WITHOUT_TOKEN);
      expectFields(given, { accessToken: () => true, expiresInSeconds: LIFE_SECONDS });
      const { sub, access, namespaces } = claimsOf(given.accessToken);
      const { claims } = context.testRun;
      expect([sub, access, namespaces]).to.deep.equal([claims.sub, claims.access, claims.namespaces]);
      succeeded(await context.testRun.at(context.elsewhere.endpoint, given.accessToken).call(getCluster, {}));
      answered(await context.httpElsewhere(given.accessToken).call("GET", "/keys"));
    },
    "gives it the requested life, at most a day, never longer than that of the key": async (context) => {
      const { key, expiresAtMs } = await newKey(context, { expiresInDays: 1n });
      for (const [asked, life] of [
        [1n, 1n],
        [86_000n, 86_000n],
      ] as const) {
        const given = await context.ask(exchangeToken, { apiKey: key, expiresInSeconds: asked }, WITHOUT_TOKEN);
        expect(given.expiresInSeconds).to.equal(life);
      }
      const longest = await context.ask(exchangeToken, { apiKey: key, expiresInSeconds: DAY_SECONDS }, WITHOUT_TOKEN);
      expect(BigInt(claimsOf(longest.accessToken).exp) * 1000n <= expiresAtMs).to.equal(true);
      const { key: endless } = await newKey(context);
      for (const expiresInSeconds of [DAY_SECONDS, DAY_SECONDS + 1n, 2n ** 53n - 1n]) {
        const given = await context.ask(exchangeToken, { apiKey: endless, expiresInSeconds }, WITHOUT_TOKEN);
        expect(given.expiresInSeconds).to.equal(DAY_SECONDS);
      }
    },
    "refuses alike every key that gives no token": async (context) => {
      const { key, apiKeyId } = await newKey(context);
      await context.ask(revokeApiKey, { apiKeyId });
      const other = `${key.slice(0, -1)}${key.endsWith("x") ? "y" : "x"}`;
      const messages = new Set<string>();
      for (const apiKey of [key, other, "x"]) {
        messages.add((await context.refuses(exchangeToken, { apiKey }, "INVALID_API_KEY", WITHOUT_TOKEN)).message);
      }
      expect(messages.size).to.equal(1);
    },
  },
};

const loggingIn: Table = {
  name: "Login",
  alone: true,
  entries: {
    "gives without a token one that every member takes, and says whose it is": async (context) => {
      const { member } = context.users;
      const fields = { email: member.email.toUpperCase(), password: member.password };
      const given = await context.ask(login, fields, WITHOUT_TOKEN);
      expectFields(given, { accessToken: () => true, expiresInSeconds: LIFE_SECONDS, user: () => true });
      const connection = context.testRun.at(context.elsewhere.endpoint, given.accessToken);
      const { user } = succeeded(await connection.call(getUser, { userId: member.userId }));
      expect(given.user as User).to.deep.equal(user);
      expect(claimsOf(given.accessToken).sub).to.equal(member.userId);
    },
    "gives an unknown user and a wrong password the same refusal": async (context) => {
      const { email, password } = await context.newUser("viewer");
      const messages = new Set<string>();
      for (const wrong of [
        { email: context.testRun.accounts.newEmail(), password },
        { email: "no address", password },
        { email, password: `${password}x` },
      ]) {
        messages.add((await context.refuses(login, wrong, "INVALID_CREDENTIALS", WITHOUT_TOKEN)).message);
      }
      expect(messages.size).to.equal(1);
    },
    "says only to who knows the password that the address is not verified": async (context) => {
      const { email } = await context.testRun.accounts.make(context.http());
      const password = "correct horse battery";
      await context.refuses(login, { email, password: `${password}x` }, "INVALID_CREDENTIALS", WITHOUT_TOKEN);
      await context.refuses(login, { email, password }, "EMAIL_NOT_VERIFIED", WITHOUT_TOKEN);
    },
  },
};

const usingMailedTokens: Table = {
  name: "VerifyEmail and RequestPasswordReset",
  alone: true,
  entries: {
    "take without a token one that was mailed, once, at any member": async (context) => {
      const { accounts } = context.testRun;
      const { email } = await accounts.make(context.http(), { password: null });
      const token = await accounts.mailedToken(email);
      await context.refuses(verifyEmail, { token }, "BAD_FIELD", { ...WITHOUT_TOKEN, field: "password" });
      const messages = new Set<string>();
      const refuse = async (wrong: string) => {
        const fields = { token: wrong, password: "another battery" };
        const expected = { ...WITHOUT_TOKEN, field: "token" };
        messages.add((await context.refuses(verifyEmail, fields, "BAD_FIELD", expected)).message);
      };
      await refuse(`${token}x`);
      const password = "correct horse battery";
      expect(await context.ask(verifyEmail, { token, password }, WITHOUT_TOKEN)).to.deep.equal({});
      await refuse(token);
      await context.ask(login, { email, password }, WITHOUT_TOKEN);

      expect(await context.ask(requestPasswordReset, { email }, WITHOUT_TOKEN)).to.deep.equal({});
      const next = await accounts.mailedToken(email, token);
      await context.ask(verifyEmail, { token: next, password: "another battery" }, WITHOUT_TOKEN);
      await refuse(next);
      await context.refuses(login, { email, password }, "INVALID_CREDENTIALS", WITHOUT_TOKEN);
      await context.ask(login, { email, password: "another battery" }, WITHOUT_TOKEN);
      expect(messages.size).to.equal(1);
    },
    "have the same answer for an address without a user": async (context) => {
      const { accounts } = context.testRun;
      accounts.requireMail();
      const email = accounts.newEmail();
      expect(await context.ask(requestPasswordReset, { email }, WITHOUT_TOKEN)).to.deep.equal({});
    },
  },
};

const creatingKeys: Table = {
  name: "CreateApiKey",
  alone: true,
  entries: {
    "makes a key that acts for its maker, and shows it once": async (context) => {
      const { member } = context.users;
      const connection = context.testRun.at(context.here.endpoint, member.token);
      const made = succeeded(await connection.call(createApiKey, { name: "ci" })) as CreateApiKeyResponse;
      expectFields(made, { apiKey: () => true, key: (key: string) => API_KEY.test(key), revision: isPositive });
      expectFields(made.apiKey as ApiKey, {
        apiKeyId: isUuid,
        name: "ci",
        keyPrefix: (prefix: string) => prefix !== "" && made.key.startsWith(prefix),
        userId: member.userId,
        createdAtMs: isUnixMs,
        expiresAtMs: 0n,
        lastUsedAtMs: 0n,
        revokedAtMs: 0n,
      });
      const { accessToken } = await context.askElsewhere(exchangeToken, { apiKey: made.key });
      expect([claimsOf(accessToken).sub, claimsOf(accessToken).access]).to.deep.equal([
        member.userId,
        ["read", "write"],
      ]);
    },
    "takes names of 1 to 128 characters, and lives of up to 3,650 days": async (context) => {
      for (const name of [`<script>alert("1")</script>`, "\u0000\r\n\u2028", "\u{1F600}".repeat(NAME_CHARACTERS_MAX)]) {
        expect((await newKey(context, { name })).name).to.equal(name);
      }
      for (const name of ["", "x".repeat(NAME_CHARACTERS_MAX + 1)]) {
        await context.refuses(createApiKey, { name }, "BAD_FIELD", { field: "name" });
      }
      for (const expiresInDays of [1n, DAYS_MAX]) {
        const { createdAtMs, expiresAtMs } = await newKey(context, { expiresInDays });
        expect(expiresAtMs - createdAtMs).to.equal(expiresInDays * MS_PER_DAY);
      }
      for (const expiresInDays of [-1n, DAYS_MAX + 1n]) {
        await context.refuses(createApiKey, { name: "x", expiresInDays }, "BAD_FIELD", { field: "expires_in_days" });
      }
    },
    "answers a retry without the key, and makes no second one": async (context) => {
      const { userId, token } = await context.newUser("member");
      const [here, elsewhere] = [context.here, context.elsewhere].map(({ endpoint }) =>
        context.testRun.at(endpoint, token),
      ) as [Connection, Connection];
      const options = { metadata: { "request-id": randomUUID() } };
      const first = succeeded(await here.call(createApiKey, { name: "once" }, options));
      for (const connection of [elsewhere, here]) {
        const again = await connection.call(createApiKey, { name: "once" }, options);
        expect([again.code, again.response]).to.deep.equal(["OK", { ...first, key: "" }]);
        expect(replayed(again)).to.not.equal(undefined);
        await context.refuses(createApiKey, { name: "twice" }, "REQUEST_ID_REUSED", { ...options, connection });
      }
      const { keys } = await context.ask(listApiKeys, { userId });
      expect(keys.map(({ apiKeyId }) => apiKeyId)).to.deep.equal([first.apiKey?.apiKeyId]);
    },
  },
};

/** All keys, two a page. */
async function pagesOf(connection: Connection, fields: object): Promise<readonly ApiKey[]> {
  const found: ApiKey[] = [];
  let pageToken = "";
  do {
    const page = succeeded(await connection.call(listApiKeys, { pageSize: 2, ...fields, pageToken }));
    expectFields(page, { keys: () => true, nextPageToken: () => true, revision: isPositive });
    found.push(...page.keys);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

const listingKeys: Table = {
  name: "ListApiKeys",
  alone: true,
  entries: {
    "lists one's own keys by their creation, and revoked ones only when asked": async (context) => {
      const { userId, token } = await context.newUser("member");
      const connection = context.testRun.at(context.elsewhere.endpoint, token);
      expect(await pagesOf(connection, {})).to.deep.equal([]);
      const made: ApiKey[] = [];
      for (let count = 0; count < 5; count++) {
        const { key: _, ...shown } = await newKey(context, {}, context.testRun.at(context.here.endpoint, token));
        made.push(shown);
      }
      const [first, ...others] = made as [ApiKey];
      const { revokedAtMs } = succeeded(await connection.call(revokeApiKey, { apiKeyId: first.apiKeyId }));
      const all = [{ ...first, revokedAtMs }, ...others];
      expect(await pagesOf(connection, { includeRevoked: true })).to.deep.equal(all);
      expect(await pagesOf(connection, {})).to.deep.equal(others);
      expect(await pagesOf(context.here, { userId, includeRevoked: true })).to.deep.equal(all);
      const answer = await context.http(token).call("GET", "/keys");
      const { keys } = answered(answer) as { keys: { api_key_id: string }[] };
      expect(keys.map(({ api_key_id: id }) => id)).to.deep.equal(others.map(({ apiKeyId }) => apiKeyId));
      const { nextPageToken: pageToken } = succeeded(await connection.call(listApiKeys, { pageSize: 1 }));
      for (const fields of [{ pageToken, includeRevoked: true }, { pageToken: "x" }]) {
        await context.refuses(listApiKeys, fields, "BAD_FIELD", { connection, field: "page_token" });
      }
      await context.refuses(listApiKeys, { pageToken }, "BAD_FIELD", { field: "page_token" });
      for (const pageSize of [-1, PAGE_MAX + 1]) {
        await context.refuses(listApiKeys, { pageSize }, "BAD_FIELD", { field: "page_size" });
      }
    },
    "shows keys of others to administrators who have as much as these users": async (context) => {
      const { admin, adminNamespace, member: greater } = context.users;
      const member = await context.newUser("member", [adminNamespace]);
      const at = (token: string) => context.testRun.at(context.here.endpoint, token);
      const { apiKeyId } = await newKey(context, {}, at(member.token));
      const { apiKeyId: hidden } = await newKey(context, {}, at(greater.token));
      for (const fields of [{ all: true }, { userId: member.userId }]) {
        await context.refuses(listApiKeys, { ...fields, userId: admin.userId }, "ACCESS_DENIED", {
          connection: at(member.token),
        });
        const found = await pagesOf(at(admin.token), { ...fields, pageSize: PAGE_MAX });
        const ids = found.map((key) => key.apiKeyId);
        expect(ids).to.include(apiKeyId).and.not.include(hidden);
      }
      expect(await pagesOf(at(admin.token), { userId: greater.userId })).to.deep.equal([]);
    },
  },
};

const revoking: Table = {
  name: "RevokeApiKey",
  entries: {
    "ends the key and its tokens at every member, at once, and answers the same again": async (context) => {
      const { key, apiKeyId } = await newKey(context);
      const { accessToken } = await context.ask(exchangeToken, { apiKey: key });
      const connection = context.testRun.at(context.elsewhere.endpoint, accessToken);
      succeeded(await connection.call(getCluster, {}));
      const revoked = await context.ask(revokeApiKey, { apiKeyId: apiKeyId.toUpperCase() });
      expectFields(revoked, { revokedAtMs: isUnixMs, revision: isPositive });
      await context.refuses(getCluster, {}, "TOKEN_REVOKED", { connection });
      await context.refuses(exchangeToken, { apiKey: key }, "INVALID_API_KEY", WITHOUT_TOKEN);
      const again = await context.askElsewhere(revokeApiKey, { apiKeyId });
      expect(again.revokedAtMs).to.equal(revoked.revokedAtMs);
      await expectReplay(context, revokeApiKey, { apiKeyId: (await newKey(context)).apiKeyId });
    },
    "is for one's own keys, and for administrators who have as much as the key's user": async (context) => {
      const { admin, viewer } = context.users;
      const { apiKeyId } = await newKey(context);
      for (const { token } of [admin, viewer]) {
        const connection = context.testRun.at(context.here.endpoint, token);
        for (const id of [apiKeyId, ABSENT_ID]) {
          await context.refuses(revokeApiKey, { apiKeyId: id }, "API_KEY_NOT_FOUND", { connection });
        }
      }
    },
  },
};

/** The usage as `GET /billing/usage` answers it, without what other entries change at the same time. */
function periodOf({ startMs, endMs, requestsPerMinute }: GetUsageResponse): object {
  return {
    period: { start: new Date(Number(startMs)).toISOString(), end: new Date(Number(endMs)).toISOString() },
    limits: { requests_per_minute: Number(requestsPerMinute) },
  };
}

const SUMS = [
  "requests",
  "appendRequests",
  "eventsAppended",
  "bytesAppended",
  "kvOperations",
  "lockOperations",
  "memoryOperations",
] as const;

const usage: Table = {
  name: "GetUsage",
  alone: true,
  entries: {
    "counts what a key's token did, and what its namespace uses": async (context) => {
      const namespace = await context.newNamespace();
      const user = await context.newUser("member", [namespace]);
      const { apiKeyId, key } = await newKey(context, {}, context.testRun.at(context.here.endpoint, user.token));
      const { accessToken } = await context.ask(exchangeToken, { apiKey: key });
      const connection = context.testRun.at(context.elsewhere.endpoint, accessToken);
      const { logId } = await createdLog(context, { namespace }, connection);
      const batch = { logId, payloads: [Buffer.from("four"), Buffer.from("one")], idempotencyKey: "k" };
      succeeded(await connection.call(appendEvents, batch));
      succeeded(await connection.call(putKey, { namespace, key: "k" }));
      const answer = succeeded(
        await context.testRun
          .at(context.here.endpoint, accessToken)
          .call(getUsage, { granularity: UsageGranularity.HOUR }),
      );
      const [ofKey] = answer.apiKeys.filter((each) => each.apiKeyId === apiKeyId);
      expect([ofKey?.eventsAppended, ofKey?.bytesAppended]).to.deep.equal([2n, 7n]);
      expect((ofKey?.requests ?? 0n) >= 3n).to.equal(true);
      const { totals, namespaces } = answer;
      expect([
        totals?.appendRequests,
        totals?.eventsAppended,
        totals?.bytesAppended,
        totals?.kvOperations,
      ]).to.deep.equal([1n, 2n, 7n, 1n]);
      expect(namespaces.map((each) => each.namespace)).to.deep.equal([namespace]);
      const used = new Map(namespaces[0]?.quotas.map((quota) => [quota.name, quota]));
      expect([used.get("event_logs")?.used, used.get("keys")?.used]).to.deep.equal([1n, 1n]);
      expect([...used.values()].every(({ limit }) => limit > 0n)).to.equal(true);
    },
    "is of this month by days unless asked otherwise, and adds up": async (context) => {
      for (const [granularity, unitMs] of [
        [UsageGranularity.DAY, MS_PER_DAY],
        [UsageGranularity.HOUR, MS_PER_DAY / 24n],
      ] as const) {
        const answer = await context.ask(getUsage, { granularity });
        const now = new Date(Number(answer.asOfMs));
        const month = BigInt(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
        expectFields(answer, {
          startMs: month,
          endMs: answer.asOfMs,
          totals: () => true,
          buckets: () => true,
          apiKeys: () => true,
          namespaces: () => true,
          requestsPerMinute: (value: bigint) => value >= 0n,
          asOfMs: isUnixMs,
          revision: isPositive,
        });
        for (const name of SUMS) {
          const sum = answer.buckets.reduce((total, { counts }) => total + (counts?.[name] ?? 0n), 0n);
          expect(answer.totals?.[name], name).to.equal(sum);
        }
        const starts = answer.buckets.map(({ startMs }) => startMs);
        expect(starts.every((start, at) => start % unitMs === 0n && start > (starts[at - 1] ?? 0n))).to.equal(true);
        const ids = answer.apiKeys.map(({ apiKeyId }) => apiKeyId);
        expect(ids).to.deep.equal(ids.toSorted());
      }
    },
    "answers as GET /billing/usage does": async (context) => {
      const [fromMs, toMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 3, 11)].map(BigInt) as [bigint, bigint];
      const answer = await context.ask(getUsage, { fromMs: fromMs + 1n, toMs });
      expect([answer.startMs, answer.endMs]).to.deep.equal([fromMs, toMs]);
      const body = answered(await context.httpElsewhere().call("GET", "/billing/usage?from=2026-01-01&to=2026-04-11"));
      expect(body).to.deep.include(periodOf(answer));
      expect(Object.keys(body).sort()).to.deep.equal([
        ...["as_of", "buckets", "by_key", "limits", "namespaces", "period", "totals"],
      ]);
    },
    "refuses a period that is none, or longer than 100 days": async (context) => {
      const fromMs = BigInt(Date.UTC(2026, 0, 1));
      for (const wrong of [
        { fromMs, toMs: fromMs + 101n * MS_PER_DAY },
        { fromMs, toMs: fromMs - MS_PER_DAY },
        { fromMs: -1n, toMs: fromMs },
      ]) {
        await context.refuses(getUsage, wrong, "BAD_FIELD", { field: "from_ms" });
      }
      const unknown = { granularity: 7 as UsageGranularity };
      await context.refuses(getUsage, unknown, "BAD_FIELD", { field: "granularity" });
    },
  },
};

const limits: Table = {
  name: "Limits of logins by call",
  alone: true,
  entries: {
    "let 10 logins with one address fail, and then none succeed": async (context) => {
      const { email, password } = await context.newUser("viewer");
      let failures = 0;
      for (;;) {
        const answer = await context.here.call(login, { email, password: `${password}x` }, WITHOUT_TOKEN);
        if (answer.code !== "UNAUTHENTICATED") {
          await context.expectRefusal(answer, "RATE_LIMITED");
          break;
        }
        await context.expectRefusal(answer, "INVALID_CREDENTIALS");
        failures++;
        // The limit fills up again with time, once in each window.
        expect(failures).to.be.at.most(2 * LOGIN_FAILURES_MAX);
      }
      expect(failures).to.be.at.least(LOGIN_FAILURES_MAX);
      await context.refuses(login, { email: email.toUpperCase(), password }, "RATE_LIMITED", WITHOUT_TOKEN);
    },
  },
};

export const accountServiceTokens: readonly Table[] = [
  exchanging,
  loggingIn,
  usingMailedTokens,
  creatingKeys,
  listingKeys,
  revoking,
  usage,
  limits,
];
