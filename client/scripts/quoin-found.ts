/**
 * `quoin-found`, and `quoin found`: founds a cluster on one empty member, through the admin port of that member.
 *
 * It first writes the id of the cluster, and the password and the API key of its owner, into the owner's file. If it is
 * interrupted, the same command continues with that file. On a member that it has founded, it changes nothing.
 */

import { randomInt, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createAdminClient, QuoinError } from "@quoin/client";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const foundingTimeoutMs = 60_000;
const exitFailed = 1;
const exitUsage = 2;

const help = `Usage: quoin-found [options]

Founds a cluster on one empty member, and writes the credentials of its owner into a file. The same command again changes
nothing.

Options:
  --endpoint HOST:PORT       admin port of the member (default: localhost:7403)
  --ca FILE                  use TLS and trust these certificate authorities (PEM)
  --admin-token-file FILE    the token of the member's admin port (default: admin-token)
  --owner-file FILE          gets the id of the cluster, and the owner's password and API key (default: owner.json)
  --email ADDRESS            address of the owner (default: owner@quoin.local)
  --help                     show this text
`;

const options = {
  endpoint: { type: "string", default: "localhost:7403" },
  ca: { type: "string" },
  "admin-token-file": { type: "string", default: "admin-token" },
  "owner-file": { type: "string", default: "owner.json" },
  email: { type: "string", default: "owner@quoin.local" },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

function randomText(length: number): string {
  return Array.from({ length }, () => base62[randomInt(base62.length)]).join("");
}

/** The id of the cluster and its owner: those of the file, or new ones, which are then in the file. */
function readOrCreateOwner(file: string, email: string) {
  if (!existsSync(file)) {
    const owner = { email, password: randomText(24), apiKey: `qk_${randomText(8)}_${randomText(43)}` };
    const record = JSON.stringify({ clusterId: randomUUID(), ...owner }, null, 2);
    writeFileSync(file, `${record}\n`, { mode: 0o600 });
  }
  const { clusterId, ...owner } = JSON.parse(readFileSync(file, "utf8"));
  return { clusterId, owner };
}

async function found(values: Values): Promise<void> {
  const [token = ""] = readFileSync(values["admin-token-file"], "utf8").split("\n");
  const ownerFile = values["owner-file"];
  const { clusterId, owner } = readOrCreateOwner(ownerFile, values.email);
  const admin = createAdminClient({
    endpoint: values.endpoint,
    credentials: { token },
    tls: values.ca === undefined ? undefined : { ca: readFileSync(values.ca, "utf8") },
  });
  try {
    const { status } = await admin.getStatus({ timeoutMs: foundingTimeoutMs });
    await admin.bootstrap({ clusterId, incarnation: status.incarnation, owner, timeoutMs: foundingTimeoutMs });
  } finally {
    admin.close();
  }
  console.log(`The cluster ${clusterId} exists. ${ownerFile} has the password and the API key of its owner.`);
}

function fail(error: unknown, exitCode: number): void {
  console.error(`quoin-found: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = exitCode;
}

async function main(): Promise<void> {
  let values: Values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    fail(error, exitUsage);
    return;
  }
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  try {
    await found(values);
  } catch (error) {
    const isFile = error instanceof Error && "path" in error;
    if (!(error instanceof QuoinError || isFile)) throw error;
    fail(error, exitFailed);
  }
}

await main();
