/**
 * Sessions of three members. A client that is killed loses its keys when its time is over and not before; a leader that is
 * killed again and again ends no session early, and neither does a restart of all members.
 */

import type { Client, SessionHandle } from "@quoin/client";
import { expect } from "chai";
import { ClusterUnderTest, QUOINCTL_PROGRAM, TestProcess, until } from "../harness/index.ts";

const NAMESPACE = "default";
const TTL_SECONDS = 3;
const SESSIONS = 200;
const KILLS = 10;
/** Of sessions whose leaders are killed: longer than a client of a busy machine may be without a leader. */
const LONG_TTL_SECONDS = 30;
const MS_PER_SECOND = 1_000;
/** A command that ends soon after the process that has started it. */
const UNTIL_ORPHANED = ["sh", "-c", "while kill -0 $PPID 2>/dev/null; do sleep 0.2; done"];
const ROUNDS_LIMIT_MS = 500_000;

describe("sessions of three members", function () {
  this.timeout(ROUNDS_LIMIT_MS);
  const running = TestProcess.ofEachTest();
  let cluster: ClusterUnderTest;
  let client: Client;

  beforeEach(async () => {
    cluster = await ClusterUnderTest.start(3);
    client = cluster.client();
  });

  ClusterUnderTest.describeFailures(() => cluster);
  afterEach(() => cluster.dispose());

  async function keysWith(prefix: string): Promise<number> {
    return (await client.keyValue.count(NAMESPACE, { prefix })).keys;
  }

  it("S21: lose the keys of a client that is killed when its time is over, and not before", async () => {
    const env = {
      ...process.env,
      QUOIN_ENDPOINTS: cluster.endpoints.join(","),
      QUOIN_TOKEN: await cluster.tokens.token(),
    };
    const words = [
      "session",
      "run",
      NAMESPACE,
      "--ttl",
      `${TTL_SECONDS}s`,
      "--owner",
      "killed",
      "--",
      ...UNTIL_ORPHANED,
    ];
    const child = new TestProcess(QUOINCTL_PROGRAM, words, { env });
    running.push(child);
    const sessionId = await until("the session", async () => {
      const { items } = await client.sessions.list(NAMESPACE);
      return items.find(({ owner }) => owner === "killed")?.sessionId;
    });
    for (const key of ["a", "b", "c"]) {
      await client.keyValue.put(NAMESPACE, `killed/${key}`, "v", { sessionId });
    }
    // Its time begins at the entry of this renewal, or of a later one of the client itself.
    const sentMs = performance.now();
    await client.sessions.renew(NAMESPACE, [sessionId]);
    child.signal("SIGKILL");
    const killedMs = performance.now();
    const watch = await client.watch.keys(NAMESPACE, { prefix: "killed/" });
    const { value: batch } = await watch.next();
    const endMs = performance.now();
    await watch.return();
    expect(batch?.events.map(({ type, kv }) => `${type} ${kv.key}`)).to.deep.equal([
      "EXPIRE killed/a",
      "EXPIRE killed/b",
      "EXPIRE killed/c",
    ]);
    expect(endMs - sentMs, "milliseconds from a renewal to its end").to.be.at.least(TTL_SECONDS * MS_PER_SECOND);
    const lateMs = Math.round(endMs - killedMs - TTL_SECONDS * MS_PER_SECOND);
    console.log(`      gone ${lateMs} ms after the longest time that the killed client may have had`);
    expect(await keysWith("killed/")).to.equal(0);
  });

  it(`S21: never end early while the leader is killed ${KILLS} times, nor when all members are`, async () => {
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, () => client.session(NAMESPACE, { ttlSeconds: LONG_TTL_SECONDS })),
    );
    const keyOf = ({ id }: SessionHandle) => `kept/${id}`;
    for (const session of sessions) {
      await client.keyValue.put(NAMESPACE, keyOf(session), "v", { sessionId: session.id });
    }
    const requireAll = async (when: string) => {
      expect(await keysWith("kept/"), `keys ${when}`).to.equal(SESSIONS);
      const lost = sessions.filter(({ lost: { aborted } }) => aborted);
      expect(lost.length, `sessions that were lost ${when}`).to.equal(0);
    };
    for (let round = 1; round <= KILLS; round++) {
      await cluster.untilReady();
      const leader = await cluster.leader();
      await leader.kill();
      await until("writes to go on", async () => (await client.keyValue.put(NAMESPACE, "other", "v")).revision > 0);
      await requireAll(`after kill ${round}`);
      leader.start();
    }
    await Promise.all(cluster.members.map((member) => member.kill()));
    for (const member of cluster.members) {
      member.start();
    }
    await cluster.untilReady();
    await requireAll("after a restart of all members");
    const [first] = sessions;
    await first?.end();
    expect(await keysWith("kept/")).to.equal(SESSIONS - 1);
  });
});
