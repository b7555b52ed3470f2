/** The current route. Links are ordinary links to fragments, so the browser's history works as everywhere. */

import { computed, signal } from "@preact/signals";
import { parseRoute } from "./route.ts";

const fragment = signal(location.hash);

addEventListener("hashchange", () => {
  fragment.value = location.hash;
});

/** The route of the page's present address. */
export const currentRoute = computed(() => parseRoute(fragment.value));

/** Shows another view, as if the person had followed a link. */
export function navigate(to: string): void {
  location.hash = to;
}
