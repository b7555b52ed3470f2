import { QuoinError } from "@quoin/client";
import { expect } from "chai";
import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest } from "../harness/index.ts";
import { requireCorrect } from "./correctness.ts";

const TURNS = 20;
const WRITES = 300;

describe("each of three members", () => {
  let cluster: ClusterUnderTest;

  before(async () => {
    cluster = await ClusterUnderTest.start(3);
  });

  ClusterUnderTest.describeFailures(() => cluster);

  after(() => cluster.dispose());

  it("takes writes, and every other shows them at once to a linearizable read (P8, P10, P11)", async () => {
    const clients = cluster.members.map(({ grpc }) => cluster.client([grpc]));
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [at, writer] of clients.entries()) {
        const value = `value ${turn} of ${at}`;
        const { modRevision } = await writer.keyValue.put("default", "shared", value);
        const answers = await Promise.all(clients.map((reader) => reader.keyValue.get("default", "shared")));
        for (const answer of answers) {
          expect(Buffer.from(answer.value).toString()).to.equal(value);
          expect(answer.modRevision).to.equal(modRevision);
        }
      }
    }
  });

  it("decides about conditions by the same state", async () => {
    const clients = cluster.members.map(({ grpc }) => cluster.client([grpc]));
    let { modRevision } = await clients[0]!.keyValue.put("default", "counter", "0");
    for (let turn = 0; turn < TURNS; turn++) {
      const swaps = await Promise.all(
        clients.map(({ keyValue }, at) =>
          keyValue.compareAndSwap("default", "counter", `${turn} by ${at}`, { expectedModRevision: modRevision }),
        ),
      );
      const won = swaps.filter(({ success }) => success);
      expect(won.length).to.equal(1);
      modRevision = won[0]?.modRevision ?? 0;
      expect(swaps.map((swap) => swap.modRevision)).to.deep.equal(clients.map(() => modRevision));
    }
    const error = await clients[1]!.keyValue.delete("default", "never written").catch((thrown) => thrown);
    expect(error).to.be.instanceOf(QuoinError);
    expect([error.reason, error.outcome]).to.deep.equal(["KEY_NOT_FOUND", "not-executed"]);
  });

  it("answers its share of a concurrent load as one single copy would (G2)", async () => {
    const seed = drawnSeed("forwarding");
    const load = cluster.load({ pinned: 6, clients: 6, keys: 3, seed });
    load.start();
    await load.untilAcknowledged(WRITES);
    await load.stop();
    const { failed, unknown, failures } = load.statistics(0, performance.now());
    expect([failed, unknown], [...failures.keys()].join("; ")).to.deep.equal([0, 0]);
    requireCorrect(load.history);
  });
});
