/** Allocates, writes, resizes and frees memory regions. Each change compares the version that was shown. */

import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { allocateMemory, freeMemory, resizeMemory, type SeenRegion, writeMemory } from "../../api/index.ts";
import { base64OfBytes, parsedValue, type ValueForm, ValueProblem } from "../../text/index.ts";
import { Choice, FormDialog, TextArea, TextField } from "../../ui/index.ts";
import { offsetOf } from "./memory-page-range.ts";

interface RegionDialogProps {
  readonly seen: SeenRegion;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export interface AllocateDialogProps {
  readonly namespace: string;
  readonly onAllocated: (regionId: string) => void;
  readonly onClose: () => void;
}

export function AllocateDialog({ namespace, onAllocated, onClose }: AllocateDialogProps): JSX.Element {
  const label = useSignal("");
  const size = useSignal("4096");
  return (
    <FormDialog
      title="New memory region"
      action="Allocate"
      done="Region allocated"
      onClose={onClose}
      onSubmit={async () => onAllocated(await allocateMemory(namespace, Number(size.value), label.value))}
    >
      <TextField label="Label" hasFocus hint="For people; at most 256 bytes. May be empty." value={label} />
      <SizeField size={size} />
    </FormDialog>
  );
}

export function WriteDialog({
  seen,
  offset,
  onDone,
  onClose,
}: RegionDialogProps & { readonly offset: number }): JSX.Element {
  const at = useSignal(`0x${offset.toString(16)}`);
  const form = useSignal<Exclude<ValueForm, "json">>("hex");
  const text = useSignal("");
  return (
    <FormDialog
      title="Write bytes"
      action="Write"
      done="Bytes written"
      onClose={onClose}
      onSubmit={async () => {
        const to = offsetOf(at.value);
        if (to === null) {
          throw new ValueProblem("The offset must be a whole number such as 4096, or hexadecimal such as 0x1000.");
        }
        await writeMemory(seen, to, base64OfBytes(parsedValue(text.value, form.value)));
        onDone();
      }}
    >
      <TextField label="Offset" isRequired isMonospaced value={at} />
      <Choice<Exclude<ValueForm, "json">>
        label="Form of the bytes"
        options={[
          ["hex", "Hex"],
          ["text", "Text"],
        ]}
        value={form}
      />
      <TextArea
        label="Bytes"
        rows={6}
        value={text}
        hint={`Written only if the region is still at version ${seen.expectedVersion}.`}
      />
    </FormDialog>
  );
}

export function ResizeDialog({
  seen,
  sizeBytes,
  onDone,
  onClose,
}: RegionDialogProps & { readonly sizeBytes: number }): JSX.Element {
  const size = useSignal(String(sizeBytes));
  return (
    <FormDialog
      title="Resize the region"
      action="Resize"
      done="Region resized"
      onClose={onClose}
      onSubmit={async () => {
        await resizeMemory(seen, Number(size.value));
        onDone();
      }}
    >
      <p>A smaller region loses the bytes beyond its new end. New bytes are zero.</p>
      <SizeField size={size} />
    </FormDialog>
  );
}

export function FreeDialog({
  seen,
  name,
  onDone,
  onClose,
}: RegionDialogProps & { readonly name: string }): JSX.Element {
  return (
    <FormDialog
      title="Free the region"
      action="Free"
      isDanger
      confirmation={name}
      done="Region freed"
      onClose={onClose}
      onSubmit={async () => {
        await freeMemory(seen);
        onDone();
      }}
    >
      <p>All bytes of the region are lost, at once and for good.</p>
    </FormDialog>
  );
}

function SizeField({ size }: { readonly size: Signal<string> }): JSX.Element {
  return (
    <TextField
      label="Size in bytes"
      type="number"
      min={1}
      isRequired
      hint="At least 1; at most 64 MiB unless the cluster's settings say otherwise."
      value={size}
    />
  );
}
