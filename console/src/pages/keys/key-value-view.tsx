/** A value in the form that a person chooses. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { bestForm, bytesOfBase64, formattedValue, HEX_LINE_BYTES, hexLines, possibleForms } from "../../text/index.ts";
import { Choice } from "../../ui/index.ts";
import { VALUE_FORMS } from "./value-forms.ts";

/** More would make the page slow; the rest can be read with the command line. */
const SHOWN_BYTES_MAX = 65_536;

/** @param value base64 */
export function KeyValueView({ value }: { readonly value: string }): JSX.Element {
  const whole = bytesOfBase64(value);
  const isCut = whole.length > SHOWN_BYTES_MAX;
  const bytes = whole.subarray(0, SHOWN_BYTES_MAX);
  // The end of a cut value may be half a character.
  const forms = isCut ? (["hex"] as const) : possibleForms(bytes);
  const chosen = useSignal<(typeof forms)[number] | null>(null);
  const form = forms.find((one) => one === chosen.value) ?? forms.find((one) => one === bestForm(bytes)) ?? "hex";
  return (
    <div class="value">
      <Choice
        label="Form"
        options={VALUE_FORMS.filter(([name]) => forms.some((one) => one === name))}
        value={form}
        onInput={(next) => {
          chosen.value = next;
        }}
      />
      {isCut && <p class="hint">The first {SHOWN_BYTES_MAX / 1_024} KiB of the value.</p>}
      {form === "hex" ? (
        <HexDump bytes={bytes} />
      ) : (
        <pre class="value-text" tabindex={0}>
          {formattedValue(bytes, form)}
        </pre>
      )}
    </div>
  );
}

function HexDump({ bytes }: { readonly bytes: Uint8Array }): JSX.Element {
  const width = HEX_LINE_BYTES * 3 - 1;
  const text = hexLines(bytes)
    .map((line) => `${line.offset}  ${line.bytes.join(" ").padEnd(width)}  ${line.text}`)
    .join("\n");
  return (
    <pre class="value-text" tabindex={0}>
      {text === "" ? "(empty)" : text}
    </pre>
  );
}
