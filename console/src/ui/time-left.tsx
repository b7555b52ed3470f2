/** The time until a hold or a session ends, as a bar and a text. */

import type { JSX } from "preact";
import { countdownText } from "../text/index.ts";

const WIDTH = 100;
const SHORT = 0.2;

export function TimeLeft({ leftMs, wholeMs }: { readonly leftMs: number; readonly wholeMs: number }): JSX.Element {
  const share = Math.min(1, leftMs / Math.max(1, wholeMs));
  return (
    <span class="time-left">
      <span class="time-left-text">{countdownText(leftMs)}</span>
      <svg
        class={`meter ${share < SHORT ? "meter-warning" : "meter-time"}`}
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="meter-rest" width={WIDTH} height="6" rx="1" />
        <rect class="meter-used" width={share * WIDTH} height="6" rx="1" />
      </svg>
    </span>
  );
}
