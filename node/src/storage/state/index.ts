export { LOCAL_ROWS_FROM } from "./local-rows.ts";
export type { MemberStateStore, StateReplacement, StateView } from "./member-state-store.ts";
export {
  firstState,
  makeFirstState,
  nameLiveState,
  openState,
  SUCCESSOR_DRAFT,
  tidyStores,
} from "./member-stores.ts";
export { OfflineState } from "./offline-state.ts";
export { RocksStateStore } from "./rocks-state-store.ts";
export { SequenceMarkers } from "./sequence-markers.ts";
export { readSnapshotOrigin, type SnapshotOrigin } from "./snapshot-origin.ts";
export { StateWriteBuffer, type WriteBufferLimits } from "./write-buffer.ts";
