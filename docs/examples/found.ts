/**
 * Founds a cluster on one empty member. Run it once, against the admin port of that member:
 *
 *   node found.ts --endpoint q-0:7403 --ca ca.crt --admin-token-file admin-token --owner-file owner.json
 *
 * It first writes the id of the cluster, and the password and the API key of its owner, into the owner's file. If it is
 * interrupted, the same command continues with that file. On a member that it has founded, it changes nothing.
 */

import { randomInt, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createAdminClient } from "@quoin/client";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const { values } = parseArgs({
  options: {
    endpoint: { type: "string", default: "localhost:7403" },
    ca: { type: "string" },
    "admin-token-file": { type: "string", default: "admin-token" },
    "owner-file": { type: "string", default: "owner.json" },
    email: { type: "string", default: "owner@quoin.local" },
  },
});

function randomText(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join("");
}

const ownerFile = values["owner-file"];
if (!existsSync(ownerFile)) {
  const owner = { email: values.email, password: randomText(24), apiKey: `qk_${randomText(8)}_${randomText(43)}` };
  const record = JSON.stringify({ clusterId: randomUUID(), ...owner }, null, 2);
  writeFileSync(ownerFile, `${record}\n`, { mode: 0o600 });
}
const { clusterId, ...owner } = JSON.parse(readFileSync(ownerFile, "utf8"));
const [token = ""] = readFileSync(values["admin-token-file"], "utf8").split("\n");
const admin = createAdminClient({
  endpoint: values.endpoint,
  credentials: { token },
  tls: values.ca === undefined ? undefined : { ca: readFileSync(values.ca, "utf8") },
});
const { status } = await admin.getStatus();
await admin.bootstrap({ clusterId, incarnation: status.incarnation, owner, timeoutMs: 30_000 });
admin.close();
console.log(`The cluster ${clusterId} exists. ${ownerFile} has the password and the API key of its owner.`);
