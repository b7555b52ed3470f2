import { expect } from "chai";
import { FakeRuntime, failure, refuse, ScriptedMember, until } from "../../test/index.ts";
import { type Client, createClient } from "../index.ts";

describe("MemberDiscovery", () => {
  let runtime: FakeRuntime;
  let seed: ScriptedMember;
  let other: ScriptedMember;
  let client: Client;

  beforeEach(async () => {
    runtime = new FakeRuntime();
    const value = Buffer.from("v");
    [seed, other] = await Promise.all([
      ScriptedMember.start({ getKey: () => ({ value, revision: 1n }) }),
      ScriptedMember.start({ getKey: () => ({ value, revision: 2n }) }),
    ]);
    client = createClient({ endpoints: [seed.endpoint], credentials: { token: "t" }, runtime });
  });

  afterEach(() => {
    client.close();
    seed.stop();
    other.stop();
  });

  /** Answers with a cluster of these members, the first of which leads. */
  function tell(endpoints: readonly string[], learners: readonly string[] = []): void {
    const members = [...endpoints, ...learners].map((grpcEndpoint, at) => {
      const learner = learners.includes(grpcEndpoint);
      return { id: String(at), name: `m${at}`, grpcEndpoint, httpEndpoint: "", learner, leader: at === 0 };
    });
    seed.scripts.getCluster = () => ({ clusterId: "c", members, leaderId: "0", term: 1n, revision: 1n });
  }

  const asked = () => seed.callsOf("getCluster").length;

  it("uses a member that was never configured, if all configured ones are gone", async () => {
    tell([other.endpoint, seed.endpoint]);
    await client.keyValue.get("n", "k");
    expect(asked(), "a program that ends soon asks nothing").to.equal(0);
    runtime.advance(1_000);
    await client.keyValue.get("n", "k");
    await until("the question", () => asked() === 1);
    await client.cluster.getCluster();
    seed.stop();
    expect((await client.keyValue.get("n", "k")).revision).to.equal(2);
  });

  it("asks also after operations that the service refuses", async () => {
    tell([seed.endpoint]);
    seed.scripts.getKey = () => refuse({ code: "NOT_FOUND", reason: "KEY_NOT_FOUND" });
    runtime.advance(1_000);
    await failure(client.keyValue.get("n", "absent"));
    await until("the question", () => asked() === 1);
  });

  it("asks at most once a minute, and continues without an answer", async () => {
    seed.scripts.getCluster = () => {
      throw refuse({ code: "UNAVAILABLE" });
    };
    for (let second = 0; second < 150; second += 1) {
      runtime.advance(1_000);
      await client.keyValue.get("n", "k");
    }
    await until("three questions", () => asked() === 3);
    tell([seed.endpoint], [other.endpoint]);
    runtime.advance(60_000);
    await client.keyValue.get("n", "k");
    await until("one more", () => asked() === 4);
  });
});
