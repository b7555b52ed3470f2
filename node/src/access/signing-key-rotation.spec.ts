import { expect } from "chai";
import { AppliedLog, FOUNDING } from "../../test/index.ts";
import { readSigningKeys } from "../state/index.ts";
import { SigningKeyRotation } from "./signing-key-rotation.ts";

const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;

describe("the care for signing keys", () => {
  let log: AppliedLog;
  let isLeading: boolean;
  let care: SigningKeyRotation;
  /** Functions that end proposals; null = proposals end at once. */
  let ends: (() => void)[] | null;

  beforeEach(() => {
    log = new AppliedLog();
    isLeading = true;
    ends = null;
    care = careOf();
  });

  function careOf(): SigningKeyRotation {
    return new SigningKeyRotation({ wallMs: () => log.wallMs }, () => {
      const propose = (operation: Parameters<AppliedLog["lead"]>[0], done: () => void): void => {
        log.lead(operation);
        if (ends === null) {
          done();
        } else {
          ends.push(done);
        }
      };
      return isLeading ? { state: log.store, propose } : null;
    });
  }

  function kids(): string[] {
    return readSigningKeys(log.store).map(({ kid }) => kid);
  }

  it("adds a new one after 30 days and not before, and drops the old one when its tokens have expired", async () => {
    log.wallMs += MONTH_MS - 1;
    await care.rotateIfDue();
    expect(kids()).deep.equal([FOUNDING.signingKeyId]);
    log.wallMs += 1;
    await care.rotateIfDue();
    expect(kids()).have.length(2);
    expect(kids()[1]).equal(FOUNDING.signingKeyId);
    log.wallMs += 25 * HOUR_MS - 1;
    await care.rotateIfDue();
    expect(kids()).have.length(2);
    log.wallMs += 1;
    await care.rotateIfDue();
    expect(kids()).have.length(1).not.include(FOUNDING.signingKeyId);
    await care.rotateIfDue();
    expect(kids()).have.length(1);
  });

  it("runs on the leader only", async () => {
    isLeading = false;
    log.wallMs += MONTH_MS;
    await care.rotateIfDue();
    expect(kids()).have.length(1);
  });

  it("rotates once, however often it runs and whichever member believes to be the leader", async () => {
    log.wallMs += MONTH_MS;
    ends = [];
    await Promise.all([care.rotateIfDue(), care.rotateIfDue(), careOf().rotateIfDue()]);
    await care.rotateIfDue();
    expect(kids()).have.length(2);
    for (const end of ends) {
      end();
    }
    log.wallMs += MONTH_MS;
    await care.rotateIfDue();
    expect(kids()).have.length(2);
  });
});
