import { drawnSeed } from "../../../testing/index.ts";
import { ClusterUnderTest } from "../harness/index.ts";
import { repeatRequests } from "./repeated-requests.ts";

const KILLS = 3;
/** And as many requests of other kinds. `repeats.ts` makes more. */
const TRANSACTIONS = 120;
const CLIENTS = 8;

describe("requests that are sent again at other members", () => {
  it(`are executed once while the leader is killed ${KILLS} times (S12)`, async () => {
    await ClusterUnderTest.with(3, async (cluster) => {
      const seed = drawnSeed("repeated requests");
      const told = await repeatRequests(cluster, { transactions: TRANSACTIONS, clients: CLIENTS, kills: KILLS, seed });
      console.log(`      ${told}`);
    });
  });
});
