/**
 * The load on a cluster during a scenario: a program in a pod that records its requests and the answers. It ends on
 * request, and then returns the whole record.
 *
 *     GET /progress   returns the progress so far
 *     POST /stop      ends the load, reads all keys once more, and returns the whole record
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createTokenSource } from "@quoin/client";
import type { Progress, Record } from "./entry.ts";
import { KeyClients, type Target } from "./key-clients.ts";
import { LockClients } from "./lock-clients.ts";

const PORT = 8080;

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set`);
  }
  return value;
}

const authoritiesFile = variable("QUOIN_CA_FILE");
const any = variable("QUOIN_ENDPOINTS");
const token = process.env.QUOIN_TOKEN;
const target: Target = {
  any,
  leader: variable("LEADER_ENDPOINT"),
  authoritiesFile,
  // Clients without the SDK keep their initial authorities and connections; a later client needs the present ones.
  get authorities() {
    return readFileSync(authoritiesFile, "utf8");
  },
  tokens: createTokenSource({
    credentials: token === undefined ? { apiKey: variable("QUOIN_API_KEY") } : { token },
    endpoints: [any],
    tls: { caFile: authoritiesFile },
  }),
};

const label = variable("LABEL");
const keys = new KeyClients(target, label);
const locks = new LockClients(target, label);
const stop = new AbortController();
let error: string | null = null;

async function guarded(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (thrown) {
    error ??= thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    stop.abort();
  }
}

const ended = Promise.all([guarded(keys.work(stop.signal)), guarded(locks.work(stop.signal))]);

async function finish(): Promise<Record> {
  stop.abort();
  await ended;
  await guarded(keys.readAll());
  if (error !== null) {
    throw new Error(error);
  }
  return { keys: keys.entries, locks: locks.entries };
}

const server = createServer((request, response) => {
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.method === "POST" && request.url === "/stop") {
    finish().then(
      (record) => answer(200, record),
      (thrown: Error) => answer(500, { error: thrown.message }),
    );
  } else {
    answer(200, { acknowledgedWrites: keys.acknowledgedWrites, error } satisfies Progress);
  }
});
server.listen(PORT);
process.once("SIGTERM", () => process.exit());
