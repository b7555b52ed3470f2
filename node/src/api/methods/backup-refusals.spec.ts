import { BackupError, StoreFailure } from "@quoin/backup";
import { expect } from "chai";
import { refusalOf } from "./backup-refusals.ts";

describe("the refusal of a call about backups", () => {
  it("says of the store only what is of the store, and not what the Node of the member lacks", () => {
    const unreachable = new StoreFailure({ kind: "unreachable", store: "s3://b", operation: "list", reason: "none" });
    expect(refusalOf(unreachable)).to.include({ reason: "BACKUP_STORE_UNAVAILABLE" });
    expect(refusalOf(new BackupError("damaged", "it is cut off"))).to.include({ reason: "BACKUP_STORE_UNAVAILABLE" });
    expect(refusalOf(new BackupError("unsupported-node", "Node has it from 22.15 on"))).to.include({
      reason: "NOT_SERVED",
      code: "UNIMPLEMENTED",
      message: "Node has it from 22.15 on",
    });
  });
});
