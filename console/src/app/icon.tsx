/** Small drawings beside words. They repeat what the words say, so screen readers skip them. */

import type { JSX } from "preact";

/** Each is a path in a box of 16 by 16. */
const PATHS = {
  overview: "M2 2h5v6H2zM9 2h5v4H9zM9 8h5v6H9zM2 10h5v4H2z",
  keys: "M5.5 7a3.5 3.5 0 1 1 3.2 3.5L7.5 11.7H6v1.6H4.4V15H2v-2.7l3.8-3.8A3.4 3.4 0 0 1 5.5 7zM10 5.6h.01",
  locks: "M3 7h10v7H3zM5 7V4.5a3 3 0 0 1 6 0V7M8 10v1.5",
  sessions: "M1 8h3.5L6.5 3l3 10 2-5H15",
  memory: "M3 3h10v10H3zM6 6h4v4H6zM6 1v2M10 1v2M6 13v2M10 13v2M1 6h2M1 10h2M13 6h2M13 10h2",
  logs: "M3 2h10v12H3zM5.5 5h5M5.5 8h5M5.5 11h3",
  watches: "M1 8s2.5-4.5 7-4.5S15 8 15 8s-2.5 4.5-7 4.5S1 8 1 8zM8 6a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  accounts:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14c0-3 2-4.5 4.5-4.5s4.5 1.5 4.5 4.5M11 3a2.3 2.3 0 0 1 0 4.4M12.5 10c1.5.6 2 2 2 4",
  usage: "M2 14V9h3v5M6.5 14V5h3v9M11 14V2h3v12M1 14h14",
  backups: "M2 4c0-3 12-3 12 0v8c0 3-12 3-12 0zM2 4c0 3 12 3 12 0M2 8c0 3 12 3 12 0",
  settings: "M2 4h7M13 4h1M2 8h2M8 8h6M2 12h8M13 12h1M9 2.5h4v3H9zM4 6.5h4v3H4zM10 10.5h3v3h-3z",
  book: "M8 4C6 2.5 4 2.5 2 3v10c2-.5 4-.5 6 1 2-1.5 4-1.5 6-1V3c-2-.5-4-.5-6 1zM8 4v10",
  out: "M6 2H3v12h3M7 8h7M11 5l3 3-3 3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
