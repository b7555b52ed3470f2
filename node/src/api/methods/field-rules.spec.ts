import { type ReadConsistency, RWMode } from "@quoin/proto";
import { expect } from "chai";
import { CoordinationError } from "../../state/index.ts";
import {
  conditionField,
  consistencyField,
  expectedModRevisionField,
  fencingTokenField,
  guardField,
  holdTtlField,
  incarnationField,
  keyField,
  labelField,
  lockDelayField,
  lockNameField,
  memberIdsField,
  memberNameField,
  modeField,
  namespaceField,
  optionalModeField,
  pageSizeField,
  prefixField,
  progressIntervalField,
  startRevisionField,
  targetIdField,
  ttlField,
  valueField,
  waitField,
} from "./field-rules.ts";

/** Reason, field and limit of the refusal. */
function refusal(check: () => unknown): readonly (string | undefined)[] {
  try {
    check();
  } catch (error) {
    expect(error).instanceOf(CoordinationError);
    const { reason, details, message } = error as CoordinationError;
    const field = details.get("field");
    expect(message, "the message names the field").to.include(`field ${field} `);
    return [reason, field, details.get("limit")];
  }
  throw new Error("was not refused");
}

describe("field rules", () => {
  it("takes namespaces of 1 to 63 characters that begin and end with a letter or digit", () => {
    for (const name of ["a", "0", "ab", "a-b", "a.b_c-d", "constructor", "a".repeat(63), "9-_.-9"]) {
      expect(namespaceField(name)).equal(name);
    }
    const refused = [
      "",
      "a".repeat(64),
      "A",
      "-a",
      "a-",
      ".a",
      "a.",
      "__proto__",
      "a b",
      "ä",
      "a\n",
      "*",
      "a/b",
      "a\0b",
    ];
    for (const name of refused) {
      expect(
        refusal(() => namespaceField(name)),
        JSON.stringify(name),
      ).deep.equal(["BAD_FIELD", "namespace", "63"]);
    }
  });

  it("counts the bytes of keys in UTF-8, 1 to 1,024", () => {
    expect(keyField("a")).deep.equal(Uint8Array.of(0x61));
    expect(keyField("\u00e9".repeat(512))).have.length(1024);
    expect(keyField("\u{1f600}".repeat(256))).have.length(1024);
    expect(refusal(() => keyField(""))).deep.equal(["BAD_FIELD", "key", "1024"]);
    expect(refusal(() => keyField("a".repeat(1025)))).deep.equal(["TOO_LARGE", "key", "1024"]);
    expect(refusal(() => keyField(`${"\u00e9".repeat(512)}a`))).deep.equal(["TOO_LARGE", "key", "1024"]);
  });

  it("allows any text as a key, even text with a special meaning elsewhere (S19)", () => {
    for (const key of ["__proto__", "constructor", "../..", "a\0b", "\ufeffa", "\uffff", " "]) {
      expect(Buffer.from(keyField(key)).toString()).equal(key);
    }
  });

  it("takes prefixes of 0 to 1,024 bytes", () => {
    expect(prefixField("")).have.length(0);
    expect(prefixField("a".repeat(1024))).have.length(1024);
    expect(refusal(() => prefixField("a".repeat(1025)))).deep.equal(["TOO_LARGE", "prefix", "1024"]);
  });

  it("takes values of 0 bytes to 1 MiB (S14)", () => {
    expect(valueField("value", new Uint8Array(0))).have.length(0);
    const largest = new Uint8Array(1_048_576);
    expect(valueField("value", largest)).equal(largest);
    const tooLarge = new Uint8Array(1_048_577);
    expect(refusal(() => valueField("new_value", tooLarge))).deep.equal(["TOO_LARGE", "new_value", "1048576"]);
  });

  it("takes a TTL of 0, or 1 second to a year", () => {
    expect([0n, 1n, 31_536_000n].map(ttlField)).deep.equal([0, 1, 31_536_000]);
    for (const ttl of [-1n, 31_536_001n, 2n ** 53n - 1n]) {
      expect(
        refusal(() => ttlField(ttl)),
        String(ttl),
      ).deep.equal(["BAD_FIELD", "ttl_seconds", "31536000"]);
    }
  });

  it("distinguishes an expected revision of 0 from none (S14)", () => {
    expect(expectedModRevisionField(undefined)).equal(undefined);
    expect(expectedModRevisionField(0n)).equal(0);
    expect(expectedModRevisionField(2n ** 53n - 1n)).equal(Number.MAX_SAFE_INTEGER);
    expect(refusal(() => expectedModRevisionField(-1n))).deep.equal(["BAD_FIELD", "expected_mod_revision", undefined]);
  });

  it("takes pages of 1 to 1,000 entries, 100 by default", () => {
    expect([0, 1, 1000].map((size) => pageSizeField(size))).deep.equal([100, 1, 1000]);
    expect(refusal(() => pageSizeField(-1))).deep.equal(["BAD_FIELD", "page_size", "1000"]);
    expect(refusal(() => pageSizeField(1001))).deep.equal(["BAD_FIELD", "page_size", "1000"]);
  });

  it("takes any revision as the start of a watch, and 0 for the next one", () => {
    expect([0n, 1n, 2n ** 53n - 1n].map(startRevisionField)).deep.equal([0, 1, Number.MAX_SAFE_INTEGER]);
    expect(refusal(() => startRevisionField(-1n))).deep.equal(["BAD_FIELD", "start_revision", undefined]);
  });

  it("takes progress intervals of 100 to 60,000 ms, 1,000 by default", () => {
    expect([0n, 100n, 60_000n].map(progressIntervalField)).deep.equal([1_000, 100, 60_000]);
    for (const intervalMs of [-1n, 1n, 99n, 60_001n, 2n ** 53n - 1n]) {
      expect(
        refusal(() => progressIntervalField(intervalMs)),
        String(intervalMs),
      ).deep.equal(["BAD_FIELD", "progress_interval_ms", undefined]);
    }
  });

  it("refuses a consistency that it does not know", () => {
    expect(consistencyField(0)).equal(0);
    expect(consistencyField(1)).equal(1);
    expect(refusal(() => consistencyField(2 as ReadConsistency))).deep.equal(["BAD_FIELD", "consistency", undefined]);
  });

  it("takes guards that name a lock and a token, and none", () => {
    expect(guardField(undefined)).deep.equal({});
    const guard = { lockName: "l", fencingToken: 7n, rw: true };
    expect(guardField(guard)).deep.equal({ guard: { lockName: "l", fencingToken: 7, rw: true } });
    for (const fencingToken of [0n, -1n]) {
      const refused = ["BAD_FIELD", "guard.fencing_token", undefined];
      expect(refusal(() => guardField({ ...guard, fencingToken }))).deep.equal(refused);
    }
    expect(refusal(() => guardField({ ...guard, lockName: "" }))).deep.equal(["BAD_FIELD", "guard.lock_name", "256"]);
    const long = { ...guard, lockName: "é".repeat(129) };
    expect(refusal(() => guardField(long))).deep.equal(["TOO_LARGE", "guard.lock_name", "256"]);
  });

  it("takes names of locks of 1 to 256 bytes, labels of 0 to 256", () => {
    expect([lockNameField("name", "é".repeat(128)), lockNameField("name", "\0")]).deep.equal(["é".repeat(128), "\0"]);
    expect(refusal(() => lockNameField("name", ""))).deep.equal(["BAD_FIELD", "name", "256"]);
    expect(refusal(() => lockNameField("name", `${"é".repeat(128)}a`))).deep.equal(["TOO_LARGE", "name", "256"]);
    expect([labelField("owner", ""), labelField("owner", "a".repeat(256))]).deep.equal(["", "a".repeat(256)]);
    expect(refusal(() => labelField("owner", "a".repeat(257)))).deep.equal(["TOO_LARGE", "owner", "256"]);
  });

  it("takes times to live of holds of 1 s to a day, and delays of up to a minute", () => {
    expect([0n, 1n, 86_400n].map((seconds) => holdTtlField(seconds, 30))).deep.equal([30, 1, 86_400]);
    for (const seconds of [-1n, 86_401n]) {
      expect(refusal(() => holdTtlField(seconds, 30))).deep.equal(["BAD_FIELD", "ttl_seconds", "86400"]);
    }
    expect([0n, 60n].map(lockDelayField)).deep.equal([0, 60]);
    for (const seconds of [-1n, 61n]) {
      expect(refusal(() => lockDelayField(seconds))).deep.equal(["BAD_FIELD", "lock_delay_seconds", "60"]);
    }
  });

  it("takes waits of any length, bounded by the longest call, and no negative ones", () => {
    expect([0n, 1n, 7_200_000n, 2n ** 53n - 1n].map(waitField)).deep.equal([0, 1, 7_200_000, 7_200_000]);
    expect(refusal(() => waitField(-1n))).deep.equal(["BAD_FIELD", "wait_ms", undefined]);
  });

  it("takes tokens from 1, and 0 for none", () => {
    expect([0n, 2n ** 53n - 1n].map(fencingTokenField)).deep.equal([0, Number.MAX_SAFE_INTEGER]);
    expect(refusal(() => fencingTokenField(-1n))).deep.equal(["BAD_FIELD", "fencing_token", undefined]);
  });

  it("takes the modes of a read-write lock, and none where either is allowed", () => {
    expect([RWMode.READ, RWMode.WRITE].map(modeField)).deep.equal(["read", "write"]);
    expect([0, 1, 2].map((mode) => optionalModeField(mode as RWMode))).deep.equal([null, "read", "write"]);
    for (const mode of [0, 3]) {
      expect(refusal(() => modeField(mode as RWMode))).deep.equal(["BAD_FIELD", "mode", undefined]);
    }
    expect(refusal(() => optionalModeField(3 as RWMode))).deep.equal(["BAD_FIELD", "mode", undefined]);
  });

  it("takes incarnations of 32 hexadecimal digits", () => {
    expect(incarnationField("00ff".repeat(8))).deep.equal(Uint8Array.from({ length: 16 }, (_, at) => (at % 2) * 255));
    for (const text of ["", "0".repeat(31), "0".repeat(33), "G".repeat(32), "FF".repeat(16)]) {
      expect(
        refusal(() => incarnationField(text)),
        text,
      ).deep.equal(["BAD_FIELD", "incarnation", undefined]);
    }
  });

  it("takes DNS names of 1 to 63 characters as names of members", () => {
    for (const name of ["q", "0", "q-1", "q-1.zone-a", "constructor", "a".repeat(63)]) {
      expect(memberNameField(name)).equal(name);
    }
    for (const name of ["", "a".repeat(64), "Q", "-a", "a-", ".a", "a.", "a_b", "__proto__", "a b", "a\n", "a/b"]) {
      expect(
        refusal(() => memberNameField(name)),
        JSON.stringify(name),
      ).deep.equal(["BAD_FIELD", "name", "63"]);
    }
  });

  it("takes 1 to 16 decimal ids of members, without duplicates", () => {
    expect(memberIdsField(["1", "9007199254740991"])).deep.equal([1, 9_007_199_254_740_991]);
    const sixteen = Array.from({ length: 16 }, (_, index) => String(index + 1));
    expect(memberIdsField(sixteen)).have.length(16);
    expect(refusal(() => memberIdsField([]))).deep.equal(["BAD_FIELD", "ids", "16"]);
    expect(refusal(() => memberIdsField([...sixteen, "17"]))).deep.equal(["BAD_FIELD", "ids", "16"]);
    expect(refusal(() => memberIdsField(["1", "2", "1"]))).deep.equal(["BAD_FIELD", "ids", undefined]);
    for (const id of ["", "0", "01", "+1", "-1", "1.0", "1e3", " 1", "0x1", "9007199254740992", "q-1"]) {
      expect(
        refusal(() => memberIdsField([id])),
        id,
      ).deep.equal(["BAD_FIELD", "ids", undefined]);
      if (id !== "") {
        expect(
          refusal(() => targetIdField(id)),
          id,
        ).deep.equal(["BAD_FIELD", "target_id", undefined]);
      }
    }
    expect([targetIdField(""), targetIdField("7")], "empty = any").deep.equal([0, 7]);
  });

  it("takes conditions of 0 and above", () => {
    expect([conditionField("if_term", 0n), conditionField("if_term", 7n)]).deep.equal([0, 7]);
    expect(refusal(() => conditionField("if_term", -1n))).deep.equal(["BAD_FIELD", "if_term", undefined]);
  });
});
