/** The answers of /livez and /readyz of real members when something is wrong. */

import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { type ClusterMember, ClusterUnderTest, until } from "../harness/index.ts";

/** As many as the health port takes. */
const CONNECTIONS = 128;
/** Only Linux has all of 127.0.0.0/8. */
const ELSEWHERE = "127.0.0.2";
const onLinux = process.platform === "linux" ? it : it.skip;

describe("the health of real members", function () {
  this.timeout(120_000);
  let cluster: ClusterUnderTest;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
  });

  after(() => cluster?.dispose());

  async function ask(member: ClusterMember, path: string, port = member.ports.health) {
    const response = await fetch(`http://${member.host}:${port}${path}`);
    return { status: response.status, text: await response.text() };
  }

  /** Resolves to the answer to a request on a connection of its own. */
  async function askOnce(host: string, port: number, path: string): Promise<string> {
    const [answer] = await once(get({ host, port, path, agent: false }), "response");
    return await text(answer);
  }

  /** Waits until a check fails, and returns its line. Everything but /livez then answers 503. */
  async function failureOf(member: ClusterMember, check: string): Promise<string> {
    const line = await until(`${check} to fail`, async () => {
      const { text } = await ask(member, "/readyz?verbose");
      return text.split("\n").find((each) => each.startsWith(`[-]${check} `));
    });
    for (const path of ["/readyz", "/healthz", "/healthz?verbose"]) {
      expect((await ask(member, path)).status, path).to.equal(503);
    }
    expect((await ask(member, "/readyz", member.ports.http)).status).to.equal(503);
    expect(await ask(member, "/livez")).to.deep.equal({ status: 200, text: "ok\n" });
    const metrics = (await ask(member, "/metrics")).text;
    expect(metrics).to.include(`quoin_ready_check{check="${check}"} 0\n`);
    return line;
  }

  it("lists each check by name, on the health port and on the HTTP port", async () => {
    const [member] = cluster.members as [ClusterMember];
    const all = ["voter", "leader", "applied", "disk", "event-loop", "draining"];
    const text = all.map((name) => `[+]${name} ok\n`).join("");
    for (const port of [member.ports.health, member.ports.http]) {
      for (const [path, said] of [
        ["/readyz?verbose", text],
        ["/healthz", "ok\n"],
        ["/livez?verbose", "[+]event-loop ok\n"],
      ] as const) {
        // On a busy machine the event loop may be late, which the member then says.
        const answer = await until(`the checks of ${path} to pass`, async () => {
          const given = await ask(member, path, port);
          return given.status === 200 ? given : undefined;
        });
        expect(answer.text, path).to.equal(said);
      }
    }
  });

  onLinux("is reported while another address has all connections of the health port", async () => {
    const [member] = cluster.members as [ClusterMember];
    const { host, ports } = member;
    const held = Array.from({ length: CONNECTIONS }, () =>
      connect({ host, port: ports.health, localAddress: ELSEWHERE }),
    );
    try {
      await Promise.all(held.map((socket) => once(socket, "connect")));
      // Each of its own connection, unlike `fetch`.
      expect(await askOnce(host, ports.health, "/readyz")).to.equal("ok\n");
      const text = await askOnce(host, ports.health, "/metrics");
      expect(Number(/^quoin_connections_taken_total\{port="health"\} (\d+)$/m.exec(text)?.[1])).to.be.above(0);
    } finally {
      for (const socket of held) {
        socket.destroy();
      }
    }
  });

  it("fails without a leader when a majority is gone, and passes when it is back", async () => {
    const [left, ...others] = cluster.members as [ClusterMember, ClusterMember, ClusterMember];
    for (const other of others) {
      other.pause();
    }
    expect(await failureOf(left, "leader")).to.match(
      /^\[-\]leader failed: (no leader is known|.+ was heard \d+ ms ago)/,
    );
    for (const other of others) {
      other.resume();
    }
    await cluster.untilReady();
  });

  it("fails for a member while it has no vote", async () => {
    await cluster.add("q-3");
    const learner = cluster.member("q-3");
    expect(await failureOf(learner, "voter")).to.equal("[-]voter failed: this member has no vote");
    await cluster.promote("q-3");
    await learner.untilReady();
  });

  it("fails for a member whose process waits for a slot", async () => {
    const empty = await cluster.prepare("q-4");
    empty.start();
    await empty.untilState("EMPTY");
    expect(await failureOf(empty, "voter")).to.equal("[-]voter failed: the member is EMPTY");
    await cluster.forget("q-4");
  });
});
