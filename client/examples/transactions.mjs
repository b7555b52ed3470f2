/** Transactions: money is moved between two accounts, a key and an event are written together, and many keys in parts. */

import { isQuoinError } from "@quoin/client";
import { connect } from "./connect.mjs";

const client = connect();
const decoder = new TextDecoder();

/**
 * Moves money. Runs again if another client has changed one of the accounts meanwhile.
 *
 * @param {string} from the key of an account
 * @param {string} to the key of another one
 * @param {number} amount
 */
async function move(from, to, amount) {
  await client.transact("default", async (transaction) => {
    const [left, right] = await Promise.all([transaction.get(from), transaction.get(to)]);
    const balance = Number(decoder.decode(left));
    if (balance < amount) {
      throw new Error(`${from} has only ${balance}`);
    }
    transaction.put(from, String(balance - amount));
    transaction.put(to, String(Number(decoder.decode(right)) + amount));
  });
}

const ada = "example-accounts/ada";
const ben = "example-accounts/ben";
await client.batch("default", [{ put: { key: ada, value: "100" } }, { put: { key: ben, value: "100" } }]);

// All at once: those that meet run again.
await Promise.all([move(ada, ben, 30), move(ben, ada, 10), move(ada, ben, 5)]);
await move(ada, ben, 1_000).catch((error) => console.log(`refused: ${error.message}`));
const { results: balances } = await client
  .transaction("default")
  .then({ list: { prefix: "example-accounts/" } })
  .commit();
console.log(balances[0].items.map(({ key, value }) => `${key} ${decoder.decode(value)}`).join(", "));

// An outbox: the order is stored, and its message with it, or neither.
const left = await client.logs.find("example-outbox");
if (left !== undefined) {
  await client.logs.delete(left.logId);
}
const { logId } = await client.logs.create("example-outbox");
/** @param {string} order */
const place = (order) =>
  client
    .transaction("default")
    .if({ key: { key: order, exists: false } })
    .then(
      { put: { key: order, value: "open" } },
      { increment: { key: "example-orders/count", delta: 1 } },
      { append: { logId, payloads: [`${order} was placed`] } },
    )
    .else({ get: { key: order } })
    .commit();
for (const order of ["example-orders/1", "example-orders/2", "example-orders/1"]) {
  const placed = await place(order);
  console.log(
    placed.succeeded
      ? `${order} is number ${placed.results[1].value}, event ${placed.results[2].lastSequence}`
      : `${order} exists, and is ${decoder.decode(placed.results[0].kv?.value)}`,
  );
}

// An operation that is refused ends the transaction, and the error names the operation.
try {
  await client
    .transaction("default")
    .then({ delete: { key: "example-orders/2" } }, { increment: { key: "example-orders/1", delta: 1 } })
    .commit();
} catch (error) {
  if (!isQuoinError(error, "NOT_A_NUMBER")) {
    throw error;
  }
  console.log(`nothing was changed: ${error.details.get("operation")} is refused`);
}

const deleted = await client
  .transaction("default")
  .then({ deletePrefix: { prefix: "example-accounts/" } }, { deletePrefix: { prefix: "example-orders/" } })
  .commit();
console.log(`deleted ${deleted.results.map(({ deletedKeys }) => deletedKeys).join(" and ")} keys`);
await client.logs.delete(logId);
client.close();
