/** The current route. Links are ordinary links to fragments, so the browser's history works as everywhere. */

import { computed, signal } from "@preact/signals";
import { parseRoute } from "./route.ts";

const fragment = signal(location.hash);

addEventListener("hashchange", () => {
  fragment.value = location.hash;
});

/** The route of the page's present address. */
export const currentRoute = computed(() => parseRoute(fragment.value));

/** Shows another view in the place of the present one, which leaves the address and the history of the tab. */
export function replaceRoute(to: string): void {
  history.replaceState(null, "", to);
  fragment.value = location.hash;
}

/** Shows another view, as if the person had followed a link. */
export function navigate(to: string): void {
  location.hash = to;
}
