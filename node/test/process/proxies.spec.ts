/** Clients that reach a real member through proxies: each counts under its own address, and hinders no other client. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { PROGRAMS_VARIABLE, temporaryDirectory } from "../../../testing/index.ts";
import { generateApiKey } from "../../src/access/index.ts";
import { type Listening, MemberUnderTest } from "../harness/index.ts";
import { TestAuthority, whyNoCertificates } from "../peers/index.ts";

const OWNER = { email: "owner@quoin.test", password: "a long password" };
const HOME = "198.51.100.7";
const ELSEWHERE = "198.51.100.8";
const STRANGER = "203.0.113.9";
const FAILURES = 3;
/** More than may wait at a time. */
const FLOOD = 100;

describe("a member behind proxies", function () {
  this.timeout(120_000);

  describe("that set X-Forwarded-For", () => {
    let member: MemberUnderTest;
    let listening: Listening;

    before(async () => {
      const failures = `${FAILURES}/3600/${FAILURES}`;
      const limits = ["--rate-limit", `login-failures=${failures}`, "--rate-limit", `token-failures=${failures}`];
      const flags = ["--trusted-proxies", "127.0.0.0/8", "--log-level", "debug", ...limits];
      // Its bundle hashes passwords faster than they arrive.
      const environment = { [PROGRAMS_VARIABLE]: "" };
      member = new MemberUnderTest(join(temporaryDirectory(), "member"), { flags, environment });
      listening = await member.start();
    });

    after(() => member?.kill());

    async function post(path: string, body: object, client: string): Promise<number> {
      const headers = { "Content-Type": "application/json", "X-Forwarded-For": `192.0.2.66, ${client}, 127.0.0.9` };
      const response = await fetch(`http://${listening.http}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      await response.text();
      return response.status;
    }

    it("refuses an address that tries passwords, and lets the owner in from others", async () => {
      const wrong = { ...OWNER, password: "a wrong password" };
      for (let failures = 0; failures < FAILURES; failures++) {
        expect(await post("/auth/login", wrong, STRANGER)).equal(401);
      }
      expect(await post("/auth/login", OWNER, STRANGER)).equal(429);
      expect(await post("/auth/login", OWNER, HOME)).equal(200);
    });

    it("gives a valid key its token, however many wrong ones come from the same address", async () => {
      const token = await member.token(listening);
      const made = await fetch(`http://${listening.http}/keys`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify({ name: "valid" }),
      });
      const { key } = (await made.json()) as { key: string };
      const guess = `${key.slice(0, -43)}${"0".repeat(43)}`;
      const statuses: number[] = [];
      for (let failures = 0; failures <= FAILURES; failures++) {
        statuses.push(await post("/auth/token", { api_key: guess }, STRANGER));
      }
      expect(statuses).deep.equal([...Array(FAILURES).fill(401), 429]);
      expect(await post("/auth/token", { api_key: key }, STRANGER)).equal(200);
      expect(await post("/auth/token", { api_key: generateApiKey() }, STRANGER)).equal(401);
    });

    it("lets people in, from known and new addresses, while a stranger floods it with invented accounts", async () => {
      expect(await post("/auth/login", OWNER, HOME)).equal(200);
      const flood = Array.from({ length: FLOOD }, (_, at) => {
        return post("/auth/login", { email: `made-up-${at}@quoin.test`, password: "a wrong password" }, STRANGER);
      });
      expect(await post("/auth/login", OWNER, HOME)).equal(200);
      expect(await post("/auth/login", OWNER, ELSEWHERE)).equal(200);
      const statuses = new Set(await Promise.all(flood));
      expect([...statuses].toSorted()).deep.equal([401, 503]);
    });

    it("names the client in its log", () => {
      const lines = member.process.stdout.split("\n").filter((line) => line.includes("POST /auth/login"));
      const clients = new Set(lines.map((line) => (JSON.parse(line) as { client: string }).client));
      expect([...clients].toSorted()).deep.equal([HOME, ELSEWHERE, STRANGER]);
    });
  });

  describe("that pass connections of TLS on, by the PROXY protocol", () => {
    let member: MemberUnderTest;
    let listening: Listening;
    let authority: TestAuthority;

    before(async function () {
      const reason = whyNoCertificates();
      if (reason !== null) {
        console.log(`      skipped: ${reason}`);
        this.skip();
      }
      const directory = temporaryDirectory();
      authority = new TestAuthority(directory, "authority");
      const shown = authority.issue("member", ["IP:127.0.0.1"]);
      const proxied = ["--trusted-proxies", "127.0.0.1", "--proxy-protocol", "on", "--log-level", "debug"];
      const flags = ["--tls-cert", shown.certificate, "--tls-key", shown.key, ...proxied];
      const tls = { ca: readFileSync(authority.certificate, "utf8") };
      member = new MemberUnderTest(join(directory, "member"), { flags, tls });
      listening = await member.start();
    });

    after(() => member?.kill());

    it("takes the address of the header, before it speaks TLS", async () => {
      const [host, port] = listening.http.split(":");
      const socket = connect(Number(port), host);
      await once(socket, "connect");
      socket.write(`PROXY TCP4 ${HOME} 192.0.2.1 4096 443\r\n`);
      const secured = connectTls({ socket, host, ca: readFileSync(authority.certificate) });
      secured.setEncoding("utf8");
      await once(secured, "secureConnect");
      secured.write("GET /keys HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      let received = "";
      for await (const text of secured) {
        received += text;
      }
      expect(received).match(/^HTTP\/1\.1 401 /);
      await member.process.untilPrinted(`"client":"${HOME}"`);
    });
  });
});
