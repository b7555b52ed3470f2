/** Each part of the load must notice when something else than its own calls has changed its data. */

import { type Client, createClient } from "@quoin/client";
import { expect } from "chai";
import { temporaryDirectory } from "../../../testing/index.ts";
import { Members } from "../../members/index.ts";
import { failureOf } from "../../test/index.ts";
import { Calls, FaultTimes } from "../pace/index.ts";
import { partsOf } from "./index.ts";

/** What changes the data of the parts with these actions, and what their verification then says. */
const CHANGES: Readonly<Record<string, readonly [change: (client: Client) => Promise<unknown>, complaint: RegExp]>> = {
  put: [({ keyValue }) => keyValue.put("keys", "key-x", "other"), /the keys: key-x is "other", and not missing/],
  transact: [
    ({ transaction }) =>
      transaction("groups")
        .then({ increment: { key: "transactions", delta: 1 } })
        .commit(),
    /1 transactions were acknowledged, and 2 have run/,
  ],
  lock: [({ locks }) => locks.acquire("locks", "lock-7"), /lock-7 is HELD with 0 waiters/],
  session: [({ keyValue }) => keyValue.put("sessions", "left", "value"), /1 keys are left/],
  append: [({ logs }) => logs.append("logs/log-3", "other"), /log-3 ends at [12], not at [01]/],
  "memory-write": [
    async ({ memory }) => {
      const { regions } = await memory.list("regions");
      await memory.write("regions", regions[0]?.regionId ?? "", 4_096, "other");
    },
    /region \d does not have its last write at 4096/,
  ],
  namespace: [({ keyValue }) => keyValue.createNamespace("short-lived-x"), /1 deleted namespaces are still there/],
};

describe("the parts of a load", () => {
  let members: Members;
  let client: Client;

  before(async () => {
    members = await Members.start(temporaryDirectory(), [], new AbortController().signal);
    const { grpc: endpoints, apiKey } = members.endpoints;
    client = createClient({ endpoints, credentials: { apiKey } });
  });

  after(async () => {
    client?.close();
    await members?.stop();
  });

  it("notice each change that is not theirs", async () => {
    const calls = new Calls(new FaultTimes(), () => undefined);
    const noticed: string[] = [];
    for (const part of partsOf({ calls, client: () => client })) {
      await part.prepare();
      for (const { perform } of part.actions) {
        await perform(performance.now());
      }
      for (const { name } of part.actions) {
        const [change, complaint] = CHANGES[name] ?? [];
        if (change !== undefined && complaint !== undefined) {
          await change(client);
          expect(await failureOf(part.verify()), name).to.match(complaint);
          noticed.push(name);
        }
      }
    }
    expect(noticed).to.have.members(Object.keys(CHANGES));
  });
});
