import { expect } from "chai";
import { EntryType, entryPayload, entryType } from "../../src/raft/index.ts";
import {
  COMMAND_KINDS,
  type Condition,
  decodeCommand,
  STATE_TABLES,
  type Transact,
  type TransactedOperation,
} from "../../src/state/index.ts";
import { rowsOf } from "../index.ts";
import { replay } from "./state-at.ts";
import { newestGolden } from "./versions.ts";

/** What a developer does who has added a kind. */
const NEXT_STEP =
  "Add steps with it to node/test/golden/ (script.ts and the files with steps), then make golden files of the next version: " +
  "docs/compatibility.md, 'How a developer changes a format'. Files of released versions stay as they are";

const IN_TRANSACTIONS: Readonly<Record<TransactedOperation["kind"], true>> = {
  "put-key": true,
  "remove-key": true,
  "touch-key": true,
  "read-key": true,
  "list-keys": true,
  "increment-key": true,
  "delete-keys": true,
  "write-memory": true,
  "read-memory": true,
  "append-events": true,
  "release-lock": true,
  transact: true,
};
const CONDITIONS: Readonly<Record<Condition["about"], true>> = {
  "key-number": true,
  "key-value": true,
  prefix: true,
  hold: true,
  log: true,
  session: true,
};

/** The kinds of all operations and conditions in a transaction. */
function kindsIn({ conditions, success, failure }: Transact): string[] {
  const within = [...success, ...failure].flatMap((one) => [
    one.kind,
    ...(one.kind === "transact" ? kindsIn(one) : []),
  ]);
  return [...conditions.map(({ about }) => about), ...within];
}

describe("golden files: every kind", () => {
  const { version, entries, successions, expected } = newestGolden();
  const rows = entries.map(({ bytes }) => bytes);

  it("of entry is in the newest golden log", () => {
    const present = new Set<number>(rows.map(entryType));
    for (const [name, type] of Object.entries(EntryType)) {
      expect(present.has(type), `entries of type ${name} are not in golden files of ${version}. ${NEXT_STEP}`).to.equal(
        true,
      );
    }
  });

  it("of command is in the newest golden log", () => {
    const commands = rows.filter((row) => entryType(row) === EntryType.Command);
    const present = new Set(commands.map((row) => decodeCommand(entryPayload(row)).operation.kind));
    const missing = COMMAND_KINDS.filter((kind) => !present.has(kind));
    expect(missing, `commands of these kinds are not in golden files of ${version}. ${NEXT_STEP}`).to.deep.equal([]);
  });

  it("of operation and condition in a transaction is in the newest golden log", () => {
    const commands = rows.filter((row) => entryType(row) === EntryType.Command);
    const present = new Set(
      commands.flatMap((row) => {
        const { operation } = decodeCommand(entryPayload(row));
        return operation.kind === "transact" ? kindsIn(operation) : [];
      }),
    );
    const missing = Object.keys({ ...IN_TRANSACTIONS, ...CONDITIONS }).filter((kind) => !present.has(kind));
    expect(missing, `these are in no transaction of ${version}. ${NEXT_STEP}`).to.deep.equal([]);
  });

  it("of row is in the newest golden state", () => {
    const atMark = replay(rows.slice(0, expected.mark)).store;
    const succeeded = replay([...rows, ...successions.map(({ bytes }) => bytes)]).store;
    // Rows about former clusters are made by a succession alone, which leaves no holds of locks.
    const present = new Set([...rowsOf(atMark), ...rowsOf(succeeded)].map(({ key }) => key[0]));
    const missing = [...STATE_TABLES].filter(([, letter]) => !present.has(letter)).map(([name]) => name);
    expect(missing, `rows of these tables are not in golden files of ${version}. ${NEXT_STEP}`).to.deep.equal([]);
  });

  it("of end of a request is in the newest golden log: done, refused, answered again, waiting", () => {
    const outcomes = entries.map(({ outcome }) => outcome);
    expect(outcomes).to.include.members(["put-key", "put-key again", "FENCED", "queued-lock", "TOKEN_REVOKED"]);
  });
});
