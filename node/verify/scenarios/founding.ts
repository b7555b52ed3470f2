/** The disks of a cluster that is founded, grown and has applied everything: the usual start of a scenario. */

import { crc32 } from "node:zlib";
import { type ConfigurationChange, NO_CONFIGURATION, sealEntry } from "../../src/raft/index.ts";
import { changeRow, type Disk, emptyDisk } from "./member.ts";

/**
 * The disk of every member of a cluster with this many voters, then this many learners: members 1, 2, 3, … in the order
 * of the entries that added them, all in term 1.
 */
export function founded(voters: number, learners: number): Disk {
  const disk = emptyDisk();
  const add = (change: ConfigurationChange): void => {
    const row = changeRow(change, 0);
    const index = disk.log.last + 1;
    sealEntry(row, 1, index, crc32);
    disk.log.replace(index, [row]);
  };
  const ids = Array.from({ length: voters + learners }, (_, at) => at + 1);
  add({ type: "bootstrap" });
  for (let added = 1; added < ids.length; added++) {
    add({ type: "add-slot" });
  }
  const promote = ids.slice(1, voters);
  if (promote.length > 0) {
    add({ type: "reconfigure", promote, demote: [], remove: [] });
  }
  if (promote.length > 1) {
    // More than one additional voter: the change was joint.
    add({ type: "leave" });
  }
  const { last } = disk.log;
  const configuration = { ...NO_CONFIGURATION, index: last, voters: ids.slice(0, voters), learners: ids.slice(voters) };
  return { ...disk, term: 1, vote: 1, commit: last, writeSeq: 1, applied: last, appliedTerm: 1, configuration };
}
