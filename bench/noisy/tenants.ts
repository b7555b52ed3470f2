/** Tenants of a local cluster. Each has a namespace, and a user with the role member in only that namespace. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createTokenSource, logIn, type TokenSource } from "@quoin/client";
import type { Endpoints } from "@quoin/node/local";

/** The token for the verification is in a line of its own. */
const TOKEN_LINE = /^ {4}(\S+)\r?$/m;
const PASSWORD = "the password of a tenant";
const MAIL_POLL_MS = 50;
const MAIL_TRIES = 200;

/** Creates the namespace and its user, and returns a source of the user's tokens. */
export async function createTenant(
  owner: Client,
  { grpc: endpoints, http }: Endpoints,
  directory: string,
  namespace: string,
): Promise<TokenSource> {
  const email = `${namespace}@quoin.test`;
  await owner.keyValue.createNamespace(namespace);
  await owner.users.create(email, { role: "member", namespaces: [namespace] });
  await post(http, "/auth/verify", { token: await mailedToken(directory, email), password: PASSWORD });
  const { accessToken: token } = await logIn({ email, password: PASSWORD, endpoints });
  return createTokenSource({ credentials: { token }, endpoints });
}

/** Members of a local cluster write mail into their logs. */
async function mailedToken(directory: string, email: string): Promise<string> {
  for (let tries = 0; tries < MAIL_TRIES; tries++) {
    for (const name of readdirSync(directory).filter((file) => file.endsWith(".log"))) {
      for (const line of readFileSync(join(directory, name), "utf8").split("\n")) {
        const token = line.includes(email) ? TOKEN_LINE.exec(JSON.parse(line).mail?.text ?? "")?.[1] : undefined;
        if (token !== undefined) {
          return token;
        }
      }
    }
    await sleep(MAIL_POLL_MS);
  }
  throw new Error(`no mail to ${email} in the logs`);
}

async function post(http: readonly string[], path: string, body: object): Promise<void> {
  const response = await fetch(`${http[0]}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`${path} was answered with ${response.status}`);
  }
}
