/**
 * Clients that move money between accounts, each transfer in one transaction: it compares the revisions of both
 * accounts, writes both, and appends an event to an outbox. The sum of all accounts never changes, every reader sees
 * them at one revision, and the outbox has one event for each transfer that has succeeded.
 */

import type { Client } from "@quoin/client";
import type { KeyValue, TransactionResult, TransactResponse } from "@quoin/proto";
import { Compare, ReadEventsRequest, serviceDefinitions, TransactionOperation, TransactRequest } from "@quoin/proto";
import type { ClusterUnderTest } from "../../test/harness/index.ts";
import {
  beginTransaction,
  contradictionOfTransaction,
  History,
  judgeHistory,
  type KeyContent,
  type RecordedOperation,
  type SearchOptions,
  type TransactedKey,
  type TransactionAnswer,
} from "../history/index.ts";
import { BackgroundLoad, outcomeOf } from "./background-load.ts";
import { pick } from "./fault.ts";
import { type AskOptions, MemberCalls } from "./member-calls.ts";

const { EventLogService, TransactionService } = serviceDefinitions;
const CLIENTS = 3;
const ACCOUNTS = 4;
const REST_MS = 40;
const NAMESPACE = "default";
const OPENING_BALANCE = 100;
const AMOUNT_MAX = 9;
/**
 * Maximum transactions over one set of accounts, of all outcomes and of unknown outcome, so that they stay easy to
 * judge.
 */
const TRANSACTIONS_MAX = 500;
const UNKNOWN_MAX = 12;
/** Options of one transfer in three, so that some outcomes stay unknown. */
const ONCE: AskOptions = { triesMax: 1 };
const LAST_READ: AskOptions = { timeoutMs: 5_000, triesMax: 6 };
const EVENTS_READ = 500;

/** Accounts whose balances have a constant sum. */
interface Bank {
  readonly accounts: readonly string[];
  /** Whether an answer shows that the accounts are there. */
  isOpen: boolean;
  transactions: number;
  unknown: number;
}

/** A transfer, its event in the outbox, and what its client knows of it. */
interface Transfer {
  readonly event: string;
  readonly outcome: "succeeded" | "not-executed" | "unknown";
  /** 0 unless it has succeeded. */
  readonly revision: number;
}

export class TransferLoad extends BackgroundLoad {
  readonly #calls: MemberCalls;
  readonly #random: (bound: number) => number;
  readonly #history = new History(() => performance.now());
  readonly #banks: Bank[] = [];
  readonly #transfers: Transfer[] = [];
  /** Contradictions within single answers. */
  readonly #wrong: string[] = [];
  readonly #outbox: string[] = [];
  #logId = "";
  #creating: Promise<void> | null = null;
  #values = 0;

  constructor(cluster: ClusterUnderTest, timeoutMs: number, random: (bound: number) => number) {
    super(cluster, { name: "transfer", clients: CLIENTS, timeoutMs, restMs: REST_MS });
    this.#random = random;
    this.#calls = new MemberCalls(cluster, random);
  }

  /** The history of the accounts. */
  get operations(): readonly RecordedOperation[] {
    return this.#history.operations;
  }

  get transfers(): readonly Transfer[] {
    return this.#transfers;
  }

  /** Reads all accounts and the outbox. All members must serve again. Rejects if they cannot be read. */
  async readAll(): Promise<void> {
    for (const bank of this.#banks) {
      if (!(await this.#readBank("last-reader", bank, LAST_READ))) {
        throw new Error(`the accounts ${bank.accounts.join(", ")} cannot be read`);
      }
    }
    for (let isMore = this.#logId !== ""; isMore; ) {
      const request = ReadEventsRequest.fromPartial({
        logId: this.#logId,
        fromSequence: BigInt(this.#outbox.length + 1),
        pageSize: EVENTS_READ,
      });
      const asked = await this.#calls.ask(EventLogService.readEvents, request, LAST_READ);
      if (asked.kind !== "ok") {
        throw new Error("the outbox cannot be read");
      }
      const { events, lastSequence } = asked.response;
      this.#outbox.push(...events.map(({ payload }) => Buffer.from(payload).toString()));
      isMore = events.length > 0 && BigInt(this.#outbox.length) < lastSequence;
    }
  }

  /** Closes the connections. */
  close(): void {
    this.#calls.close();
  }

  /** Descriptions of contradictions in the history, in the sums, and in the outbox. */
  judge(search: SearchOptions): readonly string[] {
    return [
      ...judgeHistory(this.operations, search),
      ...this.#wrong,
      ...contradictionsOfOutbox(this.#outbox, this.#transfers),
    ];
  }

  /** Results of the load, in words. */
  describe(): readonly string[] {
    const succeeded = this.#transfers.filter(({ outcome }) => outcome === "succeeded").length;
    return [`transfers: succeeded ${succeeded}  events in the outbox ${this.#outbox.length}`];
  }

  protected override async turn(client: Client, name: string): Promise<void> {
    if (this.#logId === "") {
      await this.#createOutbox(client);
      return;
    }
    const bank = this.#banks.at(-1);
    if (bank === undefined || bank.transactions >= TRANSACTIONS_MAX || bank.unknown >= UNKNOWN_MAX) {
      await this.#open(name);
    } else if (!bank.isOpen || this.#random(4) === 0) {
      await this.#readBank(name, bank, {});
    } else {
      await this.#transfer(name, bank);
    }
  }

  /** One client creates it, and no log again if its answer was lost: then another one tries with another name. */
  async #createOutbox(client: Client): Promise<void> {
    this.#values++;
    const create = async (): Promise<void> => {
      try {
        const { logId } = await client.logs.create(`outbox-${this.#values}`);
        this.#logId = logId;
      } catch (error) {
        outcomeOf(error);
      }
    };
    this.#creating ??= create();
    await this.#creating;
    this.#creating = null;
  }

  /** Writes the accounts, which must not exist. They are used once an answer shows them. */
  async #open(name: string): Promise<void> {
    const accounts = Array.from({ length: ACCOUNTS }, (_, at) => `account-${this.#banks.length}-${at}`);
    const bank = { accounts, isOpen: false, transactions: 0, unknown: 0 };
    this.#banks.push(bank);
    const keys = accounts.map((key) => ({ key, expectedModRevision: 0, write: this.#balance(OPENING_BALANCE) }));
    const answer = await this.#ask(name, bank, keys, null, {});
    bank.isOpen ||= answer?.succeeded === true;
  }

  /** Reads all accounts of the bank at once. Returns whether it has got an answer. */
  async #readBank(name: string, bank: Bank, options: AskOptions): Promise<boolean> {
    const keys = bank.accounts.map((key) => ({ key, write: null }));
    const answer = await this.#ask(name, bank, keys, null, options);
    if (answer === null) {
      return false;
    }
    const there = answer.contents.filter((content) => content !== null);
    const sum = there.reduce((total, content) => total + balanceOf(content), 0);
    if (there.length > 0 && (there.length < ACCOUNTS || sum !== ACCOUNTS * OPENING_BALANCE)) {
      this.#wrong.push(`the accounts of ${bank.accounts[0]} have ${sum} together at revision ${answer.revision}`);
    }
    bank.isOpen ||= there.length > 0;
    // It was not opened, or will be too late: another one takes its place.
    bank.transactions = there.length === 0 ? TRANSACTIONS_MAX : bank.transactions;
    return true;
  }

  async #transfer(name: string, bank: Bank): Promise<void> {
    const from = pick(this.#random, bank.accounts);
    const to = pick(
      this.#random,
      bank.accounts.filter((account) => account !== from),
    );
    const both = [from, to];
    const read = await this.#ask(
      name,
      bank,
      both.map((key) => ({ key, write: null })),
      null,
      {},
    );
    const [ofFrom = null, ofTo = null] = read?.contents ?? [];
    if (ofFrom === null || ofTo === null) {
      return;
    }
    const amount = 1 + this.#random(AMOUNT_MAX);
    const keys: readonly TransactedKey[] = [
      { key: from, expectedModRevision: ofFrom.modRevision, write: this.#balance(balanceOf(ofFrom) - amount) },
      { key: to, expectedModRevision: ofTo.modRevision, write: this.#balance(balanceOf(ofTo) + amount) },
    ];
    this.#values++;
    const event = `${name} ${this.#values}`;
    const before = bank.unknown;
    const answer = await this.#ask(name, bank, keys, event, this.#random(3) === 0 ? ONCE : {});
    const lost = bank.unknown > before ? "unknown" : "not-executed";
    const outcome = answer === null ? lost : answer.succeeded ? "succeeded" : "not-executed";
    this.#transfers.push({ event, outcome, revision: outcome === "succeeded" ? (answer?.revision ?? 0) : 0 });
  }

  /** A balance that is written once: the number after it is in no other value. */
  #balance(balance: number): { readonly kind: "put"; readonly value: string } {
    this.#values++;
    return { kind: "put", value: `${balance} #${this.#values}` };
  }

  /** Runs the transaction and records it. Returns its answer; null if it has none. */
  async #ask(
    name: string,
    bank: Bank,
    keys: readonly TransactedKey[],
    event: string | null,
    options: AskOptions,
  ): Promise<TransactionAnswer | null> {
    bank.transactions++;
    const open = beginTransaction(this.#history, name, keys);
    const asked = await this.#calls.ask(TransactionService.transact, requestOf(keys, event, this.#logId), options);
    if (asked.kind === "refused") {
      throw new Error(`a transaction was refused because of ${asked.reason}`);
    }
    if (asked.kind === "ok") {
      const answer = answerOf(keys, asked.response);
      const wrong = contradictionOfTransaction(keys, answer);
      if (wrong !== null) {
        this.#wrong.push(`a transaction of ${name} at revision ${answer.revision}: ${wrong}`);
      }
      open.end({ kind: "ok", answer });
      return answer;
    }
    // A read has no effect, so without an answer it counts as not executed.
    const isUnknown = asked.kind === "unknown" && keys.some(({ write }) => write !== null);
    open.end({ kind: isUnknown ? "unknown" : "not-executed" });
    bank.unknown += Number(isUnknown);
    return null;
  }
}

/** Reads all keys first, and then writes those that are written, if the comparisons are true. */
function requestOf(keys: readonly TransactedKey[], event: string | null, logId: string): TransactRequest {
  const gets = keys.map(({ key }) => TransactionOperation.fromPartial({ get: { key } }));
  const puts = keys.flatMap(({ key, write }) => {
    return write?.kind === "put"
      ? [TransactionOperation.fromPartial({ put: { key, value: Buffer.from(write.value) } })]
      : [];
  });
  const appends =
    event === null ? [] : [TransactionOperation.fromPartial({ append: { logId, payloads: [Buffer.from(event)] } })];
  return TransactRequest.fromPartial({
    namespace: NAMESPACE,
    compare: keys.flatMap(({ key, expectedModRevision }) => {
      return expectedModRevision === undefined
        ? []
        : [Compare.fromPartial({ key: { key, modRevision: BigInt(expectedModRevision) } })];
    }),
    success: [...gets, ...puts, ...appends],
    failure: gets,
  });
}

function answerOf(
  keys: readonly TransactedKey[],
  { succeeded, results, revision }: TransactResponse,
): TransactionAnswer {
  const contents = keys.map((_, at) => contentOf(results[at]));
  return { succeeded, revision: Number(revision), contents };
}

function contentOf(result: TransactionResult | undefined): KeyContent | null {
  const kv: KeyValue | undefined = result?.get?.kv;
  return kv === undefined
    ? null
    : {
        value: Buffer.from(kv.value).toString(),
        createRevision: Number(kv.createRevision),
        modRevision: Number(kv.modRevision),
        version: Number(kv.version),
      };
}

function balanceOf({ value }: KeyContent): number {
  return Number.parseInt(value, 10);
}

/** The outbox has one event for each transfer that has succeeded, in the order of their revisions. */
export function contradictionsOfOutbox(outbox: readonly string[], transfers: readonly Transfer[]): readonly string[] {
  const wrong: string[] = [];
  const byEvent = new Map(transfers.map((transfer) => [transfer.event, transfer]));
  const seen = new Set<string>();
  let last = 0;
  for (const event of outbox) {
    const transfer = byEvent.get(event);
    if (seen.has(event)) {
      wrong.push(`the outbox has the event of a transfer twice: ${event}`);
    }
    seen.add(event);
    if (transfer === undefined || transfer.outcome === "not-executed") {
      wrong.push(`the outbox has an event of a transfer that was not executed: ${event}`);
    } else if (transfer.outcome === "succeeded") {
      if (transfer.revision <= last) {
        wrong.push(
          `the outbox has the order of the transfers: ${event} at revision ${transfer.revision} after ${last}`,
        );
      }
      last = Math.max(last, transfer.revision);
    }
  }
  for (const { event, outcome } of transfers) {
    if (outcome === "succeeded" && !seen.has(event)) {
      wrong.push(`the outbox has the event of every transfer that has succeeded, but not ${event}`);
    }
  }
  return wrong;
}
