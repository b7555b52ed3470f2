/** API keys for programs, users for people, and usage. Needs a token of an administrator. */

import { QuoinError } from "@quoin/client";
import { connect } from "./connect.mjs";

const client = connect();

// A key acts for the user who creates it. This answer shows it once; the service keeps only its hash.
const made = await client.keys.create("example", { expiresInDays: 30 });
for await (const page of client.keys.pages()) {
  for (const { apiKeyId, name, keyPrefix } of page) {
    if (apiKeyId !== made.apiKeyId) {
      continue;
    }
    console.log(`listed the key ${name}, which begins with its prefix: ${made.key.startsWith(keyPrefix)}`);
  }
}
// Revokes at once and for ever, including all tokens from the key. A repetition does no harm.
const { revokedAtMs } = await client.keys.revoke(made.apiKeyId);
console.log(`revoked it once: ${(await client.keys.revoke(made.apiKeyId)).revokedAtMs === revokedAtMs}`);

// Without a password: the user sets one when answering the verification mail.
const user = await client.users.create("grace@example.com", { role: "viewer", namespaces: ["default"] });
console.log(`${user.email} is a ${user.role} in ${user.namespaces.join(", ")}, and ${user.status}`);
const changed = await client.users.update(user.userId, { role: "member" });
console.log(`now a ${changed.role}`);
await client.users.delete(user.userId);
try {
  await client.users.get(user.userId);
} catch (error) {
  if (!(error instanceof QuoinError) || error.reason !== "USER_NOT_FOUND") {
    throw error;
  }
  console.log("gone");
}

const { totals, buckets } = await client.usage.read({ granularity: "hour" });
const counted = buckets.reduce((sum, { requests }) => sum + requests, 0);
console.log(`requests of this month, with the same sum over its hours as in total: ${counted === totals.requests}`);
client.close();
