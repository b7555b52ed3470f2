import { existsSync, writeFileSync } from "node:fs";
import { ClusterUnderTest } from "../../node/test/harness/index.ts";
import { createUser, ExampleShop, fillHostile, SHOP } from "./example-data.ts";

const FLAGS = ["--mail-to-log", "--rate-limit", "grpc=0"];
await ClusterUnderTest.with(
  Number(process.env.MEMBERS ?? 1),
  async (cluster) => {
    const client = cluster.client();
    const shop = new ExampleShop(client);
    await shop.fill();
    const hold = await fillHostile(client);
    const viewer = {};
    if (process.env.VIEWER) await createUser(cluster, "viewer@example.com", { role: "viewer", namespaces: [SHOP] });
    writeFileSync(
      "/tmp/h22-console-shots/dev.json",
      JSON.stringify({
        address: cluster.httpEndpoints.at(-1) + "/console/",
        apiKey: cluster.secrets.apiKey,
        owner: cluster.owner,
        viewer,
        pids: cluster.members.map((m) => m.pid),
      }),
    );
    console.log("up");
    while (!existsSync("/tmp/h22-console-shots/stop")) await new Promise((r) => setTimeout(r, 1000));
    await hold.release();
    await shop.dispose();
  },
  { placementOf: async () => ({ flags: FLAGS }) },
);
