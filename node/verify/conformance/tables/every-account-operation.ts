/** What `every-operation.ts` requires of all operations, for those on users, API keys and usage. */

import { UserRole } from "@quoin/proto";
import {
  type Connection,
  createApiKey,
  createUser,
  deleteUser,
  exchangeToken,
  getUsage,
  getUser,
  listApiKeys,
  listUsers,
  login,
  requestPasswordReset,
  revokeApiKey,
  succeeded,
  type Table,
  type TestContext,
  updateUser,
  verifyEmail,
} from "../harness/index.ts";
import { ABSENT_ID, tableOf } from "./every-operation.ts";

async function newUser(context: TestContext): Promise<{ userId: string }> {
  const fields = { email: context.testRun.accounts.newEmail(), role: UserRole.VIEWER };
  const { user } = await context.ask(createUser, fields);
  return { userId: user?.userId ?? "" };
}

async function newKey(context: TestContext, connection: Connection = context.here) {
  return succeeded(await connection.call(createApiKey, { name: context.name() }));
}

const MS_OF_101_DAYS = 101n * 86_400_000n;

const OF_USER = {
  valid: newUser,
  invalid: { fields: { userId: "no UUID" }, field: "user_id" },
  absent: { fields: { userId: ABSENT_ID }, reason: "USER_NOT_FOUND" },
  namespace: "absent",
  firstText: "user_id",
} as const;

export const everyAccountOperation: readonly Table[] = [
  tableOf(exchangeToken, {
    valid: async (context) => ({ apiKey: (await newKey(context)).key }),
    invalid: { fields: { expiresInSeconds: -1n }, field: "expires_in_seconds" },
    integers: ["expiresInSeconds"],
    tokenless: true,
    namespace: "absent",
    firstText: "api_key",
  }),
  tableOf(login, {
    valid: async ({ users: { member } }) => ({ email: member.email, password: member.password }),
    tokenless: true,
    namespace: "absent",
    firstText: "email",
  }),
  tableOf(verifyEmail, {
    valid: async (context) => {
      const { accounts } = context.testRun;
      const { email } = await accounts.make(context.http());
      return { token: await accounts.mailedToken(email) };
    },
    invalid: { fields: { token: "no token" }, field: "token" },
    tokenless: true,
    namespace: "absent",
    firstText: "token",
  }),
  tableOf(requestPasswordReset, {
    valid: async ({ testRun: { accounts } }) => {
      accounts.requireMail();
      return { email: accounts.newEmail() };
    },
    invalid: { fields: { email: "no address" }, field: "email" },
    tokenless: true,
    namespace: "absent",
    firstText: "email",
  }),
  tableOf(createUser, {
    valid: async (context) => ({ email: context.testRun.accounts.newEmail(), role: UserRole.VIEWER }),
    invalid: { fields: { role: UserRole.USER_ROLE_UNSPECIFIED }, field: "role" },
    namespace: "absent",
    firstText: "email",
  }),
  tableOf(getUser, OF_USER),
  tableOf(listUsers, {
    valid: async () => ({ pageSize: 1 }),
    invalid: { fields: { pageSize: 1_001 }, field: "page_size" },
    namespace: "absent",
    firstText: null,
  }),
  tableOf(updateUser, OF_USER),
  tableOf(deleteUser, OF_USER),
  tableOf(createApiKey, {
    valid: async (context) => ({ name: context.name() }),
    invalid: { fields: { name: "" }, field: "name" },
    integers: ["expiresInDays"],
    namespace: "absent",
    firstText: "name",
  }),
  tableOf(listApiKeys, {
    valid: async () => ({ pageSize: 1 }),
    invalid: { fields: { userId: "no UUID" }, field: "user_id" },
    namespace: "absent",
    firstText: "user_id",
  }),
  tableOf(revokeApiKey, {
    valid: async (context, connection) => ({ apiKeyId: (await newKey(context, connection)).apiKey?.apiKeyId ?? "" }),
    invalid: { fields: { apiKeyId: "no UUID" }, field: "api_key_id" },
    absent: { fields: { apiKeyId: ABSENT_ID }, reason: "API_KEY_NOT_FOUND" },
    namespace: "absent",
    firstText: "api_key_id",
  }),
  tableOf(getUsage, {
    valid: async () => ({}),
    invalid: { fields: { fromMs: 1n, toMs: MS_OF_101_DAYS }, field: "from_ms" },
    integers: ["fromMs", "toMs"],
    namespace: "absent",
    firstText: null,
  }),
];
