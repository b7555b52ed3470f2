/** Data that stays current while a person looks at it. */

export { nowMs } from "./clock.ts";
export { type Listing, type ListPage, useListing } from "./listing.ts";
export { type Loaded, type Polled, usePolled } from "./polled.ts";
export { useEventStream } from "./use-event-stream.ts";
