/**
 * `quoin-found`, and `quoin found`: founds a cluster on one empty member, through the admin port of that member.
 *
 * It first writes the id of the cluster, and the password and the API key of its owner, into the owner's file. If it is
 * interrupted, the same command continues with that file. On a member that it has founded, it changes nothing.
 */

import { randomInt, randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { createAdminClient, QuoinError } from "@quoin/client";

// Without a listener, Node opens its debugger at this signal.
process.on("SIGUSR1", () => undefined);

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FOUNDING_TIMEOUT_MS = 60_000;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const HELP = `Usage: quoin-found [options]

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

const OPTIONS = {
  endpoint: { type: "string", default: "localhost:7403" },
  ca: { type: "string" },
  "admin-token-file": { type: "string", default: "admin-token" },
  "owner-file": { type: "string", default: "owner.json" },
  email: { type: "string", default: "owner@quoin.local" },
  help: { type: "boolean", short: "h", default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

function randomText(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join("");
}

/** The owner's file is unusable. */
class OwnerFileError extends Error {}

/**
 * The id of the cluster and its owner: those of the file, or new ones, which are then in the file.
 *
 * @throws OwnerFileError if the file has something else.
 */
function readOrCreateOwner(file: string, email: string) {
  if (!existsSync(file)) {
    const owner = { email, password: randomText(24), apiKey: `qk_${randomText(8)}_${randomText(43)}` };
    createDurably(file, `${JSON.stringify({ clusterId: randomUUID(), ...owner }, null, 2)}\n`);
  }
  const { clusterId, ...owner } = parseRecord(file);
  return { clusterId, owner };
}

function parseRecord(file: string) {
  let record: Record<string, unknown> | null = null;
  try {
    record = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw error;
    }
  }
  const { clusterId, email, password, apiKey } = record ?? {};
  if ([clusterId, email, password, apiKey].every((value) => typeof value === "string")) {
    return { clusterId, email, password, apiKey } as Record<"clusterId" | "email" | "password" | "apiKey", string>;
  }
  throw new OwnerFileError(
    `${file} must have clusterId, email, password and apiKey as JSON, as this program writes them; ` +
      "if no cluster has been founded with the file, delete it",
  );
}

/** The file appears only when its whole content is on the disk, because the only copy of the credentials is in it. */
function createDurably(file: string, content: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  const folder = openSync(path.dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
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
    const { status } = await admin.getStatus({ timeoutMs: FOUNDING_TIMEOUT_MS });
    await admin.bootstrap({ clusterId, incarnation: status.incarnation, owner, timeoutMs: FOUNDING_TIMEOUT_MS });
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
    ({ values } = parseArgs({ options: OPTIONS }));
    // Node puts U+FFFD in the place of bytes that are not UTF-8: the file would be another one.
    if (Object.values(values).some((value) => String(value).includes("\ufffd"))) {
      throw new Error("an argument is not UTF-8, or has the character U+FFFD");
    }
  } catch (error) {
    fail(error, EXIT_USAGE);
    return;
  }
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  try {
    await found(values);
  } catch (error) {
    const isFile = error instanceof Error && "path" in error;
    if (!(error instanceof QuoinError || error instanceof OwnerFileError || isFile)) {
      throw error;
    }
    fail(error, EXIT_FAILED);
  }
}

await main();
