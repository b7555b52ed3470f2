import { expect } from "chai";
import { CoordinationError, type Outcome, type Result } from "../../src/state/index.ts";
import { MemoryRules } from "./memory-rules.ts";
import { type ExecuteOptions, ObservedLog } from "./observed-log.ts";

describe("the rules of memory regions", () => {
  let rules: MemoryRules;
  let log: ObservedLog;
  let regionId: Uint8Array;

  const allocate = (sizeBytes: number, manner: ExecuteOptions = {}): Uint8Array => {
    const operation = { kind: "allocate-memory", namespace: "default", sizeBytes, label: "" } as const;
    return (log.ask(operation, manner).answer as Extract<Result, { readonly kind: "allocate-memory" }>).regionId;
  };

  beforeEach(() => {
    rules = new MemoryRules();
    log = new ObservedLog(rules);
    regionId = allocate(9_000);
  });

  const target = (expectedVersion: number | undefined) => ({ namespace: "default", regionId, expectedVersion });

  const write = (
    offset: number,
    bytes: readonly number[],
    manner: ExecuteOptions = {},
    expectedVersion?: number,
  ): Outcome => {
    const operation = {
      kind: "write-memory",
      ...target(expectedVersion),
      offset,
      data: Uint8Array.from(bytes),
    } as const;
    return log.ask(operation, manner);
  };

  const resize = (sizeBytes: number, manner: ExecuteOptions = {}): Outcome => {
    return log.ask({ kind: "resize-memory", ...target(undefined), sizeBytes }, manner);
  };

  const free = (manner: ExecuteOptions = {}): Outcome => log.ask({ kind: "free-memory", ...target(undefined) }, manner);

  const broken = (rule: string, act: () => void): void => {
    expect(act, rule).to.throw(rule);
  };

  /** The witness sees that the command was refused for this reason. */
  const refused = (reason: CoordinationError["reason"]): ExecuteOptions => ({
    pretend: () => ({ outcome: { answer: new CoordinationError(reason, ""), replayed: "no" } }),
  });

  it("hold for what the state machine makes of all operations", () => {
    write(4_090, [1, 2, 3, 4, 5, 6, 7, 8]);
    write(8_999, [1, 1]);
    write(0, [1], {}, 7);
    write(0, [1], {}, 2);
    resize(4_092);
    resize(9_000);
    free();
    free();
    log.lead({ kind: "erase-memory", rowsMax: 1 });
    allocate(1);
    expect([rules.changes, rules.erasures]).to.deep.equal([7, 1]);
  });

  it("S31: let writes succeed within a region, and nowhere else", () => {
    broken("S31 nothing is written outside of a region", () => {
      write(8_000, [1], {
        pretend: ({ command }) => ({
          command: { ...command, operation: { ...command.operation, offset: 9_000 } } as typeof command,
        }),
      });
    });
    broken("S31 what lies within a region is written", () => write(0, [1], refused("MEMORY_BOUNDS")));
  });

  it("S32: let a region be what was written into it", () => {
    broken("S32 a region is what was written into it", () => {
      write(0, [1, 2], {
        pretend: ({ command }) => ({
          command: { ...command, operation: { ...command.operation, offset: 1 } } as typeof command,
        }),
      });
    });
  });

  it("S32: let erasing touch nothing that is there", () => {
    const { store } = log.log;
    write(0, [1]);
    broken("S32 erasing touches nothing that is there", () => {
      const { key } = pageOf(store);
      log.lead({ kind: "erase-memory", rowsMax: 1 }, () => {
        store.write([{ key, value: null }]);
        return {};
      });
    });
  });

  function pageOf(store: ObservedLog["log"]["store"]): { readonly key: Uint8Array } {
    const pages: { readonly key: Uint8Array }[] = [];
    store.scan(Buffer.from("v"), Buffer.from("w"), (row) => pages.push(row) > 0);
    return pages[0] as { readonly key: Uint8Array };
  }

  it("count versions, and let nothing change that has another one", () => {
    const { answer } = write(0, [1]);
    broken("a version counts each change of a region", () => {
      write(0, [2], { pretend: () => ({ outcome: { answer, replayed: "no" } }) });
    });
    broken("a region has the version that was counted", () => resize(1, refused("VERSION_MISMATCH")));
  });

  it("let a region be there from allocating to freeing, under an id of its own", () => {
    broken("a region is there until it is freed", () => resize(1, refused("REGION_NOT_FOUND")));
    broken("regions are there from allocating to freeing", () => free(freed()));
    log = new ObservedLog(rules);
    broken("no region has the id of another", () => allocate(1));
  });

  /** The witness sees that another existing region was freed. */
  function freed(): ExecuteOptions {
    const other = allocate(5);
    return {
      pretend: ({ command }) => {
        return { command: { ...command, operation: { ...command.operation, regionId: other } } as typeof command };
      },
    };
  }
});
