/** Misuse of the HTTP port of a real member: the member answers, or closes the connection, and stays small. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { type Listening, MemberUnderTest, until } from "../harness/index.ts";
import { RawConnection } from "../index.ts";

const MIB = 1024 * 1024;
/** Limit for the growth of a member that is sent far more data; it includes uncollected garbage. */
const GROWTH_BYTES_MAX = 96 * MIB;
const FAILURES = 5;

describe("the HTTP port of a member", function () {
  this.timeout(120_000);
  const connections: RawConnection[] = [];
  let member: MemberUnderTest;
  let listening: Listening;
  let port: number;

  before(async () => {
    const flags = ["--rate-limit", "token-requests=0", "--rate-limit", `token-failures=${FAILURES}/3600/${FAILURES}`];
    member = new MemberUnderTest(join(temporaryDirectory(), "member"), { flags });
    listening = await member.start();
    port = Number(listening.http.split(":")[1]);
  });

  afterEach(async () => {
    for (const connection of connections.splice(0)) {
      connection.destroy();
    }
    expect((await fetch(`http://${listening.http}/livez`)).status).to.equal(200);
  });

  after(() => member?.kill());

  async function open(): Promise<RawConnection> {
    const connection = await RawConnection.open(port);
    connections.push(connection);
    return connection;
  }

  function post(headers: readonly string[]): string {
    const lines = ["POST /auth/token HTTP/1.1", "Host: x", "Content-Type: application/json", ...headers];
    return `${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Memory of the process in bytes. */
  function memoryBytes(): number {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", `${member.process.pid}`], { encoding: "utf8" })) * 1024;
  }

  async function expectError(response: Response, status: number, code: string): Promise<void> {
    expect(response.headers.get("API-Version")).to.equal("v1");
    expect(response.headers.get("X-Content-Type-Options")).to.equal("nosniff");
    expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([status, code]);
  }

  it("refuses 20 MiB of JSON without keeping them in memory, announced or not (S45)", async () => {
    const announced = await open();
    announced.send(post([`Content-Length: ${20 * MIB}`]));
    expect(await announced.until(/\}$/)).to.match(/^HTTP\/1\.1 413 [\s\S]*API-Version: v1[\s\S]*payload_too_large/);

    const before = memoryBytes();
    const chunk = `100000\r\n${"x".repeat(MIB)}\r\n`;
    const streamed = await Promise.all(Array.from({ length: 10 }, open));
    for (const connection of streamed) {
      connection.send(post(["Transfer-Encoding: chunked"]));
      for (let sent = 0; sent < 20; sent++) {
        connection.send(chunk);
      }
      connection.send("0\r\n\r\n");
    }
    for (const connection of streamed) {
      expect(await connection.until(/\}$/)).to.match(/^HTTP\/1\.1 413 [\s\S]*payload_too_large/);
    }
    expect(memoryBytes() - before).to.be.below(GROWTH_BYTES_MAX);
  });

  it("keeps in memory what arrives, not what is announced, and no more for small pieces", async () => {
    const before = memoryBytes();
    const waiting = await Promise.all(Array.from({ length: 500 }, open));
    for (const connection of waiting) {
      connection.send(post(["Content-Length: 65536"]));
      connection.send("{");
    }
    const pieces = await open();
    pieces.send(post(["Transfer-Encoding: chunked"]));
    pieces.send(`1\r\n{\r\n${"1\r\n \r\n".repeat(60_000)}`);
    pieces.send('16\r\n"api_key":["nothing"]}\r\n0\r\n\r\n');
    expect(await pieces.until(/\}$/)).to.match(/^HTTP\/1\.1 400 [\s\S]*api_key must be string/);
    expect(memoryBytes() - before).to.be.below(GROWTH_BYTES_MAX);
  });

  it("gives up missing bodies and headers, and answers other requests meanwhile", async () => {
    const [noHead, slowHead, stalled] = [await open(), await open(), await open()];
    slowHead.send("GET /livez HTTP/1.1\r\nHost: x\r\nX: ");
    stalled.send(post(["Content-Length: 100"]));
    stalled.send('{"api_key":');
    expect((await fetch(`http://${listening.http}/livez`)).status).to.equal(200);
    const problem = /^HTTP\/1\.1 400 [\s\S]*API-Version: v1[\s\S]*did not arrive in time/;
    // Slow headers are treated like missing ones.
    const drip = async (): Promise<void> => {
      await until("the headers to be given up", () => {
        slowHead.send("x");
        return Promise.resolve(slowHead.closed);
      });
    };
    await Promise.all([drip(), noHead.untilClosed()]);
    expect(slowHead.received).to.match(problem);
    expect(await stalled.until(/\}$/)).to.match(problem);
    expect(await stalled.untilClosed(), "and nothing else").to.match(/^HTTP\/1\.1 400 [\s\S]*\}$/);
  });

  for (const [name, request, problem] of [
    ["what is not HTTP", "hello?\r\n\r\n", "not valid HTTP"],
    ["headers above 16 KiB", `GET / HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "too large"],
    ["101 headers", `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${"X: y\r\n".repeat(99)}\r\n`, "at most 100"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "not valid HTTP"],
    ["two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n", "Host header is repeated"],
  ] as const) {
    it(`answers 400 to ${name}, in the form of all answers`, async () => {
      const connection = await open();
      connection.send(request);
      const answer = await connection.untilClosed();
      expect(answer).to.match(/^HTTP\/1\.1 400 [\s\S]*\r\nAPI-Version: v1\r\n/);
      expect(answer).to.include('"code":"invalid_request"').and.to.include(problem);
    });
  }

  it("survives clients that leave at any point", async () => {
    for (const part of ["", "POST /au", post(["Content-Length: 50"]), `${post(["Content-Length: 50"])}{"api_`]) {
      const connection = await open();
      connection.send(part);
      connection.destroy();
    }
  });

  it("lists what it serves, and refuses the rest", async () => {
    const document = (await (await fetch(`http://${listening.http}/openapi.json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).to.include.members(["/auth/token", "/livez", "/readyz", "/openapi.json"]);
    await expectError(await fetch(`http://${listening.http}/%FF`), 404, "not_found");
    await expectError(await fetch(`http://${listening.http}/auth/token`, { method: "PUT" }), 405, "method_not_allowed");
  });

  it("limits guesses of keys, and says when to retry", async () => {
    const exchange = () =>
      fetch(`http://${listening.http}/auth/token`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ api_key: `qk_abcdefgh_${"0".repeat(43)}` }),
      });
    for (let failures = 0; failures < FAILURES; failures++) {
      await expectError(await exchange(), 401, "invalid_api_key");
    }
    const refused = await exchange();
    const afterSecs = Number(refused.headers.get("Retry-After"));
    expect(afterSecs).to.be.above(600).and.to.be.at.most(720);
    await expectError(refused, 429, "rate_limited");
  });
});
