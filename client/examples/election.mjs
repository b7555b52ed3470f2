/** Leader election: two candidates, one leader at a time, and an observer. */

import { connect } from "./connect.mjs";

const client = connect();
const election = client.election("default", "example-election");

const observed = (async () => {
  /** @type {string[]} */
  const leaders = [];
  for await (const leader of election.observe()) {
    leaders.push(leader?.value ?? "none");
    if (leader?.value === "second") {
      return leaders;
    }
  }
  return leaders;
})();

const first = await election.campaign("first");
console.log(`the leader is ${(await election.leader())?.value}`);
await client.keyValue.put("default", "example-election/task", "by the first", { guard: first.guard });

const waiting = election.campaign("second");
await first.resign();

const second = await waiting;
console.log(`the leader is ${(await election.leader())?.value}, under a greater token: ${second.token > first.token}`);
const leaders = await observed;
console.log(`the last leader that was observed is ${leaders.at(-1)}`);
await second.resign();
console.log(`afterwards the leader is ${(await election.leader())?.value ?? "none"}`);
client.close();
