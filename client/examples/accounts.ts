/** API keys for programs, users for people, and what was used. Needs a token of an administrator. */

import { QuoinError } from "@quoin/client";
import { connect } from "./connect.ts";

const client = connect();

// A key acts as whoever has made it. It is told this once; the service keeps only a hash of it.
const made = await client.keys.create("example", { expiresInDays: 30 });
for await (const page of client.keys.pages()) {
  for (const { apiKeyId, name, keyPrefix } of page) {
    if (apiKeyId !== made.apiKeyId) continue;
    console.log(`listed the key ${name}, which begins with its prefix: ${made.key.startsWith(keyPrefix)}`);
  }
}
// At once and for ever, with all tokens that it was exchanged for. Once more does no harm.
const { revokedAtMs } = await client.keys.revoke(made.apiKeyId);
console.log(`revoked it once: ${(await client.keys.revoke(made.apiKeyId)).revokedAtMs === revokedAtMs}`);

// Without a password: the user sets one when answering the mail that asks to verify the address.
const user = await client.users.create("grace@example.com", { role: "viewer", namespaces: ["default"] });
console.log(`${user.email} is a ${user.role} in ${user.namespaces.join(", ")}, and ${user.status}`);
const changed = await client.users.update(user.userId, { role: "member" });
console.log(`now a ${changed.role}`);
await client.users.delete(user.userId);
try {
  await client.users.get(user.userId);
} catch (error) {
  if (!(error instanceof QuoinError) || error.reason !== "USER_NOT_FOUND") throw error;
  console.log("gone");
}

const { totals, buckets } = await client.usage.read({ granularity: "hour" });
const counted = buckets.reduce((sum, { requests }) => sum + requests, 0);
console.log(`requests of this month, of which the hours have as many as the total: ${counted === totals.requests}`);
client.close();
