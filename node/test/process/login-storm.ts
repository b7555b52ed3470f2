/**
 * `node node/test/process/login-storm.ts --seconds 40 --rate 5`: how one member answers valid logins, and how fast it
 * puts keys, before and during a storm of logins with invented e-mail addresses. With `--addresses 50`, the storm comes
 * from this many client addresses. Prints the figures; Linux only, because it needs the whole network 127.0.0.0/8.
 */

import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "@quoin/client";
import { temporaryDirectory } from "../../../testing/index.ts";
import { MemberUnderTest, pause, until } from "../harness/index.ts";

const OWNER = { email: "owner@quoin.test", password: "a long password" };
const OTHER = { email: "ada@quoin.test", password: "another long password" };
const HOMES = { owner: "127.0.1.1", travelling: "127.0.1.2", other: "127.0.1.3" };
/** Interval of logins of each person with a password. */
const LOGIN_INTERVAL_MS = 4_000;
const PUTS_AT_A_TIME = 4;
const QUIET_MS = 5_000;
const VALUE = Buffer.alloc(100);

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "40" },
    rate: { type: "string", default: "5" },
    addresses: { type: "string", default: "1" },
  },
});
const [seconds, rate, addresses] = [Number(values.seconds), Number(values.rate), Number(values.addresses)];

interface Login {
  readonly status: number;
  readonly tookMs: number;
}

const member = new MemberUnderTest(join(temporaryDirectory(), "member"), { flags: ["--mail-to-log"] });
try {
  const listening = await member.start();
  const [host, port] = listening.http.split(":");
  const post = async (path: string, body: object, localAddress: string, token?: string): Promise<Login> => {
    const begunMs = performance.now();
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { "content-type": "application/json", ...authorization };
    const sent = request({ host, port, path, method: "POST", headers, localAddress, agent: false });
    sent.end(JSON.stringify(body));
    const [response] = await once(sent, "response");
    response.resume();
    await once(response, "end");
    return { status: response.statusCode, tookMs: performance.now() - begunMs };
  };
  const token = await member.token(listening);
  const created = await post("/users", { ...OTHER, role: "member", namespaces: ["default"] }, HOMES.other, token);
  await until("the mail", () => member.process.stdout.includes("verify"));
  const verification = / {4}([^\s\\]+)\\r\\n/.exec(member.process.stdout)?.[1];
  const verified = await post("/auth/verify", { token: verification }, HOMES.other);
  console.log(`another user: ${created.status}, verified: ${verified.status}`);

  const puts = async (isOver: () => boolean): Promise<number[]> => {
    const client = createClient({ endpoints: [listening.grpc], credentials: { token }, timeoutMs: 60_000 });
    const tookMs: number[] = [];
    const work = async (at: number): Promise<void> => {
      while (!isOver()) {
        const begunMs = performance.now();
        await client.keyValue.put("default", `key-${at}`, VALUE);
        tookMs.push(performance.now() - begunMs);
      }
    };
    await Promise.all(Array.from({ length: PUTS_AT_A_TIME }, (_, at) => work(at)));
    client.close();
    return tookMs.sort((one, another) => one - another);
  };
  const describePuts = (tookMs: readonly number[]): string => {
    const at = (share: number) => `${(tookMs[Math.floor(share * (tookMs.length - 1))] ?? 0).toFixed(1)} ms`;
    return `${tookMs.length} puts, p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, max ${at(1)}`;
  };
  const describeLogins = (logins: readonly Login[]): string => {
    const statuses = Map.groupBy(logins, ({ status }) => status);
    const counts = [...statuses].sort(([one], [another]) => one - another);
    const slowest = Math.max(0, ...logins.filter(({ status }) => status === 200).map(({ tookMs }) => tookMs));
    const shares = counts.map(([status, { length }]) => `${length} x ${status}`).join(", ");
    return `${shares}; slowest good one ${Math.round(slowest)} ms`;
  };

  let untilMs = performance.now() + QUIET_MS;
  const isOver = () => performance.now() > untilMs;
  // From now on the member knows the owner's usual address.
  console.log(`owner before: ${(await post("/auth/login", OWNER, HOMES.owner)).status}`);
  console.log(`quiet: ${describePuts(await puts(isOver))}`);

  untilMs = performance.now() + seconds * 1_000;
  const repeat = async (intervalMs: number, login: () => Promise<Login>): Promise<Login[]> => {
    const pending: Promise<Login>[] = [];
    while (!isOver()) {
      pending.push(login());
      await pause(intervalMs);
    }
    return Promise.all(pending);
  };
  let made = 0;
  const madeUp = (): Promise<Login> => {
    made++;
    const credentials = { email: `made-up-${made}@quoin.test`, password: "a wrong password" };
    return post("/auth/login", credentials, `127.0.2.${1 + (made % addresses)}`);
  };
  const login = (home: string, credentials: object) =>
    repeat(LOGIN_INTERVAL_MS, () => post("/auth/login", credentials, home));
  const [storm, owner, travelling, other, measured] = await Promise.all([
    repeat(1_000 / rate, madeUp),
    login(HOMES.owner, OWNER),
    login(HOMES.travelling, OWNER),
    login(HOMES.other, OTHER),
    puts(isOver),
  ]);
  console.log(`storm of ${rate}/s from ${addresses} addresses: ${describePuts(measured)}`);
  console.log(`  made-up addresses:          ${describeLogins(storm)}`);
  console.log(`  owner, from home:           ${describeLogins(owner)}`);
  console.log(`  owner, from a new address:  ${describeLogins(travelling)}`);
  console.log(`  another user:               ${describeLogins(other)}`);
} finally {
  await member.kill();
}
